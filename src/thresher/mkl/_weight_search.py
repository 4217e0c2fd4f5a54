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
from numpy.typing import NDArray

from .._gate import Array
from ..solvers import Boxes
from ._kernel_weights import WeightSet
from ._stack import AnyStack

_CARE = 0.05  # of the gap: how exactly a machine is solved
_ARMIJO = 1e-4
_MEMORY = 10  # values of J that a step may be compared with
_STALLED = 0.5  # of the gap: what it should have fallen to ...
_PATIENCE = 3  # ... within so many machines
_NEAR = 0.5  # of the least gain that is worth a weight: kernels that gain as much are not left out
_MOVES = 50_000  # of pairs of coefficients, for each row, that all machines together may take


class Dual(NamedTuple):
    """The machine: p, the boxes of x, and the width within which errors cost nothing."""

    linear: Array
    lower: Array
    upper: Array
    epsilon: float = 0.0

    def in_units_of(self, scale: float) -> Dual:
        return Dual(self.linear / scale, self.lower / scale, self.upper / scale, self.epsilon / scale)

    def boxes(self) -> Boxes:
        one = np.ones((1, len(self.linear)))
        linear, lower, upper = (side[None] for side in (self.linear, self.lower, self.upper))
        return Boxes(linear, lower, upper, self.epsilon * one, one, np.zeros(1))


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
    r"""Machines solved one after the other, each from the one before, and the best bounds that they gave.

    Targets count in units of ``scale``, a power of 2: coefficients are to be multiplied by it, bounds by its square.

    Once most kernels have no weight and gain little, they are left out: they count as 0 in sums and gains, which makes
    the problem one with fewer kernels, whose lower bounds hold for that problem alone. When it is solved, :meth:`widen`
    looks at all kernels again. Only bounds that hold for all kernels are written into the ``history``.
    """

    def __init__(self, stack: AnyStack, dual: Dual, weights: WeightSet, tol: float, max_svm: int) -> None:
        self.weights = weights
        self.scale = 2.0 ** int(np.frexp(np.abs(dual.linear).max())[1] - 1)  # squares of its parts stay in range
        dual = dual.in_units_of(self.scale)
        self._stack, self._dual, self._tol, self._max_svm = stack, dual, tol, max_svm
        self._boxes = dual.boxes()
        self._moves_left = _MOVES * len(dual.linear)
        self._floor = 1e-12 * float(np.abs(dual.linear) @ np.maximum(dual.upper, -dual.lower))  # a value that is 0
        self._care = _CARE
        self._x = self._proof = np.zeros(len(dual.linear))
        self._xs: list[Array] = []
        self._cuts: list[tuple[float, Array]] = []
        self._some = self._all = np.arange(stack.n_kernels)
        self._proven = self.lower = -np.inf
        self.upper = np.inf
        self._widths: list[float] = []
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
        found = self._boxes.solved(
            self._stack.combined(theta),
            np.ones((1, 1)),
            self._x.copy()[None],
            tol=max(self._care * min(self.gap, 0.2) if self.history else 0.01, 1e-12),
            max_iter=max(self._moves_left, 1),
        )
        x = found.x[0]
        self._moves_left -= found.n_iter
        self._x, self.last = x, theta
        total, gains = self._total(x), self._stack.energies(x, self._some)
        value, intercept = total - float(theta @ gains), float(found.multiplier[0])
        solved = SolvedMachine(theta, x, intercept, total, gains, value, found.gap - found.objective)
        if solved.upper < self.upper:
            self.upper, self.best = solved.upper, solved
        self.history.append((self._proven, self.upper))
        self.prove(total - self.weights.support(gains), x)
        self._xs.append(x)
        self._cuts.append((total, gains))
        self._widths.append(self.width)
        self._leave_out(theta, gains)
        return solved

    def _total(self, x: Array) -> float:
        return float(self._dual.linear @ x - self._dual.epsilon * np.abs(x).sum())

    def prove(self, bound: float, x: Array) -> float:
        """Take note of a lower bound, which coefficients prove; by how much it is better."""
        risen = max(bound - self.lower, 0.0)
        if risen > 0:
            self.lower, self._proof = bound, x
            if len(self._some) == len(self._all):
                self._proven = bound
                self.history[-1] = (bound, self.upper)
        return risen

    def mixed(self, multipliers: Array) -> Array:
        """Coefficients between those of all machines."""
        return (multipliers / multipliers.sum()) @ np.stack(self._xs)

    def _leave_out(self, theta: Array, gains: Array) -> None:
        """Leave out kernels without weight that gain too little for one."""
        if len(self._some) < len(self._all):
            return
        some = np.flatnonzero((theta > 0) | self._rivals(gains))
        if 2 * len(some) <= len(self._all):
            self._some = some
            for _, each in self._cuts:
                each[np.setdiff1d(self._all, some)] = 0
            self._stack.keep(some)

    def _rivals(self, gains: Array) -> NDArray[np.bool_]:
        """Kernels that gain about as much as those worth a weight."""
        return gains >= _NEAR * gains[self.weights.best_response(gains) > 0].min()

    def widen(self) -> bool:
        """Look at all kernels; whether those that were left out are needed."""
        if len(self._some) == len(self._all):
            return False
        gains = self._stack.energies(self._proof, self._all)
        total = self._total(self._proof)
        bound = total - self.weights.support(gains)
        self._proven = self.lower = max(self._proven, bound)
        self.history[-1] = (self._proven, self.upper)
        if self.done:
            return False
        more = np.setdiff1d(np.flatnonzero(self._rivals(gains)), self._some)
        self._some = np.union1d(self._some, more)
        for x, (_, each) in zip(self._xs, self._cuts, strict=True):
            each[more] = self._stack.energies(x, more)[more]
        self._stack.keep(self._some)
        self._widths.append(self.width)
        return True

    def sharpen(self) -> None:
        """Solve machines more exactly from now on."""
        self._care *= 0.1

    def cuts(self) -> tuple[Array, Array]:
        """s and a of all machines, in rows."""
        return np.array([total for total, _ in self._cuts]), np.stack([gains for _, gains in self._cuts])

    def stalls(self) -> bool:
        """Whether the last few machines brought the bounds hardly closer."""
        return len(self._widths) > _PATIENCE and self.width > _STALLED * self._widths[-1 - _PATIENCE]


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
