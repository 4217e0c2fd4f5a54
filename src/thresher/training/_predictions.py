"""Questions to a model, pipeline or not, about rows and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import task_of
from .._gate import carrying
from ..streams import has_target


def learner_of(model: Any) -> Any:
    """The last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model


def is_fitted(model: Any) -> bool:
    return hasattr(learner_of(model), "n_features_in_")


def predict_with_scores(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Predictions and, if a classifier has them, decision values; rows are scored once."""
    if task_of(model) != "classification" or not hasattr(model, "decision_function"):
        return model.predict(X), None
    scores = model.decision_function(X)
    learner = learner_of(model)
    if getattr(learner, "reject", False):  # scores that tell classes apart do not tell outliers from them
        return model.predict(X), scores
    return learner._read_scores(scores), scores


def probabilities_of(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Probabilities of the classes, if a classifier has them."""
    if task_of(model) != "classification" or not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def predictable_rows(model: Any, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The rows that a model can predict: those of tasks that it has met, if rows belong to tasks."""
    if getattr(model, "task_column", None) is None or (known := model.knows_task(X)).all():
        return X, y
    return X[known], y[known]


def is_known_label(model: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    """For each label, whether a classifier can predict it: as a class, or as a label for rows of no class."""
    return np.isin(y, model.classes_) | is_no_class(model, y, "outlier_label", "irrelevant_label")


def is_no_class(model: Any, y: NDArray[Any], *names: str) -> NDArray[np.bool_]:
    """For each label, whether it stands for no class: the label of one of the parameters `names`, by default of any."""
    learner = learner_of(model)
    found = np.zeros(len(y), dtype=bool)
    for name in names or ("outlier_label", "irrelevant_label", "unlabelled_label"):
        found |= carrying(y, getattr(learner, name, None))
    return found


def drop_unlabelled(model: Any, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The rows that have a target, and one that is not the label of unlabelled rows."""
    known = has_target(y) & ~is_no_class(model, y, "unlabelled_label")
    return (X, y) if known.all() else (X[np.flatnonzero(known)], y[known])


def rows_to_learn(model: Any, X: Any, y: NDArray[Any] | None) -> tuple[Any, NDArray[Any] | None]:
    """Return the rows that a model can learn from, if targets may be missing.

    Rows without a target are left out. A model with an ``unlabelled_label`` learns from them as unlabelled rows, and
    a clusterer from all rows.

    Parameters
    ----------
    model : estimator or StreamingPipeline
    X, y : rows and targets
        As streams yield them: a missing number is NaN, a missing text is empty.

    Returns
    -------
    X, y
    """
    if y is None or task_of(model) == "clustering" or (there := has_target(y)).all():
        return X, y
    mark = getattr(learner_of(model), "unlabelled_label", None)
    if mark is None:
        return X[np.flatnonzero(there)], y[there]
    return X, mark_unlabelled(y, mark)


def weighted_rows_to_learn(
    model: Any, X: Any, y: NDArray[Any] | None, weight: NDArray[np.float64] | None
) -> tuple[Any, NDArray[Any] | None, NDArray[np.float64] | None]:
    """The rows of :func:`rows_to_learn` with their weights, which are None if all are 1."""
    some, labels = rows_to_learn(model, X, y)
    if y is not None and weight is not None and some.shape[0] < X.shape[0]:
        weight = weight[has_target(y)]
    return some, labels, weight


def mark_unlabelled(y: NDArray[Any], label: Any) -> NDArray[Any]:
    """Targets in which missing ones are the label of unlabelled rows."""
    if y.dtype.kind == "f" and isinstance(label, str):
        raise ValueError(f"unlabelled_label must be a number if targets are numbers, got {label!r}.")
    marked = y.copy()
    marked[~has_target(y)] = label if y.dtype.kind == "f" else str(written_label(label))
    return marked


def written_label(label: Any) -> Any:
    """A label as people write it: 1 rather than 1.0."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def match_labels(y: NDArray[Any], model: Any) -> NDArray[Any]:
    """Labels in the type of the model's classes, so that 1.0 and 1 are equal."""
    classes = getattr(model, "classes_", None)
    if classes is not None and classes.dtype.kind in "iu" and y.dtype.kind == "f" and (y == np.round(y)).all():
        return y.astype(classes.dtype)
    return y
