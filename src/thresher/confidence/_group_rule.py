"""What learners that choose groups of features in every batch keep, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core import Rows
from .._engine import Axis, Learner, State, one_blas_thread
from .._estimators import BatchClassifier, BatchLearner, BatchLesson, BatchRule, Ids, Params, View
from .._gate import Array, Log, Range, Rule, Whole, at_least, boolean, non_negative, none, one_of, positive
from ._group_search import Columns, Group, GroupSearch, Prior, refit
from ._known import merge_groups, read, write, write_means
from ._row_blocks import Blocks


class GroupRule(BatchRule):
    """State: the first p places of ``ids`` are the features chosen now, group after group, then come those that were
    chosen once; -1 where there is none. All have their block and their covariances in it; ``mean`` is what the next
    batch begins with, ``coef`` what predicts."""

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        return [
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
    def prepare(cls, rows: Rows) -> Columns:
        return Columns.of(rows)

    @classmethod
    def learn(cls, lesson: BatchLesson, state: State, output: int, params: Params) -> int:
        view = state.views[output]
        prior, predicted = read(view, params), view["coef"][view["ids"] >= 0]
        cost = lesson.weight * _costs(lesson.y, params.get("cost"))
        with np.errstate(all="ignore"):
            search = GroupSearch(lesson, cost, prior, params)
            search.run()
            means = [group.mean(search.weights(k)) for k, group in enumerate(search.groups)]
            mean = np.concatenate([search.w[: search.free] / search.constant_root, *means])
            coef = refit(search) if params["refit"] else mean
        found = Found(search.groups, mean, coef, search.constant_root, search.objectives, search.gap)
        keep(view, prior, predicted, found, params)
        return int(np.count_nonzero(search.a))

    @classmethod
    def selection(cls, view: View, params: Params) -> tuple[Ids, Array]:
        used = (view["ids"] >= 0) & (view["coef"] != 0)
        ids, coef = view["ids"][used].astype(np.int64), view["coef"][used]
        if view["constant_coef"][0] == 0:
            return ids, coef
        return np.append(ids, -1), np.append(coef, view["constant_coef"][0])


class Found(NamedTuple):
    """What came of a batch; means and weights that predict begin with the constant, if there is one."""

    groups: list[Group]
    mean: Array
    coef: Array
    constant_root: float
    objectives: list[float]
    gap: float


def keep(view: View, prior: Prior, predicted: Array, found: Found, params: Params) -> None:
    """Write down what was found, if all of it is finite; ``predicted`` are the weights so far of what is known."""
    chosen, mean, coef = Blocks.of([(g.ids, g.covariance) for g in found.groups], params["r"]), found.mean, found.coef
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


def _costs(y: Array, positive_cost: float | None) -> Array:
    """D_i: what a mistake costs, by the class of the row."""
    if positive_cost is None:
        return np.ones(len(y))
    return np.where(y > 0, positive_cost, 1.0 - positive_cost)


class ChoosesGroups(BatchLearner):
    """What the learners of :class:`GroupRule` add to theirs."""

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


@dataclass(frozen=True)
class GroupLearner(ChoosesGroups):
    """One model."""


class GroupClassifier(BatchClassifier):
    """Base class of the estimators: their parameters, and what they can tell of their groups."""

    _penalty = "sigma"
    _param_rules: ClassVar[dict[str, Rule]] = BatchClassifier._param_rules | {
        "n_features_to_select": at_least(1),
        "C": positive,
        "sigma": positive,
        "n_groups": at_least(1),
        "loss": one_of("hinge", "squared_hinge"),
        "ranking": one_of("diagonal", "identity", "full"),
        "step": one_of("auto", "corrected", "safe", "exact"),
        "n_passes": at_least(1),
        "group_tol": non_negative | none,
        "refit": boolean,
        "batch_size": at_least(1) | none,
    }
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-3, 10.0), "n_groups": Whole(1, 30, log=True)}

    n_features_to_select: int
    C: float
    sigma: float
    n_groups: int
    loss: str
    ranking: str
    step: str
    n_passes: int
    group_tol: float | None
    refit: bool

    def _group_params(self) -> dict[str, Any]:
        p, squared = int(self.n_features_to_select), self.loss == "squared_hinge"
        auto = "corrected" if self.sigma >= 1 else "exact"
        return {
            "p": p,
            "r": -(-p // int(self.n_groups)),
            "C": float(self.C),
            "sigma": float(self.sigma),
            "squared": squared,
            "ridge": float(squared),
            "step": auto if self.step == "auto" else self.step,
            "score": self.ranking,
            "n_passes": int(self.n_passes),
            "gap_tol": 1e-10,
            "group_tol": self.group_tol,
            "refit": bool(self.refit),
            "whiten": True,
            "printed": False,
            "keep": False,
        }

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
        """The features of each group in the order of their choice; with several classes, a list for each."""
        p, each = int(self.n_features_to_select), []
        for view in self._views():
            ids, block = (view[name][:p][view["ids"][:p] >= 0].astype(np.int64) for name in ("ids", "block"))
            each.append([ids[block == k] for k in range(int(block.max(initial=-1)) + 1)])
        return each[0] if len(each) == 1 else each

    @property
    def chosen_(self) -> Ids:
        """The features chosen in the last batch, for any class, in order; some may have weight 0 without a refit."""
        p = int(self.n_features_to_select)
        ids = np.concatenate([view["ids"][:p] for view in self._views()])
        return np.unique(ids[ids >= 0]).astype(np.int64)

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
        """How unsure the weights are: variances of all features, 1 where a feature was never chosen."""
        views = self._views()
        out = np.ones((len(views), self.n_features_in_))
        for row, view in zip(out, views, strict=True):
            blocks = read(view, self._learner_now().params).blocks
            row[blocks.ids] = blocks.variances()
        return out

    def _check_loaded(self) -> None:
        """Refuse blocks of a file that cannot be any."""
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
        above = getattr(super(), "_check_loaded", None)
        if above is not None:
            above()
