"""Shards: parts of the rows, each of which is read where it is learned from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._gate import Table
from ..streams import is_url, open_stream


class Piece(NamedTuple):
    """Some rows of a shard."""

    X: Any
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None


class Shard(Protocol):
    """A part of the rows. It travels, so it says where rows are rather than holding them, where it can."""

    @property
    def name(self) -> str: ...

    def pieces(self, shuffle: int = 0, seed: int = 0) -> Iterator[Piece]:
        """Its rows in order, or mixed in runs of `shuffle`."""
        ...


@dataclass(frozen=True)
class FileShard:
    """Files that are read one after the other."""

    places: tuple[str, ...]
    name: str
    reading: dict[str, Any]

    def pieces(self, shuffle: int = 0, seed: int = 0) -> Iterator[Piece]:
        # Threads that read ahead would take the cores of other shards.
        options = {**self.reading, "shuffle": shuffle, "random_state": seed, "prefetch": False}
        for batch in open_stream(list(self.places), **options).batches():
            yield Piece(batch.X, batch.y, None)


@dataclass(frozen=True, eq=False)
class ArrayShard:
    """Rows in memory."""

    X: Any
    y: Any
    weight: Any
    name: str

    def pieces(self, shuffle: int = 0, seed: int = 0) -> Iterator[Piece]:
        X, y, weight = self.X, as_labels(self.y), self.weight
        n_rows = X.shape[0]
        if n_rows and shuffle:
            order = np.concatenate([
                begin + np.random.default_rng([seed, begin]).permutation(min(shuffle, n_rows - begin))
                for begin in range(0, n_rows, shuffle)
            ])  # fmt: skip
            X, y, weight = rows_at(X, order), None if y is None else y[order], None if weight is None else weight[order]
        if n_rows:
            yield Piece(X, y, weight)


def as_labels(y: Any) -> NDArray[Any] | None:
    return None if y is None else np.asarray(y)


def rows_at(X: Any, places: NDArray[np.int64]) -> Any:
    """Some rows of a matrix, table or data frame."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def array_shards(shards: Sequence[Any], y: Any, weight: Any, who: str) -> list[ArrayShard]:
    """Shards from lists: of ``(X, y)`` or ``(X, y, weight)``, or of ``X`` with lists of the others beside it."""
    if isinstance(shards, tuple) and len(shards) in (2, 3) and np.ndim(shards[1]) == 1 and hasattr(shards[0], "shape"):
        raise ValueError(f"{who}: shards must be a list of (X, y), also if it is one, got (X, y).")
    if any(type(each).__module__.startswith("dask") for each in shards):
        raise ValueError(f"{who}: shards must be a Dask array or data frame itself, not a list of Dask objects.")
    given = [tuple(each) if isinstance(each, (tuple, list)) else (each,) for each in shards]
    if any(not 1 <= len(each) <= 3 for each in given):
        raise ValueError(f"{who}: shards in memory must be X, (X, y) or (X, y, weight).")
    for name, beside in (("y", y), ("weight", weight)):
        if beside is not None and (isinstance(beside, str) or len(beside) != len(given)):
            raise ValueError(f"{who}: {name} must hold one array for each of the {len(given)} shards.")
    found = []
    for i, each in enumerate(given):
        X, own_y, own_weight = (*each, None, None, None)[:3]
        own_y = own_y if y is None else y[i]
        own_weight = own_weight if weight is None else weight[i]
        if not hasattr(X, "shape"):
            X = np.asarray(X, dtype=np.float64)
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        try:
            own_weight = None if own_weight is None else np.asarray(own_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{who}: the weights of shard {i + 1} must be numbers.") from None
        for name, beside in (("y", own_y), ("weight", own_weight)):
            if beside is not None and len(beside) != X.shape[0]:
                raise ValueError(f"{who}: shard {i + 1} has {X.shape[0]} rows, but its {name} has {len(beside)}.")
        found.append(ArrayShard(X, own_y, own_weight, f"shard {i + 1}"))
    return found


def file_shards(places: Sequence[str], reading: dict[str, Any], n_shards: int | None) -> list[FileShard]:
    """One shard for each file, or so many of neighbouring files; all are read as the first one is."""
    layout = open_stream(places[0], **reading).layout()
    names = [os.path.basename(place.rstrip("/")) for place in places]
    if len(set(names)) < len(names):
        names = list(places)
    rest = {k: v for k, v in reading.items() if k not in ("target", "text_columns", "drop", "header")}
    n = len(places) if n_shards is None else min(n_shards, len(places))
    edges = [len(places) * k // n for k in range(n + 1)]
    return [
        FileShard(tuple(places[a:b]), names[a] if b == a + 1 else f"{names[a]} to {names[b - 1]}",
                  {**rest, "layout": layout})
        for a, b in pairwise(edges)
    ]  # fmt: skip


def is_place(thing: Any) -> bool:
    return isinstance(thing, (str, os.PathLike))


def place_of(thing: Any) -> str:
    """A path that means the same elsewhere."""
    text = os.fspath(thing)
    return text if is_url(text) else str(Path(text).absolute())


__all__ = ["ArrayShard", "FileShard", "Piece", "Shard", "Table", "array_shards", "file_shards", "is_place", "place_of"]
