"""A file as batches of rows: read block by block, never as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._params import at_least, boolean, none, one_of
from ._csv import CsvFormat, Header
from ._format import PathLike, Piece, TextFormat, file_size, require
from ._svmlight import SvmlightFormat

_BLOCK = 1 << 21  # bytes asked of the file at a time
_SUFFIXES = {"svmlight": (".svm", ".svmlight", ".libsvm", ".txt"), "csv": (".csv", ".tsv")}


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive rows of a stream.

    Attributes
    ----------
    X : csr_array or ndarray of shape (n_rows, n_features)
        The features.
    y : ndarray of shape (n_rows,)
        The targets.
    first_line : int
        The line of the file, counted from 1, where the text of the batch begins.
    position : int
        The byte of the file behind the batch, where the next one begins.
    """

    X: Any
    y: NDArray[np.float64]
    first_line: int
    position: int

    def __len__(self) -> int:
        return len(self.y)


class Stream:
    """Batches of a file, made by :func:`open_stream`. Iterate over it as often as you like; each time it starts anew.

    Attributes
    ----------
    path : Path
        The file.
    batch_size : int
        Rows in every batch but the last.
    feature_names : list of str or None
        What the header of a CSV file calls the features.
    n_bytes, bytes_read : int
        Size of the file, and how much of it the batches so far have used; for progress bars.
    n_skipped : int
        Malformed lines passed over so far, with ``skip_malformed=True``.
    """

    def __init__(self, path: Path, text_format: TextFormat, batch_size: int, skip_malformed: bool) -> None:
        self.path = path
        self.batch_size = batch_size
        self.feature_names = text_format.feature_names
        self.n_bytes = file_size(path)
        self.bytes_read = 0
        self.n_skipped = 0
        self._format = text_format
        self._skip_malformed = skip_malformed

    def __repr__(self) -> str:
        return f"Stream({self.path.name!r}, batch_size={self.batch_size}, n_bytes={self.n_bytes})"

    def __iter__(self) -> Iterator[Batch]:
        self.bytes_read = self.n_skipped = 0
        first_line, position = self._format.first_line, self._format.start
        with FileIO(self.path) as file:
            file.seek(position)
            window = _Window(file)
            while not window.is_over():
                pieces: list[Piece] = []
                line, wanted = first_line, self.batch_size
                while wanted > 0 and not window.is_over():
                    piece = self._parse(window, line, wanted)
                    window.drop(piece.consumed)
                    position += piece.consumed
                    line += piece.lines
                    wanted -= piece.n_rows
                    self.n_skipped += piece.skipped
                    if piece.n_rows > 0:
                        pieces.append(piece)
                    if wanted > 0:
                        window.fill()
                self.bytes_read = position
                if pieces:
                    X, y = self._format.join(pieces)
                    yield Batch(X, y, first_line, position)
                first_line = line

    def _parse(self, window: _Window, first_line: int, max_rows: int) -> Piece:
        try:
            return self._format.parse(
                window.text,
                final=window.at_end,
                first_line=first_line,
                max_rows=max_rows,
                skip_malformed=self._skip_malformed,
            )
        except ValueError as refusal:
            raise ValueError(f"{self.path.name}, {refusal}") from None


class _Window:
    """The text under the parser: a part of the file in a buffer that is used again and again, and grows only if a
    single line does not fit."""

    def __init__(self, file: FileIO) -> None:
        self.at_end = False  # no more text will come
        self._file = file
        self._buffer = memoryview(bytearray(_BLOCK))
        self._begin = self._end = 0

    @property
    def text(self) -> memoryview:
        return self._buffer[self._begin : self._end]

    def is_over(self) -> bool:
        return self.at_end and self._begin == self._end

    def drop(self, n_bytes: int) -> None:
        self._begin += n_bytes

    def fill(self) -> None:
        rest = self.text
        buffer = self._buffer if len(rest) < len(self._buffer) else memoryview(bytearray(2 * len(rest)))
        buffer[: len(rest)] = rest
        self._buffer, self._begin, self._end = buffer, 0, len(rest)
        n_read = self._file.readinto(buffer[self._end :])
        self._end += n_read
        self.at_end = n_read == 0


