"""Linear models of rows in memory, whose weights a subclass finds at once."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _gate
from .._engine import Target, one_blas_thread
from .._estimators import CalibratedOnFolds, Estimator, LinearClasses, WeighsClasses, check_is_fitted, param
from .._gate import (
    Array,
    as_float64,
    beside,
    boolean,
    check_params,
    is_finite,
    is_foreign_array,
    on_host,
)

_MOST = 10_000  # features or rows, whichever are fewer: the matrix that is decomposed has as many rows


class LinearSolution(NamedTuple):
    """Weights, a row per output, constants, and what else is kept of the solution, by name of the attribute."""

    coef: Array
    intercept: Array
    facts: dict[str, Any]


class LinearHead(Estimator):
    """A linear model of rows in memory. A subclass reads targets, turns them into columns, and finds the weights."""

    coef_: Array
    intercept_: Array
    n_features_in_: int

    fit_intercept: bool = param(
        default=True, rule=boolean, doc="Whether there is a constant term, which has no penalty."
    )

    _fitted: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "coef_", "intercept_")
    _takes_arrays: ClassVar[bool] = True

    def _columns(self, target: Target) -> Array:
        """The targets, one column per output."""
        raise NotImplementedError

    def _solve(self, rows: Any, columns: Array, weight: Array) -> LinearSolution:
        """The best weights for every column of the targets."""
        raise NotImplementedError

    def _shaped(self, coef: Array) -> Array:
        """Weights of shape (n_outputs, n_features) as users see them."""
        return coef

    def _finish(self, X: Any, y: Any, target: Target, sample_weight: Any) -> None:
        """Keep what else was learned."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights."""
        who = type(self).__name__
        check_params(self, self._param_rules)
        rows = _gate.check_matrix(self, X, reset=True)
        target = self._read_all(y, rows.shape[0])  # type: ignore[attr-defined]
        weight = self._weigh(_gate.check_weights(sample_weight, rows.shape[0], who), target)  # type: ignore[attr-defined]
        weight = np.ones(rows.shape[0]) if weight is None else weight
        if not weight.any():
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        if min(rows.shape) > _MOST:
            raise ValueError(f"{who}: X must have at most {_MOST:,} rows or columns, got {rows.shape}.")
        with one_blas_thread():  # the same bits, whatever the number of threads
            found = self._solve(rows, self._columns(target), weight)
        if not is_finite(found.coef):
            raise FloatingPointError(f"{who}: the weights overflowed; scale the features to about 1.")
        _gate.commit_features(self, X, rows.shape[1])
        self.coef_, self.intercept_ = self._shaped(found.coef), found.intercept
        vars(self).update(found.facts)
        self._finish(X, y, target, sample_weight)
        return self

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = _gate.check_matrix(self, X, reset=False)
        coef, intercept = (beside(values, rows) for values in (self.coef_, self.intercept_))
        coef = coef if coef.ndim == 2 else coef[None, :]
        if is_foreign_array(rows):
            return as_float64(rows) @ coef.T + intercept
        return np.asarray(rows @ coef.T + intercept)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _gate.check_loaded_features(self)
        n_outputs = self._n_outputs()
        shape = (n_outputs, self.n_features_in_) if np.ndim(self.coef_) == 2 else (self.n_features_in_,)
        _gate.check_loaded_arrays(self, {"coef_": shape, "intercept_": (n_outputs,)})

    def _n_outputs(self) -> int:
        return 1


class LinearHeadClassifier(LinearClasses, CalibratedOnFolds, WeighsClasses, LinearHead):
    """The same with a target of 1 for the rows of a class and of -1 for the others, for each class."""

    def _columns(self, target: Target) -> Array:
        codes = [target.positive(output) for output in range(target.n_outputs)]
        return np.where(target.y[:, None] == np.array(codes, dtype=np.float64), 1.0, -1.0)

    def _finish(self, X: Any, y: Any, target: Target, sample_weight: Any) -> None:
        self._commit_target(target)
        self._score_folds(X, y, sample_weight)

    def _score_table(self, X: Any) -> Array:
        return self._scores(X)

    def _n_curves(self) -> int:
        return int(self.intercept_.shape[0])

    def _n_outputs(self) -> int:
        return Target(on_host(self.intercept_), self.classes_).n_outputs

    def _check_loaded(self) -> None:
        _gate.check_loaded(self.classes_, type(self).__name__)
        super()._check_loaded()
        self._check_counts()

    _fitted: ClassVar[tuple[str, ...]] = ("classes_",)
