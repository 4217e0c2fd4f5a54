"""Sums of the rows of each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._estimators import warn_of_convergence
from .._kernels import Array


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


def check_sums(sums: Any, shape: tuple[int, ...], who: str) -> None:
    """Refuse what is no sums at centres of this shape."""
    if not isinstance(sums, ClusterSums) or sums.sums.shape != shape or sums.weights.shape != shape[:1]:
        raise ValueError(f"{who}: sums must be ClusterSums of shape {shape}, as cluster_sums makes them.")
    if not np.isfinite(sums.sums).all() or not np.isfinite(sums.weights).all() or (sums.weights < 0).any():
        raise ValueError(f"{who}: sums must hold finite numbers, and no weights below 0.")


def check_number(sums: ClusterSums, n_clusters: int) -> None:
    """Refuse rows of which there are fewer than clusters."""
    if sums.n_rows == 0:
        raise ValueError("SparseKMeans: sample_weight must hold a weight above 0, got only zeros.")
    if sums.n_rows < n_clusters:
        raise ValueError(
            f"SparseKMeans: n_clusters must be at most the number of rows of weight above 0 (n_samples={sums.n_rows}), "
            f"got {n_clusters}."
        )


def warn_of_empty(n_used: int, n_clusters: int, alpha: float) -> None:
    """Say so when clusters have no rows."""
    if n_used < n_clusters:
        cause = "a smaller alpha keeps more of them" if alpha > 0 else "too few rows differ"
        warn_of_convergence(f"SparseKMeans: only {n_used} of {n_clusters} clusters have rows; {cause}.", stacklevel=3)
