"""One read of the rows: the cost of each at the centres, the centre where it costs least, and the sums of clusters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, assign, centre_costs, row_squares
from .._dataclasses import dataclass
from .._engine import in_threads, slices
from .._gate import is_foreign_array, sparse
from .._kernels import Array, squares
from . import _sweep_there as there

Labels = NDArray[np.int32]

_EPS = float(np.finfo(np.float64).eps)
_LANE = 4  # centres that the core compares side by side
_BLOCK = 1 << 21  # values held at a time
_MOST_PARTS = 8  # of the rows, each with sums of its own
_WORK = 1 << 19  # values to multiply and add that make a thread worth its while
_MOST_SUMS = 1 << 24  # numbers in the sums of all parts


@dataclass(frozen=True)
class Data:
    """Rows as the core reads them. Dense ones may lie far from the origin, where squares lose digits: then
    distances are measured from ``middle``."""

    rows: Any
    """The core's, none of rows that are elsewhere."""
    matrix: Any
    weight: Array | None
    middle: Array | None

    @classmethod
    def of(cls, matrix: Any, near: Array, weight: Array | None = None, *, cosine: bool = False) -> Data:
        """Rows that will be compared with centres ``near`` these."""
        middle = None if cosine or sparse.issparse(matrix) else _middle(near)
        return cls(None if is_foreign_array(matrix) else as_rows(matrix), matrix, weight, middle)

    @cached_property
    def squares(self) -> Any:
        """The squared distance of each row from the middle, which costs need, but not the choice of a centre."""
        if self.rows is None:
            return there.row_squares(self.matrix, self.middle)
        return row_squares(self.rows, 0.0, self.middle)

    @cached_property
    def square(self) -> float:
        """The weighted sum of these."""
        return total(self.squares, self.weight)

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])


def as_rows(matrix: Any) -> Rows:
    """A matrix that passed the gate, as the core reads it."""
    if not sparse.issparse(matrix):
        return Rows.dense(np.ascontiguousarray(matrix), False)
    return Rows.csr(matrix.data, matrix.indices, matrix.indptr.astype(np.int64), matrix.shape[1], False)


def _middle(centres: Array) -> Array | None:
    middle: Array = centres.mean(axis=0)
    spread = squares(centres - middle).mean()
    if squares(middle[None])[0] <= spread:
        return None
    size = max(np.sqrt(spread / len(middle)), _EPS * np.abs(middle).max())
    unit = 2.0 ** np.floor(np.log2(size))  # so coarse that float32 holds it, and differences of whole numbers are exact
    return np.round(middle / unit) * unit


