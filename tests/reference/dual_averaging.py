"""Dual averaging, one row after the other, every weight computed in every step.

Yang (2011), section 1; Jumutc (2016), section 7.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from .losses import loss as find_loss
from .online import Array, with_constant


def l1_rda(
    X: Array,
    y: Array,
    *,
    loss: str,
    alpha: float,
    eta0: float = 1.0,
    rho: float = 0.0,
    l2_weight: float = 0.0,
    tau: float = 0.5,
    epsilon: float = 0.1,
    batch_size: int = 1,
    penalize_intercept: bool = False,
    intercept: float = 0.0,
    weight: Array | None = None,
    close_after: Container[int] = (),
) -> Iterator[tuple[float, Array]]:
    """G += g;  w = -soft(G / t, alpha + rho / (eta0 sqrt t)) / (l2_weight + 1 / (eta0 sqrt t))

    g is the mean of weight_i slope_i x_i over a mini-batch. A free constant is b = -eta0 G_b / sqrt t. Yields after
    every row its score and the weights. ``close_after`` are rows after which an unfinished mini-batch makes a step with
    the rows it has.
    """
    find = find_loss(loss, tau, epsilon)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w = np.zeros(X.shape[1])
    G = np.zeros(X.shape[1])
    gradient = np.zeros(X.shape[1])
    t = n_waiting = 0
    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        score = w @ x
        if share > 0:
            gradient = gradient + share * find.slope(score, target) * x
            n_waiting += 1
        if n_waiting == batch_size or (n_waiting > 0 and i in close_after):
            t += 1
            G = G + gradient / n_waiting
            w = -soft(G / t, alpha + rho / (eta0 * np.sqrt(t))) / (l2_weight + 1 / (eta0 * np.sqrt(t)))
            if not penalize_intercept:
                w[-1] = -eta0 * G[-1] / np.sqrt(t)
            gradient = np.zeros(X.shape[1])
            n_waiting = 0
        yield score, w


def soft(a: Array, h: float) -> Array:
    """sign(a) max(|a| - h, 0)"""
    return np.sign(a) * np.maximum(np.abs(a) - h, 0)
