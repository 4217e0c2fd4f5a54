"""Mean losses of tasks with a penalty on blocks of weights, by proximal gradient steps.

F(W, c) = sum_q mean_i loss(x_qi' W_q + c_q, y_qi) + (l2 / 2) |W|^2 + sum_b ( weight_b |W_b|_p + l1 |W_b|_1 )
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reference.losses import loss as find_loss

Array = np.ndarray[Any, Any]


class Blocks(NamedTuple):
    """Places of weights in the flat W, a row for each task, and what the norms of blocks count."""

    places: list[Array]
    weights: list[float]
    norm: float = 2.0
    l1: float = 0.0

    def value(self, W: Array) -> float:
        flat = W.ravel()
        return sum(
            weight * np.linalg.norm(flat[b], self.norm) + self.l1 * np.abs(flat[b]).sum()
            for b, weight in zip(self.places, self.weights, strict=True)
        )

    def prox(self, W: Array, step: float) -> Array:
        flat = W.ravel().copy()
        for b, weight in zip(self.places, self.weights, strict=True):
            v = np.sign(flat[b]) * np.maximum(np.abs(flat[b]) - step * self.l1, 0)
            flat[b] = v - onto_dual_ball(v, step * weight, self.norm)  # Moreau
        return flat.reshape(W.shape)


def onto_dual_ball(v: Array, radius: float, norm: float) -> Array:
    """The nearest point with a dual norm of at most ``radius``, for the norms 2 and inf."""
    if norm == 2:
        return v * min(1.0, radius / max(np.linalg.norm(v), 1e-300))
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    cuts = (np.cumsum(sizes) - radius) / np.arange(1, len(v) + 1)
    cut = cuts[np.flatnonzero(sizes > cuts)[-1]]
    return np.sign(v) * np.maximum(np.abs(v) - cut, 0)


def gradients(Xs: list[Array], ys: list[Array], W: Array, c: Array, loss: str) -> tuple[Array, Array]:
    """Of the mean losses, in W and c."""
    slope = np.vectorize(find_loss(loss).slope, otypes=[float])
    slopes = [slope(X @ w + b, y) / len(y) for X, y, w, b in zip(Xs, ys, W, c, strict=True)]
    return np.array([X.T @ u for X, u in zip(Xs, slopes, strict=True)]), np.array([u.sum() for u in slopes])


def minimise(
    Xs: list[Array], ys: list[Array], blocks: Blocks, loss: str, l2: float, free: bool, n_steps: int
) -> tuple[Array, Array]:
    """Accelerated steps of one length; momentum ends where it points uphill."""
    curvature = {"squared": 1.0, "huber": 1.0, "logistic": 0.25, "squared_hinge": 2.0}[loss]
    columns = [np.column_stack([X, np.ones(len(X))]) for X in Xs]
    steep = l2 + curvature * max(np.linalg.norm(A, 2) ** 2 / len(A) for A in columns)
    Z = np.zeros((len(Xs), Xs[0].shape[1] + 1))  # the constant last
    Y, t = Z, 1.0
    for _ in range(n_steps):
        G, g = gradients(Xs, ys, Y[:, :-1], Y[:, -1], loss)
        ahead = Y - np.column_stack([G + l2 * Y[:, :-1], free * g]) / steep
        ahead[:, :-1] = blocks.prox(ahead[:, :-1], 1 / steep)
        t = 1.0 if np.vdot(Y - ahead, ahead - Z) > 0 else t
        faster = (1 + np.sqrt(1 + 4 * t * t)) / 2
        Z, Y, t = ahead, ahead + (t - 1) / faster * (ahead - Z), faster
    return Z[:, :-1], Z[:, -1]


def away_from_optimum(
    Xs: list[Array], ys: list[Array], blocks: Blocks, loss: str, l2: float, W: Array, c: Array, free: bool
) -> float:
    """How far a proximal gradient step of length 1 goes: 0 at the optimum, and only there."""
    G, g = gradients(Xs, ys, W, c, loss)
    way = np.abs(W - blocks.prox(W - G - l2 * W, 1.0)).max()
    return float(max(way, np.abs(g).max()) if free else way)
