"""Linear classifiers that solve their problem over all rows at once, to a duality gap."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._core import Rows
from .._engine import Target
from .._gate import Array, at_least, boolean, check_params, non_negative, positive
from ._calibrated import CalibratedOnFolds
from ._contract import Estimator, check_is_fitted
from ._declared import param
from ._linear import WeighsClasses
from ._reading import LinearClasses


class Optimum(NamedTuple):
    """The weights of one output, the constant's last, and how far they may be from the best."""

    weights: Array
    gap: float
    n_iter: int


class _Solution:
    """The types of the results of a solver."""

    coef_: Array
    intercept_: Array
    dual_gap_: float
    n_iter_: int
    n_features_in_: int


class SolvedClassifier(_Solution, LinearClasses, CalibratedOnFolds, WeighsClasses, Estimator):
    """Base class: a subclass names its parameters and solves the problem of every output.

    Attributes
    ----------
    support_ : ndarray
        Indices of the features in use: those with a weight other than 0 in any output.
    dual_gap_ : float
        Upper bound on how far the objective is from its minimum; the largest over the outputs.
    n_iter_ : int
        Number of passes; the largest over the outputs.
    """

    fit_intercept: bool = param(
        default=True, rule=boolean, doc="Learn a constant term, as the weight of an additional constant feature."
    )
    intercept_scaling: float = param(default=1.0, rule=positive, doc="Value of the constant feature.")
    max_iter: int = param(default=1000, rule=at_least(1), doc="Largest number of passes over the rows.")
    tol: float = param(default=1e-4, rule=non_negative, doc="Stop when the duality gap is at most this.")
    class_weight: Any = param(default=None, doc="Weights of the classes, which multiply the row weights.")

    _fitted: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "classes_", "coef_", "intercept_", "dual_gap_", "n_iter_", "_grown"),
    )

    def _solve(self, rows: Rows, target: Target, weight: Array) -> list[Optimum]:
        """The optimum of every output; some of the weights may be 0, not all."""
        raise NotImplementedError

    def _look_back(self) -> None:
        """Warn if the optimum was not reached."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights that minimize the objective."""
        who = type(self).__name__
        check_params(self, self._param_rules)
        rows = _gate.check_features(self, X, reset=True)
        target = self._read_all(y, rows.n_rows)
        weight = self._weigh(_gate.check_weights(sample_weight, rows.n_rows, who), target)
        weight = np.ones(rows.n_rows) if weight is None else weight
        if not weight.any():
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        with np.errstate(all="ignore"):
            optima = self._solve(rows, target, weight)
        _gate.commit_features(self, X, rows.n_features)
        self._commit_target(target)
        weights = np.stack([one.weights for one in optima])
        self.coef_, self.intercept_ = np.ascontiguousarray(weights[:, :-1]), weights[:, -1] * self._bias()
        self._grown = False
        self.dual_gap_, self.n_iter_ = max(one.gap for one in optima), max(one.n_iter for one in optima)
        self._look_back()
        self._score_folds(X, y, sample_weight)
        return self

    def _score_table(self, X: Any) -> Array:
        return self._scores(X)

    def _n_curves(self) -> int:
        return len(self.intercept_)

    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = _gate.check_matrix(self, X, reset=False, any_width=self.__dict__.get("_grown", False))
        return np.asarray(rows @ self.coef_.T + self.intercept_)

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features in use: those with a weight other than 0 in any output."""
        check_is_fitted(self)
        return np.flatnonzero(self.coef_.any(axis=0))

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _gate.check_loaded_features(self)
        who, classes = type(self).__name__, self.classes_
        _gate.check_loaded(classes, who)
        n_outputs = Target(self.intercept_, classes).n_outputs
        _gate.check_loaded_arrays(self, {"coef_": (n_outputs, self.n_features_in_), "intercept_": (n_outputs,)})
        if not non_negative.holds(self.dual_gap_) or type(self.n_iter_) is not int or self.n_iter_ < 1:
            raise ValueError(f"{who}: dual_gap_ must be a number of at least 0, n_iter_ an integer of at least 1.")
        if type(self.__dict__.get("_grown", False)) is not bool:
            raise ValueError(f"{who}: _grown must be True or False.")
        self._check_counts()
