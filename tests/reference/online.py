"""Online classifiers, one row after the other. Labels are -1 and +1; the constant feature is appended last.

Each yields, after every row, the score of the row before it was learned and all that is known after it. A row of
weight 0 is absent. Tan (2016) and Liu (2019), section 6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray


def pa(
    X: Array, y: Array, *, C: float = 1.0, variant: str = "I", intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array]]:
    """loss = max(0, 1 - y w.x);  w += tau y x

    hard  tau = loss / |x|^2
    I     tau = min(C, loss / |x|^2)
    II    tau = loss / (|x|^2 + 1 / (2 C))        the weight of a row multiplies C
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w = np.zeros(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = w @ x
        loss = max(0.0, 1 - label * score)
        square = x @ x
        if share > 0 and loss > 0 and square > 0:
            if variant == "hard":
                tau = loss / square
            elif variant == "I":
                tau = min(C * share, loss / square)
            elif variant == "II":
                tau = loss / (square + 1 / (2 * C * share))
            w = w + tau * label * x
        yield score, w


def arow_full(
    X: Array, y: Array, *, r: float = 1.0, intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array, Array]]:
    """if loss > 0:  beta = 1 / (x'Sx + r);  mu += loss beta y Sx;  S -= beta Sx x'S

    The weight of a row divides r.
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    mu = np.zeros(X.shape[1])
    sigma = np.eye(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = mu @ x
        loss = max(0.0, 1 - label * score)
        if share > 0 and loss > 0:
            beta = 1 / (x @ sigma @ x + r / share)
            mu = mu + loss * beta * label * sigma @ x
            sigma = sigma - beta * np.outer(sigma @ x, sigma @ x)
        yield score, mu, sigma


def arow_diagonal(
    X: Array, y: Array, *, r: float = 1.0, diagonal: str = "drop", intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array, Array]]:
    """The same with a diagonal S, kept diagonal by

    drop       S_jj -= beta (S_jj x_j)^2        the diagonal of the full update
    precision  1 / S_jj += x_j^2 / r            the diagonal of its inverse
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    mu = np.zeros(X.shape[1])
    sigma = np.ones(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = mu @ x
        loss = max(0.0, 1 - label * score)
        if share > 0 and loss > 0:
            beta = 1 / (x @ (sigma * x) + r / share)
            mu = mu + loss * beta * label * sigma * x
            if diagonal == "drop":
                sigma = sigma - beta * (sigma * x) ** 2
            elif diagonal == "precision":
                sigma = 1 / (1 / sigma + x**2 / (r / share))
        yield score, mu, sigma


def with_constant(X: Array, intercept: float) -> Array:
    return np.column_stack([X, np.full(len(X), intercept)])
