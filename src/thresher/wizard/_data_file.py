"""The file that the questions are about: its columns, what a look at them found, and what is in doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from .._figures import plural, wrapped
from .._gate import ColumnFound, Text
from ..report import columns_as_text, file_in_words, text_in_words
from ..streams import Stream, open_stream
from ..training import Look, Profile, look, profile

_BYTES = 1 << 23  # to look at for the targets; the dialogue must respond quickly
_ASKED = ("leak", "skipped")  # kinds of warnings that are questions of their own
_USELESS = ("empty", "constant", "duplicated_columns")  # kinds of warnings of columns that are left out by default


class DataFile:
    """A file: its columns if it is a table, and what was found out about them.

    Attributes
    ----------
    path : str
    is_table : bool
    columns : list of str
        Names of the columns of a table; empty for other files, whose targets have their own place.
    usual_target : str or None
        The column that is to be predicted if none is named.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._kept: dict[Any, Any] = {}
        try:
            stream = open_stream(path)
        except ValueError:  # a table of one column has no target
            stream = open_stream(path, target=None)
        self.is_table: bool = stream.understood is not None  # documents and sparse rows have no choice of columns
        self.columns: list[str] = list(self.stream(None).columns or ()) if self.is_table else []
        self.usual_target: str | None = stream.layout().get("target")

    def stream(self, target: str | None, reading: Mapping[str, Any] = {}) -> Stream:
        """The file with a column as its target, or none; `reading` are other options of ``open_stream``."""
        named: dict[str, Any] = {"target": target} if self.is_table else {}
        return open_stream(self.path, **named, **reading)

    def profile(self, target: str | None, reading: Mapping[str, Any] = {}) -> Profile:
        """Return the profile that ``thresher look`` shows; malformed lines are counted."""
        options = {**reading, "skip_malformed": True}
        return self._once("profile", target, options, lambda: profile(self.stream(target, options)))

    def look(self, target: str | None, reading: Mapping[str, Any] = {}) -> Look:
        """The first rows, and what their targets are."""
        options = {**reading, "skip_malformed": True}
        return self._once("look", target, options, lambda: look(self.stream(target, options), _BYTES))

    def words(self, target: str | None, reading: Mapping[str, Any] = {}) -> list[str]:
        """The text columns besides the target; none for files that are not tables."""
        if not self.is_table:
            return []
        layout = self._once("layout", target, reading, lambda: self.stream(target, reading).layout())
        return [name for name, kind in zip(layout["columns"], layout["kinds"], strict=True) if kind == "t"]

    def doubts(self, parameter: str, left_out: list[str]) -> dict[str, ColumnFound]:
        """The columns that a parameter of ``open_stream`` would read in another way, if that is not certain."""
        if not self.is_table:
            return {}
        understood = self._once("understood", None, {}, lambda: self.stream(None).understood)
        found = {} if understood is None else understood.columns
        return {
            name: each
            for name, each in found.items()
            if each.option is not None and each.option[0] == parameter and name not in left_out
        }

    def readings(self, parameter: str, name: str, found: ColumnFound) -> list[tuple[str, str]]:
        """The two ways to read the value in doubt of a column: what it is, and the value of the parameter."""
        _, other_way = found.option or ("", "")
        other = self.stream(None, {parameter: other_way}).understood
        ways = [(found, ""), (found if other is None else other.columns[name], other_way)]
        return [(_value(each, found.in_doubt), way) for each, way in ways]

    def _once(self, what: str, target: str | None, options: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        key = (what, target, repr(sorted(options.items())))
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def _value(found: ColumnFound, written: str) -> str:
    """Return the value of a written number or date."""
    value = float(found.reading.values(Text.from_list([written]))[0][0])
    if found.reading.kind != "date":
        return f"{value:.12g}"
    day = date(1970, 1, 1) + timedelta(days=value)
    return f"{day.day} {day:%B} {day.year}"


def table_as_text(file: DataFile, width: int) -> str:
    """Return the output of ``thresher look`` for a table: the columns, and warnings that have no question of their
    own."""
    found, stream = file.profile(file.usual_target), file.stream(None)
    size = file_in_words([path.name for path in stream.paths], stream.n_bytes)
    about = f"{size}: {found.rows_in_words}, {plural(found.n_columns, 'column')}. {text_in_words(found)}"
    lines = [*wrapped(about, width), "", columns_as_text(found, width)]
    remarks = [warning.says for warning in found.warnings if warning.kind not in _ASKED]
    return "\n".join([*lines, *([""] if remarks else []), *(line for says in remarks for line in _item(says, width))])


def _item(says: str, width: int) -> list[str]:
    return wrapped(f"{says}.", width, "- ")


def useless_columns(file: DataFile) -> list[str]:
    """Columns that tell nothing: empty, the same in every row, or a copy of another."""
    warnings = [warning for warning in file.profile(file.usual_target).warnings if warning.kind in _USELESS]
    return [name for name in file.columns if any(name in warning.columns for warning in warnings)]


def leaking_columns(file: DataFile, target: str, reading: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Describe columns that predict the target on their own, and return them."""
    leak = next((each for each in file.profile(target, reading).warnings if each.kind == "leak"), None)
    return ("", []) if leak is None else (leak.says, list(leak.columns))
