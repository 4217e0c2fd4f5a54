"""What kernel machines of partly labelled rows share: which rows are there, and what a file of them may hold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _gate
from .._estimators import KernelMachine, ReadsClasses
from .._gate import non_negative
from .._kernels import Array


class PartlyLabelled(ReadsClasses, KernelMachine):
    """Base class: rows with labels and without, of which those of weight 0 are absent."""

    _needs: ClassVar[tuple[str, ...]] = ("unlabelled",)

    intercept_: Array

    def _take_labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[np.intp], Array]:
        """All rows and their labels, the places of those that are there, and the weights of these."""
        who, rows = type(self).__name__, self._take(X)
        labels = _gate.as_column(y, who)
        _gate.check_length(labels, rows.shape[0], "y", who)
        weight = _gate.check_weights(sample_weight, rows.shape[0], who)
        weight = np.ones(rows.shape[0]) if weight is None else weight
        there = np.flatnonzero(weight)
        if not len(there):
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        return rows, labels, there, weight[there]

    def _n_functions(self, n_classes: int) -> int:
        """How many functions there are of so many classes."""
        return 1 if n_classes == 2 else n_classes

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        who = type(self).__name__
        self._check_kept()
        _gate.check_loaded(self.classes_, who)
        n, intercept = self._n_functions(len(self.classes_)), self.intercept_
        if not isinstance(intercept, np.ndarray) or intercept.dtype != np.float64 or intercept.shape != (n,):
            raise ValueError(f"{who}: intercept_ must be float64 of shape {(n,)}.")
        if self.dual_coef_.shape[0] != n or not np.isfinite(intercept).all():
            raise ValueError(f"{who}: dual_coef_ and intercept_ must be finite, with a row for each output.")


class Descended(PartlyLabelled):
    """Base class: the objective of each output was brought down, step by step."""

    n_iter_: int
    _objectives: list[list[float]]

    def decision_function(self, X: Any) -> Array:
        """Scores of the rows: one per row with two classes (above 0 means the second), else one per row and class."""
        check_is_fitted(self)
        return self._shape_scores(self._kernel_scores(X) + self.intercept_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return self._read_scores(self.decision_function(X))

    @property
    def objectives_(self) -> Any:
        """The objective after each step, which never rises; with several classes, a list of such arrays."""
        check_is_fitted(self)
        values = [np.array(each) for each in self._objectives]
        return values if len(values) > 1 else values[0]

    @property
    def objective_(self) -> float:
        """The objective at the end; with several classes, their sum."""
        check_is_fitted(self)
        return float(sum(each[-1] for each in self._objectives))

    def _check_descent(self, left: str, least: int) -> None:
        """Of a file: what was left to do, by its name, after at least so many steps, and the objectives."""
        who, values = type(self).__name__, self._objectives
        if not non_negative.holds(getattr(self, left)) or type(self.n_iter_) is not int or self.n_iter_ < least:
            raise ValueError(f"{who}: {left} must be a number of at least 0, n_iter_ an integer of at least {least}.")
        if not isinstance(values, list) or len(values) != len(self.intercept_) or not all(map(_are_numbers, values)):
            raise ValueError(f"{who}: the objectives must be lists of numbers of at least 0, one per output.")


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and len(values) > 0 and all(map(non_negative.holds, values))
