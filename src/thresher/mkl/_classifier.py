"""Machines with many kernels that tell classes apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._engine import Target
from .._estimators import ReadsClasses, param
from .._gate import Array, class_weights
from ._mkl_machine import ManyKernelsMachine
from ._weight_search import Dual


class ManyKernelsClassifier(ReadsClasses, ManyKernelsMachine):
    """Base class: a subclass names its set of kernel weights. Several classes are learned one against the rest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    """

    class_weight: Any = param(default=None, rule=class_weights, doc="Weights of the classes, multiplied into ``C``.")

    _fitted: ClassVar[tuple[str, ...]] = ("classes_",)

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        y = np.where(target.y == target.positive(output), 1.0, -1.0)
        return Dual(y, np.minimum(costs * y, 0.0), np.maximum(costs * y, 0.0))

    def decision_function(self, X: Any) -> Array:
        """Scores of the rows: one per row with two classes (above 0 means the second), else one per row and class."""
        return self._shape_scores(self._scores(X))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The class of each row."""
        return self._read_scores(self.decision_function(X))
