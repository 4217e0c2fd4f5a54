"""Base class of transformers that learn batch by batch."""

from __future__ import annotations

from typing import Any, Self

from .._estimators import Estimator, TransformerContract, is_fitted


class RunningTransformer(TransformerContract, Estimator):
    """A transformer that learns from all rows so far, however they are cut into batches."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from these rows, forgetting earlier ones.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(X, first=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from some more rows; parameters and result as for :meth:`fit`."""
        return self._learn(X, first=not is_fitted(self))

    def _learn(self, X: Any, first: bool) -> Self:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def require(holds: bool, rule: str) -> None:
    """Refuse attributes from a model file that break a rule."""
    if not holds:
        raise ValueError(rule)
