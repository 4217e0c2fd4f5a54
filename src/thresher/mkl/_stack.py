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


def _sum(matrices: NDArray[Any], weights: Array, rows: Places, times: float, K: Array) -> Array:
    """Write the sum of symmetric matrices times their weights and a number; only these rows and columns are right."""
    K.fill(0)
    _core.add_halves(matrices, weights, rows, K)
    _core.mirrored(K, times, K)
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

    def in_place(self) -> None:
        """All matrices, where they lie."""

    def summed(self, factors: Array, times: float) -> Array | None:
        """The sum of all matrices times their factors and a number, if it is cheaper than by one after the other."""
        return None

    def block(self, q: int, some: Places) -> Array:
        """The kernel of some rows with one another."""
        rows = self.rows[some]
        return self._kernels[q](rows, rows)


class GivenMatrices:
    """Kernel matrices that the user has, between some rows and some columns, by default the same; ``exact`` says which
    are symmetric to the last bit. Nothing is copied before it is used. ``known`` are factors, and the lower half of the
    sum of all whole matrices times these."""

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

    def in_place(self) -> NDArray[Any] | None:
        """All matrices, where these are symmetric and all rows take part, in order."""
        n = self._matrices.shape[1]
        if not self._has_rows or not np.array_equal(self._rows, np.arange(n)):
            return None
        return self._matrices

    @property
    def _has_rows(self) -> bool:
        """Whether the matrices are symmetric, with rows in one piece."""
        return bool(np.all(self._exact)) and self._matrices.strides[2] == self._matrices.itemsize

    def summed(self, factors: Array, times: float) -> Array | None:
        n = self._matrices.shape[1]
        if self._known is not None and factors is self._known[0]:
            K = np.empty((n, n))
            _core.mirrored(self._known[1], times, K)
            return K
        if not self._has_rows:
            return None
        K = _sum(self._matrices, factors, self._rows, times, np.empty((n, n)))
        return np.ascontiguousarray(K[np.ix_(self._rows, self._rows)])


class Stack:
    """Sums of kernel matrices, and the quadratic form of each.

    Of a matrix in memory, only the lower half is kept, row after row; given ones stay where they are.
    """

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array, cache_size: float) -> None:
        n, n_half = source.n_rows, source.n_rows * (source.n_rows + 1) // 2
        self.n_kernels = source.n_kernels
        self._source = source
        self.factors = source.factors(counts)
        in_place = source.in_place()
        if in_place is None:
            in_place = np.empty((int(min(self.n_kernels, cache_size * _MB / (8 * n_half))), n_half))
            for q, half in enumerate(in_place):
                source.half(q, half)
        self._kept, self._at = in_place, np.arange(len(in_place))  # the kernel at each place
        self._rows, self._K = np.arange(n), np.empty((n, n))

    def combined(self, theta: Array) -> Array:
        """The kernel matrix of these weights, valid until the next."""
        if (theta == theta[0]).all():  # as at the start
            K = self._source.summed(self.factors, float(theta[0]))
            return self._summed(self.factors, float(theta[0])) if K is None else K
        return self._summed(theta * self.factors, 1.0)

    def _summed(self, weights: Array, times: float) -> Array:
        K = _sum(self._kept, weights[self._at], self._rows, times, self._K)
        for q in self._others(np.flatnonzero(weights)):
            K += times * weights[q] * self._source.matrix(q)
        return K

    def energies(self, x: Array, some: Places) -> Array:
        r""":math:`\tfrac12 x^\top K_q x` of some kernels, 0 of others; only rows with a coefficient are read."""
        found, used = np.zeros(self.n_kernels), np.flatnonzero(x)
        is_wanted = np.zeros(self.n_kernels, dtype=bool)
        is_wanted[some] = True
        kept = np.flatnonzero(is_wanted[self._at])
        energies = np.empty(len(kept))
        _core.half_energies(self._kept, x, kept, energies)
        found[self._at[kept]] = energies
        for q in self._others(some):
            found[q] = 0.5 * float(x[used] @ self._source.block(q, used) @ x[used]) if len(used) else 0.0
        return np.maximum(self.factors * found, 0.0)

    def keep(self, some: Places) -> None:
        """Keep these kernels in memory, as many as fit, in place of others."""
        free = np.flatnonzero(~np.isin(self._at, some))
        for place, q in zip(free.tolist(), self._others(some), strict=False):
            self._source.half(q, self._kept[place])
            self._at[place] = q

    def _others(self, some: Places) -> list[int]:
        """Those that are not in memory."""
        return [] if len(self._at) == self.n_kernels else np.setdiff1d(some, self._at).tolist()


class Mean:
    """The mean of kernel matrices, which are not kept, and its quadratic form, as if it were that of each."""

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array) -> None:
        n = source.n_rows
        self.n_kernels, self.factors = source.n_kernels, source.factors(counts)
        mean = source.summed(self.factors, 1 / self.n_kernels)
        if mean is None:
            mean, half = np.zeros((n, n)), np.empty((1, n * (n + 1) // 2))
            for q in range(self.n_kernels):
                source.half(q, half[0])
                _core.add_halves(half, self.factors[q : q + 1], np.arange(n), mean)
            _core.mirrored(mean, 1 / self.n_kernels, mean)
        self._mean = mean

    def combined(self, theta: Array) -> Array:
        """The mean, for weights that are all equal."""
        return self._mean

    def energies(self, x: Array, some: Places) -> Array:
        return np.full(self.n_kernels, max(0.5 * float(x @ self._mean @ x), 0.0))

    def keep(self, some: Places) -> None:
        pass


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

    def energies(self, x: Array, some: Places) -> Array:
        found = np.zeros(self.n_kernels)
        if not x.any():
            return found
        there = beside(x, self._source.rows)
        found[some] = [float(there @ (self._matrix(q) @ there)) for q in some.tolist()]
        return np.maximum(0.5 * self.factors * found, 0.0)

    def keep(self, some: Places) -> None:
        pass

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
    factors, total = np.empty(m), np.zeros((n, n))
    _core.look_at_squares(K, sizes, same, diagonals, factors, total)
    _check_sizes(sizes, who)
    for q in np.flatnonzero(~same).tolist():
        if not _core.nearly_symmetric(K[q], 1e-8 * sizes[q], _RTOL):
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, but kernel {q} is not.")
    for q in np.flatnonzero((diagonals < 0).any(axis=1)).tolist():
        raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, but kernel {q} does not.")
    return GivenMatrices(K, np.arange(n), same, known=(factors, total))


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
