"""Rows in coordinates in which the covariance of the weights is the identity. Only the precision is ever kept: it is a
sum, and never loses the digits that a covariance loses when it shrinks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._gate import Array, linalg, sparse

_BLOCK = 4096  # rows whose coordinates are changed at once


def scores(X: Any, constant: float, weights: Array) -> Array:
    """Scores of shape (n_outputs, n_rows); ``weights`` has a column for each output, the constant's row last."""
    return np.ascontiguousarray((X @ weights[:-1] + constant * weights[-1]).T, dtype=np.float64)


def gram(X: Any, constant: float) -> Array:
    """X'X of the rows with the constant feature last, in float64 whatever their precision."""
    X = X.astype(np.float64, copy=False)
    out = np.empty((X.shape[1] + 1, X.shape[1] + 1))
    product = X.T @ X  # by half the work of a product of any two matrices
    out[:-1, :-1] = product.toarray() if sparse.issparse(X) else product
    out[-1, :-1] = out[:-1, -1] = constant * X.sum(axis=0)
    out[-1, -1] = X.shape[0] * constant**2
    return out


def root(precision: Array) -> Array:
    """The lower triangular L of P = L L'. FloatingPointError where rounding left none."""
    try:
        if np.isfinite(precision).all():
            return linalg.cholesky(precision, lower=True, check_finite=False)
    except linalg.LinAlgError:
        pass
    raise FloatingPointError("The precision overflowed; scale the features to about 1.")


def whitened(X: Any, constant: float, lower: Array) -> Iterator[tuple[slice, Array]]:
    """L^-1 x for all rows, block by block: whatever root is taken, products and lengths are those of Sigma = P^-1."""
    inverse: Array = linalg.lapack.dtrtri(lower, lower=1)[0]
    for some in _blocks(X):
        if sparse.issparse(X):
            yield some, X[some] @ inverse.T[:-1] + constant * inverse.T[-1]
        else:
            part = _with_constant(X[some], constant)
            yield some, linalg.blas.dtrmm(1.0, inverse, part.T, lower=1, overwrite_b=1).T


def doubts(X: Any, constant: float, lower: Array) -> Array:
    """x' Sigma x of each row."""
    return np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in whitened(X, constant, lower)])


def is_felt(X: Any, constant: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether a row has any feature: one without has no say in the weights."""
    if constant:
        return np.ones(X.shape[0], dtype=bool)
    return np.asarray(X.astype(bool).sum(axis=1)).ravel() > 0


def _blocks(X: Any) -> Iterator[slice]:
    return (slice(begin, begin + _BLOCK) for begin in range(0, X.shape[0], _BLOCK))


def _with_constant(X: Any, constant: float) -> Array:
    out = np.empty((X.shape[0], X.shape[1] + 1))
    out[:, :-1] = X
    out[:, -1] = constant
    return out
