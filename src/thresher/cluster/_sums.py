"""Sums of the rows of each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._dataclasses import dataclass
from .._engine import added
from .._estimators import warn_of_convergence
from .._kernels import Array


@dataclass(frozen=True)
class ClusterSums:
    """Sums over rows assigned to the nearest centres: all that a step of K-means needs.

    Sums of different rows at the same centres can be added: ``a + b``.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        The weighted sum of the rows of each cluster.
    weights : ndarray of shape (n_clusters,)
        The total weight of the rows of each cluster; their number if they have no weights.
    cost : float
        The objective before the centres move.
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
                f"ClusterSums: both must have the same numbers of clusters and features, got {self.sums.shape} and "
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
    refuse_few("SparseKMeans", n_clusters, sums.n_rows, "rows of weight above 0")


def refuse_few(who: str, n_clusters: int, n_rows: int, counted: str = "rows") -> None:
    """Refuse more clusters than rows."""
    if n_rows < n_clusters:
        raise ValueError(
            f"{who}: n_clusters must be at most the number of {counted} (n_samples={n_rows}), got {n_clusters}."
        )


def warn_of_empty(n_used: int, n_clusters: int, alpha: float) -> None:
    """Say so when clusters have no rows."""
    if n_used < n_clusters:
        cause = "a smaller alpha keeps more of them" if alpha > 0 else "too few rows differ"
        warn_of_convergence(f"SparseKMeans: only {n_used} of {n_clusters} clusters have rows; {cause}.", stacklevel=3)


def merge_into(model: Any, others: list[Any], start: Any) -> None:
    """Make of a model what it and others reached together from one start, which counts once."""
    if start is None and isinstance(model.init, str):
        raise ValueError(
            "merge_models: to match their clusters, SparseKMeans models need the model that they started from, or an "
            "array as init; give start."
        )
    everyone = [model, *others, *([] if start is None else [start])]
    width = max(each.n_features_in_ for each in everyone)
    widest = next(each for each in everyone if each.n_features_in_ == width)
    summed = [each._summed(((0, 0), (0, width - each.n_features_in_))) for each in everyone]
    sums = changes(None if start is None else summed.pop(), summed)
    moved = model._objective().best_centres(sums.sums, sums.weights)
    before = np.pad(model._centres, ((0, 0), (0, width - model.n_features_in_)))
    n_before = 0 if start is None else start.n_iter_
    n_iter = n_before + sum(each.n_iter_ - n_before for each in (model, *others))
    model._commit(np.where((sums.weights > 0)[:, None], moved, before), sums, n_iter)
    model.n_features_in_ = width
    if hasattr(widest, "feature_names_in_"):
        model.feature_names_in_ = widest.feature_names_in_


def changes(start: ClusterSums | None, reached: list[ClusterSums]) -> ClusterSums:
    """Sums that several reached from one start, which counts once; the order of them leaves no trace."""
    if len(reached) == 1:
        return reached[0]
    first = start or ClusterSums(np.zeros_like(reached[0].sums), np.zeros_like(reached[0].weights), 0.0, 0)

    return ClusterSums(
        added(first.sums, [each.sums for each in reached]),
        added(first.weights, [each.weights for each in reached]),
        float(added(np.array(first.cost), [np.array(each.cost) for each in reached])),
        first.n_rows + sum(each.n_rows - first.n_rows for each in reached),
    )
