"""SBCW over rows on other machines: one round is one batch of all rows.

For every group, a look at the slopes of all features chooses the next ones, and steps of Newton's method on the chosen
features alone find the weights; the last step of a group and the look for the next one are one question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._engine import Round, Sums, outgrown
from .._estimators import Ids, Params, View
from .._gate import Array, linalg
from ..solvers import group_square, group_square_conjugate
from ._batch_newton import EXACT, NewtonDescent, Normal, Place, Run, descend, in_step
from ._class_costs import shares_of
from ._group_rule import GroupResult, keep
from ._group_search import Group, Prior, best_columns, has_settled, root_of
from ._known import read
from ._shard_rows import Begin, class_shares, close, keep_tally, predictors_of, read_rows, speakers_of

_REFIT_GAP = 1e-6  # of the hinge
_WIDEST = 0.01  # the width of the hinge with which a group begins is at least so much, as its weights are not the best


def sbcw_round(estimator: Any) -> Round:
    learner = estimator._learner_now()
    if learner.params["score"] == "full":
        raise ValueError(
            f'{type(estimator).__name__}: ranking must be "diagonal" or "identity" in rounds of sums, got "full", '
            'which needs all rows at once; mode="passes" supports it.'
        )
    params = learner.params
    predictors = predictors_of(estimator)
    reader, state = yield from read_rows(estimator)
    first = yield Begin(reader, speakers_of(learner, state), predictors, squares=True)
    if not first["rows"]:
        return False
    shares = class_shares(estimator, first)
    reader = reader.weighing(shares)
    gain = params["C"] * float(first["rows"]) * reader.constant**2
    nothing = np.empty(0, np.int64), np.zeros(1), np.zeros(1)
    priors, after = [read(view, params) for view in state.views], state.copy()
    costs = [
        _costs(view, first["weight"] * shares, int(k), params)
        for view, k in zip(after.views, reader.positives, strict=True)
    ]
    runs = [
        _run(_Choice(prior, params, first["squares"], gain, Place(positive, cost, *nothing, 0.0)))
        for prior, positive, cost in zip(priors, reader.positives, costs, strict=True)
    ]
    n_known = int((state.arrays["ids"] >= 0).sum(axis=1).max())
    after.grow(state.sizes["weight"], known=n_known + params["p"])
    try:
        results, _ = yield from in_step(reader, runs)
        for view, prior, (found, _) in zip(after.views, priors, results, strict=True):
            keep(view, prior, view["coef"][view["ids"] >= 0], found, params)
    except FloatingPointError:
        raise outgrown(estimator) from None
    keep_tally(learner, after, first, shares, [n_held for _, n_held in results])
    estimator.state_ = after
    close(estimator)
    return False


def _costs(view: View, weights: Array, code: int, params: Params) -> tuple[float, float]:
    """C D of negative and of positive rows, by the weights of all rows of each class."""
    if params["cost"] is None:
        return params["C"], params["C"]
    shares = shares_of(view, float(weights.sum() - weights[code]), float(weights[code]), params["cost"])
    return params["C"] * shares[0], params["C"] * shares[1]


def _run(choice: _Choice) -> Run[tuple[GroupResult, int]]:
    """Groups until there are p features or none that is worth it, then the weights of all of them together."""
    yield from choice.run()
    coef = choice.mean
    if choice.params["refit"]:
        coef = yield from choice.refit()
    order = np.roll(np.arange(len(coef)), 1) if choice.constant_gain else np.arange(len(coef) - 1)
    found = GroupResult(
        choice.groups, choice.mean[order], coef[order], choice.constant_root, choice.objectives, choice.descent.gap
    )
    return found, choice.n_held


class _Choice:
    """The choice so far; weights are those of the features in the order of their choice, the constant's last."""

    def __init__(self, prior: Prior, params: Params, squares: Array, constant_gain: float, place: Place) -> None:
        """``squares`` are those of all columns, ``constant_gain`` is what the batch adds to the precision of the
        constant, 0 for none."""
        self.prior, self.params, self.squares, self.place = prior, params, squares, place
        self.constant_gain = constant_gain
        self.groups: list[Group] = []
        self.descent: NewtonDescent
        self._group_prior: GroupPrior
        self.objectives: list[float] = []
        self.constant_root = (1.0 / prior.constant[1] + constant_gain) ** 0.5
        self.mean, self.centre = np.array([prior.constant[0]]), np.array([prior.constant[0]])
        self.gram = np.zeros((1, 1))
        self.width, self.n_held = 0.0 if params["squared"] else 1.0, 0
        self._left = squares > 0
        every = np.arange(len(squares))
        self._mean, self._spread = prior.mean(every), prior.variances(every)

    @property
    def ids(self) -> Ids:
        return np.concatenate([np.empty(0, np.int64), *(group.ids for group in self.groups)])

    def run(self) -> Run[None]:
        p, r, group_tol = (self.params[name] for name in ("p", "r", "group_tol"))
        told = yield self.place._replace(width=self.width, look=True)  # without weights: all slacks are 1
        while len(self.ids) < p:
            new = best_columns(self._scores(told["looks"][0]), self._left, min(r, p - len(self.ids)))
            if not len(new):
                break
            heard = yield from self._solve(new, told["looks"][0])
            if heard is None:
                return
            told = heard
            if has_settled(self.objectives, group_tol):
                break
        if not self.groups:
            yield from self._solve(np.empty(0, np.int64), told["looks"][0])

    def _scores(self, s: Array) -> Array:
        """m_j = s_j^2 Sigma_jj + 2 mu_j s_j of every column, s = sum_i C a_i y_i x_i."""
        diagonal = self.params["score"] == "diagonal"
        moved = s / (1.0 / self._spread + self.params["C"] * self.squares) if diagonal else s
        return s * (moved + 2.0 * self._mean)

    def _solve(self, new: Ids, slopes: Array) -> Run[Sums | None]:
        """Weights with one more group; None if it would stay at its means, and that rule is in use."""
        params, prior, n = self.params, self.prior, len(self.ids)
        ids = np.concatenate([self.ids, new])
        mean, centre = (np.insert(at, n, prior.mean(new)) for at in (self.mean, self.centre))
        where = self.place._replace(ids=ids, coef=mean, move=0.0 * mean, width=self.width, look=True)
        told = yield where._replace(gram=True)
        if len(new):
            own = told["gram"][n : n + len(new), n : n + len(new)]
            group = Group(new, root_of(prior.blocks.marginal(new), params["C"] * own))
            if params["group_tol"] is not None and self.groups:
                pull = linalg.solve_triangular(group.root, slopes[new], lower=True, check_finite=False)
                if np.linalg.norm(pull) <= self._group_prior.reach(self.descent.pull):
                    return None
            self.groups.append(group)
        self._left[new] = False
        self.gram, self.centre = told["gram"], centre
        self._group_prior = GroupPrior(self.groups, self.constant_root, centre, params["sigma"])
        self.descent = NewtonDescent(self._group_prior, mean, params["squared"], params["gap_tol"], self.width)
        heard = yield from descend(self.descent, where, told, params["max_inner_iter"])
        self.mean, self.n_held = self.descent.coef, int(heard["held"][0])
        self.width = self.descent.width and max(self.descent.width, _WIDEST)
        self.objectives.append(self.descent.objective)
        return heard

    def refit(self) -> Run[Array]:
        """One step of BCW on the chosen features alone, to the end."""
        params, prior, ids = self.params, self.prior, self.ids
        covariance = np.eye(len(ids) + 1)
        covariance[:-1, :-1], covariance[-1, -1] = prior.blocks.marginal(ids), prior.constant[1]
        root = root_of(covariance, params["C"] * self.gram)
        squared = params["squared"]
        normal = Normal(root @ root.T, root, self.centre)
        descent = NewtonDescent(normal, self.mean, squared, EXACT if squared else _REFIT_GAP, self.width or 1.0)
        yield from descend(descent, self.place._replace(ids=ids))
        return descent.coef


