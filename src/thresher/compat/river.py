"""Learners with river's interface, for its pipelines, metrics and evaluations. Needs river.

=====================  ============================================
:class:`Classifier`    a classifier that learns row by row
:class:`Regressor`     a regressor that learns row by row
=====================  ============================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base

from .._estimators import OnlineLinear, clone, is_fitted

__all__ = ["Classifier", "Regressor"]


class Classifier(base.Classifier):
    """A streaming classifier of this library with river's interface.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``learn_one``. It is copied, not changed.
    classes : tuple, default=(False, True)
        All classes that will ever occur.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from thresher.compat import river
    >>> from thresher.online import AROWClassifier
    >>> model = preprocessing.StandardScaler() | river.Classifier(AROWClassifier())
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.32%
    """

    def __init__(self, estimator: OnlineLinear, classes: tuple[Any, ...] = (False, True)) -> None:
        self.estimator, self.classes = estimator, classes
        self._model: Any = clone(estimator)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn from one row."""
        self._model.learn_one(x, y, None if is_fitted(self._model) else self.classes)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Predict the class of a row; the first one before anything was learned."""
        return self._model.predict_one(x) if is_fitted(self._model) else self.classes[0]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each class; before anything was learned, all are the same."""
        if not hasattr(self._model, "predict_proba_one"):
            raise NotImplementedError(f"{type(self.estimator).__name__} has no probabilities.")
        if not is_fitted(self._model):
            return dict.fromkeys(self.classes, 1 / len(self.classes))
        found: dict[Any, float] = self._model.predict_proba_one(x)
        return found

    @property
    def _multiclass(self) -> bool:
        return len(self.classes) > 2

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from ..online import AROWClassifier

        yield {"estimator": AROWClassifier()}


class Regressor(base.Regressor):
    """A streaming regressor of this library with river's interface.

    Parameters
    ----------
    estimator : estimator
        A regressor with ``learn_one``. It is copied, not changed.
    """

    def __init__(self, estimator: OnlineLinear) -> None:
        self.estimator = estimator
        self._model: Any = clone(estimator)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn from one row."""
        self._model.learn_one(x, y)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Predict the value of a row; 0 before anything was learned."""
        return self._model.predict_one(x) if is_fitted(self._model) else 0.0

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from ..dual_averaging import FTRLRegressor

        yield {"estimator": FTRLRegressor()}
