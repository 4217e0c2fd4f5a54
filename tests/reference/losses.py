"""Losses of a score p and a target y, as twins of those in core/loss.hpp.

A twin is a function that is named like its loss and takes the parameter of that loss, if there is one. Margins m = y p.
Jumutc (2016), section 3; Yang (2011), section 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from thresher._engine import FOR_CLASSES, FOR_VALUES, LOSSES

__all__ = ["FOR_CLASSES", "FOR_VALUES", "Loss", "loss"]


class Loss(NamedTuple):
    value: Callable[[float, float], float]
    slope: Callable[[float, float], float]  # in p; at a kink, the flat side
    pull: Callable[[float], float]  # the supremum of -slope(p, y) p
    convex: Callable[[Any, Any, Any], Any]  # of (cp, p, y): the values in the words of a general convex solver, cvxpy
    kinks: Callable[[float], list[float]] = lambda y: []  # scores where the slope jumps


def loss(name: str, tau: float = 0.5, epsilon: float = 0.1) -> Loss:
    """The twin of a loss of the table."""
    twin = globals().get(name)
    if twin is None:
        raise NotImplementedError(f"tests/reference/losses.py must hold a twin of the loss {name!r}, under that name.")
    made: Loss = twin(*({"tau": tau, "epsilon": epsilon}[given] for given in [LOSSES[name].parameter] if given))
    return made


def hinge() -> Loss:
    """max(0, 1 - m)"""
    return Loss(
        value=lambda p, y: max(0.0, 1 - y * p),
        slope=lambda p, y: -y if y * p < 1 else 0.0,
        pull=lambda y: 1.0,
        convex=lambda cp, p, y: cp.pos(1 - cp.multiply(y, p)),
        kinks=lambda y: [y],
    )


def squared_hinge() -> Loss:
    """max(0, 1 - m)^2"""
    return Loss(
        value=lambda p, y: max(0.0, 1 - y * p) ** 2,
        slope=lambda p, y: -2 * y * max(0.0, 1 - y * p),
        pull=lambda y: 0.5,
        convex=lambda cp, p, y: cp.square(cp.pos(1 - cp.multiply(y, p))),
    )


def pinball(tau: float) -> Loss:
    """1 - m below 1, tau (m - 1) above."""
    return Loss(
        value=lambda p, y: 1 - y * p if y * p <= 1 else tau * (y * p - 1),
        slope=lambda p, y: -y if y * p < 1 else tau * y if y * p > 1 else 0.0,
        pull=lambda y: 1.0,
        convex=lambda cp, p, y: cp.maximum(1 - cp.multiply(y, p), tau * (cp.multiply(y, p) - 1)),
        kinks=lambda y: [y],
    )


def logistic() -> Loss:
    """log(1 + exp(-m))"""
    return Loss(
        value=lambda p, y: float(np.logaddexp(0.0, -y * p)),
        slope=lambda p, y: float(-y * expit(-y * p)),
        pull=lambda y: 0.27846454276107374,
        convex=lambda cp, p, y: cp.logistic(-cp.multiply(y, p)),
    )


def modified_huber() -> Loss:
    """-4 m below -1, max(0, 1 - m)^2 above."""
    return Loss(
        value=lambda p, y: -4 * y * p if y * p < -1 else max(0.0, 1 - y * p) ** 2,
        slope=lambda p, y: -4 * y if y * p < -1 else -2 * y * max(0.0, 1 - y * p),
        pull=lambda y: 0.5,
        convex=lambda cp, p, y: cp.huber(cp.pos(1 - cp.multiply(y, p)), 2),
    )


def squared() -> Loss:
    """(p - y)^2 / 2"""
    return Loss(
        value=lambda p, y: (p - y) ** 2 / 2,
        slope=lambda p, y: p - y,
        pull=lambda y: y**2 / 4,
        convex=lambda cp, p, y: cp.square(p - y) / 2,
    )


def epsilon_insensitive(epsilon: float) -> Loss:
    """max(0, |p - y| - epsilon)"""
    return Loss(
        value=lambda p, y: max(0.0, abs(p - y) - epsilon),
        slope=lambda p, y: float(np.sign(p - y)) if abs(p - y) > epsilon else 0.0,
        pull=lambda y: max(0.0, abs(y) - epsilon),
        convex=lambda cp, p, y: cp.pos(cp.abs(p - y) - epsilon),
        kinks=lambda y: [y - epsilon, y + epsilon],
    )


def quantile(tau: float) -> Loss:
    """tau (y - p) below the target, (1 - tau) (p - y) above."""
    return Loss(
        value=lambda p, y: tau * (y - p) if p < y else (1 - tau) * (p - y),
        slope=lambda p, y: -tau if p < y else 1 - tau if p > y else 0.0,
        pull=lambda y: tau * y if y > 0 else (tau - 1) * y,
        convex=lambda cp, p, y: cp.maximum(tau * (y - p), (1 - tau) * (p - y)),
        kinks=lambda y: [y],
    )


def huber(epsilon: float) -> Loss:
    """(p - y)^2 / 2 up to an error of epsilon, epsilon |p - y| - epsilon^2 / 2 beyond."""
    return Loss(
        value=lambda p, y: (p - y) ** 2 / 2 if abs(p - y) <= epsilon else epsilon * abs(p - y) - epsilon**2 / 2,
        slope=lambda p, y: p - y if abs(p - y) <= epsilon else epsilon * float(np.sign(p - y)),
        pull=lambda y: y**2 / 4 if abs(y) <= 2 * epsilon else epsilon * (abs(y) - epsilon),
        convex=lambda cp, p, y: cp.huber(p - y, epsilon) / 2,
    )
