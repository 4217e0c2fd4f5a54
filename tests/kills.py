"""Kill commands at random moments, again and again: ``python tests/kills.py train=700 auto=120 dask-workers=25``.

Each command runs once in peace, then something of it is killed (SIGKILL): the command itself, which is started again
until one run gets through, or one of the processes that work for it, which it must survive. The model must be that of
the run in peace, to the last bit, and nothing may lie beside the outputs.

Half of the moments at which commands die are operations on files, just before one is opened for writing, renamed or
deleted; the others may be anywhere. Those are counted in seconds of a processor, so a busy machine is as good as a
quiet one; where others do the work, in seconds. A seed repeats them, not what a machine was doing at them.
"""

from __future__ import annotations

import argparse
import math
import mmap
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"  # commands are forked, and other threads of this process are not there then

import numpy as np
from safetensors import safe_open

from spark_cluster import QUICK_JAVA, standalone
from thresher.cli import main as thresher

# --- what is killed ---------------------------------------------------------------------------------------------------


@contextmanager
def dask_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, which are started again where they die."""
    found = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> None:
        with (folder / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words, *found]
            started.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0")
        start("worker", "--nworkers", "2", "--nthreads", "1")
        while (said := re.search(r"tcp://[\d.:]+", (folder / "scheduler.log").read_text())) is None:
            time.sleep(0.1)
        yield said[0].replace("tcp:", "dask:")
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def on_this_machine(folder: Path) -> AbstractContextManager[str]:
    return nullcontext("local[2,4]")


@dataclass(frozen=True)
class Target:
    """A command, and who is to die."""

    command: str
    again: str = ""
    """What is added when it is started again."""
    n_rows: int = 500
    methods: tuple[str, ...] = ("arow",)
    cluster: Callable[[Path], AbstractContextManager[str]] | None = None
    victim: str = ""
    """A word in the command line of the processes that may be killed; empty if it is the command itself."""
    most: int = 1
    """Kills in one run."""


TABLE = "{data} --target rich --method {method} --model model --quiet"
TRAIN = f"train {TABLE} --max-iter 4 --shuffle 999 --batch-size 250 --checkpoint-seconds 0.01"
ROUNDS = f"train {TABLE} --n-rounds 4 --engine {{engine}}"
MANY_ROUNDS = ROUNDS.replace("--n-rounds 4", "--n-rounds 30")
STREAMED = ("arow", "ftrl", "pegasos", "l1rda", "scw", "sofs", "reweightedl1rda", "leastsquares")
ENGINES = ("arow", "bcw --mode sums")  # rounds of passes, and of sums
TARGETS = {
    "train": Target(TRAIN, "--resume", 2000, STREAMED),
    "tune": Target(f"tune {TABLE} --n-evaluations 8 --history history", n_rows=200),
    "auto": Target(f"auto {TABLE} --n-evaluations 4 --cv 2 --report report.txt", n_rows=60),
    "dask-drivers": Target(ROUNDS, "--resume", methods=ENGINES, cluster=dask_cluster),
    "dask-workers": Target(ROUNDS, methods=ENGINES, cluster=dask_cluster, victim="spawn_main"),
    "spark-drivers": Target(ROUNDS, "--resume", cluster=on_this_machine),
    "spark-workers": Target(MANY_ROUNDS, cluster=on_this_machine, victim="pyspark.daemon", most=5),
    "spark-executors": Target(MANY_ROUNDS, cluster=standalone, victim="ExecutorBackend", most=3),
}


def write_tables(folder: Path, n_files: int, n_rows: int) -> str:
    """Tables with numbers and words, as a pattern."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for number in range(n_files):
        with (folder / f"{number}.csv").open("w") as file:
            file.write("age,job,note,rich\n")
            for _ in range(n_rows):
                age, job = rng.normal(40, 10), rng.choice(["clerk", "cook", "smith", "judge"])
                rich = "yes" if age + 20 * (job == "judge") + rng.normal(0, 5) > 50 else "no"
                file.write(f"{age:.3f},{job},{rng.integers(1000)},{rich}\n")
    return str(folder / "*.csv")


# --- running and killing ----------------------------------------------------------------------------------------------

WRITES = np.frombuffer(mmap.mmap(-1, 8), np.int64)  # how many files a run has opened for writing, renamed or deleted


def die_at_write(last: float) -> None:
    """Kill this process before it touches a file for the `last` time; counts how often it does."""
    WRITES[0] = 0

    def look(event: str, about: tuple[Any, ...]) -> None:
        if event in ("os.rename", "os.remove") or (event == "open" and about[2] & (os.O_WRONLY | os.O_RDWR)):
            WRITES[0] += 1
            if WRITES[0] >= last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def start(command: str, folder: Path, said: Path, last_write: float = math.inf) -> int:
    """A command in a process of its own: forked, because hundreds of cold starts would take long."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.chdir(folder)
            words = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(words, 1)
            os.dup2(words, 2)
            die_at_write(last_write)
            code = thresher(command.split())
        finally:
            os._exit(code)
    return child


def seconds_of(process: int) -> float:
    """The time of a processor that a process has had; infinite if it has ended."""
    try:
        used, *_ = Path(f"/proc/{process}/schedstat").read_text().split()
        ended = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return math.inf
    return math.inf if ended else int(used) / 1e9


def workers(word: str) -> list[int]:
    """Processes below this one with a word in their command lines."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if word in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return sorted(each for each in found if os.getpid() in ancestors(each, parents))


