"""Output of commands: progress on stderr while someone watches, results on stdout."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from . import fitted_to_screen, printable


class Screen:
    """Remarks and progress to stderr, results to stdout. Without a terminal, or when asked, progress is quiet."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.watched = sys.stderr.isatty() and not quiet

    def remark(self, sentence: str) -> None:
        if sentence and not self.quiet:
            print(fitted_to_screen(sentence), file=sys.stderr)

    def result(self, text: str, data: dict[str, Any]) -> None:
        from .._figures import plain

        print(json.dumps(plain(data), indent=2, allow_nan=False) if self.as_json else printable(text))

    @contextlib.contextmanager
    def progress(self, title: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
        """A bar; calling what it gives with the part done and a remark moves it."""
        if not self.watched:
            yield lambda done, remark: None
            return
        from rich.console import Console
        from rich.progress import Progress, TextColumn

        columns = (*Progress.get_default_columns(), TextColumn("{task.fields[remark]}"))
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(title, total=total or None, remark="")
            yield lambda done, remark: bar.update(task, completed=done, remark=remark)


class StopSignal:
    """Turns the first Ctrl-C (or SIGTERM) into a request to stop between two batches; the second is final.

    The first prints `remark`, for work that may go on for long.
    """

    def __init__(self, remark: str = "") -> None:
        self.asked = False
        self._remark = remark
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignal:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if self._remark:
            os.write(2, f"\n{self._remark}\n".encode())  # a handler must not print: it may interrupt a print

    def __call__(self) -> bool:
        return self.asked
