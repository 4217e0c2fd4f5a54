"""Stacks of kernel matrices that users bring: the gate for arrays of three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import HUGE

_AT_ONCE = 128  # rows of a matrix that are compared with columns


def take_matrices(X: Any, who: str, shape: tuple[int, int]) -> NDArray[Any]:
    """Kernel matrices of new rows with the training rows, (n_kernels, n_rows, n), of a model that knows ``shape``, its
    numbers of kernels and of training rows."""
    K = _read(X, who)[0]
    if (K.shape[0], K.shape[2]) != shape:
        raise ValueError(
            f"{who}: precomputed kernels must be of shape ({shape[0]}, n_rows, {shape[1]}), as in fit, got {K.shape}."
        )
    return K


def take_square_matrices(X: Any, who: str) -> tuple[NDArray[Any], list[bool]]:
    """Kernel matrices to learn from, of shape (n_kernels, n, n), and which of them are symmetric to the last bit."""
    K, sizes = _read(X, who)
    if K.shape[1] != K.shape[2]:
        raise ValueError(f"{who}: precomputed kernels must be square matrices in fit, got shape {K.shape}.")
    exact = []
    for q, matrix in enumerate(K):
        off = _asymmetry(matrix, 1e-8 * sizes[q])
        if off > 1:
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, kernel {q} is not.")
        if matrix.diagonal().min() < 0:
            raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, kernel {q} has not.")
        exact.append(off == 0)
    return K, exact


def _read(X: Any, who: str) -> tuple[NDArray[Any], list[float]]:
    """The stack in floating point, and the size of the largest entry of each matrix."""
    try:
        K = np.asarray(X)
    except ValueError:
        raise ValueError(f"{who}: precomputed kernels must all be of one shape.") from None
    if K.dtype.kind not in "fiub" or K.ndim != 3 or 0 in K.shape:
        raise ValueError(
            f"{who}: precomputed kernels must be numbers in an array of shape (n_kernels, n_rows, n_training_rows), "
            f"got {K.dtype} of shape {K.shape}."
        )
    K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    sizes = [float(np.maximum(matrix.max(), -matrix.min())) for matrix in K]  # NaN where one is
    for q, size in enumerate(sizes):
        if not size <= HUGE:
            raise ValueError(f"{who}: precomputed kernels must hold finite numbers up to 1e100, kernel {q} does not.")
    return K, sizes


def _asymmetry(matrix: NDArray[Any], atol: float, rtol: float = 1e-5) -> int:
    """0 where a matrix is its transpose, 1 where it is so but for rounding, 2 elsewhere; in one pass over its rows."""
    rounded = 0
    for top in range(0, len(matrix), _AT_ONCE):
        end = top + _AT_ONCE
        below, above = matrix[top:end, :end], matrix[:end, top:end].T
        if (below == above).all():
            continue
        if (np.abs(below - above) > atol + rtol * np.minimum(np.abs(below), np.abs(above))).any():
            return 2
        rounded = 1
    return rounded
