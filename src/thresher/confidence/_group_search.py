"""The choice of a few features from one batch, group after group, and the weights of the groups.

    min_w  Omega(w - w0) + (C / q) sum_i D_i max(0, 1 - y_i sum_k <w_k, x_i^k>)^q
    Omega(w) = sigma |w|^2 / 2 + (sum_k |w_k|)^2 / 2

where x^k are the features of group k in coordinates in which their covariance, this batch included, is the identity.
The next group are the features that the present dual variables would move most. Tan et al. 2016, Algorithms 2 and 3;
Liu et al. 2019, Algorithm 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Columns, ColumnSearch, GroupRows, Rows, ascend, group_ascend
from .._core import best_columns as write_best_columns
from .._estimators import BatchLesson, Ids, Params
from .._gate import Array, linalg, sparse
from ..solvers import group_square_conjugate
from ._chosen_columns import ChosenColumns, whitened
from ._row_blocks import CovarianceBlocks

_BLOCK = 4096  # rows whose whitened features are there at once


class BatchColumns(NamedTuple):
    """The columns that a batch has, without those that it has not."""

    ids: Ids
    n_rows: int
    dense: Any
    """The rows over these columns, in float64; None if they are sparse."""
    stored: Columns | None
    """The same, if they are sparse."""
    squares: Array
    """The sum of the squares of each column; 0 where only zeros are stored."""

    @classmethod
    def of(cls, rows: Rows) -> BatchColumns:
        if rows.columns is None:
            X = rows.values
            ids = np.flatnonzero(X.any(axis=0))
            some = np.asarray(X if len(ids) == X.shape[1] else X[:, ids], dtype=np.float64)
            return cls(ids, len(X), some, None, np.einsum("ij,ij->j", some, some))
        names = None
        if rows.n_features > 8 * len(rows.values):  # nothing is as long as all features
            names, places = np.unique(rows.columns, return_inverse=True)
            rows = Rows.csr(rows.values, places.astype(rows.columns.dtype), rows.starts, len(names), False)
        stored = Columns.of(rows)
        ids = stored.ids if names is None else names.astype(np.int64)
        return cls(ids, rows.n_rows, None, stored, stored.squares)

    @property
    def matrix(self) -> Any:
        """The rows over these columns: an array or a csc_array."""
        if self.stored is None:
            return self.dense
        values = self.stored.values, self.stored.row_of, self.stored.starts
        return sparse.csc_array(values, shape=(self.n_rows, len(self.ids)))

    def _part(self, place: int) -> tuple[Any, Array]:
        """The rows in which a column has a value, and these values."""
        assert self.stored is not None
        part = slice(*self.stored.starts[place : place + 2].tolist())
        return self.stored.row_of[part], self.stored.values[part]

    def take(self, places: Ids) -> tuple[Ids, Array]:
        """Rows that store a value in any of these columns, and the columns of these rows, dense."""
        if self.stored is None:
            return np.arange(self.n_rows), np.ascontiguousarray(self.dense[:, places])
        parts = [self._part(place) for place in places.tolist()]
        has, at = np.zeros(self.n_rows, dtype=bool), np.empty(self.n_rows, np.int64)
        for rows, _ in parts:
            has[rows] = True
        there = np.flatnonzero(has)
        at[there] = np.arange(len(there))
        out = np.zeros((len(there), len(places)))
        for k, (rows, values) in enumerate(parts):
            out[at[rows], k] = values
        return there, out

    def chosen(self, places: Ids, constant: float) -> ChosenColumns:
        """Some of the columns, behind that of the constant if it is not 0."""
        n = self.n_rows
        if self.stored is None:
            own = self.dense[:, places]
            return ChosenColumns(np.hstack([np.full((n, 1), constant), own]) if constant else own, None)
        parts = [self._part(place) for place in places.tolist()]
        if constant:
            parts = [(np.arange(n, dtype=np.int32), np.full(n, constant)), *parts]
        rows, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        ends = np.cumsum([0, *(len(part[0]) for part in parts)])
        return ChosenColumns.sparse(sparse.csc_array((values, rows, ends), shape=(n, len(parts))).tocsr())


class Prior(NamedTuple):
    """The knowledge of earlier batches: means of the blocks' features, and mean and variance of the constant."""

    blocks: CovarianceBlocks
    means: Array
    constant: tuple[float, float] = (0.0, 1.0)

    def mean(self, ids: Ids) -> Array:
        return self.mean_at(self.blocks.places(ids))

    def variances(self, ids: Ids) -> Array:
        return self.variances_at(self.blocks.places(ids))

    def mean_at(self, places: Ids) -> Array:
        return _at(places, self.means, 0.0)

    def variances_at(self, places: Ids) -> Array:
        return _at(places, self.blocks.variances(), 1.0)


