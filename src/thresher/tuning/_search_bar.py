"""A bar on the terminal while a search runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._figures import terminal
from ._trials import Trials


@contextmanager
def bar(shown: bool, total: int) -> Iterator[Callable[[Trials], None]]:
    """Yield a function to call after every step. Show nothing where standard error is not a terminal."""
    console = terminal(shown)
    if console is None:
        yield lambda trials: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best {task.fields[best]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("tuning", total=total, best="-")

        def watch(trials: Trials) -> None:
            best = math.nan if trials.best is None else trials.best["score"]
            stage = trials.history[-1]["stage"]
            progress.update(task, completed=len(trials.history), description=stage, best=f"{best:.4f}")

        yield watch
