"""Kernel matrices of the training rows, all of trace 1: as many as fit in memory, others computed on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import HUGE, beside, is_foreign_array, linalg, on_host, zeros
from .._kernels import Array, Kernel

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

    def block(self, q: int, some: NDArray[np.intp]) -> Array:
        """The kernel of some rows with one another."""
        rows = self.rows[some]
        return self._kernels[q](rows, rows)


class GivenMatrices:
    """Kernel matrices that the user has, of which some rows take part; ``exact`` says which are symmetric to the last
    bit."""

    def __init__(self, matrices: NDArray[Any], present: NDArray[np.intp], exact: Sequence[bool]) -> None:
        self._matrices, self._present, self._exact = matrices, present, exact
        self.n_kernels, self.n_rows = len(matrices), len(present)

    def diagonal(self, q: int) -> Array:
        return self._matrices[q].diagonal()[self._present].astype(np.float64)

    def matrix(self, q: int) -> Array:
        if self.n_rows == len(self._matrices[q]):
            return self._symmetric(q, self._matrices[q])
        return self.block(q, np.arange(self.n_rows))

    def block(self, q: int, some: NDArray[np.intp]) -> Array:
        places = self._present[some]
        return self._symmetric(q, self._matrices[q][np.ix_(places, places)])

    def _symmetric(self, q: int, matrix: NDArray[Any]) -> Array:
        K: Array = matrix.astype(np.float64, copy=False)
        return K if self._exact[q] else 0.5 * (K + K.T)


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
            np.multiply(source.matrix(q)[self._below], self.factors[q], out=self._kept[q])

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


def stacked(source: MadeMatrices | GivenMatrices, counts: Array, cache_size: float) -> Stack | StackElsewhere:
    """The matrices where the rows lie."""
    if isinstance(source, MadeMatrices) and is_foreign_array(source.rows):
        return StackElsewhere(source, counts, cache_size)
    return Stack(source, counts, cache_size)


def _factors(source: MadeMatrices | GivenMatrices, counts: Array) -> Array:
    return np.array([_inverse(float(counts @ on_host(source.diagonal(q)))) for q in range(source.n_kernels)])


def _inverse(trace: float) -> float:
    """A kernel that is 0 on all rows stays so."""
    return 1 / trace if trace > 0 and np.isfinite(1 / trace) else 0.0


_AT_ONCE = 128  # rows of a matrix that are compared with columns


def take_matrices(X: Any, who: str, shape: tuple[int, int]) -> NDArray[Any]:
    """Kernel matrices of new rows with the training rows, (n_kernels, n_rows, n), of a model that knows ``shape``, its
    numbers of kernels and of training rows."""
    K = _read(X, who)[0]
    if (K.shape[0], K.shape[2]) != shape:
        raise ValueError(
            f"{who}: precomputed kernels must be of shape ({shape[0]}, n_rows, {shape[1]}), as in fit, got {K.shape}."
        )
    return K


def take_square_matrices(X: Any, who: str) -> tuple[NDArray[Any], list[bool]]:
    """Kernel matrices to learn from, of shape (n_kernels, n, n), and which of them are symmetric to the last bit."""
    K, sizes = _read(X, who)
    if K.shape[1] != K.shape[2]:
        raise ValueError(f"{who}: precomputed kernels must be square matrices in fit, got shape {K.shape}.")
    exact = []
    for q, matrix in enumerate(K):
        off = _asymmetry(matrix, 1e-8 * sizes[q])
        if off > 1:
            raise ValueError(f"{who}: precomputed kernels must be symmetric in fit, kernel {q} is not.")
        if matrix.diagonal().min() < 0:
            raise ValueError(f"{who}: precomputed kernels must have diagonals of at least 0, kernel {q} has not.")
        exact.append(off == 0)
    return K, exact


def _read(X: Any, who: str) -> tuple[NDArray[Any], list[float]]:
    """The stack in floating point, and the size of the largest entry of each matrix."""
    try:
        K = np.asarray(on_host(X))
    except ValueError:
        raise ValueError(f"{who}: precomputed kernels must all be of one shape.") from None
    if K.dtype.kind not in "fiub" or K.ndim != 3 or 0 in K.shape:
        raise ValueError(
            f"{who}: precomputed kernels must be numbers in an array of shape (n_kernels, n_rows, n_training_rows), "
            f"got {K.dtype} of shape {K.shape}."
        )
    K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    sizes = [float(np.maximum(matrix.max(), -matrix.min())) for matrix in K]  # NaN where one is
    for q, size in enumerate(sizes):
        if not size <= HUGE:
            raise ValueError(f"{who}: precomputed kernels must hold finite numbers up to 1e100, kernel {q} does not.")
    return K, sizes


def _asymmetry(matrix: NDArray[Any], atol: float, rtol: float = 1e-5) -> int:
    """0 where a matrix is its transpose, 1 where it is so but for rounding, 2 elsewhere; in one pass over its rows."""
    rounded = 0
    for top in range(0, len(matrix), _AT_ONCE):
        end = top + _AT_ONCE
        below, above = matrix[top:end, :end], matrix[:end, top:end].T
        if (below == above).all():
            continue
        if (np.abs(below - above) > atol + rtol * np.minimum(np.abs(below), np.abs(above))).any():
            return 2
        rounded = 1
    return rounded
