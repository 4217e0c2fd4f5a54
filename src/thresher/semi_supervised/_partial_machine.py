"""Base classes of kernel machines that learn from partly labelled rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._estimators import KernelClassifier, check_is_fitted, param
from .._gate import class_weights, label, non_negative, none
from .._kernels import Array


class PartlyLabelled(KernelClassifier):
    """Base class: rows with labels and without, of which those of weight 0 are absent.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without the one that means unlabelled.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with the answers of the model for unlabelled rows. Not kept in model files.
    """

    unlabelled_label: Any = param(
        default=-1,
        rule=label | none,
        doc="""The value of ``y`` for rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another
        choice.""",
    )
    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="Weights of the classes, multiplied into the row weights. Unlabelled rows have none.",
    )

    _needs: ClassVar[tuple[str, ...]] = ("unlabelled",)

    def _take_labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[np.intp], Array]:
        """All rows and their labels, the places of those that are there, and the weights of these."""
        who, rows = type(self).__name__, self._take(X)
        labels = _gate.as_column(y, who)
        _gate.check_length(labels, rows.shape[0], "y", who)
        weight = _gate.check_weights(sample_weight, rows.shape[0], who)
        weight, there = self._rows_there(weight, rows.shape[0])
        return rows, labels, there, weight[there]


class _Steps:
    """The types of the attributes that :meth:`fit` sets."""

    n_iter_: int
    _objectives: list[list[float]]


class Descended(_Steps, PartlyLabelled):
    """Base class: the objective of each output was brought down, step by step.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after each step, which never rises; with several classes, a list of such arrays.
    objective_ : float
        The last of them; with several classes, their sum.
    n_iter_ : int
        Steps made.
    """

    _fitted: ClassVar[tuple[str, ...]] = ("n_iter_", "_objectives")

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
