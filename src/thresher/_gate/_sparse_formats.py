"""Sparse matrices of any format to CSR. SciPy does not check indices, so they are checked first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._scipy import sparse
from ._types import Array

_OUTSIDE = "{}: indices of sparse X must be integers that lie within its shape {}."


def as_csr(X: Any, who: str) -> Any:
    """A two-dimensional sparse matrix in CSR form. All its indices were checked, its values were not."""
    X = X if X.format == "csr" else converted(X, who)
    _look_at_compressed(X, X.shape, ("column", "row"), who)
    return X


def converted(X: Any, who: str) -> Any:
    """A sparse matrix of another format in CSR form: what this reads was looked at, what comes out was not."""
    if X.format == "csc":
        _look_at_compressed(X, X.shape[::-1], ("row", "column"), who)
    elif X.format == "bsr":
        _look_at_blocks(X, who)
    elif X.format == "lil":
        if len(X.rows) != X.shape[0] or list(map(len, X.rows)) != list(map(len, X.data)):
            raise ValueError(f"{who}: rows and data of sparse X must have the same number of entries in each row.")
    else:
        X = _coordinates(X, who)
    try:
        return X.tocsr()
    except (OverflowError, TypeError):  # lists, in which anything may stand
        raise ValueError(_OUTSIDE.format(who, X.shape)) from None


def _look_at_compressed(X: Any, shape: tuple[int, int], axes: tuple[str, str], who: str) -> None:
    """Check the indices of CSR or CSC: one start for each of ``shape[0]`` lines, places below ``shape[1]``."""
    check_lengths(X, shape[0], who, axes[1])
    _look_at_starts(X.indptr, len(X.indices), who, axes[1])
    _look_at_places(X.indices[: X.indptr[-1]], shape[1], axes[0], who)


def check_lengths(X: Any, n_lines: int, who: str, axis: str = "row") -> None:
    """Refuse index arrays of a compressed matrix that are not integers, or do not fit each other."""
    columns, starts = X.indices, X.indptr
    if columns.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: indices and indptr of sparse X must hold integers, got {columns.dtype} and {starts.dtype}."
        )
    if len(X.data) != len(columns):
        raise ValueError(
            f"{who}: data and indices of sparse X must have the same length, got {len(X.data)} and {len(columns)}."
        )
    if len(starts) != n_lines + 1:
        raise ValueError(
            f"{who}: indptr of sparse X must have {n_lines + 1} entries for {n_lines} {axis}s, got {len(starts)}."
        )


def _look_at_starts(starts: np.ndarray[Any, Any], n_stored: int, who: str, axis: str) -> None:
    starts = starts.astype(np.int64, copy=False)
    wrong = np.flatnonzero((np.diff(starts, prepend=0) < 0) | (starts > n_stored))
    if starts[0] != 0 or len(wrong):
        at = max(int(wrong[0]) - 1, 0) if len(wrong) else 0
        value = starts[wrong[0]] if len(wrong) else starts[0]
        raise ValueError(
            f"{who}: indptr of sparse X must start at 0 and never fall or exceed its data, got {value} at {axis} {at}."
        )


def _look_at_blocks(X: Any, who: str) -> None:
    height, width = X.blocksize
    check_lengths(X, X.shape[0] // height, who, "row of block")
    _look_at_starts(X.indptr, len(X.indices), who, "row of blocks")
    _look_at_places(X.indices, X.shape[1] // width, "block", who)


def _coordinates(X: Any, who: str) -> Any:
    """Coordinates of a matrix of any other format, after a check."""
    if X.format == "dia" and len(X.offsets) != len(X.data):
        raise ValueError(f"{who}: data of sparse X must have a row for each of its {len(X.offsets)} offsets.")
    try:
        X = X.tocoo()
    except (ValueError, OverflowError, TypeError):  # a dictionary, whose keys SciPy looks at
        raise ValueError(_OUTSIDE.format(who, X.shape)) from None
    if not len(X.data) == len(X.row) == len(X.col):
        raise ValueError(f"{who}: data and coordinates of sparse X must have the same length.")
    for places, size, axis in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "column")):
        _look_at_places(places, size, axis, who)
    return X


def _look_at_places(places: np.ndarray[Any, Any], size: int, axis: str, who: str) -> None:
    if places.dtype.kind not in "iu":
        raise ValueError(f"{who}: {axis} indices of sparse X must hold integers, got {places.dtype}.")
    if len(places) and not 0 <= places.min() <= places.max() < size:
        wrong = places.min() if places.min() < 0 else places.max()
        raise ValueError(f"{who}: {axis} indices of sparse X must lie in 0 ... {size - 1}, got {wrong}.")


def dense_weights(weights: Any) -> Array:
    """Weights or centres, dense or sparse, as an array of one row for each output."""
    return np.atleast_2d(weights.toarray() if sparse.issparse(weights) else weights)
