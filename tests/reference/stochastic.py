"""Pegasos, one row after the other, every weight touched in every step. Jumutc (2016), sections 4 and 6."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from .losses import loss as find_loss
from .online import Array, with_constant


def pegasos(
    X: Array,
    y: Array,
    *,
    loss: str,
    alpha: float | Array,
    tau: float = 0.5,
    epsilon: float = 0.1,
    batch_size: int = 1,
    projection: bool = True,
    average: bool | str = False,
    penalize_intercept: bool = True,
    intercept: float = 0.0,
    weight: Array | None = None,
    close_after: Container[int] = (),
) -> Iterator[tuple[float, Array]]:
    """w <- (1 - 1/t) w - (1/t) A^-1 g;  then w <- w min(1, sqrt(c) / |w|_A)        |w|_A^2 = sum_j alpha_j w_j^2

    g is the mean of weight_i slope_i x_i over a mini-batch, c the mean of weight_i pull_i over all rows so far. A free
    constant takes the step -(1/t) g_b / alpha alone, outside norm and ball. Yields after every row its score and the
    weights to predict with: the last iterate, or the mean of the iterates after every step; "late" counts iterate t
    of them t times, and "auto" is the last one. ``close_after`` are rows
    after which an unfinished mini-batch makes a step with the rows it has.
    """
    find = find_loss(loss, tau, epsilon)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    alpha = np.broadcast_to(alpha, X.shape[1] - 1)
    A = np.append(alpha, alpha.mean())
    inside = np.append(np.ones(X.shape[1] - 1), float(penalize_intercept))  # 1 for weights that shrink
    w = np.zeros(X.shape[1])
    total = np.zeros(X.shape[1])
    gradient = np.zeros(X.shape[1])
    t = n_rows = n_waiting = 0
    pull = mass = 0.0
    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        score = w @ x
        if share > 0:
            gradient = gradient + share * find.slope(score, target) * x
            pull = pull + share * find.pull(target)
            n_rows += 1
            n_waiting += 1
        if n_waiting == batch_size or (n_waiting > 0 and i in close_after):
            t += 1
            g = gradient / n_waiting
            w = (1 - inside / t) * w - g / (A * t)
            norm = np.sqrt(np.sum(inside * A * w**2))
            radius = np.sqrt(pull / n_rows)
            if projection and norm > radius:
                w = np.where(inside == 1, w * radius / norm, w)
            mass += t if average == "late" else 1
            total = total + (t if average == "late" else 1) * w
            gradient = np.zeros(X.shape[1])
            n_waiting = 0
        yield score, total / mass if average in (True, "late") and t > 0 else w
