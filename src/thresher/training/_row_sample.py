"""Rows of a stream in memory: all, or an even sample."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._gate import widened
from ..streams import Batch, Stream, Table


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
        sampler.add(batch)
    rows = sampler.rows()
    if rows is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    return rows


class Sampler:
    """An even sample of a stream: all rows at first, then every second, every fourth."""

    def __init__(self, most: int | None = 1000) -> None:
        self._most = most
        self._step = 1
        self._seen = 0
        self._parts: list[tuple[Any, NDArray[Any] | None]] = []
        self._kept = 0

    def add(self, batch: Batch) -> None:
        some = np.arange(-self._seen % self._step, len(batch), self._step)
        self._seen += len(batch)
        if not len(some):
            return
        self._parts.append((batch.X[some], None if batch.y is None else batch.y[some]))
        self._kept += len(some)
        while self._most is not None and self._kept > 2 * self._most:
            X, y = stack_batches(self._parts)
            half = np.arange(0, X.shape[0], 2)
            self._parts = [(X[half], None if y is None else y[half])]
            self._kept, self._step = len(half), 2 * self._step

    def rows(self) -> tuple[Any, Any] | None:
        return stack_batches(self._parts) if self._parts else None


def stack_batches(parts: list[tuple[Any, NDArray[Any] | None]]) -> tuple[Any, NDArray[Any] | None]:
    """Batches of rows as one, as wide as the widest."""
    Xs, ys = [X for X, _ in parts], [y for _, y in parts if y is not None]
    y = np.concatenate(ys) if ys else None
    if len(Xs) == 1:
        return Xs[0], y
    if isinstance(Xs[0], Table):
        return Table.concat(Xs), y
    if sparse.issparse(Xs[0]):
        width = max(X.shape[1] for X in Xs)
        return sparse.csr_array(sparse.vstack([widened(X, width) for X in Xs], format="csr")), y
    room = type(Xs[0]).__module__.partition(".")[0]
    if room in ("pandas", "polars"):
        return importlib.import_module(room).concat(Xs), y
    return np.concatenate(Xs), y
