"""What may be given as shards, and how it becomes some."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from ..streams import names_of, open_stream
from ._shards import Shard, array_shards, file_shards, is_place, place_of


def as_shards(
    shards: Any,
    y: Any = None,
    weight: Any = None,
    features: Any = None,
    n_shards: int | None = None,
    reading: dict[str, Any] | None = None,
    who: str = "fit",
) -> Sequence[Shard]:
    """Files, lists of arrays, Dask collections or a Spark data frame as shards, in order."""
    room = type(shards).__module__.partition(".")[0]
    if reading is not None:
        _check_reading(reading, who)
    if (room.startswith("dask") or room == "pyspark") and (reading or n_shards is not None):
        raise ValueError(f"{who}: reading and n_shards are about files, but the shards are those of {room}.")
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
            f"{who}: shards must be files, a list of arrays, a Dask array or data frame, or a Spark data frame, got "
            f"{type(shards).__name__ if not isinstance(shards, Sequence) else 'an empty list'}."
        )
    places = [is_place(each) for each in shards]
    if any(places) and not all(places):
        raise ValueError(f"{who}: shards must be all files, or all arrays.")
    if all(places):
        if y is not None or weight is not None or features is not None:
            raise ValueError(
                f"{who}: y, weight and features are for shards that are not files; say reading={{'target': ...}}."
            )
        return file_shards([place for each in shards for place in _places(each)], dict(reading or {}), n_shards)
    if reading:
        raise ValueError(f"{who}: reading is about files, but the shards are in memory.")
    if features is not None:
        raise ValueError(f"{who}: features is about data frames of Dask and Spark.")
    if n_shards is not None:
        raise ValueError(f"{who}: n_shards is about files; arrays are as many shards as there are in the list.")
    return array_shards(shards, y, weight, who)


def _check_reading(reading: Any, who: str) -> None:
    """Only how files are read: the order of rows and the passes are the rounds' affair."""
    if not isinstance(reading, dict):
        raise ValueError(f"{who}: reading must be a dict of arguments of open_stream, got {reading!r}.")
    ours = {"path", "max_iter", "shuffle", "random_state", "prefetch"}
    known = set(inspect.signature(open_stream).parameters) - ours
    for name in reading:
        if name not in known:
            raise ValueError(
                f"{who}: reading must hold arguments of open_stream but {', '.join(sorted(ours))}, got {name!r}."
            )


def _places(given: Any) -> list[str]:
    return [name if isinstance(name, str) else str(name.absolute()) for name in names_of(place_of(given))]
