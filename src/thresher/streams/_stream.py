"""Files as batches of rows: one after the other, as often as asked, mixed or as they stand, from any place on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Rule, at_least, check_value, none
from ._ahead import ahead
from ._files import files_of, open_source, size_of
from ._source import Format, Header, Mark, Part, PathLike, ReadOptions, RowSource

_BATCHES_AHEAD = 2
_LAYOUT = none | Rule("the layout() of another stream", lambda v: isinstance(v, dict))


class Position(NamedTuple):
    """A place in a stream, between two batches; five integers, so it can be stored anywhere.

    Attributes
    ----------
    n_pass, file : int
        Pass and file, counted from 0.
    offset, line : int
        Byte of the (decompressed) text and line, counted from 1; for tables and documents, rows.
    skip : int
        Rows behind `offset` that a shuffled block has already given.
    """

    n_pass: int
    file: int
    offset: int
    line: int
    skip: int = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a stream.

    Attributes
    ----------
    X : csr_array, ndarray or Table of shape (n_rows, n_features)
        The features: a CSR array from svmlight, a table from files with column names or text, otherwise an array.
    y : ndarray of shape (n_rows,) or None
        The targets: numbers, or an object array of text. None where the file has none.
    path : Path
        The file.
    first_line : int
        The line of the file, counted from 1, where the text of the batch begins (of its block, if rows are shuffled).
    position : Position
        Where the next batch begins.
    """

    X: Any
    y: NDArray[Any] | None
    path: Path
    first_line: int
    position: Position

    def __len__(self) -> int:
        return int(self.X.shape[0])


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
    """Batches of one or several files, made by :func:`open_stream`. Iterate over it as often as you like; each time it
    starts anew, or with :meth:`batches` at a position that you give.

    Attributes
    ----------
    paths : list of Path
        The files, in order. `path` is the first.
    batch_size, max_iter, shuffle, random_state : int
        As given.
    feature_names : list of str or None
        Names of the features in the (first) file.
    columns : list of str or None
        Names of all columns of the (first) file, if it is a table.
    n_bytes, bytes_read : int
        Size of the files times the passes, and how much of that the batches so far have used; for progress bars.
    n_skipped : int
        Malformed lines passed over so far, with ``skip_malformed=True``.
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
        self._block = -(-self.shuffle // self.batch_size) * self.batch_size  # whole batches
        self._sources = {0: open_source(paths[0], reading, layout) if first is None else first}
        self._sizes = [self._sources[0].n_bytes, *(size_of(path) for path in paths[1:])]
        self.n_bytes = sum(self._sizes) * self.max_iter
        self.feature_names = self._sources[0].feature_names
        self.columns = self._sources[0].columns
        self._layout = layout if layout is not None else self._sources[0].layout()

    def replace(self, **options: Any) -> Stream:
        """Return a stream of the same files that reads them in another way, without looking at them again.

        Parameters
        ----------
        **options
            `batch_size`, `max_iter`, `shuffle`, `random_state` and, for svmlight, `n_features`, as in
            :func:`open_stream`.
        """
        width = {name: options.pop(name) for name in ("n_features",) if name in options}
        reading, order = dataclasses.replace(self._reading, **width), dataclasses.replace(self._order, **options)
        first = self._sources[0] if reading == self._reading else None
        return Stream(self.paths, reading, order, self._layout, first)

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
    def path(self) -> Path:
        return self.paths[0]

    @property
    def start(self) -> Position:
        """The position of the first batch."""
        return Position(0, 0, *self._sources[0].begin)

    def layout(self) -> dict[str, Any]:
        """Names and kinds of the columns, to open another file in the same way: ``open_stream(..., layout=...)``."""
        return dict(self._layout)

    def __repr__(self) -> str:
        files = repr(self.path.name) if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"Stream({files}, batch_size={self.batch_size}, n_bytes={self.n_bytes})"

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def batches(self, start: Sequence[int] | None = None) -> Iterator[Batch]:
        """The batches from `start` on, the ``position`` of an earlier batch of a stream with the same options."""
        begin = self.start if start is None else self._checked(start)
        made = self._batches(begin)
        if self._reading.prefetch:
            made = ahead(made, _BATCHES_AHEAD)
        self.bytes_read = self.n_skipped = 0
        for batch, bytes_read, n_skipped in made:
            self.bytes_read, self.n_skipped = bytes_read, n_skipped
            if batch is not None:
                yield batch

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
                skipped_here = 0
                for part in source.parts(self._block or self.batch_size, place):
                    skipped_here = part.n_skipped
                    progress = before + min(part.bytes_read, self._sizes[file]), n_skipped + skipped_here
                    if part.X is None:
                        yield None, *progress
                    else:
                        for X, y, rows in self._cut(part, n_pass, file, place, skip):
                            behind = Position(n_pass, file, *(part.end if rows is None else place), rows or 0)
                            yield Batch(X, y, source.path, part.first_line, behind), *progress
                    place, skip = part.end, 0
                n_skipped += skipped_here
                yield None, before + self._sizes[file], n_skipped

    def _cut(self, part: Part, n_pass: int, file: int, begin: Mark, skip: int) -> Iterator[tuple[Any, Any, int | None]]:
        """A part as it is, or mixed and cut into batches; each with the rows of it given so far, None at its end."""
        if not self.shuffle:
            yield part.X, part.y, None
            return
        n_rows = part.X.shape[0]
        if skip >= n_rows:
            raise self._source(file).wrong_position(begin)
        order = np.random.default_rng([self.random_state, n_pass, file, begin.offset]).permutation(n_rows)
        for k in range(skip, n_rows, self.batch_size):
            some = order[k : k + self.batch_size]
            end = k + len(some)
            yield part.X[some], None if part.y is None else part.y[some], end if end < n_rows else None

    def _source(self, file: int) -> RowSource:
        """The file opened as the first one was; only the first and the last opened are kept in mind."""
        source = self._sources.get(file)
        if source is None:
            source = open_source(self.paths[file], self._reading, self._layout)
            self._sources = {0: self._sources[0], file: source}  # several iterators may be at it
        return source


def open_stream(
    path: PathLike | Sequence[PathLike],
    *,
    batch_size: int = 4096,
    format: Format | None = None,
    n_features: int | None = None,
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
    layout: dict[str, Any] | None = None,
) -> Stream:
    """Open files as a stream of batches, each of `batch_size` rows and the last one of a file of what is left.

    Memory is bounded by the batch (and the longest line), whatever the size of the files. The next batches are read,
    decompressed and parsed in threads while you use the last one.

    Parameters
    ----------
    path : path-like or list of them
        A file, a pattern such as ``"day-*.svm.gz"`` (files in natural order: 2 before 10), or a list of files, read one
        after the other. Compressed files (gzip, bzip2, Zstandard) are recognised by their content. A folder holds
        documents, one sub-folder per class. URLs that fsspec understands (``"s3://bucket/day-*.svm.gz"``, ``http://``,
        chains of them) are fetched first, into the folder that the environment variable THRESHER_CACHE names, or
        among the temporary files; a copy is used again until the file changes.
    batch_size : int
        Rows in a batch.
    format : {"svmlight", "csv", "parquet", "arrow", "documents"}, optional
        By default the suffix decides (before ``.gz`` and the like), and where it says nothing, the first line.
    n_features : int, optional
        Width of every batch; a larger index is refused. By default a batch of svmlight rows is as wide as its own
        largest column, and a table decides by itself.
    target : int, str or None
        Tables: the column with the targets, by number from 0 (negative ones count from the last) or by name; None if
        there is none. Words are welcome as targets.
    header : bool or "auto"
        CSV: whether the first line holds names; by default it is compared with the lines below.
    delimiter : str, optional
        CSV: the character between fields; by default the one that cuts the first lines evenly.
    text_columns : list of int or str
        Tables: columns to take as text though they look like numbers, such as postcodes. Columns with words are text by
        themselves, if more than one field in twenty of the first thousand rows is a word (fewer are mistakes, and
        malformed); :class:`thresher.preprocessing.TableEncoder` makes features of them.
    drop : list of int or str
        Tables: columns to leave out.
    zero_based : bool, optional
        svmlight: whether indices start at 0 instead of 1. By default they do if an index 0 stands in the first two
        megabytes.
    dtype : float64 or float32
        Type of the features. Targets are float64, or text.
    skip_malformed : bool
        Skip lines that cannot be read, and count them in ``Stream.n_skipped``, instead of refusing the file.
    max_iter : int
        Passes over all files, one after the other.
    shuffle : int
        Mix the rows of each run of so many, rounded up to whole batches (at most one file), before they are cut into
        batches; that many are held in memory. 0 leaves rows as they stand.
    random_state : int
        Seed of the mixing. Each pass is mixed anew.
    prefetch : bool
        Whether to work ahead in threads.
    layout : dict, optional
        ``Stream.layout()`` of another stream, to read a table as that one was read: columns are found by name, the
        target may be missing, and `target`, `text_columns` and `drop` are not needed.

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
    )
    check_value("open_stream", "layout", layout, _LAYOUT)
    return Stream(files_of(path), reading, order, layout)
