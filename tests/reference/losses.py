"""Losses of a score p and a target y: value, slope in p (flat at a kink), and pull, the supremum of -slope(p, y) p.

Margins m = y p. Jumutc (2016), section 3; Yang (2011), section 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

FOR_CLASSES = ("hinge", "squared_hinge", "pinball", "logistic", "modified_huber", "squared")
FOR_VALUES = ("squared", "epsilon_insensitive", "quantile")


class Loss(NamedTuple):
    value: Callable[[float, float], float]
    slope: Callable[[float, float], float]
    pull: Callable[[float], float]


def loss(name: str, tau: float = 0.5, epsilon: float = 0.1) -> Loss:
    return {
        "hinge": hinge(),
        "squared_hinge": squared_hinge(),
        "pinball": pinball(tau),
        "logistic": logistic(),
        "modified_huber": modified_huber(),
        "squared": squared(),
        "epsilon_insensitive": epsilon_insensitive(epsilon),
        "quantile": quantile(tau),
    }[name]


def hinge() -> Loss:
    """max(0, 1 - m)"""
    return Loss(
        value=lambda p, y: max(0.0, 1 - y * p),
        slope=lambda p, y: -y if y * p < 1 else 0.0,
        pull=lambda y: 1.0,
    )


def squared_hinge() -> Loss:
    """max(0, 1 - m)^2"""
    return Loss(
        value=lambda p, y: max(0.0, 1 - y * p) ** 2,
        slope=lambda p, y: -2 * y * max(0.0, 1 - y * p),
        pull=lambda y: 0.5,
    )


def pinball(tau: float) -> Loss:
    """1 - m below 1, tau (m - 1) above."""
    return Loss(
        value=lambda p, y: 1 - y * p if y * p <= 1 else tau * (y * p - 1),
        slope=lambda p, y: -y if y * p < 1 else tau * y if y * p > 1 else 0.0,
        pull=lambda y: 1.0,
    )


def logistic() -> Loss:
    """log(1 + exp(-m))"""
    return Loss(
        value=lambda p, y: float(np.logaddexp(0.0, -y * p)),
        slope=lambda p, y: float(-y * expit(-y * p)),
        pull=lambda y: 0.27846454276107374,
    )


def modified_huber() -> Loss:
    """-4 m below -1, max(0, 1 - m)^2 above."""
    return Loss(
        value=lambda p, y: -4 * y * p if y * p < -1 else max(0.0, 1 - y * p) ** 2,
        slope=lambda p, y: -4 * y if y * p < -1 else -2 * y * max(0.0, 1 - y * p),
        pull=lambda y: 0.5,
    )


def squared() -> Loss:
    """(p - y)^2 / 2"""
    return Loss(
        value=lambda p, y: (p - y) ** 2 / 2,
        slope=lambda p, y: p - y,
        pull=lambda y: y**2 / 4,
    )


def epsilon_insensitive(epsilon: float) -> Loss:
    """max(0, |p - y| - epsilon)"""
    return Loss(
        value=lambda p, y: max(0.0, abs(p - y) - epsilon),
        slope=lambda p, y: float(np.sign(p - y)) if abs(p - y) > epsilon else 0.0,
        pull=lambda y: max(0.0, abs(y) - epsilon),
    )


def quantile(tau: float) -> Loss:
    """tau (y - p) below the target, (1 - tau) (p - y) above."""
    return Loss(
        value=lambda p, y: tau * (y - p) if p < y else (1 - tau) * (p - y),
        slope=lambda p, y: -tau if p < y else 1 - tau if p > y else 0.0,
        pull=lambda y: tau * y if y > 0 else (tau - 1) * y,
    )
