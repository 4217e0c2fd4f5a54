"""Files as batches of rows: one after the other, as often as asked, mixed or as they stand, from any place on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Rule, at_least, boolean, none, one_of
from ._ahead import ahead
from ._arrow import ArrowSource
from ._csv import CsvFormat, Header
from ._documents import DocumentSource
from ._files import Format, check_alike, counts_from_zero, files_of, format_of, size_of, suffix_of
from ._format import PathLike, is_float32, require
from ._source import Mark, Part, Source, TextSource, foreign, head
from ._svmlight import SvmlightFormat

_BATCHES_AHEAD = 2


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


class Stream:
    """Batches of one or several files, made by :func:`open_stream`. Iterate over it as often as you like; each time it
    starts anew, or with :meth:`batches` where you tell it to.

    Attributes
    ----------
    paths : list of Path
        The files, in order. `path` is the first.
    batch_size, n_passes, shuffle : int
        As given.
    feature_names : list of str or None
        What the (first) file calls the features.
    n_bytes, bytes_read : int
        Size of the files times the passes, and how much of that the batches so far have used; for progress bars.
    n_skipped : int
        Malformed lines passed over so far, with ``skip_malformed=True``.
    """

    def __init__(
        self,
        paths: list[Path],
        open_source: Callable[[Path, dict[str, Any] | None], Source],
        *,
        batch_size: int,
        n_passes: int,
        shuffle: int,
        random_state: int,
        prefetch: bool,
        layout: dict[str, Any] | None,
        options: dict[str, Any],
    ) -> None:
        self.options = options  # how lines are read, in plain values
        self.paths = paths
        self.batch_size = batch_size
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self._run = -(-shuffle // batch_size) * batch_size  # whole batches
        self.bytes_read = 0
        self.n_skipped = 0
        self._prefetch = prefetch
        self._open_source = open_source
        self._sources: dict[int, Source] = {0: open_source(paths[0], layout)}
        self._sizes = [self._sources[0].n_bytes, *(size_of(path) for path in paths[1:])]
        self.n_bytes = sum(self._sizes) * n_passes
        self.feature_names = self._sources[0].feature_names
        self._layout = layout if layout is not None else self._sources[0].layout()

    @property
    def path(self) -> Path:
        return self.paths[0]

    @property
    def start(self) -> Position:
        """Where the first batch begins."""
        return Position(0, 0, *self._sources[0].begin)

    def layout(self) -> dict[str, Any]:
        """Names and kinds of the columns, to open another file alike: ``open_stream(..., layout=...)``."""
        return dict(self._layout)

    def __repr__(self) -> str:
        files = repr(self.path.name) if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"Stream({files}, batch_size={self.batch_size}, n_bytes={self.n_bytes})"

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def batches(self, start: Sequence[int] | None = None) -> Iterator[Batch]:
        """The batches from `start` on, the ``position`` of an earlier batch, of this stream or of one opened alike."""
        begin = self.start if start is None else self._checked(start)
        made = self._batches(begin)
        if self._prefetch:
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
        if position.n_pass >= self.n_passes or position.file >= len(self.paths) or position.skip >= max(1, self._run):
            raise ValueError(f"Stream: the position {tuple(position)} lies outside of this stream.")
        return position

    def _batches(self, start: Position) -> Iterator[tuple[Batch | None, int, int]]:
        """Batches, each with the bytes used and the lines skipped so far. No batch: lines that held no row."""
        n_skipped = 0
        for n_pass in range(start.n_pass, self.n_passes):
            for file in range(len(self.paths)):
                if n_pass == start.n_pass and file < start.file:
                    continue
                source = self._source(file)
                here = n_pass == start.n_pass and file == start.file
                place, skip = (Mark(start.offset, start.line), start.skip) if here else (source.begin, 0)
                before = sum(self._sizes) * n_pass + sum(self._sizes[:file])
                skipped_here = 0
                for part in source.parts(self._run or self.batch_size, place):
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
            raise foreign(self.paths[file], begin)
        order = np.random.default_rng([self.random_state, n_pass, file, begin.offset]).permutation(n_rows)
        for k in range(skip, n_rows, self.batch_size):
            some = order[k : k + self.batch_size]
            end = k + len(some)
            yield part.X[some], None if part.y is None else part.y[some], end if end < n_rows else None

    def _source(self, file: int) -> Source:
        """The file opened as the first one was; only the first and the last opened are kept in mind."""
        source = self._sources.get(file)
        if source is None:
            source = self._open_source(self.paths[file], self._layout)
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
    n_passes: int = 1,
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
    n_passes : int
        How often all files are read, one pass after the other.
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
    require("open_stream", "batch_size", at_least(1), batch_size)
    require("open_stream", "format", none | one_of("svmlight", "csv", "parquet", "arrow", "documents"), format)
    require("open_stream", "n_features", none | at_least(1), n_features)
    require("open_stream", "skip_malformed", boolean, skip_malformed)
    require("open_stream", "zero_based", none | boolean, zero_based)
    require("open_stream", "prefetch", boolean, prefetch)
    require("open_stream", "n_passes", at_least(1), n_passes)
    require("open_stream", "shuffle", at_least(0), shuffle)
    require("open_stream", "random_state", at_least(0), random_state)
    require("open_stream", "text_columns", _columns, text_columns)
    require("open_stream", "drop", _columns, drop)
    require("open_stream", "layout", none | _layout, layout)
    is_float32("open_stream", dtype)

    def open_source(file: Path, layout: dict[str, Any] | None) -> Source:
        kind = format or format_of(file)
        if layout is not None:
            check_alike(file, kind, layout)
        if zero_based and kind != "svmlight":
            raise ValueError("open_stream: zero_based is for svmlight files.")
        if kind == "documents":
            if not file.is_dir():
                raise ValueError(f"{file.name}: documents are read from a folder with a sub-folder for each class.")
            return DocumentSource(file)
        if kind in ("parquet", "arrow"):
            return ArrowSource(
                file,
                kind,
                n_features=n_features,
                target=target,
                text_columns=text_columns,
                drop=drop,
                dtype=dtype,
                layout=layout,
            )
        if kind == "csv":
            text, complete = head(file)
            tabs = "\t" if suffix_of(file) == ".tsv" else None
            csv = CsvFormat(
                file.name,
                text,
                complete,
                n_features=n_features,
                target=target,
                header=header,
                delimiter=delimiter if delimiter is not None else tabs,
                dtype=dtype,
                text_columns=text_columns,
                drop=drop,
                layout=layout,
            )
            return TextSource(file, csv, bool(skip_malformed), bool(prefetch))
        if (target, header, delimiter, *text_columns, *drop) != (-1, "auto", None):
            raise ValueError("open_stream: target, header, delimiter, text_columns and drop are for tables.")
        from_zero = zero_based if layout is None else bool(layout["zero_based"])
        if from_zero is None:
            from_zero = counts_from_zero(file)
        svmlight = SvmlightFormat("open_stream", n_features, from_zero, dtype)
        return TextSource(file, svmlight, bool(skip_malformed), bool(prefetch))

    return Stream(
        files_of(path),
        open_source,
        batch_size=int(batch_size),
        n_passes=int(n_passes),
        shuffle=int(shuffle),
        random_state=int(random_state),
        prefetch=bool(prefetch),
        layout=layout,
        options={
            "skip_malformed": bool(skip_malformed),
            "delimiter": delimiter,
            "n_features": None if n_features is None else int(n_features),
            "dtype": str(np.dtype(dtype)),
        },
    )


_layout = Rule("the layout() of another stream", lambda v: isinstance(v, dict))
_columns = Rule(
    "a list of column names or numbers",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(c, (str, int)) for c in v),
)
