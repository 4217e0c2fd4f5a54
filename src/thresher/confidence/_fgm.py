"""A few features in groups, without covariances: the feature generating machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from .._engine import ColumnUnits, Target, are_scaled, largest, one_blas_thread, part_of
from .._estimators import BatchLesson, Ids, Optimum, SolvedClassifier, param, take, warn_of_convergence
from .._gate import Array, Log, auto, boolean
from ._group_rule import GroupParams
from ._group_search import BatchColumns, GroupSearch, Prior
from ._row_blocks import CovarianceBlocks

_ABOUT_ONE, _ALIKE = 3.0, 10.0  # columns of unit size: the largest deviation is within this factor of 1, others alike
_SAME = 1e-12  # a deviation this small beside the mean is rounding, not variation
_OUTGROWN = "{}: the weights overflowed; {}lower C."


class FGMClassifier(GroupParams, SolvedClassifier):
    r"""Feature generating machine: selects features in groups and weights them with a support vector machine.

    Adds features group by group, each time those with the largest gradients, and then solves the problem

    .. math:: \min_w\; \frac{\sigma}{2}\|w\|^2 + \frac12\Big(\sum_k \|w_k\|\Big)^2
              + \frac{C}{q} \sum_i D_i \max\Big(0,\, 1 - y_i \sum_k w_k^\top x_i^k\Big)^q

    to a small duality gap. It is :class:`SBCWClassifier` without covariances and without a refit, and usually less
    accurate. Use it for comparison, or if you need a certified optimum over the selected groups. It needs all rows at
    once: there is no ``partial_fit``.

    Attributes
    ----------
    groups_ : list of ndarray
        The features of each group, in the order of selection; with several classes, a list for each class.
    dual_gap_ : float
        Upper bound on the relative distance from the optimum over the selected groups; the largest over the outputs.
    n_iter_ : int
        Number of passes over all rounds; the largest over the outputs.

    Notes
    -----
    O(rounds x (non-zeros + passes x rows x features chosen)), by dual coordinate ascent, which continues from round to
    round. Model files keep the weights, not the groups.

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

    n_features_to_select: int = param(
        default=50,
        doc="""Number of features to select (:math:`B` times the number of groups in [1]_); some of them may get weight
        0.""",
        kw_only=False,
    )
    selection: str = param(
        default="model",
        doc="""Whether ``n_features_to_select`` limits the features of the whole model or of each class. This matters
        only with more than two classes. With ``"model"``, the features selected by the classes are ranked by their
        largest weight in any class, and every class is solved again on the first ``n_features_to_select``.""",
    )
    C: float = param(default=1.0, doc="Weight of the losses.", search=Log(1e-3, 1e3))
    sigma: float = param(
        default=1.0,
        doc="""Weight of the ridge in the penalty. [1]_ has none; small values approximate that, but converge slowly and
        leave few groups in use.""",
    )
    fit_intercept: bool = param(
        default=True,
        doc="""Learn a constant term, as the weight of an additional constant feature outside the groups, with a penalty
        of :math:`w^2/2`. [1]_ has none.""",
    )
    intercept_scaling: float = param(
        default=0.1,
        doc="""Value of the constant feature; scaled columns have 1. It couples all rows: beside small values, as in
        rows of texts, larger constants need more passes.""",
    )
    scale: Any = param(
        default="auto",
        rule=boolean | auto,
        doc="""Standardize the columns of dense rows; sparse rows stay as they are. The problem then refers to scaled
        columns, and ``coef_`` to those of ``X``. ``"auto"`` scales unless all columns have a mean near 0 and about unit
        size already, or a :class:`~thresher.preprocessing.RunningScaler` precedes the learner in a pipeline.""",
    )
    max_iter: int = param(default=1000, doc="Largest number of passes over the rows in each round.")
    tol: float = param(default=1e-4, doc="A round ends when the relative duality gap is at most this.")

    def _solve(self, rows: _core.Rows, target: Target, weight: Array) -> list[Optimum]:
        present = np.flatnonzero(weight)
        some, codes = part_of(rows, present), target.y[present]
        units = self._units(some, weight[present])
        some, bias = (some, self._bias()) if units is None else (units.scaled(some), float(self.fit_intercept))
        signs = [np.where(codes == target.positive(k), 1.0, -1.0) for k in range(target.n_outputs)]
        with one_blas_thread():
            found = self._searches(some, bias, signs, weight[present])
            weights = np.stack([self._optimum(search, rows.n_features).weights for search in found])
            ids = np.arange(rows.n_features)
            if self.selection == "model" and np.count_nonzero(weights[:, :-1].any(axis=0)) > self.n_features_to_select:
                ids = np.flatnonzero(largest(np.abs(weights[:, :-1]).max(axis=0), int(self.n_features_to_select)))
                found = self._searches(_core.Rows.dense(take(some, 0.0, ids), False), bias, signs, weight[present])
        groups = [[ids[group.ids] for group in search.groups] for search in found]
        self.groups_: list[Any] = groups[0] if len(groups) == 1 else groups
        optima = [self._optimum(search, rows.n_features, ids) for search in found]
        return optima if units is None else [self._in_users_units(one, units) for one in optima]

    def _units(self, rows: _core.Rows, weight: Array) -> ColumnUnits | None:
        """The units in which the problem is solved; None if they are those of the rows."""
        told = self.scale == "auto" and vars(self).get("_rows_come_scaled", False)  # by a pipeline
        if not self.scale or told or rows.columns is not None:
            return None
        X, share = np.asarray(rows.values, dtype=np.float64), weight / weight.max()
        share /= share.sum()
        mean = share @ X
        shift = mean if self.fit_intercept else np.zeros_like(mean)
        deviation = np.sqrt(share @ np.square(X - shift))
        varies = deviation > _SAME * np.abs(mean)
        if self.scale == "auto":
            sizes = deviation[varies]
            largest_size, least = sizes.max(initial=1 / _ABOUT_ONE), sizes.min(initial=_ABOUT_ONE)
            alike = 1 / _ABOUT_ONE <= largest_size <= _ABOUT_ONE and largest_size <= _ALIKE * least
            if alike and (np.abs(shift[varies]) <= sizes).all():
                return None
        return ColumnUnits(shift, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies), np.inf)

    def _in_users_units(self, found: Optimum, units: ColumnUnits) -> Optimum:
        """The same scores, as sums of the columns of X."""
        weights = found.weights.copy()
        weights[:-1] *= units.inverse
        if self.fit_intercept:
            weights[-1] = (weights[-1] - weights[:-1] @ units.shift) / self._bias()
        return found._replace(weights=weights)

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Files without a scale hold models that did not scale."""
        return super()._from_file(params if "scale" in params else {**params, "scale": False})

    def _searches(self, rows: _core.Rows, bias: float, signs: list[Array], weight: Array) -> list[GroupSearch]:
        """One search for each output."""
        columns = BatchColumns.of(rows)
        return [self._search(BatchLesson(rows, bias, y, weight, np.zeros(len(y)), columns)) for y in signs]

    def _search(self, lesson: BatchLesson) -> GroupSearch:
        """One output."""
        params = self._search_params() | {
            "score": "identity",
            "max_inner_iter": int(self.max_iter),
            "gap_tol": float(self.tol),
            "whiten": False,
        }
        search = GroupSearch(lesson, lesson.weight, Prior(CovarianceBlocks.empty(params["r"]), np.empty(0)), params)
        try:
            search.run()
        except FloatingPointError:
            scale = "" if are_scaled(lesson.rows.values) else "scale the features to about 1, or "
            raise FloatingPointError(_OUTGROWN.format(type(self).__name__, scale)) from None
        return search

    @staticmethod
    def _optimum(search: GroupSearch, n_features: int, ids: Ids | None = None) -> Optimum:
        """The weights that a search among the features ``ids`` found; the gap in units of the objective."""
        weights = np.zeros(n_features + 1)
        for k, group in enumerate(search.groups):
            weights[group.ids if ids is None else ids[group.ids]] = search.weights(k)
        weights[-1:] = search.w[: search.free] if search.free else 0.0
        gap = max(search.gap, 0.0) / max(search.objectives[-1], np.finfo(float).tiny)
        if not np.isfinite(gap) or not np.isfinite(weights).all():
            raise FloatingPointError(_OUTGROWN.format("FGMClassifier", "scale the features to about 1, or "))
        return Optimum(weights, gap, search.n_iter)

    def _look_back(self) -> None:
        if self.dual_gap_ > self.tol:
            warn_of_convergence(
                f"{type(self).__name__}: the duality gap is {self.dual_gap_:.2g} of the objective, above "
                f"tol={self.tol:g}; raise max_iter or sigma, lower C, or raise tol.",
                stacklevel=3,
            )
