"""Shards from the data that users have: files, arrays, Dask collections and Spark data frames."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._dataclasses import dataclass
from .._gate import Rule, as_csr, check_value
from ..streams import absolute_names, open_stream
from ._shards import ArrayShard, FileShard, Shard


def library_of(thing: Any) -> str:
    """The name of the library that made an object."""
    return type(thing).__module__.partition(".")[0]


def is_path(thing: Any) -> bool:
    return isinstance(thing, (str, os.PathLike))


def _cuts(n_files: int, n_shards: int) -> Iterator[tuple[int, int]]:
    """Return the start and the end of each of several equal parts of the files."""
    return pairwise(n_files * k // n_shards for k in range(n_shards + 1))


@dataclass(frozen=True)
class ShardSource:
    """Data as users give them, with the arguments that belong to them; see :func:`fit`."""

    data: Any
    y: Any = None
    weight: Any = None
    features: Any = None
    n_shards: int | None = None
    reading: dict[str, Any] | None = None
    who: str = "fit"
    labelled_only: bool = False  # of files, only the rows that have a target

    def shards(self) -> Sequence[Shard]:
        """Shards in order. Arguments that do not belong to this kind of data are refused."""
        self._check_reading()
        library = library_of(self.data)
        if library.startswith("dask") or library == "pyspark":
            return self._of_collection(library)
        data = [self.data] if is_path(self.data) else self.data
        if not isinstance(data, Sequence) or not len(data):
            raise ValueError(
                f"{self.who}: shards must be files, a list of arrays, a Dask array or data frame, or a Spark data "
                f"frame, got {type(data).__name__ if not isinstance(data, Sequence) else 'an empty list'}."
            )
        are_paths = [is_path(each) for each in data]
        if all(are_paths):
            return self._of_files(data)
        if any(are_paths):
            raise ValueError(f"{self.who}: shards must be all files, or all arrays.")
        return self._of_arrays(data)

    def column_names(self) -> list[str | None]:
        """Targets, weights and features as text where they are names of columns, else None."""
        return [
            repr(each)
            if isinstance(each, str)
            or (isinstance(each, (list, tuple)) and all(isinstance(name, str) for name in each))
            else None
            for each in (self.y, self.weight, self.features)
        ]

    def _check_reading(self) -> None:
        """Refuse the order of rows and the number of passes, which rounds decide."""
        if self.reading is None:
            return
        if not isinstance(self.reading, dict):
            raise ValueError(f"{self.who}: reading must be a dict of arguments of open_stream, got {self.reading!r}.")
        ours = {"path", "max_iter", "shuffle", "random_state", "prefetch"}
        known = set(inspect.signature(open_stream).parameters) - ours
        for name in self.reading:
            if name not in known:
                raise ValueError(
                    f"{self.who}: reading must hold arguments of open_stream other than {', '.join(sorted(ours))}, got "
                    f"{name!r}."
                )

    def _refuse(self, kind: str, *names: str) -> None:
        """Refuse arguments that have no meaning for this kind of data."""
        missing = Rule(f"None for {kind}", lambda v: v is None or (isinstance(v, dict) and not v))
        for name in names:
            check_value(self.who, name, getattr(self, name), missing)

    def _of_collection(self, library: str) -> Sequence[Shard]:
        self._refuse(f"shards of {library}", "reading", "n_shards")
        if library == "pyspark":
            from ._spark_frames import frame_shards

            return frame_shards(self.data, self.y, self.weight, self.features)
        from ._dask import dask_shards

        return dask_shards(self.data, self.y, self.weight, self.features)

    def _of_files(self, data: Sequence[Any]) -> list[FileShard]:
        """One shard for each file, or this number of shards of neighbouring files; all are read as the first one is."""
        self._refuse("files, whose target is named by reading={'target': ...}", "y", "weight", "features")
        reading, places = self.reading or {}, [place for each in data for place in absolute_names(each)]
        short = [os.path.basename(place.rstrip("/")) for place in places]
        names = short if len(set(short)) == len(short) else places
        options = {k: v for k, v in reading.items() if k not in ("target", "text_columns", "drop", "header")}
        options["layout"] = open_stream(places[0], **reading).layout()
        n = len(places) if self.n_shards is None else min(self.n_shards, len(places))
        parts = [(a, b, names[a] if b == a + 1 else f"{names[a]} to {names[b - 1]}") for a, b in _cuts(len(places), n)]
        return [FileShard(tuple(places[a:b]), name, options, self.labelled_only) for a, b, name in parts]

    def _of_arrays(self, data: Sequence[Any]) -> list[ArrayShard]:
        """Shards from lists: of ``(X, y)`` or ``(X, y, weight)``, or of ``X`` with lists of the others beside it."""
        self._refuse("arrays in memory", "reading", "n_shards", "features")
        if isinstance(data, tuple) and len(data) in (2, 3) and np.ndim(data[1]) == 1 and hasattr(data[0], "shape"):
            raise ValueError(f"{self.who}: shards must be a list of (X, y), even if there is only one, got (X, y).")
        if any(library_of(each).startswith("dask") for each in data):
            raise ValueError(f"{self.who}: shards must be a Dask array or data frame itself, not a list of them.")
        for name, columns in (("y", self.y), ("weight", self.weight)):
            if columns is not None and (isinstance(columns, str) or len(columns) != len(data)):
                raise ValueError(f"{self.who}: {name} must hold one array for each of the {len(data)} shards.")
        return [self._of_array(place, each) for place, each in enumerate(data)]

    def _of_array(self, place: int, given: Any) -> ArrayShard:
        parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"{self.who}: shards in memory must be X, (X, y) or (X, y, weight).")
        X, y, weight = (*parts, None, None)[:3]
        y = y if self.y is None else self.y[place]
        weight = weight if self.weight is None else self.weight[place]
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        X = as_csr(X, f"{self.who}: shard {place + 1}") if hasattr(X, "tocsr") else X
        try:
            weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{self.who}: the weights of shard {place + 1} must be numbers.") from None
        shard = ArrayShard(X, y, weight, f"shard {place + 1}")
        shard.check_lengths(f"{self.who}: {shard.name}")
        return shard
