"""Arrow record batches as rows to learn from: columns of numbers and text, vectors, arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._gate import Table, Text
from ..streams import tables_of
from ._shards import ShardBatch, mixed

_ROWS = 4096  # in a batch, whatever the size of those that come


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of a data frame that are features, targets and weights."""

    features: tuple[str, ...]
    kind: str  # numbers; table, of numbers and text; vector, of pyspark.ml; or array
    y: str | None
    weight: str | None
    texts: tuple[str, ...]  # features that are text
    dense: bool  # whether vectors become a dense matrix
    width: int  # of vectors, 0 if it is not known

    @property
    def used(self) -> tuple[str, ...]:
        """All columns in use, in the order in which they travel."""
        return (*self.features, *(name for name in (self.y, self.weight) if name is not None))


def batches_of(arrived: Iterator[Any], columns: ColumnRoles, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
    """Rows in batches of equal size, whatever the size of those that arrived; or in mixed runs of `shuffle`."""
    begin = 0
    for table in tables_of(arrived, shuffle or _ROWS):
        y = None if columns.y is None else _labels(table.column(columns.y), columns.y)
        weight = None if columns.weight is None else _labels(table.column(columns.weight), columns.weight)
        batch = ShardBatch(rows_of(table, columns), y, None if weight is None else weight.astype(np.float64))
        yield batch.take(mixed(begin, len(table), seed) - begin) if shuffle else batch
        begin += len(table)


def rows_of(table: Any, columns: ColumnRoles) -> Any:
    """The features: a data frame of numbers, a Table if there is text, or a matrix made of vectors."""
    first = table.column(columns.features[0])
    if columns.kind == "vector":
        return _vectors(first.combine_chunks(), columns)
    if columns.kind == "array":
        return _arrays(first.combine_chunks(), columns.features[0])
    rows = table.select(columns.features)
    return Table.from_frame(rows) if columns.kind == "table" else rows.to_pandas()


def blank_row(columns: ColumnRoles, width: int) -> Any:
    """One row of zeros and empty words."""
    if columns.kind == "vector" and not columns.dense:
        return sparse.csr_array((1, width))
    if columns.kind in ("vector", "array"):
        return np.zeros((1, width))
    numbers = np.zeros((1, len(columns.features) - len(columns.texts)))
    if columns.kind == "table":
        return Table(columns.features, numbers, {name: Text.from_list([""]) for name in columns.texts})
    import pandas as pd

    return pd.DataFrame(numbers, columns=list(columns.features))


def _labels(column: Any, name: str) -> NDArray[Any]:
    """Targets as they are: whole numbers, numbers, truth values or words."""
    _check_filled(column, name)
    values = column.to_pylist() if str(column.type).startswith(("string", "large_string")) else None
    return np.asarray(column.to_numpy()) if values is None else np.array(values, dtype=object)


def _lists(column: Any, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Lengths of lists, and all their values."""
    _check_filled(column, name)
    values = column.flatten()
    return np.asarray(column.value_lengths()).astype(np.int64), np.asarray(values.to_numpy(zero_copy_only=False))


def _arrays(column: Any, name: str) -> NDArray[Any]:
    lengths, values = _lists(column, name)
    _check_equal(lengths, name)
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64).reshape(len(lengths), -1)


def _check_equal(lengths: NDArray[np.int64], name: str) -> None:
    if lengths.min() != lengths.max():
        raise ValueError(f"column {name!r} must hold rows of one length, got {lengths.min()} and {lengths.max()}.")


def _check_filled(column: Any, name: str) -> None:
    if column.null_count:
        raise ValueError(f"column {name!r} is empty in some rows.")


def _vectors(column: Any, columns: ColumnRoles) -> Any:
    """Vectors of pyspark.ml as a matrix: structures of kind (0 sparse, 1 dense), size, places and values."""
    import pyarrow

    name = columns.features[0]
    _check_filled(column, name)
    kinds, sizes, places, values = column.flatten()
    full = np.asarray(kinds) == 1
    lengths, data = _lists(values, name)
    sizes = np.where(full, lengths, np.asarray(sizes.fill_null(0)))
    _check_equal(sizes, name)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)  # as if all were dense
    empty = pyarrow.scalar([], places.type)
    indices[np.repeat(~full, lengths)] = np.asarray(places.fill_null(empty).flatten())
    X = sparse.csr_array((data.copy(), indices, starts), shape=(len(lengths), int(sizes[0])))
    X.eliminate_zeros()
    return X.toarray() if columns.dense else X
