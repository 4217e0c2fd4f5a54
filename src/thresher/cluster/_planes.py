"""Planes that rows lie close to: the two steps that fit them in turn, and planes to start from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import linalg, sparse
from .._kernels import Array, squared_distances

Labels = NDArray[np.int32]

_ROOM = 0.5  # of what a best plane allows: the most that other rows may weigh beside a cluster's own
_LEAST = 1e-6  # a negligible weight of other rows


class Planes(NamedTuple):
    """For each plane a normal of length 1 and an offset: its points have ``normal . x + offset = 0``."""

    normals: Array
    offsets: Array

    def distances(self, X: Any) -> Array:
        """The distance of each row from each plane."""
        return np.abs(np.asarray(X @ self.normals.T) + self.offsets)


class PlaneStep(NamedTuple):
    planes: Planes
    labels: Labels
    own: float  # sum of the squared distances of rows from their own planes
    others: float  # and from those of the other clusters

    def objective(self, c: float) -> float:
        return self.own - c * self.others


class PlaneRun(NamedTuple):
    c: float  # the weight of other rows that was used
    steps: list[PlaneStep]


@dataclass
class Fit:
    """Best planes for given clusters.

    For cluster i with m rows of its own and n - m others, over unit w and b:

        sum_own (w.x + b)^2 - c sum_others (w.x + b)^2

    With A, s, N the sums of x x', x and 1, own less c times others: b = -s.w / N, and w is the eigenvector of
    A - s s' / N with the smallest eigenvalue. For N < 0 the sum has no minimum: a plane far from all rows has any
    value below 0.   Shao et al. (2013).

    Summed over clusters, each row pays (1 + c) d_own^2 - c sum_j d_j^2, which is least at the nearest plane: assigning
    rows and fitting planes both lower the same sum.
    """

    X: Any
    c: float

    def __post_init__(self) -> None:
        self.n_rows, self.width = self.X.shape
        self._gram, self._total = _gram(self.X), _sum(self.X)

    def has_best_planes(self, sizes: NDArray[np.intp]) -> bool:
        """Whether other rows weigh at most half as much as a cluster's own, in every cluster."""
        return self.c == 0 or bool((self.c * (self.n_rows - sizes) <= _ROOM * sizes).all() and sizes.all())

    def plane(self, own: NDArray[np.intp]) -> tuple[Array, float]:
        """The normal and the offset of the best plane for a cluster."""
        rows, c = self.X[own], self.c
        gram = (1 + c) * _gram(rows) - c * self._gram
        total = (1 + c) * _sum(rows) - c * self._total
        weight = (1 + c) * len(own) - c * self.n_rows
        _, vectors = linalg.eigh(gram - np.outer(total, total) / weight, subset_by_index=[0, 0])
        normal = vectors[:, 0] / np.linalg.norm(vectors[:, 0])
        normal = normal if normal[np.abs(normal).argmax()] > 0 else -normal  # either side would do
        return normal, -float(total @ normal) / weight

    def planes(self, labels: Labels, n_clusters: int) -> Planes:
        return _together([self.plane(np.flatnonzero(labels == i)) for i in range(n_clusters)])


def steps(fit: Fit, start: Planes) -> Iterator[PlaneStep]:
    """Fit the planes, assign the rows, and again; at first, rows belong to the nearest plane of ``start``. Ends when
    some cluster has no best plane."""
    n_clusters = len(start.offsets)
    distances = start.distances(fit.X)
    while True:
        labels = distances.argmin(axis=1).astype(np.int32)
        if not fit.has_best_planes(np.bincount(labels, minlength=n_clusters)):
            return
        planes = fit.planes(filled(labels, distances.min(axis=1), n_clusters), n_clusters)
        distances = planes.distances(fit.X)
        squares = distances**2
        own = float(squares.min(axis=1).sum())
        yield PlaneStep(planes, distances.argmin(axis=1).astype(np.int32), own, float(squares.sum()) - own)


def descend(X: Any, c: float, start: Planes, max_iter: int, tol: float) -> PlaneRun:
    """Steps until they no longer pay. When a cluster loses its rows to the push of the others, so that it has no best
    plane any more, all begins again with half of the push."""
    while True:
        made: list[PlaneStep] = []
        for step in steps(Fit(X, c), start):
            settled = bool(made) and np.array_equal(step.labels, made[-1].labels)
            gain = made[-1].objective(c) - step.objective(c) if made else np.inf
            if gain < 0:  # nothing is left to gain but rounding errors
                return PlaneRun(c, made)
            made.append(step)
            if settled or gain <= tol * abs(step.objective(c)) or len(made) == max_iter:
                return PlaneRun(c, made)
        c = c / 2 if c > _LEAST else 0.0


def filled(labels: Labels, away: Array, n_clusters: int) -> Labels:
    """Give to each cluster without rows that half of the cluster with the largest squares which is farther away."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        sizes = np.bincount(labels, minlength=n_clusters)
        costs = np.where(sizes > 1, np.bincount(labels, away**2, n_clusters), -1.0)
        rows = np.flatnonzero(labels == costs.argmax())
        farther = rows[np.argsort(-away[rows], kind="stable")][: len(rows) // 2]
        labels[farther] = empty
    return labels


def spread_planes(X: Any, n_clusters: int, rng: np.random.Generator) -> Planes:
    """Planes to start from: through the neighbourhoods of rows that are drawn with probabilities in proportion to
    their squared distance from the planes before, each the best of a few, as in greedy k-means++."""
    n_rows, n_trials = X.shape[0], 2 + int(math.log(n_clusters))
    n_near = min(n_rows, max(2 * X.shape[1], n_rows // (4 * n_clusters)))  # a quarter of a cluster, or enough
    found: list[tuple[Array, float]] = []
    nearest = np.ones(n_rows)
    for _ in range(n_clusters):
        edges = nearest.cumsum()
        drawn = np.searchsorted(edges, rng.random(n_trials) * edges[-1], side="right")
        tried = [_through_neighbours(X, min(int(row), n_rows - 1), n_near) for row in drawn]
        squares = _together(tried).distances(X) ** 2
        left = np.minimum(nearest[:, None], squares) if found else squares
        best = int(left.sum(axis=0).argmin())
        nearest = left[:, best]
        found.append(tried[best])
    return _together(found)


def _through_neighbours(X: Any, row: int, n_near: int) -> tuple[Array, float]:
    """The plane closest to the rows around a row."""
    away = squared_distances(X, X[[row]]).ravel()
    near = np.sort(np.argpartition(away, n_near - 1)[:n_near])
    return Fit(X[near], 0.0).plane(np.arange(n_near))


def _together(found: list[tuple[Array, float]]) -> Planes:
    return Planes(np.array([normal for normal, _ in found]), np.array([offset for _, offset in found]))


def _gram(X: Any) -> Array:
    gram = X.T @ X
    return gram.toarray() if sparse.issparse(gram) else np.asarray(gram)


def _sum(X: Any) -> Array:
    return np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
