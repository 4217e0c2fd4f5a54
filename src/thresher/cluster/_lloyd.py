"""K-means with an l1 penalty on the centres: what is minimised, and the two steps that lower it in turn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from .._kernels._products import Array, as_floats, products, squared_distances, squares

Labels = NDArray[np.int32]

_BLOCK = 1 << 21  # values held at a time while rows are compared with centres


@dataclass(frozen=True)
class Objective:
    """The sum over rows x of their cost at the centre w of their cluster:

        euclidean   |x - w|^2 + 2 alpha |w|_1                  best centre   soft(mean, alpha)
        cosine      |x|^2 - x.w + alpha |w|_1,   |w| <= 1                    soft(mean, alpha) / its length, or 0

    In the cosine form rows have length 1, or 0 and no direction. The penalty is part of the cost, so that assigning
    rows and moving centres both lower the same sum.   Jumutc (2016), regularised K-means.
    """

    alpha: float
    cosine: bool

    def costs(self, X: Any, centres: Array) -> Iterator[tuple[slice, Array]]:
        """The cost of each row at each centre, block by block."""
        penalty = self.alpha * np.abs(centres).sum(axis=1)
        for part in _blocks(X, len(centres)):
            if self.cosine:
                yield part, np.maximum(squares(X[part])[:, None] - products(X[part], centres), 0.0) + penalty
            else:
                yield part, squared_distances(X[part], centres) + 2.0 * penalty

    def assign(self, X: Any, centres: Array) -> tuple[Labels, Array]:
        """For each row the centre where it costs least, and that cost."""
        labels, least = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0])
        for part, costs in self.costs(X, centres):
            labels[part] = costs.argmin(axis=1)
            least[part] = costs.min(axis=1)
        return labels, least

    def best_centres(self, X: Any, labels: Labels, n_clusters: int) -> Array:
        """For each cluster the centre where its rows cost least."""
        sizes = np.bincount(labels, minlength=n_clusters)
        means = _sums(X, labels, n_clusters) / np.maximum(sizes, 1)[:, None]
        centres: Array = _soft(means, self.alpha)
        if self.cosine:
            lengths = np.linalg.norm(centres, axis=1)
            centres /= np.where(lengths > 0, lengths, 1.0)[:, None]
        return centres

    def alone(self, X: Any) -> Array:
        """The cost of each row at a centre of its own."""
        least = np.empty(X.shape[0])
        for part in _blocks(X, 1):
            spared = squares(_soft(as_floats(X[part]), self.alpha))
            least[part] = squares(X[part]) - (np.sqrt(spared) if self.cosine else spared)
        return least


class Step(NamedTuple):
    centres: Array
    labels: Labels
    costs: Array


def steps(objective: Objective, X: Any, start: Array) -> Iterator[Step]:
    """Move the centres, assign the rows, and again; at first, rows belong to the nearest row of ``start``."""
    n_clusters = len(start)
    labels, costs = replace(objective, alpha=0.0).assign(X, start)
    while True:
        if not all_used(labels, n_clusters):
            labels = fill_empty(labels, costs - objective.alone(X), n_clusters)
        centres = objective.best_centres(X, labels, n_clusters)
        labels, costs = objective.assign(X, centres)
        yield Step(centres, labels, costs)


def all_used(labels: Labels, n_clusters: int) -> bool:
    return bool(np.bincount(labels, minlength=n_clusters).all())


def fill_empty(labels: Labels, gains: Array, n_clusters: int) -> Labels:
    """Give to each cluster without rows the one that gains most by a centre of its own; what does not gain stays."""
    sizes = np.bincount(labels, minlength=n_clusters)
    empty = list(np.flatnonzero(sizes == 0))
    labels = labels.copy()
    for row in np.argsort(-gains, kind="stable"):
        if not empty or gains[row] <= 0:
            break
        if sizes[labels[row]] > 1:
            sizes[labels[row]] -= 1
            labels[row] = empty.pop(0)
    return labels


def spread_rows(objective: Objective, X: Any, n_clusters: int, rng: np.random.Generator) -> Array:
    """Rows to start from, by greedy k-means++: each the best of a few that are drawn with probabilities in proportion
    to their cost (without a penalty) at those before."""
    plain = replace(objective, alpha=0.0)
    n_rows, n_trials = X.shape[0], 2 + int(math.log(n_clusters))
    centres = _dense(X[rng.integers(n_rows, size=1)])
    _, closest = plain.assign(X, centres)
    while len(centres) < n_clusters:
        edges = closest.cumsum()
        drawn = np.searchsorted(edges, rng.random(n_trials) * edges[-1], side="right")
        if edges[-1] == 0:  # every row is a centre already
            drawn = rng.integers(n_rows, size=n_trials)
        candidates = _dense(X[np.minimum(drawn, n_rows - 1)])
        totals = np.zeros(n_trials)
        for part, costs in plain.costs(X, candidates):
            totals += np.minimum(closest[part, None], costs).sum(axis=0)
        best = candidates[[totals.argmin()]]
        closest = np.minimum(closest, plain.assign(X, best)[1])
        centres = np.vstack([centres, best])
    return centres


def _sums(X: Any, labels: Labels, n_clusters: int) -> Array:
    """The sum of the rows of each cluster."""
    sums = np.zeros((n_clusters, X.shape[1]))
    for part in _blocks(X, 1):
        rows, own = as_floats(X[part]), labels[part]
        members = sparse.csc_array((np.ones(len(own)), own, np.arange(len(own) + 1)), shape=(n_clusters, len(own)))
        block = members @ rows
        sums += block.toarray() if sparse.issparse(block) else block
    return sums


def _soft(values: Any, cut: float) -> Any:
    """Each value shrunk towards 0 by ``cut``, and not across."""
    if sparse.issparse(values):
        return sparse.csr_array((_soft(values.data, cut), values.indices, values.indptr), shape=values.shape)
    return np.sign(values) * np.maximum(np.abs(values) - cut, 0.0)


def _blocks(X: Any, n_centres: int) -> Iterator[slice]:
    """Parts of the rows small enough to be copied, and compared with so many centres."""
    per_row = n_centres if sparse.issparse(X) else max(n_centres, X.shape[1])
    blocks: Iterator[slice] = gen_batches(X.shape[0], max(1, _BLOCK // per_row))
    return blocks


def _dense(rows: Any) -> Array:
    return np.asarray(as_floats(rows.toarray() if sparse.issparse(rows) else rows))
