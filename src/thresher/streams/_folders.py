"""Folders of data: their files, and the columns that the names of its subfolders add (``year=2024/``)."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from .._gate import Table, Text
from ._column_places import checked_layout
from ._remote import natural_order
from ._source import Mark, Part, Partition, ReadOptions, RowSource, text_targets

_KEY = re.compile(r"([^=/]+)=([^/]*)")
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def parts_of(folder: Path, format_by_name: Callable[[Path], str | None]) -> list[Path] | None:
    """The files of one table that a folder holds, in natural order, without hidden ones and marks such as ``_SUCCESS``;
    None if its files are not tables, but perhaps documents."""
    below = (path for path in folder.rglob("*") if path.is_file())
    files = [file for file in below if not any(part[:1] in "._" for part in file.relative_to(folder).parts)]
    kinds = Counter(format_by_name(file) for file in files)
    if set(kinds) <= {None}:
        return None
    if len(kinds) > 1:
        found = " and ".join(f"{n} {kind or 'other'}" for kind, n in kinds.most_common())
        raise ValueError(f"{folder.name}: the folder holds files of several kinds ({found}); name those to read.")
    return sorted(files, key=natural_order)


def partitions_of(folder: Path, files: Sequence[Path]) -> tuple[Partition, ...]:
    """The columns that subfolders of the form ``key=value`` add, with their kinds."""
    found = [dict(_values(file.relative_to(folder))) for file in files]
    if any(set(values) != set(found[0]) for values in found):
        raise ValueError(f"{folder.name}: all files must be in folders with the same keys (key=value).")
    return tuple((key, _kind([values[key] for values in found])) for key in found[0])


def _values(file: Path) -> Iterator[tuple[str, str]]:
    for part in file.parts[:-1]:
        if match := _KEY.fullmatch(part):
            value = unquote(match[2])
            yield match[1], "" if value == _MISSING else value


def _kind(values: list[str]) -> str:
    there = [value for value in values if value]
    if there and all(map(_DATE.fullmatch, there)):
        return "d"
    return "n" if all(map(_NUMBER.fullmatch, there)) else "t"


class PartitionedSource(RowSource):
    """One file of a folder, with the columns that the names of its folders add. They come before those of the file, so
    that the last column is still the file's own."""

    def __init__(
        self,
        file: Path,
        options: ReadOptions,
        layout: dict[str, Any] | None,
        open_file: Callable[[ReadOptions, dict[str, Any] | None], RowSource],
    ) -> None:
        self._kinds = dict(options.partitions)
        keys, n_keys = list(self._kinds), len(self._kinds)
        options = _with_names(options, keys)
        values = dict(_values(file))
        self._values = {key: values[key] for key in keys}
        own = _own_options(options, keys)
        if layout is None:
            self._kinds |= {key: "t" for key in keys if key in options.text_columns}
            self._target = str(options.target) if options.target in keys else None
            left = [key for key in keys if key != self._target and key not in options.drop]
            self._file = open_file(own, None)
            self._layout = self._joined(self._file.layout(), left, n_keys)
        else:
            layout = checked_layout(layout)
            self._target = layout["target"] if layout["target"] in keys and options.target is not None else None
            self._file = open_file(own, _own_layout(layout, keys))
            self._layout = layout
        kinds = dict(zip(self._layout["columns"], self._layout["kinds"], strict=True))
        self._kinds |= {key: kinds[key] for key in keys if key in kinds}
        if self._target is not None:
            self._kinds[self._target] = self._layout["target_kind"]
        self.path, self.n_bytes, self.begin = self._file.path, self._file.n_bytes, self._file.begin
        self.columns = [*keys, *(self._file.columns or ())]
        self.feature_names = list(self._layout["columns"])

    def _joined(self, layout: dict[str, Any], left: list[str], n_keys: int) -> dict[str, Any]:
        """The layout of a table that has the keys as its first columns."""
        if twice := set(self._kinds) & {*layout["columns"], layout["target"]}:
            raise ValueError(f"{self._file.path.name}: the column {min(twice)!r} is also a folder {min(twice)}=...")
        layout = checked_layout(layout)
        keys = list(self._kinds)
        target = {"target": layout["target"], "target_kind": layout["target_kind"]}
        place = None if layout["target_place"] is None else layout["target_place"] + n_keys
        if self._target is not None:
            target = {"target": self._target, "target_kind": self._kinds[self._target]}
            place = keys.index(self._target)
        return {
            "columns": [*left, *layout["columns"]],
            "kinds": "".join(self._kinds[key] for key in left) + layout["kinds"],
            **target,
            "header": layout["header"],
            "places": [*map(keys.index, left), *(place + n_keys for place in layout["places"])],
            "target_place": place,
            "n_columns": n_keys + layout["n_columns"],
        }

    def layout(self) -> dict[str, Any]:
        return dict(self._layout)

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        for part in self._file.parts(n_rows, start):
            if part.X is None:
                yield part
                continue
            n, y = part.X.shape[0], part.y
            if self._target is not None:
                y = self._column(self._target, n)
                y = text_targets(y) if isinstance(y, Text) else y
            yield dataclasses.replace(part, X=self._with_keys(part.X, n), y=y)

    def _column(self, key: str, n: int) -> Any:
        value, kind = self._values[key], self._kinds[key]
        if kind == "t":
            return Text.from_list([value] * n)
        return np.full(n, _number(value, kind, self.path.name, key))

    def _with_keys(self, X: Any, n: int) -> Table:
        names = self._layout["columns"]
        left = [key for key in self._values if key in names]
        if not isinstance(X, Table):
            X = Table([name for name in names if name not in left], X)
        added = {key: self._column(key, n) for key in left}
        texts = {key: column for key, column in added.items() if isinstance(column, Text)}
        numbers: list[NDArray[Any]] = [
            added[name] if name in added else X[name] for name in names if name not in texts and name not in X.text
        ]
        values = np.column_stack(numbers) if numbers else np.empty((n, 0))
        dates = [*X.dates, *(key for key in left if self._kinds[key] == "d")]
        return Table(names, values.astype(X.numbers.dtype, copy=False), {**texts, **X.text}, dates)


