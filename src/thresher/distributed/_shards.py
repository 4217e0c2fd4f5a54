"""Shards: parts of the rows, each read on the machine that learns from it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from ..persistence import tensors_of
from ..streams import has_target, open_stream, version_of

_ROWS = 64  # of a shard in memory, evenly spread, in its identity


class ShardBatch(NamedTuple):
    """Some rows of a shard."""

    X: Any
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.int64]) -> ShardBatch:
        """Some of these rows."""
        y, weight = (None if each is None else each[rows] for each in self[1:])
        return ShardBatch(rows_at(self.X, rows), y, weight)

    def labelled(self) -> ShardBatch:
        """The rows that have a target."""
        if self.y is None or (there := has_target(self.y)).all():
            return self
        return self.take(np.flatnonzero(there))


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
    labelled_only: bool = False
    """Whether rows without a target are left out."""

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        # Threads that read ahead would take the cores of other shards.
        options = {**self.reading, "shuffle": shuffle, "random_state": seed, "prefetch": False}
        for batch in open_stream(list(self.places), **options).batches():
            rows = ShardBatch(batch.X, batch.y, batch.weight)
            rows = rows.labelled() if self.labelled_only else rows
            if rows.X.shape[0]:
                yield rows


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
            runs = [(begin, min(shuffle, n_rows - begin)) for begin in range(0, n_rows, shuffle)]
            batch = batch.take(np.concatenate([shuffled_rows(*run, seed) for run in runs]))
        yield batch

    def check_lengths(self, where: str) -> None:
        """Refuse targets or weights of another length than the rows."""
        for name, column in (("y", self.y), ("weight", self.weight)):
            if column is not None and len(column) != self.X.shape[0]:
                raise ValueError(f"{where} has {self.X.shape[0]} rows, but its {name} has {len(column)}.")


def shuffled_rows(begin: int, n_rows: int, seed: int) -> NDArray[np.int64]:
    """Rows from `begin` on, in random order."""
    return begin + np.random.default_rng([seed, begin]).permutation(n_rows)


def rows_at(X: Any, places: NDArray[np.int64]) -> Any:
    """Some rows of a matrix, table or data frame."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


# --- identity --------------------------------------------------------------------------------------------------------


def identity(shard: Shard) -> list[Any]:
    """The name of a shard, and values that identify its rows; None in their place if nothing does."""
    if isinstance(shard, FileShard):
        how = {name: str(value) for name, value in sorted(shard.reading.items()) if name != "batch_size"}
        return [shard.name, [version_of(place) for place in shard.places], zlib.crc32(json.dumps(how).encode())]
    if isinstance(shard, ArrayShard):
        n_rows = int(shard.X.shape[0])
        some = np.unique(np.linspace(0, max(0, n_rows - 1), min(n_rows, _ROWS)).astype(np.int64))
        parts = (shard.X, shard.y, shard.weight)
        checksums = [None if part is None else _checksum(part, some) for part in parts]
        return [shard.name, list(map(int, shard.X.shape)), checksums]
    return [shard.name, getattr(shard, "identity", None)]


def rows_checksum(identities: list[list[Any]]) -> int | None:
    """One number for the rows of all shards; None if some of them have no identity."""
    if any(each[1] is None for each in identities):
        return None
    return zlib.crc32(json.dumps(identities).encode())


def model_checksum(model: Any) -> int:
    """One number for all that a fitted model holds."""
    tensors = tensors_of(model)
    checksum = 0
    for name in sorted(tensors):
        checksum = zlib.crc32(np.ascontiguousarray(tensors[name]).tobytes(), zlib.crc32(name.encode(), checksum))
    return checksum


def _checksum(part: Any, some: NDArray[np.int64]) -> int:
    """Some rows of a matrix, table, frame or list of labels, as one number."""
    rows: Any = rows_at(part, some) if hasattr(part, "shape") else [part[i] for i in some]
    if hasattr(rows, "tocsr"):
        return zlib.crc32(repr((rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist())).encode())
    if hasattr(rows, "numbers"):  # a table with text
        words = [(name, rows.text[name].to_list()) for name in sorted(rows.text)]
        return zlib.crc32(repr((np.asarray(rows.numbers).tolist(), words)).encode())
    return zlib.crc32(repr(np.asarray(rows).tolist()).encode())
