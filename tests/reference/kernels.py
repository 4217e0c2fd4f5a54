"""Kernels, entropy and the fixed-size map, entry by entry. Jumutc (2016), section 5."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def rbf(x: Array, z: Array, gamma: float) -> float:
    """exp(-gamma |x - z|^2)"""
    return float(np.exp(-gamma * np.sum((x - z) ** 2)))


def polynomial(x: Array, z: Array, degree: int, gamma: float, coef0: float) -> float:
    """(gamma x.z + coef0)^degree"""
    return float((gamma * (x @ z) + coef0) ** degree)


def cosine(x: Array, z: Array) -> float:
    """x.z / (|x| |z|), 0 with a row of zeros"""
    lengths = np.sqrt(np.sum(x**2)) * np.sqrt(np.sum(z**2))
    return float(x @ z / lengths) if lengths > 0 else 0.0


def matrix(entry: Callable[[Array, Array], float], X: Array, Z: Array, features: list[int] | None = None) -> Array:
    """The kernel of every pair, of some columns."""
    columns = list(range(X.shape[1])) if features is None else features
    return np.array([[entry(x[columns], z[columns]) for z in Z] for x in X])


def trace(K: Array) -> float:
    return float(sum(K[i, i] for i in range(len(K))))


def variance(K: Array) -> float:
    """Mean squared distance of the images of n rows from their mean, by the kernel alone: mean over i of
    K_ii - 2 mean_j K_ij + mean_jk K_jk."""
    return float(np.mean([K[i, i] - 2 * K[i].mean() + K.mean() for i in range(len(K))]))


def entropy(K: Array, chosen: Array) -> float:
    """H(S) = -log(|S|^-2 sum_{ij in S} K_ij)"""
    total = 0.0
    for i in chosen:
        for j in chosen:
            total += K[i, j]
    return float(-np.log(total / len(chosen) ** 2))


def select(K: Array, chosen: Array, proposals: list[tuple[int, int]]) -> list[Array]:
    """Swap row ``chosen[place]`` for row c where the entropy, computed anew, is larger with c; all sets on the way."""
    chosen = np.array(chosen)
    path = [chosen]
    for place, c in proposals:
        other = chosen.copy()
        other[place] = c
        if entropy(K, other) > entropy(K, chosen):
            chosen = other
            path.append(chosen)
    return path
