"""Groups of weights: batch solvers against adelie, celer and skglm at one penalty, streams against the batch optimum,
and a pass over rows of 75 non-zeros at 10^7 features in 10^6 groups, against the plain l1 learner.

In the last, columns are uniform over all features, so hardly two non-zeros of a row share a group, and hardly a weight
is in cache: the worst case for anything kept per group. It has no accuracy: the labels are random.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from thresher.datasets import make_sparse_groups
from thresher.dual_averaging import GroupFOBOSClassifier, GroupRDAClassifier, L1RDAClassifier
from thresher.solvers import alpha_max, group_lasso

from ._alone import alone
from ._front import FrontLine
from ._group_solvers import SIZE, SOLVERS, GroupProblem, make_problem
from ._growth import curves, slope
from ._measure import Case, installed, take_turns
from ._penalties import PARTS, PenalisedCase, penalties_table, worst_line
from ._reach import Reached, reach
from ._report import Table, skipped

NNZ, MEMBERS = 75, 10
TARGETS = {"GroupRDA": "4"}
PART = 0.1  # alpha over the smallest at which all weights are 0
FAR, NEAR = 1e-3, 1e-5
STEPS = (0.01, 0.1, 1.0)  # eta0 of streams
OURS = "thresher group_lasso"
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_solvers(quick), _penalties(quick), _growth(quick), _streams(quick), *_wide(quick)]


def front(tables: list[Table]) -> list[FrontLine]:
    return worst_line(tables, "Group lasso at three penalties", "group lasso", "solvers.group_lasso")


# --- batch solvers ----------------------------------------------------------------------------------------------------


def _solvers(quick: bool) -> Table:
    n_rows, n_groups = (100, 20) if quick else (1_000, 400)
    table = Table(
        f"Group lasso at one penalty: {n_rows:,} dense rows, {n_groups * SIZE:,} features in {n_groups:,} groups",
        ["problem, solver", "objective", f"CPU ms to {FAR:g}", f"CPU ms to {NEAR:g}", "ours / it", "groups in use",
         "in both", "MB"],
        notes=[
            f"alpha is {PART:g} of the one that sets all weights to 0; l1_weight 0.5 in the sparse problems. To "
            f"{FAR:g}: the objective, computed by one function for all, is within that part of a lower bound that a "
            "duality gap of ours proves. Each solver has the loosest of its tolerances 0.1, 0.01, ... that does it; "
            "best of 3 in turn, compiled before. Groups as at the closer distance, and how many of them the exact "
            "answer uses, too.",
            "MB: the peak beyond the data, in a process of its own, for the first problem.",
            *skipped(solver.module for solver in SOLVERS.values() if not installed(solver.module)),
        ],
    )  # fmt: skip
    for loss, l1_weight in (("squared", 0.0), ("logistic", 0.0), ("squared", 0.5), ("logistic", 0.5)):
        problem = make_problem(n_rows, n_groups, loss, l1_weight, PART)
        able = {name: s for name, s in SOLVERS.items() if installed(s.module) and s.takes(problem)}
        calls = {name: partial(s.solve, problem) for name, s in able.items()}
        lower, exact = _proved(problem)
        far, near = (reach(calls, problem.objective, lower, distance) for distance in (FAR, NEAR))
        if len({f"{found.objective:.3g}" for found in near.values() if found.tolerance}) > 1:
            raise RuntimeError("The solvers do not solve the same problem.")
        for name in able:
            memory = ""
            if (loss, l1_weight) == ("squared", 0.0) and not quick:
                job = {"solver": name, "n_rows": n_rows, "n_groups": n_groups, "tolerance": near[name].tolerance}
                memory = f"{alone('benchmarks.groups', 'solve_alone', **job).beyond_mb:.0f}"
            title = f"{'sparse ' if l1_weight else ''}{loss}, {name}"
            table.rows.append([title, *_cells(near[OURS], far[name], near[name], problem, exact), memory])
    return table


def _penalties(quick: bool) -> Table:
    n_rows, n_groups = (60, 10) if quick else (1_000, 400)

    def cases() -> Iterator[PenalisedCase]:
        for loss, part in product(("squared", "logistic"), PARTS[:1] if quick else PARTS):
            problem = make_problem(n_rows, n_groups, loss, 0.0, 1 / part)
            able = {name: s for name, s in SOLVERS.items() if installed(s.module) and s.takes(problem)}
            calls = {name: partial(s.solve, problem) for name, s in able.items()}
            yield PenalisedCase(f"{loss}, / {part}", calls, problem.objective, _proved(problem)[0])

    return penalties_table(f"Group lasso at three penalties: {n_rows:,} x {n_groups * SIZE:,}", cases(), [])


def _cells(ours: Reached, far: Reached, near: Reached, problem: GroupProblem, exact: Array) -> list[str]:
    if near.answer is None:
        return ["not reached", "", "", "", "", ""]
    used = problem.groups_in_use(near.answer)
    return [
        f"{near.objective:.6f}", f"{1e3 * far.seconds:.0f}", f"{1e3 * near.seconds:.0f}",
        f"{ours.seconds / near.seconds:.1f}", str(len(used)), str(len(used & problem.groups_in_use(exact))),
    ]  # fmt: skip


def _proved(problem: GroupProblem) -> tuple[float, Array]:
    """A lower bound on the objective, and weights that are as good as exact."""
    groups = list(np.arange(problem.X.shape[1]).reshape(-1, SIZE))
    options = {"l1_weight": problem.l1_weight, "loss": problem.loss, "fit_intercept": False, "tol": 1e-8}
    found = group_lasso(problem.X_columns, problem.y, groups, problem.alpha, **options)
    return found.objective - found.gap, found.coef


def solve_alone(solver: str, n_rows: int, n_groups: int, tolerance: float) -> Callable[[], None]:
    """For memory: the first problem, after a small one that loads and compiles."""
    SOLVERS[solver].solve(make_problem(60, 5, "squared", 0.0, PART), 1e-2)
    problem = make_problem(n_rows, n_groups, "squared", 0.0, PART)

    def work() -> None:
        SOLVERS[solver].solve(problem, tolerance)

    return work


def _growth(quick: bool) -> Table:
    sizes = (10, 20) if quick else (100, 200, 400, 800)
    n_rows = 100 if quick else 500
    table = Table(
        f"How group lasso grows with the groups: {n_rows} rows, squared loss, CPU ms to {NEAR:g}",
        ["solver", *(f"{size:,} groups" for size in sizes), "slope"],
        notes=["As above, best of 2; the number of groups that matter grows with them."],
    )
    times: dict[str, list[float]] = {}
    for n_groups in sizes:
        problem = make_problem(n_rows, n_groups, "squared", 0.0, PART)
        calls = {n: partial(s.solve, problem) for n, s in SOLVERS.items() if installed(s.module)}
        for name, found in reach(calls, problem.objective, _proved(problem)[0], NEAR, repeats=2).items():
            times.setdefault(name, []).append(1e3 * found.seconds)
    for name, ms in times.items():
        table.rows.append([name, *(f"{t:.0f}" for t in ms), f"{slope(sizes, ms):.2f}"])
    if not quick:
        drawn = {name: (sizes, ms) for name, ms in times.items()}
        table.picture = curves("groups", drawn, x="groups of 10 features", y=f"CPU ms to {NEAR:g}")
    return table


# --- streams ----------------------------------------------------------------------------------------------------------


def _streams(quick: bool) -> Table:
    n_rows, n_test = (2_000, 500) if quick else (20_000, 5_000)
    active = (10, 8, 6, 4, 2, 1) + (0,) * 44
    data = make_sparse_groups(n_rows + n_test, active=active, return_coef=True, random_state=0)
    X, labels, _, groups = data
    y = np.where(labels > 0, 1, -1)
    held = slice(n_rows, None)
    members = [np.flatnonzero(groups == g) for g in range(len(active))]
    alpha = 0.2 * alpha_max(X[:n_rows], y[:n_rows], groups=members, loss="logistic", fit_intercept=False)
    problem = GroupProblem(X[:n_rows], X, y[:n_rows], alpha, "logistic", 0.0)
    table = Table(
        f"One pass and the batch optimum: {n_rows:,} rows, {X.shape[1]} features, {len(active)} groups, logistic loss",
        ["learner", "eta0", "CPU ms", "objective above the smallest, %", "groups in use", "held-out accuracy"],
        notes=["Six of the groups matter, two of them hardly. The same penalty for all; eta0 of streams is the "
               "best of three by accuracy on the last fifth of the training rows. group_lasso stops at a gap of 1e-6."],
    )  # fmt: skip
    begin = time.process_time()
    options = {"loss": "logistic", "fit_intercept": False, "tol": 1e-6}
    best = group_lasso(X[:n_rows], y[:n_rows], members, alpha, **options)
    weights = {"group_lasso, batch": ("", time.process_time() - begin, best.coef)}
    one_pass = {"loss": "logistic", "fit_intercept": False}
    start, rest = slice(4 * n_rows // 5), slice(4 * n_rows // 5, n_rows)

    def learn(make: Any, eta0: float, rows: slice) -> Any:
        return make(groups, alpha, eta0=eta0, **one_pass).partial_fit(X[rows], y[rows], classes=[-1, 1])

    for make in (GroupRDAClassifier, GroupFOBOSClassifier):
        eta0 = STEPS[int(np.argmax([learn(make, step, start).score(X[rest], y[rest]) for step in STEPS]))]
        case = Case(partial(learn, make, eta0), lambda: slice(n_rows))
        timed = take_turns({"pass": case}, 3, keep_results=True)["pass"]
        weights[f"{make.__name__}, one pass"] = f"{eta0:g}", timed.best, timed.results[0].coef_.ravel()
    for name, (step, seconds, w) in weights.items():
        above = 100 * (problem.objective(w) / best.objective - 1)
        accuracy = np.mean(np.where(X[held] @ w > 0, 1, -1) == y[held])
        used = len(problem.groups_in_use(w))
        table.rows.append([name, step, f"{1e3 * seconds:.0f}", f"{above:.2f}", str(used), f"{accuracy:.4f}"])
    return table


# --- very many groups -------------------------------------------------------------------------------------------------


def _wide(quick: bool) -> list[Table]:
    n_features, n_rows = (10**6, 5_000) if quick else (10**7, 40_000)
    X, y = _rows(n_features, n_rows)
    groups = np.arange(n_features) // MEMBERS
    models = {
        "L1RDA": L1RDAClassifier(1e-4, eta0=1.0),
        "GroupRDA": GroupRDAClassifier(groups),
        "GroupRDA, all groups in use": GroupRDAClassifier(groups, alpha=1e-9),
        "GroupRDA, l1_weight=0.5": GroupRDAClassifier(groups, l1_weight=0.5),
        'GroupRDA, norm="inf"': GroupRDAClassifier(groups, norm="inf"),
        "GroupFOBOS": GroupFOBOSClassifier(groups),
    }
    timings = _passes(models, X, y, 5)
    table = Table(
        f"{n_features:,} features in {n_features // MEMBERS:,} groups, rows of {NNZ} non-zeros",
        ["learner", "µs a row", "of L1RDA's", "target", "model, MB"],
        notes=[f"Best of 5 repetitions in turn, each of {n_rows:,} rows. Memory is what the fitted model holds."],
    )
    base = timings["L1RDA"]
    for name, model in models.items():
        cost = [f"{1e6 * timings[name] / n_rows:.1f}", f"{timings[name] / base:.1f}"]
        table.rows.append([name, *cost, TARGETS.get(name, ""), f"{_megabytes(model):.0f}"])
    return [table, _wide_growth(quick)]


def _wide_growth(quick: bool) -> Table:
    n_rows = 2_000 if quick else 20_000
    sizes = (10**5, 2 * 10**5) if quick else (10**6, 2 * 10**6, 4 * 10**6, 8 * 10**6)
    names = ("L1RDA", "GroupRDA", "GroupFOBOS")
    times: dict[str, list[float]] = {name: [] for name in names}
    for n_features in sizes:
        X, y = _rows(n_features, n_rows)
        groups = np.arange(n_features) // MEMBERS
        made = (L1RDAClassifier(1e-4, eta0=1.0), GroupRDAClassifier(groups), GroupFOBOSClassifier(groups))
        for name, best in _passes(dict(zip(names, made, strict=True)), X, y, 3).items():
            times[name].append(1e6 * best / n_rows)
    table = Table(
        f"How a row grows with the groups: µs a row of {NNZ} non-zeros",
        ["learner", *(f"{size // MEMBERS:,} groups" for size in sizes), "slope"],
        notes=["A row costs what its own groups cost; what is left of a slope is memory that is farther away."],
    )
    for name, us in times.items():
        table.rows.append([name, *(f"{t:.1f}" for t in us), f"{slope(sizes, us):.2f}"])
    return table


def _passes(models: dict[str, Any], X: Any, y: Array, repeats: int) -> dict[str, float]:
    for model in models.values():
        model.partial_fit(X, y, classes=[-1, 1])  # memory is mapped, groups are read
    cases = {name: Case(lambda m: m.partial_fit(X, y), lambda model=model: model) for name, model in models.items()}
    return {name: timing.best for name, timing in take_turns(cases, repeats).items()}


def _rows(n_features: int, n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(n_features, size=(n_rows, NNZ)), axis=1).astype(np.int32).ravel()
    starts = np.arange(0, n_rows * NNZ + 1, NNZ)
    X = sparse.csr_array((rng.normal(size=len(columns)), columns, starts), shape=(n_rows, n_features))
    X.sum_duplicates()
    return X, np.where(rng.random(n_rows) < 0.5, 1, -1)


def _megabytes(model: Any) -> float:
    held = sum(a.nbytes for a in model.state_.arrays.values())
    kept = getattr(model, "_grouping", None)
    if kept is not None:  # members, starts, and for each column its group and the group's size
        held += kept["members"].nbytes + kept["starts"].nbytes + 8 * len(kept["members"])
    return held / 1e6
