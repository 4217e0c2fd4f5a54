"""A measurement in a child that starts with all that the parent has loaded: its own CPU time, wall time and memory.

A child by fork costs milliseconds and shares rows and libraries with the parent, so memory counts from where it starts:
what learning takes beside the rows. Nothing may hold threads when it forks.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from ._measure import memory_mb


class Run(NamedTuple):
    """What one child met."""

    cpu: float
    wall: float
    extra_mb: float  # at the peak, above the start
    result: Any


class Clock:
    """CPU and wall time while it runs; may stop and go on."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __enter__(self) -> Clock:
        self._begin = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time() - self._begin[0]
        self.wall += time.perf_counter() - self._begin[1]


def forked(work: Callable[[Clock], Callable[[], Any]]) -> Run:
    """``work`` uses the clock around what counts and returns a function, called afterwards, whose result is sent."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, there))
    child.start()
    there.close()
    try:
        said = here.recv()
    except EOFError:
        said = "the child died."
    child.join()
    if isinstance(said, str):
        raise RuntimeError(said)
    return Run(*said)


def _child(work: Callable[[Clock], Callable[[], Any]], out: Connection) -> None:
    try:
        clock, start = Clock(), memory_mb("VmRSS")
        finish = work(clock)
        peak = memory_mb("VmHWM") - start
        out.send((clock.cpu, clock.wall, peak, finish()))
    except Exception:
        out.send(traceback.format_exc())


def in_turns(works: Mapping[str, Callable[[Clock], Callable[[], Any]]], repeats: int) -> dict[str, list[Run]]:
    """All of them once, then all again, and so on; each a child of its own."""
    runs: dict[str, list[Run]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            runs[name].append(forked(work))
    return runs


def best_cpu(runs: list[Run]) -> float:
    return min(run.cpu for run in runs)


def memory(runs: list[Run]) -> float:
    return float(np.median([run.extra_mb for run in runs]))
