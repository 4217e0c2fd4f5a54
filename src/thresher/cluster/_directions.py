"""Clusters as directions: K-means on scores of length 1."""

from __future__ import annotations

import numpy as np

from .._kernels import Array

_STARTS, _ROUNDS = 10, 100


def unit(scores: Array) -> Array:
    """Scores of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(scores, axis=1, keepdims=True)
    return scores / np.where(lengths > 0, lengths, 1.0)


def directions(scores: Array, weight: Array, n_clusters: int) -> Array:
    """Directions of clusters by spherical K-means on scores of length 1, largest cluster first; fewer where there are
    fewer different ones. The best of some starts, always the same, is taken."""
    best, most = np.ones((1, scores.shape[1])), -np.inf
    for start in range(_STARTS):
        centres = _spread_out(scores, weight, n_clusters, np.random.default_rng(start))
        for _ in range(_ROUNDS):
            own = (scores @ centres.T).argmax(axis=1)
            share = np.zeros((len(centres), len(scores)))
            share[own, np.arange(len(scores))] = weight
            moved = unit(share @ scores)
            if np.array_equal(moved, centres):
                break
            centres = moved
        alike = scores @ centres.T
        value = float(weight @ alike.max(axis=1))
        if value > most * (1 + 1e-12) if most > 0 else value > most:
            sizes = np.bincount(alike.argmax(axis=1), weights=weight, minlength=len(centres))
            order = np.argsort(-sizes, kind="stable")
            best, most = centres[order[sizes[order] > 0]], value
    return best


def _spread_out(scores: Array, weight: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Rows far from one another, drawn as K-means++ does."""
    chosen = [int(rng.choice(len(scores), p=weight / weight.sum()))]
    for _ in range(n_clusters - 1):
        far = weight * np.maximum(1.0 - (scores @ scores[chosen].T).max(axis=1), 0.0)
        far[far < 1e-12 * weight.max()] = 0.0
        if not far.any():
            break
        chosen.append(int(rng.choice(len(scores), p=far / far.sum())))
    return scores[chosen]
