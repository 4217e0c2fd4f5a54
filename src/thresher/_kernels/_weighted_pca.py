"""Kernel principal components of rows with weights: the eigenproblem of kernel spectral clustering.

With K the kernel matrix, v the weights of the rows and S = diag(v) - v v' / sum(v),

    S K alpha = lambda alpha,      e = K alpha + b,      b = - v' K alpha / sum(v).

S = B B' with B = diag(sqrt v) (I - q q') and q = sqrt(v / sum(v)), so that alpha = B u for the eigenvectors u of the
symmetric B' K B. For u of length 1, w = Phi' alpha has the squared norm lambda, and e_i = lambda alpha_i / v_i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._engine import slices
from .._gate import beside, is_foreign_array, linalg, namespace, on_host, row_blocks, zeros
from ._gram import Gram
from ._products import Array

_SPARE = 2  # directions beyond those that are asked for, which make these settle sooner
_BLOCKS = 12  # of directions that are remembered before a restart


class Leading(NamedTuple):
    """Eigenvalues, largest first, and their vectors as columns of length 1; whether they are precise enough."""

    values: Array
    vectors: Array
    has_settled: bool


def at_once(A: Array, k: int) -> Leading:
    """The k leading ones of a matrix that is at hand, which is destroyed.   O(n^3)."""
    n = len(A)
    if k == 0:
        return Leading(np.empty(0), np.empty((n, 0)), True)
    values, vectors = linalg.eigh(A, subset_by_index=(n - k, n - 1), overwrite_a=True, check_finite=False)
    return Leading(values[::-1].copy(), vectors[:, ::-1].copy(), True)


def by_products(times: Callable[[Array], Array], n: int, k: int, tol: float, max_products: int) -> Leading:
    """The k leading ones of a matrix that is only multiplied with, in blocks: block Lanczos, from directions that are
    always the same, and begun anew from its best answers when it has taken many.

    With the best answers V, values T and errors R = A V - V T, the space is widened by R until every error is at most
    ``tol`` times the largest value. A block has more than k columns, so that no eigenvalue that repeats itself is
    missed, as it is by one vector at a time.
    """
    width = min(k + _SPARE, n)
    most = min(n, _BLOCKS * width)
    Q = linalg.qr(np.random.default_rng(0).normal(size=(n, width)), mode="economic")[0]
    AQ = times(Q)
    for made in range(1, max_products + 1):
        values, S = linalg.eigh(Q.T @ AQ, driver="evd", check_finite=False)  # the driver most exact in angles
        values, S = values[::-1], S[:, ::-1]
        V = Q @ S[:, :width]
        errors = AQ @ S[:, :width] - V * values[:width]
        settled = bool((np.linalg.norm(errors[:, :k], axis=0) <= tol * abs(values[0])).all())
        if settled or made == max_products:
            break
        if Q.shape[1] + width > most:
            best = S[:, : max(width, most - 2 * width)]
            Q, AQ = Q @ best, AQ @ best
        fresh = _beside(Q, errors)
        if not fresh.shape[1]:  # the space is closed: nothing is left to find
            settled = True
            break
        Q, AQ = np.hstack([Q, fresh]), np.hstack([AQ, times(fresh)])
    return Leading(values[:k].copy(), V[:, :k], settled)


def _beside(Q: Array, more: Array) -> Array:
    """Orthonormal directions of what is left of others beside those of Q, fewer where they depend on one another."""
    sizes = np.linalg.norm(more, axis=0)
    more = more[:, sizes > 0] / sizes[sizes > 0]
    for _ in range(2):  # the second time for what rounding left of the first
        more = more - Q @ (Q.T @ more)
        more, R, _ = linalg.qr(more, mode="economic", pivoting=True, check_finite=False)
        more = more[:, np.abs(R.diagonal()) > 1e-8] if more.size else more
    return more[:, : Q.shape[0] - Q.shape[1]]


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
    if isinstance(K, Gram):
        return K.times(np.ascontiguousarray(vectors.T)).T
    return on_host(K @ beside(vectors, K))


def of_kernel(K: Any, v: Array, n_components: int, by_lanczos: bool, tol: float) -> Components:
    """Of a kernel matrix: an array, or (by Lanczos only) its rows on demand."""
    root = np.sqrt(v)[:, None]
    q = root / np.sqrt(v.sum())
    if by_lanczos:
        found = by_products(
            lambda U: _project(q, root * times(K, root * _project(q, U))), len(v), n_components, tol, _MAX_PRODUCTS
        )
    else:
        found = at_once(_project(q, _project(q, on_host(K) * (root @ root.T)).T), n_components)
    values, U, has_settled = _above_0(found)
    alpha = root * _project(q, U)
    alpha *= _direction(alpha / v[:, None])  # e, up to the eigenvalue
    return Components(values, alpha.T, -(v @ times(K, alpha)) / v.sum(), has_settled)


def of_features(F: Array, v: Array, n_components: int) -> Components:
    """Of K = F F', by the small matrix F' S F = G: for its eigenvectors z of length 1, w = sqrt(lambda) z."""
    n_rows, n_features = F.shape
    mean, per_row = beside(v, F) @ F / float(v.sum()), beside(v, F)[:, None]
    G = zeros((n_features, n_features), F)
    of_device = is_foreign_array(F)
    blocks = row_blocks(F.shape, F) if of_device else slices(n_rows, max(1, _BLOCK // n_features))
    for part in blocks:
        centred = F[part, :] - mean
        G += (centred * per_row[part, :]).T @ centred
    G, average = on_host(G), on_host(mean)
    values, Z, _ = _above_0(at_once(G, min(n_components, len(G))))
    W = Z * np.sqrt(values)
    W *= _direction(F @ beside(W, F) - beside(average @ W, F))
    return Components(values, W.T, -(average @ W), True)


def _project(q: Array, U: Array) -> Array:
    """Columns less their part along q."""
    return U - q @ (q.T @ U)


def _above_0(found: Leading) -> Leading:
    """Without those of about 0, which tell nothing apart; weights are such that 1 is a large one."""
    kept = found.values > 1e-12 * np.max(found.values, initial=1.0)
    return Leading(found.values[kept], found.vectors[:, kept], found.has_settled)


def _direction(scores: Array) -> Array:
    """+1 or -1 for each column, so that its largest entry is positive: an eigenvector has no sign of its own."""
    xp = namespace(scores)
    return np.where(on_host(xp.max(scores, axis=0)) >= -on_host(xp.min(scores, axis=0)), 1.0, -1.0)
