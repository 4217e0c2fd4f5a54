"""Functions that are small and smooth along a graph: everything but the losses, eliminated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .._kernels._products import Array
from ._graph import Laplacian

_AT_A_TIME = 64  # columns
_NO_RANK = 1e-8  # what is left of a kernel matrix beyond its rank, as a part of its diagonal


class Penalty(NamedTuple):
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

    Q: Array
    e: Array
    tau: float
    half: Array  # R^{-1} F_l', where R R' = a I + g F'L F
    constant: Array  # R^{-1} u, where u = g F'L 1
    factor: Array  # R

    def weights(self, x: Array, intercept: float) -> Array:
        """w, from P z = Z'x."""
        w: Array = linalg.solve_triangular(self.factor, self.half @ x - self.constant * intercept, trans=1, lower=True)
        return w


def reduced(F: Array, labelled: NDArray[np.intp], penalty: Penalty) -> Reduced | None:
    """w and b eliminated, by one Cholesky factorisation as large as F is wide, for any labels and losses. None where
    the ambient penalty is lost beside the other."""
    a, g, L, with_constant = penalty
    M = np.empty((F.shape[1], F.shape[1]))
    for begin in range(0, F.shape[1], _AT_A_TIME):  # so that L F is never held
        some = slice(begin, begin + _AT_A_TIME)
        M[:, some] = F.T @ L.times(np.ascontiguousarray(F[:, some]))
    M *= g / 2
    M += M.T.copy()
    M[np.diag_indices_from(M)] += a
    try:
        R = linalg.cholesky(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    along = L.times(np.ones(len(F))) if with_constant else np.zeros(len(F))
    half = linalg.solve_triangular(R, F[labelled].T, lower=True, check_finite=False)
    constant = linalg.solve_triangular(R, g * (F.T @ along), lower=True, check_finite=False)
    tau = max(float(g * along.sum() - constant @ constant), 0.0)
    found = Reduced(half.T @ half, 1.0 - half.T @ constant, tau, half, constant, R)
    return found if np.isfinite(found.Q).all() and np.isfinite(tau) else None


def root(K: Array) -> Array | None:
    """F with F F' = K and as many columns as K has rank, by Cholesky with pivots; None where K is not positive
    semi-definite."""
    factor, pivots, rank, info = linalg.lapack.dpstrf(K.copy(order="F"), lower=1, overwrite_a=1)
    if info < 0 or rank < 1:
        return None
    order = pivots - 1
    F = np.zeros((len(K), rank))
    F[order] = np.tril(factor)[:, :rank]
    rest = order[rank:]
    if len(rest) and np.abs(K[np.ix_(rest, rest)] - F[rest] @ F[rest].T).max() > _NO_RANK * K.diagonal().max():
        return None
    return F
