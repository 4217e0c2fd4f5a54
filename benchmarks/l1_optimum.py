"""The smallest of mean loss + alpha |w|_1: time until a solver is so near, against peers that solve the same problem.

Each solver is run with a row of tolerances, tight ones last, each run from scratch in a child of its own; the objective
of its weights is computed by one function for all. No constant term, so that all solve one problem. The least objective
is known by a duality gap. Beside it, learners of one pass that keep as many weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from thresher.dual_averaging import AdaptiveL1RDAClassifier, FTRLClassifier
from thresher.online import AROWClassifier
from thresher.solvers import alpha_max, lasso
from thresher.stochastic import SparseSDCAClassifier

from ._data import Problem
from ._forked import Clock, Run, best_cpu, forked, in_turns
from ._front import FrontLine
from ._l1_penalties import PENALISED, l1_penalties
from ._linear_data import LinearTask, linear_tasks
from ._linear_peers import liblinear_weights
from ._measure import installed
from ._penalties import worst_line
from ._report import Table, skipped

LEVELS = (1e-2, 1e-3, 1e-4, 1e-6)  # relative distances from the least objective
ALPHA = 0.02  # of the smallest penalty with which all weights are 0
LIMIT = 20.0  # CPU seconds after which a solver gets no tighter tolerance
LOSSES: dict[str, Callable[[Any], Any]] = {
    "logistic": lambda margin: np.logaddexp(0.0, -margin),
    "squared_hinge": lambda margin: np.maximum(1 - margin, 0.0) ** 2,
}
Weigh = Callable[[float], Any]  # the weights for a tolerance


class L1Problem(NamedTuple):
    task: LinearTask
    loss: str
    alpha: float

    @property
    def rows(self) -> Problem:
        return self.task.problem

    @property
    def C(self) -> float:
        """The penalty in the letters of LIBLINEAR and scikit-learn: C sum of losses + |w|_1."""
        return 1 / (len(self.rows.y) * self.alpha)

    def objective(self, w: Any) -> float:
        margins = self.rows.y * (self.rows.X @ w)
        return float(LOSSES[self.loss](margins).mean() + self.alpha * np.abs(w).sum())


class Point(NamedTuple):
    cpu: float
    objective: float
    n_weights: int
    extra_mb: float


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    tables = []
    for task in linear_tasks(quick):
        if task.key not in ("text", "news"):
            continue
        X, y = task.problem.X, task.problem.y
        for loss in LOSSES if task.key == "text" else ("logistic",):
            top = alpha_max(X, y, loss=loss, fit_intercept=False)
            problem = L1Problem(task, loss, float(f"{ALPHA * top:.2g}"))
            tables += _tables(problem, quick)
    return [*tables, *l1_penalties(quick)]


def _tables(problem: L1Problem, quick: bool) -> list[Table]:
    solvers, notes = _solvers(problem, quick)
    curves = {name: _curve(problem, solver, tols) for name, (solver, tols) in solvers.items()}
    start = _start(problem, solvers)
    tol = 1e-5 if quick else 2e-7
    rows = problem.rows
    best = lasso(rows.X, rows.y, problem.alpha, loss=problem.loss, fit_intercept=False, tol=tol, start=start)
    least = min(best.objective, *(point.objective for curve in curves.values() for point in curve))
    table = Table(
        f"l1, {_said(problem)} loss, alpha = {problem.alpha:g}: {problem.task.title}, {problem.task.shape}",
        ["solver", *(f"CPU s to {level:g}" for level in LEVELS), "nearest", "weights not 0", "MB beside the rows"],
        notes=[
            "CPU time of the quickest run, of several tolerances, whose objective is within so much, relatively, of "
            f"the least, {least:.8f}, which is certain to {best.gap:.1g}. Empty: not with {LIMIT:g} s, or not with its "
            "tightest tolerance. One run each.",
            "Rows in the form that each prefers, made before; skglm and celer are compiled before. LIBLINEAR is its "
            "own library, LinearSVC and LogisticRegression run copies of it.",
            *notes,
        ],
    )
    for name, curve in curves.items():
        table.rows.append([name, *_cells(curve, least)])
    n_weights = int(np.count_nonzero(best.coef))
    return [table, _one_pass(problem, best.coef, n_weights)]


def _said(problem: L1Problem) -> str:
    return problem.loss.replace("_", " ")


def _start(problem: L1Problem, solvers: Mapping[str, tuple[Weigh, tuple[float, ...]]]) -> Any:
    """Weights near the optimum, to prove it from: LIBLINEAR's through scikit-learn."""
    name = "LogisticRegression, liblinear" if problem.loss == "logistic" else "LinearSVC"
    solver, _ = solvers[name]
    return solver(1e-6)


