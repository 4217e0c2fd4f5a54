"""Dropout Pegasos: with a coin for every weight in every step, and with the strides of the compiled code.

Jumutc (2016), Algorithm 11 with the gradient's sign put right (section 7, E20).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special, stats

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


def count(u: float, n: float, p: float) -> float:
    """How many of n coins say yes: the quantile u of Binomial(n, p), by Cornish and Fisher from a variance of 10 on."""
    q, mean, variance = 1 - p, n * p, n * p * (1 - p)
    if variance < 10:
        return float(stats.binom.ppf(u, n, p))
    v, z = variance - 1 / 12, special.ndtri(u)
    skew, excess = variance * (q - p) / v**1.5, variance * (1 - 6 * p * q) / v**2
    bent = z + skew * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    return float(np.clip(np.ceil(mean + np.sqrt(v) * bent - 0.5), 0, n))


def drawn(w: float, s: float, t: float, seed: float, column: float) -> tuple[float, float]:
    """A weight and the step until which its shrinks are drawn, at step t: from step 64 on,
    up to s / 8 steps wait and up to s / 4 are drawn at once."""
    if 8 * (t - s) <= (s if s >= 64 else 0):
        return w, s
    while w != 0 and s < t:
        n = 1 if s < 64 else min(t - s, s // 4)
        u = uniform_draw(seed, column, s)
        p = w**2 / (1 + w**2)
        if u > 1 - n * p:
            way = np.log((s + n) / s)
            mean = p if n == 1 else p - way * (1 - p) * p**2 * (1 - way * p * (2 - 3 * p) * 2 / 3)
            k = count(u, n, mean) if mean < 0.5 else n - count(1 - u, n, 1 - mean)
            if n > 1:
                k -= p * (1 - p) * way * (k - n * mean)
            w *= np.exp(-k / n * way)
        s += n
    return w, t


def expected(w: float, part: float) -> float:
    """What the owed part of all steps leaves of a weight on average."""
    return w * (1 - part * w**2 / (1 + w**2))


def moved(w: float, change: float, part: float) -> float:
    """The weight at which ``expected`` is less by a change: by its slope there, and then by its factor."""
    bend = part * (3 * w**2 + w**4) / (1 + w**2) ** 2
    guess = w - change * (1 + bend + bend**2)
    return (expected(w, part) - change) / (1 - part * guess**2 / (1 + guess**2))


def after(w: float, s: float, t: float, seed: float, column: float) -> float:
    """What steps s + 1, ..., t leave of a weight."""
    w, s = drawn(w, s, t, seed, column)
    return expected(w, (t - s) / t) if t else w


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
    read_from: int = 0,
) -> Iterator[tuple[float, Array | None]]:
    """w <- w - (w o r) / t - A^-1 g / t,     r_j = 1 with probability w_j^2 / (1 + w_j^2)

    Shrinks are drawn when a row has their feature. Yields after every row its score and, from row ``read_from`` on,
    the weights.
    """
    find = find_loss(loss, tau)
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    d = X.shape[1] - 1
    alpha = np.broadcast_to(alpha, d)
    A = np.append(alpha, alpha.mean())
    columns = np.append(np.arange(d, dtype=float), -1.0)
    w, step = np.zeros(d + 1), np.zeros(d + 1)

    def is_free(j: int) -> bool:
        return j == d and not penalize_intercept

    def draw(j: int, t: float) -> None:
        if not is_free(j):
            w[j], step[j] = drawn(w[j], step[j], t, seed, columns[j])

    def at(j: int, t: float) -> float:
        return w[j] if is_free(j) else after(w[j], step[j], t, seed, columns[j])

    t = 0
    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        met = np.flatnonzero(x)
        score = np.array([at(j, t) for j in met]) @ x[met]
        if share > 0:
            for j in met:
                draw(j, t)
            t += 1
            change = share * find.slope(score, target) * x / (A * t)
            for j in np.flatnonzero(change):
                draw(j, t)
                w[j] = moved(w[j], change[j], 0 if is_free(j) else (t - step[j]) / t)
        yield score, np.array([at(j, t) for j in range(d + 1)]) if i >= read_from else None


def coin_pegasos(rng: np.random.Generator, x: Array, y: Array, n_models: int, *, alpha: float, slope: object) -> Array:
    """One weight of many models on the same stream, each with a fresh coin in every step: the law itself."""
    weights = np.zeros(n_models)
    for t, (value, target) in enumerate(zip(x, y, strict=True), start=1):
        r = rng.random(n_models) < weights**2 / (1 + weights**2)
        gradient = slope(weights * value, target) * value  # type: ignore[operator]
        weights = weights - weights * r / t - gradient / (alpha * t)
    return weights


def coin_shrinks(rng: np.random.Generator, w: float, n_models: int, first: int, last: int) -> Array:
    """What the coins of steps ``first`` to ``last`` leave of a weight that no row has, many times."""
    weights = np.full(n_models, w)
    for t in range(first, last + 1):
        weights = weights * (1 - (rng.random(n_models) < weights**2 / (1 + weights**2)) / t)
    return weights
