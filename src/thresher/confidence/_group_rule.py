"""Learners that choose groups of features in every batch: their state, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import Rows
from .._engine import Axis, Learner, State, one_blas_thread
from .._estimators import (
    BatchClassifier,
    BatchLearner,
    BatchLesson,
    BatchRule,
    Ids,
    Params,
    SelectsFeatures,
    View,
    WeighsClasses,
    param,
)
from .._gate import Array, Log, Whole, at_least, auto, boolean, non_negative, none, one_of, positive
from ._class_costs import COUNTS, part, shares_of
from ._group_search import BatchColumns, Group, GroupSearch, Prior, refit
from ._known import merge_groups, read, write, write_means
from ._row_blocks import CovarianceBlocks


class GroupParams(SelectsFeatures):
    """Mixin: declares the parameters of :class:`~._group_search.GroupSearch`."""

    n_features_to_select: int = param(
        default=50,
        rule=at_least(1),
        doc="""Number of features to select in every batch (:math:`p`), and the largest number in use. The constant does
        not count.""",
        kw_only=False,
    )
    C: float = param(
        default=0.1,
        rule=positive,
        doc="""Weight of the losses, and of a row in the covariance (:math:`C`). Larger values trust a batch more; above
        1, the ranking starts to favour rare features.""",
    )
    sigma: float = param(
        default=1.0,
        rule=positive,
        doc=r"""Weight of the ridge in the penalty (:math:`\sigma`); near 0, only one to four groups remain in use
        before the refit.""",
    )
    n_groups: int = param(
        default=15,
        rule=at_least(1),
        doc="""Number of selection rounds (:math:`r`), each of which adds ``n_features_to_select / n_groups`` features.
        More rounds account better for the features selected so far, but cost more.""",
    )
    loss: str = param(
        default="squared_hinge",
        rule=one_of("hinge", "squared_hinge"),
        doc="The hinge loss (:math:`q = 1`), or its square (:math:`q = 2`).",
    )
    group_tol: float | None = param(
        default=None,
        rule=non_negative | none,
        doc="""Stop before ``n_features_to_select`` features are selected if a round changes the objective by at most
        this fraction, or if the next group would get no weight.""",
    )

    def _search_params(self) -> dict[str, Any]:
        """Parameters of a search for groups."""
        p, squared = int(self.n_features_to_select), self.loss == "squared_hinge"
        return {
            "p": p,
            "r": -(-p // int(self.n_groups)),
            "C": float(self.C),
            "sigma": float(self.sigma),
            "squared": squared,
            "ridge": float(squared),
            "step": "corrected" if self.sigma >= 1 else "exact",
            "group_tol": self.group_tol,
            "printed": False,
        }


class GroupRule(BatchRule):
    """State: the first p places of ``ids`` are the features chosen now, group after group, then come those that were
    chosen once; -1 where there is none. All have their block and their covariances in it; ``mean`` is what the next
    batch begins with, ``coef`` what predicts."""

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        return [
            *(COUNTS if params["balanced"] else ()),
            ("ids", "known", -1.0, "derived"),
            ("block", "known", -1.0, "derived"),
            ("spread", "known member", 0.0, "derived"),
            ("mean", "known", 0.0, "derived"),
            ("coef", "known", 0.0, "derived"),
            ("constant_variance", "", 1.0, "derived"),
            ("constant_mean", "", 0.0, "derived"),
            ("constant_coef", "", 0.0, "derived"),
            ("objective", "group", -1.0, "derived"),
            ("gap", "", 0.0, "derived"),
        ]

    @classmethod
    def prepare(cls, rows: Rows) -> BatchColumns:
        return BatchColumns.of(rows)

    @classmethod
    def learn(cls, lesson: BatchLesson, state: State, output: int, params: Params) -> int:
        view = state.views[output]
        prior, predicted = read(view, params), view["coef"][view["ids"] >= 0]
        cost = lesson.weight * _costs(lesson, view, params)
        with np.errstate(all="ignore"):
            search = GroupSearch(lesson, cost, prior, params)
            search.run()
            means = [group.mean(search.weights(k)) for k, group in enumerate(search.groups)]
            mean = np.concatenate([search.w[: search.free] / search.constant_root, *means])
            coef = refit(search) if params["refit"] else mean
        found = GroupResult(search.groups, mean, coef, search.constant_root, search.objectives, search.gap)
        keep(view, prior, predicted, found, params)
        return int(np.count_nonzero(search.a))

    @classmethod
    def selection(cls, view: View, params: Params) -> tuple[Ids, Array]:
        used = (view["ids"] >= 0) & (view["coef"] != 0)
        ids, coef = view["ids"][used].astype(np.int64), view["coef"][used]
        if view["constant_coef"][0] == 0:
            return ids, coef
        return np.append(ids, -1), np.append(coef, view["constant_coef"][0])


class GroupResult(NamedTuple):
    """The outcome of a batch; means and weights that predict begin with the constant, if there is one."""

    groups: list[Group]
    mean: Array
    coef: Array
    constant_root: float
    objectives: list[float]
    gap: float


def keep(view: View, prior: Prior, predicted: Array, found: GroupResult, params: Params) -> None:
    """Write down what was found, if all of it is finite; ``predicted`` are the weights so far of what is known."""
    mean, coef = found.mean, found.coef
    chosen = CovarianceBlocks.of([(g.ids, g.covariance) for g in found.groups], params["r"])
    if not all(np.isfinite(a).all() for a in (mean, coef, chosen.rows)):
        raise FloatingPointError
    rest = prior.blocks.without(chosen.ids)
    write(view, chosen, rest, params)
    free = len(mean) - len(chosen.ids)
    write_means(view, chosen.ids, mean[free:], coef[free:])
    if params["keep"]:
        stays = ~np.isin(prior.blocks.ids, chosen.ids)
        write_means(view, rest.ids, prior.means[stays], predicted[stays])
    if free:
        view["constant_mean"][0], view["constant_coef"][0] = mean[0], coef[0]
        view["constant_variance"][0] = found.constant_root**-2.0
    view["objective"][:] = -1.0
    view["objective"][: len(found.objectives)] = found.objectives[: len(view["objective"])]
    view["gap"][0] = found.gap


def _costs(lesson: BatchLesson, view: View, params: Params) -> Array:
    """D_i: what a mistake costs, by the class of the row."""
    kappa, is_positive = params.get("cost"), lesson.y > 0
    if kappa is None:
        return np.ones(len(is_positive))
    shares = 1.0 - kappa, kappa
    if params["balanced"]:
        shares = shares_of(view, lesson.weight[~is_positive].sum(), lesson.weight[is_positive].sum(), kappa)
    return np.where(is_positive, shares[1], shares[0])


class ChoosesGroups(BatchLearner):
    """The learner of :class:`GroupRule`."""

    @property
    def open_axes(self) -> tuple[str, ...]:
        return (*super().open_axes, "known")

    def is_short(self, n_rows: int, size: int) -> bool:
        """Less than half a batch: it would choose all features anew."""
        return n_rows < size / 2

    def learn_batch(
        self, rows: Rows, targets: Array, weight: Array, state: State, run: Callable[..., Iterator[Any]] = map
    ) -> Array:
        n_known = int((state.arrays["ids"] >= 0).sum(axis=1).max())
        state.grow(state.sizes["weight"], known=n_known + self.params["p"])  # before several outputs write to it
        with one_blas_thread():
            return super().learn_batch(rows, targets, weight, state, run)

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float], again: bool = False) -> State:
        """The union of what the shards chose, their precisions added, cut back to p features."""
        merged = super().merge(start, states, weights, again)
        return merge_groups(merged, start, states, self.params, again) if len(states) > 1 else merged


class GroupClassifier(GroupParams, WeighsClasses, BatchClassifier):
    """Base class of the estimators: their parameters, and what they can tell of their groups.

    Attributes
    ----------
    groups_ : list of ndarray
        The features of each group, in the order of selection; with several classes, a list for each class.
    chosen_ : ndarray
        All selected features.
    objectives_ : ndarray
        The objective after each round of the last batch; with several classes, a list of them.
    gap_ : float
        The duality gap of the groups' weights in the last batch.
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The variance of each weight; for a feature that was never selected, 1 in the units used for training.
    """

    C: float = param(default=0.1, search=Log(1e-3, 10.0))
    n_groups: int = param(default=15, search=Whole(1, 30, log=True))
    ranking: str = param(
        default="diagonal",
        rule=one_of("diagonal", "identity", "full"),
        doc="""How to rank features, by :math:`s_j^2` times their variance after the batch: each feature separately
        (exact for groups of one), without the variance (as in [1]_), or jointly, which solves a system as large as the
        batch.""",
    )
    step: str = param(
        default="auto",
        rule=one_of("auto", "corrected", "safe", "exact"),
        doc="""Step of a dual variable: with the curvature of the papers, which is certain to ascend only if ``sigma``
        is at least 1; with a curvature that always ascends; or to the optimum, by bisection. "auto" is "corrected" if
        that ascends, else "exact".""",
    )
    max_inner_iter: int = param(
        default=1,
        doc="""Largest number of passes over the dual variables in each round and in the refit; each round continues
        where the last one ended.""",
    )
    refit: bool = param(
        default=True,
        rule=boolean,
        doc="""Predict with weights learned for all selected features together, by one step of :class:`BCWClassifier` on
        these features. The group penalty leaves many selected features without a weight, so the refit improves accuracy
        a lot.""",
    )
    batch_size: int | None = param(
        default=None,
        doc="Number of rows in a batch; None for all rows of a call. Less than half a batch joins the last one.",
    )
    cost: Any = param(
        default="auto",
        rule=auto | part | none,
        doc=r"""Share of the positive class in the loss, between 0 and 1, of the rows seen so far; with several classes,
        each in turn is the positive one. ``"auto"`` is 0.5, which balances the classes, unless ``class_weight`` is
        given. None uses the row weights as they are, as in [1]_.""",
        file="cost",
    )

    _penalty = "sigma"

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Files without a cost hold models without one."""
        return super()._from_file(params if "cost" in params else {**params, "cost": None})

    def _group_params(self) -> dict[str, Any]:
        params = self._search_params() | {
            "score": self.ranking,
            "max_inner_iter": int(self.max_inner_iter),
            "gap_tol": 1e-10,
            "refit": bool(self.refit),
            "whiten": True,
            "keep": False,
            "balanced": False,
        }
        return params if self.step == "auto" else params | {"step": self.step}

    @property
    def _joint(self) -> str:
        return "p" if self.selection == "model" else ""

    @staticmethod
    def _axes(params: Params) -> dict[str, Axis]:
        p, r = params["p"], params["r"]
        return {"known": Axis(p), "member": Axis(r), "group": Axis(-(-p // r)), "chosen": Axis(p)}

    def _can_continue(self, learner: Learner, made_by: Learner | None) -> bool:
        sizes = self.state_.sizes
        same = sizes["chosen"] == learner.params["p"] and sizes["member"] == learner.params["r"]
        return same and super()._can_continue(learner, made_by)

    def _views(self) -> list[View]:
        """The outputs of the model that predicts now."""
        learner = self._learner_now()
        return [self.state_.views[k] for k in learner.outputs_of(self.state_, learner.chosen(self.state_))]

    @property
    def groups_(self) -> list[Any]:
        """The features of each group, in the order of selection; with several classes, a list for each class."""
        p, each = int(self.n_features_to_select), []
        for view in self._views():
            ids, block = (view[name][:p][view["ids"][:p] >= 0].astype(np.int64) for name in ("ids", "block"))
            each.append([ids[block == k] for k in range(int(block.max(initial=-1)) + 1)])
        return each[0] if len(each) == 1 else each

    @property
    def chosen_(self) -> Ids:
        """The features selected in the last batch, for any class, in order; without a refit, some may have weight 0."""
        p = int(self.n_features_to_select)
        ids = np.concatenate([view["ids"][:p] for view in self._views()])
        chosen = np.unique(ids[ids >= 0]).astype(np.int64)
        return chosen[self._learner_now().selected(self.state_)[chosen]]

    @property
    def objectives_(self) -> list[Array] | Array:
        """The objective with one group, two groups, ... in the last batch; with several classes, a list for each."""
        each = [view["objective"][view["objective"] >= 0].copy() for view in self._views()]
        return each[0] if len(each) == 1 else each

    @property
    def gap_(self) -> float:
        """The duality gap of the groups' weights in the last batch; the largest over the classes."""
        return float(max(view["gap"][0] for view in self._views()))

    @property
    def variance_(self) -> Array:
        """Variances of the weights of all features, including those that were never selected."""
        views = self._views()
        out = np.ones((len(views), self.n_features_in_))
        for row, view in zip(out, views, strict=True):
            blocks = read(view, self._learner_now().params).blocks
            row[blocks.ids] = blocks.variances()
        return out * self._learner_now().units(self.state_) ** 2

    def _check_loaded(self) -> None:
        """Refuse blocks of a file that are not valid."""
        params, who = self._learner_now().params, type(self).__name__
        for view in self.state_.views:
            ids, block = view["ids"], view["block"]
            if (ids != ids.round()).any() or (block != block.round()).any() or ids.min() < -1 or block.min() < -1:
                raise ValueError(f"{who}: ids and blocks must be whole numbers of at least -1.")
            if ((ids < 0) != (block < 0)).any():
                raise ValueError(f"{who}: every known feature must have a block.")
            wrong = read(view, params).blocks.refuse_nonsense(self.n_features_in_)
            if wrong:
                raise ValueError(f"{who}: {wrong}.")
        super()._check_loaded()
