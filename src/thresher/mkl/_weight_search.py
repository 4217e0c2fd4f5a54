r"""The search for kernel weights, and the bounds that it proves.

.. math:: \min_{\theta \in \Theta} J(\theta),\qquad
          J(\theta) = \max_x\ p^\top x - \epsilon \|x\|_1 - \theta^\top a(x),\qquad a_q(x) = \tfrac12 x^\top K_q x

over boxes of x with a sum of 0: a support vector machine with the kernel :math:`\sum_q \theta_q K_q`. J is convex, and
its slope is :math:`-a`. However a machine was solved, its primal value is an upper bound of the optimum, and
:math:`p^\top x - \epsilon \|x\|_1 - \sigma(a(x))` a lower one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._gate import Array
from ..solvers import box_qp
from ._kernel_weights import WeightSet
from ._stack import AnyStack

_CARE = 0.05  # of the gap: how exactly a machine is solved
_ARMIJO = 1e-4
_MEMORY = 10  # values of J that a step may be compared with
_STALLED = 0.5  # of the gap: what it should have fallen to ...
_PATIENCE = 3  # ... within so many machines
_MOVES = 50_000  # of pairs of coefficients, for each row, that all machines together may take


class Dual(NamedTuple):
    """The machine: p, the boxes of x, and the width within which errors cost nothing."""

    linear: Array
    lower: Array
    upper: Array
    epsilon: float = 0.0

    def in_units_of(self, scale: float) -> Dual:
        return Dual(self.linear / scale, self.lower / scale, self.upper / scale, self.epsilon / scale)


class SolvedMachine(NamedTuple):
    """A machine: weights, coefficients, constant term, ``s`` and ``a`` of J >= s - a . theta, and its value."""

    theta: Array
    x: Array
    intercept: float
    total: float
    gains: Array
    value: float
    upper: float


class Search:
    """Machines solved one after the other, each from the one before, and the best bounds that they gave.

    Targets count in units of ``scale``, a power of 2: coefficients are to be multiplied by it, bounds by its square.
    """

    def __init__(self, stack: AnyStack, dual: Dual, weights: WeightSet, tol: float, max_svm: int) -> None:
        self.weights = weights
        self.scale = 2.0 ** int(np.frexp(np.abs(dual.linear).max())[1] - 1)  # squares of its parts stay in range
        dual = dual.in_units_of(self.scale)
        self._stack, self._dual, self._tol, self._max_svm = stack, dual, tol, max_svm
        self._moves_left = _MOVES * len(dual.linear)
        self._floor = 1e-12 * float(np.abs(dual.linear) @ np.maximum(dual.upper, -dual.lower))  # a value that is 0
        self._care = _CARE
        self._x = np.zeros(len(dual.linear))
        self._cuts: list[tuple[float, Array]] = []
        self.lower, self.upper = -np.inf, np.inf
        self.history: list[tuple[float, float]] = []
        self.best = self.evaluate(weights.start(stack.n_kernels))

    @property
    def width(self) -> float:
        return max(self.upper - self.lower, 0.0)

    @property
    def gap(self) -> float:
        """The distance of the bounds, as a part of the upper one."""
        return self.width / self.unit

    @property
    def unit(self) -> float:
        """The size of the optimum."""
        return max(abs(self.upper), self._floor, np.finfo(np.float64).tiny)

    @property
    def converged(self) -> bool:
        return self.gap <= self._tol

    @property
    def done(self) -> bool:
        return self.converged or self._moves_left <= 0 or len(self.history) >= self._max_svm

    def evaluate(self, theta: Array) -> SolvedMachine:
        """Solve the machine of these weights."""
        d = self._dual
        found = box_qp(
            self._stack.combined(theta),
            *(d.linear, d.lower, d.upper),
            epsilon=d.epsilon,
            start=self._x,
            tol=max(self._care * min(self.gap, 0.2) if self.history else 0.01, 1e-12),
            max_iter=max(self._moves_left, 1),
        )
        self._moves_left -= found.n_iter
        self._x, self.last = found.x, theta
        gains = self._stack.energies(found.x)
        total = float(d.linear @ found.x - d.epsilon * np.abs(found.x).sum())
        solved = SolvedMachine(
            theta, found.x, found.multiplier, total, gains, total - float(theta @ gains), found.gap - found.objective
        )
        if solved.upper < self.upper:
            self.upper, self.best = solved.upper, solved
        self._cuts.append((total, gains))
        self.history.append((self.lower, self.upper))
        self.prove(total - self.weights.support(gains))
        return solved

    def prove(self, bound: float) -> float:
        """Take note of a lower bound; by how much it is better."""
        risen = max(bound - self.lower, 0.0)
        self.lower = max(self.lower, bound)
        if self.history:
            self.history[-1] = (self.lower, self.upper)
        return risen

    def sharpen(self) -> None:
        """Solve machines more exactly from now on."""
        self._care *= 0.1

    def cuts(self) -> tuple[Array, Array]:
        """s and a of all machines, in rows."""
        return np.array([total for total, _ in self._cuts]), np.stack([gains for _, gains in self._cuts])

    def stalls(self) -> bool:
        """Whether the last few machines brought the bounds hardly closer."""
        if len(self.history) <= _PATIENCE:
            return False
        lower, upper = self.history[-1 - _PATIENCE]
        return self.width > _STALLED * (upper - lower)


def projected_gradient(search: Search, *, patient: bool) -> None:
    """Spectral projected gradient: steps of Barzilai and Borwein, accepted when J has fallen enough. Unless it is
    patient, it gives up when it makes little way."""
    now = search.best
    values = [now.value]
    length = float(np.linalg.norm(now.theta) / max(np.linalg.norm(now.gains), np.finfo(np.float64).tiny))
    while not search.done and (patient or not search.stalls()):
        goal = search.weights.project(now.theta + length * now.gains)
        way = goal - now.theta
        slope = -float(now.gains @ way)
        if not slope < 0:  # best weights for a machine that is not exact
            search.sharpen()
            now = search.evaluate(now.theta)
            continue
        then = _along(search, now, goal, slope, max(values[-_MEMORY:]))
        moved, bent = then.theta - now.theta, float((then.theta - now.theta) @ (now.gains - then.gains))
        length = float(moved @ moved) / bent if bent > 0 else 10 * length
        length = min(max(length, np.finfo(np.float64).tiny), 1e300)
        now = then
        values.append(now.value)


def _along(search: Search, now: SolvedMachine, goal: Array, slope: float, most: float) -> SolvedMachine:
    """The first machine on the way to ``goal``, from there backwards, that is enough of an improvement."""
    part = 1.0
    while True:
        theta = goal if part == 1 else now.theta + part * (goal - now.theta)
        then = search.evaluate(theta)
        doubt = then.upper - then.value
        if then.value <= most + _ARMIJO * part * slope + doubt or part < 1e-6 or search.done:
            return then
        bend = then.value - now.value - slope * part
        best = -slope * part * part / (2 * bend) if bend > 0 else 0.5 * part
        part = min(max(best, 0.1 * part), 0.5 * part)
