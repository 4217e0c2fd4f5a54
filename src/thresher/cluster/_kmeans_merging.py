"""One model of sparse K-means from several that began at the same centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import added
from ._sums import ClusterSums


def merge_into(model: Any, others: list[Any], start: Any) -> None:
    """Make of a model what it and others reached together from one start, which counts once."""
    if start is None and isinstance(model.init, str):
        raise ValueError(
            "merge_models: SparseKMeans needs the start of the models, or an array as init, by which clusters of one "
            "are those of the other; give start."
        )
    everyone = [model, *others, *([] if start is None else [start])]
    width = max(each.n_features_in_ for each in everyone)
    widest = next(each for each in everyone if each.n_features_in_ == width)
    summed = [each._summed(((0, 0), (0, width - each.n_features_in_))) for each in everyone]
    sums = changes(None if start is None else summed.pop(), summed)
    moved = model._objective().best_centres(sums.sums, sums.weights)
    before = np.pad(model.cluster_centers_, ((0, 0), (0, width - model.n_features_in_)))
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
