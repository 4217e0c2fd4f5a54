"""Rounds and shards on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .._figures import progress_bar


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
    """Yield a function to call whenever a shard has answered, which moves a bar and calls `on_progress`."""
    with progress_bar(shown, "starting", unit=" shards") as update:

        def watch(p: Progress) -> None:
            where = f"round {p.round}/{p.n_rounds}, {p.doing}" if p.round else p.doing
            update(p.n_done, description=where, total=p.n_shards, remark=p.remark)
            if on_progress is not None:
                on_progress(p)

        yield watch
