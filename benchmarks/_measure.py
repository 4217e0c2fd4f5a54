"""CPU time, best of several repetitions that take turns."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPEATS = 7
SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Case:
    """What is timed: ``run(setup())``, without the ``setup``. Both are called anew for every repetition."""

    run: Callable[[Any], Any]
    setup: Callable[[], Any] = lambda: None


@dataclass
class Timing:
    """CPU seconds of every repetition, and what each returned."""

    seconds: list[float] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)


def take_turns(
    cases: Mapping[str, Case],
    repeats: int = REPEATS,
    *,
    keep_results: bool = False,
    keep: Callable[[Any], Any] | None = None,
) -> dict[str, Timing]:
    """Run all cases once, then all of them again, and so on, so that a slow moment of the machine hits all alike.

    ``keep`` says what is kept of a result. Large models are better not kept as they are: a virtual machine may take
    much longer to provide memory that was never in use than memory that a previous model has left."""
    timings = {name: Timing() for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            argument = case.setup()
            _until_quiet()
            begin = time.process_time()
            result = case.run(argument)
            timings[name].seconds.append(time.process_time() - begin)
            if keep_results:
                timings[name].results.append(result)
            elif keep is not None:
                timings[name].results.append(keep(result))
            del result
    return timings


def _until_quiet() -> None:
    """Threads that a library left waiting with a busy loop are not charged to another one."""
    while True:
        begin = time.process_time()
        time.sleep(0.02)
        if time.process_time() - begin < 0.002:
            return


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def memory_mb(what: str) -> float:
    """Resident memory in MB: ``VmRSS`` now, ``VmHWM`` at its peak. ``ru_maxrss`` would count the parent's, too."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[what].split()[0]) / 1024
