"""Coupled outputs, dense and eager: every weight computed in every round. Yang (2011), chapter 4, with its errata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .losses import loss as find_loss
from .online import Array, with_constant

MOST = 16.0  # times that FOBOS counts the gradient of a task that is often absent


def soft(v: Array, cut: float) -> Array:
    return np.sign(v) * np.maximum(np.abs(v) - cut, 0)


def shrink(v: Array, cut: float) -> Array:
    length = np.sqrt(np.sum(v**2))
    return np.zeros_like(v) if length <= cut else (1 - cut / length) * v


def onto_l1_ball(v: Array, radius: float) -> Array:
    """The nearest point with sizes that sum to at most ``radius``, by sorting."""
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    levels = (np.cumsum(sizes) - radius) / np.arange(1, len(v) + 1)
    return soft(v, levels[np.flatnonzero(sizes > levels)[-1]])


def lp_prox(v: Array, cut: float, p: float) -> Array:
    """argmin |w - v|^2 / 2 + cut |w|_p: one root inside another."""
    dual = p / (p - 1)
    if np.sum(np.abs(v) ** dual) ** (1 / dual) <= cut:
        return np.zeros_like(v)

    def entries(size: float) -> Array:
        return np.array(
            [0 if c == 0 else brentq(lambda w, c=c: w + cut * (w / size) ** (p - 1) - c, 0, c, xtol=1e-18, rtol=1e-15)
             for c in np.abs(v)]
        )  # fmt: skip

    largest = np.sum(np.abs(v) ** p) ** (1 / p)
    size = brentq(lambda s: np.sum(entries(s) ** p) ** (1 / p) - s, 1e-12 * largest, largest, xtol=1e-18, rtol=1e-15)
    return np.sign(v) * entries(size)


def row_prox(v: Array, cut: float, penalty: str, p: float, l1_weight: float) -> Array:
    if penalty == "l1" or (penalty == "lp1" and p == 1):
        return soft(v, cut)
    if penalty == "l21" or (penalty == "lp1" and p == 2):
        return shrink(v, cut)
    if penalty == "l1_l21":
        return shrink(soft(v, cut * l1_weight), cut)
    if np.isinf(p):
        return v - onto_l1_ball(v, cut)
    return lp_prox(v, cut, p)


def _prox(V: Array, cut: float, model: Any) -> Array:
    """Row by row; the constant, last, has no penalty."""
    r = np.broadcast_to(model.l1_weight, len(V) - 1)
    rows = [row_prox(v, cut, model.penalty, model.p, share) for v, share in zip(V[:-1], r, strict=True)]
    return np.vstack([*rows, V[-1:]])


def _rounds(tasks: Array, ids: Array | None, weight: Array) -> Iterator[tuple[int, bool]]:
    """The rows that are there, and whether a new round starts with each."""
    held: set[int] = set()
    last = None
    for i in np.flatnonzero(weight > 0).tolist():
        starts = tasks[i] in held if ids is None else last not in (None, ids[i])
        if starts:
            held.clear()
        held.add(tasks[i])
        last = None if ids is None else ids[i]
        yield i, starts


def multi_task(
    kind: str, model: Any, X: Array, y: Array, tasks: Array, ids: Array | None = None, weight: Array | None = None
) -> Iterator[tuple[int, float, Array]]:
    """Yields every row that is there, its score at the weights of its round's start, and the weights (n_weights,
    n_tasks) as if its round ended with it. ``kind`` is "rda" or "fobos", ``model`` an estimator with the parameters."""
    find = find_loss(model.loss, model.tau, getattr(model, "epsilon", 0.0))
    X = with_constant(X.astype(float), model.intercept_scaling if model.fit_intercept else 0.0)
    weight = np.ones(len(y)) if weight is None else weight
    n_tasks = int(tasks.max()) + 1
    W = after = S = np.zeros((X.shape[1], n_tasks))
    G, n, t = np.zeros_like(W), np.zeros(n_tasks), 1
    for i, starts in _rounds(tasks, ids, weight):
        if starts:
            W, S, G, t = after, S + G, np.zeros_like(W), t + 1
        q = tasks[i]
        score = X[i] @ W[:, q]
        n[q] += 1
        G[:, q] = weight[i] * find.slope(score, y[i]) * X[i]
        if kind == "rda":
            step = model.eta0 * np.sqrt(t)
            after = _prox(-step * (S + G) / np.maximum(n, 1), step * model.alpha, model)
        else:
            step = model.eta0 / np.sqrt(t)
            G[:, q] *= min(t / n[q], MOST)
            after = _prox(W - step * G, step * model.alpha, model)
        yield i, score, after


def shared_rda(model: Any, X: Array, codes: Array, weight: Array | None = None) -> Iterator[tuple[Array, Array]]:
    """Yields after every row its scores and the weights (n_weights, n_classes). All outputs of a row see each other."""
    find = find_loss(model.loss, model.tau, 0.0)
    X = with_constant(X.astype(float), model.intercept_scaling if model.fit_intercept else 0.0)
    n_classes, alpha = int(codes.max()) + 1, model.alpha
    K = 1 if n_classes == 2 else n_classes
    positive = np.array([1]) if K == 1 else np.arange(K)
    S, W, t = np.zeros((X.shape[1], K)), np.zeros((X.shape[1], K)), 0
    if model.n_features_to_select is not None:
        alpha = 0.0
    for i in range(len(codes)):
        scores = X[i] @ W
        if weight is None or weight[i] > 0:
            t += 1
            for k in range(K):
                slope = find.slope(scores[k], 1.0 if codes[i] == positive[k] else -1.0)
                S[:, k] += (1.0 if weight is None else weight[i]) * slope * X[i]
            if model.n_features_to_select is not None and t >= 64 and (t & (t - 1)) == 0:
                lengths = np.sort(np.linalg.norm(S[:-1], axis=1))[::-1]
                alpha = lengths[model.n_features_to_select] / t
            step = model.eta0 * np.sqrt(t)
            W = np.vstack([shrink(-step * s / t, step * alpha) for s in S[:-1]] + [-step * S[-1:] / t])
        yield scores, W
