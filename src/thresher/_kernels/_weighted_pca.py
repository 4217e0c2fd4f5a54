"""Kernel principal components of rows with weights: the eigenproblem of kernel spectral clustering.

With K the kernel matrix, v the weights of the rows and S = diag(v) - v v' / sum(v),

    S K alpha = lambda alpha,      e = K alpha + b,      b = - v' K alpha / sum(v).

S = B B' with B = diag(sqrt v) (I - q q') and q = sqrt(v / sum(v)), so that alpha = B u for the eigenvectors u of the
symmetric B' K B. For u of length 1, w = Phi' alpha has the squared norm lambda, and e_i = lambda alpha_i / v_i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._engine import slices
from ._eigen import Leading, at_once, by_products
from ._products import Array

_MAX_PRODUCTS = 300
_BLOCK = 1 << 21  # values held at a time while features are multiplied


class Components(NamedTuple):
    """Eigenvalues, largest first; coefficients of rows or weights of features, a row per component; constant terms."""

    values: Array
    coef: Array
    intercept: Array
    has_settled: bool


def times(K: Any, vectors: Array) -> Array:
    """The product of a kernel matrix, whole or in rows, with columns."""
    return K @ vectors if isinstance(K, np.ndarray) else K.times(np.ascontiguousarray(vectors.T)).T


def of_kernel(K: Any, v: Array, n_components: int, by_lanczos: bool, tol: float) -> Components:
    """Of a kernel matrix: an array, or (by Lanczos only) its rows on demand."""
    root = np.sqrt(v)[:, None]
    q = root / np.sqrt(v.sum())
    if by_lanczos:
        found = by_products(
            lambda U: _project(q, root * times(K, root * _project(q, U))), len(v), n_components, tol, _MAX_PRODUCTS
        )
    else:
        found = at_once(_project(q, _project(q, K * (root @ root.T)).T), n_components)
    values, U, has_settled = _above_0(found)
    alpha = root * _project(q, U)
    alpha *= _direction(alpha / v[:, None])  # e, up to the eigenvalue
    return Components(values, alpha.T, -(v @ times(K, alpha)) / v.sum(), has_settled)


def of_features(F: Array, v: Array, n_components: int) -> Components:
    """Of K = F F', by the small matrix F' S F = G: for its eigenvectors z of length 1, w = sqrt(lambda) z."""
    mean = v @ F / v.sum()
    G = np.zeros((F.shape[1], F.shape[1]))
    for part in slices(len(F), max(1, _BLOCK // F.shape[1])):
        centred = F[part] - mean
        G += (centred * v[part, None]).T @ centred
    values, Z, _ = _above_0(at_once(G, min(n_components, len(G))))
    W = Z * np.sqrt(values)
    W *= _direction(F @ W - mean @ W)
    return Components(values, W.T, -(mean @ W), True)


def _project(q: Array, U: Array) -> Array:
    """Columns less their part along q."""
    return U - q @ (q.T @ U)


def _above_0(found: Leading) -> Leading:
    """Without those of about 0, which tell nothing apart; weights are such that 1 is a large one."""
    kept = found.values > 1e-12 * np.max(found.values, initial=1.0)
    return Leading(found.values[kept], found.vectors[:, kept], found.has_settled)


def _direction(scores: Array) -> Array:
    """+1 or -1 for each column, so that its largest entry is positive: an eigenvector has no sign of its own."""
    turned: Array = np.where(scores.max(axis=0) >= -scores.min(axis=0), 1.0, -1.0)
    return turned
