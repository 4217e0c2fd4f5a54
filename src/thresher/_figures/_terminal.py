"""Progress on the terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(shown: bool, title: str, total: int = 1, unit: str = "") -> Iterator[Callable[..., None]]:
    """Show a bar on standard error, if it is a terminal.

    Yields a function that moves it: ``update(completed, description=..., total=..., remark=...)``.
    """
    if not shown or not (console := _console()).is_terminal:
        yield lambda completed, **fields: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.completed:.0f}}/{{task.total:.0f}}{unit}"),
        TextColumn("{task.fields[remark]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=total, remark="")
        yield lambda completed, **fields: bar.update(task, completed=completed, **fields)


@contextmanager
def progress_lines(shown: bool, title: str, every: float = 10.0) -> Iterator[Callable[[str], None]]:
    """Print a line about the progress every few seconds, above a bar if there is one.

    Yields a function that is told what is being done.
    """
    if not shown:
        yield lambda doing: None
        return
    doing, over, begin = [""], threading.Event(), time.monotonic()

    def report() -> None:
        while not over.wait(every):
            print(f"{title}: {time.monotonic() - begin:.0f} s, {doing[0]}", file=sys.stderr, flush=True)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield lambda now: doing.__setitem__(0, now)
    finally:
        over.set()
        thread.join()


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
