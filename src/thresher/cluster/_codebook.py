"""Signs of scores as codes, and the codes that stand for clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels import Array

Codes = NDArray[np.int8]


def signs(scores: Array) -> Codes:
    """+1 for a score above 0, else -1."""
    return np.where(scores > 0, 1, -1).astype(np.int8)


def most_frequent(codes: Codes, weight: Array, n_clusters: int) -> Codes:
    """The codes of most rows, by weight, first; of equal ones the one that sorts first. There may be fewer."""
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    counts = np.bincount(which.ravel(), weights=weight, minlength=len(distinct))
    return distinct[np.argsort(-counts, kind="stable")[:n_clusters]]


def nearest(scores: Array, norms: Array, codebook: Codes, decoding: str) -> NDArray[np.int64]:
    """The place in the codebook of the code that differs from a row's in the fewest signs; of several the one for which
    it must cross the nearest planes. With ``decoding="margin"`` the planes alone decide.

    A score over the norm of its weights is the distance of a row's image from the plane where that score is 0.
    """
    own, distances = signs(scores), np.abs(scores) / norms
    to_cross = np.stack([np.where(own != code, distances, 0.0).sum(axis=1) for code in codebook], axis=1)
    if decoding == "hamming":
        n_signs = np.stack([(own != code).sum(axis=1) for code in codebook], axis=1)
        to_cross = np.where(n_signs == n_signs.min(axis=1, keepdims=True), to_cross, np.inf)
    return np.asarray(to_cross.argmin(axis=1), dtype=np.int64)
