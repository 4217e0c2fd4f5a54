"""Kernel matrices block by block, in threads: memory is bounded, and as each block has a BLAS of one thread, bits do
not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._engine import in_threads, one_blas_thread, slices
from .._gate import empty, is_foreign_array, row_blocks, with_diagonal
from ._products import Array

_TILE = 256  # rows and columns of a block of a square matrix
_LARGE_TILE = 4096  # of one on a device, which works on a block with all it has
_VALUES = 1 << 20  # of a block of any other; a matrix of fewer is done before threads have begun

Values = Callable[[Any], Array]


def among(against: Callable[[Any], Values], X: Any, diagonal: Array) -> Array:
    """The matrix of the rows with one another: half of it is computed, the other half mirrors it."""
    K = empty((X.shape[0], X.shape[0]), X)

    def fill(one: slice, other: slice) -> None:
        block = against(X[other, :])(X[one, :])
        K[one, other] = (block + block.T) / 2 if one == other else block
        if one != other:
            K[other, one] = block.T

    tiles = list(slices(X.shape[0], _LARGE_TILE if is_foreign_array(X) else _TILE))
    _each(fill, [(one, other) for i, one in enumerate(tiles) for other in tiles[i:]], K)
    return with_diagonal(K, diagonal)


def between(values: Values, X: Any, n_columns: int) -> Array:
    """The matrix of rows with others, which ``values`` knows."""
    K = empty((X.shape[0], n_columns), X)

    def fill(part: slice) -> None:
        K[part, :] = values(X[part, :])

    blocks = row_blocks(K.shape, X) if is_foreign_array(X) else parts(X.shape[0], n_columns)
    _each(fill, [(part,) for part in blocks], K)
    return K


def parts(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of the rows of a matrix, each of a moderate number of values."""
    return list(slices(n_rows, max(1, _VALUES // max(1, n_columns)))) if n_rows else []


def _each(fill: Callable[..., None], blocks: list[tuple[slice, ...]], K: Array) -> None:
    with one_blas_thread():
        if not is_foreign_array(K) and K.size >= _VALUES:
            return in_threads(fill, blocks)
        for block in blocks:
            fill(*block)
