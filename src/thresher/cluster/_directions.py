"""Clusters as directions: K-means on scores of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gate import beside, is_foreign_array, namespace, on_host, take
from .._kernels import Array

_STARTS, _ROUNDS = 10, 100


def unit(scores: Array) -> Array:
    """Scores of length 1; those of length 0 stay."""
    xp = namespace(scores)
    lengths = xp.linalg.vector_norm(scores, axis=1, keepdims=True)
    return scores / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


def directions(scores: Array, weight: Array, n_clusters: int) -> Array:
    """Directions of clusters by spherical K-means on scores of length 1, largest cluster first; fewer where there are
    fewer different ones. The best of some starts, always the same, is taken."""
    xp = namespace(scores)
    best, most = np.ones((1, scores.shape[1])), -np.inf
    for start in range(_STARTS):
        centres = _spread_out(scores, weight, n_clusters, np.random.default_rng(start))
        for _ in range(_ROUNDS):
            own = xp.argmax(scores @ centres.T, axis=1)
            moved = unit(_shares(own, centres.shape[0], weight) @ scores)
            if xp.all(moved == centres):
                break
            centres = moved
        alike = scores @ centres.T
        value = float(beside(weight, scores) @ xp.max(alike, axis=1))
        if value > most * (1 + 1e-12) if most > 0 else value > most:
            sizes = np.bincount(on_host(xp.argmax(alike, axis=1)), weights=weight, minlength=centres.shape[0])
            order = np.argsort(-sizes, kind="stable")
            best, most = on_host(centres)[order[sizes[order] > 0]], value
    return best


def _shares(own: Any, n_clusters: int, weight: Array) -> Any:
    """The weights of rows in their clusters, a row for each cluster."""
    if is_foreign_array(own):
        xp, per_row = namespace(own), beside(weight, own)[None, :]
        inside = beside(np.arange(n_clusters), own)[:, None] == own[None, :]
        return xp.where(inside, per_row, xp.zeros_like(per_row))
    share = np.zeros((n_clusters, len(own)))
    share[own, np.arange(len(own))] = weight
    return share


def _spread_out(scores: Any, weight: Array, n_clusters: int, rng: np.random.Generator) -> Any:
    """Rows far from one another, drawn as K-means++ does."""
    xp, per_row = namespace(scores), beside(weight, scores)
    least = 1e-12 * float(weight.max())
    chosen = [_draw(per_row, rng)]
    for _ in range(n_clusters - 1):
        alike = xp.max(scores @ take(scores, np.array(chosen)).T, axis=1)
        far = per_row * xp.clip(1.0 - alike, 0.0, None)
        far = xp.where(far < least, xp.zeros_like(far), far)
        if not xp.any(far > 0):
            break
        chosen.append(_draw(far, rng))
    return take(scores, np.array(chosen))


def _draw(shares: Any, rng: np.random.Generator) -> int:
    """A place drawn with probabilities in proportion to shares; by the same random number wherever these lie."""
    if not is_foreign_array(shares):
        return int(rng.choice(len(shares), p=shares / shares.sum()))
    xp = namespace(shares)
    edges = xp.cumulative_sum(shares)
    place = int(xp.sum(xp.astype(edges <= rng.random() * edges[-1], xp.int64)))
    return min(place, shares.shape[0] - 1)
