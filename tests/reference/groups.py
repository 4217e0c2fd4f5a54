"""Group-sparse learners, one row after the other, every weight computed in every step.

Yang (2011), section 1: groups are lists of columns, all of them named; a column in several groups has a copy in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .dual_averaging import soft
from .losses import loss as find_loss
from .online import Array, with_constant


def with_singletons(groups: Sequence[Sequence[int]] | None, n_features: int) -> list[list[int]]:
    """The given groups, then one for every column that is in none of them."""
    given = [list(group) for group in groups or []]
    return given + [[j] for j in range(n_features) if not any(j in group for group in given)]


def shrink(v: Array, a: float) -> Array:
    """[1 - a / |v|]+ v, and 0 for v = 0"""
    length = np.linalg.norm(v)
    return (1 - a / length) * v if length > a else np.zeros_like(v)


def clip(v: Array, a: float) -> Array:
    """v - P(v), P the projection onto the l1 ball of radius a, by sorting"""
    if np.abs(v).sum() <= a:
        return np.zeros_like(v)
    down = np.sort(np.abs(v))[::-1]
    levels = (np.cumsum(down) - a) / np.arange(1, len(v) + 1)
    level = levels[np.flatnonzero(down >= levels)[-1]]
    return np.sign(v) * np.minimum(np.abs(v), level)


def prox(v: Array, l1: float, a: float, norm: float) -> Array:
    """argmin_w |w - v|^2 / 2 + l1 |w|_1 + a penalty(w), penalty = sqrt(d) |w|_2 or d |w|_inf"""
    c = soft(v, l1)
    return shrink(c, a * np.sqrt(len(v))) if norm == 2 else clip(c, a * len(v))


def group_rda(
    X: Array,
    y: Array,
    *,
    groups: Sequence[Sequence[int]],
    loss: str,
    alpha: float,
    eta0: float = 1.0,
    l1_weight: Sequence[float],
    rho: float = 0.0,
    norm: float = 2,
    intercept: float = 0.0,
    weight: Array | None = None,
) -> Iterator[tuple[float, Array]]:
    """ubar = S / t;  s = eta0 sqrt t;  copy of group g = prox(-s ubar^g);  w_j = sum of its copies;  b = -s ubar_b

    Yields after every row its score and the weights.
    """
    find = find_loss(loss)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w, S, t = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for x, target, share in zip(X, y, weight, strict=True):
        score = w @ x
        if share > 0:
            t += 1
            S = S + share * find.slope(score, target) * x
            s = eta0 * np.sqrt(t)
            w = np.zeros(X.shape[1])
            for g, r in zip(groups, l1_weight, strict=True):
                w[g] += prox(-s * S[g] / t, s * alpha * r + rho, s * alpha, norm)
            w[-1] = -s * S[-1] / t
        yield score, w


def group_fobos(
    X: Array,
    y: Array,
    *,
    groups: Sequence[Sequence[int]],
    loss: str,
    alpha: float,
    eta0: float = 1.0,
    l1_weight: Sequence[float],
    norm: float = 2,
    intercept: float = 0.0,
    weight: Array | None = None,
) -> Iterator[tuple[float, Array]]:
    """eta = eta0 / sqrt t;  w^g = prox(w^g - eta u^g);  b -= eta u_b"""
    find = find_loss(loss)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w, t = np.zeros(X.shape[1]), 0
    for x, target, share in zip(X, y, weight, strict=True):
        score = w @ x
        if share > 0:
            t += 1
            eta = eta0 / np.sqrt(t)
            v = w - eta * share * find.slope(score, target) * x
            w = v.copy()
            for g, r in zip(groups, l1_weight, strict=True):
                w[g] = prox(v[g], eta * alpha * r, eta * alpha, norm)
        yield score, w
