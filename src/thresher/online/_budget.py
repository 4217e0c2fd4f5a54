"""Learners with a budget of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._engine import Axis, Learner, Memory, State
from .._estimators import LinearClassifier, SelectsFeatures, SelfTuned, param
from .._gate import Array, at_least

if TYPE_CHECKING:
    from .._core import CoreLearner, Rows  # there is no such class as CoreLearner at run time

# In units of 1 / |x|^2, half a decade apart: 1 repairs a row at once, less is for noisy labels, 3 for larger margins.
LARGEST_STEPS = (0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class BudgetLearner(Learner):
    """An update rule that may change the weights of all features in use, not only those of the row."""

    @property
    def steep(self) -> bool:
        return True  # steps of huge rows add up, and what they change is cheap to remember

    def remember(self, state: State, rows: Rows) -> Memory:
        if rows.columns is None:
            return state.remember({})
        used = state.arrays["selected"].ravel()
        return state.remember({"weight": np.append(rows.columns, used[used > 0].astype(np.int64) - 1)})


class BudgetedClassifier(SelfTuned, SelectsFeatures, LinearClassifier):
    """Base class of learners that store which features are in use, so that the cost of a row is bounded by their
    number.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. C. H. Hoi and R. Jin, "Online feature selection and its applications", IEEE TKDE 26,
       2014.

    Examples
    --------
    >>> from thresher.online import OFSClassifier
    >>> X = [[0.0, 1.0, 0.1], [1.0, 0.0, 0.1], [0.1, 0.9, 0.0], [0.9, 0.2, 0.1]] * 10
    >>> y = ["ham", "spam", "ham", "spam"] * 10
    >>> model = OFSClassifier(n_features_to_select=2, random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1, 0.0]])
    array(['spam'], dtype='<U4')
    """

    n_features_to_select: int = param(
        default=50,
        rule=at_least(1),
        doc="""The largest number of features in use at any time (:math:`B`). If weights are tied, the first features
        stay. The constant term does not count. You cannot change it after the first call of :meth:`fit` or
        :meth:`partial_fit`.""",
        kw_only=False,
    )

    def _budget_learner(self, core: type[CoreLearner], **params: Any) -> Learner:
        n = int(self.n_features_to_select)
        joint = "n_selecteds" if self.selection == "model" else ""
        return BudgetLearner(core, {"n_selecteds": float(n), **params}, axes={"selected": Axis(n)}, joint=joint)

    def _can_continue(self, learner: Learner, made_by: Learner | None) -> bool:
        same_budget = self.state_.sizes.get("selected") == learner.axes["selected"].size
        return same_budget and super()._can_continue(learner, made_by)

    def _check_loaded(self) -> None:
        """Raise an error if the features in use are not those with a weight."""
        for view in self.state_.views:
            self._check_order(view, self._used(view))

    def _check_order(self, view: dict[str, Array], used: NDArray[np.int64]) -> None:
        """Raise an error if the features are not in the order in which the learner keeps them."""
        if (np.diff(used) < 0).any():
            raise ValueError(f"{type(self).__name__}: selected must name features in order.")

    def _used(self, view: dict[str, Array]) -> NDArray[np.int64]:
        names, n_features = view["selected"], self.state_.sizes["weight"] - 1
        used = names[: np.count_nonzero(names)]
        if not ((used >= 1) & (used <= n_features) & (used == np.floor(used))).all():
            raise ValueError(f"{type(self).__name__}: selected must hold numbers of features, from 1 to {n_features}.")
        places = used.astype(np.int64) - 1
        idle = np.ones(n_features, dtype=bool)
        idle[places] = False
        if np.count_nonzero(~idle) < len(places):
            raise ValueError(f"{type(self).__name__}: selected must name each feature once.")
        if view["coef"][:-1][idle].any():
            raise ValueError(f"{type(self).__name__}: coef must be 0 for features that are not selected.")
        return places
