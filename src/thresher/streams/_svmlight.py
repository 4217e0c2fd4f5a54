"""The svmlight format: ``target index:value index:value ... # comment``, one row a line."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .. import _core
from .._gate import SparseRows, as_csr, at_least, boolean, checked, none, sparse
from .._output import writing
from ._compression import TextBytes, compression
from ._source import BYTE_ORDER_MARK, FLOAT, Parsed, PathLike, Text, TextFormat

_VALUES_PER_WRITE = 1 << 20


class SvmlightFormat(TextFormat):
    """svmlight text to CSR arrays, as wide as `n_features` or, without it, as their own largest column."""

    def __init__(
        self, n_features: int | None, zero_based: bool, dtype: DTypeLike, max_features: int | None = None
    ) -> None:
        self.n_features = None if n_features is None else int(n_features)
        self.max_features = None if max_features is None else int(max_features)
        self.zero_based = bool(zero_based)
        self.float32 = np.dtype(dtype) == np.float32

    def layout(self) -> dict[str, Any]:
        return {"zero_based": self.zero_based}

    def parse(self, text: Text, **limits: Any) -> Parsed:
        targets, *rows, consumed, lines, skipped = _core.parse_svmlight(
            text,
            zero_based=self.zero_based,
            n_features=self.n_features,
            max_features=self.max_features,
            float32=self.float32,
            **limits,
        )
        return Parsed((targets, *rows), len(targets), consumed, lines, skipped)

    def join(self, pieces: Sequence[Parsed]) -> tuple[SparseRows, NDArray[np.float64]]:
        targets, values, columns, starts, widths = zip(*(piece.rows for piece in pieces), strict=True)
        width = max(widths) if self.n_features is None else self.n_features
        return joined_rows(values, columns, starts, width), joined(targets)


def joined_rows(
    values: Sequence[NDArray[Any]], columns: Sequence[NDArray[Any]], starts: Sequence[NDArray[Any]], width: int
) -> SparseRows:
    """Pieces of rows from a parser, which has sorted their columns, as one array."""
    ends = np.cumsum([s[-1] for s in starts])  # each piece counts its values from 0
    starts = (starts[0], *(s[1:] + end for s, end in zip(starts[1:], ends[:-1], strict=True)))
    data, indices, indptr = joined(values), joined(columns), joined(starts)
    if indptr[-1] <= np.iinfo(indices.dtype).max:  # SciPy would copy the columns to match the wider starts
        indptr = indptr.astype(indices.dtype, copy=False)
    return SparseRows(data, indices, indptr, (len(indptr) - 1, width))


def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


@checked(n_features=none | at_least(1), dtype=FLOAT, zero_based=boolean)
def read_svmlight(
    path: PathLike, *, n_features: int | None = None, dtype: DTypeLike = np.float64, zero_based: bool = False
) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    """Read a whole svmlight file.

    The file is memory-mapped and read in one pass. Comments, blank lines and ``qid:`` entries are ignored, and a row
    may list its columns in any order. For a file that does not fit into memory, see :func:`open_stream`.

    Parameters
    ----------
    path : path-like
        A file, which must not be cut short while it is read. Compressed ones (gzip, bzip2, Zstandard) are decompressed
        in memory.
    n_features : int, optional
        Number of columns; a larger index raises an error. By default it is the largest index in the file.
    dtype : float64 or float32
        Type of the values. Targets are always float64.
    zero_based : bool
        Whether the indices of the file start at 0 instead of 1.

    Returns
    -------
    X : scipy.sparse.csr_array of shape (n_rows, n_features)
        Columns sorted and unique in each row, ``int32`` if they fit.
    y : ndarray of shape (n_rows,)

    Raises
    ------
    ValueError
        If a line is malformed or a number is not finite, with the place: ``data.svm, line 17, column 9: ...``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.streams import read_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.svm")
    ...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1.25 # a comment\\n")
    ...     X, y = read_svmlight(path)
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 1.25, 0.  ]])
    >>> y
    array([ 1., -1.])
    """
    text_format = SvmlightFormat(n_features, zero_based, dtype)
    name = Path(path).name
    with _whole_text(Path(path)) as whole:
        marked = whole[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK
        text = whole[len(BYTE_ORDER_MARK) :] if marked else whole  # a copy, because a map that is lent cannot be closed
        try:
            piece = text_format.parse(text, final=True, first_line=1, max_rows=-1, skip_malformed=False)
        except ValueError as refusal:
            raise ValueError(f"{name}, {refusal}") from None
    if piece.n_rows == 0:
        raise ValueError(f"{name}: the file has no rows.")
    X, y = text_format.join([piece])
    return X.tocsr(), y


def _whole_text(path: Path) -> AbstractContextManager[Any]:
    """A map of the file, or its text in memory if it is compressed."""
    if compression(path) is not None:
        with TextBytes(path) as file:
            return nullcontext(b"".join(file.blocks()))
    with open(path, "rb") as text:
        return mmap.mmap(text.fileno(), 0, access=mmap.ACCESS_READ)


@checked(zero_based=boolean)
def write_svmlight(path: PathLike | IO[bytes], X: Any, y: ArrayLike, *, zero_based: bool = False) -> None:
    """Write rows and targets as svmlight text.

    Every number is written as the shortest text that reads back as the same number, so nothing is lost.

    Parameters
    ----------
    path : path-like or binary file
        The file to write. An existing file is replaced; an open file is written to at its current position.
    X : array-like or sparse array of shape (n_rows, n_features)
        Zeros of a dense array are left out; those stored in a sparse one are written.
    y : array-like of shape (n_rows,)
        Finite numbers. Whole ones are written without a decimal point.
    zero_based : bool
        Whether to count columns from 0 instead of 1.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.streams import write_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.svm")
    ...     write_svmlight(path, [[0.1, 0.0], [0.0, 3.0]], [1, -1])
    ...     print(path.read_text(), end="")
    1 1:0.1
    -1 2:3
    """
    rows, targets = _writable(X, y)
    n_rows, width = rows.shape
    values_per_row = rows.nnz / max(n_rows, 1) if sparse.issparse(rows) else width
    step = max(1, int(_VALUES_PER_WRITE / max(values_per_row, 1)))
    with writing(path) if isinstance(path, str | os.PathLike) else nullcontext(path) as file:
        for begin in range(0, n_rows, step):
            part, labels = sparse.csr_array(rows[begin : begin + step]), targets[begin : begin + step]
            starts = part.indptr.astype(np.int64)
            file.write(_core.format_svmlight(part.data, part.indices, starts, labels, bool(zero_based)))


def _writable(X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.float64]]:
    """CSR or dense rows of float32 or float64, and as many targets, all finite; refused before a file is touched."""
    rows: Any = X if sparse.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"write_svmlight: X must have 2 dimensions, got {rows.ndim}.")
    if sparse.issparse(rows):
        rows = sparse.csr_array(as_csr(rows, "write_svmlight"))
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    try:
        rows = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
        targets = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("write_svmlight: X and y must be numbers.") from None
    if targets.shape != (rows.shape[0],):
        raise ValueError(f"write_svmlight: y must have shape ({rows.shape[0]},), one per row, got {targets.shape}.")
    for name, numbers in (("X", rows.data if sparse.issparse(rows) else rows), ("y", targets)):
        if not np.isfinite(numbers).all():
            raise ValueError(f"write_svmlight: {name} must be finite, but holds an infinity or NaN.")
    return rows, targets
