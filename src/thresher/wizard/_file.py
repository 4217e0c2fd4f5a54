"""The file that the wizard asks about."""

from __future__ import annotations

import functools
from typing import Any

from ..streams import open_stream
from ..training import Look, look

_BYTES = 1 << 23  # to look at; the dialogue must not keep anyone waiting


class DataFile:
    """A file: its columns if it is a table, and what its targets look like.

    Attributes
    ----------
    path : str
    columns : list of str
        Names of the columns of a table; empty for other files, whose targets have their own place.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            layout = open_stream(path).layout()
        except ValueError:  # a table of one column has no target
            layout = open_stream(path, target=None).layout()
        self.is_table: bool = "columns" in layout
        self.columns: list[str] = open_stream(path, target=None).layout()["columns"] if self.is_table else []
        self.look = functools.lru_cache(maxsize=8)(self._look)
        self.words = functools.lru_cache(maxsize=8)(self._words)

    def _look(self, target: str | None) -> Look:
        """The first rows; of a table, with a column as their target, or none."""
        options: dict[str, Any] = {"target": target} if self.is_table else {}
        return look(open_stream(self.path, **options), _BYTES)

    def _words(self, target: str | None) -> list[str]:
        """The columns of words beside the target; none of files that are no tables."""
        if not self.is_table:
            return []
        layout = open_stream(self.path, target=target).layout()
        return [name for name, kind in zip(layout["columns"], layout["kinds"], strict=True) if kind == "t"]
