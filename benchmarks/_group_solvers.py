"""Solvers of the group lasso at one penalty: ours and the peers, each in its own words.

    min_w  mean loss(x'w, y) + alpha sum_g ( sqrt(d_g) |w_g| + r |w_g|_1 ),    half the square, or logistic

without an intercept, with groups of equal size that lie side by side. A solver takes the problem and a tolerance of its
own kind and returns the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thresher.solvers import alpha_max, group_lasso

Array = np.ndarray[Any, Any]
SIZE = 10  # columns of a group


class GroupProblem(NamedTuple):
    X: Array
    X_columns: Array  # the same, column after column, as solvers want them
    y: Array
    alpha: float
    loss: str
    l1_weight: float

    @property
    def n_groups(self) -> int:
        return self.X.shape[1] // SIZE

    def objective(self, w: Array) -> float:
        scores = self.X @ w
        losses = 0.5 * (scores - self.y) ** 2 if self.loss == "squared" else np.logaddexp(0, -self.y * scores)
        norms = np.linalg.norm(w.reshape(-1, SIZE), axis=1)
        return float(losses.mean() + self.alpha * (np.sqrt(SIZE) * norms.sum() + self.l1_weight * np.abs(w).sum()))

    def groups_in_use(self, w: Array) -> frozenset[int]:
        return frozenset(np.flatnonzero(w.reshape(-1, SIZE).any(axis=1)).tolist())


def make_problem(n_rows: int, n_groups: int, loss: str, l1_weight: float, part: float) -> GroupProblem:
    """One group in 25 matters, half of its columns; neighbours are correlated; ``part`` is alpha over the largest."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n_rows, n_groups, 1))
    X = (np.sqrt(0.3) * common + np.sqrt(0.7) * rng.normal(size=(n_rows, n_groups, SIZE))).reshape(n_rows, -1)
    w = np.zeros((n_groups, SIZE))
    for g in rng.choice(n_groups, max(1, n_groups // 25), replace=False):
        w[g, rng.choice(SIZE, SIZE // 2, replace=False)] = rng.choice([-1.0, 1.0], SIZE // 2)
    scores = X @ w.ravel()
    y = scores + 0.5 * scores.std() * rng.normal(size=n_rows)
    y = y / y.std() if loss == "squared" else np.where(y > 0, 1.0, -1.0)
    groups = list(np.arange(n_groups * SIZE).reshape(-1, SIZE))
    top = alpha_max(X, y, groups=groups, l1_weight=l1_weight, loss=loss, fit_intercept=False)
    return GroupProblem(X, np.asfortranarray(X), y, part * top, loss, l1_weight)


class GroupSolver(NamedTuple):
    module: str  # what must be installed
    losses: tuple[str, ...]
    sparse_inside: bool  # whether it takes the l1 norm, too
    solve: Callable[[GroupProblem, float], Array]

    def takes(self, problem: GroupProblem) -> bool:
        return problem.loss in self.losses and (self.sparse_inside or not problem.l1_weight)


def by_thresher(problem: GroupProblem, tol: float) -> Array:
    groups = list(np.arange(problem.X.shape[1]).reshape(-1, SIZE))
    options = {"l1_weight": problem.l1_weight, "loss": problem.loss, "fit_intercept": False, "tol": tol}
    return group_lasso(problem.X_columns, problem.y, groups, problem.alpha, **options).coef


def by_adelie(problem: GroupProblem, tol: float) -> Array:
    import adelie

    square = problem.loss == "squared"
    glm = adelie.glm.gaussian(problem.y) if square else adelie.glm.binomial(0.5 * (problem.y + 1))
    found = adelie.grpnet(
        adelie.matrix.dense(problem.X_columns, method="naive", n_threads=1),
        glm,
        groups=np.arange(0, problem.X.shape[1], SIZE),
        penalty=np.full(problem.n_groups, np.sqrt(SIZE)),
        lmda_path=np.array([problem.alpha]),
        early_exit=False,
        intercept=False,
        tol=tol,
        irls_tol=tol,
        n_threads=1,
        progress_bar=False,
    )
    return found.betas[-1].toarray().ravel()


def by_celer(problem: GroupProblem, tol: float) -> Array:
    from celer import GroupLasso

    alpha = np.sqrt(SIZE) * problem.alpha  # its groups weigh 1
    model = GroupLasso(groups=SIZE, alpha=alpha, fit_intercept=False, tol=tol)
    return model.fit(problem.X_columns, problem.y).coef_


def by_skglm(problem: GroupProblem, tol: float) -> Array:
    from skglm.datafits import LogisticGroup, QuadraticGroup
    from skglm.penalties import WeightedGroupL2, WeightedL1GroupL2
    from skglm.solvers import GroupBCD
    from skglm.utils.data import grp_converter

    n_features = problem.X.shape[1]
    places, starts = grp_converter(SIZE, n_features)
    weights = np.full(problem.n_groups, np.sqrt(SIZE))
    if problem.l1_weight:
        inside = np.full(n_features, problem.l1_weight)
        penalty = WeightedL1GroupL2(problem.alpha, weights, inside, starts, places)
    else:
        penalty = WeightedGroupL2(problem.alpha, weights, starts, places)
    datafit = (QuadraticGroup if problem.loss == "squared" else LogisticGroup)(starts, places)
    solver = GroupBCD(tol=tol, fit_intercept=False, ws_strategy="fixpoint" if problem.l1_weight else "subdiff")
    return solver.solve(problem.X_columns, problem.y, datafit, penalty)[0]


SOLVERS = {
    "thresher group_lasso": GroupSolver("thresher", ("squared", "logistic"), True, by_thresher),
    "adelie grpnet": GroupSolver("adelie", ("squared", "logistic"), False, by_adelie),
    "celer GroupLasso": GroupSolver("celer", ("squared",), False, by_celer),
    "skglm GroupBCD": GroupSolver("skglm", ("squared", "logistic"), True, by_skglm),
}
