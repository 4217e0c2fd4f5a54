"""What may be given as shards, and how it becomes some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..streams._files import names_of
from ._shards import Shard, array_shards, file_shards, is_place, place_of


def as_shards(
    shards: Any,
    y: Any = None,
    weight: Any = None,
    features: Any = None,
    n_shards: int | None = None,
    reading: dict[str, Any] | None = None,
) -> Sequence[Shard]:
    """Files, lists of arrays, Dask collections or a Spark data frame as shards, in order."""
    room = type(shards).__module__.partition(".")[0]
    if room.startswith("dask"):
        from ._dask_data import dask_shards

        return dask_shards(shards, y, weight, features)
    if room == "pyspark":
        from ._spark_frames import frame_shards

        return frame_shards(shards, y, weight, features)
    if is_place(shards):
        shards = [shards]
    if not isinstance(shards, Sequence) or not len(shards):
        raise ValueError(
            "fit: shards must be files, a list of arrays, a Dask array or data frame, or a Spark data frame, got "
            f"{type(shards).__name__ if not isinstance(shards, Sequence) else 'an empty list'}."
        )
    if all(is_place(each) for each in shards):
        if y is not None or weight is not None or features is not None:
            raise ValueError(
                "fit: y, weight and features are for shards that are not files; say reading={'target': ...}."
            )
        return file_shards([place for each in shards for place in _places(each)], dict(reading or {}), n_shards)
    if reading:
        raise ValueError("fit: reading is about files, but the shards are in memory.")
    if features is not None:
        raise ValueError("fit: features is about data frames of Dask and Spark.")
    if n_shards is not None:
        raise ValueError("fit: n_shards is about files; arrays are as many shards as there are in the list.")
    return array_shards(shards, y, weight)


def _places(given: Any) -> list[str]:
    return [name if isinstance(name, str) else str(name.absolute()) for name in names_of(place_of(given))]