def _at(places: Ids, values: Array, unknown: float) -> Array:
    """Values of features at these places; one that is not known is at -1."""
    found = np.full(len(places), unknown)
    known = np.flatnonzero(places >= 0)
    found[known] = values[places[known]]
    return found


class Group(NamedTuple):
    """Chosen features, and the root L of their precision L L'."""

    ids: Ids
    root: Array

    @property
    def covariance(self) -> Array:
        inverse: Array = linalg.lapack.dpotrs(self.root, np.eye(len(self.root)), lower=1)[0]
        return 0.5 * (inverse + inverse.T)

    def mean(self, w: Array) -> Array:
        """Weights of the features from those of the whitened ones."""
        return unwhitened(self.root, w)


class GroupSearch:
    """All that happens in one batch.

    ``params`` are those of :class:`~._group_rule.GroupRule`; with ``whiten`` False the covariance stays the identity,
    with ``printed`` the dual variables begin as the papers print it.
    """

    def __init__(self, lesson: BatchLesson, cost: Array, prior: Prior, params: Params) -> None:
        self.lesson, self.cost, self.prior, self.params = lesson, cost, prior, params
        self.columns: BatchColumns = lesson.shared
        n, self.free = len(lesson.y), int(lesson.constant != 0)
        width = self.free + min(params["p"], len(self.columns.ids))
        self.w0, self.z, self.w = np.zeros(width), np.zeros(width), np.zeros(width)
        self.a = np.full(n, 1.0 / n) if params["printed"] else cost.copy()  # of no feature: all slacks are 1
        self.groups: list[Group] = []
        self.ends = np.empty(0, np.int64)  # of the columns of each group
        self.objectives: list[float] = []
        self.gap, self.n_iter = 0.0, 0
        self.constant_root = 1.0
        self.places = prior.blocks.places(self.columns.ids)
        self._mean = prior.mean_at(self.places)
        self._precision = np.ones(len(self.places))
        if params["score"] == "diagonal":
            self._precision = 1.0 / prior.variances_at(self.places) + params["C"] * self.columns.squares
        self._finder = None
        if self.columns.stored is not None and params["score"] != "full":
            self._finder = ColumnSearch(self.columns.stored, self._precision, self._mean)
        self._left = self.columns.squares > 0
        self._smoother: Any = None
        fixed = np.empty((n, 0))
        if self.free:
            variance = 1.0 / (1.0 / prior.constant[1] + params["C"] * n * lesson.constant**2)
            self.constant_root = variance**-0.5 if params["whiten"] else 1.0
            self.w0[0] = self.constant_root * prior.constant[0]
            fixed = np.full((n, 1), lesson.constant / self.constant_root)
            self.z[0] = params["C"] * ((self.a * lesson.y) @ fixed[:, 0])
        self.X = GroupRows(fixed)

    def run(self) -> None:
        """Groups until there are p features, or none that is worth it."""
        p, r, group_tol = (self.params[name] for name in ("p", "r", "group_tol"))
        while self.n_chosen < p:
            ids = self._best(min(r, p - self.n_chosen))
            if not len(ids) or not self._add(ids):
                break
            self._solve()
            if has_settled(self.objectives, group_tol):
                break
        if not self.groups:
            self._solve()

    @property
    def n_chosen(self) -> int:
        return int(self.ends[-1]) - self.free if self.groups else 0

    def weights(self, group: int) -> Array:
        """Whitened weights of a group."""
        return self.w[self._slots(group)]

    def _slots(self, group: int) -> slice:
        end = int(self.ends[group])
        return slice(end - len(self.groups[group].ids), end)

    # --- which features ---------------------------------------------------------------------------------------------

    def _best(self, n: int) -> Ids:
        """The columns with the largest m_j = s_j^2 Sigma_jj + 2 mu_j s_j, s = sum_i C a_i y_i x_i, of those that are
        left."""
        scale, how = 1.0 if self.params["printed"] else self.params["C"], self.params["score"]
        pull, columns = scale * self.a * self.lesson.y, self.columns
        if self._finder is not None:
            places = np.empty(n, np.int64)
            return places[: self._finder.best(pull, self._left, places)]
        s: Array = columns.matrix.T @ pull
        moved = self._smoothed(pull) if how == "full" else s / self._precision
        return best_columns(s * (moved + 2.0 * self._mean), self._left, n)

    def _smoothed(self, pull: Array) -> Array:
        """Sigma_h X'u = S X' (I + C X S X')^-1 u, with S the covariance before the batch."""
        if self._smoother is None:
            X = sparse.csr_array(self.columns.matrix)
            spread = X @ self.prior.blocks.on(self.columns.ids)
            kernel = self.params["C"] * (spread @ X.T).toarray()
            kernel[np.diag_indices_from(kernel)] += 1.0
            try:
                factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                raise FloatingPointError("products of the rows overflowed") from None
            self._smoother = spread, factor
        spread, factor = self._smoother
        return spread.T @ linalg.cho_solve(factor, pull, check_finite=False)

    def _add(self, columns: Ids) -> bool:
        """A group of these columns; False if it would stay at its means, and that rule is in use."""
        ids, C, y = self.columns.ids[columns], self.params["C"], self.lesson.y
        rows, X = self.columns.take(columns)
        if self.params["whiten"]:
            group = Group(ids, root_of(self.prior.blocks.among(self.places[columns]), C * (X.T @ X)))
            X = whitened(group.root, X)
        else:
            group = Group(ids, np.eye(len(ids)))
        z = C * ((self.a * y)[rows] @ X)
        if self.params["group_tol"] is not None and self.groups and np.linalg.norm(z) <= self._cut():
            return False
        self.ends = np.append(self.ends, self.free + self.n_chosen + len(ids))
        self.groups.append(group)
        self._left[columns] = False
        slots = self._slots(-1)
        self.X.add(X, rows)
        self.z[slots] = z
        self.w0[slots] = group.root.T @ self._mean[columns]
        return True

    # --- their weights ----------------------------------------------------------------------------------------------

    def _labels(self) -> Ids:
        return np.repeat(np.arange(len(self.groups)), [len(group.ids) for group in self.groups])

    def _cut(self) -> float:
        """The length of z_k up to which a group stays at its means: the sum of all |w_k|."""
        width, free = int(self.ends[-1]), self.free
        w = group_square_conjugate(self.z[free:width], self._labels(), self.params["sigma"])[1]
        return float(np.sqrt(np.bincount(self._labels(), w * w)).sum())

    def _solve(self) -> None:
        """Passes of coordinate ascent from the present dual variables, until the gap is small."""
        given = self.params
        if given["printed"]:  # the papers begin every time at 0
            self.a[:], self.z[:] = 0.0, 0.0
        for _ in range(given["max_inner_iter"]):
            _, primal, dual = group_ascend(
                self.X, self.lesson.y, self.cost, given["C"], given["sigma"], given["ridge"], given["step"],
                self.w0, self.a, self.z, self.w,
            )  # fmt: skip
            self.n_iter += 1
            self.gap = primal - dual
            if self.gap <= given["gap_tol"] * abs(primal):
                break
        if not np.isfinite(self.w).all():
            raise FloatingPointError
        self.objectives.append(primal)


