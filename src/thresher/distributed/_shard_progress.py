"""Rounds and shards on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._figures import terminal


class Progress(NamedTuple):
    """State of a run after a shard has answered."""

    doing: str
    """The work under way: a scan, a pass, sums."""
    round: int
    """Counted from 1; 0 before the first."""
    n_rounds: int
    n_done: int
    """Shards that have answered."""
    n_shards: int
    remark: str
    """Result of the last round, in words."""


Watch = Callable[[Progress], None]


@contextmanager
def watching(shown: bool, on_progress: Watch | None = None) -> Iterator[Watch]:
    """Yield a function to call whenever a shard has answered, which shows a bar and calls `on_progress`.

    There is no bar where standard error is not a terminal.
    """
    tell: Watch = on_progress or (lambda progress: None)
    console = terminal(shown)
    if console is None:
        yield tell
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} shards"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remark]}"),
    )
    with Bar(*columns, console=console) as bar:
        line = bar.add_task("starting", total=1, remark="")

        def watch(p: Progress) -> None:
            where = f"round {p.round}/{p.n_rounds}, {p.doing}" if p.round else p.doing
            bar.update(line, description=where, completed=p.n_done, total=p.n_shards, remark=p.remark)
            tell(p)

        yield watch
