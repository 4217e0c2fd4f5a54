"""Few features and a rare class: how well do p weights rank and find it, and what does it take to learn them?

Average precision (AUPRC), F of the predictions (positive where the score is above 0) and AUROC on rows held out. A
stream learner sees the training rows in each of five seeded orders, once but for OFS; a batch learner knows no order.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from ._imbalance_data import SIX, TEN, a9a, farm_ads, generated, newsgroups, real_data, reuters, thinned
from ._imbalance_learners import Learner, learners
from ._imbalance_runs import N_ORDERS, Tasks, runs, shown
from ._report import Table

P = 50
_T = 2.776  # quantile of Student's t with 4 degrees of freedom, for five orders
P_OF_123 = 20  # a9a has 123 features
POOL, POOL_SCOUT, SBCW = "POOL", "POOL, scout", "SBCW, one batch"
TARGETS = {POOL: 0.865, "POOL, cost 0.5": 0.865, POOL_SCOUT: 0.90, SBCW: 0.88}
TARGET_OF_SIX = {POOL: 0.74, "POOL, cost 0.5": 0.74, POOL_SCOUT: 0.74}


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    folder = real_data()
    found = learners()
    n_orders = 2 if quick else N_ORDERS
    if folder is None or quick:
        task = generated(*((5_000, 2_000) if quick else (50_000, 10_000)))
        return [_compared([task] * n_orders, P, found)]
    first = [newsgroups(folder, 1, TEN)] * n_orders
    rarest = newsgroups(folder, 1, range(2, 21))
    others = [
        ([newsgroups(folder, 1, range(2, 7))] * n_orders, P),
        ([rarest] * n_orders, P),
        ([thinned(rarest, 100)] * n_orders, P),
        ([farm_ads(folder, seed) for seed in range(n_orders)], P),
        ([reuters(folder)] * n_orders, P),
        ([a9a(folder)] * n_orders, P_OF_123),
    ]
    tables = [
        _compared(first, P, found, TARGETS),
        _six(folder, found, n_orders),
        *(_compared(tasks, p, found) for tasks, p in others),
    ]
    return [_overview(tables), *tables]


def _overview(tables: list[Table]) -> Table:
    """AUPRC on all tasks, side by side, and the mean of those of each F; the docs quote it."""
    first, six, _, rare, rarest, ads, money, adult = tables
    columns = {
        "newsgroups 1:10": (first, "AUPRC"),
        "1:19": (rare, "AUPRC"),
        "1:100": (rarest, "AUPRC"),
        "mean of six groups, 1:10": (six, "mean"),
        "Reuters money-fx": (money, "AUPRC"),
        "farm ads 1:10": (ads, "AUPRC"),
        "a9a": (adult, "AUPRC"),
    }
    held = [
        {row[0]: row[table.columns.index(name)].split(" ")[0] for row in table.rows} for table, name in columns.values()
    ]
    every = [first, rare, rarest, ads, money, adult]
    rows = []
    for name in (row[0] for row in first.rows):
        means = [np.mean([_figure(table, name, column) for table in every]) for column in ("AUPRC", "F", "CPU s")]
        half = _T * np.sqrt(sum(_deviation(table, name) ** 2 for table in every) / N_ORDERS) / len(every)
        shown_means = [f"{means[0]:.3f}" + (f" ± {half:.3f}" if half else ""), f"{means[1]:.3f}", f"{means[2]:.2f}"]
        rows.append([name, *(cells.get(name, "") for cells in held), *shown_means])
    return Table(
        f"Test AUPRC with at most {P} features ({P_OF_123} for a9a)",
        ["learner", *columns, "mean", "mean F", "CPU s"],
        rows,
        [
            f"One pass over each of {N_ORDERS} orders of the stream, means; settings at their defaults. The last three "
            "columns are means over all tasks but the six groups, that of the AUPRC with its 95 % interval over "
            "orders. Learners that have all rows in memory do not depend on the order; farm ads has another split each "
            "time."
        ],
    )


def _deviation(table: Table, name: str) -> float:
    """The standard deviation of an AUPRC over the orders; 0 if it knows no order."""
    row = next(row for row in table.rows if row[0] == name)
    _, _, deviation = row[table.columns.index("AUPRC")].partition(" ± ")
    return float(deviation or 0)


def _figure(table: Table, name: str, column: str) -> float:
    row = next(row for row in table.rows if row[0] == name)
    return float(row[table.columns.index(column)].split(" ")[0])


def _compared(
    tasks: Tasks,
    p: int,
    found: dict[str, Learner],
    targets: dict[str, float] | None = None,
) -> Table:
    task = tasks[0]
    table = Table(
        f"{task.shown}; at most {p} features",
        ["learner", "AUPRC", *(["target"] if targets else []), "F", "AUROC", "features", "CPU s"],
        notes=[
            f"On {len(task.y_test):,} rows held out, {int(task.y_test.sum()):,} of them positive: mean and standard "
            f"deviation over {len(tasks)} orders. CPU s: one fit, with the search for a penalty or a C.",
        ],
    )
    for name, learner in found.items():
        done = runs(tasks, learner, p)
        cells = [shown([each.quality[k] for each in done]) for k in range(3)]
        if targets:
            cells.insert(1, f"{targets[name]:g}" if name in targets else "")
        n_features = f"{max(each.n_features for each in done):,}"
        table.rows.append([name, *cells, n_features, f"{np.mean([each.seconds for each in done]):.2f}"])
    return table


def _six(folder: Path, found: dict[str, Learner], n_orders: int) -> Table:
    """Each of six groups is the rare one for once."""
    rest = [[k for k in range(1, 12) if k != rare] for rare in SIX]
    groups = [[newsgroups(folder, rare, others)] * n_orders for rare, others in zip(SIX, rest, strict=True)]
    table = Table(
        f"newsgroups, one of 1-11 against the other ten, AUPRC; at most {P} features",
        ["learner", *(f"group {rare}" for rare in SIX), "mean", "target"],
        notes=[f"Mean over {n_orders} orders; the deviation of the mean of six is over the orders."],
    )
    for name, learner in found.items():
        if not name.startswith("ASCW"):  # nine costs side by side take their time
            # of shape (groups, orders)
            values = np.array([[each.quality[0] for each in runs(tasks, learner, P)] for tasks in groups])
            target = f"{TARGET_OF_SIX[name]:g}" if name in TARGET_OF_SIX else ""
            means = [f"{v:.3f}" for v in values.mean(axis=1)]
            table.rows.append([name, *means, shown(list(values.mean(axis=0))), target])
    return table
