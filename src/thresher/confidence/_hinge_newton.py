"""Newton's method for the squared hinge of rows that are here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .._gate import Array

_MOST_STEPS = 50
_LEAST_SHARE = 2.0**-20  # of a step; below, rounding decides
_ENOUGH = 1e-4  # share of what a step promises that it must keep


def best_weights(Z: Array, y: Array, cost: Array, centre: Array, w: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The best weights for a batch, from those at hand, and the rows that hold them.

        argmin_w  |w - centre|^2 / 2 + sum_i cost_i max(0, 1 - y_i w'z_i)^2 / 2

    Every step solves the problem for the rows that have a loss now. With the right ones it is exact, so that a few
    steps do, where ascent over the rows takes the more passes the larger the costs are.   Keerthi and DeCoste, JMLR 6
    (2005).
    """
    slack = 1.0 - y * (Z @ w)
    for _ in range(_MOST_STEPS):
        held = slack > 0
        some = Z[held]
        weighed = some.T * cost[held]
        bend = weighed @ some
        bend[np.diag_indices_from(bend)] += 1.0
        if not np.isfinite(bend).all():
            raise FloatingPointError
        factor = linalg.cho_factor(bend, lower=True, check_finite=False)
        step = centre + linalg.cho_solve(factor, weighed @ (y[held] - some @ centre), check_finite=False) - w
        promise, change, value = step @ bend @ step, -y * (Z @ step), _objective(w - centre, cost, slack)
        share = 1.0
        while _objective(w + share * step - centre, cost, slack + share * change) > value - _ENOUGH * share * promise:
            share *= 0.5
            if share < _LEAST_SHARE:
                return w, held
        w = w + share * step
        slack = 1.0 - y * (Z @ w)
        if share == 1 and np.array_equal(slack > 0, held):
            break
    return w, slack > 0


def _objective(move: Array, cost: Array, slack: Array) -> float:
    return float(0.5 * (move @ move + cost @ np.maximum(0.0, slack) ** 2))
