r"""The level method: kernel weights from all machines so far.

Each machine that was solved, exactly or not, says of all weights that :math:`J(\theta) \ge s_i - a_i^\top \theta`. The
next weights are those nearest to the last ones where these cuts stay below a level between the bounds; if no
weights do, the level is a lower bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import Array
from ._kernel_weights import WeightSet
from ._weight_search import Search

_LEVEL = 0.7  # tau; the 0.9 and 0.99 of the thesis take several times as many machines, 0.5 more for v near 1
_MOST_STEPS = 60
_PRECISION = 0.01  # of the distance between bounds: how far above the level a cut may stay
_ROUNDING = 1e-15  # relative, of the dual
_PROVEN = 0.2  # of it: by how much a lower bound must rise for the level to be set anew


class Nearest(NamedTuple):
    """The nearest weights below a level, the multipliers of the cuts, and the best lower bound, with the multipliers
    that prove it."""

    theta: Array
    multipliers: Array
    bound: float
    proof: Array


def level_method(search: Search) -> None:
    """Solve machines until the gap is small enough, or there have been too many."""
    multipliers = np.zeros(0)
    while not search.done:
        found = _next(search, multipliers)
        if search.done:
            return
        if not (found.theta != search.last).any():  # the machine was not exact enough to cut its own weights off
            search.sharpen()
        multipliers = found.multipliers
        search.evaluate(found.theta)


def _next(search: Search, multipliers: Array) -> Nearest:
    while True:
        sums, gains = search.cuts()
        unit = search.unit
        width = search.width / unit
        level = search.lower / unit + _LEVEL * width
        begin = np.append(multipliers, np.zeros(len(sums) - len(multipliers)))
        found = nearest(search.weights, search.last, gains / unit, sums / unit, level, begin, _PRECISION * width)
        risen = search.prove(found.bound * unit, search.mixed(found.proof)) if found.proof.any() else 0.0
        if risen < _PROVEN * width * unit or search.done:
            return found
        multipliers = found.multipliers * (found.bound <= level)  # beyond all bounds where nothing is below the level


def nearest(
    weights: WeightSet, centre: Array, gains: Array, sums: Array, level: float, begin: Array, precision: float
) -> Nearest:
    r"""The weights nearest to ``centre`` with ``sums - gains @ theta <= level``, or proof that there are none.

    With multipliers :math:`\mu \ge 0` of the cuts, the weights are the projection of :math:`c + A^\top \mu`, and the
    dual is smooth and concave in :math:`\mu`: projected Newton steps. Multipliers that sum to 1 prove
    :math:`J \ge s^\top \mu - \sigma(A^\top \mu)`.
    """
    rise, mu, best, proof = sums - level, begin, -np.inf, np.zeros_like(begin)
    for _ in range(_MOST_STEPS):
        z = centre + mu @ gains
        theta = weights.project(z)
        over = rise - gains @ theta
        if mu.any():
            share = mu / mu.sum()
            bound = float(share @ sums) - weights.support(share @ gains)
            best, proof = (bound, share) if bound > best else (best, proof)
        free = (mu > 0) | (over > 0)
        if best > level or np.abs(over[free]).max(initial=0.0) <= precision:
            break
        climb = Climb(weights, centre, gains, rise, mu, over, _dual(theta, centre, mu, over))
        step = _newton(weights, z, theta, gains, over, free)
        moved = climb.along(step, 1e-3)
        if moved is None:  # steps that end at 0 need not lead up; shorter ones, of multipliers that can all move, do
            while (stuck := (mu == 0) & (step < 0)).any():
                free &= ~stuck
                step = _newton(weights, z, theta, gains, over, free)
            down = step < 0
            moved = climb.along(step * min(1.0, float(np.min(mu[down] / -step[down], initial=np.inf))), 1e-10)
        if moved is None:  # the dual may be straight here, as at a corner of the set, where no curvature says how far
            moved = climb.stretched(np.where(free, over, 0.0) / max(float(np.linalg.norm(gains, 2)) ** 2, 1e-300))
        if moved is None:  # nothing more to gain in floating point
            break
        mu = moved
    return Nearest(weights.project(centre + mu @ gains), mu, best, proof)


class Climb(NamedTuple):
    """Steps of the multipliers from a place where the dual has this slope and value."""

    weights: WeightSet
    centre: Array
    gains: Array
    rise: Array
    mu: Array
    slope: Array
    value: float

    def along(self, way: Array, shortest: float) -> Array | None:
        """The longest of ever shorter steps, kept at 0 or above, that raises the dual enough."""
        length = 1.0
        while length > shortest:
            moved = np.maximum(self.mu + length * way, 0.0)
            if self._pays(moved):
                return moved
            length *= 0.5
        return None

    def stretched(self, way: Array) -> Array | None:
        """The longest of ever longer steps, the first of which pays wherever the dual can be raised."""
        best, length = None, 1.0
        while length < 1e30:
            moved = np.maximum(self.mu + length * way, 0.0)
            if not self._pays(moved):
                break
            best, length = moved, 4.0 * length
        return best

    def _pays(self, moved: Array) -> bool:
        theta = self.weights.project(self.centre + moved @ self.gains)
        way, over = moved - self.mu, self.rise - self.gains @ theta
        expected, gained = float(self.slope @ way), _dual(theta, self.centre, moved, over) - self.value
        if abs(gained) < _ROUNDING * abs(self.value):  # too little to be told from rounding; slopes tell
            return expected > 0 and abs(float(over @ way)) < 0.9 * expected
        return gained >= 1e-4 * expected > 0


def _dual(theta: Array, centre: Array, mu: Array, over: Array) -> float:
    return 0.5 * float((theta - centre) @ (theta - centre)) + float(mu @ over)


def _newton(weights: WeightSet, z: Array, theta: Array, gains: Array, over: Array, free: NDArray[np.bool_]) -> Array:
    """The step to where the dual would be largest if it were as curved everywhere; others than ``free`` stay."""
    own, normal = weights.slopes(z, theta)
    gains = gains[free]
    scaled = gains * own
    H = scaled @ gains.T
    if normal is not None and (size := float(normal @ (own * normal))) > 0:
        out = scaled @ normal
        H -= np.outer(out, out) / size
    H[np.diag_indices_from(H)] += 1e-10 * max(float(np.trace(H)), float(np.sum(gains * gains)) * 1e-6)
    step = np.zeros_like(over)
    step[free] = np.linalg.solve(H, over[free])
    return step
