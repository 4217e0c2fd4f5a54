"""Weighted sums of models that learned from the same rows, which ``thresher.auto`` may return."""

from ._model_sums import ModelSumClassifier, ModelSumRegressor

__all__ = ["ModelSumClassifier", "ModelSumRegressor"]
