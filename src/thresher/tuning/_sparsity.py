"""The number of weights in use, as part of a score and beside one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metadata_routing import get_routing_for_object

from .._gate import Rule, check_arguments, fraction
from ._criteria import CRITERIA, criterion


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


class SparsityScorer:
    """A scorer ``(estimator, X, y) -> float`` that :func:`sparsity_scorer` made."""

    def __init__(self, scoring: Any, kappa: float) -> None:
        self.scoring = scoring
        self.kappa = kappa

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
        weights = weights_of(estimator)
        if weights is None:
            raise ValueError(
                f"sparsity_scorer: the estimator must have coef_ or cluster_centers_, got {type(estimator).__name__}."
            )
        score = (check_scoring(estimator) if self.scoring is None else self._scorer())(estimator, X, y, **params)
        return float((1 - self.kappa) * score - self.kappa * count_used(weights) / np.prod(weights.shape))

    def _scorer(self) -> Any:
        return criterion(self.scoring) if _is_ours(self.scoring) else get_scorer(self.scoring)

    def _accept_sample_weight(self) -> bool:  # scikit-learn asks before it passes any
        return self.scoring is not None and _takes_weights(self._scorer())

    def __repr__(self) -> str:
        return f"sparsity_scorer({self.scoring!r}, kappa={self.kappa!r})"


def sparsity_scorer(scoring: Any = "error", kappa: float = 0.2) -> SparsityScorer:
    r"""A scorer that charges for weights in use: :math:`(1 - \kappa)\,\text{score} - \kappa\,\text{nnz}(w) / d` [1]_.

    The constant term is not counted. With several classes, all their weights are; with clusters, those of the centres.

    Parameters
    ----------
    scoring : str or callable, default="error"
        A name of :func:`criterion`, else whatever scikit-learn takes as ``scoring``. Greater is better, in units of
        about 1.
    kappa : float, default=0.2
        The share of the criterion that is sparsity, from 0 to 1. 0.05 is usual for dense data, 0.2 for sparse.

    Returns
    -------
    scorer : callable ``(estimator, X, y) -> float``, greater is better

    Notes
    -----
    Mind small minorities. A model without any weight scores :math:`-(1 - \kappa)` times the share of the minority, so
    where a tenth of the rows is positive it beats every model that uses more than
    :math:`(0.1 - \text{error})(1 - \kappa) / \kappa` of its features. Take ``scoring="balanced_error"`` there: an empty
    model then scores as badly as guessing.

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
    >>> model = L1RDAClassifier(random_state=0).fit(X, y)
    >>> round(sparsity_scorer("accuracy", kappa=0.2)(model, X, y), 6)  # 0.8 of 1, less 0.2 of one weight in two
    0.7
    """
    known = Rule(
        "a name of criterion(), of scikit-learn's scorers, or a scorer",
        lambda v: callable(v) or v is None or _is_ours(v) or v in get_scorer_names(),
    )
    check_arguments("sparsity_scorer", scoring=(scoring, known), kappa=(kappa, fraction))
    return SparsityScorer(scoring, float(kappa))


class Counted(float):
    """A score with the number of weights that its model uses; otherwise a number."""

    n_used: int | None = None


class Counting:
    """A scorer that also counts the weights in use."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

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
