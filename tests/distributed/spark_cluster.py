"""A standalone Spark cluster on this machine: a master and workers, from the jars that pyspark brings."""

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

_PATIENCE = 60.0  # seconds


@dataclass(frozen=True)
class Cluster:
    address: str
    workers: list[int]

    def executors(self) -> list[int]:
        """Process ids of the executors, which are children of the workers."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    if parent in self.workers and b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                        found.append(int(entry.name))
        return found


@contextmanager
def standalone(folder: Path, n_workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each; all of it is gone at the end, whatever happens."""
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
        _wait_for(folder / "master.log", "I have been elected leader")
        for k in range(n_workers):
            limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{k}"))
            start(f"worker-{k}", "org.apache.spark.deploy.worker.Worker", *here, *limits, address)
        for k in range(n_workers):
            _wait_for(folder / f"worker-{k}.log", "Successfully registered with master")
        yield Cluster(address, [process.pid for process in started[1:]])
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
