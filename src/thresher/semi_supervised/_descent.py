"""Rows that may be read in several ways, each at a cost: majorise by the cheapest reading, minimise, look again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import Array, Gram, Linear
from ..solvers import BoxSolution, box_qp, linear_qp

_SAME = 1e-9  # objectives that differ by no more than this part are the same

_PASSES = 1000  # over rows, for inner products
_STEPS, _STEPS_A_ROW = 5_000_000, 2_000  # of pairs

Reading = Callable[[Array, float], Array]  # scores and epsilon -> the side of each row that costs the least


class InnerProducts(NamedTuple):
    """In place of a kernel matrix that would not fit: rows whose inner products it holds."""

    rows: Any


class SideProblem(NamedTuple):
    """The rows of one problem.

    ``side`` is +1 or -1 for a row of a class and 0 for one that belongs to none; what it says of rows that are ``open``
    does not count. ``cost`` is the factor of each row's loss, ``epsilon`` the width within which a row of side 0 costs
    nothing, ``balance`` the mean score of the open rows, or None.
    """

    side: Array
    cost: Array
    open: NDArray[np.bool_]
    epsilon: float
    balance: float | None = None


class Limits(NamedTuple):
    """The relative precision of every problem and of all, the number of problems, megabytes for rows of K."""

    tol: float
    max_iter: int
    cache_size: float


class Descent(NamedTuple):
    """The end of a descent, for one output.

    ``coef`` are coefficients of the rows or of the landmarks, ``objectives`` the values after every step, ``residual``
    is a duality gap, or what is left of the gradient. ``converged`` says whether it ended by itself, ``solved`` whether
    its last convex problem was solved to the required gap. ``off`` is the largest difference of ``scores``,
    those of all rows, from the scores that the coefficients give.
    """

    coef: Array
    intercept: float
    objectives: list[float]
    residual: float
    n_iter: int
    converged: bool
    scores: Array = np.empty(0)
    solved: bool = True
    off: float = 0.0


def cheapest_side(scores: Array, epsilon: float) -> Array:
    """The cheapest of three readings: M(f) = min{H_1(f), H_1(-f), I_eps(f)}; of equal ones, a class."""
    return np.where(np.abs(scores) < (1 + epsilon) / 2, 0.0, better_class(scores, epsilon))


def better_class(scores: Array, epsilon: float) -> Array:
    """The cheaper of two readings: H_1(|f|)."""
    return np.where(scores > 0, 1.0, -1.0)


def no_class(scores: Array, epsilon: float) -> Array:
    """The only reading: I_eps(f)."""
    return np.zeros_like(scores)


def most_steps(n_rows: int) -> int:
    """The number of pairs that a solver may move."""
    return max(_STEPS, _STEPS_A_ROW * n_rows)


def losses(scores: Array, side: Array, epsilon: float) -> Array:
    """H_1(side f) where the side is a class, I_eps(f) where it is 0."""
    return np.maximum(np.where(side == 0, np.abs(scores) - epsilon, 1 - side * scores), 0.0)


def descend(K: Any, given: SideProblem, read: Reading, limits: Limits, *, from_all: bool) -> Descent:
    r"""Minimise, over a function f = w.phi + b of the kernel's space,

        J(f) = |w|^2 / 2 + sum_i c_i loss(f_i, side_i),      side_i = read(f_i) for open rows.

    With the sides of open rows fixed where they are cheapest at the present f, the sum is convex, nowhere below J and
    equal to it at f: its minimum cannot raise J. Sides are looked up again and the problem solved again until they
    repeat, or J falls by no more than ``limits.tol`` times its value.   Yang (2011), (5.2), by its smallest problem.

    The first problem has all open rows on side 0 (``from_all``), or does without them.
    """
    side = np.where(given.open, 0.0, given.side)
    cost = given.cost if from_all else np.where(given.open, 0.0, given.cost)
    machine = _Machine(K, given, limits)
    best = machine.solve(side, cost, None)
    values, n_iter = [machine.objective(best, read)], 1
    seen = side if from_all or not given.open.any() else None
    while True:
        side = np.where(given.open, read(machine.scores(best), given.epsilon), given.side)
        if seen is not None and np.array_equal(side, seen):
            return machine.found(best, values, n_iter, True)
        if n_iter >= limits.max_iter:
            return machine.found(best, values, n_iter, False)
        new, seen, n_iter = machine.solve(side, given.cost, best.x), side, n_iter + 1
        value = machine.objective(new, read)
        little = values[-1] - value <= limits.tol * abs(value)
        if value <= values[-1] * (1 + _SAME):  # if not lower, then at least with sides that its own scores choose
            best = new
            values.append(min(value, values[-1]))
        if little:
            return machine.found(best, values, n_iter, True)


class _Machine:
    """One signed variable per row, and one more where the mean score of open rows is given."""

    def __init__(self, K: Any, given: SideProblem, limits: Limits) -> None:
        self._given, self._limits = given, limits
        self._K = K if given.balance is None else with_mean(K, given.open)

    def solve(self, side: Array, cost: Array, start: Array | None) -> BoxSolution:
        """min x'Kx/2 - side'x + eps sum_{side = 0} |x_i|,  sum x = 0,  0 <= side_i x_i <= cost_i or |x_i| <= cost_i"""
        lower, upper = np.where(side > 0, 0.0, -cost), np.where(side < 0, 0.0, cost)
        epsilon = np.where(side == 0, self._given.epsilon, 0.0)
        if self._given.balance is not None:  # the multiplier of mean f = balance, attached to the mean of open rows
            side, epsilon = np.append(side, self._given.balance), np.append(epsilon, 0.0)
            lower, upper = np.append(lower, -np.inf), np.append(upper, np.inf)
        tol, _, cache_size = self._limits
        K = self._K
        if isinstance(K, InnerProducts):
            found = linear_qp(K.rows, side, lower, upper, epsilon=epsilon, start=start, tol=tol, max_iter=_PASSES)
            if found.converged:
                return found
            K, start = Gram(Linear(), K.rows), found.x  # pairs get there where single variables hardly move
        limits: dict[str, Any] = {"tol": tol, "max_iter": most_steps(len(side)), "cache_size": cache_size}
        return box_qp(K, side, lower, upper, epsilon=epsilon, start=start, **limits)

    def scores(self, solution: BoxSolution) -> Array:
        return (solution.scores + solution.multiplier)[: len(self._given.side)]

    def objective(self, solution: BoxSolution, read: Reading) -> float:
        """J, which does not depend on the sides that open rows had."""
        given, scores = self._given, self.scores(solution)
        side = np.where(given.open, read(scores, given.epsilon), given.side)
        return float(solution.x @ solution.scores / 2 + given.cost @ losses(scores, side, given.epsilon))

    def found(self, solution: BoxSolution, values: list[float], n_iter: int, converged: bool) -> Descent:
        coef = solution.x[: len(self._given.side)].copy()
        if self._given.balance is not None:
            coef[self._given.open] += solution.x[-1] / np.count_nonzero(self._given.open)
        ends = values, float(solution.gap), n_iter, converged
        return Descent(coef, float(solution.multiplier), *ends, self.scores(solution), bool(solution.converged))


def with_mean(K: Any, some: NDArray[np.bool_]) -> Any:
    """A kernel matrix with the mean of some rows as one more row; like K, an array or rows on demand."""
    share = some / np.count_nonzero(some)
    if not isinstance(K, np.ndarray):
        return _GramWithMean(K, share)
    mean = K @ share
    return np.block([[K, mean[:, None]], [mean[None], np.array([[mean @ share]])]])


class _GramWithMean:
    def __init__(self, K: Any, share: Array) -> None:
        self._K, self._mean = K, K.times(share[None])[0]
        self._corner = float(self._mean @ share)
        self.shape = (K.shape[0] + 1, K.shape[0] + 1)

    def diagonal(self) -> Array:
        return np.append(self._K.diagonal(), self._corner)

    def row(self, i: int) -> Array:
        last = i == len(self._mean)
        return np.append(self._mean, self._corner) if last else np.append(self._K.row(i), self._mean[i])
