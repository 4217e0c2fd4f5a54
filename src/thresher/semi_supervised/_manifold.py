"""Functions that are small and smooth along a graph: everything but the losses, eliminated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import beside, factor_beside, is_foreign_array, linalg, on_host, take, zeros
from .._kernels import Array
from ._graph import Laplacian

_AT_A_TIME = 64  # columns
_ROUNDING = (-1.0, 1e-10, 1e-8, 1e-6)  # what kernels may be off by, as parts of the largest (-1: the rows times eps)
_LEFT = 10.0  # times as much may be left beyond the rank


class ManifoldPenalty(NamedTuple):
    """``ambient * |w|^2 + smoothness * f' L f``; with or without the constant of f = F w + b in the second."""

    ambient: float
    smoothness: float
    laplacian: Laplacian
    with_constant: bool

    def of_rows(self, x: Array, labelled: NDArray[np.intp], scores: Array, intercept: float) -> Array:
        """The coefficients of all rows, (J'x - g L f) / a, without the inverse of anything."""
        f = scores if self.with_constant else scores - intercept
        coef: Array = -self.smoothness * self.laplacian.times(f)
        coef[labelled] += x
        return coef / self.ambient


class Reduced(NamedTuple):
    r"""The problem in the variables x of labelled rows.

    With z = (w, b) and Z = (F_l, 1) the penalty is z'Pz, and every loss has its minimum where P z = Z'x for some x.
    There the scores of labelled rows are ``Q x + e b`` with ``e'x = tau b``, and the penalty is x' times the scores.
    """

    e: Array
    tau: float
    half: Array  # R^{-1} F_l', where R R' = a I + g F'L F
    constant: Array  # R^{-1} u, where u = g F'L 1
    factor: Array  # R

    @property
    def Q(self) -> Array:
        """As large as there are labels, and made anew: Newton's method does without."""
        return self.half.T @ self.half

    def scores(self, x: Array, intercept: float) -> Array:
        """Of labelled rows."""
        return self.half.T @ (self.half @ x) + self.e * intercept

    def weights(self, x: Array, intercept: float) -> Array:
        """w, from P z = Z'x."""
        return linalg.solve_triangular(self.factor, self.half @ x - self.constant * intercept, trans=1, lower=True)


def reduced(F: Array, labelled: NDArray[np.intp], penalty: ManifoldPenalty) -> Reduced | None:
    """w and b eliminated, by one Cholesky factorisation as large as F is wide, for any labels and losses. None where
    the ambient penalty is lost beside the other."""
    a, g, L, with_constant = penalty
    M = _quadratic_form(F, L)
    M *= g / 2
    M += M.T.copy()
    M[np.diag_indices_from(M)] += a
    try:
        R = linalg.cholesky(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    along = L.times(np.ones(F.shape[0])) if with_constant else np.zeros(F.shape[0])
    half = linalg.solve_triangular(R, on_host(take(F, labelled)).T, lower=True, check_finite=False)
    constant = linalg.solve_triangular(R, g * on_host(F.T @ beside(along, F)), lower=True, check_finite=False)
    tau = max(float(g * along.sum() - constant @ constant), 0.0)
    found = Reduced(1.0 - half.T @ constant, tau, half, constant, R)
    return found if np.isfinite(half).all() and np.isfinite(tau) else None


def _quadratic_form(F: Array, L: Laplacian) -> Array:
    """F'L F, where F lies; some columns at a time, so that L F is never held."""
    M = zeros((F.shape[1], F.shape[1]), F) if is_foreign_array(F) else np.empty((F.shape[1], F.shape[1]))
    L = L._replace(matrix=factor_beside(L.matrix, F))
    for begin in range(0, F.shape[1], _AT_A_TIME):
        some = slice(begin, min(begin + _AT_A_TIME, F.shape[1]))
        columns = F[:, some] if is_foreign_array(F) else np.ascontiguousarray(F[:, some])
        M[:, some] = F.T @ L.times(columns)
    return on_host(M)


def root(K: Array) -> Array | None:
    """F with F F' = K and as many columns as K has rank, by Cholesky with pivots; None where K is not positive
    semi-definite.

    Of one that is, no more is left than the pivot where it stops. Kernels that are off by rounding (CSR rows far from
    0) leave more, unless it stops at what they are off by.
    """
    for part in _ROUNDING:
        F = _root_until(K, part * max(K.diagonal().max(), 0.0))
        if F is not None:
            return F
    return None


def _root_until(K: Array, least: float) -> Array | None:
    """The same with pivots above a number; None where more than that is left."""
    factor, pivots, rank, info = linalg.lapack.dpstrf(K.copy(order="F"), tol=least, lower=1, overwrite_a=1)
    if info < 0:
        return None
    order = pivots - 1
    F = np.zeros((len(K), max(rank, 1)))  # a column of zeros for the kernel that is 0
    F[order, :rank] = np.tril(factor)[:, :rank]
    rest = order[rank:]
    most = _LEFT * max(least, _ROUNDING[1] * K.diagonal().max())
    return F if np.abs(K[np.ix_(rest, rest)] - F[rest] @ F[rest].T).max(initial=0.0) <= most else None
