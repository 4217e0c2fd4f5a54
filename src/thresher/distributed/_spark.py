"""Shards on a Spark cluster."""

from __future__ import annotations

import os
import re
import socket
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ._dask import DaskBlock
from ._engines import Done, Engine, ShardError, ShardTask, packed
from ._shards import ArrayShard, Shard
from ._spark_frames import ask_partitions, check_runs

_POLL = 0.1  # seconds between two looks at how many tasks are done
_PATIENCE = 10  # seconds for a master to answer
_ONE_FAILURE = re.compile(r"local(\[(\d+|\*)\])?")
_LOST_TASK = re.compile(r"Task (\d+) in stage [\d.]+ failed (\d+) times")


def spark_engine(engine: Any) -> Engine:
    """The engine of a session, of the address of a master, or of ``"spark"``, the active session."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise ImportError('engine="spark" needs pyspark: pip install "thresher[spark]".') from None
    runs = SparkContext._active_spark_context is not None  # perhaps without a session, or with that of another thread
    active = SparkSession.builder.getOrCreate() if runs else None
    if not isinstance(engine, str):
        found = SparkEngine(engine)
    elif engine != "spark":
        found = _at_master(engine, active)
    elif active is None:
        raise ValueError(
            'fit: engine="spark" needs an active session, and there is none; start one, or give the address of a '
            'master such as engine="spark://host:7077" or "local[2,4]".'
        )
    else:
        found = SparkEngine(active)
    master = found.session.sparkContext.master
    if _ONE_FAILURE.fullmatch(master):
        warnings.warn(f"{master} stops when one process dies; local[2,4] retries failed tasks.", stacklevel=4)
    return found


def _at_master(master: str, active: Any) -> SparkEngine:
    """The active session at this address, or else a new one, which writes nothing to the terminal."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if active is not None:
        if active.sparkContext.master != master:
            raise ValueError(
                f"fit: engine={master!r}, but a session of {active.sparkContext.master} is active, and Spark allows "
                'only one; stop it, or give engine="spark".'
            )
        return SparkEngine(active)
    builder = SparkSession.builder.master(master).appName("thresher")
    options = {
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",  # no Java traceback if a process dies: it is tried again, or an error is raised
        "spark.driver.maxResultSize": "0",  # a model for each shard may well be more than a gigabyte
        **({"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"} if master.startswith("local") else {}),
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    _check_answers(master)
    with _same_python(), _half_of_memory():
        # First a Java without these options, which would stay with it, and with the user's next session.
        SparkContext._ensure_initialized()
        level = _log_level(SparkContext._jvm, "FATAL")
        try:
            return SparkEngine(builder.getOrCreate(), opened=True, log_level=level)
        except BaseException:
            _log_level(SparkContext._jvm, level)
            raise


def _log_level(java: Any, level: str) -> str:
    """Set the log level of Java; returns the one before."""
    log = java.org.apache.logging.log4j
    before = str(log.LogManager.getRootLogger().getLevel().toString())
    log.core.config.Configurator.setRootLevel(log.Level.valueOf(level))
    return before


def _check_answers(master: str) -> None:
    """Refuse a standalone master that cannot be reached; Spark itself takes a minute or more to notice."""
    kind, _, hosts = master.partition("://")
    problem: Exception | None = None
    for host in hosts.split(",") if kind == "spark" else ():
        name, _, port = host.rpartition(":")
        try:
            socket.create_connection((name.strip("[]"), int(port)), timeout=_PATIENCE).close()
            return
        except (OSError, ValueError) as error:
            problem = error
    if problem is not None:
        raise OSError(f"{master}: no Spark master answers there ({type(problem).__name__}).")


@contextmanager
def _half_of_memory() -> Iterator[None]:
    """Let a new Java use half of the memory, unless its options are given: one gigabyte, Spark's default, is soon full
    of models."""
    name, own = "PYSPARK_SUBMIT_ARGS", {"PYSPARK_SUBMIT_ARGS", "SPARK_DRIVER_MEMORY"}
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 31 if hasattr(os, "sysconf") else 0
    if own & os.environ.keys() or size < 2:
        yield
        return
    os.environ[name] = f"--driver-memory {size}g pyspark-shell"
    try:
        yield
    finally:
        del os.environ[name]


@contextmanager
def _same_python() -> Iterator[None]:
    """Let Spark run the Python of the driver, unless the environment names another."""
    named = "PYSPARK_PYTHON" in os.environ
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        yield
    finally:
        if not named:
            del os.environ["PYSPARK_PYTHON"]


class SparkEngine(Engine):
    """Tasks as a Spark job, one for each shard.

    Spark tries a task again when its process dies, ``spark.task.maxFailures`` times in all. A session that was opened
    for the run is stopped at the end, and the log level of Java restored.
    """

    is_spark = True

    def __init__(self, session: Any, *, opened: bool = False, log_level: str | None = None) -> None:
        if not hasattr(session, "sparkContext") or "connect" in type(session).__module__:
            raise ValueError(
                f"fit: the Spark session must be one on the driver, not one of Spark Connect, got {type(session)}."
            )
        check_runs(session)
        self.session, self._opened, self._log_level = session, opened, log_level
        self._held: tuple[list[Shard], Any] | None = None

    def run(self, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        from pyspark import cloudpickle

        # The task is sent once to each machine, not to each shard.
        sent = self.session.sparkContext.broadcast(packed(task, cloudpickle.dumps))
        try:
            work = partial(_work, sent)
            collect = ask_partitions(shards, work) or self._held_rows(shards).map(work).collect
            names = {getattr(shard, "number", place): shard.name for place, shard in enumerate(shards)}
            results = self._watched(collect, names, on_done)
        finally:
            with suppress(Exception):  # a Spark that has gone holds nothing
                sent.destroy()
        for place, result in enumerate(results):
            results[place] = b""
            yield cloudpickle.loads(result)

    def _held_rows(self, shards: Sequence[Shard]) -> Any:
        """The shards as an RDD, one in each partition. Rows in memory travel once."""
        if any(isinstance(shard, DaskBlock) for shard in shards):
            raise ValueError('fit: Dask collections are read by Dask or in this process; choose engine="dask".')
        if self._held is None or list(map(id, self._held[0])) != list(map(id, shards)):
            self._let_go()
            rows = self.session.sparkContext.parallelize(shards, len(shards))
            if any(isinstance(shard, ArrayShard) for shard in shards):
                from pyspark import StorageLevel

                rows.persist(StorageLevel.MEMORY_AND_DISK)
            self._held = (list(shards), rows)
        return self._held[1]

    def _let_go(self) -> None:
        if self._held is not None and self._held[1].is_cached:
            self._held[1].unpersist()
        self._held = None

    def _watched(self, collect: Callable[[], list[bytes]], names: dict[int, str], on_done: Done) -> list[bytes]:
        """Collect the results of a job, which runs in a thread while this one reports progress."""
        from pyspark import InheritableThread

        context, group = self.session.sparkContext, f"thresher-{uuid.uuid4().hex}"
        results: list[bytes] = []
        problems: list[Exception] = []

        def job() -> None:
            context.setJobGroup(group, f"thresher: {len(names)} shards")
            try:
                results.extend(collect())
            except Exception as problem:
                problems.append(problem)

        thread = InheritableThread(target=job, daemon=True)
        thread.start()
        n_done = 0
        try:
            while thread.is_alive():
                thread.join(_POLL)
                n_now = min(self._n_done(group, len(names)), len(names) - 1)
                if n_now > n_done:
                    n_done = n_now
                    on_done(n_done)
        except BaseException:  # interrupted
            with suppress(Exception):
                context.cancelJobGroup(group)
            raise
        if problems:
            raise _as_shard_error(problems[0], names) from None
        on_done(len(names))
        return results

    def _n_done(self, group: str, n_shards: int) -> int:
        """Finished tasks of the last stage, which is the one that works on shards."""
        try:
            tracker = self.session.sparkContext.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        except Exception:  # the job itself will raise a better one
            return 0
        ours = [stage for stage in stages if stage and stage.numTasks == n_shards]
        return max(ours, key=lambda stage: stage.stageId).numCompletedTasks if ours else 0

    def close(self) -> None:
        self._let_go()
        if not self._opened:
            return
        java = self.session.sparkContext._jvm
        self.session.stop()
        if self._log_level is not None:
            with suppress(Exception):  # Java may have ended
                _log_level(java, self._log_level)


def _work(sent: Any, shard: Shard) -> bytes:
    """The result of a task that was sent, for the worker that has a shard."""
    from pyspark import cloudpickle

    task = cloudpickle.loads(sent.value)  # a process works on many shards, and none may affect the next
    return packed(task(shard), cloudpickle.dumps)


def _as_shard_error(problem: Exception, names: dict[int, str]) -> Exception:
    """Spark's error, with the name of the shard if it names the partition."""
    text = str(problem)
    lost = _LOST_TASK.search(text)
    if lost is None or int(lost[1]) not in names:
        return RuntimeError(f"fit: Spark gave up: {_reason(text)}")
    tried = "once" if lost[2] == "1" else f"{lost[2]} times"
    return ShardError(names[int(lost[1])], f"Spark tried it {tried}, at last: {_reason(text)}")


def _reason(text: str) -> str:
    """The one line with the reason, among many of Java: Python's error, or else Spark's."""
    before_java = re.split(r"\n\s*(?:at |Driver stacktrace)", text, maxsplit=1)[0].strip()
    last = before_java.splitlines()[-1] if before_java else text
    reason = re.split(r"Lost task .*? executor \S+\): (?:org\.apache\.spark\.SparkException: )?", last)[-1]
    return " ".join(reason.split())[:300]
