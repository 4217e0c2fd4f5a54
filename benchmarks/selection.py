"""How good is one pass when the model may keep so many weights? Every sparse learner, and who wins where.

The rows come in a seeded order, once. The first 80 % of the first order choose each learner's step size, by accuracy
on the other 20 % and for each size anew; then all rows are learned from, in each of the orders, and the rows held out
judge. Every stream learner has five candidates. The loss is the logistic one for all.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ._front import FrontLine, cell, number
from ._measure import installed
from ._report import Table, skipped
from ._selection_arow import arow_table, arow_times
from ._selection_data import Task, tasks
from ._selection_learners import N_TRIES, TOLERANCE, Params, SparseLearner, Stream, sparse_learners
from ._selection_speed import speed
from ._selection_summary import arow_cells, goals, winners

N_ORDERS = 3
_LEARNING = 0.8


class Outcome(NamedTuple):
    """Accuracy and AUROC in %: shape (orders, sizes, 2). Features in use: (orders, sizes)."""

    quality: Any
    n_features: Any
    chosen: list[Params]
    one_pass: bool


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    n_orders = 2 if quick else N_ORDERS
    outcomes: dict[str, tuple[Task, dict[str, Outcome]]] = {}
    timings = []
    arow_rows = []
    tables = []
    for task in tasks(quick):
        done = {}
        orders = [_stream(task, seed) for seed in range(n_orders)]
        for name, learner in sparse_learners(task.scale).items():
            if learner.suits(orders[0]):
                done[name] = _outcome(task, learner, orders)
        outcomes[task.title] = task, done
        tables.append(_table(task, done, n_orders))
        arow_rows += arow_times(task, orders[0])
        if "FTRL" in done:
            timings.append(speed(task, orders[0], done["FTRL"].chosen, quick))
    missing = [] if installed("vowpalwabbit") else ["vowpalwabbit"]
    qualities = {
        title: (
            task.sizes,
            {name: each.quality for name, each in done.items()},
            {n for n, e in done.items() if e.one_pass},
        )
        for title, (task, done) in outcomes.items()
    }
    tables += winners(qualities)
    tables.append(_speed_table(timings, missing))
    tables.append(arow_table(arow_rows))
    tables += arow_cells(qualities)
    tables.append(goals(qualities, timings))
    return tables


def front(tables: list[Table]) -> list[FrontLine]:
    """FTRL from text against Vowpal Wabbit's from text, on the last task: generated, so that everybody has it."""
    speeds = next(table for table in tables if table.title.startswith("CPU ms of one pass"))
    ours, theirs = "ours, svmlight text", "VW, text"
    title, size = speeds.rows[-1][:2] if speeds.rows else ("", "")
    if not speeds.rows or not cell(speeds, title, theirs):
        return []
    quality = next(table for table in tables if table.title.startswith(f"Selection: {title}"))
    accuracy = (cell(quality, name, f"accuracy, {size}") for name in ("Vowpal Wabbit --ftrl", "FTRL"))
    costs = (number(speeds, title, column) for column in (theirs, ours))
    what = f"{size} weights in one pass, {title}"
    return [
        FrontLine(what, "vw --ftrl, its penalty searched for before", "FTRL", *costs, "held-out accuracy, %", *accuracy)
    ]


def _stream(task: Task, seed: int) -> Stream:
    order = np.random.default_rng(seed).permutation(len(task.y))
    return Stream(f"selection-{task.key}-{seed}", task.X[order], task.y[order], len(order))


def _outcome(task: Task, learner: SparseLearner, orders: list[Stream]) -> Outcome:
    chosen = _chosen(learner, orders[0], task)
    quality = np.zeros((len(orders), len(task.sizes), 2))
    n_features = np.zeros((len(orders), len(task.sizes)))
    for o, stream in enumerate(orders if learner.one_pass else orders[:1]):  # a batch solver knows no order
        for params in _distinct(chosen):
            places = [k for k, each in enumerate(chosen) if each == params]
            for k, weights in zip(places, learner.fit(stream, params, [task.sizes[k] for k in places]), strict=True):
                quality[o, k] = weights.quality(task.X_test, task.y_test)
                n_features[o, k] = weights.n_features
    if not learner.one_pass:
        quality, n_features = quality[:1], n_features[:1]
    return Outcome(quality, n_features, chosen, learner.one_pass)


def _chosen(learner: SparseLearner, stream: Stream, task: Task) -> list[Params]:
    """The candidate for each size."""
    if len(learner.steps) == 1:
        return [learner.steps[0]] * len(task.sizes)
    n_learning = int(_LEARNING * stream.n_rows)
    part = Stream(stream.name, stream.X, stream.y, n_learning)
    later = stream.X[n_learning:], stream.y[n_learning:]
    scores = [[w.quality(*later)[0] for w in learner.fit(part, params, task.sizes)] for params in learner.steps]
    return [learner.steps[k] for k in np.argmax(scores, axis=0)]


def _distinct(chosen: list[Params]) -> list[Params]:
    return [each for k, each in enumerate(chosen) if each not in chosen[:k]]


def _table(task: Task, done: dict[str, Outcome], n_orders: int) -> Table:
    several = task.n_classes > 2
    columns = [f"{what}, {k:,}" for what in ("accuracy", "AUROC") for k in task.sizes]
    rows, n_columns = task.X.shape
    table = Table(
        f"Selection: {task.title}; {rows:,} rows of {n_columns:,} columns, one pass",
        ["weights in use", *columns, *([f"features, {task.sizes[-1]:,}"] if several else []), "step sizes"],
        notes=[
            f"In %, on {len(task.y_test):,} rows held out: mean and standard deviation over {n_orders} orders of the "
            "stream."
        ],
    )
    if several:
        table.notes.append(
            "Weights are counted over all classes, each of them against the rest: ours have a 20th for each class, the "
            "peers what one penalty for all leaves each. AUROC is the mean over the classes. Shared RDA uses so many "
            "features, each with a weight for every class."
        )
    for name, each in done.items():
        mean, spread = each.quality.mean(axis=0), each.quality.std(axis=0)
        cells = [
            f"{mean[k, what]:.2f}" + (f" ± {spread[k, what]:.2f}" if each.one_pass else "")
            for what in (0, 1)
            for k in range(len(task.sizes))
        ]
        used = [f"{each.n_features[:, -1].mean():,.0f}"] if several else []
        table.rows.append([name, *cells, *used, _steps(each.chosen)])
    return table


def _steps(chosen: list[Params]) -> str:
    """The first parameter that differs, size by size."""
    shown = [
        " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in each.values()) or "default" for each in chosen
    ]
    return shown[0] if len(set(shown)) == 1 else "; ".join(shown)


def _speed_table(timings: list[Any], missing: list[str]) -> Table:
    table = Table(
        "CPU ms of one pass, FTRL with its steps chosen",
        [
            "data",
            "weights",
            "ours, rows in memory",
            "ours, svmlight text",
            "VW, its cache",
            "VW, text",
            "ours / VW",
            "target",
            "text / VW's text",
        ],
        notes=[
            "Best of several processes in turn, imports excluded, the making of the model included. VW reads its own "
            "binary cache, made beforehand: the first ratio is of learning without parsing text, the second of text "
            "with text. VW is timed with --l1 1, not with the penalty that was found.",
            f"Our pass finds the penalty by itself; VW's was searched for with up to {N_TRIES} passes for each size, "
            f"until at most {100 * TOLERANCE - 100:.0f} % too many weights are left.",
            *skipped(missing),
        ],
    )
    table.rows = [each.row() for each in timings]
    return table
