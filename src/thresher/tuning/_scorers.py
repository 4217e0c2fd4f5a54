"""Criteria of a search as scikit-learn scorers, and the number of weights in use as part of a score or beside one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metadata_routing import get_routing_for_object

from .._dataclasses import dataclass
from .._estimators import plain_transform
from .._gate import Rule, check_value, fraction, sparse
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
    """Return a scorer by name, for :class:`CoupledAnnealingSearchCV` or anything in scikit-learn that takes
    ``scoring``.

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

        Areas use ``decision_function`` if the estimator has it, otherwise ``predict_proba``. Labels may be text.

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
    return metrics.f1_score(y, predicted, zero_division=0.0, **which, **weight)


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
        X = plain_transform(step, X) if hasattr(step, "transform") else X  # scikit-learn has "passthrough"
    return steps[-1], X


def _classes(estimator: Any, y: Any) -> Any:
    return np.asarray(estimator.classes_) if hasattr(estimator, "classes_") else np.unique(y)


_OF_CLASSES = "classification"
_error = partial(_of_predictions, lambda *ys, **weight: metrics.accuracy_score(*ys, **weight) - 1)
_balanced_error = partial(_of_predictions, lambda *ys, **weight: metrics.balanced_accuracy_score(*ys, **weight) - 1)
_mse = partial(_of_predictions, lambda *ys, **weight: -metrics.mean_squared_error(*ys, **weight))
_roc_auc = partial(_against_the_rest, metrics.roc_auc_score)
_average_precision = partial(_against_the_rest, metrics.average_precision_score)
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


def weights_of(model: Any) -> Any:
    """The weights of a fitted model without its constant terms, or its cluster centres; None when it has neither.

    Pipelines are read by their last step, searches by their best estimator.
    """
    while True:
        if getattr(model, "coef_", None) is not None:
            return model.coef_
        if getattr(model, "cluster_centers_", None) is not None:
            return _in_use(model.cluster_centers_)
        if getattr(model, "steps", None):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return None


def _in_use(centres: Any) -> Any:
    """Centres that are not 0 altogether, as those of clusters without rows are; the first if there is no other."""
    used = centres.any(axis=1)
    return centres[used] if used.any() else centres[:1]


def count_used(weights: Any) -> int:
    """The number of weights other than 0."""
    return int(weights.count_nonzero() if sparse.issparse(weights) else np.count_nonzero(weights))


@dataclass(frozen=True, repr=False, eq=False)
class SparsityScorer:
    """A scorer ``(estimator, X, y) -> float`` that :func:`sparsity_scorer` made."""

    scoring: Any
    kappa: float

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
        weights = weights_of(estimator)
        if weights is None:
            raise ValueError(
                f"sparsity_scorer: the estimator must have coef_ or cluster_centers_, got {type(estimator).__name__}."
            )
        score = (metrics.check_scoring(estimator) if self.scoring is None else self._scorer())(
            estimator, X, y, **params
        )
        return float((1 - self.kappa) * score - self.kappa * count_used(weights) / np.prod(weights.shape))

    def _scorer(self) -> Any:
        return criterion(self.scoring) if _is_ours(self.scoring) else metrics.get_scorer(self.scoring)

    def _accept_sample_weight(self) -> bool:  # scikit-learn asks before it passes any
        return self.scoring is not None and _takes_weights(self._scorer())

    def __repr__(self) -> str:
        return f"sparsity_scorer({self.scoring!r}, kappa={self.kappa!r})"


def sparsity_scorer(scoring: Any = "error", kappa: float = 0.2) -> SparsityScorer:
    r"""Return a scorer that rewards sparsity: :math:`(1 - \kappa)\,\text{score} - \kappa\,\text{nnz}(w) / d` [1]_.

    The constant term is not counted. With several classes, all their weights are; with clusters, those of the centres.

    Parameters
    ----------
    scoring : str or callable, default="error"
        A name of :func:`criterion`, or anything that scikit-learn accepts as ``scoring``. Greater is better; scores
        should be of the order of 1.
    kappa : float, default=0.2
        Weight of sparsity in the criterion, from 0 to 1. Typical values are 0.05 for dense data and 0.2 for sparse
        data.

    Returns
    -------
    scorer : callable ``(estimator, X, y) -> float``, greater is better

    Notes
    -----
    Be careful with rare classes. An empty model scores :math:`-(1 - \kappa)` times the share of the minority, so if a
    tenth of the rows are positive, it beats every model that uses more than :math:`(0.1 - \text{error})(1 - \kappa) /
    \kappa` of its features. Use ``scoring="balanced_error"`` then: an empty model scores as badly as guessing.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016,
       equation (4.17).

    Examples
    --------
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.tuning import sparsity_scorer
    >>> X, y = [[0.0, 1.0], [0.0, -1.0], [0.0, 2.0]], [1, 0, 1]
    >>> model = L1RDAClassifier(eta0=1.0, random_state=0).fit(X, y)
    >>> round(sparsity_scorer("accuracy", kappa=0.2)(model, X, y), 6)  # 0.8 of 1, less 0.2 of one weight in two
    0.7
    """
    known = Rule(
        "a name of criterion(), of scikit-learn's scorers, or a scorer",
        lambda v: callable(v) or v is None or _is_ours(v) or v in metrics.get_scorer_names(),
    )
    check_value("sparsity_scorer", "scoring", scoring, known)
    check_value("sparsity_scorer", "kappa", kappa, fraction)
    return SparsityScorer(scoring, float(kappa))


class Counted(float):
    """A score with the number of weights that its model uses; otherwise a number."""

    n_used: int | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Counting:
    """A scorer that also counts the weights in use."""

    scorer: Any

    def __call__(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return remember_used(self.scorer(estimator, *args, **kwargs), estimator)

    def _accept_sample_weight(self) -> bool:
        return _takes_weights(self.scorer)

    def get_metadata_routing(self) -> Any:
        return get_routing_for_object(self.scorer)

    def __repr__(self) -> str:
        return repr(self.scorer)


class CountingSeveral(_MultimetricScorer):  # type: ignore[misc]
    """The same for several scores at once."""

    def __call__(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return remember_used(super().__call__(estimator, *args, **kwargs), estimator)


def counting(scorers: Any) -> Any:
    """Scorers that count the weights in use, for a search."""
    if isinstance(scorers, _MultimetricScorer):
        return CountingSeveral(scorers=scorers._scorers, raise_exc=scorers._raise_exc)
    return Counting(scorers)


def remember_used(scores: Any, estimator: Any) -> Any:
    """The same scores, one of which holds the number of weights that the estimator uses."""
    weights = weights_of(estimator)
    name = next(iter(scores), None) if isinstance(scores, dict) else None
    score = scores if name is None else scores[name]
    if weights is None or not isinstance(score, (int, float, np.number)):
        return scores
    counted = Counted(score)
    counted.n_used = count_used(weights)
    return counted if name is None else scores | {name: counted}


def _is_ours(scoring: Any) -> bool:
    return isinstance(scoring, str) and scoring in CRITERIA


def _takes_weights(scorer: Any) -> bool:
    asked = getattr(scorer, "_accept_sample_weight", None)
    return bool(asked()) if asked is not None else "sample_weight" in inspect.signature(scorer).parameters
