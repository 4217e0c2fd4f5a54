"""Columns of a table as users call them: by number or by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._format import Column


@dataclass(frozen=True)
class ColumnNames:
    """The names of a file's columns."""

    file: str
    names: Sequence[str]  # made unique
    header: Sequence[str] | None  # as they stand in the file; None if it has none

    def number(self, parameter: str, column: Any) -> int:
        """Return the number of a column, counted from 0."""
        n_columns = len(self.names)
        if isinstance(column, str):
            return self._number_of_name(parameter, column)
        known = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
        if not known or not -n_columns <= column < n_columns:
            rule = f"a column name or a number below {n_columns}"
            raise ValueError(f"{self.file}: {parameter} must be {rule}, got {column!r}.")
        return int(column) % n_columns

    def numbers(self, parameter: str, columns: Iterable[Column]) -> set[int]:
        """Return the numbers of several columns."""
        return {self.number(parameter, column) for column in columns}

    def _number_of_name(self, parameter: str, name: str) -> int:
        said = f"{self.file}: {parameter}={name!r}"
        if self.header is not None and self.header.count(name) > 1:
            raise ValueError(f"{said}, but several columns have this name; give a number.")
        if name in self.names:
            return list(self.names).index(name)
        if self.header is None:
            raise ValueError(f"{said} is a name, but the file has no header; give a column number.")
        close = difflib.get_close_matches(name, self.names, n=3)
        similar = f"; similar ones are {', '.join(close)}" if close else ""
        shown = ", ".join(self.names[:10]) + (", ..." if len(self.names) > 10 else "")
        raise ValueError(f"{said}, but no column has this name{similar}; the columns are {shown}.")