def _curve(problem: L1Problem, solver: Weigh, tols: tuple[float, ...]) -> list[Point]:
    points: list[Point] = []
    for tol in tols:
        ran = forked(_work(problem, solver, tol))
        points.append(Point(ran.cpu, *ran.result, ran.extra_mb))
        if ran.cpu > LIMIT:
            break
    return points


def _work(problem: L1Problem, solver: Weigh, tol: float) -> Callable[[Clock], Callable[[], tuple[float, int]]]:
    def work(clock: Clock) -> Callable[[], tuple[float, int]]:
        with clock:
            w = solver(tol)
        return lambda: (problem.objective(w), int(np.count_nonzero(w)))

    return work


def _cells(curve: list[Point], least: float) -> Iterator[str]:
    for level in LEVELS:
        near = [point.cpu for point in curve if point.objective <= (1 + level) * least]
        yield f"{min(near):.2f}" if near else ""
    nearest = min(curve, key=lambda point: point.objective)
    yield f"{max(0.0, nearest.objective / least - 1):.1e}"
    yield f"{nearest.n_weights:,}"
    yield f"{max(0.0, max(point.extra_mb for point in curve)):,.0f}"


def _solvers(problem: L1Problem, quick: bool) -> tuple[dict[str, tuple[Weigh, tuple[float, ...]]], list[str]]:
    """By name: weights for a tolerance, and tolerances from loose to tight in the solver's own terms."""
    X, y, alpha = sparse.csc_array(problem.rows.X), problem.rows.y, problem.alpha
    wide = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    found: dict[str, tuple[Weigh, tuple[float, ...]]] = {
        "thresher.solvers.lasso": (
            lambda tol: lasso(X, y, alpha, loss=problem.loss, fit_intercept=False, tol=tol).coef,
            wide[1:3] if quick else wide[1:5],
        ),
        "thresher SparseSDCA, l1_ratio=0.99": (lambda tol: _sdca(problem, tol), wide[1:3] if quick else wide[1:5]),
    }
    if problem.loss == "logistic":
        for solver, name in (("liblinear", "LogisticRegression, liblinear"), ("saga", "LogisticRegression, saga")):
            found[name] = (lambda tol, solver=solver: _logistic(problem, solver, tol), wide[:4] if quick else wide)
    else:
        found["LinearSVC"] = (lambda tol: _svc(problem, tol), wide[:4] if quick else wide)
    missing = []
    for module, add in (("liblinear", _liblinear), ("skglm", _skglm), ("celer", _celer)):
        if not installed(module):
            missing.append(module)
        elif module == "liblinear" or (problem.loss == "logistic" and not quick):
            found |= add(problem, wide)
    return found, skipped(missing)


def _sdca(problem: L1Problem, tol: float) -> Any:
    """With the same l1 penalty and a hundredth of it as l2: the dual needs some."""
    model = SparseSDCAClassifier(
        problem.alpha / 0.99, l1_ratio=0.99, loss=problem.loss, fit_intercept=False, tol=tol, random_state=0
    )
    return model.fit(problem.rows.X, problem.rows.y).coef_[0]


def _logistic(problem: L1Problem, solver: str, tol: float) -> Any:
    many = {"liblinear": 1_000, "saga": 10_000}[solver]
    model = LogisticRegression(
        C=problem.C, l1_ratio=1.0, solver=solver, fit_intercept=False, tol=tol, max_iter=many, random_state=0
    )
    return model.fit(problem.rows.X, problem.rows.y).coef_[0]


