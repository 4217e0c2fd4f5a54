"""Kernels, entropy and the fixed-size map, entry by entry. Jumutc (2016), section 5."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def rbf(x: Array, z: Array, gamma: float) -> float:
    """exp(-gamma |x - z|^2)"""
    return float(np.exp(-gamma * np.sum((x - z) ** 2)))


def polynomial(x: Array, z: Array, degree: int, gamma: float, coef0: float) -> float:
    """(gamma x.z + coef0)^degree"""
    return float((gamma * (x @ z) + coef0) ** degree)


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
