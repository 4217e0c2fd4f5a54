"""Columns that predict the target nearly perfectly on their own, because they were recorded after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from ._column_summary import Columns

_FEWEST_ROWS, _MOST_ROWS = 100, 10_000
_MOST_CANDIDATES = 500
_ERROR, _EXPLAINED = 0.01, 0.99
_LEAST_GUESS = 0.05  # a guess that is right more often leaves nothing to find
_FEWEST_RIGHT = 10  # rows that a guess has wrong and the column right


@dataclass(frozen=True)
class Leak:
    """A column, and how well a rule of it alone does on rows from which the rule was not made.

    `error` is the share of wrong classes, beside that of always guessing the most frequent one; of numbers to predict,
    the share of the variance that is not explained, beside 1.
    """

    name: str
    error: float
    guess: float


def find_leaks(columns: Columns, target: NDArray[np.float64], is_class: bool) -> list[Leak]:
    """Find the columns that predict the target nearly perfectly, the best first.

    Classes are predicted by the most frequent class among training rows of the same value or, of numbers, of a value
    nearby; numbers by straight lines from one training row to the next. Each half of the rows is predicted by the
    other.

    Parameters
    ----------
    columns : Columns
    target : ndarray of shape (n_rows,)
        Codes of classes from 0, or numbers; NaN where it is missing.
    is_class : bool
    """
    rows = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(target)))[:_MOST_ROWS]
    if len(rows) < _FEWEST_ROWS:
        return []
    rule = _ClassRule(target[rows].astype(np.int64)) if is_class else _NumberRule(target[rows])
    if not rule.is_open:
        return []
    near = []
    for names, block in columns.blocks():
        values = block[:, rows]
        values[np.isnan(values)] = np.inf
        roughness = rule.roughness(values)
        near += [(roughness[j], names[j], values[j]) for j in np.flatnonzero(roughness < rule.smooth)]
        near = sorted(near, key=lambda one: one[0])[:_MOST_CANDIDATES]
    errors = {name: rule.error(values, ordered=True) for _, name, values in near}
    errors |= {name: rule.error(codes[rows].astype(np.float64), ordered=False) for name, codes in columns.words.items()}
    found = [Leak(name, error, rule.guess) for name, error in errors.items() if rule.is_found(error)]
    return sorted(found, key=lambda leak: leak.error)


def _halves(n: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    even, odd = slice(0, n, 2), slice(1, n, 2)
    return (even, odd), (odd, even)


def _nearest(known: NDArray[np.float64], values: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places of the nearest values among sorted ones, given where they would be inserted."""
    left, right = np.maximum(places - 1, 0), np.minimum(places, len(known) - 1)
    with np.errstate(invalid="ignore"):  # infinity minus itself
        return np.where(values - known[left] <= known[right] - values, left, right)


class _ClassRule:
    """Classes, by the rows of the same or nearby values."""

    def __init__(self, codes: NDArray[np.int64]) -> None:
        self._codes = np.unique(codes, return_inverse=True)[1]
        shares = np.bincount(self._codes) / len(codes)
        self._ones = np.eye(len(shares), dtype=np.int32)[self._codes]
        self.guess = float(1 - shares.max())
        self.is_open = self.guess >= _LEAST_GUESS and self.guess * len(codes) >= _FEWEST_RIGHT
        self.smooth = float(1 - np.sum(shares**2)) / 2  # half of what is to be expected of an order by chance

    def roughness(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how often the class changes from one row to the next, with rows sorted by each column."""
        ordered = self._codes[np.argsort(values, axis=1)]
        return np.asarray((ordered[:, 1:] != ordered[:, :-1]).mean(axis=1))

    def is_found(self, error: float) -> bool:
        return error <= min(_ERROR, self.guess / 10)

    def error(self, values: NDArray[np.float64], ordered: bool) -> float:
        """The share of wrong classes, by the nearest training row or five around it, whichever is better."""
        wrong = [
            sum(self._n_wrong(values, n_nearest, ordered, *half) for half in _halves(len(values)))
            for n_nearest in ((1, 5) if ordered else (0,))
        ]
        return min(wrong) / len(values)

    def _n_wrong(self, values: NDArray[np.float64], n_nearest: int, ordered: bool, learn: slice, test: slice) -> int:
        order = np.argsort(values[learn], kind="stable")
        known = values[learn][order]
        up_to = np.concatenate([np.zeros_like(self._ones[:1]), np.cumsum(self._ones[learn][order], axis=0)])
        low, high = (np.searchsorted(known, values[test], side) for side in ("left", "right"))
        if ordered:
            alone = low == high
            begin = np.clip(_nearest(known, values[test], low) - n_nearest // 2, 0, len(known) - n_nearest)
            low, high = np.where(alone, begin, low), np.where(alone, begin + n_nearest, high)
        new = low == high
        low, high = np.where(new, 0, low), np.where(new, len(known), high)  # a new word: the most frequent class
        return int(np.sum(np.argmax(up_to[high] - up_to[low], axis=1) != self._codes[test]))


class _NumberRule:
    """Numbers, by lines through the training rows."""

    guess = 1.0
    smooth = 0.05

    def __init__(self, target: NDArray[np.float64]) -> None:
        self._target = target
        self._variance = float(np.var(target))
        self.is_open = bool(0 < self._variance < np.inf)

    def roughness(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Half of the squared steps from one row to the next, in the order of each column, beside the variance."""
        ordered = self._target[np.argsort(values, axis=1)]
        return np.asarray(np.mean(np.diff(ordered, axis=1) ** 2, axis=1) / (2 * self._variance))

    def is_found(self, error: float) -> bool:
        return error < 1 - _EXPLAINED

    def error(self, values: NDArray[np.float64], ordered: bool) -> float:
        """The share of the variance that is not explained."""
        return sum(self._squares(values, ordered, *half) for half in _halves(len(values))) / (
            len(values) * self._variance
        )

    def _squares(self, values: NDArray[np.float64], ordered: bool, learn: slice, test: slice) -> float:
        known, places = np.unique(values[learn], return_inverse=True)
        means = np.bincount(places, weights=self._target[learn]) / np.bincount(places)
        fill = float(self._target[learn].mean())
        if ordered:
            finite = np.isfinite(known)
            guesses = np.interp(values[test], known[finite], means[finite]) if finite.any() else np.full(1, fill)
            guesses = np.where(np.isfinite(values[test]), guesses, fill)
        else:
            at = np.minimum(np.searchsorted(known, values[test]), len(known) - 1)
            guesses = np.where(known[at] == values[test], means[at], fill)
        return float(np.sum((guesses - self._target[test]) ** 2))
