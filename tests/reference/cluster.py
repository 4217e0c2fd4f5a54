"""K-means with an l1 penalty, row by row and value by value. Jumutc (2016), section 8.

Rows of the cosine form are of length 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray


def soft(value: float, cut: float) -> float:
    """sign(value) (|value| - cut)_+"""
    return float(np.sign(value) * max(abs(value) - cut, 0.0))


def cost(x: Array, w: Array, alpha: float, cosine: bool) -> float:
    """|x - w|^2 + 2 alpha |w|_1, or 1 - x.w + alpha |w|_1"""
    penalty = alpha * float(np.sum(np.abs(w)))
    return 1 - float(x @ w) + penalty if cosine else float(np.sum((x - w) ** 2)) + 2 * penalty


def centre(rows: Array, alpha: float, cosine: bool) -> Array:
    """soft(mean, alpha), of length 1 (or 0) in the cosine form"""
    w = np.array([soft(value, alpha) for value in rows.mean(axis=0)])
    return w / np.sqrt(w @ w) if cosine and w.any() else w


def sparse_kmeans(X: Array, start: Array, alpha: float, cosine: bool) -> Iterator[tuple[Array, Array, float]]:
    """Rows start at the nearest of the rows ``start``. Then forever: centres, clusters, objective. No cluster may run
    empty."""
    labels = np.array([np.argmin([cost(x, w, 0.0, cosine) for w in start]) for x in X])
    while True:
        centres = np.array([centre(X[labels == c], alpha, cosine) for c in range(len(start))])
        labels = np.array([np.argmin([cost(x, w, alpha, cosine) for w in centres]) for x in X])
        yield centres, labels, sum(cost(x, centres[c], alpha, cosine) for x, c in zip(X, labels, strict=True))


def in_batches(X: Array, start: Array, alpha: float, cosine: bool, batch_size: int) -> Iterator[tuple[Array, Array]]:
    """Centres after each batch, which joins the centres before; with the number of rows of each so far."""
    centres, sums, counts = start.copy(), np.zeros_like(start), np.zeros(len(start))
    for begin in range(0, len(X), batch_size):
        batch = X[begin : begin + batch_size]
        labels = [int(np.argmin([cost(x, w, alpha, cosine) for w in centres])) for x in batch]
        for x, c in zip(batch, labels, strict=True):
            sums[c] += x
            counts[c] += 1
        for c in np.flatnonzero(counts):
            centres[c] = centre((sums[c] / counts[c])[None], alpha, cosine)
        yield centres.copy(), counts.copy()


def prototype(draws: Array, w: Array, alpha: float, eta: float, rho: float, hinge: bool) -> Iterator[Array]:
    """Algorithm 12, lines 7 to 12, from w on; with the hinge loss, the gradient of [1 - x.w]_+."""
    gradients = np.zeros((0, len(w)))
    for t, x in enumerate(draws, start=1):
        g = (-x if x @ w < 1 else 0.0 * x) if hinge else w - x
        gradients = np.vstack([gradients, g])
        mean, size = gradients.mean(axis=0), rho + np.sqrt(np.sum(gradients**2, axis=0))
        w = np.array([-eta * t / h * soft(m, alpha) for m, h in zip(mean, size, strict=True)])
        yield w
