"""Smooth losses of scores p and targets y: value, slope, conjugate in p, and the largest curvature. Each loss once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy

from ._proximal import Array


class Loss(NamedTuple):
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]  # sup_p u p - value(p, y), of slopes u that the loss can have
    curvature: float
    of_classes: bool  # y is -1 or +1


def _entropy(a: Array) -> Array:
    return np.asarray(xlogy(a, a) + xlogy(1 - a, 1 - a))


LOSSES = {
    "squared": Loss(
        value=lambda p, y: 0.5 * (p - y) ** 2,
        slope=lambda p, y: p - y,
        conjugate=lambda u, y: u * (0.5 * u + y),
        curvature=1.0,
        of_classes=False,
    ),
    "logistic": Loss(
        value=lambda p, y: np.logaddexp(0.0, -y * p),
        slope=lambda p, y: -y * expit(-y * p),
        conjugate=lambda u, y: _entropy(-u * y),
        curvature=0.25,
        of_classes=True,
    ),
    "squared_hinge": Loss(
        value=lambda p, y: np.maximum(1 - y * p, 0.0) ** 2,
        slope=lambda p, y: -2 * y * np.maximum(1 - y * p, 0.0),
        conjugate=lambda u, y: u * (0.25 * u + y),  # a^2 / 4 - a with a = -u y
        curvature=2.0,
        of_classes=True,
    ),
}
