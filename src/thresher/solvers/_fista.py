"""One loop for all problems: accelerated proximal gradient steps with restarts, and a duality gap that ends it.

    min over W, c   F(W, c) = sum_q mean_i loss(x_qi' W_q + c_q, y_qi) + (l2 / 2) |W|^2 + Omega(W)

Beck and Teboulle, SIAM J. Imaging Sciences 2 (2009); restarts of O'Donoghue and Candes, Found. Comput. Math. 15 (2015).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._penalties import BlockPenalty
from ._proximal import Array
from ._solver_rows import SmoothLoss, TaskRows

_CHECK_EVERY = 10  # steps between looks at the gap


class Solution(NamedTuple):
    """Solution of a problem, with a bound on its error.

    Attributes
    ----------
    coef : ndarray of shape (n_features,), or (n_tasks, n_features)
        The weights.
    intercept : float, or ndarray of shape (n_tasks,)
        The intercept, at its best for these weights; 0 without one.
    objective : float
        The value of the problem at this point.
    gap : float
        A duality gap: the objective is at most this much above the smallest there is.
    n_iter : int
        Proximal gradient steps taken.
    converged : bool
        Whether ``gap <= tol * max(1, abs(objective))``.
    """

    coef: Array
    intercept: Any
    objective: float
    gap: float
    n_iter: int
    converged: bool


class Certificate(NamedTuple):
    """Quality of a point: the best intercepts for its weights, the objective there, a lower bound on the objective
    anywhere, and the gradient of the mean losses."""

    intercepts: Array
    objective: float
    lower: float
    gradient: Array


class CompositeProblem(NamedTuple):
    """Mean losses of tasks, plus a penalty."""

    tasks: list[TaskRows]
    loss: SmoothLoss
    penalty: BlockPenalty
    l2: float

    def same_rows(self) -> bool:
        """Whether several tasks have one set of rows, so that one product serves them all."""
        return len(self.tasks) > 1 and all(task.X is self.tasks[0].X for task in self.tasks)

    def largest_squares(self) -> tuple[float, float]:
        """The largest squared singular value of the rows over their number, roughly, and an upper bound on it."""
        sets = self.tasks[:1] if self.same_rows() else self.tasks
        rough = max(task.largest_square() / task.n_rows for task in sets) or 1.0
        return rough, max(rough, *(task.total_square() / task.n_rows for task in sets))

    def scores(self, W: Array) -> list[Array]:
        """Without intercepts."""
        if self.same_rows():
            return list(np.ascontiguousarray(self.tasks[0].scores(W).T))
        return [task.scores(W[:, q]) for q, task in enumerate(self.tasks)]

    def slopes(self, scores: list[Array]) -> list[Array]:
        return [self.loss.slope(p, task.y) for p, task in zip(scores, self.tasks, strict=True)]

    def gradient(self, slopes: list[Array]) -> Array:
        """Of the mean losses, in W."""
        if self.same_rows():
            return self.tasks[0].gradient(np.column_stack(slopes))
        return np.column_stack([task.gradient(u) for u, task in zip(slopes, self.tasks, strict=True)])

    def best_intercepts(self, scores: list[Array]) -> Array:
        return np.array([task.best_intercept(p) for p, task in zip(scores, self.tasks, strict=True)])

    def null_gradient(self) -> Array:
        """At W = 0, with the intercepts that are best there."""
        nothing = [np.zeros(task.n_rows) for task in self.tasks]
        return self.gradient(self.slopes([p + c for p, c in zip(nothing, self.best_intercepts(nothing), strict=True)]))

    def certify(self, W: Array, scores: list[Array] | None = None) -> Certificate:
        """The objective at W and a lower bound on any other. Scores are computed if they are not known.

        Slopes u at the best intercepts sum to 0 in every task, as the dual asks; its value at s u is

            -sum_q mean_i conjugate(s u_qi) - g*(-s G),   G the gradient that u gives,

        with g = Omega + l2/2 |.|^2. Without l2, g* is 0 as long as Omega's dual norm of s G is at most 1, which sets s;
        with l2 it is |prox_Omega(-G)|^2 / (2 l2) at s = 1.
        """
        scores = self.scores(W) if scores is None else scores
        c = self.best_intercepts(scores)
        scores = [p + c_q for p, c_q in zip(scores, c, strict=True)]
        losses = sum(float(self.loss.value(p, task.y).mean()) for p, task in zip(scores, self.tasks, strict=True))
        objective = losses + 0.5 * self.l2 * float(np.vdot(W, W)) + self.penalty.value(W)

        slopes = self.slopes(scores)
        G = self.gradient(slopes)
        scale, beyond = 1.0, 0.0
        if self.l2 > 0:
            V = self.penalty.prox(-G, 1.0)
            beyond = float(np.vdot(V, V)) / (2 * self.l2)
        else:
            scale = 1.0 / max(self.penalty.polar(G), 1.0)
        conjugates = (self.loss.conjugate(scale * u, task.y) for u, task in zip(slopes, self.tasks, strict=True))
        return Certificate(c, objective, -sum(float(values.mean()) for values in conjugates) - beyond, G)

    def solution(self, W: Array, found: Certificate, lower: float, n_iter: int, tol: float) -> Solution:
        """Weights with their gap to the best lower bound; intercepts are those of rows that are not centred."""
        intercept = found.intercepts - np.array([task.mean @ W[:, q] for q, task in enumerate(self.tasks)])
        gap = max(found.objective - lower, 0.0)
        return Solution(W, intercept, found.objective, gap, n_iter, gap <= tol * max(1.0, abs(found.objective)))


def minimise(problem: CompositeProblem, W: Array, tol: float, max_iter: int) -> Solution:
    """Minimise from weights ``W`` of shape (n_features, n_tasks), in which the solution is laid out, too."""
    rough, bound = problem.largest_squares()
    curvature, bound = problem.loss.curvature, problem.loss.curvature * bound + problem.l2
    steep = min(1.02 * curvature * rough + problem.l2, bound)  # 1 / the length of a step
    unit = np.sqrt(rough) * np.array([task.fit_intercept for task in problem.tasks])  # intercepts as steep as weights

    def scores_of(Z: Array) -> list[Array]:
        return [p + u * c for p, u, c in zip(problem.scores(Z[:-1]), unit, Z[-1], strict=True)]

    here = problem.certify(W)
    c, lower = here.intercepts, here.lower
    Z = np.vstack([W, np.divide(c, unit, out=np.zeros_like(c), where=unit > 0)])  # weights, and the intercepts last
    found = problem.solution(Z[:-1], here, lower, 0, tol)
    P = scores_of(Z)
    Y, R, momentum = Z, P, 1.0  # the start of the next step, and the scores there
    for n_iter in range(1, max_iter + 1):
        if found.converged:
            break
        slopes = problem.slopes(R)
        down = np.vstack([problem.gradient(slopes) + problem.l2 * Y[:-1], unit * [u.mean() for u in slopes]])
        while True:
            Z_new = Y - down / steep
            Z_new[:-1] = problem.penalty.prox(Z_new[:-1], 1.0 / steep)
            P_new = scores_of(Z_new)
            moved = float(np.vdot(Z_new - Y, Z_new - Y))
            bent = curvature * sum(float(((p - r) ** 2).mean()) for p, r in zip(P_new, R, strict=True))
            if steep >= bound or bent + problem.l2 * moved <= steep * moved:
                break
            steep = min(2 * steep, bound)  # the power method stopped too early

        if np.vdot(Y - Z_new, Z_new - Z) > 0:  # the momentum points uphill
            momentum = 1.0
        faster = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        push = (momentum - 1) / faster
        Y = Z_new + push * (Z_new - Z)
        R = [p + push * (p - before) for p, before in zip(P_new, P, strict=True)]
        Z, P, momentum = Z_new, P_new, faster
        if n_iter % _CHECK_EVERY == 0 or n_iter == max_iter:
            here = problem.certify(Z[:-1])
            lower = max(lower, here.lower)
            found = problem.solution(Z[:-1], here, lower, n_iter, tol)
    return found
