"""Kernel machines that learn from labelled, unlabelled and irrelevant rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import _docs, _labels, _validation
from .._kernel_machine import KernelMachine
from .._kernels._products import Array
from .._params import Rule, check_params, class_weights, label, non_negative, none, positive
from .._scores import ReadsClasses
from .._threads import one_blas_thread
from ._descent import Found, Given, InnerProducts, Limits, cheapest_side, descend, losses
from ._roles import Roles, check_labels, class_factors, filled, read_roles

below_one = Rule("a number of at least 0 and below 1", lambda v: non_negative.holds(v) and v < 1)


class PartlyLabelledSVC(ReadsClasses, KernelMachine):
    """Base class: a subclass says how an unlabelled row may be read, and names its parameters."""

    _param_rules: ClassVar[dict[str, Rule]] = KernelMachine._kernel_rules | {
        "C": positive,
        "C_unlabelled": non_negative,
        "unlabelled_label": label | none,
        "class_weight": class_weights,
        "tol": positive,
    }
    _fitted: ClassVar[tuple[str, ...]] = (
        *KernelMachine._kernel_fitted,
        "classes_",
        "intercept_",
        "dual_gap_",
        "n_iter_",
        "_objectives",
    )
    _needs: ClassVar[tuple[str, ...]] = ("unlabelled",)
    _read: Callable[[Array, float], Array]

    C: float
    C_unlabelled: float
    unlabelled_label: Any
    class_weight: Any
    tol: float
    intercept_: Array
    dual_gap_: float
    n_iter_: int
    _objectives: list[list[float]]

    epsilon: float = 0.0  # of those that read no row as irrelevant
    irrelevant_label: Any = None
    init: str = "svm"
    balance: float | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _docs.fill(cls)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel of every row with every row.
        y : array-like of shape (n_samples,)
            Labels; ``unlabelled_label`` where there is none.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0, which multiply ``C`` or ``C_unlabelled``. A row of weight 0 is absent.

        Returns
        -------
        self
        """
        who = type(self).__name__
        check_params(self, self._param_rules)
        check_labels(who, self.irrelevant_label, self.unlabelled_label)
        rows = self._take(X)
        n_rows = rows.shape[0]
        labels = _validation.as_column(y, who)
        _validation.check_length(labels, n_rows, "y", who)
        there, roles, cost = self._present(labels, _validation.check_weights(sample_weight, n_rows, who))
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            found = self._solve(self._matrix(self._some(rows, there)), roles, cost)
        self._keep(X, rows, there, np.stack([one.coef for one in found]))
        self.classes_, self.intercept_ = roles.classes, np.array([one.intercept for one in found])
        self.dual_gap_, self.n_iter_ = max(one.gap for one in found), max(one.n_iter for one in found)
        self._objectives = [one.objectives for one in found]
        open_, scores = roles.unlabelled, np.stack([one.scores for one in found], axis=1)
        self.transduction_ = filled(labels, there[open_], self._read_scores(self._shape_scores(scores[open_])))
        self._look_back(found)
        return self

    def _look_back(self, found: list[Found]) -> None:
        """Say so when the optimum was not reached."""
        who, said = type(self).__name__, None
        if not all(one.solved for one in found):
            said = (
                f"{who}: a convex problem was left at a duality gap of {self.dual_gap_:.2g} (the objective is "
                f"{self.objective_:.3g}); scale the features to about 1, lower C and C_unlabelled, or raise tol."
            )
        elif not all(one.converged for one in found):
            said = f"{who}: not converged after {self.n_iter_} convex problems; raise max_iter or tol."
        if said is not None:
            warnings.warn(said, ConvergenceWarning, stacklevel=3)

    def decision_function(self, X: Any) -> Array:
        """Scores of the rows: one per row with two classes (above 0 means the second), else one per row and class."""
        check_is_fitted(self)
        return self._shape_scores(self._kernel_scores(X) + self.intercept_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, or ``irrelevant_label``, where there is one."""
        return self._read_scores(self.decision_function(X))

    def predict_relevant(self, X: Any) -> NDArray[Any]:
        """The class of each row, taken for granted that it has one."""
        return super()._read_scores(self.decision_function(X))

    @property
    def objectives_(self) -> Any:
        """The objective after each convex problem, which never rises; with several classes, a list of such arrays."""
        check_is_fitted(self)
        values = [np.array(each) for each in self._objectives]
        return values if len(values) > 1 else values[0]

    @property
    def objective_(self) -> float:
        """The objective at the end; with several classes, their sum."""
        check_is_fitted(self)
        return float(sum(each[-1] for each in self._objectives))

    # --- rows, their costs and their problems -------------------------------------------------------------------------

    def _present(self, labels: NDArray[Any], weight: Array | None) -> tuple[NDArray[np.intp], Roles, Array]:
        """The rows that count, what they are and the factors of their losses."""
        who = type(self).__name__
        weight = np.ones(len(labels)) if weight is None else weight
        there = np.flatnonzero(weight)
        if not len(there):
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        roles = read_roles(labels[there], self.irrelevant_label, self.unlabelled_label, who)
        factors = class_factors(self.class_weight, roles, self.irrelevant_label, who)
        cost = np.where(roles.unlabelled, float(self.C_unlabelled), float(self.C) * factors) * weight[there]
        roles, there, cost = roles.of(cost > 0), there[cost > 0], cost[cost > 0]
        if len(np.unique(roles.codes[roles.labelled])) < len(roles.classes):
            raise ValueError(f"{who}: class_weight must leave every class a weight above 0, got {self.class_weight!r}.")
        if self.balance is not None and (len(roles.classes) > 2 or not roles.unlabelled.any()):
            raise ValueError(
                f"{who}: balance must be None unless there are two classes and unlabelled rows, got {self.balance!r}."
            )
        return there, roles, cost

    def _matrix(self, rows: Any) -> Any:
        """The kernel matrix; of inner products that do not fit, the rows, where no mean of rows is asked for."""
        K = self._gram(rows)
        fits = isinstance(K, np.ndarray) or self.kernel != "linear" or self.balance is not None
        return K if fits else InnerProducts(rows)

    def _solve(self, K: Any, roles: Roles, cost: Array) -> list[Found]:
        """One problem with two classes, else one for each class against the others."""
        positives = [1] if len(roles.classes) == 2 else range(len(roles.classes))
        balance = None if self.balance is None else float(self.balance)
        from_all, read = self.init == "universum", type(self)._read
        problems = [Given(roles.sides(k), cost, roles.unlabelled, float(self.epsilon), balance) for k in positives]
        limits = Limits(float(self.tol), int(getattr(self, "max_iter", 1)), float(self.cache_size))
        return [descend(K, given, read, limits, from_all=from_all) for given in problems]

    def _read_scores(self, scores: Array) -> NDArray[Any]:
        labels: NDArray[Any] = super()._read_scores(scores)
        if self.irrelevant_label is None:
            return labels
        known = _labels.joined(self.classes_, self.irrelevant_label)
        places = np.searchsorted(self.classes_, labels)
        return known[np.where(self._is_irrelevant(scores), len(known) - 1, places)]

    def _is_irrelevant(self, scores: Array) -> NDArray[np.bool_]:
        """Where no class costs less than the best one: with two, within (1 + epsilon) / 2 of a score of 0."""
        if scores.ndim == 1:
            return np.asarray(cheapest_side(scores, self.epsilon) == 0)
        as_none, as_other, as_this = (losses(scores, np.full_like(scores, s), self.epsilon) for s in (0, -1, 1))
        best_class = as_other.sum(axis=1) + (as_this - as_other).min(axis=1)
        return np.asarray(as_none.sum(axis=1) < best_class)

    def _is_outlier(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows are said to belong to no class."""
        return _labels.carrying(y, self.irrelevant_label)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        who, classes = type(self).__name__, self.classes_
        self._check_kept()
        check_labels(who, self.irrelevant_label, self.unlabelled_label)
        _labels.check_loaded(classes, who)
        n_outputs, intercept = 1 if len(classes) == 2 else len(classes), self.intercept_
        if not isinstance(intercept, np.ndarray) or intercept.dtype != np.float64 or intercept.shape != (n_outputs,):
            raise ValueError(f"{who}: intercept_ must be float64 of shape {(n_outputs,)}.")
        if self.dual_coef_.shape[0] != n_outputs or not np.isfinite(intercept).all():
            raise ValueError(f"{who}: dual_coef_ and intercept_ must be finite, with a row for each output.")
        if not non_negative.holds(self.dual_gap_) or type(self.n_iter_) is not int or self.n_iter_ < 1:
            raise ValueError(f"{who}: dual_gap_ must be a number of at least 0, n_iter_ an integer of at least 1.")
        values = self._objectives
        if not isinstance(values, list) or len(values) != n_outputs or not all(map(_are_numbers, values)):
            raise ValueError(f"{who}: the objectives must be lists of numbers of at least 0, one per output.")


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and len(values) > 0 and all(map(non_negative.holds, values))
