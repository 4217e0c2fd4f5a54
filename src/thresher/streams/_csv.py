"""CSV files of numbers: where the rows begin, what the columns are called, which one is the target."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .._params import Rule
from ._format import PathLike, Piece, Text, is_float32, require

Header = bool | Literal["auto"]

_LONGEST_FIRST_LINE = 1 << 26
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

header_rule = Rule('True, False or "auto"', lambda v: isinstance(v, bool) or v == "auto")
delimiter_rule = Rule(
    "one ASCII character that is no part of a number",
    lambda v: isinstance(v, str) and len(v) == 1 and v.isascii() and v not in '0123456789+-.eE"\r\n\0',
)


class CsvFormat:
    """CSV text to dense arrays, the target column kept apart. Opening it looks at the first line, which says how many
    columns there are and what they are called."""

    start: int
    first_line: int
    feature_names: list[str] | None

    def __init__(
        self,
        path: PathLike,
        n_features: int | None,
        target: int | str,
        header: Header,
        delimiter: str,
        dtype: DTypeLike,
    ) -> None:
        require("open_stream", "header", header_rule, header)
        require("open_stream", "delimiter", delimiter_rule, delimiter)
        self.delimiter = delimiter
        self.float32 = is_float32("open_stream", dtype)
        name = Path(path).name
        fields, next_line = self._look_at_first_line(path)
        self.n_columns = len(fields)
        if self.n_columns < 2:
            raise ValueError(
                f"{name}: a target and at least one feature are needed, but the first line has one field; "
                f"its fields are expected to be separated by {delimiter!r}."
            )
        if n_features is not None and n_features != self.n_columns - 1:
            raise ValueError(f"{name}: n_features={n_features}, but the file has {self.n_columns - 1} features.")
        names = None
        if header is True or (header == "auto" and not any(_is_number(field) for field in fields) and any(fields)):
            names = fields
            self.start, self.first_line = next_line, self.first_line + 1
        self.target = _column(name, target, names, self.n_columns)
        self.feature_names = names and names[: self.target] + names[self.target + 1 :]

    def _look_at_first_line(self, path: PathLike) -> tuple[list[str], int]:
        """Its fields, and the byte behind it. Sets `start` and `first_line` to where it stands."""
        name = Path(path).name
        blanks = b" \t\r\n".replace(self.delimiter.encode(), b"")
        with open(path, "rb") as file:
            self.start, self.first_line = 0, 1
            line = file.readline(_LONGEST_FIRST_LINE)
            if line.startswith(_BYTE_ORDER_MARK):
                self.start, line = len(_BYTE_ORDER_MARK), line[len(_BYTE_ORDER_MARK) :]
            while line and not line.strip(blanks):
                self.start, self.first_line = file.tell(), self.first_line + 1
                line = file.readline(_LONGEST_FIRST_LINE)
            next_line = file.tell()
        if not line:
            raise ValueError(f"{name}: the file has no rows.")
        if len(line) >= _LONGEST_FIRST_LINE:
            raise ValueError(f"{name}: the first line does not end within {_LONGEST_FIRST_LINE >> 20} MB.")
        text = line.decode("utf-8", errors="backslashreplace").rstrip("\r\n")
        try:
            padded = self.delimiter != " "
            fields = next(csv.reader([text], delimiter=self.delimiter, skipinitialspace=padded, strict=True))
        except csv.Error as problem:
            raise ValueError(f"{name}, line {self.first_line}: the first line cannot be read, {problem}.") from None
        return [field.strip() for field in fields], next_line

    def parse(self, text: Text, *, final: bool, first_line: int, max_rows: int, skip_malformed: bool) -> Piece:
        targets, values, consumed, lines, skipped = _core.parse_csv(
            text,
            n_columns=self.n_columns,
            final=final,
            first_line=first_line,
            delimiter=self.delimiter,
            target=self.target,
            float32=self.float32,
            skip_malformed=skip_malformed,
            max_rows=max_rows,
        )
        return Piece((targets, values), len(values), consumed, lines, skipped)

    def join(self, pieces: Sequence[Piece]) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
        targets, values = zip(*(piece.rows for piece in pieces), strict=True)
        if len(pieces) == 1:
            return values[0], targets[0]
        return np.concatenate(values), np.concatenate(targets)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _column(file: str, target: int | str, names: list[str] | None, n_columns: int) -> int:
    """The number of the target column, counted from 0."""
    if isinstance(target, str):
        if names is None:
            raise ValueError(f"{file}: target={target!r} is a name, but the file has no header; give a column number.")
        if names.count(target) != 1:
            trouble = "no column has this name" if target not in names else "several columns have this name"
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise ValueError(f"{file}: target={target!r}, but {trouble}; the columns are {shown}.")
        return names.index(target)
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not -n_columns <= target < n_columns:
        raise ValueError(f"{file}: target must be a column name or a number below {n_columns}, got {target!r}.")
    return int(target) % n_columns
