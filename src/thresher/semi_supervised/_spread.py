"""Scores that fit the labels and spread over all rows: stationary points of a quadratic function, by one factorisation.

Of scores f = <w, phi> + b, with a number W_i per row (below 0: the row pulls its score to a target; above 0: it pushes
its score away from 0) and what R pulls to,

    Q(w, b) = |w|^2 / 2 - f' diag(W) f / 2 - R' f      is stationary where      a = W f + R,   f = K a + b,   1'a = 0

and has a minimum there, and only there, if its second derivative is positive definite. Columns of R are problems that
differ in their targets only: classes, one against the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._engine import slices
from .._gate import Array, beside, is_foreign_array, linalg, on_host, row_blocks, zeros

_ROWS = 4096  # of features that are weighted at a time


class Stationary(NamedTuple):
    """Coefficients a of rows, or weights w of features, and constants, a column or entry per problem; the scores of all
    rows; the reciprocal condition number of the system, 0 if it could not be solved; and whether this is a minimum."""

    coef: Array
    intercept: Array
    scores: Array
    rcond: float
    is_minimum: bool
    spread: float | None = None  # the factor that was used, where it is not as given


class SymmetricSolution(NamedTuple):
    """The solution of a symmetric system, its reciprocal condition number, and how many eigenvalues are below 0."""

    x: Array
    rcond: float
    n_negative: int


def stationary(K: Array, W: Array, R: Array, with_intercept: bool) -> Stationary:
    """By a kernel matrix: with W = Z J Z, J = +-1, and a = Z u + R,

        (J - Z K Z) u - Z 1 b = Z K R      and, if there is a constant,     -1'Z u = 1'R.

    It takes half the time of (I - W K) a = R, which is not symmetric, divides by nothing, and tells a minimum: there
    the matrix has as many eigenvalues below 0 as J (Haynsworth's law of inertia).
    """
    n, J, Z = len(W), np.where(W < 0, -1.0, 1.0), np.sqrt(np.abs(W))
    pulled = K @ R
    A = np.zeros((n + with_intercept, n + with_intercept), order="F")
    np.multiply(K, -Z[:, None], out=A[:n, :n])
    A[:n, :n] *= Z
    A[np.diag_indices(n)] += J
    right = Z[:, None] * pulled
    if with_intercept:
        A[n, :n] = A[:n, n] = -Z
        right = np.vstack([right, R.sum(axis=0)])
    u, rcond, n_negative = solve(A, right)
    b = u[n] if with_intercept else np.zeros(R.shape[1])
    a = Z[:, None] * u[:n] + R
    return Stationary(a, b, K @ a + b, rcond, n_negative == np.count_nonzero(W < 0))


def stationary_features(F: Array, W: Array, R: Array, with_intercept: bool) -> Stationary:
    """By features whose products are the kernel, K = F F': the second derivative itself, of the size of w (and b),

    (I - F'W F) w - F'W 1 b = F'R      and      -1'W F w - 1'W 1 b = 1'R.
    """
    r = F.shape[1]
    A = np.zeros((r + with_intercept, r + with_intercept), order="F")
    A[:r, :r] = np.eye(r) - weighted_products(F, W)
    right = times_features(F.T, R)
    if with_intercept:
        A[r, :r] = A[:r, r] = -times_features(F.T, W)
        A[r, r] = -W.sum()
        right = np.vstack([right, R.sum(axis=0)])
    w, rcond, n_negative = solve(A, right)
    b = w[r] if with_intercept else np.zeros(R.shape[1])
    return Stationary(w[:r], b, times_features(F, w[:r]) + b, rcond, n_negative == 0)


def times_features(F: Any, columns: Array) -> Array:
    """The product of features, or of their transpose, with columns; the features may lie elsewhere."""
    return on_host(F @ beside(columns, F))


def weighted_products(F: Any, W: Array) -> Array:
    """F' diag(W) F, without a second array of the size of F, which may lie elsewhere."""
    total, per_row = zeros((F.shape[1], F.shape[1]), F), beside(W, F)[:, None]
    for part in row_blocks(F.shape, F) if is_foreign_array(F) else slices(len(F), _ROWS):
        total += F[part, :].T @ (per_row[part, :] * F[part, :])
    total = on_host(total)
    return (total + total.T) / 2


def solve(A: Array, right: Array) -> SymmetricSolution:
    """A symmetric system, by Bunch and Kaufman's factorisation; A is overwritten."""
    lapack, nothing = linalg.lapack, np.zeros_like(right)
    norm = lapack.dlange("1", A)
    if not np.isfinite(norm) or not np.isfinite(right).all():
        return SymmetricSolution(nothing, 0.0, 0)
    size, _ = lapack.dsytrf_lwork(len(A), lower=True)
    factor, pivots, singular = lapack.dsytrf(A, lower=True, lwork=int(size), overwrite_a=True)
    if singular:
        return SymmetricSolution(nothing, 0.0, 0)
    rcond, _ = lapack.dsycon(factor, pivots, norm, lower=True)
    x, _ = lapack.dsytrs(factor, pivots, right, lower=True)
    in_pairs = int(np.count_nonzero(pivots < 0)) // 2  # every block of two has one eigenvalue below 0
    return SymmetricSolution(x, float(rcond), in_pairs + int(np.count_nonzero(factor.diagonal()[pivots > 0] < 0)))
