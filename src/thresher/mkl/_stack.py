"""Kernel matrices of the training rows, all of trace 1: as many in memory as there is room for, others made anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy

from .._kernels import Kernel
from ._kernel_weights import Array

_MB = 1 << 20
_SPARSE = 0.25  # of all pairs of rows: with fewer in use, these are picked out


class MatrixSource(Protocol):
    """A source of kernel matrices."""

    n_kernels: int
    n_rows: int

    def diagonal(self, q: int) -> Array:
        """The kernel of every row with itself."""

    def matrix(self, q: int) -> Array:
        """The kernel of all rows with one another."""

    def block(self, q: int, some: NDArray[np.intp]) -> Array:
        """That of some rows."""


class MadeMatrices:
    """Kernel matrices of rows, by kernels that are ready for them."""

    def __init__(self, kernels: Sequence[Kernel], rows: Any) -> None:
        self._kernels, self._rows = kernels, rows
        self.n_kernels, self.n_rows = len(kernels), rows.shape[0]

    def diagonal(self, q: int) -> Array:
        return self._kernels[q].diagonal(self._rows)

    def matrix(self, q: int) -> Array:
        return self._kernels[q](self._rows)

    def block(self, q: int, some: NDArray[np.intp]) -> Array:
        rows = self._rows[some]
        return self._kernels[q](rows, rows)


class GivenMatrices:
    """Kernel matrices that the user has, of which some rows take part; ``exact`` says which are symmetric to the last
    bit."""

    def __init__(self, matrices: NDArray[Any], present: NDArray[np.intp], exact: Sequence[bool]) -> None:
        self._matrices, self._present, self._exact = matrices, present, exact
        self.n_kernels, self.n_rows = len(matrices), len(present)

    def diagonal(self, q: int) -> Array:
        diagonal: Array = self._matrices[q].diagonal()[self._present].astype(np.float64)
        return diagonal

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

    def __init__(self, source: MatrixSource, counts: Array, cache_size: float) -> None:
        n = source.n_rows
        self.n_kernels = source.n_kernels
        self._source, self._n = source, n
        self._below = np.tri(n, dtype=bool)
        self._n_kept = min(self.n_kernels, int(cache_size * _MB / (8 * (n * (n + 1) // 2))))
        self._kept = np.empty((self._n_kept, n * (n + 1) // 2))
        self.factors = np.array([_inverse(float(counts @ source.diagonal(q))) for q in range(self.n_kernels)])
        for q in range(self._n_kept):
            np.multiply(source.matrix(q)[self._below], self.factors[q], out=self._kept[q])

    def combined(self, theta: Array) -> Array:
        """The kernel matrix of these weights."""
        half = np.zeros(self._kept.shape[1])
        for q in np.flatnonzero(theta[: self._n_kept]):
            daxpy(self._kept[q], half, a=theta[q])
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


def _inverse(trace: float) -> float:
    """A kernel that is 0 on all rows stays so."""
    return 1 / trace if trace > 0 and np.isfinite(1 / trace) else 0.0
