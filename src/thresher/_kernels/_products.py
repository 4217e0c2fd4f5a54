"""Products and distances of rows with rows, dense or CSR, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]


def as_floats(X: Any) -> Any:
    return X.astype(np.float64, copy=False) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def products(X: Any, Z: Any) -> Array:
    """``X Z^T``, dense."""
    values = as_floats(X) @ as_floats(Z).T
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def squares(X: Any) -> Array:
    """The squared length of each row."""
    X = as_floats(X)
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    values: Array = np.einsum("ij,ij->i", X, X)
    return values


def squared_distances(X: Any, Z: Any) -> Array:
    """``|x - z|^2`` for every row of ``X`` and of ``Z``."""
    if not sparse.issparse(X) and not sparse.issparse(Z):  # far from the origin, squares would drown differences
        middle = as_floats(Z).mean(axis=0)
        X, Z = as_floats(X) - middle, as_floats(Z) - middle
    distances: Array = np.maximum(squares(X)[:, None] - 2.0 * products(X, Z) + squares(Z), 0.0)
    return distances
