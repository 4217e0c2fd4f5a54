"""Engines, which run a task on every shard: in this process, or on an existing Dask or Spark cluster."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._engine import one_blas_thread
from ._shards import Shard

_ATTEMPTS = 3  # to read a shard: errors of networks are often temporary

_SPARK = re.compile(r"spark://.+|local(\[.+\])?|local-cluster\[.+\]")

Done = Callable[[int], None]


class ShardError(RuntimeError):
    """A shard was lost: its rows could not be read, or every worker that read it died.

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


class ShardTask:
    """Work on one shard. It is sent with what it holds; the same shard gives the same bits on every machine.

    Where the work fails, the result is a :class:`ShardError`, which is raised by the driver.
    """

    def __call__(self, shard: Shard) -> Any:
        attempts = 1 if getattr(shard, "read_once", False) else _ATTEMPTS
        for attempt in range(1, attempts + 1):
            try:
                with one_blas_thread():
                    return self.work(shard)
            except Exception as error:
                if not isinstance(error, OSError) or attempt == attempts:
                    expected = isinstance(error, (OSError, ValueError)) and str(error)
                    return ShardError(shard.name, expected or f"{type(error).__name__}: {error}")
                time.sleep(0.025 * 4**attempt)

    def work(self, shard: Shard) -> Any:
        raise NotImplementedError


class Engine:
    """A place where tasks run."""

    is_spark = False

    def run(self, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        """Yield ``task(shard)`` in the order of the shards; call `on_done` with the number of results so far."""
        raise NotImplementedError

    def close(self) -> None:
        """Close everything that the engine itself opened."""


class SerialEngine(Engine):
    """All shards in this process, one after the other; every other engine must give the same results."""

    def run(self, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        for n_done, shard in enumerate(shards, start=1):
            result = task(shard)
            on_done(n_done)
            yield result


def results_of(engine: Engine, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
    """The results of a task on shards, in their order; the first failure is raised."""
    if not getattr(engine, "is_spark", True) and any(getattr(shard, "read_by_spark", False) for shard in shards):
        raise ValueError('fit: a Spark data frame is read by Spark: choose engine="spark" or its session.')
    for result in engine.run(task, shards, on_done):
        if isinstance(result, ShardError):
            raise result
        yield result


def packed(thing: Any, dumps: Callable[[Any], bytes]) -> bytes:
    """A task or shard as bytes, by the pickle of the cluster; the error names what cannot be sent."""
    try:
        return dumps(thing)
    except Exception as problem:
        held = (getattr(thing, each, None) for each in ("model", "pipeline", "question"))
        about = type(next((each for each in held if each is not None), thing)).__name__
        raise ValueError(f"fit: {about} cannot be sent to workers, {type(problem).__name__}: {problem}.") from problem


def engine_of(engine: Any) -> Engine:
    """The engine for a name, an address, a Dask client or a Spark session; one of ours as it is."""
    address = engine if isinstance(engine, str) else ""
    if engine is None or address == "serial":
        return SerialEngine()
    kind = type(engine).__module__.partition(".")[0]
    if kind in ("distributed", "dask") or address == "dask" or address.startswith(("dask://", "tcp://", "tls://")):
        from ._dask import dask_engine

        return dask_engine(engine)
    if kind == "pyspark" or address == "spark" or _SPARK.fullmatch(address):
        from ._spark import spark_engine

        return spark_engine(engine)
    if hasattr(engine, "run") and hasattr(engine, "close"):
        return engine
    raise ValueError(
        'fit: engine must be "serial", "dask", "spark", an address such as dask://host:port, spark://host:port or '
        f"local[2,4], a Dask client or a Spark session, got {engine!r}."
    )