def _svc(problem: L1Problem, tol: float) -> Any:
    model = LinearSVC(
        penalty="l1", dual=False, C=problem.C, fit_intercept=False, tol=tol, max_iter=10_000, random_state=0
    )
    return model.fit(problem.rows.X, problem.rows.y).coef_[0]


def _liblinear(problem: L1Problem, tols: tuple[float, ...]) -> dict[str, tuple[Weigh, tuple[float, ...]]]:
    from liblinear import liblinearutil

    number = {"logistic": 6, "squared_hinge": 5}[problem.loss]
    given = liblinearutil.problem(problem.rows.y, sparse.csr_matrix(problem.rows.X))

    def solve(tol: float) -> Any:
        model = liblinearutil.train(given, liblinearutil.parameter(f"-s {number} -c {problem.C!r} -e {tol!r} -q"))
        return liblinear_weights(model, problem.rows.X.shape[1]).coef[0]

    return {f"LIBLINEAR -s {number}": (solve, tols)}


def _skglm(problem: L1Problem, tols: tuple[float, ...]) -> dict[str, tuple[Weigh, tuple[float, ...]]]:
    from skglm import SparseLogisticRegression

    X, y = sparse.csc_matrix(problem.rows.X), problem.rows.y

    def solve(tol: float) -> Any:
        return SparseLogisticRegression(problem.alpha, fit_intercept=False, tol=tol).fit(X, y).coef_.ravel()

    solve(1e-4)  # compiles all that an easier problem would not meet
    return {"skglm SparseLogisticRegression": (solve, tuple(tol / 10 for tol in tols))}


def _celer(problem: L1Problem, tols: tuple[float, ...]) -> dict[str, tuple[Weigh, tuple[float, ...]]]:
    from celer import LogisticRegression as Celer

    X, y = sparse.csc_matrix(problem.rows.X), problem.rows.y

    def solve(tol: float) -> Any:
        return Celer(C=problem.C, tol=tol).fit(X, y).coef_.ravel()

    solve(1e-1)
    return {"celer LogisticRegression": (solve, tols)}


def _one_pass(problem: L1Problem, optimum: Any, n_weights: int) -> Table:
    """Learners of one pass that may keep as many weights as the optimum has."""
    p = problem.rows
    table = Table(
        f"One pass with {n_weights:,} weights, as the optimum for the {_said(problem)} loss has: {problem.task.title}",
        ["model", "CPU ms", "weights not 0", "held-out accuracy"],
        notes=["Best of 3 children in turn, defaults. These are told the number of weights, not a penalty."],
    )
    accuracy = np.mean((p.X_test @ optimum > 0) == (p.y_test > 0))
    table.rows.append(["the optimum", "", f"{n_weights:,}", f"{accuracy:.4f}"])
    models = {
        "thresher FTRL": FTRLClassifier(n_features_to_select=n_weights, max_iter=1),
        "thresher adaptive l1-RDA": AdaptiveL1RDAClassifier(n_features_to_select=n_weights, max_iter=1),
        "thresher AROW": AROWClassifier(n_features_to_select=n_weights, max_iter=1),
    }

    def fit(model: Any) -> Callable[[Clock], Callable[[], tuple[int, float]]]:
        def work(clock: Clock) -> Callable[[], tuple[int, float]]:
            with clock:
                model.set_params(random_state=0).fit(p.X, p.y)
            return lambda: (int(np.count_nonzero(model.coef_)), float(model.score(p.X_test, p.y_test)))

        return work

    runs: dict[str, list[Run]] = in_turns({name: fit(model) for name, model in models.items()}, 3)
    for name, each in runs.items():
        size, score = each[-1].result
        table.rows.append([name, f"{1e3 * best_cpu(each):.1f}", f"{size:,}", f"{score:.4f}"])
    return table


def front(tables: list[Table]) -> list[FrontLine]:
    """For each loss, the problem of three penalties where we are slowest beside the fastest peer."""
    return [
        line
        for loss in PENALISED
        for line in worst_line(tables, f"l1, {loss} loss, three penalties", f"l1 {loss} optimum", "solvers.lasso")
    ]
