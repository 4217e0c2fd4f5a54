r"""The level method: kernel weights from everything that machines said so far.

Each machine that was solved, exactly or not, says of all weights that :math:`J(\theta) \ge s_i - a_i^\top \theta`. The
next weights are those nearest to the last ones where these cuts stay below a level between the bounds; if no
weights do, the level is a lower bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._search import Search
from ._weights import Array, WeightSet

_LEVEL = 0.6  # tau; the 0.9 and 0.99 of the thesis take several times as many machines
_MOST_STEPS = 60
_PRECISION = 0.01  # of the distance between bounds: how far above the level a cut may stay
_PROVEN = 0.2  # of it: by how much a lower bound must rise for the level to be set anew


class Nearest(NamedTuple):
    """The nearest weights below a level, the multipliers of the cuts, and the best lower bound that these prove."""

    theta: Array
    multipliers: Array
    bound: float


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
        risen = search.prove(found.bound * unit)
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
    rise = sums - level
    mu, best = begin, -np.inf
    z = centre + mu @ gains
    theta = weights.project(z)
    for _ in range(_MOST_STEPS):
        over = rise - gains @ theta
        if mu.any():
            share = mu / mu.sum()
            best = max(best, float(share @ sums) - weights.support(share @ gains))
            if best > level:
                break
        free = (mu > 0) | (over > 0)
        if np.abs(over[free]).max(initial=0.0) <= precision:
            break
        step = _newton(weights, z, theta, gains[free], over[free])
        value, length, moved = _dual(theta, centre, mu, over), 1.0, mu
        while length > 1e-10:
            moved = mu.copy()
            moved[free] = np.maximum(mu[free] + length * step, 0.0)
            z = centre + moved @ gains
            theta = weights.project(z)
            now = _dual(theta, centre, moved, rise - gains @ theta)
            if now >= value + 1e-4 * float(over @ (moved - mu)):
                break
            length *= 0.5
        if length <= 1e-10:  # nothing more to gain in floating point
            theta = weights.project(centre + mu @ gains)
            break
        mu = moved
    return Nearest(theta, mu, best)


def _dual(theta: Array, centre: Array, mu: Array, over: Array) -> float:
    return 0.5 * float((theta - centre) @ (theta - centre)) + float(mu @ over)


def _newton(weights: WeightSet, z: Array, theta: Array, gains: Array, over: Array) -> Array:
    own, normal = weights.slopes(z, theta)
    scaled = gains * own
    H = scaled @ gains.T
    if normal is not None and (size := float(normal @ (own * normal))) > 0:
        out = scaled @ normal
        H -= np.outer(out, out) / size
    ridge = 1e-10 * max(float(np.trace(H)), float(np.sum(gains * gains)) * 1e-6)
    H[np.diag_indices_from(H)] += ridge
    return np.asarray(np.linalg.solve(H, over), dtype=np.float64)
