"""Weighted sums of the scores, or of the values, of several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._estimators import (
    CalibratedOnFolds,
    Estimator,
    ReadsClasses,
    ReadsValues,
    check_is_fitted,
    clone,
    param,
    row_keys,
    task_of,
)
from .._gate import Array, Rule, check_params, class_weights, non_negative, sparse


def _can_learn(model: Any) -> bool:
    return hasattr(model, "fit") and not isinstance(model, type)


def _are_named(models: Any) -> bool:
    pairs = isinstance(models, (list, tuple)) and all(
        isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[0], str) and _can_learn(one[1])
        for one in models
    )
    return bool(models) and pairs and len({name for name, _ in models}) == len(models)


_MODELS = Rule("a list of (name, model) with different names", _are_named, type="list of (name, model)")
_WEIGHTS = Rule(
    "a list of numbers of at least 0",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(map(non_negative.holds, v)),
    type="list of float",
)


class _FittedModels:
    """The type of the results of a fit."""

    models_: list[Any]


class _ModelSum(_FittedModels, Estimator):
    """Base class: models that learn from the same rows."""

    models: list[tuple[str, Any]] = param(
        default=(), rule=_MODELS, doc="Names and models; a model may be a pipeline.", kw_only=False
    )
    weights: Sequence[float] = param(
        default=(), rule=_WEIGHTS, doc="The weight of each model's score, at least 0.", kw_only=False
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Let every model learn from all rows.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_weights()
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.models_ = [clone(model).fit(X, y, **options) for _, model in self.models]
        return self

    def _check_weights(self) -> None:
        check_params(self, self._param_rules)
        if len(self.weights) != len(self.models):
            got = f"{len(self.weights)} for {len(self.models)} models"
            raise ValueError(f"{type(self).__name__}: weights must hold one number for each model, got {got}.")

    @property
    def n_features_in_(self) -> int:
        return int(self._door().n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        return self._door().feature_names_in_

    def _door(self) -> Any:
        if "models_" not in vars(self):
            raise AttributeError(f"{type(self).__name__}: this model is not fitted yet.")
        return self.models_[0]

    def _sum(self, X: Any, method: str) -> Array:
        """The weighted sum of what a method of the models says of rows; one column for each output."""
        check_is_fitted(self)
        total: Any = 0.0
        for weight, model in zip(self.weights, self.models_, strict=True):
            found = np.asarray(getattr(model, method)(X), dtype=np.float64)
            total = total + weight * (found[:, None] if found.ndim == 1 else found)
        return np.asarray(total)

    # --- files --------------------------------------------------------------------------------------------------------

    def _plain_params(self) -> dict[str, Any]:
        return super()._plain_params() | {"models": [name for name, _ in self.models], "weights": list(self.weights)}

    def _take_models(self, models: list[Any]) -> None:
        """Take fitted models from a file, in the order of their names."""
        names: Any = self.models
        if not isinstance(names, list) or len(names) != len(models):
            raise ValueError(f"{type(self).__name__}: models must have one name each.")
        self.models, self.models_ = list(zip(names, models, strict=True)), models

    def _check_loaded(self) -> None:
        """Refuse models of a file that do not belong together."""
        self._check_weights()
        if any(task_of(model) != task_of(self) for model in self.models_):
            raise ValueError(f"{type(self).__name__}: models must be of the same task as their sum.")
        if len({int(model.n_features_in_) for model in self.models_}) > 1:
            raise ValueError(f"{type(self).__name__}: models must take rows of the same columns.")


class ModelSumClassifier(ReadsClasses, CalibratedOnFolds, _ModelSum):
    """The class with the largest weighted sum of the scores of several models.

    The parts of the columns in all models add up to a score: :func:`thresher.inspection.contributions` lists them.

    Attributes
    ----------
    models_ : list
        The fitted models.
    classes_ : ndarray
        Labels, sorted.
    """

    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="Weights of the classes when scores are calibrated. The models have their own ``class_weight``.",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("classes_",)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Let every model learn from all rows, and read the sum of their scores as probabilities.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        self.classes_ = np.asarray(self.models_[0].classes_)
        self._score_folds(X, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> Array:
        """The sums of scores: one per row with two classes (above 0 means the second), else one per row and class."""
        return self._shape_scores(self._score_table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return self._read_scores(self.decision_function(X))

    def _score_table(self, X: Any) -> Array:
        return self._sum(X, "decision_function")

    def _n_curves(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _row_keys(self, X: Any) -> NDArray[np.uint64]:
        first = self.models_[0]
        Z = first.transform(X) if hasattr(first, "steps") else X
        return row_keys(Z if sparse.issparse(Z) else np.asarray(Z))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not all(np.array_equal(model.classes_, self.classes_) for model in self.models_):
            raise ValueError(f"{type(self).__name__}: models must have the same classes.")
        self._check_counts()


class ModelSumRegressor(ReadsValues, _ModelSum):
    """The weighted sum of the values that several models predict.

    Attributes
    ----------
    models_ : list
        The fitted models.
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The value of each row."""
        return self._sum(X, "predict")[:, 0]
