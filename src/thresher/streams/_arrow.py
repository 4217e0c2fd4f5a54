"""Parquet and Arrow files as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Table, Text
from ._column_names import ColumnNames
from ._csv_layout import checked_layout
from ._format import ReadOptions
from ._source import Mark, Part, foreign

_ROWS_AT_ONCE = 1 << 14
_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class _Parts:
    """The columns to read: features in order, those of them that are text, and the target with its kind."""

    features: list[str]
    texts: set[str]
    target: str | None
    target_kind: str | None


class ArrowSource:
    """A Parquet file, or an Arrow file (IPC file or stream, Feather version 2): numbers and text by their types."""

    begin = Mark(0, 1)

    def __init__(
        self, path: Path, kind: Literal["parquet", "arrow"], options: ReadOptions, layout: dict[str, Any] | None = None
    ) -> None:
        self.path = path
        self.n_bytes = path.stat().st_size
        self._kind = kind
        self._dtype = np.float32 if options.float32 else np.float64
        types = self._column_types()
        self.columns: list[str] | None = list(types)
        file = path.name
        parts = _by_options(file, types, options) if layout is None else _by_layout(file, types, layout, options)
        self._features, self._texts, self.target = parts.features, parts.texts, parts.target
        self._target_kind = parts.target_kind
        if not self._features:
            raise ValueError(f"{path.name}: a target and at least one feature are needed.")
        options.check_width(path.name, len(self._features))
        self.feature_names: list[str] | None = list(self._features)

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
                with _ArrowFile(self.path) as opened:
                    schema = opened.schema
            types = {field.name: field.type for field in schema if not _INDEX_OF_PANDAS.fullmatch(field.name)}
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path.name}: not a readable {self._kind} file ({_said(error)}).") from None
        if len(set(schema.names)) != len(schema.names):
            raise ValueError(f"{self.path.name}: several columns have the same name.")
        return types

    def layout(self) -> dict[str, Any]:
        kinds = "".join("t" if name in self._texts else "n" for name in self._features)
        return {
            "columns": list(self._features),
            "kinds": kinds,
            "target": self.target,
            "target_kind": self._target_kind,
        }

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        import pyarrow

        if start.line != start.offset + 1:
            raise foreign(self.path, start)
        columns = [*self._features, *([] if self.target is None else [self.target])]
        row, waiting, n_waiting, place = start.offset, [], 0, 0
        try:
            for chunk, place in self._chunks(columns, start):
                waiting.append(chunk)
                n_waiting += len(chunk)
                while n_waiting >= n_rows:
                    table = pyarrow.Table.from_batches(waiting)
                    yield self._part(table.slice(0, n_rows), row, place)
                    row += n_rows
                    waiting, n_waiting = table.slice(n_rows).to_batches(), n_waiting - n_rows
            if n_waiting:
                yield self._part(pyarrow.Table.from_batches(waiting), row, place)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.path.name}: the file is damaged ({_said(error)}).") from None

    def _chunks(self, columns: list[str], start: Mark) -> Iterator[tuple[Any, int]]:
        """Record batches from row `start.offset` on, each with a guess of the bytes read so far."""
        end = 0
        for row, chunk, place in (self._parquet if self._kind == "parquet" else self._arrow)(columns, start.offset):
            end = row + len(chunk)
            if end > start.offset:
                yield chunk.slice(max(0, start.offset - row)), place
        if end < start.offset:
            raise foreign(self.path, start)

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
        with _ArrowFile(self.path) as file:
            for chunk, place in file.batches():
                if row + len(chunk) > skip:
                    chunk = chunk.select(columns)
                    chunk.validate(full=True)  # or damage could lead beyond the end of the file
                yield row, chunk, place
                row += len(chunk)

    def _part(self, table: Any, row: int, place: int) -> Part:
        numbers = [name for name in self._features if name not in self._texts]
        values = np.empty((len(table), len(numbers)), dtype=self._dtype)
        for j, name in enumerate(numbers):
            values[:, j] = self._numbers(table.column(name), name, row, self._dtype)
        texts = {name: _text(table.column(name)) for name in self._features if name in self._texts}
        y: NDArray[Any] | None = None
        if self.target is not None:
            column = table.column(self.target)
            if self._target_kind == "t":
                y = np.array(_text(column).to_list(), dtype=object)
                missing = y == ""
            else:
                y = self._numbers(column, self.target, row, np.float64)
                missing = np.isnan(y)
            if missing.any():
                raise self._refused(row, missing, f"the target {self.target!r} is missing")
        end = row + len(table)
        return Part(Table(self._features, values, texts), y, row + 1, Mark(end, end + 1), place, 0)

    def _numbers(self, column: Any, name: str, row: int, dtype: DTypeLike) -> NDArray[Any]:
        import pyarrow

        double = column.cast(pyarrow.float64(), safe=False)  # whole numbers beyond 2^53 are rounded
        with np.errstate(over="ignore"):  # told below
            values = np.array(double.to_numpy(), dtype=dtype)
        if np.isinf(values).any():
            raise self._refused(row, np.isinf(values), f"{name!r} must be finite")
        return values

    def _refused(self, row: int, where: NDArray[np.bool_], what: str) -> ValueError:
        return ValueError(f"{self.path.name}, row {row + int(np.flatnonzero(where)[0]) + 1}: {what}.")


class _ArrowFile:
    """An IPC file or stream, whichever it is."""

    def __init__(self, path: Path) -> None:
        import pyarrow

        self._file = pyarrow.memory_map(str(path))

    def __enter__(self) -> _ArrowFile:
        import pyarrow.ipc

        self._has_footer = self._file.read(6) == b"ARROW1"
        self._file.seek(0)
        self._reader = (pyarrow.ipc.open_file if self._has_footer else pyarrow.ipc.open_stream)(self._file)
        self.schema = self._reader.schema
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def batches(self) -> Iterator[tuple[Any, int]]:
        """Record batches, each with a guess of the bytes read so far."""
        if not self._has_footer:
            for batch in self._reader:
                yield batch, self._file.tell()
            return
        size, n_batches = self._file.size(), self._reader.num_record_batches
        for i in range(n_batches):
            yield self._reader.get_batch(i), size * (i + 1) // n_batches


def _text(column: Any) -> Text:
    import pyarrow

    large = pyarrow.large_string()
    if pyarrow.types.is_dictionary(column.type):  # pyarrow decodes no dictionary of string views
        chunks = [chunk.dictionary.cast(large).take(chunk.indices) for chunk in column.chunks]
        array = pyarrow.chunked_array(chunks, large)
    else:
        array = column.cast(large)
    array = array.combine_chunks().fill_null("")
    if len(array) == 0:
        return Text(np.zeros(1, np.int64), np.empty(0, np.uint8))
    _, offsets_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64, len(array) + 1, array.offset * 8)
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.empty(0, np.uint8)
    return Text(offsets - offsets[0], data[offsets[0] : offsets[-1]].copy())  # not a view of the file


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


def _by_options(file: str, types: dict[str, Any], options: ReadOptions) -> _Parts:
    names = list(types)
    columns = ColumnNames(file, names, names)
    target = None if options.target is None else names[columns.number("target", options.target)]
    dropped = {names[j] for j in columns.numbers("drop", options.drop)}
    if target in dropped:
        raise ValueError(f"{file}: drop must not hold the target {target!r}.")
    features = [name for name in names if name != target and name not in dropped]
    texts = {names[j] for j in columns.numbers("text_columns", options.text_columns)}
    texts |= {name for name in features if _kind_of(file, name, types[name]) == "t"}
    return _Parts(features, texts, target, None if target is None else _kind_of(file, target, types[target]))


def _by_layout(file: str, types: dict[str, Any], layout: dict[str, Any], options: ReadOptions) -> _Parts:
    """The columns that another file has."""
    layout = checked_layout(layout)
    kinds = dict(zip(layout["columns"], layout["kinds"], strict=True))
    if options.target is not None and layout["target"] in types:
        kinds[layout["target"]] = layout["target_kind"]
    for name, kind in kinds.items():
        if name not in types:
            raise ValueError(f"{file}: the column {name!r} that the model needs is missing.")
        if _kind_of(file, name, types[name]) == "t" and kind == "n":
            raise ValueError(f"{file}: the column {name!r} holds text, but numbers are needed as in the file before.")
    features = list(layout["columns"])
    texts = {name for name in features if kinds[name] == "t"}
    with_target = len(kinds) > len(features)
    return _Parts(features, texts, *((layout["target"], layout["target_kind"]) if with_target else (None, None)))


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
