"""Base class of linear learners with groups of weights."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._engine import Axis, Learner
from .._estimators import AUTO_STEP, SelfTuned, Step, StepInUse, check_is_fitted, param
from .._gate import Array, Log, Rule, auto, check_params, frame_names, non_negative, positive
from ._groups import ENCODER, GroupList, Groups, groups_rule, plain_groups, read_groups

_one_per_group = Rule(
    "one such number per group",
    lambda v: isinstance(v, (list, tuple, np.ndarray)) and np.ndim(v) == 1,
    type="array-like of shape (n_groups,)",
)
_norm = Rule(
    '2 or "inf"',
    lambda v: (
        (isinstance(v, str) and v == "inf")
        or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool) and v in (2, np.inf))
    ),
    type='{2, "inf"}',
)


@dataclass(frozen=True)
class GroupLearner(Learner):
    """A compiled update rule over groups of weights; None where every weight is on its own."""

    groups: Groups | None = None

    def continues(self, other: Learner) -> bool:
        others = other.groups if isinstance(other, GroupLearner) else None
        same = self.groups is others or (self.groups is not None and self.groups.same_as(others))
        same_steps = self.params.get("stepwise") == other.params.get("stepwise")
        return same and same_steps and super().continues(other)


def group_axis(groups: Groups) -> dict[str, Axis]:
    return {"group": Axis(len(groups), lambda columns: np.unique(groups.core.touched(columns)))}


class Grouped(SelfTuned):
    """Base class: reads ``groups`` once, when learning begins, and keeps them with the state.

    Attributes
    ----------
    groups_ : sequence of ndarray
        Columns of each group; ``groups_.names`` has their names, if any. Each ungrouped column forms a group of one,
        after the given groups.
    selected_groups_ : ndarray
        Groups with a nonzero weight: their names, or their positions in ``groups_``.
    """

    groups: Any = param(
        default=None,
        rule=groups_rule,
        doc="""Which columns belong together: lists of columns, by number or by name (``[[0, 1], [2, 3, 4]]``); a dict
        of names to such lists; one label per column, text or numbers (-1, ``""`` or None: ungrouped); ``"prefix:="``
        for columns of a data frame whose names agree up to the first ``=``, or up to any other separator; a fitted
        encoder, which groups the columns made from the same input: :class:`~thresher.preprocessing.InteractionGroups`
        or scikit-learn's ``OneHotEncoder``; or, in a pipeline, ``"encoder"`` for the encoder before the learner.
        Ungrouped columns are penalized one by one.""",
        kw_only=False,
    )
    alpha: float = param(
        default=1e-4,
        rule=non_negative,
        doc=r"Strength of the penalty (:math:`\lambda` in [1]_). Larger values give fewer groups.",
        search=Log(1e-7, 1e-1),
        kw_only=False,
    )
    _raced = Step("eta0", "eta0", -1.0, (1.0, 3.0, 1e1, 3e1, 3e2))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"Step size (:math:`1/\gamma` in [1]_). {AUTO_STEP}",
        search=Log(1e-3, 1e3),
    )
    l1_weight: Any = param(
        default=0.0,
        rule=non_negative | _one_per_group,
        doc="Weight of the l1 norm inside a group (:math:`r_g` in [1]_), times ``alpha``.",
    )
    norm: Any = param(
        default=2,
        rule=_norm,
        doc=r"""Norm of a group: :math:`\sqrt{d_g}\,\|w\|_2`, or :math:`d_g \max_j |w_j|`, which favours weights of
        equal size within a selected group.""",
    )

    _needs: ClassVar[tuple[str, ...]] = ("groups",)
    _shorter_steps = "a smaller eta0"
    _fitted: ClassVar[tuple[str, ...]] = ("_grouping",)

    def _learner_with(self, groups: Groups | None) -> GroupLearner:
        """The compiled update rule for these groups."""
        raise NotImplementedError

    def _learner(self, n_features: int) -> Learner:
        return self._learner_with(self._groups_now(n_features))

    def _groups_now(self, n_features: int) -> Groups | None:
        """The groups of a fitted model, as long as the parameter is what it was; else those it names now."""
        who, kept = type(self).__name__, vars(self)
        if "_grouping" not in kept or kept.get("_groups_given", self.groups) is not self.groups:
            return read_groups(self.groups, n_features, kept.get("feature_names_in_"), who)
        made_by = kept.get("_learner_of_state")
        if isinstance(made_by, GroupLearner):
            return made_by.groups
        return None if self._grouping is None else Groups.from_plain(self._grouping, n_features, who)

    def _learner_for(self, X: Any, n_features: int) -> Learner:
        check_params(self, self._param_rules)
        handed: Any = self.__dict__.pop("_columns_handed", (None, None))  # by a pipeline, whose encoder names features
        columns, origins = handed if (names := frame_names(X)) is None else ([str(name) for name in names], None)
        asks = isinstance(self.groups, str) and self.groups == ENCODER
        wanted = self.__dict__.get("_groups_handed", ENCODER) if asks else self.groups
        groups = read_groups(wanted, n_features, columns, type(self).__name__, origins)
        return self._counting(self._with_intercept(self._learner_with(groups)))

    def _keep(self, learner: Learner) -> None:
        assert isinstance(learner, GroupLearner)
        if self.__dict__.get("_learner_of_state") is not learner:
            self._grouping = None if learner.groups is None else learner.groups.plain()
            self._groups_given = self.groups
            now = tuple(map(self.__dict__.get, self._params))
            self._learner_cache = (self.state_.sizes["weight"] - 1, now, learner)
        super()._keep(learner)

    def _l1_weights(self, groups: Groups | None) -> tuple[float, Array | None]:
        """One number for all groups, or one for each."""
        if np.ndim(self.l1_weight) == 0:
            return float(self.l1_weight), None
        who, n_groups = type(self).__name__, 0 if groups is None else len(groups)
        try:
            weights = np.array(self.l1_weight, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.array([np.nan])
        if len(weights) != n_groups or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(
                f"{who}: l1_weight must be a number of at least 0 or one for each of the {n_groups} groups, "
                f"got {len(weights)}."
            )
        return 0.0, weights

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def groups_(self) -> GroupList:
        """The groups in use; each ungrouped column forms a group of one, after the given groups."""
        check_is_fitted(self)
        groups = self._groups_now(self.n_features_in_)
        return GroupList(groups, self.n_features_in_, self.__dict__.get("feature_names_in_"))

    @property
    def selected_groups_(self) -> NDArray[Any]:
        """Groups with a nonzero weight in any output: their names, or their positions in ``groups_``."""
        names, places = self.groups_.names, self._selected_places()
        return places if names is None else np.array(names, dtype=object)[places]

    def _selected_places(self) -> NDArray[np.int64]:
        used: NDArray[np.bool_] = np.any(self._all_weights()[:, :-1] != 0, axis=0)
        groups = self._groups_now(self.n_features_in_)
        chosen = np.empty(0, dtype=bool) if groups is None else self._chosen(groups, used)
        return np.flatnonzero(np.concatenate([chosen, used[self.groups_.alone]]))

    def _chosen(self, groups: Groups, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return groups.any_of(used)

    # --- copies -----------------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Self:
        """Unfitted, with the same groups: a copy of a fitted encoder would not be fitted."""
        params = self.get_params(deep=False)
        return type(self)(**{k: v if k == "groups" else deepcopy(v) for k, v in params.items()})

    def _plain_params(self) -> dict[str, Any]:
        """Parameters as a file keeps them."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params | {"groups": plain_groups(self.groups, type(self).__name__)}
