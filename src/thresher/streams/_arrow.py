"""Parquet and Arrow files as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Table, Text
from ._column_places import ColumnNames, Places, by_layout, by_options, checked_layout
from ._source import Mark, Part, ReadOptions, RowSource

_ROWS_AT_ONCE = 1 << 14
_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")


class ArrowSource(RowSource):
    """A Parquet file, or an Arrow file (IPC file or stream, Feather version 2): numbers and text by their types."""

    def __init__(
        self, path: Path, kind: Literal["parquet", "arrow"], options: ReadOptions, layout: dict[str, Any] | None = None
    ) -> None:
        self.path = path
        self.n_bytes = path.stat().st_size
        self._kind = kind
        self._dtype = np.float32 if options.float32 else np.float64
        types = self._column_types()
        self.columns = list(types)
        self._places = places = self._find_columns(types, options, layout)
        if not places.names:
            raise ValueError(f"{path.name}: a target and at least one feature are needed.")
        options.check_width(path.name, len(places.names))
        self.feature_names = list(places.names)
        self._texts = {name for name, kind in zip(places.names, places.feature_kinds, strict=True) if kind == "t"}

    def _find_columns(self, types: dict[str, Any], options: ReadOptions, layout: dict[str, Any] | None) -> Places:
        file, names = self.path.name, list(types)

        def kind_of(place: int, forced: bool) -> str:
            kind = _kind_of(file, names[place], types[names[place]])
            return "t" if forced else kind

        if layout is None:
            return by_options(ColumnNames(file, names, names), options, kind_of)
        layout = checked_layout(layout) | {"header": True}
        places = by_layout(file, names, len(names), layout, options.target is not None)
        for j, kind in enumerate(places.kinds):
            if kind != "-" and kind_of(j, forced=kind == "t") != kind:
                raise ValueError(
                    f"{file}: the column {names[j]!r} holds text, but numbers are needed as in the file before."
                )
        return places

    def _column_types(self) -> dict[str, Any]:
        try:
            import pyarrow
            import pyarrow.ipc
            import pyarrow.parquet
        except ImportError:
            raise ValueError(
                f'{self.path.name}: Parquet and Arrow files need pyarrow: pip install "thresher[lab]".'
            ) from None
        try:
            if self._kind == "parquet":
                with pyarrow.parquet.ParquetFile(self.path) as file:
                    schema = file.schema_arrow
            else:
                with _opened(self.path) as (_, reader):
                    schema = reader.schema
            types = {field.name: field.type for field in schema if not _INDEX_OF_PANDAS.fullmatch(field.name)}
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path.name}: not a readable {self._kind} file ({_words(error)}).") from None
        if len(set(schema.names)) != len(schema.names):
            raise ValueError(f"{self.path.name}: several columns have the same name.")
        return types

    def layout(self) -> dict[str, Any]:
        return self._places.layout()

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        import pyarrow

        if start.line != start.offset + 1:
            raise self.wrong_position(start)
        target = self._places.target_name
        columns = [*self._places.names, *([] if target is None else [target])]
        row, place = start.offset, 0

        def chunks() -> Iterator[Any]:
            nonlocal place
            for chunk, place in self._chunks(columns, start):  # noqa: B007
                yield chunk

        try:
            for table in tables_of(chunks(), n_rows):
                yield self._part(table, row, place)
                row += len(table)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.path.name}: the file is damaged ({_words(error)}).") from None

    def _chunks(self, columns: list[str], start: Mark) -> Iterator[tuple[Any, int]]:
        """Record batches from row `start.offset` on, each with a guess of the bytes read so far."""
        end = 0
        for row, chunk, place in (self._parquet if self._kind == "parquet" else self._arrow)(columns, start.offset):
            end = row + len(chunk)
            if end > start.offset:
                yield chunk.slice(max(0, start.offset - row)), place
        if end < start.offset:
            raise self.wrong_position(start)

    def _parquet(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        """Record batches with the number of their first row; row groups that end before row `skip` are left out."""
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(self.path) as file:
            row, n_rows = 0, max(file.metadata.num_rows, 1)
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if row + size < skip:
                    row += size
                    continue
                for chunk in file.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=columns, use_threads=False):
                    yield row, chunk.select(columns), self.n_bytes * (row + len(chunk)) // n_rows
                    row += len(chunk)

    def _arrow(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        row = 0
        with _opened(self.path) as (file, reader):
            n_batches = getattr(reader, "num_record_batches", None)  # a stream does not tell
            numbered = reader if n_batches is None else map(reader.get_batch, range(n_batches))
            for i, chunk in enumerate(numbered, start=1):
                place = file.tell() if n_batches is None else self.n_bytes * i // n_batches
                if row + len(chunk) > skip:
                    chunk = chunk.select(columns)
                    chunk.validate(full=True)  # or damage could lead beyond the end of the file
                yield row, chunk, place
                row += len(chunk)

    def _part(self, table: Any, row: int, place: int) -> Part:
        places = self._places
        numbers = [name for name in places.names if name not in self._texts]
        values = np.empty((len(table), len(numbers)), dtype=self._dtype)
        for j, name in enumerate(numbers):
            values[:, j] = self._numbers(table.column(name), name, row, self._dtype)
        texts = {name: _text(table.column(name)) for name in places.names if name in self._texts}
        y: NDArray[Any] | None = None
        if places.target_name is not None:
            column = table.column(places.target_name)
            if places.target_kind == "t":
                y = np.array(_text(column).to_list(), dtype=object)
                missing = y == ""
            else:
                y = self._numbers(column, places.target_name, row, np.float64)
                missing = np.isnan(y)
            if missing.any():
                raise self._refused(row, missing, f"the target {places.target_name!r} is missing")
        end = row + len(table)
        return Part(Table(places.names, values, texts), y, row + 1, Mark(end, end + 1), place, 0)

    def _numbers(self, column: Any, name: str, row: int, dtype: DTypeLike) -> NDArray[Any]:
        import pyarrow

        double = column.cast(pyarrow.float64(), safe=False)  # whole numbers beyond 2^53 are rounded
        with np.errstate(over="ignore"):  # refused below
            values = np.array(double.to_numpy(), dtype=dtype)
        if np.isinf(values).any():
            raise self._refused(row, np.isinf(values), f"{name!r} must be finite")
        return values

    def _refused(self, row: int, where: NDArray[np.bool_], what: str) -> ValueError:
        return ValueError(f"{self.path.name}, row {row + int(np.flatnonzero(where)[0]) + 1}: {what}.")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """An IPC file or stream, whichever it is, and its reader."""
    import pyarrow.ipc

    with pyarrow.memory_map(str(path)) as file:
        has_footer = file.read(6) == b"ARROW1"
        file.seek(0)
        yield file, (pyarrow.ipc.open_file if has_footer else pyarrow.ipc.open_stream)(file)


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


def _text(column: Any) -> Text:
    text = Text.from_arrow(column)
    begin, end = text.offsets[0], text.offsets[-1]
    return Text(text.offsets - begin, text.data[begin:end].copy())  # not a view of the file


def _kind_of(file: str, name: str, arrow_type: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_boolean(arrow_type):
        return "n"
    if types.is_decimal(arrow_type) or types.is_null(arrow_type):
        return "n"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type) or str(arrow_type) == "string_view":
        return "t"
    raise ValueError(f"{file}: column {name!r} is of type {arrow_type}, neither numbers nor text; name it in drop.")


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
