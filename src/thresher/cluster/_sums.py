"""What rows say of centres, in numbers that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels._products import Array


@dataclass(frozen=True)
class ClusterSums:
    """Rows, joined to the nearest of some centres: all that a step of K-means needs to know of them.

    Sums of different rows at the same centres add up, wherever the rows are: ``a + b``.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        For each cluster the sum of its rows, times their weights.
    weights : ndarray of shape (n_clusters,)
        For each cluster the weight of its rows; their number if they have none.
    cost : float
        The objective, before the centres move.
    n_rows : int
        Number of rows.
    """

    sums: Array
    weights: Array
    cost: float
    n_rows: int

    def __add__(self, other: Any) -> ClusterSums:
        if not isinstance(other, ClusterSums):
            return NotImplemented
        if self.sums.shape != other.sums.shape:
            raise ValueError(
                f"ClusterSums: both must have as many clusters and features, got {self.sums.shape} and "
                f"{other.sums.shape}."
            )
        return ClusterSums(
            self.sums + other.sums, self.weights + other.weights, self.cost + other.cost, self.n_rows + other.n_rows
        )

    def __radd__(self, other: Any) -> ClusterSums:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # for sum()


def changes(start: ClusterSums | None, reached: list[ClusterSums]) -> ClusterSums:
    """What several reached from one start, which counts once; the order of them leaves no trace."""
    if len(reached) == 1:
        return reached[0]
    first = start or ClusterSums(np.zeros_like(reached[0].sums), np.zeros_like(reached[0].weights), 0.0, 0)

    def total(values: list[Any], begin: Any) -> Any:
        return begin + np.sort([value - begin for value in values], axis=0).sum(axis=0)

    return ClusterSums(
        total([each.sums for each in reached], first.sums),
        total([each.weights for each in reached], first.weights),
        float(total([each.cost for each in reached], first.cost)),
        int(total([each.n_rows for each in reached], first.n_rows)),
    )
