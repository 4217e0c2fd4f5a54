"""Stacks of kernel matrices that users bring: the gate for arrays of three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import HUGE


def take_matrices(X: Any, who: str, shape: tuple[int, int] | None = None) -> NDArray[Any]:
    """Kernel matrices of shape (n_kernels, n, n) to learn from; or, of a model that knows ``shape``, its number of
    kernels and of training rows, those of new rows with the training rows, (n_kernels, n_rows, n)."""
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
    for q, matrix in enumerate(K):
        if not float(np.abs(matrix).max()) <= HUGE:
            raise ValueError(f"{who}: precomputed kernels must hold finite numbers up to 1e100, kernel {q} does not.")
    if shape is None:
        _check_square(K, who)
    elif (K.shape[0], K.shape[2]) != shape:
        raise ValueError(
            f"{who}: precomputed kernels must be of shape ({shape[0]}, n_rows, {shape[1]}), as in fit, got {K.shape}."
        )
    return K


def _check_square(K: NDArray[Any], who: str) -> None:
    if K.shape[1] != K.shape[2]:
        raise ValueError(f"{who}: precomputed kernels must be square matrices in fit, got shape {K.shape}.")
    for q, matrix in enumerate(K):
        if not np.allclose(matrix, matrix.T, rtol=1e-5, atol=1e-8 * float(np.abs(matrix).max())):
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, kernel {q} is not.")
        if matrix.diagonal().min() < 0:
            raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, kernel {q} has not.")
