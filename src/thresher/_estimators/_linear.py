"""Linear scores read as classes or as values."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._core import Rows, loss_value
from .._engine import Target
from .._gate import Array, class_weights, count_of_jobs
from ._online_linear import SHARED_RULES, OnlineLinear, read_only
from ._reading import ReadsClasses, ReadsValues

__all__ = ["SHARED_RULES", "LinearClassifier", "LinearRegressor", "OnlineLinear", "read_only"]


class LinearClassifier(ReadsClasses, OnlineLinear):
    """Linear scores read as classes."""

    _param_rules = SHARED_RULES | {"class_weight": class_weights, "n_jobs": count_of_jobs}
    _fitted = (*OnlineLinear._fitted, "classes_")

    def decision_function(self, X: Any) -> Array:
        """Scores of the rows: one per row with two classes (above 0 means the second), else one per row and class."""
        return self._shape_scores(self._scores(X))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The class of each row."""
        return self._read_scores(self.decision_function(X))

    @property
    def n_mistakes_(self) -> int:
        """Rows so far that were predicted wrongly before they were learned from."""
        check_is_fitted(self)
        return int(self.state_.arrays["n_mistakes"][self._learner_now().chosen(self.state_), 0])


class LinearRegressor(ReadsValues, OnlineLinear):
    """Linear scores read as values."""

    _param_rules = SHARED_RULES

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, grow: bool = False) -> Self:  # type: ignore[override]
        """Learn from one more batch, row by row as it stands. What earlier calls learned stays, sparsity included.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0. A row of weight 0 is absent.
        grow : bool, default=False
            Accept batches that are wider or narrower than the ones before: features that appear later start from zero.

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, None, sample_weight, grow=grow)

    def _look_back(self, rows: Rows, target: Target) -> None:
        """Say so when constants would predict better: steps were too long for the data."""
        super()._look_back(rows, target)
        learner = self._learner_now()
        name, tau, epsilon = (learner.params[key] for key in ("loss", "tau", "epsilon"))
        some = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, 200)).astype(np.int64)
        y, p = target.y[some], self._scores_again(rows, target)[some, 0]
        constant = y.mean() if name == "squared" else np.quantile(y, tau if name == "quantile" else 0.5)

        def paid(predicted: Array) -> float:
            return sum(loss_value(name, a, b, tau, epsilon) for a, b in zip(predicted, y, strict=True))

        if paid(p) > 2 * paid(np.full(len(y), constant)) > 0:
            warnings.warn(
                f"{type(self).__name__}: a constant would predict better; steps were too long for these features: "
                f"scale them to about 1, or take shorter steps ({self._shorter_steps}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def predict(self, X: Any) -> Array:
        """The value of each row."""
        values: Array = self._scores(X)[:, 0]
        return values

    def _shape_weights(self, weights: Array) -> Array:
        row: Array = weights[0]
        return row
