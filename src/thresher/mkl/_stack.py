"""Kernel matrices of the training rows, all of trace 1: as many as fit in memory, others computed on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import HUGE, beside, is_foreign_array, on_host, zeros
from .._kernels import Array, Kernel

Places = NDArray[np.int64]

_MB = 1 << 20
_SPARSE = 0.25  # of all pairs of rows: with fewer in use, these are picked out
NO_ROWS = np.empty(0, dtype=np.int64)


def whole(half: Array, n: int) -> Array:
    """The symmetric matrix with this lower half, row after row."""
    K = np.empty((n, n))
    _core.from_half(half, K)
    return K


def _inverse_sums(terms: Array) -> Array:
    """1 over the sum of each row; a kernel that is 0 on all rows stays so."""
    sums = np.cumsum(terms, axis=1)[:, -1]  # one after the other, as the core adds them up
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / sums
    return np.where((sums > 0) & np.isfinite(inverse), inverse, 0.0)


class MadeMatrices:
    """Kernel matrices of rows, by kernels that are ready for them."""

    def __init__(self, kernels: Sequence[Kernel], rows: Any) -> None:
        self._kernels, self.rows = kernels, rows
        self.n_kernels, self.n_rows = len(kernels), rows.shape[0]

    def matrix(self, q: int) -> Array:
        """The kernel of all rows with one another."""
        return self._kernels[q](self.rows)

    def factors(self, counts: Array) -> Array:
        """1 over the traces, in which rows count so much."""
        return _inverse_sums(np.stack([on_host(kernel.diagonal(self.rows)) for kernel in self._kernels]) * counts)

    def half(self, q: int, out: Array) -> None:
        """Write the lower half of a matrix, row after row."""
        _core.take_half(self.matrix(q), np.arange(self.n_rows), True, out)

    def summed(self, factors: Array) -> Array | None:
        """The sum of all matrices times their factors, if it is cheaper than by one after the other."""
        return None

    def block(self, q: int, some: Places) -> Array:
        """The kernel of some rows with one another."""
        rows = self.rows[some]
        return self._kernels[q](rows, rows)


class GivenMatrices:
    """Kernel matrices that the user has, between some rows and some columns, by default the same; ``exact`` says which
    are symmetric to the last bit. Nothing is copied before it is used. ``known`` are factors, and the sum of all whole
    matrices times these."""

    def __init__(
        self,
        matrices: NDArray[Any],
        rows: Places,
        exact: Sequence[bool] | NDArray[np.bool_],
        columns: Places | None = None,
        known: tuple[Array, Array] | None = None,
    ) -> None:
        self._matrices, self._rows, self._exact, self._known = matrices, rows, exact, known
        self._columns = rows if columns is None else columns
        self.n_kernels, self.n_rows = len(matrices), len(rows)
        self.shape = (self.n_kernels, self.n_rows, len(self._columns))

    def part(self, rows: Places, columns: Places | None = None) -> GivenMatrices:
        """Between some of the rows and some of the columns, by default the same."""
        if columns is None and np.array_equal(rows, np.arange(self.n_rows)):
            return self
        return GivenMatrices(
            self._matrices, self._rows[rows], self._exact, self._columns[rows if columns is None else columns]
        )

    def factors(self, counts: Array) -> Array:
        """1 over the traces, in which rows count so much."""
        if self._known is not None and (counts == 1).all():
            return self._known[0]
        return _inverse_sums(self._diagonals() * counts)

    def _diagonals(self) -> Array:
        return np.diagonal(self._matrices, axis1=1, axis2=2)[:, self._rows].astype(np.float64)

    def matrix(self, q: int) -> Array:
        return self.block(q, np.arange(self.n_rows))

    def block(self, q: int, some: Places) -> Array:
        K = self.part(some).between(np.arange(self.n_kernels) == q, np.arange(len(some)))
        return K if self._exact[q] else 0.5 * (K + K.T)

    def between(self, weights: NDArray[Any], columns: Places) -> Array:
        """The sum of matrices times their weights, between all rows and some columns."""
        out = np.zeros((self.n_rows, len(columns)))
        _core.add_blocks(self._matrices, np.asarray(weights, dtype=np.float64), self._rows, self._columns[columns], out)
        return out

    def half(self, q: int, out: Array) -> None:
        """Write the lower half, row after row."""
        _core.take_half(self._matrices[q], self._rows, bool(self._exact[q]), out)

    def summed(self, factors: Array) -> Array | None:
        if self._known is not None and factors is self._known[0]:
            return self._known[1]
        if not np.all(self._exact) or self._matrices.strides[2] != self._matrices.itemsize:
            return None
        n = self._matrices.shape[1]
        half = np.zeros(n * (n + 1) // 2)
        _core.add_halves(self._matrices, factors, self._rows, half)
        return np.ascontiguousarray(whole(half, n)[np.ix_(self._rows, self._rows)])


class Stack:
    """Sums of kernel matrices, and the quadratic form of each.

    Of a matrix in memory, only the lower half is kept, row after row.
    """

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array, cache_size: float) -> None:
        n = source.n_rows
        self.n_kernels = source.n_kernels
        self._source, self._n = source, n
        self._n_kept = int(min(self.n_kernels, cache_size * _MB / (8 * (n * (n + 1) // 2))))
        self._kept = np.empty((self._n_kept, n * (n + 1) // 2))
        self.factors = source.factors(counts)
        for q in range(self._n_kept):
            source.half(q, self._kept[q])
        self._sum = source.summed(self.factors)

    def combined(self, theta: Array) -> Array:
        """The kernel matrix of these weights."""
        if (theta == theta[0]).all():  # as at the start
            return np.asarray(theta[0] * (self._summed(self.factors) if self._sum is None else self._sum))
        return self._summed(theta * self.factors)

    def _summed(self, weights: Array) -> Array:
        half = np.zeros(self._kept.shape[1])
        _core.add_halves(self._kept, weights[: self._n_kept], NO_ROWS, half)
        K = whole(half, self._n)
        for late in (self._n_kept + np.flatnonzero(weights[self._n_kept :])).tolist():
            K += weights[late] * self._source.matrix(late)
        return K

    def energies(self, x: Array) -> Array:
        r""":math:`\tfrac12 x^\top K_q x` of every kernel; only rows with a coefficient cost anything where they are
        few."""
        used = np.flatnonzero(x)
        found = np.zeros(self.n_kernels)
        if not len(used):
            return found
        products = np.empty(self._kept.shape[1])
        _core.half_products(x, products)
        if len(used) ** 2 < _SPARSE * self._n**2:
            places = np.flatnonzero(products)
            some = products[places]
            for q in range(self._n_kept):
                found[q] = self._kept[q].take(places) @ some
        else:
            found[: self._n_kept] = self._kept @ products
        for q in range(self._n_kept, self.n_kernels):
            found[q] = 0.5 * float(x[used] @ self._source.block(q, used) @ x[used])
        return np.maximum(self.factors * found, 0.0)


class Mean:
    """The mean of kernel matrices, which are not kept, and its quadratic form, as if it were that of each."""

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array) -> None:
        n = source.n_rows
        self.n_kernels, self.factors = source.n_kernels, source.factors(counts)
        total = source.summed(self.factors)
        if total is None:
            half, one = np.zeros(n * (n + 1) // 2), np.empty((1, n * (n + 1) // 2))
            for q in range(self.n_kernels):
                source.half(q, one[0])
                _core.add_halves(one, self.factors[q : q + 1], NO_ROWS, half)
            total = whole(half, n)
        self._mean = total * (1 / self.n_kernels)

    def combined(self, theta: Array) -> Array:
        """The mean, for weights that are all equal."""
        return self._mean

    def energies(self, x: Array) -> Array:
        return np.full(self.n_kernels, max(0.5 * float(x @ self._mean @ x), 0.0))


class StackElsewhere:
    """The same of rows in arrays of another library: sums and quadratic forms are computed where these lie. A machine
    is solved on the CPU, to which one matrix is copied for it."""

    def __init__(self, source: MadeMatrices, counts: Array, cache_size: float) -> None:
        self.n_kernels = source.n_kernels
        self._source = source
        self.factors = source.factors(counts)
        n_kept = int(min(self.n_kernels, cache_size * _MB / (8 * source.n_rows**2)))
        self._kept = [source.matrix(q) for q in range(n_kept)]

    def combined(self, theta: Array) -> Array:
        K = zeros((self._source.n_rows, self._source.n_rows), self._source.rows)
        for q in np.flatnonzero(theta).tolist():
            K += float(theta[q] * self.factors[q]) * self._matrix(q)
        return np.ascontiguousarray(on_host(K))

    def energies(self, x: Array) -> Array:
        if not x.any():
            return np.zeros(self.n_kernels)
        there = beside(x, self._source.rows)
        found = [float(there @ (self._matrix(q) @ there)) for q in range(self.n_kernels)]
        return np.maximum(0.5 * self.factors * np.array(found), 0.0)

    def _matrix(self, q: int) -> Any:
        return self._kept[q] if q < len(self._kept) else self._source.matrix(q)


AnyStack = Stack | Mean | StackElsewhere


def stacked(
    source: MadeMatrices | GivenMatrices, counts: Array, cache_size: float, *, only_mean: bool = False
) -> AnyStack:
    """The matrices where the rows lie."""
    if isinstance(source, MadeMatrices) and is_foreign_array(source.rows):
        return StackElsewhere(source, counts, cache_size)
    if only_mean:
        return Mean(source, counts)
    return Stack(source, counts, cache_size)


_RTOL = 1e-5  # by how much mirrored entries may differ


def take_matrices(X: Any, who: str, shape: tuple[int, int]) -> GivenMatrices:
    """Kernel matrices of new rows with the training rows, (n_kernels, n_rows, n), of a model that knows ``shape``, its
    numbers of kernels and of training rows."""
    if isinstance(X, GivenMatrices):
        return X
    K = _read(X, who)
    if (K.shape[0], K.shape[2]) != shape:
        raise ValueError(
            f"{who}: precomputed kernels must be of shape ({shape[0]}, n_rows, {shape[1]}), as in fit, got {K.shape}."
        )
    flat = K.reshape(len(K), -1)
    _check_sizes(np.maximum(flat.max(axis=1), -flat.min(axis=1)), who)  # NaN where one is
    return GivenMatrices(K, np.arange(K.shape[1]), [False] * len(K), np.arange(K.shape[2]))


def take_square_matrices(X: Any, who: str) -> GivenMatrices:
    """Kernel matrices to learn from, of shape (n_kernels, n, n)."""
    if isinstance(X, GivenMatrices):
        return X
    K = _read(X, who)
    if K.shape[1] != K.shape[2]:
        raise ValueError(f"{who}: precomputed kernels must be square matrices in fit, got shape {K.shape}.")
    m, n = K.shape[:2]
    sizes, same, diagonals = np.empty(m), np.empty(m, dtype=bool), np.empty((m, n))
    factors, half = np.empty(m), np.zeros(n * (n + 1) // 2)
    _core.look_at_squares(K, sizes, same, diagonals, factors, half)
    _check_sizes(sizes, who)
    for q in np.flatnonzero(~same).tolist():
        if not _core.nearly_symmetric(K[q], 1e-8 * sizes[q], _RTOL):
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, but kernel {q} is not.")
    for q in np.flatnonzero((diagonals < 0).any(axis=1)).tolist():
        raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, but kernel {q} does not.")
    return GivenMatrices(K, np.arange(n), same, known=(factors, whole(half, n)))


def _read(X: Any, who: str) -> NDArray[Any]:
    """The stack in floating point."""
    try:
        K = np.asarray(on_host(X))
    except ValueError:
        raise ValueError(f"{who}: precomputed kernels must all be of one shape.") from None
    if K.dtype.kind not in "fiub" or K.ndim != 3 or 0 in K.shape:
        raise ValueError(
            f"{who}: precomputed kernels must be numbers in an array of shape (n_kernels, n_rows, n_training_rows), "
            f"got {K.dtype} of shape {K.shape}."
        )
    return K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)


def _check_sizes(sizes: Array, who: str) -> None:
    for q in np.flatnonzero(~(sizes <= HUGE)).tolist():
        raise ValueError(f"{who}: precomputed kernels must hold finite numbers up to 1e100, but kernel {q} does not.")
