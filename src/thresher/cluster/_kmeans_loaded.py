"""Checks of model files: sparse K-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gate
from .._gate import at_least, check_value, non_negative

_LARGEST = _gate.HUGE  # no mean of rows that passed the gate is beyond it


def check_loaded(model: Any) -> None:
    """Refuse attributes that do not belong together."""
    _gate.check_loaded_features(model)
    for name in ("n_iter_", "n_samples_seen_"):
        check_value("SparseKMeans", name, getattr(model, name), at_least(1))
    check_value("SparseKMeans", "inertia_", model.inertia_, non_negative)
    if type(getattr(model, "_grown", False)) is not bool:
        raise ValueError("SparseKMeans: _grown must be True or False.")
    k, n_steps = model.n_clusters, model.n_iter_ if np.size(model.objective_history_) else 0
    shapes = dict.fromkeys(("cluster_centers_", "_sums"), (k, model.n_features_in_))
    _gate.check_loaded_arrays(model, {**shapes, "cluster_weights_": (k,), "objective_history_": (n_steps,)})
    _check_centres(model)
    history = model.objective_history_
    if n_steps and (history.min() < 0 or (np.diff(history) > 0).any() or model.inertia_ != history[-1]):
        raise ValueError("SparseKMeans: objective_history_ must fall to inertia_, which is at least 0.")


def _check_centres(model: Any) -> None:
    """Refuse centres that no rows can have."""
    if np.abs(model.cluster_centers_).max() > _LARGEST:
        raise ValueError(f"SparseKMeans: cluster_centers_ must be numbers up to {_LARGEST:g}.")
    if model._metric != model.metric:
        raise ValueError(f"SparseKMeans: metric must be that of the centres, {model._metric!r}, got {model.metric!r}.")
    lengths = np.linalg.norm(model.cluster_centers_, axis=1)
    if model.metric == "cosine" and not np.logical_or(lengths == 0, np.abs(lengths - 1) < 1e-6).all():
        raise ValueError("SparseKMeans: centres of the cosine metric must have length 1 or 0.")
    if model.cluster_weights_.min() < 0:
        raise ValueError("SparseKMeans: cluster_weights_ must be numbers of at least 0.")
    if (np.abs(model._sums) > _LARGEST * np.maximum(model.cluster_weights_, 1.0)[:, None]).any():
        raise ValueError(f"SparseKMeans: the means of rows must be at most {_LARGEST:g}.")
