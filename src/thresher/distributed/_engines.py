"""What runs a task on every shard. No scheduler, queue or transport of our own: a cluster that is there is used."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .._engine import one_blas_thread
from ._shards import Shard

_ATTEMPTS = 3  # at a shard that cannot be read: files on a network come back

_SPARK = re.compile(r"spark://.+|local(\[.+\])?|local-cluster\[.+\]")

Done = Callable[[int], None]


class ShardError(RuntimeError):
    """A shard was lost: its rows could not be read, or whoever read it died every time.

    Attributes
    ----------
    shard : str
        Its name.
    """

    def __init__(self, shard: str, words: str) -> None:
        super().__init__(f"the shard {shard!r} was lost: {words}")
        self.shard = shard
        self.words = words

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardError, (self.shard, self.words)


@dataclass(frozen=True)
class Failure:
    """What a task returns of a shard that it could not read; it travels better than an exception."""

    shard: str
    words: str


class Task:
    """Work on one shard. It travels with what it holds; the same shard gives the same bits, wherever that is."""

    def __call__(self, shard: Shard) -> Any:
        for attempt in range(_ATTEMPTS):
            try:
                with one_blas_thread():
                    return self.work(shard)
            except OSError as error:
                if attempt + 1 == _ATTEMPTS:
                    return Failure(shard.name, str(error))
                time.sleep(0.1 * 4**attempt)
            except ValueError as refusal:
                return Failure(shard.name, str(refusal))
            except Exception as error:
                return Failure(shard.name, f"{type(error).__name__}: {error}")

    def work(self, shard: Shard) -> Any:
        raise NotImplementedError


class Engine(Protocol):
    """Where tasks run."""

    def run(self, task: Task, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        """``task(shard)`` for every shard; results in the order of the shards, `on_done` is told how many there are."""
        ...

    def close(self) -> None:
        """Let go of what the engine itself opened."""
        ...


class SerialEngine:
    """All shards in this process, one after the other: what every other engine must equal."""

    def run(self, task: Task, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        refuse_spark_frames(shards)
        for n_done, shard in enumerate(shards, start=1):
            result = task(shard)
            on_done(n_done)
            yield result

    def close(self) -> None:
        """Nothing was opened."""


def refuse_spark_frames(shards: Sequence[Shard]) -> None:
    if any(getattr(shard, "read_by_spark", False) for shard in shards):
        raise ValueError('fit: a Spark data frame is read by Spark: choose engine="spark" or its session.')


def engine_of(engine: Any) -> Engine:
    """The engine that is meant: one of ours, a Dask client, a Spark session, or the address of either."""
    if engine is None or (isinstance(engine, str) and engine == "serial"):
        return SerialEngine()
    kind = type(engine).__module__.partition(".")[0]
    address = engine if isinstance(engine, str) else ""
    if kind in ("distributed", "dask") or address == "dask" or address.startswith(("dask://", "tcp://", "tls://")):
        from ._dask import dask_engine

        return dask_engine(engine)
    if kind == "pyspark" or address == "spark" or _SPARK.fullmatch(address):
        from ._spark import spark_engine

        spark: Engine = spark_engine(engine)
        return spark
    if hasattr(engine, "run") and hasattr(engine, "close"):
        found: Engine = engine
        return found
    raise ValueError(
        'fit: engine must be "serial", "dask", "spark", an address such as dask://host:port, spark://host:port or '
        f"local[2,4], a Dask client or a Spark session, got {engine!r}."
    )
