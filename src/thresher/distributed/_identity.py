"""What makes a run the same run, and rows the same rows, in plain values."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..persistence import tensors_of
from ..streams import cache_key, is_url, opened
from ..training import digest
from ._shards import ArrayShard, FileShard, Shard, rows_at

_ROWS = 64  # of a shard in memory, evenly spread


def identity(shard: Shard) -> list[Any]:
    """The name of a shard, and what tells its rows from others; None in its place if nothing does."""
    if isinstance(shard, FileShard):
        how = {name: str(value) for name, value in sorted(shard.reading.items()) if name != "batch_size"}
        return [shard.name, [_version(place) for place in shard.places], zlib.crc32(json.dumps(how).encode())]
    if isinstance(shard, ArrayShard):
        n_rows = int(shard.X.shape[0])
        some = np.unique(np.linspace(0, max(0, n_rows - 1), min(n_rows, _ROWS)).astype(np.int64))
        parts = (shard.X, shard.y, shard.weight)
        told = [None if part is None else _told(part, some) for part in parts]
        return [shard.name, list(map(int, shard.X.shape)), told]
    return [shard.name, getattr(shard, "identity", None)]


def rows_told_by(identities: list[list[Any]]) -> int | None:
    """One number for the rows of all shards; None if some cannot be told from others."""
    if any(each[1] is None for each in identities):
        return None
    return zlib.crc32(json.dumps(identities).encode())


def model_told(model: Any) -> int:
    """One number for all that a fitted model holds."""
    tensors = tensors_of(model)
    told = 0
    for name in sorted(tensors):
        told = zlib.crc32(np.ascontiguousarray(tensors[name]).tobytes(), zlib.crc32(name.encode(), told))
    return told


def _version(place: str) -> Any:
    """Of a file on this machine size and some bytes, of one elsewhere what its file system says of it."""
    if not is_url(place):
        return digest(Path(place)) if Path(place).exists() else None
    try:
        system, path = opened(place)
        return cache_key(place, system.info(path))
    except OSError:  # whoever reads it will tell
        return place


def _told(part: Any, some: NDArray[np.int64]) -> int:
    """Some rows of a matrix, table, frame or list of labels, as one number."""
    rows: Any = rows_at(part, some) if hasattr(part, "shape") else [part[i] for i in some]
    if hasattr(rows, "tocsr"):
        return zlib.crc32(repr((rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist())).encode())
    if hasattr(rows, "numbers"):  # a table with text
        words = [(name, rows.text[name].to_list()) for name in sorted(rows.text)]
        return zlib.crc32(repr((np.asarray(rows.numbers).tolist(), words)).encode())
    return zlib.crc32(repr(np.asarray(rows).tolist()).encode())
