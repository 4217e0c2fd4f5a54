"""Rows of objects in this process: frames, anything with Arrow's C interface, and iterables of such batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from .._gate import ROWS_TO_LOOK_AT, as_arrow, is_frame, need_pyarrow
from ._arrow import ROWS_AT_ONCE, ArrowRows, MemoryRows, size_in_memory, table_of
from ._source import ReadOptions


def are_rows(source: Any) -> bool:
    """Whether this holds rows, or makes them, instead of naming files."""
    if isinstance(source, (str, os.PathLike)):
        return False
    if isinstance(source, (list, tuple)):
        return bool(source) and all(map(is_frame, source))
    return is_frame(source) or callable(source) or hasattr(source, "to_batches") or isinstance(source, Iterable)


def peeked(source: Any) -> Any:
    """An iterator of file names as their list, another one with its first item still to come; all else as it is."""
    if not hasattr(source, "__next__") or hasattr(source, "read_next_batch"):
        return source
    first = list(islice(source, 1))
    return [*first, *source] if first and isinstance(first[0], (str, os.PathLike)) else chain(first, source)


def open_rows(source: Any, options: ReadOptions, layout: dict[str, Any] | None) -> ArrowRows:
    """Open an object that :func:`are_rows` takes for one."""
    path = Path("<batches>" if isinstance(source, (chain, list, tuple)) else f"<{type(source).__name__}>")
    need_pyarrow(f"{path.name}: a source that is not a file")
    source = source.to_native() if hasattr(source, "to_native") else source
    if hasattr(source, "iloc"):
        table = as_arrow(source)
        return MemoryRows(path, size_in_memory(table), table, options, layout)
    return ObjectRows(path, source, options, layout)


def _batches(source: Any) -> Iterator[Any]:
    """The record batches of one pass."""
    import pyarrow

    if hasattr(source, "read_next_batch"):
        yield from source
    elif hasattr(source, "collect_batches"):  # a lazy frame of polars
        yield from chain.from_iterable(map(_batches, source.collect_batches(chunk_size=ROWS_AT_ONCE)))
    elif hasattr(source, "__arrow_c_stream__"):
        yield from pyarrow.RecordBatchReader.from_stream(source)
    elif hasattr(source, "to_batches"):  # a data set of pyarrow
        yield from source.to_batches(batch_size=ROWS_AT_ONCE, use_threads=False)
    elif is_frame(source):
        yield from as_arrow(source).to_batches(ROWS_AT_ONCE)
    elif hasattr(source, "with_format") and hasattr(source, "iter"):  # a data set of Hugging Face
        yield from chain.from_iterable(map(_batches, source.with_format("arrow").iter(ROWS_AT_ONCE)))
    elif callable(source):
        yield from _batches(source())
    elif isinstance(source, Iterable):
        yield from chain.from_iterable(map(_batches, source))
    else:
        raise ValueError(
            f"open_stream: batches must be data frames or record batches of Arrow, got {type(source).__name__}."
        )


class ObjectRows(ArrowRows):
    """Rows of an object. A reader or an iterator yields them once, other objects any number of times."""

    fault = "the rows cannot be read"

    def __init__(self, path: Path, source: Any, options: ReadOptions, layout: dict[str, Any] | None) -> None:
        self._source = source
        once = hasattr(source, "read_next_batch") or (hasattr(source, "__next__") and iter(source) is source)
        self.repeats = self.resumes = not once
        self._was_read = False  # rows that come once
        self._peeked: Iterator[Any] | None = None  # all of them, after a look at the first
        schema = self._schema(path.name)
        n_bytes = size_in_memory(source) if hasattr(source, "get_total_buffer_size") else 0
        super().__init__(path, n_bytes, schema, options, layout)
        self._types = {name: self._type_of(name, schema) for name in self._columns.needed}

    def first_rows(self, columns: list[str]) -> Any:
        """The first rows, which are still to come if they come only once."""
        if hasattr(self._source, "collect_batches"):
            some = as_arrow(self._source.limit(ROWS_TO_LOOK_AT)).to_batches()
            return table_of(some, columns)
        batches = self._peeked if self._peeked is not None else _batches(self._source)
        some = list(islice(batches, 1))
        if not self.repeats:
            self._peeked = chain(some, batches)
        return table_of(some, columns).slice(0, ROWS_TO_LOOK_AT)

    def _schema(self, name: str) -> Any:
        import pyarrow

        source, known = self._source, None if hasattr(self._source, "collect_schema") else self._source
        if isinstance(getattr(known, "schema", None), pyarrow.Schema):
            return source.schema
        if hasattr(source, "collect_batches"):
            return as_arrow(source.limit(0)).schema  # reads no row of a lazy frame
        batches = _batches(source)
        first = next(batches, None)
        if first is None:
            raise ValueError(f"{name}: there are no rows.")
        if not self.repeats:
            self._peeked = chain([first], batches)
        return first.schema

    def _type_of(self, name: str, schema: Any) -> Any:
        """The type to which all batches are brought: where one has whole numbers, another may have fractions."""
        from pyarrow import float64, types

        arrow_type = schema.field(name).type
        plain = self._columns.kinds[name] == "n" and not types.is_temporal(arrow_type)
        return float64() if plain and not types.is_dictionary(arrow_type) else arrow_type

    def batches(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        row = n_bytes = 0
        for chunk in self._pass():
            n_bytes += size_in_memory(chunk)
            yield row, self._alike(chunk, columns, row), n_bytes
            row += len(chunk)

    def _pass(self) -> Iterator[Any]:
        if self.repeats:
            return _batches(self._source)
        if self._was_read:
            raise ValueError(
                f"{self.path.name}: these rows can be read only once, and were read already; "
                "pass a function that returns them again, or a file."
            )
        self._was_read = True
        return self._peeked or _batches(self._source)

    def _alike(self, chunk: Any, columns: list[str], row: int) -> Any:
        import pyarrow

        arrays = []
        for name in columns:
            if name not in chunk.schema.names:
                raise ValueError(f"{self.path.name}: the batch from row {row + 1} on has no column {name!r}.")
            column, wanted = chunk.column(name), self._types[name]
            try:
                safe = not pyarrow.types.is_floating(wanted)  # whole numbers beyond 2^53 are rounded
                arrays.append(column if column.type == wanted else column.cast(wanted, safe=safe))
            except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
                raise ValueError(
                    f"{self.path.name}: the column {name!r} must be of one type, but is {column.type} from row "
                    f"{row + 1} on, and {wanted} above."
                ) from None
        return pyarrow.RecordBatch.from_arrays(arrays, names=columns)
