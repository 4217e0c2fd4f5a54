"""Pegasos, one row after the other, every weight touched in every step. Jumutc (2016), sections 4 and 6."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

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
    constant: str = "feature",
    weight: Array | None = None,
    close_after: Container[int] = (),
    calls: Sequence[int] = (),
) -> Iterator[tuple[float, Array]]:
    """w <- (1 - 1/t) w - (1/t) A^-1 g;  then w <- w min(1, sqrt(c) / |w|_A)        |w|_A^2 = sum_j alpha_j w_j^2

    g is the mean of weight_i slope_i x_i over a mini-batch, c the mean of weight_i pull_i over all rows so far. A free
    constant takes the step -(1/t) g_b / alpha alone, outside norm and ball. Yields after every row its score and the
    weights to predict with: the last iterate, or the mean of the iterates after every step; "late" counts iterate t
    of them t times, and "auto" is the last one. ``close_after`` are rows
    after which an unfinished mini-batch makes a step with the rows it has.

    Other ``constant``s than a feature are y_bar - <w, x_bar> over all rows before. With "batch_mean", slopes are taken
    with the mean of y - <w, x> over the rows of the mini-batch instead, up to the last row of a call: ``calls`` are the
    rows before which one begins.
    """
    find = find_loss(loss, tau, epsilon)
    X = with_constant(X, intercept if constant == "feature" else 0.0)
    weight = np.ones(len(y)) if weight is None else weight
    alpha = np.broadcast_to(alpha, X.shape[1] - 1)
    A = np.append(alpha, alpha.mean())
    inside = np.append(np.ones(X.shape[1] - 1), float(penalize_intercept))  # 1 for weights that shrink
    w = np.zeros(X.shape[1])
    total = np.zeros(X.shape[1])
    gradient = np.zeros(X.shape[1])
    t = n_rows = n_waiting = 0
    pull = mass = 0.0
    rows: list[int] = []  # of the open mini-batch
    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        score = w @ x + (0.0 if constant == "feature" else mean_residual(X[:i], y[:i], weight[:i], w))
        if share > 0:
            learned = score
            if constant == "batch_mean":
                end = min([call for call in calls if call > i], default=len(y))
                known = [*rows, *[k for k in range(i, end) if weight[k] > 0]][:batch_size]
                alone = len(known) == 1  # whose residual is 0, without rounding
                learned = target if alone else w @ x + mean_residual(X[known], y[known], weight[known], w)
            rows = [*rows, i]
            gradient = gradient + share * find.slope(learned, target) * x
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
            n_waiting, rows = 0, []
        read = total / mass if average in (True, "late") and t > 0 else w
        if constant != "feature":
            read = np.append(read[:-1], mean_residual(X[: i + 1], y[: i + 1], weight[: i + 1], read))
        yield score, read


def mean_residual(X: Array, y: Array, weight: Array, w: Array) -> float:
    """The weighted mean of y - <w, x>; 0 for no rows."""
    return float(weight @ (y - X @ w) / weight.sum()) if weight.sum() > 0 else 0.0
