"""Shards: parts of the rows, each of which is read where it is learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..streams import open_stream


class ShardBatch(NamedTuple):
    """Some rows of a shard."""

    X: Any
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.int64]) -> ShardBatch:
        """Some of these rows."""
        y, weight = (None if each is None else each[rows] for each in self[1:])
        return ShardBatch(rows_at(self.X, rows), y, weight)


class Shard(Protocol):
    """A part of the rows. It is sent to workers, so it holds the place of rows rather than the rows where it can."""

    @property
    def name(self) -> str: ...

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        """Its rows in order, or mixed in runs of `shuffle`."""
        ...


@dataclass(frozen=True)
class FileShard:
    """Files that are read one after the other."""

    places: tuple[str, ...]
    name: str
    reading: dict[str, Any]

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        # Threads that read ahead would take the cores of other shards.
        options = {**self.reading, "shuffle": shuffle, "random_state": seed, "prefetch": False}
        for batch in open_stream(list(self.places), **options).batches():
            yield ShardBatch(batch.X, batch.y, None)


@dataclass(frozen=True, eq=False)
class ArrayShard:
    """Rows in memory."""

    X: Any
    y: Any
    weight: Any
    name: str

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        n_rows = self.X.shape[0]
        if not n_rows:
            return
        batch = ShardBatch(self.X, None if self.y is None else np.asarray(self.y), self.weight)
        if shuffle:
            runs = range(0, n_rows, shuffle)
            batch = batch.take(np.concatenate([mixed(begin, min(shuffle, n_rows - begin), seed) for begin in runs]))
        yield batch

    def check_lengths(self, where: str) -> None:
        """Refuse targets or weights of another length than the rows."""
        for name, column in (("y", self.y), ("weight", self.weight)):
            if column is not None and len(column) != self.X.shape[0]:
                raise ValueError(f"{where} has {self.X.shape[0]} rows, but its {name} has {len(column)}.")


def mixed(begin: int, n_rows: int, seed: int) -> NDArray[np.int64]:
    """Rows from `begin` on, in random order."""
    return begin + np.random.default_rng([seed, begin]).permutation(n_rows)


def rows_at(X: Any, places: NDArray[np.int64]) -> Any:
    """Some rows of a matrix, table or data frame."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]
