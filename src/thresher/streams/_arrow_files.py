"""Parquet and Arrow files as tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from .._gate import need_pyarrow
from ._arrow import ROWS_AT_ONCE, ArrowRows, in_words
from ._source import ReadOptions


class ArrowSource(ArrowRows):
    """A Parquet file, or an Arrow file (IPC file or stream, Feather version 2)."""

    def __init__(
        self, path: Path, kind: Literal["parquet", "arrow"], options: ReadOptions, layout: dict[str, Any] | None = None
    ) -> None:
        self.path, self._kind = path, kind
        self.note_version()
        super().__init__(path, self.n_bytes, self._schema(), options, layout)

    def _schema(self) -> Any:
        need_pyarrow(f"{self.path.name}: {'a parquet' if self._kind == 'parquet' else 'an arrow'} file")
        import pyarrow.parquet

        try:
            if self._kind == "parquet":
                with pyarrow.parquet.ParquetFile(self.path) as file:
                    schema = file.schema_arrow
            else:
                with _opened(self.path) as (_, reader):
                    schema = reader.schema
            list(schema.names)  # fails if they are not UTF-8
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path.name}: not a readable {self._kind} file ({in_words(error)}).") from None
        return schema

    def batches(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        self.check_version()
        yield from (self._parquet if self._kind == "parquet" else self._arrow)(columns, skip)
        self.check_version()

    def _parquet(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        """Row groups that end before row `skip` are left out."""
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(self.path) as file:
            row, n_rows = 0, max(file.metadata.num_rows, 1)
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if row + size < skip:
                    row += size
                    continue
                for chunk in file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=columns, use_threads=False):
                    yield row, chunk.select(columns), self.n_bytes * (row + len(chunk)) // n_rows
                    row += len(chunk)

    def _arrow(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        row = 0
        with _opened(self.path) as (file, reader):
            n_batches = getattr(reader, "num_record_batches", None)  # unknown for a stream
            numbered = reader if n_batches is None else map(reader.get_batch, range(n_batches))
            for i, chunk in enumerate(numbered, start=1):
                place = file.tell() if n_batches is None else self.n_bytes * i // n_batches
                if row + len(chunk) > skip:
                    chunk = chunk.select(columns)
                    chunk.validate(full=True)  # or damage could lead beyond the end of the file
                yield row, chunk, place
                row += len(chunk)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """An IPC file or stream, whichever it is, and its reader."""
    import pyarrow.ipc

    with pyarrow.OSFile(str(path)) as file:  # a map would crash the process if the file were truncated
        has_footer = file.read(6) == b"ARROW1"
        file.seek(0)
        yield file, (pyarrow.ipc.open_file if has_footer else pyarrow.ipc.open_stream)(file)
