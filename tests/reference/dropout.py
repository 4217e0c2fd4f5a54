"""Dropout Pegasos, every weight in every step: with a coin for each, and with the waits of the compiled code.

Jumutc (2016), Algorithm 11 with the gradient's sign put right (section 7, E20).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .losses import loss as find_loss
from .online import Array, with_constant

_MASK = (1 << 64) - 1


def _folded(a: int, b: int) -> int:
    """Both halves of the product, one xored with the other."""
    return ((a * b) >> 64) ^ ((a * b) & _MASK)


def uniform_draw(seed: float, column: float, step: float) -> float:
    """A number between 0 and 1 that is a function of its arguments."""
    h = 0x9E3779B97F4A7C15
    for part in (seed, column, step):
        bits = int(np.float64(part).view(np.uint64))
        h = (_folded(h ^ bits, 0x243F6A8885A308D3) + 0x13198A2E03707345) & _MASK
    h = _folded(h ^ (h >> 29), 0xA4093822299F31D1)
    return ((h >> 11) + 0.5) * 2.0**-53


def wait(seed: float, column: float, step: float, w: float) -> float:
    """The first step after ``step`` at which a coin that says shrink with probability w^2 / (1 + w^2) does so."""
    chance = w**2 / (1 + w**2)
    if chance == 0:
        return np.inf
    u = uniform_draw(seed, column, step)
    return step + 1 + np.floor(np.log(u) / np.log1p(-chance)) if chance < 1 else step + 1


def dropout_pegasos(
    X: Array,
    y: Array,
    *,
    loss: str,
    alpha: float | Array,
    seed: float,
    tau: float = 0.5,
    penalize_intercept: bool = True,
    intercept: float = 0.0,
    weight: Array | None = None,
    longest_wait: int = 16384,
) -> Iterator[tuple[float, Array]]:
    """w <- w - (w o r) / t - A^-1 g / t,     r_j = 1 at the steps that the waits of weight j end in

    A wait begins at every step that changes the weight, and for all weights after every ``longest_wait`` steps. Yields
    after every row its score and the weights.
    """
    find = find_loss(loss, tau)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    d = X.shape[1] - 1
    alpha = np.broadcast_to(alpha, d)
    A = np.append(alpha, alpha.mean())
    columns = np.append(np.arange(d, dtype=float), -1.0)
    may_shrink = np.append(np.ones(d, bool), penalize_intercept)
    w, due = np.zeros(d + 1), np.full(d + 1, np.inf)
    t = 0
    for x, target, share in zip(X, y, weight, strict=True):
        score = w @ x
        if share > 0:
            t += 1
            r = (due == t) & may_shrink
            change = share * find.slope(score, target) * x / (A * t)
            w = w - w * r / t - change
            again = r | (change != 0) | (t % longest_wait == 0)
            for j in np.flatnonzero(again):
                due[j] = wait(seed, columns[j], t, w[j])
        yield score, w


def coin_pegasos(
    rng: np.random.Generator, x: Array, y: Array, n_models: int, *, alpha: float, slope: object, w: float = 0.0
) -> Array:
    """One weight of many models on the same stream, each with a fresh coin in every step: the law itself."""
    weights = np.full(n_models, w)
    for t, (value, target) in enumerate(zip(x, y, strict=True), start=1):
        r = rng.random(n_models) < weights**2 / (1 + weights**2)
        gradient = slope(weights * value, target) * value  # type: ignore[operator]
        weights = weights - weights * r / t - gradient / (alpha * t)
    return weights
