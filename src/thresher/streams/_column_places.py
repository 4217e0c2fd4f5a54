"""Columns of a table as users call them, and the part that each of them plays: found by options, or as in another
file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._dataclasses import dataclass
from .._gate import ColumnReading, similar_names
from ._source import Column, ReadOptions

_MOST_NAMED = 3  # columns, in a sentence


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
        start = f"{self.file}: {parameter}={name!r}"
        if self.header is not None and self.header.count(name) > 1:
            raise ValueError(f"{start}, but several columns have this name; give a number.")
        if name in self.names:
            return list(self.names).index(name)
        if self.header is None:
            raise ValueError(f"{start} is a name, but the file has no header; give a column number.")
        shown = ", ".join(self.names[:10]) + (", ..." if len(self.names) > 10 else "")
        similar = similar_names(name, self.names)
        raise ValueError(f"{start}, but no column has this name{similar}; the columns are {shown}.")


@dataclass(frozen=True)
class Places:
    """The part that each column of a file plays."""

    kinds: str  # for each column of the file: n, d (dates), t or -
    features: list[int]  # columns of the features, in the order in which rows hold them
    names: list[str]
    target: int | None
    target_name: str | None
    readings: dict[int, ColumnReading]  # of features and the target

    @property
    def feature_kinds(self) -> str:
        return "".join(self.kinds[place] for place in self.features)

    @property
    def target_kind(self) -> str | None:
        """n or t; a date to predict is a number of days."""
        return None if self.target is None else self.kinds[self.target].replace("d", "n")

    def layout(self) -> dict[str, Any]:
        """The features and the target by name, with their kinds, and how values are written where that is not plain."""
        target = {"target": self.target_name, "target_kind": self.target_kind}
        made = {"columns": list(self.names), "kinds": self.feature_kinds, **target}
        names = dict(zip(self.features, self.names, strict=True)) | {self.target: self.target_name}
        readings = {str(names[j]): each.to_dict() for j, each in self.readings.items() if not each.is_plain}
        return {**made, "readings": readings} if readings else made

    def order(self) -> dict[str, Any]:
        """The order of the columns, for files without a header."""
        return {"places": list(self.features), "target_place": self.target, "n_columns": len(self.kinds)}


def told_readings(columns: ColumnNames, options: ReadOptions) -> dict[str, ColumnReading]:
    """The columns about which the user has decided."""
    told = {columns.names[j]: ColumnReading("drop") for j in columns.numbers("drop", options.drop)}
    missing = tuple(options.missing)
    for j in columns.numbers("text_columns", options.text_columns):
        told[columns.names[j]] = ColumnReading("category", missing=missing)
    for column, reading in options.columns.items():
        name = columns.names[columns.number("columns", column)]
        try:
            said = ColumnReading.from_dict({"kind": reading} if isinstance(reading, str) else reading)
        except ValueError as wrong:
            raise ValueError(
                f"{columns.file}: columns must say how {name!r} is read: {wrong}, got {reading!r}."
            ) from None
        told[name] = said if said.letter == "-" else replace(said, missing=(*missing, *said.missing))
    return told


def by_options(columns: ColumnNames, options: ReadOptions, readings: Mapping[str, ColumnReading]) -> Places:
    """Find the parts of columns by the options and the readings of all columns."""
    names = columns.names
    target = None if options.target is None else columns.number("target", options.target)
    target_name = None if target is None else names[target]
    kinds = "".join(readings[name].letter for name in names)
    if target is not None and kinds[target] == "-":
        raise ValueError(f"{columns.file}: drop must not hold the target {target_name!r}.")
    features = [j for j, kind in enumerate(kinds) if kind != "-" and j != target]
    used = {j: readings[names[j]] for j in (*features, *([] if target is None else [target]))}
    return Places(kinds, features, [names[j] for j in features], target, target_name, used)


def checked_layout(layout: Any) -> dict[str, Any]:
    """Return a layout with all its entries; it may come from an untrusted file."""
    if not _names_columns(layout):
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    n, with_target = len(layout["columns"]), layout["target"] is not None
    usual: dict[str, Any] = {
        "target_kind": "n" if with_target else None,
        "header": True,
        "places": list(range(n)),
        "target_place": n if with_target else None,
        "n_columns": n + with_target,
        "readings": {},
    }
    whole: dict[str, Any] = {**usual, **layout}
    if not isinstance(whole["places"], list) or type(whole["n_columns"]) is not int:
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    if not _places_columns(whole, with_target):
        raise ValueError("open_stream: layout does not say where its columns stand.")
    try:
        whole["readings"] = {str(name): ColumnReading.from_dict(value) for name, value in whole["readings"].items()}
    except (AttributeError, ValueError):
        raise ValueError("open_stream: layout does not say how its columns are read.") from None
    letters = dict(zip(whole["columns"], whole["kinds"], strict=True)) | {whole["target"]: whole["target_kind"]}
    same = {("d", "n")} if whole["target"] is not None else set()
    found = {name: (reading.letter, letters.get(name)) for name, reading in whole["readings"].items()}
    if any(a != b and not (name == whole["target"] and (a, b) in same) for name, (a, b) in found.items()):
        raise ValueError("open_stream: layout does not say how its columns are read.")
    return whole


def plain_layout(layout: dict[str, Any]) -> dict[str, Any]:
    """A checked layout in plain values again."""
    readings = {name: reading.to_dict() for name, reading in layout["readings"].items()}
    rest = {name: value for name, value in layout.items() if name != "readings"}
    return {**rest, "readings": readings} if readings else rest


def _names_columns(layout: Any) -> bool:
    if not isinstance(layout, dict) or not {"columns", "kinds", "target"} <= set(layout):
        return False
    columns, kinds, target = layout["columns"], layout["kinds"], layout["target"]
    if not isinstance(columns, list) or not isinstance(kinds, str) or not (target is None or isinstance(target, str)):
        return False
    named = all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns)
    return named and set(kinds) <= {"n", "t", "d"} and len(kinds) == len(columns) > 0


def _places_columns(layout: dict[str, Any], with_target: bool) -> bool:
    places = [*layout["places"], *([layout["target_place"]] if with_target else [])]
    return (
        all(type(place) is int and 0 <= place < layout["n_columns"] for place in places)
        and len(set(places)) == len(places)
        and len(layout["places"]) == len(layout["columns"])
        and layout["target_kind"] in (tuple("ntd") if with_target else (None,))
        and type(layout["header"]) is bool
    )


def by_layout(file: str, names: list[str] | None, n_columns: int, layout: dict[str, Any], with_target: bool) -> Places:
    """Find the columns of a checked layout in a file that has these names or, without a header, None."""
    target: int | None
    if names is not None and layout["header"]:
        places = {name: place for place, name in enumerate(names)}
        missing = [name for name in layout["columns"] if name not in places]
        if missing:
            others = [name for name in names if name not in layout["columns"]]
            close = similar_names(missing[0], others) if len(missing) == 1 else ""
            raise ValueError(f"{file}: {_columns_named(missing)} missing{close}.")
        features = [places[name] for name in layout["columns"]]
        target = places.get(layout["target"])
    else:
        features, target = _by_place(file, n_columns, layout)
    target = target if with_target else None
    kinds = dict(zip(features, layout["kinds"], strict=True))
    readings = {j: _reading_of(name, kinds[j], layout) for j, name in zip(features, layout["columns"], strict=True)}
    if target is not None:
        kinds[target] = layout["target_kind"]
        readings[target] = _reading_of(layout["target"], kinds[target], layout)
    letters = "".join(kinds.get(place, "-") for place in range(n_columns))
    target_name = None if target is None else layout["target"]
    return Places(letters, features, layout["columns"], target, target_name, readings)


def _columns_named(missing: list[str]) -> str:
    if len(missing) == 1:
        return f"the column {missing[0]!r} that the model needs is"
    *first, last = [repr(name) for name in missing[:_MOST_NAMED]]
    if (n_more := len(missing) - _MOST_NAMED) > 0:
        first, last = [*first, last], f"{n_more} more"
    return f"the columns {', '.join(first)} and {last} that the model needs are"


def _reading_of(name: str, kind: str, layout: dict[str, Any]) -> ColumnReading:
    reading: ColumnReading | None = layout["readings"].get(name)
    return reading or ColumnReading({"t": "category", "d": "date"}.get(kind, "number"))


def _by_place(file: str, n_columns: int, layout: dict[str, Any]) -> tuple[list[int], int | None]:
    target = layout["target_place"]
    if n_columns == layout["n_columns"]:
        return layout["places"], target
    if target is not None and n_columns == layout["n_columns"] - 1:
        return [place - (place > target) for place in layout["places"]], None
    needed = f"without a header, {layout['n_columns']} columns are needed as in the file that was learned from"
    if layout["header"]:
        more = ", ..." if len(layout["columns"]) > _MOST_NAMED else ""
        names = ", ".join(map(repr, layout["columns"][:_MOST_NAMED]))
        needed = f"the first line names none of the columns that the model needs ({names}{more}); {needed}"
    raise ValueError(f"{file}: {needed}, got {n_columns}.")
