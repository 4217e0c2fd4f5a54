"""Sparse pieces of rows: parts of the features of the same rows, to be put side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Sparse = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]  # values, columns, starts


def nonzeros(numbers: NDArray[Any]) -> Sparse:
    """Numbers that are there and not 0."""
    rows, columns = np.nonzero((numbers != 0) & ~np.isnan(numbers))
    starts = np.searchsorted(rows, np.arange(len(numbers) + 1))
    return numbers[rows, columns].astype(np.float64), columns.astype(np.int32), starts.astype(np.int64)


def one_each(places: NDArray[np.int32]) -> Sparse:
    """A feature of value 1 in each row, none where the place is below 0."""
    there = places >= 0
    starts = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    return np.ones(int(starts[-1])), places[there], starts


def shifted(piece: Sparse, by: int) -> Sparse:
    """The same piece, its columns further on."""
    values, columns, starts = piece
    return values, columns if by == 0 else columns + np.int32(by), starts