def blocks(matrix: Any, n_centres: int) -> Iterator[slice]:
    """Parts of the rows small enough to be copied, and compared with so many centres."""
    per_row = n_centres if sparse.issparse(matrix) else max(n_centres, matrix.shape[1])
    return slices(matrix.shape[0], max(1, _BLOCK // per_row))


@dataclass(frozen=True)
class Swept:
    """For each row the centre where it costs least; for each cluster the weighted sum of its rows and their total
    weight; the weighted sum of the costs of all rows."""

    labels: Labels
    sums: Array
    weights: Array
    value: float


@dataclass(frozen=True)
class Objective:
    """The sum over rows x of their cost at the centre w of their cluster:

        euclidean   |x - w|^2 + 2 alpha |w|_1                  best centre   soft(mean, alpha)
        cosine      |x|^2 - x.w + alpha |w|_1,   |w| <= 1                    soft(mean, alpha) / its length, or 0

    In the cosine form rows have length 1, or 0 and no direction. The penalty is part of the cost, so that assigning
    rows and moving centres both lower the same sum.   Jumutc (2016), regularised K-means.
    """

    alpha: float
    cosine: bool

    def sweep(self, data: Data, centres: Array) -> Swept:
        """Read all rows once, in threads; the parts that they read do not depend on how many there are."""
        if data.rows is None:
            labels, costs = self.assign(data, centres)
            found = there.sums_there(data.matrix, data.weight, labels, len(centres))
            return Swept(labels, *found, total(costs, data.weight))
        table, parts = self._table(data, centres), _parts(data, centres.shape)
        labels = np.empty(data.n_rows, dtype=np.int32)
        sums, weights = np.zeros((len(parts), *centres.shape)), np.zeros((len(parts), len(centres)))

        def read(p: int, begin: int, end: int) -> None:
            assign(data.rows, begin, end, *table, data.weight, labels, None, sums[p], weights[p])

        in_threads(read, ((p, *part) for p, part in enumerate(parts)))
        summed, weight = sums.sum(axis=0), weights.sum(axis=0)
        factor, shifted = self._factor, centres if data.middle is None else centres - data.middle
        moved = summed if data.middle is None else summed - weight[:, None] * data.middle
        value = data.square + (weight * table[1][: len(centres)]).sum() - factor * np.einsum("ij,ij", shifted, moved)
        return Swept(labels, summed, weight, max(float(value), 0.0))

    def assign(self, data: Data, centres: Array) -> tuple[Labels, Array]:
        """For each row the centre where it costs least, and that cost."""
        if data.rows is None:
            return there.nearest_centres(data.matrix, data.squares, data.middle, *self._table_there(data, centres))
        costs = np.empty(data.n_rows)
        labels = self._compare(data, centres, costs)
        return labels, np.maximum(np.add(costs, data.squares, out=costs), 0.0, out=costs)

    def nearest(self, data: Data, centres: Array) -> Labels:
        """For each row the centre where it costs least."""
        return self.assign(data, centres)[0] if data.rows is None else self._compare(data, centres, None)

    def _compare(self, data: Data, centres: Array, costs: Array | None) -> Labels:
        """For each row the centre where it costs least; that cost, without the square of the row, goes to ``costs``."""
        labels, table = np.empty(data.n_rows, dtype=np.int32), self._table(data, centres)

        def read(begin: int, end: int) -> None:
            assign(data.rows, begin, end, *table, None, labels, costs)

        in_threads(read, _parts(data, (len(centres), 1)))
        return labels

    @property
    def _factor(self) -> float:
        """Of the products of rows and centres in the costs."""
        return 1.0 if self.cosine else 2.0

    def costs(self, data: Data, centres: Array) -> Iterator[tuple[slice, Array]]:
        """The cost of each row at each centre, block by block."""
        if data.rows is None:
            yield from there.costs_there(data.matrix, data.squares, data.middle, *self._table_there(data, centres))
            return
        table = self._table(data, centres)
        for part in blocks(data.matrix, len(table[1])):
            out = np.empty((part.stop - part.start, len(table[1])))
            centre_costs(data.rows, part.start, *table, out)
            yield part, np.maximum(out[:, : len(centres)] + data.squares[part, None], 0.0)

    def _table(self, data: Data, centres: Array) -> tuple[Array, Array, NDArray[np.int32] | None, Array | None]:
        """Centres in the core's form: what a unit of each feature adds to the cost at each of them, and what is added
        without; of rows that are sparse, features that no centre uses have no place."""
        shifted = centres if data.middle is None else centres - data.middle
        factor, own = self._factor, 0.0 if self.cosine else squares(shifted)
        offsets = np.full(-(-len(centres) // _LANE) * _LANE, np.inf)
        offsets[: len(centres)] = own + factor * (self.alpha * np.abs(centres).sum(axis=1))
        place = None
        if data.rows is not None and data.rows.columns is not None:
            used = shifted.any(axis=0)
            place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
            shifted = shifted[:, used]
        table = np.zeros((shifted.shape[1], len(offsets)))
        np.multiply(shifted.T, -factor, out=table[:, : len(centres)])
        return table, offsets, place, data.middle

    def _table_there(self, data: Data, centres: Array) -> tuple[Array, Array]:
        """The same for rows of another library."""
        table, offsets, *_ = self._table(data, centres)
        return table[:, : len(centres)], offsets[: len(centres)]

    def best_centres(self, sums: Array, weights: Array) -> Array:
        """For each cluster the centre where its rows cost least, of their sum and weight; 0 for one without rows."""
        means = sums / np.where(weights > 0, weights, 1.0)[:, None]
        centres: Array = soft(means, self.alpha)
        return self.fit_length(centres)

    def fit_length(self, centres: Array) -> Array:
        """Centres of length 1 in the cosine form; one that is 0 stays."""
        if self.cosine:
            lengths = np.linalg.norm(centres, axis=1)
            centres = centres / np.where(lengths > 0, lengths, 1.0)[:, None]
        return centres

    def alone(self, data: Data) -> Array:
        """The cost of each row at a centre of its own."""
        if data.rows is None:
            return there.least_alone(data.matrix, self.alpha, self.cosine)
        least = np.empty(data.n_rows)
        for part in blocks(data.matrix, 1):
            rows = data.matrix[part]
            sizes = squares(rows)
            spared = squares(soft(rows.astype(np.float64), self.alpha)) if self.alpha else sizes
            least[part] = sizes - (np.sqrt(spared) if self.cosine else spared)
        return least


def total(costs: Array, weight: Array | None) -> float:
    return float(costs.sum() if weight is None else costs @ weight)


def soft(values: Any, cut: float) -> Any:
    """Each value shrunk towards 0 by ``cut``, and not across."""
    if sparse.issparse(values):
        return sparse.csr_array((soft(values.data, cut), values.indices, values.indptr), shape=values.shape)
    return values - np.clip(values, -cut, cut)


def _parts(data: Data, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Cuts of the rows for threads: into as many parts as there is work for, if their sums take little memory."""
    n_values = data.rows.n_features * data.n_rows if data.rows.columns is None else len(data.rows.columns)
    n_parts = min(_MOST_PARTS, n_values * shape[0] // _WORK, _MOST_SUMS // (shape[0] * shape[1]), data.n_rows)
    edges = np.linspace(0, data.n_rows, max(1, int(n_parts)) + 1).astype(int).tolist()
    return list(itertools.pairwise(edges))
