"""Batches of a stream: some rows, and the position of the next ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import SparseRows


class Position(NamedTuple):
    """A place in a stream, between two batches; five integers, so it can be stored anywhere.

    Attributes
    ----------
    n_pass, file : int
        Pass and file, counted from 0.
    offset, line : int
        Byte of the (decompressed) text and line, counted from 1; for tables and documents, rows.
    skip : int
        Rows after `offset` that a shuffled block has already yielded.
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
        The features: a CSR array from svmlight and Vowpal Wabbit, a table from files with column names or text,
        otherwise an array.
    y : ndarray of shape (n_rows,) or None
        The targets: numbers, or an object array of text. None if the file has none. A missing number is NaN, a
        missing text is empty; see :func:`has_target`.
    path : Path
        The file.
    first_line : int
        The line of the file, counted from 1, where the text of the batch begins (of its block, if rows are shuffled).
    position : Position
        Where the next batch begins.
    weight : ndarray of shape (n_rows,) or None
        The importance of each row; None if all are 1. Rows of weight 0 are predicted, but not learned from.
    """

    X: Any
    y: NDArray[Any] | None
    path: Path
    first_line: int
    position: Position
    weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def with_scipy(self) -> Batch:
        """Return the batch, its sparse rows as a csr_array."""
        return dataclasses.replace(self, X=self.X.tocsr()) if isinstance(self.X, SparseRows) else self

    def row_weights(self) -> NDArray[np.float64]:
        """Return the weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def present(self) -> Batch:
        """Return the batch without its rows of weight 0, which are not learned from."""
        return self if self.weight is None or self.weight.all() else self._some(self.weight > 0)

    def labelled(self) -> Batch:
        """Return the rows that have a target; all of them, if the file has no targets at all."""
        return self if self.y is None or (there := has_target(self.y)).all() else self._some(there)

    def _some(self, wanted: NDArray[np.bool_]) -> Batch:
        rows = np.flatnonzero(wanted)
        y, weight = (None if each is None else each[rows] for each in (self.y, self.weight))
        return dataclasses.replace(self, X=self.X[rows], y=y, weight=weight)


def has_target(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the targets that are not missing: a missing number is NaN, a missing text is empty.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)

    Returns
    -------
    bool ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.streams import has_target
    >>> has_target(np.array([1.0, np.nan, 0.0])).tolist()
    [True, False, True]
    """
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    return np.asarray(y != "") if y.dtype.kind in "OU" else np.ones(len(y), dtype=bool)
