"""Checks of model files: sparse K-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gate
from .._gate import at_least, non_negative

_LARGEST = _gate.HUGE  # no mean of rows that passed the gate is beyond it


def check_loaded(model: Any) -> None:
    """Refuse attributes that do not belong together."""
    _gate.check_loaded_features(model)
    _check_centres(model)
    _check_sums(model)
    if type(getattr(model, "_grown", False)) is not bool:
        raise ValueError("SparseKMeans: _grown must be True or False.")
    history = model.objective_history_
    if not _is_finite(history) or history.ndim != 1 or len(history) not in (0, model.n_iter_):
        raise ValueError("SparseKMeans: objective_history_ must be finite numbers, one per step.")
    if not non_negative.holds(model.inertia_):
        raise ValueError("SparseKMeans: inertia_ must be a number of at least 0.")
    if len(history) and (history.min() < 0 or (np.diff(history) > 0).any() or model.inertia_ != history[-1]):
        raise ValueError("SparseKMeans: objective_history_ must fall to inertia_, which is at least 0.")


def _check_centres(model: Any) -> None:
    centres, shape = model.cluster_centers_, (model.n_clusters, model.n_features_in_)
    if not _is_finite(centres) or centres.shape != shape or np.abs(centres).max() > _LARGEST:
        raise ValueError(f"SparseKMeans: cluster_centers_ must be numbers up to {_LARGEST:g} of shape {shape}.")
    if model._metric != model.metric:
        raise ValueError(f"SparseKMeans: metric must be that of the centres, {model._metric!r}, got {model.metric!r}.")
    lengths = np.linalg.norm(centres, axis=1)
    if model.metric == "cosine" and not np.logical_or(lengths == 0, np.abs(lengths - 1) < 1e-6).all():
        raise ValueError("SparseKMeans: centres of the cosine metric must have length 1 or 0.")


def _check_sums(model: Any) -> None:
    sums, weights = model._sums, model.cluster_weights_
    if not _is_finite(sums) or sums.shape != model.cluster_centers_.shape:
        raise ValueError("SparseKMeans: the sums of rows must be finite numbers, one per value of a centre.")
    if not _is_finite(weights) or weights.shape != (len(sums),) or weights.min() < 0:
        raise ValueError("SparseKMeans: cluster_weights_ must be numbers of at least 0, one per cluster.")
    if (np.abs(sums) > _LARGEST * np.maximum(weights, 1.0)[:, None]).any():
        raise ValueError(f"SparseKMeans: the means of rows must be at most {_LARGEST:g}.")
    for name in ("n_iter_", "n_samples_seen_"):
        if type(getattr(model, name)) is not int or not at_least(1).holds(getattr(model, name)):
            raise ValueError(f"SparseKMeans: {name} must be an integer of at least 1.")


def _is_finite(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and bool(np.isfinite(value).all())
