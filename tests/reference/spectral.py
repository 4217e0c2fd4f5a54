"""Kernel spectral clustering as published: the unsymmetric eigenproblem, codes counted one by one, lines by SVD."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Ksc(NamedTuple):
    values: Array  # (k - 1,)
    alpha: Array  # (n, k - 1)
    b: Array  # (k - 1,)
    scores: Array  # (n, k - 1)
    degrees: Array  # (n,)


def ksc(K: Array, k: int, weight: Array | None = None) -> Ksc:
    """The leading k - 1 eigenvectors of D^-1 M_D K with M_D = I - 1 1' D^-1 / 1' D^-1 1; a row of weight s counts as s
    rows do. Scaled so that |w|^2 = alpha' K alpha is the eigenvalue, and turned so that the largest score is positive.
    """
    n = len(K)
    s = np.ones(n) if weight is None else weight
    d = np.array([sum(s[j] * K[i, j] for j in range(n)) for i in range(n)])
    D_inverse, ones = np.diag(s / d), np.ones((n, 1))
    M = np.eye(n) - ones @ ones.T @ D_inverse / (ones.T @ D_inverse @ ones)
    values, vectors = np.linalg.eig(D_inverse @ M @ K)
    order = np.argsort(-values.real)[: k - 1]
    assert np.abs(values[order].imag).max() < 1e-9
    values, alpha = values[order].real, vectors[:, order].real
    b, scores = np.empty(k - 1), np.empty((n, k - 1))
    for l in range(k - 1):
        alpha[:, l] *= np.sqrt(values[l] / (alpha[:, l] @ K @ alpha[:, l]))
        b[l] = -(ones.T @ D_inverse @ K @ alpha[:, l]).item() / (ones.T @ D_inverse @ ones).item()
        scores[:, l] = K @ alpha[:, l] + b[l]
        if scores[np.abs(scores[:, l]).argmax(), l] < 0:
            alpha[:, l], b[l], scores[:, l] = -alpha[:, l], -b[l], -scores[:, l]
    return Ksc(values, alpha, b, scores, d)


def stationarity(Phi: Array, v: Array, value: float, alpha: Array, b: float) -> dict[str, Array]:
    """What is 0 at a stationary point of gamma / 2 sum_i v_i e_i^2 - |w|^2 / 2 + alpha' (e - Phi w - b), up to signs:
    the derivatives by w, b, e and alpha, with gamma = 1 / eigenvalue and v_i the weight of a row over its degree."""
    w = Phi.T @ alpha
    e = Phi @ w + b
    return {
        "b": np.array([alpha.sum()]),
        "e": alpha - v * e / value,
        "weighted mean of e": np.array([v @ e]),
        "norm of w": np.array([w @ w - value * np.sum(alpha**2 / v)]),
    }


def code(e: Array) -> tuple[int, ...]:
    return tuple(1 if value > 0 else -1 for value in e)


def codebook(scores: Array, k: int, weight: Array | None = None) -> list[tuple[int, ...]]:
    counts: Counter[tuple[int, ...]] = Counter()
    for i, e in enumerate(scores):
        counts[code(e)] += 1 if weight is None else weight[i]
    return sorted(counts, key=lambda one: (-counts[one], one))[:k]


def assign(e: Array, values: Array, codes: list[tuple[int, ...]], decoding: str = "hamming") -> int:
    """Fewest other signs, then the shortest way across planes; or that alone."""
    own = code(e)
    paid = []
    for j, other in enumerate(codes):
        planes = [l for l in range(len(e)) if own[l] != other[l]]
        way = sum(abs(e[l]) / np.sqrt(values[l]) for l in planes)
        paid.append((len(planes), way, j) if decoding == "hamming" else (way, j))
    return min(paid)[-1]


def line_fit(scores: Array, labels: Array, degrees: Array, balance_weight: float, through: str) -> float:
    k = scores.shape[1] + 1
    points = scores
    if k == 2:
        size = np.sqrt((scores**2).mean() / (degrees**2).mean())
        points = np.column_stack([scores, degrees * size])
    m, fits, sizes = points.shape[1], [], []
    for p in sorted(set(labels)):
        mine = points[labels == p]
        sizes.append(len(mine))
        lengths = np.linalg.svd(mine - mine.mean(axis=0) if through == "mean" else mine, compute_uv=False) ** 2
        share = lengths[0] / lengths.sum() if lengths.sum() > 0 else 1 / m
        fits.append((share - 1 / m) / (1 - 1 / m))
    sizes += [0] * (k - len(sizes))
    return (1 - balance_weight) * sum(fits) / k + balance_weight * min(sizes) / max(sizes)
