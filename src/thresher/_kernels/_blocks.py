"""Kernel matrices block by block: in threads, each with a BLAS of one thread, so that memory is bounded and the bits do not
depend on how many threads there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from .._threads import one_blas_thread
from ._products import Array

_TILE = 1024  # rows and columns of a block of a square matrix
_VALUES = 1 << 20  # of a block of any other

Values = Callable[[Any, Any], Array]


def among(values: Values, X: Any, diagonal: Array) -> Array:
    """The matrix of the rows with one another: half of it is computed, the other half mirrors it."""
    K = np.empty((X.shape[0], X.shape[0]))

    def fill(one: slice, other: slice) -> None:
        block = values(X[one], X[other])
        K[one, other] = (block + block.T) / 2 if one == other else block
        if one != other:
            K[other, one] = block.T

    tiles = list(gen_batches(X.shape[0], _TILE))
    _each(fill, [(one, other) for i, one in enumerate(tiles) for other in tiles[i:]])
    np.fill_diagonal(K, diagonal)
    return K


def between(values: Values, X: Any, Z: Any) -> Array:
    """The matrix of rows with other rows."""
    K = np.empty((X.shape[0], Z.shape[0]))

    def fill(part: slice) -> None:
        K[part] = values(X[part], Z)

    _each(fill, [(part,) for part in parts(X.shape[0], Z.shape[0])])
    return K


def parts(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of the rows of a matrix, each of a moderate number of values."""
    return list(gen_batches(n_rows, max(1, _VALUES // max(1, n_columns)))) if n_rows else []


def _each(fill: Callable[..., None], blocks: Iterable[tuple[slice, ...]]) -> None:
    blocks = list(blocks)
    n_threads = min(len(blocks), os.cpu_count() or 1)
    with one_blas_thread():
        if n_threads < 2:
            for block in blocks:
                fill(*block)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for done in [pool.submit(fill, *block) for block in blocks]:
                done.result()
