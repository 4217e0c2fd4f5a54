"""A standalone Spark cluster on this machine, from the jars of pyspark, and ways to die in the middle of work."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

_PATIENCE = 60.0  # seconds


@contextmanager
def standalone(folder: Path, n_workers: int = 2) -> Iterator[str]:
    """The address of a master whose workers have one core each; all of it is gone at the end, whatever happens."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> None:
        with (folder / f"{name}.log").open("wb") as log:
            command = [str(spark_class), *words]
            started.append(subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True))

    try:
        here = ("--host", "127.0.0.1", "--webui-port", "0")
        start("master", "org.apache.spark.deploy.master.Master", *here, "--port", str(port))
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


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(log: Path, words: str) -> None:
    end = time.monotonic() + _PATIENCE
    while words not in log.read_text(errors="replace"):
        if time.monotonic() > end:
            raise TimeoutError(f"{log.name} does not say {words!r}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


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

    def pieces(self, shuffle: int = 0, seed: int = 0) -> Iterator[Any]:
        for piece in self.shard.pieces(shuffle, seed):
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
