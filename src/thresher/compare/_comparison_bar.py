"""A bar on the terminal while runs are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .._figures import terminal

_Run = TypeVar("_Run")


@contextmanager
def bar(shown: bool, total: int) -> Iterator[Callable[[], None]]:
    """Yields what to call after every run. Shows nothing where standard error is not a terminal."""
    console = terminal(shown)
    if console is None:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("runs", total=total)
        yield lambda: progress.advance(task)


def ticking(runs: Iterable[_Run], tick: Callable[[], None]) -> Iterator[_Run]:
    """The same runs; the bar moves with each."""
    for run in runs:
        tick()
        yield run
