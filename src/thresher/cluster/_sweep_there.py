"""Costs of rows at centres and sums of clusters where the rows lie, in arrays of another library than NumPy. Centres
are few, and come from NumPy; labels, costs and sums go back there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import as_float64, beside, namespace, on_host, row_blocks, zeros
from .._kernels import Array, squares


def row_squares(matrix: Any, middle: Array | None) -> Any:
    """The squared distance of each row from the middle."""
    found = zeros((matrix.shape[0],), matrix)
    for part, rows in _moved(matrix, middle, matrix.shape[1]):
        found[part] = squares(rows)
    return found


def costs_there(
    matrix: Any, sizes: Any, middle: Array | None, table: Array, offsets: Array
) -> Iterator[tuple[slice, Any]]:
    """The cost of each row at each centre, block by block: ``sizes + x table + offsets``, and at least 0."""
    factors, added, sizes = beside(table, matrix), beside(offsets, matrix), beside(sizes, matrix)
    for part, rows in _moved(matrix, middle, max(matrix.shape[1], table.shape[1])):
        costs = rows @ factors + added[None, :] + sizes[part][:, None]
        yield part, namespace(costs).clip(costs, 0.0, None)


def nearest_centres(
    matrix: Any, sizes: Any, middle: Array | None, table: Array, offsets: Array
) -> tuple[NDArray[np.int32], Array]:
    """For each row the centre where it costs least, and that cost."""
    labels, least = np.empty(matrix.shape[0], dtype=np.int32), np.empty(matrix.shape[0])
    for part, costs in costs_there(matrix, sizes, middle, table, offsets):
        xp = namespace(costs)
        labels[part], least[part] = on_host(xp.argmin(costs, axis=1)), on_host(xp.min(costs, axis=1))
    return labels, least


def sums_there(matrix: Any, weight: Array | None, labels: NDArray[np.int32], n_clusters: int) -> tuple[Array, Array]:
    """The weighted sum of the rows of each cluster, and their weight."""
    xp = namespace(matrix)
    places = beside(labels.astype(np.int64), matrix)
    weights = None if weight is None else beside(weight, matrix)
    numbers, sums = beside(np.arange(n_clusters), matrix), zeros((n_clusters, matrix.shape[1]), matrix)
    for part, rows in _moved(matrix, None, max(matrix.shape[1], n_clusters)):
        members = xp.astype(places[part][:, None] == numbers[None, :], xp.float64)
        members = members if weights is None else members * weights[part][:, None]
        sums += members.T @ rows
    return on_host(sums), np.bincount(labels, weight, minlength=n_clusters).astype(np.float64)


def least_alone(matrix: Any, alpha: float, cosine: bool) -> Array:
    """The cost of each row at a centre of its own."""
    xp, least = namespace(matrix), np.empty(matrix.shape[0])
    for part, rows in _moved(matrix, None, matrix.shape[1]):
        spared = squares(rows - xp.clip(rows, -alpha, alpha))
        least[part] = on_host(squares(rows) - (xp.sqrt(spared) if cosine else spared))
    return least


def _moved(matrix: Any, middle: Array | None, per_row: int) -> Iterator[tuple[slice, Any]]:
    """Blocks of rows in double precision, less the middle."""
    from_here = None if middle is None else beside(middle, matrix)
    for part in row_blocks((matrix.shape[0], per_row), matrix):
        rows = as_float64(matrix[part, :])
        yield part, rows if from_here is None else rows - from_here
