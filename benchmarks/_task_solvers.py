"""Solvers of the multi-task lasso, all tasks on the same rows: ours and the peers, each in its own words.

    min_W  1 / (2 n) |Y - X W|^2 + alpha sum_j |W_j|,    W_j the weights of feature j in all tasks

without intercepts. A solver takes the problem and a tolerance of its own kind and returns the weights, a row for each
task.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thresher.solvers import multi_task, multi_task_alpha_max

Array = np.ndarray[Any, Any]


class TaskProblem(NamedTuple):
    X: Array
    X_columns: Array  # the same, column after column, as solvers want them
    Y: Array
    alpha: float

    def objective(self, W: Array) -> float:
        rest = self.Y - self.X @ W.T
        return float(0.5 * np.vdot(rest, rest) / len(rest) + self.alpha * np.linalg.norm(W, axis=0).sum())


def make_problem(n_rows: int, n_features: int, n_tasks: int, part: float) -> TaskProblem:
    """One feature in 50 matters, in all tasks; neighbours are correlated; ``part`` is alpha over the largest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1:] = 0.6 * X[:, 1:] + 0.4 * X[:, :-1]
    W = np.zeros((n_tasks, n_features))
    used = rng.choice(n_features, max(1, n_features // 50), replace=False)
    W[:, used] = rng.normal(size=len(used)) + 0.5 * rng.normal(size=(n_tasks, len(used)))
    Y = X @ W.T
    Y += 0.5 * Y.std() * rng.normal(size=Y.shape)
    Y /= Y.std()
    top = multi_task_alpha_max([X] * n_tasks, list(Y.T), fit_intercept=False)
    return TaskProblem(X, np.asfortranarray(X), Y, part * top)


class TaskSolver(NamedTuple):
    module: str  # what must be installed
    solve: Callable[[TaskProblem, float], Array]


def by_thresher(problem: TaskProblem, tol: float) -> Array:
    Xs, ys = [problem.X_columns] * problem.Y.shape[1], list(problem.Y.T)
    return multi_task(Xs, ys, problem.alpha, fit_intercept=False, tol=tol).coef


def by_scikit_learn(problem: TaskProblem, tol: float) -> Array:
    from sklearn.linear_model import MultiTaskLasso

    return _fitted(MultiTaskLasso(alpha=problem.alpha, fit_intercept=False, tol=tol, max_iter=100_000), problem)


def by_celer(problem: TaskProblem, tol: float) -> Array:
    from celer.homotopy import mtl_path  # what its class calls, which is not made for all versions of scikit-learn

    return np.asarray(mtl_path(problem.X_columns, problem.Y, alphas=[problem.alpha], tol=tol)[1][:, :, 0])


def by_skglm(problem: TaskProblem, tol: float) -> Array:
    from skglm import MultiTaskLasso

    return _fitted(MultiTaskLasso(alpha=problem.alpha, fit_intercept=False, tol=tol), problem)


def _fitted(model: Any, problem: TaskProblem) -> Array:
    return model.fit(problem.X_columns, problem.Y).coef_


SOLVERS = {
    "thresher multi_task": TaskSolver("thresher", by_thresher),
    "scikit-learn MultiTaskLasso": TaskSolver("sklearn", by_scikit_learn),
    "celer mtl_path": TaskSolver("celer", by_celer),
    "skglm MultiTaskLasso": TaskSolver("skglm", by_skglm),
}
