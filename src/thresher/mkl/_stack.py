"""Kernel matrices of the training rows, all of trace 1: as many as fit in memory, others computed on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import HUGE, beside, is_foreign_array, linalg, on_host, zeros
from .._kernels import Array, Kernel

Places = NDArray[np.int64]

_MB = 1 << 20
_SPARSE = 0.25  # of all pairs of rows: with fewer in use, these are picked out


class MadeMatrices:
    """Kernel matrices of rows, by kernels that are ready for them."""

    def __init__(self, kernels: Sequence[Kernel], rows: Any) -> None:
        self._kernels, self.rows = kernels, rows
        self.n_kernels, self.n_rows = len(kernels), rows.shape[0]

    def diagonal(self, q: int) -> Array:
        """The kernel of every row with itself."""
        return self._kernels[q].diagonal(self.rows)

    def matrix(self, q: int) -> Array:
        """The kernel of all rows with one another."""
        return self._kernels[q](self.rows)

    def half(self, q: int, factor: float, out: Array) -> None:
        """Write the lower half of a matrix, row after row, times a factor."""
        _core.take_half(self.matrix(q), np.arange(self.n_rows), factor, True, out)

    def block(self, q: int, some: Places) -> Array:
        """The kernel of some rows with one another."""
        rows = self.rows[some]
        return self._kernels[q](rows, rows)


class GivenMatrices:
    """Kernel matrices that the user has, between some rows and some columns, by default the same; ``exact`` says which
    are symmetric to the last bit. Nothing is copied before it is used."""

    def __init__(
        self, matrices: NDArray[Any], rows: Places, exact: Sequence[bool], columns: Places | None = None
    ) -> None:
        self._matrices, self._rows, self._exact = matrices, rows, exact
        self._columns = rows if columns is None else columns
        self.n_kernels, self.n_rows = len(matrices), len(rows)
        self.shape = (self.n_kernels, self.n_rows, len(self._columns))

    def part(self, rows: Places, columns: Places | None = None) -> GivenMatrices:
        """Between some of the rows and some of the columns, by default the same."""
        return GivenMatrices(
            self._matrices, self._rows[rows], self._exact, self._columns[rows if columns is None else columns]
        )

    def diagonal(self, q: int) -> Array:
        return self._matrices[q].diagonal()[self._rows].astype(np.float64)

    def matrix(self, q: int) -> Array:
        return self.block(q, np.arange(self.n_rows))

    def block(self, q: int, some: Places) -> Array:
        K = self.part(some).between(q, np.arange(len(some)))
        return K if self._exact[q] else 0.5 * (K + K.T)

    def between(self, q: int, columns: Places) -> Array:
        """All rows and some columns of a matrix."""
        out = np.empty((self.n_rows, len(columns)))
        _core.take_block(self._matrices[q], self._rows, self._columns[columns], out)
        return out

    def half(self, q: int, factor: float, out: Array) -> None:
        """Write the lower half, row after row, times a factor."""
        _core.take_half(self._matrices[q], self._rows, factor, self._exact[q], out)


class Stack:
    """Sums of kernel matrices, and the quadratic form of each.

    Of a matrix in memory, only the lower half is kept, row after row: a sum of matrices is then one of vectors, and all
    :math:`x^T K_q x` together are one product of a matrix with a vector.
    """

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array, cache_size: float) -> None:
        n = source.n_rows
        self.n_kernels = source.n_kernels
        self._source, self._n = source, n
        self._below = np.tri(n, dtype=bool)
        self._n_kept = int(min(self.n_kernels, cache_size * _MB / (8 * (n * (n + 1) // 2))))
        self._kept = np.empty((self._n_kept, n * (n + 1) // 2))
        self.factors = _factors(source, counts)
        for q in range(self._n_kept):
            source.half(q, self.factors[q], self._kept[q])

    def combined(self, theta: Array) -> Array:
        """The kernel matrix of these weights."""
        half = np.zeros(self._kept.shape[1])
        for q in np.flatnonzero(theta[: self._n_kept]):
            linalg.blas.daxpy(self._kept[q], half, a=theta[q])
        K = np.zeros((self._n, self._n))
        K[self._below] = half
        for late in (self._n_kept + np.flatnonzero(theta[self._n_kept :])).tolist():
            K += (theta[late] * self.factors[late]) * np.tril(self._source.matrix(late))
        K += np.tril(K, -1).T
        return K

    def energies(self, x: Array) -> Array:
        r""":math:`\tfrac12 x^\top K_q x` of every kernel; only rows with a coefficient cost anything where they are
        few."""
        used = np.flatnonzero(x)
        found = np.zeros(self.n_kernels)
        if not len(used):
            return found
        pairs = np.outer(x, x)
        pairs[np.diag_indices_from(pairs)] *= 0.5  # each other pair stands twice in the whole matrix
        products = pairs[self._below]
        if len(used) ** 2 < _SPARSE * self._n**2:
            places = np.flatnonzero(products)
            some = products[places]
            for q in range(self._n_kept):
                found[q] = self._kept[q].take(places) @ some
        else:
            found[: self._n_kept] = self._kept @ products
        for q in range(self._n_kept, self.n_kernels):
            found[q] = 0.5 * self.factors[q] * float(x[used] @ self._source.block(q, used) @ x[used])
        return np.maximum(found, 0.0)


class Mean:
    """The mean of kernel matrices, which are not kept, and its quadratic form, as if it were that of each."""

    def __init__(self, source: MadeMatrices | GivenMatrices, counts: Array) -> None:
        n = source.n_rows
        self.n_kernels, self.factors = source.n_kernels, _factors(source, counts)
        half, one = np.zeros(n * (n + 1) // 2), np.empty(n * (n + 1) // 2)
        for q in range(self.n_kernels):
            source.half(q, self.factors[q], one)
            linalg.blas.daxpy(one, half, a=1 / self.n_kernels)
        self._mean = np.zeros((n, n))
        self._mean[np.tri(n, dtype=bool)] = half
        self._mean += np.tril(self._mean, -1).T

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
        self.factors = _factors(source, counts)
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


def _factors(source: MadeMatrices | GivenMatrices, counts: Array) -> Array:
    return np.array([_inverse(float(counts @ on_host(source.diagonal(q)))) for q in range(source.n_kernels)])


def _inverse(trace: float) -> float:
    """A kernel that is 0 on all rows stays so."""
    return 1 / trace if trace > 0 and np.isfinite(1 / trace) else 0.0


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
    for q, matrix in enumerate(K):
        _check_size(np.maximum(matrix.max(), -matrix.min()), q, who)  # NaN where one is
    return GivenMatrices(K, np.arange(K.shape[1]), [False] * len(K), np.arange(K.shape[2]))


def take_square_matrices(X: Any, who: str) -> GivenMatrices:
    """Kernel matrices to learn from, of shape (n_kernels, n, n)."""
    if isinstance(X, GivenMatrices):
        return X
    K = _read(X, who)
    if K.shape[1] != K.shape[2]:
        raise ValueError(f"{who}: precomputed kernels must be square matrices in fit, got shape {K.shape}.")
    looks = [_core.look_at_square(matrix) for matrix in K]
    for q, (size, _, _) in enumerate(looks):
        _check_size(size, q, who)
    for q, (size, same, least) in enumerate(looks):
        if not same and not _core.nearly_symmetric(K[q], 1e-8 * size, _RTOL):
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, kernel {q} is not.")
        if least < 0:
            raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, kernel {q} has not.")
    return GivenMatrices(K, np.arange(K.shape[1]), [same for _, same, _ in looks])


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


def _check_size(size: float, q: int, who: str) -> None:
    if not size <= HUGE:
        raise ValueError(f"{who}: precomputed kernels must hold finite numbers up to 1e100, kernel {q} does not.")
