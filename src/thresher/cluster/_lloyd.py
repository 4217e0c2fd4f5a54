"""K-means with an l1 penalty on the centres: where to start, and the two steps that lower the objective in turn."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import learn_prototype
from .._dataclasses import dataclass
from .._gate import HUGE, beside, is_foreign_array, namespace, on_host, sparse, take, zeros
from .._kernels import Array, as_floats
from ._sweep import Data, Labels, Objective, Swept, blocks
from ._sweep_there import sums_there

Mover = Callable[[Data, Swept, Array], Array]
"""Rows, their sweep and the centres before -> centres."""


class KMeansStep(NamedTuple):
    centres: Array
    swept: Swept
    """The rows, assigned to these centres."""


def steps(objective: Objective, data: Data, start: Array, move: Mover | None = None) -> Iterator[KMeansStep]:
    """Move the centres, assign the rows, and again; at first, rows belong to the nearest row of ``start``."""
    centres, now = start, replace(objective, alpha=0.0)
    swept = now.sweep(data, start)
    while True:
        if not (swept.weights > 0).all():
            swept = _without_empty(objective, data, swept, now.assign(data, centres)[1])
        centres = objective.best_centres(swept.sums, swept.weights) if move is None else move(data, swept, centres)
        now, swept = objective, objective.sweep(data, centres)
        yield KMeansStep(centres, swept)


def _without_empty(objective: Objective, data: Data, swept: Swept, costs: Array) -> Swept:
    """Clusters without rows get some, by the costs of all rows, and all sums are made anew."""
    gains = costs - objective.alone(data)
    labels = fill_empty(swept.labels, gains if data.weight is None else gains * data.weight, len(swept.weights))
    if np.array_equal(labels, swept.labels):
        return swept
    return Swept(labels, *sum_rows(data, labels, len(swept.weights)), swept.value)


def fill_empty(labels: Labels, gains: Array, n_clusters: int) -> Labels:
    """Give to each cluster without rows the one that gains most by a centre of its own; what does not gain stays."""
    return fill_sizes(labels, gains, np.bincount(labels, minlength=n_clusters))


def fill_sizes(labels: Labels, gains: Array, sizes: NDArray[Any]) -> Labels:
    """The same where clusters have more rows than these, so many in all."""
    sizes, empty = sizes.copy(), list(np.flatnonzero(sizes == 0))
    labels = labels.copy()
    for row in np.argsort(-gains, kind="stable"):
        if not empty or gains[row] <= 0:
            break
        if sizes[labels[row]] > 1:
            sizes[labels[row]] -= 1
            labels[row] = empty.pop(0)
    return labels


def sum_rows(data: Data, labels: Labels, n_clusters: int) -> tuple[Array, Array]:
    """The weighted sum of the rows of each cluster, and their weight."""
    if is_foreign_array(data.matrix):
        return sums_there(data.matrix, data.weight, labels, n_clusters)
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    sums = np.zeros((n_clusters, data.matrix.shape[1]))
    for part in blocks(data.matrix, 1):
        own = labels[part]
        members = sparse.csc_array((weight[part], own, np.arange(len(own) + 1)), shape=(n_clusters, len(own)))
        block = members @ as_floats(data.matrix[part])
        sums += block.toarray() if sparse.issparse(block) else block
    weights: Array = np.bincount(labels, weight, minlength=n_clusters).astype(np.float64)
    return sums, weights


def start_rows(
    how: str, matrix: Any, n_clusters: int, rng: np.random.Generator, weight: Array | None, *, cosine: bool
) -> Array:
    """Rows to start from: far apart, or any."""
    if how == "random":
        return dense(take(matrix, np.sort(rng.permutation(matrix.shape[0])[:n_clusters])))
    return spread_rows(matrix, n_clusters, rng, weight, cosine=cosine)


def given_centres(init: Any, shape: tuple[int, int]) -> Array:
    """Centres to start from, as a user gave them."""
    try:
        given = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != shape or not np.abs(given).max() <= HUGE:
        raise ValueError(f"SparseKMeans: init must be numbers of shape {shape}, got {reprlib.repr(init)}.")
    return given


def spread_rows(
    matrix: Any, n_clusters: int, rng: np.random.Generator, weight: Array | None = None, *, cosine: bool = False
) -> Array:
    """Rows to start from, by greedy k-means++: each the best of a few that are drawn with probabilities in proportion
    to their cost (without a penalty) at those before."""
    n_rows, n_trials = matrix.shape[0], 2 + int(math.log(n_clusters))
    plain = Objective(0.0, cosine)
    centres = np.empty((n_clusters, matrix.shape[1]))
    centres[0] = dense(take(matrix, _draw(np.ones(n_rows) if weight is None else weight, 1, rng)))[0]
    data = Data.of(matrix, centres[:1], weight, cosine=cosine)
    _, closest = plain.assign(data, centres[:1])
    for c in range(1, n_clusters):
        candidates = dense(take(matrix, _draw(closest if weight is None else closest * weight, n_trials, rng)))
        if is_foreign_array(matrix):
            closest, centres[c] = _closer(plain, data, closest, candidates)
            continue
        costs, totals = np.empty((n_trials, n_rows)), np.zeros(n_trials)
        for part, found in plain.costs(data, candidates):
            np.minimum(closest[part], found.T, out=costs[:, part])
            totals += costs[:, part].sum(axis=1) if weight is None else costs[:, part] @ weight[part]
        best = totals.argmin()
        closest, centres[c] = costs[best], candidates[best]
    return centres


def _closer(plain: Objective, data: Data, closest: Array, candidates: Array) -> tuple[Array, Array]:
    """The cost of each row of another library at the nearest centre, with the best of some candidates as one more."""
    before, matrix = beside(closest, data.matrix), data.matrix
    xp, costs = namespace(matrix), zeros((matrix.shape[0], len(candidates)), matrix)
    for part, found in plain.costs(data, candidates):
        costs[part, :] = xp.minimum(before[part][:, None], found)
    weighted = costs if data.weight is None else costs * beside(data.weight, matrix)[:, None]
    best = int(on_host(xp.sum(weighted, axis=0)).argmin())
    return on_host(costs[:, best]), candidates[best]


def _draw(shares: Array, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places drawn with probabilities in proportion to shares; with equal ones if every share is 0."""
    edges = shares.cumsum()
    if edges[-1] == 0:
        return rng.integers(len(shares), size=size)
    places = np.searchsorted(edges, rng.random(size) * edges[-1], side="right")
    return np.minimum(places, len(shares) - 1)


def dense(rows: Any) -> Array:
    return np.asarray(as_floats(rows.toarray() if sparse.issparse(rows) else on_host(rows)))


@dataclass(frozen=True)
class Draws:
    """Centres learned from rows of their clusters that are drawn with replacement, by adaptive dual averaging from the
    centres before; with the cosine metric, by the hinge loss, and scaled to length 1."""

    objective: Objective
    n_steps: int
    eta0: float
    smoothing: float
    rng: np.random.Generator

    def __call__(self, data: Data, swept: Swept, before: Array) -> Array:
        found = np.zeros_like(before)
        for c, centre in enumerate(before):
            members = np.flatnonzero(swept.labels == c)
            if not len(members):
                continue
            found[c] = centre
            learn_prototype(
                data.rows,
                self._order(members, None if data.weight is None else data.weight[members]),
                found[c],
                self.objective.alpha,
                self.eta0,
                self.smoothing,
                self.objective.cosine,
            )
        return self.objective.fit_length(found)

    def _order(self, members: NDArray[np.intp], weight: Array | None) -> NDArray[np.int64]:
        chance = None if weight is None else weight / weight.sum()
        return self.rng.choice(members, size=self.n_steps, p=chance).astype(np.int64)
