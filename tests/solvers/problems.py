"""The problems of the solvers, small, in the words of a general convex solver."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from reference.objectives import mean_loss, solve
from thresher import solvers
from thresher.solvers._solver_input import LOSSES

GROUPS = [[0, 3, 5], [1, 2], [4, 6, 7, 8]]  # 9, 10 and 11 are alone
OVERLAPPING = [[0, 1, 2], [2, 3, 4], [4, 5, 0], [7, 8]]
FREE = {"intercept": True, "no-intercept": False}


class Case(NamedTuple):
    solver: Any
    top: Any  # where all weights become 0
    penalty: Any  # of coefficients, for the general solver
    n_tasks: int = 0


def lasso_of(l2_weight=0.0):
    def penalty(w, alpha):
        return alpha * cp.norm1(w) + l2_weight / 2 * cp.sum_squares(w)

    return Case(partial(solvers.lasso, l2_weight=l2_weight), solvers.alpha_max, penalty)


def groups_of(groups, l1_weight, norm):
    def penalty(w, alpha):
        d = w.shape[0]
        alone = [[j] for j in set(range(d)) - {j for group in groups for j in group}]
        copies = [cp.Variable(len(group)) for group in [*groups, *alone]]
        places = [np.eye(d)[:, group] for group in [*groups, *alone]]
        tied = [w == sum(P @ v for P, v in zip(places, copies, strict=True))]
        lengths = [
            np.sqrt(v.shape[0]) * cp.norm(v, "inf" if norm == np.inf else 2) + l1_weight * cp.norm1(v) for v in copies
        ]
        return alpha * cp.sum(lengths), tied

    def solver(X, y, alpha, **options):
        return solvers.group_lasso(X, y, groups, alpha, l1_weight=l1_weight, norm=norm, **options)

    return Case(solver, partial(solvers.alpha_max, groups=groups, l1_weight=l1_weight, norm=norm), penalty)


def tasks_of(penalty, p=2.0, l1_weight=0.0):
    def of_weights(W, alpha):  # a row per task
        length = {"l1": 1, "lp1": "inf" if p == np.inf else p}.get(penalty, 2)
        return alpha * cp.sum([cp.norm(W[:, j], length) + l1_weight * cp.norm1(W[:, j]) for j in range(W.shape[1])])

    options = {"penalty": penalty, "p": p, "l1_weight": l1_weight}
    return Case(partial(solvers.multi_task, **options), partial(solvers.multi_task_alpha_max, **options), of_weights, 3)


CASES = {
    "lasso": lasso_of(),
    "elastic-net": lasso_of(0.3),
    "group": groups_of(GROUPS, 0.0, 2),
    "sparse-group": groups_of(GROUPS, 0.4, 2),
    "group-inf": groups_of(GROUPS, 0.0, np.inf),
    "sparse-group-inf": groups_of(GROUPS, 0.4, np.inf),
    "overlapping": groups_of(OVERLAPPING, 0.0, 2),
    "sparse-overlapping": groups_of(OVERLAPPING, 0.4, 2),
    "tasks-l1": tasks_of("l1"),
    "tasks-l21": tasks_of("l21"),
    "tasks-l1-l21": tasks_of("l1_l21", l1_weight=0.4),
    "tasks-linf": tasks_of("lp1", np.inf),
    "tasks-l1.5": tasks_of("lp1", 1.5),
    "tasks-l3-l1": tasks_of("lp1", 3.0, l1_weight=0.2),
}


def data(case: Case, loss: str, seed: int = 0) -> tuple[Any, Any]:
    """Columns that are far from centred, of unequal size; tasks of unequal numbers of rows."""
    rng = np.random.default_rng(seed)
    w = np.zeros(12)
    w[[0, 2, 5, 9]] = [1.5, -1.0, 0.7, 1.0]
    rows, targets = [], []
    for q in range(max(case.n_tasks, 1)):
        X = (rng.normal(size=(40 + 7 * q, 12)) + 2 * rng.normal(size=12)) * rng.uniform(0.5, 2.0, size=12)
        X[rng.random(X.shape) < 0.3] = 0
        z = X @ (w + 0.3 * q * rng.normal(size=12) * (w != 0)) + rng.normal(size=len(X))
        z -= np.median(z) - 0.3
        rows.append(X)
        targets.append(np.where(z > 0, 1.0, -1.0) if not LOSSES[loss].for_values else z)
    return (rows, targets) if case.n_tasks else (rows[0], targets[0])


def truth(case: Case, X: Any, y: Any, alpha: float, loss: str, fit_intercept: bool) -> tuple[float, Any, Any]:
    """Objective, weights and intercepts by interior points."""
    several = bool(case.n_tasks)
    W = cp.Variable((case.n_tasks, 12)) if several else cp.Variable(12)
    b = cp.Variable(max(case.n_tasks, 1)) if fit_intercept else np.zeros(max(case.n_tasks, 1))
    losses = (
        [mean_loss(loss, X[q] @ W[q] + b[q], y[q]) for q in range(case.n_tasks)]
        if several
        else [mean_loss(loss, X @ W + b[0], y)]
    )
    penalty = case.penalty(W, alpha)
    penalty, ties = penalty if isinstance(penalty, tuple) else (penalty, [])
    value = solve(sum(losses) + penalty, tolerance=1e-10, constraints=ties)
    intercept = b.value if fit_intercept else b
    return value, W.value, intercept if several else intercept[0]


def objective(case: Case, X: Any, y: Any, alpha: float, loss: str, coef: Any, intercept: Any) -> float:
    """By the general solver's own arithmetic; the latent copies of overlapping groups are found again."""
    W = cp.Variable(coef.shape)
    penalty = case.penalty(W, alpha)
    if isinstance(penalty, tuple):
        penalty = solve(penalty[0], tolerance=1e-10, constraints=[*penalty[1], coef == W])
    else:
        W.value = coef
        penalty = float(penalty.value)
    pairs = zip(X, y, coef, intercept, strict=True) if case.n_tasks else [(X, y, coef, intercept)]
    return penalty + sum(float(mean_loss(loss, cp.Constant(A @ w + b), t).value) for A, t, w, b in pairs)