def has_settled(objectives: list[float], group_tol: float | None) -> bool:
    """Whether the last group changed the objective by no more than this part of it; never if that is None."""
    if group_tol is None or len(objectives) < 2:
        return False
    before, now = objectives[-2:]
    return abs(now - before) <= group_tol * abs(now)


def best_columns(scores: Array, left: NDArray[np.bool_], n: int) -> Ids:
    """The columns with the largest scores of those that are left; of equal ones the first."""
    places = np.empty(n, np.int64)
    return places[: write_best_columns(scores, left, places)]


def root_of(covariance: Array, gain: Array) -> Array:
    """The lower root of the precision after a batch: of the inverse covariance + C X'X."""
    inverse, failed = linalg.lapack.dposv(covariance, np.eye(len(covariance)), lower=1)[1:]
    precision = inverse + gain
    root, no_root = linalg.lapack.dpotrf(0.5 * (precision + precision.T), lower=1)
    if failed or no_root:
        raise FloatingPointError
    return root


def unwhitened(root: Array, w: Array) -> Array:
    """L'^-1 w."""
    return linalg.lapack.dtrtrs(root, w, lower=1, trans=1)[0]


def refit(search: GroupSearch) -> Array:
    """Means of all chosen features together, the constant's first if there is one: one step of BCW on them alone."""
    lesson, prior, given = search.lesson, search.prior, search.params
    ids = np.concatenate([np.empty(0, np.int64), *(group.ids for group in search.groups)])
    free = search.free
    if not free + len(ids):
        return np.empty(0)
    places = search.places[columns := np.searchsorted(search.columns.ids, ids)]
    covariance = np.eye(free + len(ids))
    covariance[free:, free:] = prior.blocks.among(places)
    centre = np.concatenate([np.full(free, prior.constant[0]), prior.mean_at(places)])
    if free:
        covariance[0, 0] = prior.constant[1]
    X = search.columns.chosen(columns, lesson.constant)
    root = root_of(covariance, given["C"] * X.gram(np.ones(len(lesson.y))))
    a, w = np.zeros(len(lesson.y)), root.T @ centre
    cost = given["C"] * search.cost
    for _ in range(given["max_inner_iter"]):
        for some in (slice(k, k + _BLOCK) for k in range(0, len(a), _BLOCK)):
            ascend(X.whitened(root, some), lesson.y[some], cost[some], given["squared"], a[some], w)
    return unwhitened(root, w)
