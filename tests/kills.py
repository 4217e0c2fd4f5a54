"""Kill commands at random moments, again and again: ``python tests/kills.py train --count 700``.

Each command runs once in peace, then is killed (SIGKILL) somewhere in reading, learning or writing and started again,
until one run gets through. Its model must be that of the run in peace, to the last bit, and nothing may lie beside the
outputs. Moments are counted in seconds of a processor, so a busy machine is as good as a quiet one. A seed repeats
them, not what a machine was doing at them.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from safetensors import safe_open

from thresher.cli import main as thresher

TABLE = "{data} --target rich --method arow --model model"
# What is run, and what is added when it is started again.
COMMANDS = {
    "train": (f"train {TABLE} --max-iter 8 --shuffle 999 --batch-size 250 --checkpoint-seconds 0.02", "--resume"),
    "tune": (f"tune {TABLE} --n-evaluations 8 --history history", ""),
    "auto": (f"auto {TABLE} --n-evaluations 4 --report report.html", ""),
}


def write_table(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("age,job,note,rich\n")
        for _ in range(n_rows):
            age, job = rng.normal(40, 10), rng.choice(["clerk", "cook", "smith", "judge"])
            rich = "yes" if age + 20 * (job == "judge") + rng.normal(0, 5) > 50 else "no"
            file.write(f"{age:.3f},{job},{rng.integers(1000)},{rich}\n")


def seconds_of(process: int) -> float:
    """The time of a processor that a process has had; infinite if it has ended."""
    try:
        used, *_ = Path(f"/proc/{process}/schedstat").read_text().split()
        ended = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return math.inf
    return math.inf if ended else int(used) / 1e9


def run(command: str, folder: Path, kill_after: float | None = None) -> int:
    """The exit code of a command in a process of its own: forked, because hundreds of cold starts would take long."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os._exit(thresher(command.split()))
    if kill_after is not None:
        while seconds_of(child) < kill_after:
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def learned(folder: Path) -> tuple[str, dict[str, bytes]]:
    """All that a model file says, less the seconds that evaluations took."""
    with safe_open(folder / "model", framework="numpy") as file:
        arrays = {key: file.get_tensor(key).tobytes() for key in file.keys()}  # noqa: SIM118
        return re.sub(r'"seconds": [^,}]+', "", file.metadata()["thresher"]), arrays


def attack(name: str, count: int, seed: int) -> list[str]:
    command, again = COMMANDS[name]
    choose, findings, kills = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as place:
        data, peace = Path(place, "rows.csv"), Path(place, "peace")
        write_table(data, 5000 if name == "train" else 400)
        command = command.format(data=data) + " --quiet"
        peace.mkdir()
        run(command, peace)  # reads what every run reads: modules, files
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run(command, peace) == 0
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        while kills < count:
            with tempfile.TemporaryDirectory() as here:
                folder, typed = Path(here), command
                while run(typed, folder, choose.uniform(0, 1.2 * seconds) if kills < count else None) < 0:
                    typed, kills = f"{command} {again}", kills + 1
                if sorted(os.listdir(folder)) != sorted(os.listdir(peace)):
                    findings.append(f"{name}: left {sorted(os.listdir(folder))} after {kills} kills")
                elif learned(folder) != learned(peace):
                    findings.append(f"{name}: another model after {kills} kills")
            print(f"{name}: {kills} kills, {len(findings)} findings", file=sys.stderr, flush=True)
    print(f"{name}: {kills} kills, {len(findings)} findings", *findings, sep="\n", flush=True)
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", help=f"which ones (default: {', '.join(COMMANDS)})")
    parser.add_argument("--count", type=int, default=20, help="kills of each")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = [attack(name, given.count, given.seed) for name in given.commands or COMMANDS]
    return any(found)


if __name__ == "__main__":
    sys.exit(main())
