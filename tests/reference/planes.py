"""Proximal plane clustering, cluster by cluster and row by row (Shao et al., 2013)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray


def value(X: Array, own: Array, c: float, w: Array, b: float) -> float:
    """sum_own (w.x + b)^2 - c sum_others (w.x + b)^2"""
    squares = [(float(w @ x) + b) ** 2 for x in X]
    return sum(s if mine else -c * s for s, mine in zip(squares, own, strict=True))


def plane(X: Array, own: Array, c: float) -> tuple[Array, float, Array]:
    """The best unit normal and offset, and the matrix whose smallest eigenvector the normal is."""
    weights = [1.0 if mine else -c for mine in own]
    A = sum(t * np.outer(x, x) for t, x in zip(weights, X, strict=True))
    s = sum(t * x for t, x in zip(weights, X, strict=True))
    N = sum(weights)
    M = A - np.outer(s, s) / N
    w = np.linalg.eigh(M)[1][:, 0]
    w = w if w[np.abs(w).argmax()] > 0 else -w
    return w, -float(s @ w) / N, M


def proximal_planes(X: Array, normals: Array, offsets: Array, c: float) -> Iterator[tuple[Array, Array, Array, float]]:
    """Rows start at the nearest plane. Then forever: normals, offsets, clusters, objective. No cluster may run empty,
    or so small that it has no best plane."""
    k = len(offsets)
    labels = nearest(X, normals, offsets)
    while True:
        found = [plane(X, labels == i, c) for i in range(k)]
        normals, offsets = np.array([w for w, _, _ in found]), np.array([b for _, b, _ in found])
        labels = nearest(X, normals, offsets)
        yield normals, offsets, labels, sum(value(X, labels == i, c, normals[i], offsets[i]) for i in range(k))


def nearest(X: Array, normals: Array, offsets: Array) -> Array:
    return np.array([np.argmin([abs(w @ x + b) for w, b in zip(normals, offsets, strict=True)]) for x in X])
