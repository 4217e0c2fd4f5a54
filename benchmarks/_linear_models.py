"""Weights as every library leaves them, their size and their quality on rows held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

Array = np.ndarray[Any, Any]


class Weights(NamedTuple):
    """``coef`` of shape (1, d) for two classes and (n_classes, d) for more; the classes are 0, 1, ..."""

    coef: Array
    intercept: Array

    @classmethod
    def of(cls, model: Any) -> Weights:
        return cls(np.asarray(model.coef_), np.atleast_1d(model.intercept_))

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.coef))

    @property
    def n_features(self) -> int:
        """Features that some class uses."""
        return int(self.coef.any(axis=0).sum())

    def largest(self, k: int) -> Weights:
        """At most k weights, the largest of all classes."""
        if self.size <= k:
            return self
        kept = np.zeros(self.coef.size)
        best = np.argpartition(-np.abs(self.coef), k, axis=None)[:k]
        kept[best] = self.coef.ravel()[best]
        return self._replace(coef=kept.reshape(self.coef.shape))

    def scores(self, X: Any) -> Array:
        return np.asarray(X @ self.coef.T) + self.intercept

    def quality(self, X: Any, y: Array) -> tuple[float, float]:
        """Accuracy and AUROC in %, the latter the mean over classes, each against the rest."""
        scores = self.scores(X)
        if scores.shape[1] == 1:
            scores = scores[:, 0]
            return 100 * float(np.mean((scores > 0) == y)), 100 * float(roc_auc_score(y, scores))
        areas = [roc_auc_score(y == k, scores[:, k]) for k in range(scores.shape[1])]
        return 100 * float(np.mean(scores.argmax(axis=1) == y)), 100 * float(np.mean(areas))
