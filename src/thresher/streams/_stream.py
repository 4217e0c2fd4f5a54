"""Streams of batches from files: several passes, optional shuffling, and any starting position."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._dataclasses import dataclass
from .._gate import Rule, at_least, check_value, none
from ._ahead import ahead
from ._batch import Batch, Position
from ._files import expanded, files_of, open_source, size_of
from ._source import MAX_FEATURES, Format, Header, Mark, Part, PathLike, ReadOptions, RowSource

_BATCHES_AHEAD = 2
_BYTES_TO_NAME = 1 << 28  # of the files, that are looked through for names of hashed columns
_LAYOUT = none | Rule("the layout() of another stream", lambda v: isinstance(v, dict))


@dataclass(frozen=True)
class ReadOrder:
    """The options of :func:`open_stream` that say in which order rows come, and how many at a time."""

    batch_size: int = 4096
    max_iter: int = 1
    shuffle: int = 0
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("max_iter", 1), ("shuffle", 0), ("random_state", 0)):
            check_value("open_stream", name, getattr(self, name), at_least(least))


class Stream:
    """Batches of one or several files, made by :func:`open_stream`. You can iterate over it any number of times; each
    iteration starts from the beginning, or with :meth:`batches` at a given position.

    Attributes
    ----------
    paths : list of Path
        The files, in order, `path` being the first; another source has a name such as ``<LazyFrame>``.
    batch_size, max_iter, shuffle, random_state : int
        As given.
    feature_names : list of str or None
        Names of the features in the (first) file.
    columns : list of str or None
        Names of all columns of the (first) file, if it is a table.
    understood : Understood or None
        How the columns of the (first) file are read, if it is a table and no `layout` was given.
    n_bytes, bytes_read : int
        Size of the files times the passes, and how much of that the batches so far have used; for progress bars.
    n_skipped : int
        Number of malformed lines skipped so far, with ``skip_malformed=True``.
    """

    def __init__(
        self,
        paths: list[Path],
        reading: ReadOptions,
        order: ReadOrder,
        layout: dict[str, Any] | None = None,
        first: RowSource | None = None,
    ) -> None:
        self.paths = paths
        self.batch_size, self.max_iter = int(order.batch_size), int(order.max_iter)
        self.shuffle, self.random_state = int(order.shuffle), int(order.random_state)
        self.bytes_read = 0
        self.n_skipped = 0
        self._reading, self._order = reading, order
        self._is_own = False
        self._block = -(-self.shuffle // self.batch_size) * self.batch_size  # whole batches
        self._sources = {0: open_source(paths[0], reading, layout) if first is None else first}
        self._sizes = [self._sources[0].n_bytes, *(size_of(path) for path in paths[1:])]
        self.n_bytes = sum(self._sizes) * self.max_iter
        if self.max_iter > 1 and not self.repeats:
            raise ValueError(
                f"open_stream: max_iter must be 1 for rows that can be read only once, got {self.max_iter}."
            )
        self.feature_names = self._sources[0].feature_names
        self.columns = self._sources[0].columns
        self.understood = self._sources[0].understood
        self._layout = layout if layout is not None else self._sources[0].layout()

    def replace(self, **options: Any) -> Stream:
        """Return a stream of the same files with other options, without inspecting the files again.

        Parameters
        ----------
        **options
            `batch_size`, `max_iter`, `shuffle`, `random_state` and, for svmlight, `n_features`, as in
            :func:`open_stream`.
        """
        width = {name: options.pop(name) for name in ("n_features",) if name in options}
        reading, order = dataclasses.replace(self._reading, **width), dataclasses.replace(self._order, **options)
        first = self._sources[0] if reading == self._reading or not self.path.exists() else None
        made = Stream(self.paths, reading, order, self._layout, first)
        made._is_own = self._is_own
        return made

    def without_scipy(self) -> Stream:
        """The same stream; its sparse rows are a csr_array no longer, but rows of the library."""
        self._is_own = True
        return self

    def first_refusal(self) -> str:
        """Read the files until a line cannot be read, and return why; empty if every line can be."""
        reading = dataclasses.replace(self._reading, skip_malformed=False)
        try:
            for _ in Stream(self.paths, reading, self._order).batches():
                pass
        except ValueError as refusal:
            return str(refusal)
        return ""

    @property
    def options(self) -> dict[str, Any]:
        """The options by which lines are read, in plain values."""
        reading = self._reading
        return {
            "skip_malformed": bool(reading.skip_malformed),
            "delimiter": reading.delimiter,
            "n_features": None if reading.n_features is None else int(reading.n_features),
            "dtype": str(np.dtype(reading.dtype)),
        }

    @property
    def repeats(self) -> bool:
        """Whether rows can be read more than once; those of a reader or generator cannot."""
        return self._sources[0].repeats

    @property
    def resumes(self) -> bool:
        """Whether another process that opens the same source finds the same row at a position."""
        return self._sources[0].resumes

    @property
    def path(self) -> Path:
        return self.paths[0]

    @property
    def start(self) -> Position:
        """The position of the first batch."""
        return Position(0, 0, *self._sources[0].begin)

    def layout(self) -> dict[str, Any]:
        """Return the names and kinds of the columns, to open another file in the same way:
        ``open_stream(..., layout=...)``."""
        return dict(self._layout)

    def column_names(self, columns: ArrayLike) -> dict[int, str]:
        """Return the names of hashed columns, ``namespace^feature``, by reading the first 256 MB of the files.

        Names that share a column are joined by ``|``. Columns of other formats are not hashed, and have no names here.

        Parameters
        ----------
        columns : array-like of int
            The columns, counted from 0.
        """
        wanted = np.unique(np.asarray(columns, dtype=np.int32))
        naming, left = self._sources[0].naming(wanted), _BYTES_TO_NAME
        if naming is None or not len(wanted):
            return {}
        for file in range(len(self.paths)):
            left -= self._source(file).read_names(naming, left)
            if left <= 0:
                break
        return naming.names()

    def __repr__(self) -> str:
        files = repr(self.path.name) if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"Stream({files}, batch_size={self.batch_size}, n_bytes={self.n_bytes})"

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def batches(self, start: Sequence[int] | None = None) -> Iterator[Batch]:
        """Yield the batches from `start` on, the ``position`` of an earlier batch of a stream with the same options."""
        begin = self.start if start is None else self._checked(start)
        made = self._batches(begin)
        if self._reading.prefetch:
            made = ahead(made, _BATCHES_AHEAD)
        self.bytes_read = self.n_skipped = 0
        for batch, bytes_read, n_skipped in made:
            self.bytes_read, self.n_skipped = bytes_read, n_skipped
            if batch is not None:
                yield batch if self._is_own else batch.with_scipy()

    def _checked(self, start: Sequence[int]) -> Position:
        whole = isinstance(start, Sequence) and len(start) == 5
        if not whole or not all(type(value) is int and 0 <= value < 1 << 62 for value in start):
            raise ValueError(f"Stream: a position is five integers of at least 0, got {start!r}.")
        position = Position(*start)
        if position.n_pass >= self.max_iter or position.file >= len(self.paths) or position.skip >= max(1, self._block):
            raise ValueError(f"Stream: the position {tuple(position)} lies outside of this stream.")
        return position

    def _batches(self, start: Position) -> Iterator[tuple[Batch | None, int, int]]:
        """Batches, each with the bytes used and the lines skipped so far. No batch: lines that held no row."""
        n_skipped = 0
        for n_pass in range(start.n_pass, self.max_iter):
            for file in range(len(self.paths)):
                if n_pass == start.n_pass and file < start.file:
                    continue
                source = self._source(file)
                here = n_pass == start.n_pass and file == start.file
                place, skip = (Mark(start.offset, start.line), start.skip) if here else (source.begin, 0)
                before = sum(self._sizes) * n_pass + sum(self._sizes[:file])
                skipped_here, n_read = 0, self._sizes[file]
                for part in source.parts(self._block or self.batch_size, place):
                    skipped_here = part.n_skipped
                    n_read = min(part.bytes_read, self._sizes[file]) if self._sizes[file] else part.bytes_read
                    progress = before + n_read, n_skipped + skipped_here
                    if part.X is None:
                        yield None, *progress
                    else:
                        for X, y, weight, rows in self._cut(part, n_pass, file, place, skip):
                            behind = Position(n_pass, file, *(part.end if rows is None else place), rows or 0)
                            yield Batch(X, y, source.path, part.first_line, behind, weight), *progress
                    place, skip = part.end, 0
                n_skipped += skipped_here
                yield None, before + (self._sizes[file] or n_read), n_skipped

    def _cut(
        self, part: Part, n_pass: int, file: int, begin: Mark, skip: int
    ) -> Iterator[tuple[Any, Any, Any, int | None]]:
        """A part as it is, or mixed and cut into batches; each with the rows of it given so far, None at its end."""
        if not self.shuffle:
            yield part.X, part.y, part.weight, None
            return
        n_rows, source = part.X.shape[0], self._source(file)
        if skip >= n_rows:
            raise source.wrong_position(begin)
        place = 0 if begin == source.begin else begin.offset  # so that a small file is mixed alike in every format
        order = np.random.default_rng([self.random_state, n_pass, file, place]).permutation(n_rows)
        for k in range(skip, n_rows, self.batch_size):
            some = order[k : k + self.batch_size]
            end = k + len(some)
            y, weight = (None if column is None else column[some] for column in (part.y, part.weight))
            yield part.X[some], y, weight, end if end < n_rows else None

    def _source(self, file: int) -> RowSource:
        """The file opened as the first one was; only the first and the last opened are kept in mind."""
        source = self._sources.get(file)
        if source is None:
            source = open_source(self.paths[file], self._reading, self._layout)
            self._sources = {0: self._sources[0], file: source}  # several iterators may use it at once
        return source


def open_stream(
    path: PathLike | Sequence[PathLike] | Any = None,
    *,
    batch_size: int = 4096,
    format: Format | None = None,
    n_features: int | None = None,
    max_features: int = MAX_FEATURES,
    target: int | str | None = -1,
    header: Header = "auto",
    delimiter: str | None = None,
    text_columns: Sequence[int | str] = (),
    drop: Sequence[int | str] = (),
    zero_based: bool | None = None,
    dtype: DTypeLike = np.float64,
    skip_malformed: bool = False,
    max_iter: int = 1,
    shuffle: int = 0,
    random_state: int = 0,
    prefetch: bool = True,
    encoding: str | None = None,
    decimal: str | None = None,
    date: str | None = None,
    missing: Sequence[str] = (),
    keep_identifiers: bool = False,
    columns: Mapping[int | str, Any] | None = None,
    layout: dict[str, Any] | None = None,
    sheet: str | int | None = None,
    sql: str | None = None,
    database: PathLike | None = None,
) -> Stream:
    """Open files, data frames or a query as a stream of batches of `batch_size` rows; the last batch of a file may be
    smaller.

    Memory use depends on the batch size and the longest line, not on the size of the files. Threads read, decompress
    and parse the next batches while you use the current one.

    Parameters
    ----------
    path : path-like, list of them, data frame, reader, callable or iterable
        A file, a pattern such as ``"day-*.svm.gz"`` (files in natural order: 2 before 10), or a list of files, read one
        after the other. Compressed files (gzip, bzip2, Zstandard) are recognised by their content. A folder of
        Parquet, CSV or JSON files is one table, to which subfolders such as ``year=2024`` add columns (in front); a
        folder of other text files holds documents, one subfolder per class. URLs that fsspec understands
        (``"s3://bucket/day-*.svm.gz"``, ``http://``, chains of them) are fetched first, into the folder that the
        environment variable THRESHER_CACHE names, or among the temporary files; a copy is used again until the file
        changes.

        Instead of files: a data frame of any library, lazy or not, a data set of pyarrow, a DuckDB relation, anything
        else with Arrow's C interface, a callable that returns one of these for each pass, or an iterable of batches.
        The rows of a reader or generator can be read only once, which allows neither a second pass nor `resume`.
    batch_size : int
        Rows in a batch.
    format : {"svmlight", "vw", "csv", "json", "excel", "parquet", "arrow", "documents"}, optional
        By default, it is inferred from the suffix (before ``.gz`` and the like) or, failing that, from the first lines.
        ``"json"`` means one object per line. Binary files of other formats raise an error.
    n_features : int, optional
        Number of columns of every batch; a larger index raises an error. By default, a batch of svmlight rows is as
        wide as its largest index, and a table has the width of its columns. Features of Vowpal Wabbit (``"vw"``) are
        hashed into this many columns, by default 2^18.
    max_features : int
        svmlight, without `n_features`: a larger index raises an error, because a model needs memory for every feature
        up to the largest index, and a typo could exhaust the memory.
    target : int, str or None
        Tables: the column with the targets, by number from 0 (negative ones count from the last) or by name; None if
        there is none. Targets may be text, and may be missing in some rows.
    header : bool or "auto"
        CSV: whether the first line holds names; by default, this is detected.
    delimiter : str, optional
        CSV: the character between fields; by default, the one that splits the first lines into equal numbers of fields.
    text_columns : list of int or str
        Tables: columns to read as text although they look like numbers, such as postcodes. Other columns are text if
        more than one in twenty of their first thousand fields is not a number; if there are fewer, these fields are
        malformed. :class:`thresher.preprocessing.TableEncoder` turns text columns into features.
    drop : list of int or str
        Tables: columns to leave out.
    zero_based : bool, optional
        svmlight: whether indices start at 0 instead of 1. By default, they do if an index 0 occurs in the first two
        megabytes.
    dtype : float64 or float32
        Type of the features. Targets are float64, or text.
    skip_malformed : bool
        Skip lines that cannot be read, and count them in ``Stream.n_skipped``, instead of raising an error.
    max_iter : int
        Number of passes over all files.
    shuffle : int
        Shuffle the rows within blocks of this many, rounded up to whole batches (at most one file); a block is held in
        memory. 0 keeps the order of the rows.
    random_state : int
        Seed of the shuffling. Each pass is shuffled differently.
    prefetch : bool
        Read ahead in threads.
    encoding : str, optional
        CSV: the encoding of the text, such as ``"cp1252"``; by default UTF-8, UTF-16 or, if it is neither, an encoding
        guessed from the bytes.
    decimal : {".", ","}, optional
        CSV: the decimal mark; by default, it is detected from unambiguous numbers.
    date : str, optional
        CSV: the order of day and month if both are possible, ``"D/M/Y"`` or ``"M/D/Y"``.
    missing : list of str
        Tables: additional markers of missing values, besides empty fields, ``NA``, ``n/a``, ``null``, ``?`` and ``-``.
    keep_identifiers : bool
        Tables: keep columns that only identify rows, such as row numbers and names that never repeat.
    columns : dict, optional
        Tables: how single columns are read, by name or number: a kind (``"number"``, ``"category"``, ``"text"``,
        ``"drop"``) or a dict such as ``{"kind": "date", "pattern": "D.M.Y"}`` or
        ``{"kind": "number", "decimal": ",", "unit": "€"}``. ``Stream.understood`` has one for each column.
    layout : dict, optional
        ``Stream.layout()`` of another stream, to read a table in the same way: columns are matched by name, the target
        may be missing, and `target`, `text_columns` and `drop` are not needed.
    sheet : str or int, optional
        Spreadsheets: the sheet, by its name or its number from 0; by default the first.
    sql : str, optional
        Instead of `path`: a query of DuckDB, such as ``"select * from 'day-*.parquet' where age > 17"``.
    database : path-like, optional
        With `sql`: a database file that the query reads from.

    Returns
    -------
    Stream
        Yields :class:`Batch`. A missing number (an empty field, ``NA``, ``NaN``, ``null``, ``?``) is NaN.

    Raises
    ------
    ValueError
        While iterating, at the first line that cannot be read: ``data.svm, line 17, column 9: ...``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from thresher.streams import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("age,dose,cured\\n31,0.5,yes\\n47,NA,no\\n25,2,yes\\n")
    ...     stream = open_stream(path, batch_size=2, target="cured")
    ...     for batch in stream:
    ...         print(np.asarray(batch.X).tolist(), batch.y, batch.first_line)
    [[31.0, 0.5], [47.0, nan]] ['yes' 'no'] 2
    [[25.0, 2.0]] ['yes'] 4
    >>> stream.feature_names
    ['age', 'dose']
    """
    order = ReadOrder(batch_size, max_iter, shuffle, random_state)
    reading = ReadOptions(
        format=format,
        n_features=n_features,
        target=target,
        header=header,
        delimiter=delimiter,
        text_columns=text_columns,
        drop=drop,
        zero_based=zero_based,
        dtype=dtype,
        skip_malformed=skip_malformed,
        prefetch=prefetch,
        encoding=encoding,
        decimal=decimal,
        date=date,
        missing=missing,
        keep_identifiers=keep_identifiers,
        columns={} if columns is None else columns,
        sheet=sheet,
        max_features=max_features,
    )
    check_value("open_stream", "layout", layout, _LAYOUT)
    if (path is None) == (sql is None) or (sql is None and database is not None):
        raise ValueError("open_stream: either path or sql must be given, and database only with sql.")
    rows: RowSource | None = None
    if sql is not None:
        from ._sql import SqlSource

        rows = SqlSource(sql, database, reading, layout)
    elif not isinstance(path, (str, os.PathLike)):
        from ._row_objects import are_rows, open_rows, peeked

        path = peeked(path)
        rows = open_rows(path, reading, layout) if are_rows(path) else None
    if rows is not None:
        return Stream([rows.path], reading, order, layout, rows)
    files, partitions = expanded(files_of(path))
    return Stream(files, dataclasses.replace(reading, partitions=partitions), order, layout)
