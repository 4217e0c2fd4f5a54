"""Sums of models that learned from the same rows, each with a weight: what ``thresher.auto`` may answer with."""

from ._model_sums import ModelSumClassifier, ModelSumRegressor

__all__ = ["ModelSumClassifier", "ModelSumRegressor"]
