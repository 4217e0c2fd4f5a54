"""A few features in groups, without covariances: the feature generating machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import _core, _validation
from .._batches import Lesson, part_of
from .._params import Rule, at_least, boolean, check_params, class_weights, non_negative, none, one_of, positive
from .._scores import ReadsClasses, Target
from .._spaces import Log, Range
from .._state import Array
from .._threads import one_blas_thread
from ._blocks import Blocks
from ._group_search import Columns, GroupSearch, Prior


class _Found(NamedTuple):
    """The weights of one output, the constant's last, its groups, and how far the weights may be from the best."""

    weights: Array
    groups: list[NDArray[np.int64]]
    objective: float
    gap: float
    n_iter: int


class FGMClassifier(ReadsClasses, BaseEstimator):  # type: ignore[misc]
    r"""Feature generating machine: a few features of very many, chosen in groups, weighed by a support vector machine.

    Chooses features group after group, the next ones being those that the rows not yet explained pull at most, and
    solves after each the problem

    .. math:: \min_w\; \frac{\sigma}{2}\|w\|^2 + \frac12\Big(\sum_k \|w_k\|\Big)^2
              + \frac{C}{q} \sum_i D_i \max\Big(0,\, 1 - y_i \sum_k w_k^\top x_i^k\Big)^q

    to a small duality gap. It is :class:`SBCWClassifier` without covariances and without a refit, and mostly behind it;
    choose it to compare with, or where a certified optimum over the chosen groups is wanted. All rows are needed at
    once: there is no ``partial_fit``.

    Parameters
    ----------
    n_features_to_select : int, default=50
        How many features are chosen (:math:`B` times the number of groups in [1]_); some of them may get weight 0. With
        several classes, so many for each.
    C : float, default=1.0
        Weight of the losses.
    sigma : float, default=1.0
        How much of the penalty is a ridge. [1]_ has none, to which small values come near; they converge slowly, and
        leave few groups in use.
    n_groups : int, default=15
        In how many rounds features are chosen.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    fit_intercept : bool, default=False
        Learn a constant term, as the weight of one more feature, which stands outside the groups and pays
        :math:`w^2/2`. It couples all rows, so that many more passes are needed.
    intercept_scaling : float, default=1.0
        Value of that constant feature.
    max_iter : int, default=1000
        Most passes over the rows in each round.
    tol : float, default=1e-4
        A round ends when the duality gap is no larger part of the objective.
    group_tol : float, optional
        Stop before there are ``n_features_to_select`` when a round lowers the objective by no more than this part of
        it, or when the next group would get no weight.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the row weights :math:`D_i`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights. One row when there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant terms.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    groups_ : list of ndarray
        The features of each group, in the order of their choice; with several classes, such a list for each.
    support_ : ndarray
        Indices of the features in use: those with a weight other than 0 in any output.
    dual_gap_ : float
        The part of the objective by which no other weights of the chosen groups can be better; the largest over the
        outputs.
    n_iter_ : int
        Passes made in all rounds; the most of any output.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when ``X`` had any.

    Notes
    -----
    O(rounds x (non-zeros + passes x rows x features chosen)), by coordinate ascent in the dual, which goes on from
    round to round. Files keep the weights, not the groups.

    References
    ----------
    .. [1] M. Tan, I. W. Tsang and L. Wang, "Towards ultrahigh dimensional feature selection for big data", Journal of
       Machine Learning Research 15, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.confidence import FGMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 500))
    >>> y = np.where(X[:, 3] - X[:, 8] > 0, "yes", "no")
    >>> model = FGMClassifier(n_features_to_select=2, n_groups=1).fit(X, y)
    >>> model.support_
    array([3, 8])
    >>> model.dual_gap_ <= 1e-4
    True
    """

    _param_rules: ClassVar[dict[str, Rule]] = {
        "n_features_to_select": at_least(1),
        "C": positive,
        "sigma": positive,
        "n_groups": at_least(1),
        "loss": one_of("hinge", "squared_hinge"),
        "fit_intercept": boolean,
        "intercept_scaling": positive,
        "max_iter": at_least(1),
        "tol": non_negative,
        "group_tol": non_negative | none,
        "class_weight": class_weights,
    }
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-3, 1e3)}
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "classes_",
        "coef_",
        "intercept_",
        "dual_gap_",
        "n_iter_",
        "_grown",
    )

    coef_: Array
    intercept_: Array
    dual_gap_: float
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        n_features_to_select: int = 50,
        *,
        C: float = 1.0,
        sigma: float = 1.0,
        n_groups: int = 15,
        loss: str = "squared_hinge",
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-4,
        group_tol: float | None = None,
        class_weight: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.sigma = sigma
        self.n_groups = n_groups
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.group_tol = group_tol
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the features and find their weights.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0. A row of weight 0 is absent.

        Returns
        -------
        self
        """
        who = type(self).__name__
        check_params(self, self._param_rules)
        rows = _validation.check_features(self, X, reset=True)
        target = self._read_all(y, rows.n_rows)
        weight = self._weigh(_validation.check_weights(sample_weight, rows.n_rows, who), target)
        weight = np.ones(rows.n_rows) if weight is None else weight
        present = np.flatnonzero(weight)
        if not len(present):
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        some, codes = part_of(rows, present), target.y[present]
        columns = Columns.of(some)
        with one_blas_thread(), np.errstate(all="ignore"):
            found = [
                self._solve(some, columns, np.where(codes == target.positive(k), 1.0, -1.0), weight[present])
                for k in range(target.n_outputs)
            ]
        _validation.commit_features(self, X, rows.n_features)
        self._commit_target(target)
        weights = np.stack([one.weights for one in found])
        self.coef_, self.intercept_ = np.ascontiguousarray(weights[:, :-1]), weights[:, -1] * self._bias()
        self.groups_: list[Any] = found[0].groups if len(found) == 1 else [one.groups for one in found]
        self._grown = False
        self.n_iter_ = max(one.n_iter for one in found)
        self.dual_gap_ = max(one.gap / max(one.objective, np.finfo(float).tiny) for one in found)
        self._look_back()
        return self

    def _solve(self, rows: _core.Rows, columns: Columns, y: Array, weight: Array) -> _Found:
        """One output."""
        p, squared = int(self.n_features_to_select), self.loss == "squared_hinge"
        params: dict[str, Any] = {
            "p": p,
            "r": -(-p // int(self.n_groups)),
            "C": float(self.C),
            "sigma": float(self.sigma),
            "squared": squared,
            "ridge": float(squared),
            "step": "corrected" if self.sigma >= 1 else "exact",
            "score": "identity",
            "n_passes": int(self.max_iter),
            "gap_tol": float(self.tol),
            "group_tol": self.group_tol,
            "whiten": False,
            "printed": False,
        }
        lesson = Lesson(rows, self._bias(), y, weight, np.zeros(len(y)), columns)
        search = GroupSearch(lesson, weight, Prior(Blocks.empty(params["r"]), np.empty(0)), params)
        try:
            search.run()
        except FloatingPointError:
            raise FloatingPointError(
                f"{type(self).__name__}: the weights outgrew floating point; scale the features to about 1, or lower C."
            ) from None
        weights = np.zeros(rows.n_features + 1)
        for k, group in enumerate(search.groups):
            weights[group.ids] = search.weights(k)
        weights[-1:] = search.w[: search.free] if search.free else 0.0
        groups, gap = [group.ids for group in search.groups], max(search.gap, 0.0)
        return _Found(weights, groups, search.objectives[-1], gap, search.n_iter)

    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _look_back(self) -> None:
        if self.dual_gap_ > self.tol:
            warnings.warn(
                f"{type(self).__name__}: the duality gap is {self.dual_gap_:.2g} of the objective, above "
                f"tol={self.tol:g}; raise max_iter or sigma, lower C, or be content with less.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X: Any) -> Array:
        """Scores of the rows: one per row with two classes (above 0 means the second), else one per row and class."""
        check_is_fitted(self)
        rows = _validation.check_matrix(self, X, reset=False, any_width=self.__dict__.get("_grown", False))
        return self._shape_scores(np.asarray(rows @ self.coef_.T + self.intercept_))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The class of each row."""
        return self._read_scores(self.decision_function(X))

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features in use: those with a weight other than 0 in any output."""
        check_is_fitted(self)
        return np.flatnonzero(self.coef_.any(axis=0))

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _validation.check_loaded_features(self)
        who, classes = type(self).__name__, self.classes_
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.dtype.kind not in "biufOU":
            raise ValueError(f"{who}: classes_ must hold labels.")
        if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
            raise ValueError(f"{who}: classes_ must be at least two, in order.")
        n_outputs = Target(self.intercept_, classes).n_outputs
        for name, shape in (("coef_", (n_outputs, self.n_features_in_)), ("intercept_", (n_outputs,))):
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
                raise ValueError(f"{who}: {name} must be float64 of shape {shape}.")
            if not np.isfinite(value).all():
                raise ValueError(f"{who}: {name} must hold finite numbers.")
        if not non_negative.holds(self.dual_gap_) or type(self.n_iter_) is not int or self.n_iter_ < 1:
            raise ValueError(f"{who}: dual_gap_ must be a number of at least 0, n_iter_ an integer of at least 1.")
        if type(self.__dict__.get("_grown", False)) is not bool:
            raise ValueError(f"{who}: _grown must be True or False.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
