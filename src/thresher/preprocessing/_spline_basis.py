"""Knots of columns, and the features that splines of columns and products of pairs make of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Rule
from ._encoder_state import is_array
from ._running import refuse_value, require

Array = NDArray[np.float64]

MOST_KNOTS = 1000
_BLOCK = 4096
_NARROWEST = 1e-100  # a smaller range counts as constant: splines of it would overflow
_CLOSEST = 1e-12  # of the range, between knots
HUGE = 1e100  # as the core has it


def _is_column(v: Any) -> bool:
    return isinstance(v, str) or (isinstance(v, (int, np.integer)) and not isinstance(v, bool))


def _is_pair(v: Any) -> bool:
    return isinstance(v, (list, tuple)) and len(v) == 2 and all(map(_is_column, v))


pairs_rule = Rule(
    '"all" or a list of pairs of columns',
    lambda v: v == "all" if isinstance(v, str) else isinstance(v, (list, tuple)) and all(map(_is_pair, v)),
    type='"all" or list of (column, column)',
)


def resolve_pairs(pairs: Any, names: Sequence[str], who: str) -> NDArray[np.int64]:
    """Pairs of columns by their places among the columns of numbers."""
    if isinstance(pairs, str):
        return np.array(list(combinations(range(len(names)), 2)), dtype=np.int64).reshape(-1, 2)
    found: list[tuple[int, int]] = []
    for pair in pairs or ():
        for column in pair:
            if column not in names if isinstance(column, str) else not 0 <= column < len(names):
                raise ValueError(f"{who}: pairs must name columns of numbers, got {column!r}.")
        a, b = (names.index(column) if isinstance(column, str) else int(column) for column in pair)
        if a == b or (min(a, b), max(a, b)) in found:
            raise ValueError(f"{who}: pairs must be of two different columns, each pair once, got {tuple(pair)!r}.")
        found.append((min(a, b), max(a, b)))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def choose_knots(values: NDArray[Any], n_knots: int) -> tuple[Array, bool]:
    """The knots of a column, and whether it has enough different values for a curve."""
    values = np.sort(values[~np.isnan(values)].astype(np.float64))
    n_different = 1 + np.count_nonzero(np.diff(values)) if len(values) else 0
    is_flat = len(values) > 0 and values[-1] - values[0] <= _NARROWEST
    if n_different < 3 or is_flat:
        return (values[:1] if is_flat else np.unique(values)), False
    places = np.linspace(0, len(values) - 1, min(n_knots, n_different - 1))
    knots = values[np.rint(places).astype(np.intp)]
    apart = _CLOSEST * (knots[-1] - knots[0])
    inner = knots[1:-1][(np.diff(knots)[:-1] > apart) & (knots[-1] - knots[1:-1] > apart)]
    return np.concatenate([knots[:1], inner, knots[-1:]]), True


class SplineBasis:
    """Knots of columns of numbers, pairs of these columns, and the mean of each feature.

    Parameters
    ----------
    knots : ndarray
        Of all columns, one after the other.
    n_knots : ndarray of int64
        How many of them each column has.
    curved : ndarray of bool
        Which columns have splines; the others are features as they are.
    pairs : ndarray of shape (n_pairs, 2)
        Places of columns.
    means : ndarray, optional
        One for each feature, taken from it; 0 for columns themselves.
    """

    def __init__(
        self,
        knots: Array,
        n_knots: NDArray[np.int64],
        curved: NDArray[np.bool_],
        pairs: NDArray[np.int64],
        means: Array | None = None,
    ) -> None:
        self.knots, self.n_knots, self.curved, self.pairs = knots, n_knots, curved, pairs
        self.means = np.zeros(len(self.owners)) if means is None else means

    @classmethod
    def of_rows(cls, rows: NDArray[Any], n_knots: int, pairs: NDArray[np.int64], who: str) -> SplineBasis:
        """Choose knots at quantiles of the columns, and measure the means of the features."""
        found = [choose_knots(column, n_knots) for column in rows.T]
        knots = np.concatenate([np.empty(0), *(each for each, _ in found)])
        sizes = np.array([len(each) for each, _ in found], dtype=np.int64)
        basis = cls(knots, sizes, np.array([curved for _, curved in found], dtype=bool), pairs)
        sums, n = np.zeros(len(basis.owners)), np.zeros(len(basis.owners))
        for begin in range(0, len(rows), _BLOCK):
            block = np.ascontiguousarray(rows[begin : begin + _BLOCK], dtype=np.float64)
            there = ~np.isnan(block)
            sums += np.nansum(basis.features(block, who), axis=0)
            n += [np.count_nonzero(there[:, list(columns)].all(axis=1)) for columns in basis.owners]
        basis.means = np.where(basis.is_made, sums / np.maximum(n, 1), 0.0)
        return basis

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The position of the first knot of each column."""
        return np.concatenate([[0], np.cumsum(self.n_knots)]).astype(np.int64)

    @cached_property
    def owners(self) -> list[tuple[int, ...]]:
        """The column, or the two columns, of each feature."""
        alone = [((j,), n) for j, n in enumerate(np.where(self.curved, self.n_knots + 2, 1).tolist())]
        products = [((a, b), self.degrees[a] * self.degrees[b]) for a, b in self.pairs.tolist()]
        return [columns for columns, n in (*alone, *products) for _ in range(n)]

    @cached_property
    def is_made(self) -> NDArray[np.bool_]:
        """Mask of the features that are splines or products, not columns themselves."""
        before = [(), *self.owners[:-1]]
        made = [len(own) > 1 or own == last for own, last in zip(self.owners, before, strict=True)]
        return np.array(made, dtype=bool)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Polynomials of each column for products: none if it is constant, one if it has two values, otherwise two."""
        return np.where(self.curved, 2, np.minimum(np.maximum(self.n_knots - 1, 0), 1)).astype(np.int64)

    def knots_of(self, j: int) -> Array:
        return self.knots[self.starts[j] : self.starts[j + 1]]

    def features(self, rows: NDArray[Any], who: str, names: list[str] | None = None) -> NDArray[Any]:
        """Features of rows, in their precision; a value of no sane size is refused."""
        products = list(self._products(rows))
        width = len(self.owners) - len(products)
        out = np.empty((len(rows), width), dtype=rows.dtype)
        bad = _core.spline_features(rows, *self._of_curves, self.means[:width], out)
        if bad is not None:
            refuse_value(bad, names, who)
        if not products:
            return out
        centred = np.column_stack(products) - self.means[width:]
        return np.hstack([out, np.nan_to_num(centred)], dtype=rows.dtype)  # a missing product is at its mean

    @cached_property
    def _of_curves(self) -> tuple[Array, NDArray[np.int64]]:
        """The knots of curved columns, and where those of each column begin."""
        sizes = np.where(self.curved, self.n_knots, 0)
        return self.knots[np.repeat(self.curved, self.n_knots)], np.append(0, np.cumsum(sizes)).astype(np.int64)

    def _products(self, rows: NDArray[Any]) -> Iterator[Array]:
        """Products of Legendre polynomials of the ranks of two columns."""
        polynomials = {j: self._polynomials(rows[:, j], j) for j in np.unique(self.pairs).tolist()}
        for a, b in self.pairs.tolist():
            yield from (p * q for p in polynomials[a] for q in polynomials[b])

    def _polynomials(self, values: NDArray[Any], j: int) -> list[Array]:
        if not self.degrees[j]:
            return []
        knots = self.knots_of(j)
        rank = np.interp(values, knots, np.linspace(-1, 1, len(knots)))
        return [rank, (3 * rank**2 - 1) / 2][: self.degrees[j]]

    @classmethod
    def check(cls, n_columns: int, knots: Any, n_knots: Any, curved: Any, pairs: Any, means: Any) -> None:
        """Refuse arrays from a file that do not belong together."""
        sized = is_array(n_knots, np.int64, (n_columns,)) and is_array(curved, np.bool_, (n_columns,))
        require(sized, "there must be a number of knots for each column of numbers.")
        require(not ((n_knots < 0) | (n_knots > MOST_KNOTS)).any(), f"a column must have 0 to {MOST_KNOTS} knots.")
        require(not (curved & (n_knots < 2)).any(), "a curve must have two knots or more.")
        floats = is_array(knots, np.float64, (int(n_knots.sum()),)) and bool((np.abs(knots) <= HUGE).all())
        require(floats, "the knots must be finite numbers, as many as the columns have.")
        paired = isinstance(pairs, np.ndarray) and is_array(pairs, np.int64, (len(pairs), 2))
        require(paired, "pairs must hold two integers each.")
        places = (pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < n_columns)
        require(bool(places.all()), "pairs must be of two different columns.")
        basis = cls(knots, n_knots, curved, pairs)
        rise = all((np.diff(basis.knots_of(j)) > 0).all() for j in range(n_columns))
        require(rise, "the knots of a column must rise.")
        centred = is_array(means, np.float64, (len(basis.owners),)) and bool((np.abs(means) <= HUGE).all())
        require(centred, "there must be a finite mean for each feature.")