def ancestors(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process in parents:
        process = parents[process]
        yield process


def end_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@dataclass
class Attack:
    """A command that was run in peace, and all that happens to it afterwards."""

    target: Target
    command: str
    peace: Path
    choose: random.Random

    def __post_init__(self) -> None:
        self.said = self.peace.with_suffix(".said")
        self.peace.mkdir()
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        assert end_of(start(self.command, self.peace, self.said)) == 0, self.said.read_text()
        after, self.seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
        self.n_writes = int(WRITES[0])
        if self.target.cluster is None:
            self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def chain(self, folder: Path, most: int) -> tuple[int, str]:
        """Runs until one gets through; returns how many kills there were, at most so many, and what is wrong."""
        n_kills, typed = 0, self.command
        while True:
            code, n = self._run(typed, folder, min(most - n_kills, self.target.most))
            n_kills += n
            if code == 0:
                return n_kills, self._difference(folder)
            if code > 0 or self.target.victim:
                return n_kills, f"ended with {code}: {self.said.read_text()[-500:]}"
            typed = f"{self.command} {self.target.again}"

    def _run(self, typed: str, folder: Path, most: int) -> tuple[int, int]:
        """The exit code of a run, and how often something of it was killed."""
        if most and not self.target.victim and self.choose.random() < 0.5:
            code = end_of(start(typed, folder, self.said, self.choose.randint(1, self.n_writes)))
            return code, int(code == -signal.SIGKILL)
        child, begin, n_kills = start(typed, folder, self.said), time.monotonic(), 0
        moment = self._pause()
        while n_kills < most and (used := seconds_of(child)) < math.inf:
            left = moment - (used if self.target.cluster is None else time.monotonic() - begin)
            if left <= 0:
                there = workers(self.target.victim) if self.target.victim else [child]
                for one in there and [self.choose.choice(there)]:
                    os.kill(one, signal.SIGKILL)
                    n_kills += 1
                    moment += self._pause()
            time.sleep(max(0.001, min(left, 0.5)))  # a processor gives no more than a second of its time in a second
        return end_of(child), n_kills

    def _pause(self) -> float:
        return self.choose.uniform(0, 1.1 * self.seconds / self.target.most)

    def _difference(self, folder: Path) -> str:
        left, expected = (sorted(os.listdir(each)) for each in (folder, self.peace))
        if left != expected:
            return f"left {left}, not {expected}"
        return "" if learned(folder) == learned(self.peace) else "another model"


def learned(folder: Path) -> tuple[str, dict[str, bytes]]:
    """All that a model file says, less the seconds that it took."""
    with safe_open(folder / "model", framework="numpy") as file:
        arrays = {key: file.get_tensor(key).tobytes() for key in file.keys()}  # noqa: SIM118
        return re.sub(r'"seconds": [^,}]+', "", file.metadata()["thresher"]), arrays


def attack(name: str, count: int, seed: int) -> list[str]:
    target, choose = TARGETS[name], random.Random(seed)
    findings: list[str] = []
    kills = 0
    with tempfile.TemporaryDirectory() as place, (target.cluster or no_cluster)(Path(place)) as engine:
        n_files = 1 if target.cluster is None else 4
        few, many = (write_tables(Path(place, name), n_files, n) for name, n in (("few", 60), ("many", target.n_rows)))
        attacks = []
        for method in target.methods:
            import_all(target.command.format(data=few, method=method, engine="serial"), Path(place))
            command = target.command.format(data=many, method=method, engine=engine)
            attacks.append(Attack(target, command, Path(place, method), choose))
        while kills < count:
            with tempfile.TemporaryDirectory() as folder:
                attacked = choose.choice(attacks)
                n, wrong = attacked.chain(Path(folder), min(count - kills, 5))
                kills += n
                if wrong:
                    findings.append(f"{name}, after {n} kills: {wrong} ({attacked.command})")
                    print(findings[-1], flush=True)
            print(f"{name}: {kills} kills, {len(findings)} findings", file=sys.stderr, flush=True)
    print(f"{name}: {kills} kills, {len(findings)} findings", flush=True)
    return findings


def no_cluster(folder: Path) -> AbstractContextManager[str]:
    return nullcontext("")


def import_all(command: str, folder: Path) -> None:
    """Run a command on few rows in this process, so that no fork has to import what it needs."""
    if "--engine" in command:
        import pyspark.sql  # noqa: F401

        import distributed  # noqa: F401

    here = os.getcwd()
    with tempfile.TemporaryDirectory(dir=folder) as outputs, open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        os.chdir(outputs)
        assert thresher(command.split()) == 0
        os.chdir(here)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"NAME or NAME=COUNT, of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--count", type=int, default=20, help="kills of each that has no count of its own")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": QUICK_JAVA}
    found = []
    for words in given.targets or TARGETS:
        name, _, count = words.partition("=")
        found += attack(name, int(count or given.count), given.seed)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