def _number(value: str, kind: str, file: str, key: str) -> float:
    try:
        if not value:
            return np.nan
        return float(value) if kind == "n" else float(np.datetime64(value, "D").astype(np.int64))
    except ValueError:
        what = "a number" if kind == "n" else "a date"
        raise ValueError(f"{file}: the folder {key}={value} must name {what}, as in training.") from None


def _with_names(options: ReadOptions, keys: list[str]) -> ReadOptions:
    """Options that call the keys by their names."""

    def named(column: Any) -> Any:
        return keys[column] if type(column) is int and 0 <= column < len(keys) else column

    text_columns, drop = [*map(named, options.text_columns)], [*map(named, options.drop)]
    return dataclasses.replace(options, target=named(options.target), text_columns=text_columns, drop=drop)


def _own_options(options: ReadOptions, keys: list[str]) -> ReadOptions:
    """The options for the file alone, which has no columns for the keys."""

    def inside(column: Any) -> Any:
        return column - len(keys) if type(column) is int and column >= 0 else column

    target = None if options.target in keys else inside(options.target)
    text_columns = [inside(column) for column in options.text_columns if column not in keys]
    drop = [inside(column) for column in options.drop if column not in keys]
    return dataclasses.replace(options, partitions=(), target=target, text_columns=text_columns, drop=drop)


def _own_layout(layout: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    """The layout of the file alone."""
    n_keys = len(keys)
    kept = [j for j, name in enumerate(layout["columns"]) if name not in keys]
    with_target = layout["target"] is not None and layout["target"] not in keys
    own = {
        "columns": [layout["columns"][j] for j in kept],
        "kinds": "".join(layout["kinds"][j] for j in kept),
        "target": layout["target"] if with_target else None,
        "target_kind": layout["target_kind"] if with_target else None,
        "header": layout["header"],
    }
    if layout["header"]:
        return own
    return own | {
        "places": [layout["places"][j] - n_keys for j in kept],
        "target_place": layout["target_place"] - n_keys if with_target else None,
        "n_columns": layout["n_columns"] - n_keys,
    }
