"""A pool of features with their means and covariances, learned batch by batch: the rule of PoolCWClassifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import ArowDiagonal, add_columns, best_outside, condition
from .._engine import State
from .._estimators import BatchLesson, BatchRule, Ids, Params, View
from .._gate import Array, linalg
from ._chosen_columns import ChosenColumns
from ._class_costs import COUNTS, shares_of

_LEAST_SHARE, _ROUNDING = 2.0**-20, 1e-12  # of a step; of the loss
LEAST_SCALE = 1e-100  # below, sums that are not yet forgotten are brought to another unit


class Gaussian(NamedTuple):
    """Mean and covariance of the weights of some features; the constant comes first, if there is one."""

    ids: Ids
    """Features of the pool in their order, without the constant."""
    mean: Array
    covariance: Array

    @property
    def n_first(self) -> int:
        """1 with a constant, else 0."""
        return len(self.mean) - len(self.ids)

    def keep(self, places: NDArray[np.intp]) -> Gaussian:
        """Some features of the pool, in their order: the marginal."""
        places = np.sort(places)
        at = np.concatenate([np.arange(self.n_first), self.n_first + places])
        return Gaussian(self.ids[places], self.mean[at], self.covariance[np.ix_(at, at)])

    def pruned(self, n: int) -> Gaussian:
        """Of the pool, the ``n`` features with the largest mean^2 / variance, ties to the smaller index."""
        if len(self.ids) <= n:
            return self
        score = (self.mean**2 / np.diagonal(self.covariance))[self.n_first :]
        return self.keep(np.argsort(-score, kind="stable")[:n])

    def within(self, selected: NDArray[np.bool_]) -> Gaussian:
        """Means and covariances of some of all features, when the others have the weight 0 for certain."""
        kept = np.concatenate([np.ones(self.n_first, dtype=bool), selected[self.ids]])
        if kept.all():
            return self
        cross = self.covariance[np.ix_(kept, ~kept)]
        gain = linalg.solve(self.covariance[np.ix_(~kept, ~kept)], cross.T, assume_a="pos").T
        covariance = self.covariance[np.ix_(kept, kept)] - gain @ cross.T
        return Gaussian(self.ids[kept[self.n_first :]], self.mean[kept] - gain @ self.mean[~kept], covariance)

    def conditioned(self, n: int) -> tuple[Array, Array]:
        """Means and covariances when all but ``n`` features have the weight 0 for certain."""
        mean, covariance = self.mean.copy(), self.covariance.copy()
        condition(mean, covariance, self.n_first, n)
        return mean, covariance


class Pool(BatchRule):
    """State: a slot for the constant (-1 in ``ids``), then one for each feature of the pool (-1: empty), and what finds
    candidates: fading sums over all features, or a diagonal AROW. ``coef`` are the weights in use."""

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        candidates: list[tuple[Any, ...]] = [
            ("pull", "weight", 0.0, "sum"),
            ("curvature", "weight", 0.0, "sum"),
            ("scale", "", 1.0, "derived"),
        ]
        if params["scout"]:
            candidates = [
                ("scout", "weight", 0.0, "weighted", "scout_variance"),
                ("scout_variance", "weight", 1.0, "precision", "", "scout"),
            ]
        return [
            ("ids", "selected", -1.0, "derived"),
            ("mean", "selected", 0.0, "weighted", "covariance"),
            ("covariance", "selected selected", 1.0, "precision"),
            ("coef", "selected", 0.0, "derived"),
            *COUNTS,
            ("n_batches", "", 0.0, "sum"),
            *candidates,
        ]

    # --- learning ---------------------------------------------------------------------------------------------------

    @classmethod
    def learn(cls, lesson: BatchLesson, state: State, output: int, params: Params) -> int:
        view = state.views[output]
        view["n_batches"] += 1
        cost = _costs(lesson, view, params)
        before = read(state, output, bool(lesson.constant))
        try:
            with np.errstate(all="ignore"):
                after, n_updates = _learn(lesson, view, before, cost, params)
        except linalg.LinAlgError:
            raise FloatingPointError from None
        after = after.pruned(params["n_pool"])
        if not (np.isfinite(after.mean).all() and _is_definite(after.covariance)):
            raise FloatingPointError
        write(state, output, after, params["n_used"])
        return n_updates

    @classmethod
    def selection(cls, view: View, params: Params) -> tuple[Ids, Array]:
        used = np.flatnonzero(view["coef"])
        return view["ids"][used].astype(np.int64), view["coef"][used]

    # --- merging ----------------------------------------------------------------------------------------------------

    @classmethod
    def settle(cls, states: Sequence[State], params: Params) -> None:
        for state in states:
            for view in state.views:
                if "scale" in view:
                    view["pull"] *= view["scale"]
                    view["curvature"] *= view["scale"]
                    view["scale"][0] = 1.0
        if len(states) > 1:
            if not params["scout"]:
                _fade_start(states, params["forgetting"])
            _share_pools(states)

    @classmethod
    def rebuild(cls, state: State, params: Params) -> None:
        learned = [_sound(read(state, k, True)) for k in range(state.n_outputs)]
        _resize(state, 1 + params["n_pool"])
        for k, whole in enumerate(learned):
            if "curvature" in state.arrays:
                np.maximum(state.arrays["curvature"][k], 0.0, out=state.arrays["curvature"][k])
            write(state, k, whole.pruned(params["n_pool"]), params["n_used"])


def read(state: State, output: int, constant: bool) -> Gaussian:
    """The pool of one output, without its empty slots."""
    ids = state.arrays["ids"][output]
    slots = np.flatnonzero(ids >= 0)
    at = np.concatenate([[0], slots]) if constant else slots
    return Gaussian(
        ids[slots].astype(np.int64),
        state.arrays["mean"][output, at],
        state.arrays["covariance"][output][np.ix_(at, at)],
    )


def write(state: State, output: int, pool: Gaussian, n_used: int) -> None:
    """Fill the slots of one output, and derive the weights in use."""
    ids, mean, covariance, coef = (state.arrays[name][output] for name in ("ids", "mean", "covariance", "coef"))
    first = 1 - pool.n_first
    some = slice(first, 1 + len(pool.ids))
    ids[...], mean[...], covariance[...], coef[...] = -1, 0, np.eye(len(ids)), 0
    ids[1 : 1 + len(pool.ids)] = pool.ids
    mean[some], covariance[some, some] = pool.mean, pool.covariance
    coef[some] = pool.conditioned(n_used)[0]


def _costs(lesson: BatchLesson, view: View, params: Params) -> Array:
    """C D_i."""
    positive = lesson.y > 0
    shares = shares_of(view, lesson.weight[~positive].sum(), lesson.weight[positive].sum(), params["cost"])
    return params["C"] * lesson.weight * np.where(positive, shares[1], shares[0])


def _learn(lesson: BatchLesson, view: View, prior: Gaussian, cost: Array, params: Params) -> tuple[Gaussian, int]:
    """Rounds of looking for features and learning their weights, all from the same prior, then the new covariance:
    Sigma = R (I + R' X' D X R)^-1 R', with R R' that of the prior and D the costs of the rows with a loss."""
    y, n_add, n_old = lesson.y, params["n_add"], len(prior.mean)
    constant = np.full(prior.n_first, lesson.rows.n_features)
    root = linalg.cholesky(prior.covariance, lower=True)
    inverse = linalg.cho_solve((root, True), np.eye(n_old))
    n_rounds = max(1, math.ceil((params["n_pool"] - len(prior.ids)) / n_add))
    search = _Scout(lesson, view, cost, n_rounds) if params["scout"] else _Sums(lesson, view, cost, n_rounds, params)
    ids, mean = prior.ids, prior.mean
    X = ChosenColumns.of(lesson.rows, lesson.constant, np.concatenate([constant, ids]))
    margins, active = y * X.scores(mean), np.empty(0)
    for k in range(search.n_rounds):
        new = search.look(1 - margins, np.sort(ids), n_add)
        if k and not len(new):
            break  # the same features and prior gave these weights: there is nothing to change from here on
        if len(new):
            ids = np.concatenate([ids, new])
            X = ChosenColumns.of(lesson.rows, lesson.constant, np.concatenate([constant, ids]))
        n = prior.n_first + len(ids)
        precision = with_new(inverse, n)
        problem = _Means(X, y, cost, precision, np.pad(prior.mean, (0, n - n_old)))
        mean, margins, active, gain = problem.best(np.pad(mean, (0, n - len(mean))), params["max_inner_iter"])
    R = with_new(root, len(mean))
    n_updates = np.count_nonzero(active if lesson.constant else active * X.is_felt())
    return surer(ids, mean, R, R.T @ gain @ R), int(n_updates)


class _Means(NamedTuple):
    """min_m  (m - m0)' P (m - m0) / 2 + sum_i cost_i max(0, 1 - y_i m'x_i)^2 / 2."""

    X: ChosenColumns
    y: Array
    cost: Array
    precision: Array
    centre: Array

    def best(self, mean: Array, n_steps: int) -> tuple[Array, Array, Array, Array]:
        """The mean, its margins, the costs of rows with a loss, and their products X' D X.

        By Newton's method: least squares over the rows with a loss, until these stay the same, which is then exact.
        """
        margins = self.y * self.X.scores(mean)
        active = self._active(margins)
        gain = self.X.gram(active)
        for _ in range(n_steps):
            bend, pull = self.precision + gain, self.precision @ self.centre + self.X.pull(active * self.y)
            if not (np.isfinite(bend).all() and np.isfinite(pull).all()):
                raise FloatingPointError
            aim = linalg.cho_solve(linalg.cho_factor(bend, lower=True, check_finite=False), pull, check_finite=False)
            there = self.y * self.X.scores(aim)
            share = self._share(mean, aim, margins, there)
            mean, margins = _between(mean, aim, share), _between(margins, there, share)
            before, active = active, self._active(margins)
            if not np.array_equal(before, active):
                gain = self.X.gram(active)
            elif share == 1:
                break
        return mean, margins, active, gain

    def _active(self, margins: Array) -> Array:
        return np.where(margins < 1, self.cost, 0.0)

    def _share(self, mean: Array, aim: Array, margins: Array, there: Array) -> float:
        """The largest of 1, 1/2, 1/4, ... with which a step lowers the objective."""
        away, move = mean - self.centre, aim - mean
        pulled = self.precision @ move
        linear, square = float(away @ pulled), 0.5 * float(move @ pulled)
        begin, share = self._paid(margins), 1.0
        while share > _LEAST_SHARE:
            change = self._paid(margins + share * (there - margins)) - begin + share * (linear + share * square)
            if change <= _ROUNDING * begin:
                break
            share *= 0.5
        return share

    def _paid(self, margins: Array) -> float:
        return 0.5 * float(self.cost @ np.maximum(0.0, 1 - margins) ** 2)


def _between(begin: Array, end: Array, share: float) -> Array:
    return end if share == 1 else begin + share * (end - begin)


def with_new(matrix: Array, n: int) -> Array:
    """A covariance, its root or its inverse with more features, which have the variance 1."""
    whole = np.eye(n)
    whole[: len(matrix), : len(matrix)] = matrix
    return whole


def surer(ids: Ids, mean: Array, root: Array, gain: Array) -> Gaussian:
    """A pool in order whose covariance is Sigma = R (I + gain)^-1 R', with gain = Z' D Z over rows Z = X R."""
    inner = linalg.cholesky(np.eye(len(mean)) + gain, lower=True, check_finite=False)
    half = linalg.solve_triangular(inner, root.T, lower=True, check_finite=False)
    pool, order = Gaussian(ids, mean, half.T @ half), np.argsort(ids)
    at = np.concatenate([np.arange(pool.n_first), pool.n_first + order])
    return Gaussian(pool.ids[order], pool.mean[at], pool.covariance[np.ix_(at, at)])


class _Sums:
    """Candidates by g_j^2 / (1 + h_j): slopes and curvatures of the loss in each feature, which fade batch by batch."""

    def __init__(self, lesson: BatchLesson, view: View, cost: Array, n_rounds: int, params: Params) -> None:
        self.lesson, self.view, self.cost = lesson, view, cost
        self.n_rounds, self._kept = n_rounds, (np.empty(0), np.empty(0))
        fade(view, params["forgetting"])
        if n_rounds > 1:  # later rounds take the place of what the first one adds
            columns = lesson.rows.columns
            self.at: Any = slice(None, lesson.rows.n_features) if columns is None else np.unique(columns)
            self._kept = view["pull"][self.at].copy(), view["curvature"][self.at].copy()
        self._added = False

    def look(self, slack: Array, pool: Ids, n: int) -> Ids:
        view, scale = self.view, self.view["scale"][0]
        if self._added:
            view["pull"][self.at], view["curvature"][self.at] = self._kept
        share = np.where(slack > 0, self.cost / scale, 0.0)
        add_columns(self.lesson.rows, share * slack * self.lesson.y, share, view["pull"], view["curvature"])
        self._added = True
        return candidates(view["pull"], view["curvature"], scale, 1.0, pool, n)


def fade(view: View, forgetting: float) -> None:
    """Let sums over all features fade, by their unit."""
    scale = view["scale"]
    scale *= forgetting
    if scale[0] < LEAST_SCALE:  # by a power of two, so that no digit is lost
        scale[0], exponent = math.frexp(scale[0])
        for name in ("pull", "curvature"):
            np.ldexp(view[name], exponent, out=view[name])


class _Scout:
    """Candidates by mean^2 / variance of a diagonal AROW over all features, in which the costs divide r = 1."""

    def __init__(self, lesson: BatchLesson, view: View, cost: Array, n_rounds: int) -> None:
        self.view, self.n_rounds, self._at_once = view, 1, n_rounds  # it learns a batch once: rounds would not differ
        whole = {"coef": view["scout"], "variance": view["scout_variance"], "tally": np.zeros(4)}
        rule = {"r": 1.0, "precision": False, "average": False}
        result = ArowDiagonal.run_pass(lesson.rows, lesson.constant, lesson.y, None, cost, None, whole, rule, None, 0)
        if result[1] >= 0:
            raise FloatingPointError

    def look(self, slack: Array, pool: Ids, n: int) -> Ids:
        return candidates(self.view["scout"], self.view["scout_variance"], 1.0, 0.0, pool, n * self._at_once)


def candidates(a: Array, b: Array, scale: float, constant: float, pool: Ids, n: int) -> Ids:
    """Return the features outside a sorted pool with the largest (s a_j)^2 / (c + s b_j) above 0."""
    out = np.empty(min(n, len(a)), dtype=np.int64)
    found = best_outside(a[:-1], b[:-1], scale, constant, pool, out)
    if found < 0:
        raise FloatingPointError
    return out[:found]


def _fade_start(states: Sequence[State], forgetting: float) -> None:
    """Let sums that the shards share at the start fade as if the shards came one after the other; their own add up."""
    start, *shards = states
    n_batches = [state.arrays["n_batches"] for state in states]
    fades = [forgetting ** (n - n_batches[0]) for n in n_batches[1:]]
    fade = forgetting ** sum(n - n_batches[0] for n in n_batches[1:])
    for name in ("pull", "curvature"):
        first = start.arrays[name]
        for shard, its_fade in zip(shards, fades, strict=True):
            shard.arrays[name][...] += (fade - its_fade) * first
        first *= fade


def _share_pools(states: Sequence[State]) -> None:
    """Give all states the same features: those of the start that every shard still has, and those that any met since.
    A feature that is new to a state has the mean 0 and the variance 1."""
    n_outputs, common = states[0].n_outputs, []
    for k in range(n_outputs):
        old, *others = (read(state, k, True).ids for state in states)
        kept = [i for i in old if all(i in ids for ids in others)]
        new = np.setdiff1d(np.unique(np.concatenate(others)), old)
        common.append(np.union1d(np.array(kept, dtype=np.int64), new))
    size = 1 + max(map(len, common))
    for state in states:
        pools = [read(state, k, True) for k in range(n_outputs)]
        _resize(state, size)
        for k, (ids, pool) in enumerate(zip(common, pools, strict=True)):
            pool = pool.keep(np.flatnonzero(np.isin(pool.ids, ids)))
            at = np.concatenate([[0], 1 + np.searchsorted(ids, pool.ids)])
            mean, covariance = np.zeros(1 + len(ids)), np.eye(1 + len(ids))
            mean[at], covariance[np.ix_(at, at)] = pool.mean, pool.covariance
            write(state, k, Gaussian(ids, mean, covariance), len(ids))


def _resize(state: State, size: int) -> None:
    """Another number of slots; what they hold is to be written anew."""
    if state.sizes["selected"] != size:
        sizes = {**state.sizes, "selected": size}
        blocks = {f.name: f.block(state.n_outputs, sizes) for f in state.fields if "selected" in f.axes.split()}
        state.replace(sizes, {**state.arrays, **blocks})


def _is_definite(covariance: Array) -> bool:
    """Whether a batch can begin with this covariance: whether it has a root."""
    try:
        return bool(np.isfinite(np.linalg.cholesky(covariance)).all())
    except np.linalg.LinAlgError:
        return False


def _sound(pool: Gaussian) -> Gaussian:
    """No weight is less certain than before the first row. Shards may add up to less, where one took out a feature that
    was in the pool before and took it in again."""
    values, vectors = np.linalg.eigh(pool.covariance)
    bad = (values <= 0) | (values > 1 + 1e-9)
    if not bad.any():
        return pool
    sound = np.where(bad, 1.0, values)
    mean = vectors @ ((sound / values) * (vectors.T @ pool.mean))
    return Gaussian(pool.ids, mean, (vectors * sound) @ vectors.T)


def check_pool(state: State, output: int, n_features: int, n_used: int) -> None:
    """Refuse what no run can have left: features that are not there, covariances that are none."""
    ids, coef, covariance = (state.arrays[name][output] for name in ("ids", "coef", "covariance"))
    pool = ids[1 : 1 + np.count_nonzero(ids >= 0)]
    empty = np.concatenate([ids[:1], ids[1 + len(pool) :]])
    inside = (pool >= 0).all() and (pool < n_features).all() and (pool == np.floor(pool)).all()
    if not inside or (np.diff(pool) <= 0).any() or (empty != -1).any():
        raise ValueError("PoolCWClassifier: the pool must hold features in their order.")
    if np.count_nonzero(coef[1:]) > n_used or coef[1 + len(pool) :].any():
        raise ValueError(
            "PoolCWClassifier: weights must be those of at most n_features_to_select features in the pool."
        )
    root = np.sqrt(np.diagonal(covariance))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = covariance / root[:, None] / root  # the variances of a file may be as small as numbers can be
    sound = np.isfinite(scaled).all() and (np.abs(scaled - scaled.T) <= 1e-9).all()
    if not sound or not _is_definite(covariance):
        raise ValueError("PoolCWClassifier: the covariance must be symmetric and positive definite.")
