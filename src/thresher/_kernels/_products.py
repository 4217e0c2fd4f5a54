"""Products and distances of rows with rows, dense or CSR, in float64, where the rows lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import as_float64, is_foreign_array, namespace, sparse

Array = NDArray[np.float64]


def as_floats(X: Any) -> Any:
    if is_foreign_array(X):
        return as_float64(X)
    return X.astype(np.float64, copy=False) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def products(X: Any, Z: Any) -> Array:
    """``X Z^T``, dense."""
    values = as_floats(X) @ as_floats(Z).T
    if is_foreign_array(values):
        return values
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def squares(X: Any) -> Array:
    """The squared length of each row."""
    X = as_floats(X)
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return namespace(X).sum(X * X, axis=1) if is_foreign_array(X) else np.einsum("ij,ij->i", X, X)


def unit_rows(X: Any) -> Any:
    """Rows of length 1, however small or large their values; rows of zeros stay. The layout and the precision stay."""
    if is_foreign_array(X):
        xp = namespace(X)
        sizes = xp.max(xp.abs(X), axis=1, keepdims=True)
        scaled = X / xp.where(sizes > 0, sizes, xp.ones_like(sizes))
        lengths = xp.sqrt(squares(scaled))[:, None]
        return scaled / xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    if not sparse.issparse(X):
        sizes = np.abs(X).max(axis=1, keepdims=True)
        scaled = X / np.where(sizes > 0, sizes, 1)
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64))
        return scaled / np.where(lengths > 0, lengths, 1.0).astype(scaled.dtype)[:, None]
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    sizes = np.zeros(X.shape[0], dtype=X.dtype)
    np.maximum.at(sizes, row, np.abs(X.data))
    scaled = X.data / np.where(sizes > 0, sizes, 1)[row]
    lengths = np.sqrt(np.bincount(row, scaled.astype(np.float64) ** 2, minlength=X.shape[0]))
    values = scaled / np.where(lengths > 0, lengths, 1.0).astype(scaled.dtype)[row]
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def distances_to(Z: Any) -> Callable[[Any], Array]:
    """``|x - z|^2`` for every row of ``Z`` and of what it is asked for; what concerns ``Z`` alone is computed once."""
    middle = (
        None if sparse.issparse(Z) else namespace(Z).mean(Z, axis=0)
    )  # else squares lose digits far from the origin
    centred = Z if middle is None else Z - middle
    sizes = squares(centred)
    plain_sizes = sizes if middle is None else squares(Z)

    def distances(X: Any) -> Array:
        if middle is None or sparse.issparse(X):
            X, there, squared = X, Z, plain_sizes
        else:
            X, there, squared = X - middle, centred, sizes
        values = products(X, there)
        values *= -2.0
        values += squares(X)[:, None]
        values += squared
        return (
            namespace(values).clip(values, 0.0, None)
            if is_foreign_array(values)
            else np.maximum(values, 0.0, out=values)
        )

    return distances


def squared_distances(X: Any, Z: Any) -> Array:
    """``|x - z|^2`` for every row of ``X`` and of ``Z``."""
    return distances_to(as_floats(Z))(as_floats(X))
