"""Spark on this machine, alone or as a cluster from the jars of pyspark; rows for it; ways to die in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from thresher.distributed._engines import ShardTask
from thresher.distributed._spark import SparkEngine, spark_engine
from thresher.online import AROWClassifier
from thresher.streams import write_svmlight

N_SHARDS, N_ROWS, N_FEATURES = 4, 150, 8
_PATIENCE = 60.0  # seconds

# --- clusters ---------------------------------------------------------------------------------------------------------


@contextmanager
def session_at(master: str) -> Iterator[Any]:
    """A session as the engine itself would make it, of a Java that is quick to start."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("JDK_JAVA_OPTIONS", QUICK_JAVA)
        engine = spark_engine(master)
        assert isinstance(engine, SparkEngine)
        try:
            yield engine.session
        finally:
            engine.close()


QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def standalone(folder: Path, n_workers: int = 2) -> Iterator[str]:
    """The address of a master whose workers have one core each; all of it is gone at the end, whatever happens."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "JDK_JAVA_OPTIONS": QUICK_JAVA}
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> None:
        with (folder / f"{name}.log").open("wb") as log:
            command = [str(spark_class), *words]
            started.append(subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True))

    try:
        here = ("--host", "127.0.0.1", "--webui-port", "0")
        start("master", "org.apache.spark.deploy.master.Master", *here, "--port", "0")
        address = _wait_for(folder / "master.log", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)\n")
        for k in range(n_workers):
            limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{k}"))
            start(f"worker-{k}", "org.apache.spark.deploy.worker.Worker", *here, *limits, address)
        for k in range(n_workers):
            _wait_for(folder / f"worker-{k}.log", "Successfully registered with master")
        yield address
    finally:
        for process in reversed(started):  # executors are of their worker's group
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(log: Path, words: str) -> str:
    """What the last parentheses of a pattern hold, or all of it, when the log says it."""
    end = time.monotonic() + _PATIENCE
    while (found := re.search(words, log.read_text(errors="replace"))) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"{log.name} does not say {words!r}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
    return found[found.lastindex or 0]


# --- rows -------------------------------------------------------------------------------------------------------------


def some_blocks() -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and words for each shard."""
    rng = np.random.default_rng(5)
    w = rng.normal(size=N_FEATURES)
    found = []
    for _ in range(N_SHARDS):
        X = rng.normal(size=(N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < 0.6)
        found.append((X, np.where(X @ w + 0.3 * rng.normal(size=N_ROWS) > 0, "yes", "no")))
    return found


def files_of(blocks: list[tuple[np.ndarray, np.ndarray]], folder: Path) -> list[Path]:
    for i, (X, y) in enumerate(blocks):
        write_svmlight(folder / f"part-{i}.svm", sparse.csr_array(X), np.where(y == "yes", 1, -1))
    return sorted(folder.iterdir())


def frame_of(spark: Any, blocks: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    """One partition for each shard; columns f0, f1, ... and label."""
    rows = [(*map(float, x), str(label)) for X, y in blocks for x, label in zip(X, y, strict=True)]
    schema = ", ".join([*(f"f{j} double" for j in range(N_FEATURES)), "label string"])
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, N_SHARDS), schema).persist()


def same(a: Any, b: Any) -> bool:
    """To the bit, in everything that was learned."""
    x, y = ({name: values.tobytes() for name, values in each.state_.arrays.items()} for each in (a, b))
    return x == y


@dataclass(frozen=True)
class Moments:
    """A question with sums of many sizes, so that another order would show in the last bits."""

    power: float

    def answer(self, X: Any, y: Any, weight: Any) -> dict[str, np.ndarray]:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return {"sum": np.sum(np.abs(dense) ** self.power, axis=0), "product": dense.T @ dense, "n": np.asarray(len(y))}


# --- dying ------------------------------------------------------------------------------------------------------------


class Struck:
    """An engine one of whose processes is killed in the middle of a shard, once.

    Parameters
    ----------
    engine : Engine
    folder : Path
        An empty one.
    victim : str
        Name of the shard.
    n_run : int
        In which run, counted from 1.
    kill : callable
        Gets the process id of who works on the shard.
    """

    def __init__(self, engine: Any, folder: Path, victim: str, n_run: int, kill: Any) -> None:
        self.engine, self.victim, self.n_run, self.kill = engine, victim, n_run, kill
        self.note = folder / "pid"
        self.n_runs = 0

    def run(self, task: Any, shards: Any, on_done: Any) -> Iterator[Any]:
        self.n_runs += 1
        if self.n_runs != self.n_run:
            return self.engine.run(task, shards, on_done)
        Thread(target=self._strike, daemon=True).start()
        return self.engine.run(Halting(task, self.victim, self.note), shards, on_done)

    def _strike(self) -> None:
        while not self.note.exists():
            time.sleep(0.02)
        self.kill(int(self.note.read_text()))
        self.note.with_name("struck").touch()

    @property
    def struck(self) -> bool:
        return self.note.with_name("struck").exists()

    def close(self) -> None:
        self.engine.close()


@dataclass(frozen=True)
class Halting:
    """A task that stops behind the first piece of a shard and waits to be killed, the first time."""

    task: Any
    victim: str
    note: Path

    def __call__(self, shard: Any) -> Any:
        return self.task(HaltingShard(shard, self.note) if shard.name == self.victim else shard)


@dataclass(frozen=True)
class HaltingShard:
    shard: Any
    note: Path

    @property
    def name(self) -> str:
        return str(self.shard.name)

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[Any]:
        for piece in self.shard.batches(shuffle, seed):
            yield piece
            if not self.note.exists():
                fresh = self.note.with_suffix(".new")
                fresh.write_text(str(os.getpid()))
                fresh.rename(self.note)
                time.sleep(_PATIENCE)
                raise AssertionError("nobody came")


@dataclass(frozen=True)
class Deadly:
    """A task that no process survives, at one of the shards."""

    task: Any
    victim: str

    def __call__(self, shard: Any) -> Any:
        if shard.name == self.victim:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.task(shard)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def kill_executor(pid: int) -> None:
    """The Java process that a Python process works for."""
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    kill(pid)


# --- what goes wrong otherwise ----------------------------------------------------------------------------------------


class Unsendable(AROWClassifier):
    """A learner that holds on to what cannot travel."""

    def partial_fit(self, *args: Any, **options: Any) -> Any:
        self.lock = Lock()
        return super().partial_fit(*args, **options)


class Unreadable(ShardTask):
    """A task that fails behind the first rows as a disk would."""

    def work(self, shard: Any) -> Any:
        next(shard.batches())
        raise OSError("the words for it are missing.")
