"""Kernel matrices: whole where they fit, row by row where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gate import beside, on_host, take, zeros
from ._kernel import Kernel
from ._products import Array, as_floats

_MB = 1 << 20


class Gram:
    """The kernel of all rows with one another, of which rows are made when they are asked for."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel, self._X = kernel.settled(X), as_floats(X)
        self._rows = self._kernel._against(self._X)
        self.shape = (X.shape[0], X.shape[0])

    def diagonal(self) -> Array:
        """The kernel of each row with itself."""
        return on_host(self._kernel.diagonal(self._X))

    def row(self, i: int) -> Array:
        """The kernel of one row with all."""
        return np.ascontiguousarray(on_host(self._rows(self._X[i : i + 1, :]))[0])

    def times(self, weights: Array) -> Array:
        """The product with a matrix of shape (k, n), in blocks."""
        found = zeros((len(weights), self.shape[0]), self._X)
        used = np.flatnonzero(weights.any(axis=0))
        per_block = max(1, 64 * _MB // (8 * self.shape[0]))
        for begin in range(0, len(used), per_block):
            some = used[begin : begin + per_block]
            found += beside(weights[:, some], self._X) @ self._rows(take(self._X, some))
        return on_host(found)


def gram(kernel: Kernel, X: Any, cache_size: float) -> Any:
    """The kernel matrix of rows: an array when that takes no more than so many megabytes, else a :class:`Gram`."""
    if 8 * X.shape[0] ** 2 > cache_size * _MB:
        return Gram(kernel, X)
    return kernel(X)
