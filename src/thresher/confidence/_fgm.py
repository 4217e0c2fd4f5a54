"""A few features in groups, without covariances: the feature generating machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._engine import Target, one_blas_thread
from .._estimators import BatchLesson, Optimum, SolvedClassifier, part_of
from .._gate import Array, Log, Range, at_least, non_negative, none, one_of, positive
from ._group_search import Columns, GroupSearch, Prior
from ._row_blocks import Blocks


class FGMClassifier(SolvedClassifier):
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

    _param_rules = SolvedClassifier._param_rules | {
        "n_features_to_select": at_least(1),
        "C": positive,
        "sigma": positive,
        "n_groups": at_least(1),
        "loss": one_of("hinge", "squared_hinge"),
        "group_tol": non_negative | none,
    }
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-3, 1e3)}

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

    def _solve(self, rows: _core.Rows, target: Target, weight: Array) -> list[Optimum]:
        present = np.flatnonzero(weight)
        some, codes = part_of(rows, present), target.y[present]
        columns = Columns.of(some)
        with one_blas_thread():
            found = [
                self._search(some, columns, np.where(codes == target.positive(k), 1.0, -1.0), weight[present])
                for k in range(target.n_outputs)
            ]
        groups = [[group.ids for group in search.groups] for search in found]
        self.groups_: list[Any] = groups[0] if len(groups) == 1 else groups
        return [self._optimum(search, rows.n_features) for search in found]

    def _search(self, rows: _core.Rows, columns: Columns, y: Array, weight: Array) -> GroupSearch:
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
        lesson = BatchLesson(rows, self._bias(), y, weight, np.zeros(len(y)), columns)
        search = GroupSearch(lesson, weight, Prior(Blocks.empty(params["r"]), np.empty(0)), params)
        try:
            search.run()
        except FloatingPointError:
            raise FloatingPointError(
                f"{type(self).__name__}: the weights outgrew floating point; scale the features to about 1, or lower C."
            ) from None
        return search

    @staticmethod
    def _optimum(search: GroupSearch, n_features: int) -> Optimum:
        """The weights that a search found; the gap in units of the objective."""
        weights = np.zeros(n_features + 1)
        for k, group in enumerate(search.groups):
            weights[group.ids] = search.weights(k)
        weights[-1:] = search.w[: search.free] if search.free else 0.0
        gap = max(search.gap, 0.0) / max(search.objectives[-1], np.finfo(float).tiny)
        return Optimum(weights, gap, search.n_iter)

    def _look_back(self) -> None:
        if self.dual_gap_ > self.tol:
            warnings.warn(
                f"{type(self).__name__}: the duality gap is {self.dual_gap_:.2g} of the objective, above "
                f"tol={self.tol:g}; raise max_iter or sigma, lower C, or be content with less.",
                ConvergenceWarning,
                stacklevel=3,
            )
