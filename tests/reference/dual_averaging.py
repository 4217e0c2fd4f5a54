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
    average: bool = False,
) -> Iterator[tuple[float, Array]]:
    """G += g;  w = -soft(G / t, alpha + rho / (eta0 sqrt t)) / (l2_weight + 1 / (eta0 sqrt t))

    g is the mean of weight_i slope_i x_i over a mini-batch. A free constant is b = -eta0 G_b / sqrt t. Yields after
    every row its score and the weights. ``close_after`` are rows after which an unfinished mini-batch makes a step with
    the rows it has. With ``average``, scores and weights are those of predictions: the same formula of the mean of all
    (t, G), of which those after t steps count t times.
    """
    find = find_loss(loss, tau, epsilon)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w = read = np.zeros(X.shape[1])
    G = np.zeros(X.shape[1])
    gradient = np.zeros(X.shape[1])
    past: list[tuple[int, Array]] = []
    t = n_waiting = 0

    def weights(t: float, G: Array) -> Array:
        w = -soft(G / t, alpha + rho / (eta0 * np.sqrt(t))) / (l2_weight + 1 / (eta0 * np.sqrt(t)))
        if not penalize_intercept:
            w[-1] = -eta0 * G[-1] / np.sqrt(t)
        return w

    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        score, shown = w @ x, read @ x
        if share > 0:
            gradient = gradient + share * find.slope(score, target) * x
            n_waiting += 1
        if n_waiting == batch_size or (n_waiting > 0 and i in close_after):
            t += 1
            G = G + gradient / n_waiting
            w = read = weights(t, G)
            if average:
                past.append((t, G))
                times = np.array([s for s, _ in past], dtype=float)
                sums = np.array([G_s for _, G_s in past])
                read = weights(np.average(times, weights=times), np.average(sums, axis=0, weights=times))
            gradient = np.zeros(X.shape[1])
            n_waiting = 0
        yield shown, read


def soft(a: Array, h: float) -> Array:
    """sign(a) max(|a| - h, 0)"""
    return np.sign(a) * np.maximum(np.abs(a) - h, 0)
