"""Figures of single columns, many columns at a time: missing values, quartiles, different values, small histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from .._gate import sparse
from ..streams import Table

N_BINS = 16
_MOST_FREQUENT = 5
_MOST_SPARSE = 200  # columns of sparse rows that are looked at: those with the most values
MOST_WORDS = 10_000  # different ones that are counted
_CELLS = 1 << 20  # looked at at a time


@dataclass(frozen=True)
class ColumnFigures:
    """The figures of a column.

    Attributes
    ----------
    n_rows, n_missing, n_distinct : int
        Rows counted, those without a value, and different values in the others.
    five : tuple of float
        Of numbers: the smallest, the quartiles and the largest. Quartiles are values of the column.
    mean : float or None
    frequent : dict of str to int
        Of words: the most frequent ones, and their rows.
    histogram : tuple of int
        Of numbers: rows in `N_BINS` bins of equal width. Of words: rows of the most frequent values.
    first : float, str or None
        The first value that is not missing.
    """

    n_rows: int
    n_missing: int
    n_distinct: int
    five: tuple[float, ...] = ()
    mean: float | None = None
    frequent: dict[str, int] | None = None
    histogram: tuple[int, ...] = ()
    first: float | str | None = None

    @property
    def missing(self) -> float:
        return self.n_missing / max(self.n_rows, 1)

    @property
    def is_constant(self) -> bool:
        return self.n_distinct == 1 and self.n_missing == 0


class Columns:
    """Rows, column by column: numbers in blocks, and words as codes.

    Attributes
    ----------
    names : list of str
        Of the columns that are looked at.
    n_rows, n_columns : int
        Of all rows and columns.
    words, texts : dict of str to ndarray, and to list of str
        Columns of words: codes from 0, and the words that they stand for.
    """

    def __init__(self, X: Any, names: list[str]) -> None:
        self.n_rows, self.n_columns = X.shape
        self.words: dict[str, NDArray[Any]] = {}
        self.texts: dict[str, list[str]] = {}
        self._numbers: Any
        if isinstance(X, Table):
            names, self._numbers = X.number_names, X.numbers
            for name, column in X.text.items():
                codes, rows = _core.factorize(column.offsets, column.data)
                self.words[name], self.texts[name] = codes, column.take(rows).to_list()
        elif sparse.issparse(X):
            used = np.bincount(X.indices, minlength=X.shape[1])
            some = np.sort(np.argsort(-used, kind="stable")[:_MOST_SPARSE])
            names, self._numbers = [names[j] for j in some], _dense_columns(X, some)
        else:
            self._numbers = X
        self.number_names = names
        self.names = [*names, *self.words]

    def blocks(self) -> Iterator[tuple[list[str], NDArray[np.float64]]]:
        """Names and values of some columns of numbers at a time, a row of values for each column."""
        width = max(1, _CELLS // max(1, self.n_rows))
        for begin in range(0, len(self.number_names), width):
            block = self._numbers[:, begin : begin + width]
            block = block.toarray() if sparse.issparse(block) else block
            yield self.number_names[begin : begin + width], np.ascontiguousarray(block.T, dtype=np.float64)

    def figures(self) -> dict[str, ColumnFigures]:
        """The figures of each column."""
        found: dict[str, ColumnFigures] = {}
        for names, block in self.blocks():
            found |= zip(names, number_figures(block), strict=True)
        return found | {name: word_figures(codes, self.texts[name]) for name, codes in self.words.items()}


def _dense_columns(X: Any, some: NDArray[np.intp]) -> Any:
    """Columns of CSR rows: an array, if it is looked at in one piece, or else a csc_array."""
    if X.shape[0] * len(some) > _CELLS:
        return X.tocsc()[:, some]
    place = np.full(X.shape[1], -1)
    place[some] = np.arange(len(some))
    rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), place[X.indices]
    dense = np.zeros((X.shape[0], len(some)), dtype=X.dtype)
    np.add.at(dense, (rows[columns >= 0], columns[columns >= 0]), X.data[columns >= 0])
    return dense


def number_figures(values: NDArray[np.float64]) -> list[ColumnFigures]:
    """The figures of columns of numbers, each a row of `values`; NaN is missing."""
    n_columns, n_rows = values.shape
    ordered = np.sort(values, axis=1)  # NaN last
    known = ~np.isnan(ordered)
    n_known = known.sum(axis=1)
    places = np.floor(np.linspace(0, 1, 5) * np.maximum(n_known - 1, 0)[:, None] + 0.5).astype(np.intp)
    five = np.take_along_axis(ordered, places, axis=1)
    new = (ordered[:, 1:] != ordered[:, :-1]) & known[:, 1:]
    distinct = new.sum(axis=1) + (n_known > 0)
    with np.errstate(invalid="ignore", over="ignore"):  # infinities
        means = np.where(known, ordered, 0).sum(axis=1) / np.maximum(n_known, 1)
    first = values[np.arange(n_columns), np.argmax(~np.isnan(values), axis=1)]
    counts = _histograms(ordered, known, five[:, 0], five[:, -1])
    return [
        ColumnFigures(n_rows, n_rows - n, k, tuple(row), mean, None, tuple(bars), one)
        if n
        else ColumnFigures(n_rows, n_rows, 0)
        for n, k, row, mean, bars, one in zip(
            *(each.tolist() for each in (n_known, distinct, five, means, counts, first)), strict=True
        )
    ]


def _histograms(
    values: NDArray[np.float64], known: NDArray[np.bool_], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Counts of each column in bins of equal width from its smallest to its largest value."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        shares = (values - low[:, None]) / (high - low)[:, None]
    shares = np.clip(np.nan_to_num(shares, nan=0.0), 0, 1)
    bins = np.minimum((shares * N_BINS).astype(np.int64), N_BINS - 1) + N_BINS * np.arange(len(values))[:, None]
    return np.bincount(bins[known], minlength=N_BINS * len(values)).reshape(len(values), N_BINS)


def word_figures(codes: NDArray[Any], texts: list[str]) -> ColumnFigures:
    """The figures of a column of words, given as codes; an empty text is missing."""
    counts = np.bincount(codes, minlength=len(texts))
    missing = next((code for code, text in enumerate(texts) if not text), None)
    n_missing = 0 if missing is None else int(counts[missing])
    order = [int(code) for code in np.argsort(-counts, kind="stable")[: N_BINS + 1] if code != missing][:N_BINS]
    return ColumnFigures(
        len(codes),
        n_missing,
        len(texts) - (missing is not None),
        frequent={texts[code]: int(counts[code]) for code in order[:_MOST_FREQUENT]},
        histogram=tuple(counts[order].tolist()),
        first=next(filter(None, texts), None),
    )


class RunningFigures:
    """Figures that are counted over all rows of a stream, of which only a sample is kept: missing values, means, the
    smallest and the largest number, and words."""

    def __init__(self) -> None:
        self._n_rows = 0
        self._numbers: list[NDArray[np.float64]] = []  # missing values, sums, smallest and largest of each column
        self._words: dict[str, Counter[str]] = {}

    def add(self, X: Any) -> None:
        """Count some more rows; sparse ones, whose columns may grow in number, are left to the sample."""
        if sparse.issparse(X):
            return
        self._n_rows += X.shape[0]
        numbers = X.numbers if isinstance(X, Table) else X
        with np.errstate(invalid="ignore", over="ignore"):  # infinities
            sums = np.nansum(numbers, axis=0, dtype=np.float64)
        found = [np.isnan(numbers).sum(axis=0), sums, np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)]
        if self._numbers:
            joins = (np.add, np.add, np.fmin, np.fmax)
            found = [join(old, new) for join, old, new in zip(joins, self._numbers, found, strict=True)]
        self._numbers = found
        for name, column in X.text.items() if isinstance(X, Table) else ():
            counter = self._words.setdefault(name, Counter())
            if len(counter) <= MOST_WORDS:
                codes, rows = _core.factorize(column.offsets, column.data)
                counter.update(dict(zip(column.take(rows).to_list(), np.bincount(codes).tolist(), strict=True)))

    def corrected(self, columns: Columns, figures: dict[str, ColumnFigures]) -> dict[str, ColumnFigures]:
        """The figures of a sample, those replaced that were counted over all rows."""
        if not self._n_rows:
            return figures
        found = dict(figures)
        for name, *values in zip(columns.number_names, *(each.tolist() for each in self._numbers), strict=True):
            n_missing, total, low, high = values
            n_known, sample = self._n_rows - n_missing, figures[name]
            five = (low, *(sample.five[1:4] or (low, low, low)), high) if n_known else ()
            found[name] = replace(
                sample,
                n_rows=self._n_rows,
                n_missing=n_missing,
                n_distinct=max(sample.n_distinct, (n_known > 0) + (low < high)),
                five=five,
                mean=total / n_known if n_known else None,
            )
        return found | {name: self._counted(name, figures[name]) for name in self._words}

    def _counted(self, name: str, sample: ColumnFigures) -> ColumnFigures:
        counter = self._words[name]
        if len(counter) > MOST_WORDS:
            return replace(sample, n_distinct=max(sample.n_distinct, MOST_WORDS))
        n_missing = counter.get("", 0)
        frequent = [(word, n) for word, n in counter.most_common(N_BINS + 1) if word][:N_BINS]
        return replace(
            sample,
            n_rows=self._n_rows,
            n_missing=n_missing,
            n_distinct=len(counter) - ("" in counter),
            frequent=dict(frequent[:_MOST_FREQUENT]),
            histogram=tuple(n for _, n in frequent),
        )