def open_stream(
    path: PathLike,
    *,
    batch_size: int = 4096,
    format: Literal["svmlight", "csv"] | None = None,
    n_features: int | None = None,
    target: int | str = -1,
    header: Header = "auto",
    delimiter: str | None = None,
    zero_based: bool = False,
    dtype: DTypeLike = np.float64,
    skip_malformed: bool = False,
) -> Stream:
    """Open a file as a stream of batches, each of `batch_size` rows and the last one of what is left.

    Memory is bounded by the batch (and the longest line), whatever the size of the file.

    Parameters
    ----------
    path : path-like
        A plain (uncompressed) file.
    batch_size : int
        Rows in a batch.
    format : {"svmlight", "csv"}, optional
        By default the suffix decides: ``.svm``, ``.svmlight``, ``.libsvm`` and ``.txt`` are svmlight, ``.csv`` and
        ``.tsv`` are CSV.
    n_features : int, optional
        Width of every batch; a larger index is refused. By default a batch of svmlight rows is as wide as its own
        largest column, and a CSV file decides by itself.
    target : int or str
        CSV: the column with the targets, by number from 0 (negative ones count from the last) or by name.
    header : bool or "auto"
        CSV: whether the first line holds names. ``"auto"`` takes it for a header if none of its fields is a number.
    delimiter : str, optional
        CSV: the character between fields; by default a tab in ``.tsv`` files and a comma in others.
    zero_based : bool
        svmlight: whether indices start at 0 instead of 1.
    dtype : float64 or float32
        Type of the features. Targets are always float64.
    skip_malformed : bool
        Skip lines that cannot be read, and count them in ``Stream.n_skipped``, instead of refusing the file.

    Returns
    -------
    Stream
        Yields :class:`Batch`, with a CSR array for svmlight and a dense one for CSV, where an empty field is NaN.

    Raises
    ------
    ValueError
        While iterating, at the first line that cannot be read: ``data.svm, line 17, column 9: ...``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.streams import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("age,dose,cured\\n31,0.5,1\\n47,,0\\n25,2,1\\n")
    ...     stream = open_stream(path, batch_size=2, target="cured")
    ...     for batch in stream:
    ...         print(batch.X.tolist(), batch.y, batch.first_line)
    [[31.0, 0.5], [47.0, nan]] [1. 0.] 2
    [[25.0, 2.0]] [1.] 4
    >>> stream.feature_names
    ['age', 'dose']
    """
    require("open_stream", "batch_size", at_least(1), batch_size)
    require("open_stream", "format", none | one_of("svmlight", "csv"), format)
    require("open_stream", "n_features", none | at_least(1), n_features)
    require("open_stream", "skip_malformed", boolean, skip_malformed)
    path = Path(path)
    suffix = path.suffix.lower()
    kind: str | None = format or next((kind for kind, suffixes in _SUFFIXES.items() if suffix in suffixes), None)
    if kind is None:
        raise ValueError(f'open_stream: {path.name!r} does not tell its format; pass "svmlight" or "csv" as format.')
    file_size(path)
    text_format: TextFormat
    if kind == "csv":
        if zero_based:
            raise ValueError("open_stream: zero_based is for svmlight files.")
        delimiter = delimiter if delimiter is not None else "\t" if suffix == ".tsv" else ","
        text_format = CsvFormat(path, n_features, target, header, delimiter, dtype)
    else:
        if (target, header, delimiter) != (-1, "auto", None):
            raise ValueError("open_stream: target, header and delimiter are for CSV files.")
        text_format = SvmlightFormat("open_stream", n_features, zero_based, dtype)
    return Stream(path, text_format, int(batch_size), bool(skip_malformed))
