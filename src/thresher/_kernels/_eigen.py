"""The leading eigenvectors of a symmetric matrix: all at once, or from products with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ._products import Array

_SPARE = 2  # directions beyond those that are asked for, which make these settle sooner
_BLOCKS = 12  # of directions that are remembered before a restart


class Leading(NamedTuple):
    """Eigenvalues, largest first, and their vectors as columns of length 1; whether they are as exact as was asked."""

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