_MOST_STEPS = 20_000
_STILL = 1e-15  # change of a step, relative to the weights, that ends the search


class GroupPrior:
    """R(m) = Omega(u - u0) + (u_c - u0_c)^2 / 2 with u = L_k' m_k for each group and u_c = root m_c for the constant,
    which comes last; Omega as in :func:`~thresher.solvers.group_square`."""

    def __init__(self, groups: Sequence[Group], constant_root: float, centre: Array, sigma: float) -> None:
        sizes = [len(group.ids) for group in groups]
        self.sigma, self.labels = sigma, np.repeat(np.arange(len(groups)), sizes)
        self.whiten = linalg.block_diag(*(group.root.T for group in groups), [[constant_root]])
        self.colour: Array = linalg.solve_triangular(self.whiten, np.eye(len(self.whiten)), check_finite=False)
        self.centre: Array = self.whiten @ centre

    def value(self, m: Array) -> float:
        away = self.whiten @ m - self.centre
        return group_square(away[:-1], self.labels, self.sigma) + 0.5 * float(away[-1]) ** 2

    def excess(self, m: Array, pull: Array) -> float:
        z, u0 = self.colour.T @ pull, self.centre
        conjugate = group_square_conjugate(z[:-1], self.labels, self.sigma, u0[:-1])[0]
        return self.value(m) + conjugate + float(z[-1] * (0.5 * z[-1] + u0[-1]) - m @ pull)

    def best(self, m: Array, pull: Array, bend: Array) -> Array:
        """By accelerated proximal steps, begun anew whenever they go uphill; the width is that of the choice."""
        A, z, here = self.colour.T @ bend @ self.colour, self.colour.T @ pull, self.whiten @ m
        steep = float(np.linalg.eigvalsh(A)[-1])
        if steep <= 0:
            moved = group_square_conjugate(z[:-1], self.labels, self.sigma)[1]
            return self._weights(self.centre + np.append(moved, z[-1]))
        u = ahead = here
        momentum, n_still = 1.0, 0
        for _ in range(_MOST_STEPS):
            step = self._prox(ahead + (z - A @ (ahead - here)) / steep, steep)
            if (ahead - step) @ (step - u) > 0:
                momentum = 1.0
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = step + (momentum - 1.0) / faster * (step - u)
            n_still = n_still + 1 if np.abs(step - u).max() <= _STILL * np.abs(u).max() else 0
            u, momentum = step, faster
            if n_still == 2:
                break
        return self._weights(u)

    def _weights(self, u: Array) -> Array:
        return self.colour @ u

    def reach(self, pull: Array) -> float:
        """The length of a group's pull up to which it would stay at its means: the sum of the lengths of the others."""
        w = group_square_conjugate((self.colour.T @ pull)[:-1], self.labels, self.sigma)[1]
        return float(np.sqrt(np.bincount(self.labels, w * w)).sum())

    def _prox(self, u: Array, steep: float) -> Array:
        """argmin_x R(x) + steep |x - u|^2 / 2."""
        away = steep * (u - self.centre)
        moved = group_square_conjugate(away[:-1], self.labels, self.sigma + steep)[1]
        return self.centre + np.append(moved, away[-1] / (1.0 + steep))
