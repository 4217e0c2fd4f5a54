"""Rows of a stream in memory: all, or an even sample."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._gate import widened
from ..streams import Stream, Table


def read_all(stream: Stream, max_rows: int | None = None) -> tuple[Any, NDArray[Any] | None]:
    """The rows of a stream in memory, all of them or an even sample of at least `max_rows`, if there are so many.

    Parameters
    ----------
    stream : Stream
    max_rows : int, optional

    Returns
    -------
    X, y
    """
    sampler = Sampler(max_rows)
    for batch in stream.batches():
        sampler.add(batch.X, batch.y)
    rows = sampler.rows()
    if rows is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    return rows


class Sampler:
    """An even sample of a stream: all rows at first, then every second, every fourth."""

    def __init__(self, most: int | None = 1000) -> None:
        self.n_rows = 0  # seen so far
        self._most = most
        self._step = 1
        self._parts: list[tuple[Any, ...]] = []
        self._kept = 0

    def add(self, *columns: Any) -> None:
        """Take in some rows: features, targets or predictions of them; what is None is left out."""
        given = [column for column in columns if column is not None]
        some = np.arange(-self.n_rows % self._step, given[0].shape[0], self._step)
        self.n_rows += given[0].shape[0]
        if not len(some):
            return
        self._parts.append(tuple(column[some] for column in given))
        self._kept += len(some)
        while self._most is not None and self._kept > 2 * self._most:
            half = np.arange(0, self._kept, 2)
            self._parts = [tuple(column[half] for column in self.columns())]
            self._kept, self._step = len(half), 2 * self._step

    def columns(self) -> tuple[Any, ...]:
        """The sample, a column for each of those that were added."""
        return tuple(_stacked(parts) for parts in zip(*self._parts, strict=True))

    def rows(self) -> tuple[Any, Any] | None:
        """The sample of features and targets; None if there were no rows."""
        return (*self.columns(), None)[:2] if self._parts else None


def stack_batches(parts: list[tuple[Any, NDArray[Any] | None]]) -> tuple[Any, NDArray[Any] | None]:
    """Batches of rows as one, as wide as the widest."""
    ys = [y for _, y in parts if y is not None]
    return _stacked([X for X, _ in parts]), np.concatenate(ys) if ys else None


def _stacked(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Table):
        return Table.concat(parts)
    if sparse.issparse(first):
        width = max(X.shape[1] for X in parts)
        return sparse.csr_array(sparse.vstack([widened(X, width) for X in parts], format="csr"))
    library = type(first).__module__.partition(".")[0]
    if library in ("pandas", "polars"):
        return importlib.import_module(library).concat(parts)
    return np.concatenate(parts)
