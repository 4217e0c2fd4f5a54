"""Base classes of kernel machines that learn from partly labelled rows."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._estimators import KernelClassifier, check_is_fitted, param
from .._gate import class_weights, label, non_negative, none
from .._kernels import Array
from ._descent import Descent
from ._roles import Roles, class_factors, read_roles


class PartlyLabelledRows(NamedTuple):
    """All rows and their labels, the places of those that are there, and the weights of these."""

    rows: Any
    labels: NDArray[Any]
    there: NDArray[np.intp]
    weight: Array


class PartlyLabelled(KernelClassifier):
    """Base class: rows with labels and without, of which those of weight 0 are absent.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without the label of unlabelled rows.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with predictions for the unlabelled rows. Not saved in model files.
    """

    unlabelled_label: Any = param(
        default=-1,
        rule=label | none,
        doc="""The value of ``y`` for rows without a label. If labels are strings, it is the string ``"-1"``; you can
        also use ``"?"``.""",
    )
    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="Weights of the classes, which multiply the row weights. They do not apply to unlabelled rows.",
    )

    _needs: ClassVar[tuple[str, ...]] = ("unlabelled",)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._learn_from(X, self._take_labelled(X, y, sample_weight))

    def _learn_from(self, X: Any, given: PartlyLabelledRows) -> None:
        """Find the functions, and answer for unlabelled rows."""
        raise NotImplementedError

    def _take_labelled(self, X: Any, y: Any, sample_weight: Any) -> PartlyLabelledRows:
        who, rows = type(self).__name__, self._take(X)
        labels = _gate.as_column(y, who)
        _gate.check_length(labels, rows.shape[0], "y", who)
        weight = _gate.check_weights(sample_weight, rows.shape[0], who)
        weight, there = self._rows_there(weight, rows.shape[0])
        return PartlyLabelledRows(rows, labels, there, weight[there])

    def _read_roles(self, labels: NDArray[Any]) -> Roles:
        return read_roles(labels, None, self.unlabelled_label, type(self).__name__)

    def _factors(self, roles: Roles) -> Array:
        """The factors of losses by classes, none of which may be 0."""
        factors = class_factors(self.class_weight, roles, None, type(self).__name__)
        if not factors.all():
            self._refuse_weightless()
        return factors

    def _refuse_weightless(self) -> None:
        who = type(self).__name__
        raise ValueError(f"{who}: class_weight must leave every class a weight above 0, got {self.class_weight!r}.")


class Descended(PartlyLabelled):
    """Base class: the objective of each output was brought down, step by step.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after each step, which never rises; with several classes, a list of such arrays.
    objective_ : float
        The final objective; with several classes, the sum over them.
    n_iter_ : int
        Number of steps."""

    _fitted: ClassVar[tuple[str, ...]] = ("n_iter_", "_objectives")

    def _remember(self, roles: Roles, found: list[Descent]) -> float:
        """Take classes, constants and objectives from the ends of all descents; the largest of their residuals."""
        self.classes_, self.intercept_ = roles.classes, np.array([one.intercept for one in found])
        self.n_iter_, self._objectives = max(one.n_iter for one in found), [one.objectives for one in found]
        return max(one.residual for one in found)

    @property
    def objectives_(self) -> Any:
        """The objective after each step, which never rises; with several classes, a list of such arrays."""
        check_is_fitted(self)
        values = [np.array(each) for each in self._objectives]
        return values if len(values) > 1 else values[0]

    @property
    def objective_(self) -> float:
        """The final objective; with several classes, the sum over them."""
        check_is_fitted(self)
        return float(sum(each[-1] for each in self._objectives))

    def _check_descent(self, left: str, least: int) -> None:
        """Refuse a file with a wrong residual, by its name, number of steps or objectives."""
        who, values = type(self).__name__, self._objectives
        if not non_negative.holds(getattr(self, left)) or type(self.n_iter_) is not int or self.n_iter_ < least:
            raise ValueError(f"{who}: {left} must be a number of at least 0, n_iter_ an integer of at least {least}.")
        if not isinstance(values, list) or len(values) != len(self.intercept_) or not all(map(_are_numbers, values)):
            raise ValueError(f"{who}: the objectives must be lists of numbers of at least 0, one per output.")


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and len(values) > 0 and all(map(non_negative.holds, values))
