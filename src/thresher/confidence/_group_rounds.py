"""SBCW over rows that are elsewhere: one round is one batch of all of them.

For every group, a look at the slopes of all features chooses the next ones, and steps of Newton's method on the chosen
features alone find the weights; the last step of a group and the look for the next one are one question.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from .._engine import Round, Sums, outgrown
from .._estimators import Ids, Params
from .._gate import Array
from ._batch_newton import EXACT, NewtonDescent, Normal, Place, Run, descend, in_step
from ._group_prior import GroupPrior
from ._group_rule import GroupResult, keep
from ._group_search import Group, Prior, best_columns, root_of
from ._known import read
from ._shard_rows import Begin, Reader, close, keep_tally, shares_of, speakers_of

_REFIT_GAP = 1e-6  # of the hinge
_WIDEST = 0.01  # the width of the hinge with which a group begins is at least so much, as its weights are not the best


class GroupTask(NamedTuple):
    """The givens that all groups of an output share."""

    prior: Prior
    params: Params
    squares: Array
    """Of all columns."""
    constant_gain: float
    """The amount that the batch adds to the precision of the constant; 0 for none."""
    place: Place


def sbcw_round(estimator: Any) -> Round:
    learner, state = estimator._learner_now(), estimator.state_
    if learner.params["score"] == "full":
        raise ValueError(
            f'{type(estimator).__name__}: ranking must be "diagonal" or "identity" in rounds of sums, got "full", '
            'which needs all rows at once; mode="passes" takes it.'
        )
    params, reader = learner.params, Reader.of(estimator)
    first = yield Begin(reader, speakers_of(learner, state), squares=True)
    if not first["rows"]:
        return False
    shares = shares_of(estimator, first)
    reader = reader.weighing(shares)
    gain = params["C"] * float(first["rows"]) * reader.constant**2
    nothing = np.empty(0, np.int64), np.zeros(1), np.zeros(1)
    priors = [read(view, params) for view in state.views]
    runs = [
        _run(GroupTask(prior, params, first["squares"], gain, Place(positive, (params["C"],) * 2, *nothing, 0.0)))
        for prior, positive in zip(priors, reader.positives, strict=True)
    ]
    after = state.copy()
    n_known = int((state.arrays["ids"] >= 0).sum(axis=1).max())
    after.grow(state.sizes["weight"], known=n_known + params["p"])
    try:
        results, _ = yield from in_step(reader, runs)
        for view, prior, (found, _) in zip(after.views, priors, results, strict=True):
            keep(view, prior, view["coef"][view["ids"] >= 0], found, params)
    except FloatingPointError:
        raise outgrown(estimator) from None
    keep_tally(after, first, shares, [n_held for _, n_held in results])
    estimator.state_ = after
    close(estimator)
    return False


def _run(task: GroupTask) -> Run[tuple[GroupResult, int]]:
    """Groups until there are p features or none that is worth it, then the weights of all of them together."""
    choice = _Choice(task)
    yield from choice.run()
    coef = choice.mean
    if task.params["refit"]:
        coef = yield from choice.refit()
    order = np.roll(np.arange(len(coef)), 1) if task.constant_gain else np.arange(len(coef) - 1)
    found = GroupResult(
        choice.groups, choice.mean[order], coef[order], choice.constant_root, choice.objectives, choice.descent.gap
    )
    return found, choice.n_held


class _Choice:
    """The choice so far; weights are those of the features in the order of their choice, the constant's last."""

    def __init__(self, task: GroupTask) -> None:
        self.task = task
        prior, params = task.prior, task.params
        self.groups: list[Group] = []
        self.descent: NewtonDescent
        self._prior: GroupPrior
        self.objectives: list[float] = []
        self.constant_root = (1.0 / prior.constant[1] + task.constant_gain) ** 0.5
        self.mean, self.centre = np.array([prior.constant[0]]), np.array([prior.constant[0]])
        self.gram = np.zeros((1, 1))
        self.width, self.n_held = 0.0 if params["squared"] else 1.0, 0
        self._left = task.squares > 0
        self._mean, self._spread = prior.of_columns(np.arange(len(task.squares)))

    @property
    def ids(self) -> Ids:
        return np.concatenate([np.empty(0, np.int64), *(group.ids for group in self.groups)])

    def run(self) -> Run[None]:
        p, r, group_tol = (self.task.params[name] for name in ("p", "r", "group_tol"))
        told = yield self.task.place._replace(width=self.width, look=True)  # without weights: all slacks are 1
        while len(self.ids) < p:
            new = best_columns(self._scores(told["looks"][0]), self._left, min(r, p - len(self.ids)))
            if not len(new):
                break
            heard = yield from self._solve(new, told["looks"][0])
            if heard is None:
                return
            told = heard
            if group_tol is not None and len(self.objectives) > 1:
                before, now = self.objectives[-2:]
                if abs(now - before) <= group_tol * abs(now):
                    break
        if not self.groups:
            yield from self._solve(np.empty(0, np.int64), told["looks"][0])

    def _scores(self, s: Array) -> Array:
        """m_j = s_j^2 Sigma_jj + 2 mu_j s_j of every column, s = sum_i C a_i y_i x_i."""
        diagonal = self.task.params["score"] == "diagonal"
        moved = s / (1.0 / self._spread + self.task.params["C"] * self.task.squares) if diagonal else s
        scores: Array = s * (moved + 2.0 * self._mean)
        return scores

    def _solve(self, new: Ids, slopes: Array) -> Run[Sums | None]:
        """Weights with one more group; None if it would stay at its means, and so that rule was asked for."""
        params, prior, n = self.task.params, self.task.prior, len(self.ids)
        ids = np.concatenate([self.ids, new])
        mean, centre = (np.insert(at, n, prior.mean(new)) for at in (self.mean, self.centre))
        where = self.task.place._replace(ids=ids, coef=mean, move=0.0 * mean, width=self.width, look=True)
        told = yield where._replace(gram=True)
        if len(new):
            own = told["gram"][n : n + len(new), n : n + len(new)]
            group = Group(new, root_of(prior.blocks.marginal(new), params["C"] * own))
            if params["group_tol"] is not None and self.groups:
                pull = linalg.solve_triangular(group.root, slopes[new], lower=True, check_finite=False)
                if np.linalg.norm(pull) <= self._prior.reach(self.descent.pull):
                    return None
            self.groups.append(group)
        self._left[new] = False
        self.gram, self.centre = told["gram"], centre
        self._prior = GroupPrior(self.groups, self.constant_root, centre, params["sigma"])
        self.descent = NewtonDescent(self._prior, mean, params["squared"], params["gap_tol"], self.width)
        heard = yield from descend(self.descent, where, told, params["max_inner_iter"])
        self.mean, self.n_held = self.descent.coef, int(heard["held"][0])
        self.width = self.descent.width and max(self.descent.width, _WIDEST)
        self.objectives.append(self.descent.objective)
        return heard

    def refit(self) -> Run[Array]:
        """One step of BCW on the chosen features alone, to the end."""
        params, prior, ids = self.task.params, self.task.prior, self.ids
        covariance = np.eye(len(ids) + 1)
        covariance[:-1, :-1], covariance[-1, -1] = prior.blocks.marginal(ids), prior.constant[1]
        root = root_of(covariance, params["C"] * self.gram)
        squared = params["squared"]
        normal = Normal(root @ root.T, root, self.centre)
        descent = NewtonDescent(normal, self.mean, squared, EXACT if squared else _REFIT_GAP, self.width or 1.0)
        yield from descend(descent, self.task.place._replace(ids=ids))
        return descent.coef
