"""Rows that come as Arrow record batches: the part of each column by its type, and batches cut into parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import ROWS_TO_LOOK_AT, ColumnReading, Table, Text, arrow_kind, arrow_numbers, read_table, understand_table
from ._column_places import ColumnNames, Places, by_layout, by_options, checked_layout, told_readings
from ._source import Mark, Part, ReadOptions, RowSource, Understood, text_targets

ROWS_AT_ONCE = 1 << 14
_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")
_WORDS = {"n": "numbers", "d": "dates", "t": "text"}


class ArrowColumns:
    """The columns of a schema, found by the options or as in another file, and the rows of tables that have them.

    `columns` are all names of the source, `feature_names` those of the features, and `needed` those that a table must
    have to be read. `first_rows` makes a pyarrow table of the first rows, which tell how text is to be read.
    """

    def __init__(
        self,
        file: str,
        schema: Any,
        options: ReadOptions,
        layout: dict[str, Any] | None,
        first_rows: Callable[[list[str]], Any],
    ) -> None:
        if len(set(schema.names)) != len(schema.names):
            raise ValueError(f"{file}: several columns have the same name.")
        self.file = file
        self._types = {field.name: field.type for field in schema if not _INDEX_OF_PANDAS.fullmatch(field.name)}
        self._dtype = np.float32 if options.float32 else np.float64
        self.columns = list(self._types)
        self.understood: Understood | None = None
        self._places = places = self._look(options, first_rows) if layout is None else self._find(options, layout)
        if not places.names:
            raise ValueError(f"{file}: a target and at least one feature are needed.")
        options.check_width(file, len(places.names))
        self.feature_names = list(places.names)
        used = [*places.features, *([] if places.target is None else [places.target])]
        self._readings = {self.columns[j]: places.readings[j] for j in used}
        self._words = {name for name, reading in self._readings.items() if reading.letter == "t"}
        self.needed = list(self._readings)
        self.kinds = {name: self._raw_kind(name, reading) for name, reading in self._readings.items()}

    def _kind(self, name: str, arrow_type: Any) -> str:
        """The kind of a column by its type: n, d or t."""
        kind = arrow_kind(arrow_type)
        if kind is None:
            raise ValueError(
                f"{self.file}: column {name!r} is of type {arrow_type}, which holds neither numbers, dates nor text; "
                "add it to drop."
            )
        return kind

    def _raw_kind(self, name: str, reading: ColumnReading) -> str:
        """The kind in which a source should hold a column: text, if that is how it is read."""
        written = reading.format is not None and self._kind(name, self._types[name]) == "t"
        return "t" if written else reading.letter

    def _look(self, options: ReadOptions, first_rows: Callable[[list[str]], Any]) -> Places:
        import pyarrow

        columns = ColumnNames(self.file, self.columns, self.columns)
        told = told_readings(columns, options)
        target = None if options.target is None else self.columns[columns.number("target", options.target)]
        kept = [name for name in self.columns if name not in told or told[name].letter != "-"]
        words = {name for name, reading in told.items() if reading.letter == "t"}
        try:
            first = self._table(first_rows(kept), words, 0)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.file}: the file is damaged ({in_words(error)}).") from None
        found = understand_table(first, options.reading(), told, target)
        self.understood = Understood(found, target)
        dropped = {name: reading for name, reading in told.items() if name not in kept}
        return by_options(columns, options, {name: each.reading for name, each in found.items()} | dropped)

    def _find(self, options: ReadOptions, layout: dict[str, Any]) -> Places:
        file, names = self.file, self.columns
        layout = checked_layout(layout) | {"header": True}
        places = by_layout(file, names, len(names), layout, options.target is not None)
        for j, reading in places.readings.items():
            found, wanted = self._kind(names[j], self._types[names[j]]), reading.letter
            readable = found == wanted or wanted == "t" or (found == "t" and reading.format is not None)
            if not readable and str(self._types[names[j]]) != "null":  # no value is of any kind
                raise ValueError(
                    f"{file}: the column {names[j]!r} holds {_WORDS[found]}, but {_WORDS[wanted]} are needed, as in "
                    "the previous file."
                )
        return places

    def layout(self) -> dict[str, Any]:
        return self._places.layout()

    def rows(self, table: Any, row: int) -> tuple[Table, NDArray[Any] | None]:
        """Features and targets of a pyarrow table, whose first row has this number. A missing target is NaN, or no
        text."""
        rows = self._table(table.select(self.needed), self._words, row)
        try:
            X = read_table(rows, self._readings)
        except ValueError as wrong:
            raise ValueError(f"{self.file}, in the rows from {row + 1} on: {wrong}") from None
        target = self._places.target_name
        if target is None:
            return X, None
        y = X[target]
        words = text_targets(y) if isinstance(y, Text) else y.astype(np.float64)
        return X.select(self.feature_names), words

    def _table(self, table: Any, words: set[str], row: int) -> Table:
        """A pyarrow table, its columns read by their types, some as words whatever they are."""
        types = {field.name: field.type for field in table.schema}
        kinds = {name: "t" if name in words else self._kind(name, arrow_type) for name, arrow_type in types.items()}
        numbers = [name for name in kinds if kinds[name] != "t"]
        values = np.empty((len(table), len(numbers)), dtype=self._dtype)
        for j, name in enumerate(numbers):
            values[:, j] = self._numbers(table.column(name), name, row)
        texts = {name: _text(table.column(name)) for name in kinds if kinds[name] == "t"}
        return Table(list(kinds), values, texts, [name for name in kinds if kinds[name] == "d"])

    def _numbers(self, column: Any, name: str, row: int) -> NDArray[Any]:
        values = arrow_numbers(column)
        with np.errstate(over="ignore"):  # refused below
            infinite = np.isinf(values.astype(self._dtype))
        if infinite.any():
            raise ValueError(f"{self.file}, row {row + int(np.flatnonzero(infinite)[0]) + 1}: {name!r} must be finite.")
        return values


def _text(column: Any) -> Text:
    text = Text.from_arrow(column)
    begin, end = text.offsets[0], text.offsets[-1]
    return Text(text.offsets - begin, text.data[begin:end].copy())  # not a view of the file


class ArrowRows(RowSource):
    """A source of record batches. Rows are numbered, and a position is a row."""

    fault = "the file is damaged"  # where Arrow fails

    def __init__(
        self,
        path: Path,
        n_bytes: int,
        schema: Any,
        options: ReadOptions,
        layout: dict[str, Any] | None,
    ) -> None:
        self.path, self.n_bytes = path, n_bytes
        self._columns = ArrowColumns(path.name, schema, options, layout, self.first_rows)
        self.columns, self.feature_names = self._columns.columns, self._columns.feature_names
        self.understood = self._columns.understood

    def layout(self) -> dict[str, Any]:
        return self._columns.layout()

    def batches(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        """Record batches of these columns, each with the number of its first row and the bytes read so far. Rows below
        `skip` are not needed."""
        raise NotImplementedError

    def first_rows(self, columns: list[str]) -> Any:
        """The first rows as a pyarrow table."""
        some: list[Any] = []
        for _, chunk, _ in self.batches(columns, 0):
            some.append(chunk)
            if sum(map(len, some)) >= ROWS_TO_LOOK_AT:
                break
        return table_of(some, columns).slice(0, ROWS_TO_LOOK_AT)

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        import pyarrow

        if start.line != start.offset + 1:
            raise self.wrong_position(start)
        row, place = start.offset, 0

        def chunks() -> Iterator[Any]:
            nonlocal place
            end = 0
            for begin, chunk, place in self.batches(self._columns.needed, start.offset):  # noqa: B007
                end = begin + len(chunk)
                if end > start.offset:
                    yield chunk.slice(max(0, start.offset - begin))
            if end < start.offset:
                raise self.wrong_position(start)

        try:
            for table in tables_of(chunks(), n_rows):
                X, y = self._columns.rows(table, row)
                end = row + len(table)
                yield Part(X, y, row + 1, Mark(end, end + 1), place, 0)
                row = end
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.path.name}: {self.fault} ({in_words(error)}).") from None


class MemoryRows(ArrowRows):
    """A pyarrow table in memory."""

    def __init__(
        self, path: Path, n_bytes: int, table: Any, options: ReadOptions, layout: dict[str, Any] | None
    ) -> None:
        self._table = table
        super().__init__(path, n_bytes, table.schema, options, layout)

    def batches(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        row = 0
        for chunk in self._table.select(columns).to_batches(ROWS_AT_ONCE):
            yield row, chunk, self.n_bytes * (row + len(chunk)) // len(self._table)
            row += len(chunk)


def table_of(batches: list[Any], columns: list[str]) -> Any:
    """Record batches as one table; none as one without rows."""
    import pyarrow

    if not batches:
        return pyarrow.table({name: pyarrow.array([], pyarrow.null()) for name in columns})
    return pyarrow.Table.from_batches(batches).select(columns)


def tables_of(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Record batches as tables of `n_rows` rows; the last one may be shorter."""
    import pyarrow

    waiting: list[Any] = []
    n_waiting = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += len(batch)
        while n_waiting >= n_rows:
            table = pyarrow.Table.from_batches(waiting)
            yield table.slice(0, n_rows)
            waiting, n_waiting = table.slice(n_rows).to_batches(), n_waiting - n_rows
    if n_waiting:
        yield pyarrow.Table.from_batches(waiting)


def size_in_memory(data: Any) -> int:
    """Bytes of a table or batch; of all that it shares with others, where an older Arrow cannot tell its own part."""
    import pyarrow

    try:
        return int(data.nbytes)
    except (pyarrow.ArrowException, TypeError):
        return int(data.get_total_buffer_size())


def in_words(error: Exception) -> str:
    """The message of another library in one line."""
    return " ".join(str(error).split())[:200].rstrip(".")
