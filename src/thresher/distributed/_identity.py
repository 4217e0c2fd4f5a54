"""Identity of shards and models in plain values, which tells runs apart."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..persistence import tensors_of
from ..streams import version_of
from ._shards import ArrayShard, FileShard, Shard, rows_at

_ROWS = 64  # of a shard in memory, evenly spread


def identity(shard: Shard) -> list[Any]:
    """The name of a shard, and values that tell its rows from others; None in their place if nothing does."""
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
