"""Criteria of a search as scikit-learn scorers, greater is better."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    mean_squared_error,
    roc_auc_score,
)

from ..metrics import sampled_silhouette

_MOST_ROWS_FOR_SILHOUETTE = 2000  # to measure, and to measure from


class Criterion:
    """A scorer ``(estimator, X, y) -> float`` of :func:`criterion`, with its task and a description."""

    def __init__(self, name: str, task: str, about: str, measure: Callable[..., Any]) -> None:
        self.name, self.task, self.about, self._measure = name, task, about, measure
        self._weighs = task != "clustering"

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        if sample_weight is None or not self._weighs:
            return float(self._measure(estimator, X, y))
        return float(self._measure(estimator, X, y, sample_weight=sample_weight))

    def _accept_sample_weight(self) -> bool:  # scikit-learn asks before it passes any
        return self._weighs

    def __repr__(self) -> str:
        return f"criterion({self.name!r})"

    def __reduce__(self) -> Any:  # by name: functions need not travel
        return criterion, (self.name,)


def criterion(name: str) -> Criterion:
    """A scorer by name, for :class:`CoupledAnnealingSearchCV` or anything of scikit-learn that takes ``scoring``.

    Parameters
    ----------
    name : str
        ==========================  ============================================================================
        ``"error"``                 minus the share of wrong labels
        ``"balanced_error"``        minus the mean over classes of that share; for rare classes
        ``"f1"``                    F1 of the second of two classes; the mean over classes when there are more
        ``"roc_auc"``               area under the ROC curve, of each class against the rest when there are more
        ``"average_precision"``     area under the precision-recall curve, likewise
        ``"mse"``                   minus the mean squared error
        ``"silhouette"``            mean silhouette of predicted clusters, -1 when there is only one; ``y`` is not
                                    looked at; more than 2,000 rows are sampled, small clusters more densely; by
                                    direction if the estimator has ``metric="cosine"``; of a pipeline, in the space of
                                    its last step
        ``"line_fit"``              how well the scores of a kernel clustering line up, cluster by cluster:
                                    ``estimator.line_fit(X)``, for clusters of any shape
        ==========================  ============================================================================

        Areas are made of ``decision_function`` where there is one, else of ``predict_proba``; labels may be text.

    Returns
    -------
    scorer : callable ``(estimator, X, y) -> float``, greater is better

    Examples
    --------
    >>> from thresher.online import AROWClassifier
    >>> from thresher.tuning import criterion
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], ["ham", "spam", "ham", "spam"]
    >>> model = AROWClassifier(random_state=0).fit(X, y)
    >>> criterion("error")(model, X, y), criterion("roc_auc")(model, X, y)
    (0.0, 1.0)
    """
    if not isinstance(name, str) or name not in CRITERIA:
        raise ValueError(f"criterion: name must be one of {', '.join(map(repr, CRITERIA))}, got {name!r}.")
    return CRITERIA[name]


def _of_predictions(measure: Callable[..., float], estimator: Any, X: Any, y: Any, **weight: Any) -> float:
    return measure(y, estimator.predict(X), **weight)


def _f1(estimator: Any, X: Any, y: Any, **weight: Any) -> Any:
    classes, predicted = _classes(estimator, y), estimator.predict(X)
    two = len(classes) == 2 and bool(np.isin(np.union1d(y, predicted), classes).all())  # no outliers beside them
    which = {"pos_label": classes[1]} if two else {"average": "macro"}
    return f1_score(y, predicted, zero_division=0.0, **which, **weight)


def _against_the_rest(measure: Callable[..., float], estimator: Any, X: Any, y: Any, **weight: Any) -> float:
    """The measure of the second of two classes, or the mean over classes, each against the rest.

    Classes that the rows do not tell apart from the rest, because all or none belong to them, do not count.
    """
    classes = _classes(estimator, y)
    y = np.asarray(y)
    method = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
    scores = np.asarray(getattr(estimator, method)(X))
    if len(classes) == 2:
        classes, scores = classes[1:], scores[:, None] if scores.ndim == 1 else scores[:, 1:]
    areas = [
        measure(y == label, column, **weight)
        for label, column in zip(classes, scores.T, strict=True)
        if 0 < np.count_nonzero(y == label) < len(y)
    ]
    return float(np.mean(areas)) if areas else math.nan


def _silhouette(estimator: Any, X: Any, y: Any = None) -> float:
    learner, Z = _where_clusters_are(estimator, X)
    clusters = np.asarray(learner.predict(Z))
    if not 1 < len(np.unique(clusters)) < len(clusters):
        return -1.0
    metric = "cosine" if getattr(learner, "metric", None) == "cosine" else "euclidean"
    most = _MOST_ROWS_FOR_SILHOUETTE
    return sampled_silhouette(Z, clusters, n_samples=most, n_others=most, metric=metric).mean


def _line_fit(estimator: Any, X: Any, y: Any = None) -> Any:
    learner, Z = _where_clusters_are(estimator, X)
    if not hasattr(learner, "line_fit"):
        raise ValueError(f"line_fit: the estimator must have scores that line up, got {type(learner).__name__}.")
    return learner.line_fit(Z)


def _where_clusters_are(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and rows as it is given them."""
    steps = [step for _, step in getattr(estimator, "steps", [(None, estimator)])]
    for step in steps[:-1]:
        X = step.transform(X) if hasattr(step, "transform") else X  # scikit-learn has "passthrough"
    return steps[-1], X


def _classes(estimator: Any, y: Any) -> Any:
    return np.asarray(estimator.classes_) if hasattr(estimator, "classes_") else np.unique(y)


_OF_CLASSES = "classification"
_error = partial(_of_predictions, lambda *ys, **weight: accuracy_score(*ys, **weight) - 1)
_balanced_error = partial(_of_predictions, lambda *ys, **weight: balanced_accuracy_score(*ys, **weight) - 1)
_mse = partial(_of_predictions, lambda *ys, **weight: -mean_squared_error(*ys, **weight))
_roc_auc = partial(_against_the_rest, roc_auc_score)
_average_precision = partial(_against_the_rest, average_precision_score)
CRITERIA: dict[str, Criterion] = {
    c.name: c
    for c in (
        Criterion("error", _OF_CLASSES, "the share of wrong labels", _error),
        Criterion("balanced_error", _OF_CLASSES, "the mean over classes of the share of wrong labels", _balanced_error),
        Criterion("f1", _OF_CLASSES, "precision and recall of the second class, or of all when there are more", _f1),
        Criterion("roc_auc", _OF_CLASSES, "how well scores rank the classes: area under the ROC curve", _roc_auc),
        Criterion("average_precision", _OF_CLASSES, "the same for rare classes: precision-recall", _average_precision),
        Criterion("mse", "regression", "the mean squared error", _mse),
        Criterion("silhouette", "clustering", "how compact and apart the clusters are", _silhouette),
        Criterion("line_fit", "clustering", "how well clusters of any shape are told apart by a kernel", _line_fit),
    )
}
