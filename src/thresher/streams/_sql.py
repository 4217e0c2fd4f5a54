"""The rows of a query, by DuckDB: over files, a database, or both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._gate import need_pyarrow
from ._arrow import ArrowRows, in_words, size_in_memory
from ._source import PathLike, ReadOptions

_BEFORE = {"SET", "VARIABLE_SET", "LOAD", "ATTACH", "PRAGMA"}  # what may stand before a query: it runs for each pass


class SqlSource(ArrowRows):
    """A query that is run again for each pass. One thread runs it, so that rows come in the same order each time."""

    resumes = False  # the data may change unnoticed
    fault = "the rows cannot be read"

    def __init__(
        self, query: str, database: PathLike | None, options: ReadOptions, layout: dict[str, Any] | None = None
    ) -> None:
        try:
            import duckdb
        except ImportError:
            raise ValueError('open_stream: sql needs duckdb: pip install "thresher[sql]".') from None
        need_pyarrow("open_stream: sql")
        self._error = duckdb.Error
        self._query = query
        try:
            self._connection = duckdb.connect(":memory:" if database is None else str(database), database is not None)
            self._connection.execute("SET threads TO 1")
            kinds = [str(one.type).rpartition(".")[2] for one in self._connection.extract_statements(query)]
            if kinds[-1:] not in (["SELECT"], ["MULTI"]) or not set(kinds[:-1]) <= _BEFORE:
                raise ValueError(f"open_stream: sql must be a query that returns rows, got {query!r:.80}.")
            schema = self._opened(self._connection, rows=0).schema
        except duckdb.Error as error:
            raise ValueError(f"open_stream: sql cannot be run ({in_words(error)}).") from None
        super().__init__(Path("<query>"), 0, schema, options, layout)

    def _opened(self, connection: Any, rows: int | None = None) -> Any:
        import pyarrow

        relation = connection.sql(self._query)
        if len(set(relation.columns)) != len(relation.columns):
            raise ValueError("<query>: several columns have the same name.")
        return pyarrow.RecordBatchReader.from_stream(relation if rows is None else relation.limit(rows))

    def batches(self, columns: list[str], skip: int) -> Iterator[tuple[int, Any, int]]:
        row = n_bytes = 0
        cursor = self._connection.cursor()  # of this thread, and open until the last row
        try:
            for chunk in self._opened(cursor):
                n_bytes += size_in_memory(chunk)
                yield row, chunk.select(columns), n_bytes
                row += len(chunk)
        except self._error as error:
            raise ValueError(f"open_stream: sql cannot be run ({in_words(error)}).") from None
