"""Rows as the matrix that they were made of, some of them, and the size of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._gate import sparse


def matrix_of(rows: Rows) -> Any:
    """The matrix that rows were made of: an array or a csr_array, which shares their memory."""
    if rows.columns is None:
        return rows.values
    return sparse.csr_array((rows.values, rows.columns, rows.starts), shape=(rows.n_rows, rows.n_features), copy=False)


_SCALED = 3.0  # root mean square of values up to which no unit is to blame for long steps


def are_scaled(values: Any) -> bool:
    """Whether values are about 1 in size, as those of standardised columns, or smaller."""
    if not np.size(values):
        return True
    with np.errstate(over="ignore"):
        return bool(np.sqrt(np.mean(np.square(values, dtype=np.float64))) <= _SCALED)


def part_of(rows: Rows, order: NDArray[np.int64]) -> Rows:
    """Some of the rows, in this order."""
    n = len(order)
    if n and order[-1] - order[0] == n - 1 and (np.diff(order) == 1).all():  # neighbours need no copy
        begin, end = int(order[0]), int(order[-1]) + 1
        if rows.columns is None:
            return Rows.dense(rows.values[begin:end], False)
        starts = rows.starts[begin : end + 1]
        some = slice(starts[0], starts[-1])
        return Rows.csr(rows.values[some], rows.columns[some], starts - starts[0], rows.n_features, False)
    if rows.columns is None:
        return Rows.dense(rows.values[order], False)
    matrix = matrix_of(rows)[order]
    return Rows.csr(matrix.data, matrix.indices, matrix.indptr.astype(np.int64), rows.n_features, False)
