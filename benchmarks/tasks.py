"""Tasks that share features: the multi-task lasso against scikit-learn, celer and skglm, and one pass beside it.

The stream learns exam scores of pupils in 139 schools where THRESHER_DATA names a folder that has them, and generated
tasks otherwise.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.io import loadmat

from thresher.datasets import make_multi_task
from thresher.dual_averaging import L1RDARegressor, MultiTaskRDARegressor
from thresher.solvers import multi_task

from ._alone import alone
from ._front import FrontLine
from ._growth import curves, slope
from ._measure import Case, installed, take_turns
from ._penalties import PARTS, PenalisedCase, penalties_table, worst_line
from ._reach import reach
from ._report import Table, skipped
from ._selection_data import DATA
from ._task_solvers import SOLVERS, TaskProblem, make_problem

PART = 0.1  # alpha over the smallest at which all weights are 0
FAR, NEAR = 1e-3, 1e-5
STEPS = (1e-4, 1e-3, 1e-2, 1e-1)  # eta0 of streams
OURS = "thresher multi_task"
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_solvers(quick), _penalties(quick), _growth(quick), _stream(quick), _row_growth(quick)]


def front(tables: list[Table]) -> list[FrontLine]:
    return worst_line(tables, "Multi-task lasso at three penalties", "multi-task lasso", "solvers.multi_task")


# --- batch solvers ----------------------------------------------------------------------------------------------------


def _solvers(quick: bool) -> Table:
    n_rows, n_features, n_tasks = (100, 50, 4) if quick else (500, 2_000, 20)
    table = Table(
        f"Multi-task lasso at one penalty: {n_rows} dense rows, {n_features:,} features, {n_tasks} tasks",
        ["solver", "objective", f"CPU ms to {FAR:g}", f"CPU ms to {NEAR:g}", "ours / it", "features in use", "in both",
         "MB"],
        notes=[
            f"alpha is {PART:g} of the one that sets all weights to 0. Distances, tolerances and memory as in "
            "`groups`; best of 3 in turn.",
            *skipped(solver.module for solver in SOLVERS.values() if not installed(solver.module)),
        ],
    )  # fmt: skip
    problem = make_problem(n_rows, n_features, n_tasks, PART)
    lower, exact = _proved(problem)
    far, near = (reach(_calls(problem), problem.objective, lower, distance) for distance in (FAR, NEAR))
    if len({f"{found.objective:.3g}" for found in near.values() if found.tolerance}) > 1:
        raise RuntimeError("The solvers do not solve the same problem.")
    for name, found in near.items():
        if found.answer is None:
            table.rows.append([name, "not reached", *[""] * 6])
            continue
        used = found.answer.any(axis=0)
        memory = ""
        if not quick:
            job = {"solver": name, "shape": [n_rows, n_features, n_tasks], "tolerance": found.tolerance}
            memory = f"{alone('benchmarks.tasks', 'solve_alone', **job).beyond_mb:.0f}"
        table.rows.append([
            name, f"{found.objective:.6f}", f"{1e3 * far[name].seconds:.0f}", f"{1e3 * found.seconds:.0f}",
            f"{near[OURS].seconds / found.seconds:.1f}", str(used.sum()), str((used & exact.any(axis=0)).sum()), memory,
        ])  # fmt: skip
    return table


def _penalties(quick: bool) -> Table:
    n_rows, n_features = (40, 30) if quick else (300, 1_000)

    def cases() -> Iterator[PenalisedCase]:
        for n_tasks, part in product((3,) if quick else (5, 20, 40), PARTS[:1] if quick else PARTS):
            problem = make_problem(n_rows, n_features, n_tasks, 1 / part)
            name = f"{n_tasks} tasks, / {part}"
            yield PenalisedCase(name, _calls(problem), problem.objective, _proved(problem)[0])

    return penalties_table(f"Multi-task lasso at three penalties: {n_rows} x {n_features:,}", cases(), [])


def _calls(problem: TaskProblem) -> dict[str, Any]:
    return {n: partial(s.solve, problem) for n, s in SOLVERS.items() if installed(s.module)}


def _proved(problem: TaskProblem) -> tuple[float, Array]:
    """A lower bound on the objective, and weights that are as good as exact."""
    Xs, ys = [problem.X] * problem.Y.shape[1], list(problem.Y.T)
    found = multi_task(Xs, ys, problem.alpha, fit_intercept=False, tol=1e-8)
    return found.objective - found.gap, found.coef


def solve_alone(solver: str, shape: list[int], tolerance: float) -> Any:
    """For memory, after a small problem that loads and compiles."""
    SOLVERS[solver].solve(make_problem(50, 20, 3, PART), 1e-2)
    problem = make_problem(*shape, PART)

    def work() -> None:
        SOLVERS[solver].solve(problem, tolerance)

    return work


def _growth(quick: bool) -> Table:
    sizes = (2, 4) if quick else (5, 10, 20, 40)
    n_rows, n_features = (50, 40) if quick else (300, 1_000)
    table = Table(
        f"How the multi-task lasso grows with the tasks: {n_rows} rows, {n_features:,} features, CPU ms to {NEAR:g}",
        ["solver", *(f"{size} tasks" for size in sizes), "slope"],
        notes=["As above, best of 2."],
    )
    times: dict[str, list[float]] = {}
    for n_tasks in sizes:
        problem = make_problem(n_rows, n_features, n_tasks, PART)
        for name, found in reach(_calls(problem), problem.objective, _proved(problem)[0], NEAR, repeats=2).items():
            times.setdefault(name, []).append(1e3 * found.seconds)
    for name, ms in times.items():
        table.rows.append([name, *(f"{t:.0f}" for t in ms), f"{slope(sizes, ms):.2f}"])
    if not quick:
        table.picture = curves("tasks", {n: (sizes, ms) for n, ms in times.items()}, x="tasks", y=f"CPU ms to {NEAR:g}")
    return table


# --- streams ----------------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    title: str
    X: Array
    y: Array
    tasks: Array


def _school(folder: Path) -> Rows:
    held = loadmat(folder / "school" / "school.mat")
    Xs, ys = ([np.asarray(a, dtype=float) for a in held[key].ravel()] for key in ("X", "Y"))
    X, y = np.vstack(Xs)[:, :-1], np.concatenate([a.ravel() for a in ys])  # the last column is constant
    return Rows("exam scores in 139 schools", X, y, np.repeat(np.arange(len(Xs)), [len(a) for a in Xs]))


def _stream(quick: bool) -> Table:
    folder = os.environ.get(DATA)
    if folder and not quick and (Path(folder) / "school").exists():
        rows = _school(Path(folder))
    else:
        X, y, tasks, _ = make_multi_task(50 if quick else 150, 50, 50, noise=3.0, random_state=0)
        rows = Rows("50 generated tasks", X, y, tasks)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows.y))
    X = (rows.X - rows.X.mean(axis=0)) / np.maximum(rows.X.std(axis=0), 1e-12)
    X, y, tasks = X[order], ((rows.y - rows.y.mean()) / rows.y.std())[order], rows.tasks[order]
    n_train = 3 * len(y) // 4
    table = Table(
        f"One pass over {rows.title}: {n_train:,} rows, {X.shape[1]} features, {len(np.unique(tasks))} tasks",
        ["learner", "alpha", "eta0", "CPU ms", "explained variance, held out", "features in use"],
        notes=["Columns and targets are standardised; a quarter of the rows is held out. alpha is the best of four, by "
               "the last quarter of the training rows; a stream's step size, too. multi_task "
               "stops at a gap of 1e-4."],
    )  # fmt: skip
    inner = 3 * n_train // 4
    learners = {
        "multi_task, l21, batch": (_batch, [(a, 0.0) for a in (0.01, 0.1, 1.0, 10.0)]),
        "MultiTaskRDARegressor, l21, one pass": (_rda, list(product((1e-3, 1e-2, 1e-1, 1.0), STEPS))),
        "L1RDARegressor, tasks forgotten, one pass": (_pooled, list(product((1e-4, 1e-3, 1e-2, 1e-1), STEPS))),
    }
    for name, (learn, grid) in learners.items():
        scored = []
        for setting in grid:
            predict, _ = learn(X[:inner], y[:inner], tasks[:inner], *setting)
            scored.append(_explained(y[inner:n_train], predict(X[inner:n_train], tasks[inner:n_train])))
        best = grid[int(np.argmax(scored))]
        begin = time.process_time()
        predict, used = learn(X[:n_train], y[:n_train], tasks[:n_train], *best)
        seconds = time.process_time() - begin
        score = _explained(y[n_train:], predict(X[n_train:], tasks[n_train:]))
        table.rows.append(
            [name, f"{best[0]:g}", f"{best[1]:g}" if best[1] else "", f"{1e3 * seconds:.0f}", f"{score:.3f}", str(used)]
        )
    return table


def _explained(y: Array, predicted: Array) -> float:
    return float(1 - np.mean((y - predicted) ** 2) / y.var())


def _batch(X: Array, y: Array, tasks: Array, alpha: float, _: float) -> tuple[Any, int]:
    names = np.unique(tasks)
    found = multi_task([X[tasks == q] for q in names], [y[tasks == q] for q in names], alpha, tol=1e-4)
    place = {q: k for k, q in enumerate(names)}

    def predict(rows: Array, of: Array) -> Array:
        which = np.array([place[q] for q in of])
        return np.asarray((rows * found.coef[which]).sum(axis=1) + found.intercept[which])

    return predict, int(found.coef.any(axis=0).sum())


def _rda(X: Array, y: Array, tasks: Array, alpha: float, eta0: float) -> tuple[Any, int]:
    model = MultiTaskRDARegressor("l21", alpha, eta0=eta0).partial_fit(X, y, tasks=tasks)
    return lambda rows, of: model.predict(rows, tasks=of), len(model.support_)


def _pooled(X: Array, y: Array, tasks: Array, alpha: float, eta0: float) -> tuple[Any, int]:
    model = L1RDARegressor(alpha, eta0=eta0).partial_fit(X, y)
    return lambda rows, of: model.predict(rows), len(model.support_)


def _row_growth(quick: bool) -> Table:
    sizes = (4, 8) if quick else (8, 16, 32, 64)
    n_features, n_rows = (20, 400) if quick else (100, 20_000)
    table = Table(
        f"How a row of a stream grows with the tasks: µs a row of {n_features} values, MultiTaskRDARegressor",
        ["penalty", *(f"{size} tasks" for size in sizes), "slope"],
        notes=["Best of 3 passes over dense rows that come in full rounds, one row of each task."],
    )
    for penalty in ("l21", "l1"):
        us = []
        for n_tasks in sizes:
            X, y, tasks, _ = make_multi_task(n_rows // n_tasks, n_features, n_tasks, random_state=0)
            case = Case(
                lambda m, X=X, y=y, tasks=tasks: m.partial_fit(X, y, tasks=tasks),
                lambda penalty=penalty: MultiTaskRDARegressor(penalty, eta0=0.1),
            )
            us.append(1e6 * take_turns({"pass": case}, 3)["pass"].best / len(y))
        table.rows.append([f'"{penalty}"', *(f"{t:.1f}" for t in us), f"{slope(sizes, us):.2f}"])
    return table
