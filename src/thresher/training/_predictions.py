"""What a run asks of a model, pipeline or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_clusterer, is_regressor
from sklearn.utils.validation import check_is_fitted

from .._gate import carrying


def learner_of(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def is_fitted(model: Any) -> bool:
    return hasattr(learner_of(model), "n_features_in_")


def said(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Predictions and scores."""
    learner = learner_of(model)
    if is_regressor(model) or is_clusterer(learner) or not hasattr(model, "decision_function"):
        return model.predict(X), None
    scores = model.decision_function(X)
    if getattr(learner, "reject", False):  # scores that tell classes apart do not tell outliers from them
        return model.predict(X), scores
    return learner._read_scores(scores), scores


def answerable(model: Any, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The rows that a model can be asked about: where rows belong to tasks, those of tasks that it has met."""
    if getattr(model, "task_column", None) is None or (known := model.knows_task(X)).all():
        return X, y
    return X[known], y[known]


def known_to(model: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which targets are answers that a classifier can give: its classes, and that a row is of none where it knows
    such."""
    known: NDArray[np.bool_] = np.isin(y, model.classes_) | without_class(model, y, "outlier_label", "irrelevant_label")
    return known


def without_class(model: Any, y: NDArray[Any], *names: str) -> NDArray[np.bool_]:
    """Which rows carry a label that the learner takes for none of its classes: by default any such label."""
    learner = learner_of(model)
    found = np.zeros(len(y), dtype=bool)
    for name in names or ("outlier_label", "irrelevant_label", "unlabelled_label"):
        found |= carrying(y, getattr(learner, name, None))
    return found


def labelled(model: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have an answer: all, unless the model takes one label for none."""
    return ~carrying(y, getattr(learner_of(model), "unlabelled_label", None))


def with_label(model: Any, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The rows that have an answer."""
    known = labelled(model, y)
    return (X, y) if known.all() else (X[np.flatnonzero(known)], y[known])


def counts(model: Any) -> tuple[int, int, float]:
    """Rows, mistakes and loss so far."""
    learner = learner_of(model)
    check_is_fitted(learner)
    rows = learner.n_samples_seen_
    return rows, int(getattr(learner, "n_mistakes_", 0)), float(learner.progressive_loss_ * rows)


def n_used(model: Any) -> int:
    return len(learner_of(model).support_)


def plain(label: Any) -> Any:
    """A label as people write it: 1 rather than 1.0."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def alike(y: NDArray[Any], model: Any) -> NDArray[Any]:
    """Targets in the type of the model's classes, so that 1.0 and 1 are equal labels."""
    classes = getattr(model, "classes_", None)
    if classes is not None and classes.dtype.kind in "iu" and y.dtype.kind == "f" and (y == np.round(y)).all():
        return y.astype(classes.dtype)
    return y
