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

from .._core import Rows, ascend, group_ascend
from .._engine import matrix_of
from .._estimators import BatchLesson, Ids, Params
from .._gate import Array, linalg, sparse
from ..solvers import group_square, group_square_conjugate
from ._row_blocks import CovarianceBlocks


class BatchColumns(NamedTuple):
    """The columns that a batch has, without those that it has not."""

    ids: Ids
    matrix: Any
    """The rows over these columns: an array or a csc_array, in float64."""
    transposed: Any
    """The same, its columns as rows."""
    squares: Array
    """The sum of the squares of each column; 0 where only zeros are stored."""

    @classmethod
    def of(cls, rows: Rows) -> BatchColumns:
        X = matrix_of(rows)
        if not sparse.issparse(X):
            ids = np.flatnonzero(X.any(axis=0))
            some = np.asarray(X if len(ids) == X.shape[1] else X[:, ids], dtype=np.float64)
            return cls(ids, some, some.T, np.einsum("ij,ij->j", some, some))
        ids, places = _distinct(X.indices, X.shape[1])
        values = X.data.astype(np.float64)
        some = sparse.csr_array((values, places, X.indptr), shape=(X.shape[0], len(ids))).tocsc()
        squares: Array = np.bincount(places, values**2, len(ids)).astype(np.float64)
        return cls(ids, some, some.T, squares)

    def take(self, places: Ids) -> Array:
        """Some of the columns, dense; in O(their stored values)."""
        out: Array = np.zeros((self.matrix.shape[0], len(places)))
        if not sparse.issparse(self.matrix):
            out[:] = self.matrix[:, places]
            return out
        X = self.matrix
        for k, j in enumerate(places.tolist()):
            stored = slice(X.indptr[j], X.indptr[j + 1])
            out[X.indices[stored], k] = X.data[stored]
        return out


def _distinct(columns: Any, n_features: int) -> tuple[Ids, Ids]:
    """The columns that occur, and where each stands among them; in O(stored values)."""
    if n_features > 8 * len(columns):
        ids, places = np.unique(columns, return_inverse=True)
        return ids.astype(np.int64), places
    seen = np.zeros(n_features, dtype=bool)
    seen[columns] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[columns]


class Prior(NamedTuple):
    """The knowledge of earlier batches: means of the blocks' features, and mean and variance of the constant."""

    blocks: CovarianceBlocks
    means: Array
    constant: tuple[float, float] = (0.0, 1.0)

    def mean(self, ids: Ids) -> Array:
        return self._of(ids, self.means, 0.0)

    def variances(self, ids: Ids) -> Array:
        return self._of(ids, self.blocks.variances(), 1.0)

    def _of(self, ids: Ids, values: Array, unknown: float) -> Array:
        found, places = np.full(len(ids), unknown), self.blocks.places(ids)
        known = places >= 0
        found[known] = values[places[known]]
        return found


class Group(NamedTuple):
    """Chosen features, and the root L of their precision L L'."""

    ids: Ids
    root: Array

    @property
    def covariance(self) -> Array:
        inverse: Array = linalg.cho_solve((self.root, True), np.eye(len(self.root)), check_finite=False)
        return 0.5 * (inverse + inverse.T)

    def mean(self, w: Array) -> Array:
        """Weights of the features from those of the whitened ones."""
        return linalg.solve_triangular(self.root, w, trans="T", lower=True, check_finite=False)


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
        self.X = np.zeros((n, width))
        self.w0, self.z, self.w = np.zeros(width), np.zeros(width), np.zeros(width)
        self.a = np.full(n, 1.0 / n) if params["printed"] else cost.copy()  # of no feature: all slacks are 1
        self.groups: list[Group] = []
        self.ends = np.empty(0, np.int64)  # of the columns of each group
        self.objectives: list[float] = []
        self.gap, self.n_iter = 0.0, 0
        self.constant_root = 1.0
        self._mean, self._spread = prior.mean(self.columns.ids), prior.variances(self.columns.ids)
        self._left = self.columns.squares > 0
        self._smoother: Any = None
        if self.free:
            variance = 1.0 / (1.0 / prior.constant[1] + params["C"] * n * lesson.constant**2)
            self.constant_root = variance**-0.5 if params["whiten"] else 1.0
            self.X[:, 0] = lesson.constant / self.constant_root
            self.w0[0] = self.constant_root * prior.constant[0]
            self.z[0] = params["C"] * ((self.a * lesson.y) @ self.X[:, 0])

    def run(self) -> None:
        """Groups until there are p features, or none that is worth it."""
        p, r, group_tol = (self.params[name] for name in ("p", "r", "group_tol"))
        while self.n_chosen < p:
            ids = best_columns(self.scores(), self._left, min(r, p - self.n_chosen))
            if not len(ids) or not self._add(ids):
                break
            self._solve()
            if has_settled(self.objectives, group_tol):
                break
        if not self.groups:
            self._solve()

    @property
    def n_chosen(self) -> int:
        return sum(len(group.ids) for group in self.groups)

    def weights(self, group: int) -> Array:
        """Whitened weights of a group."""
        return self.w[self._slots(group)]

    def _slots(self, group: int) -> slice:
        end = int(self.ends[group])
        return slice(end - len(self.groups[group].ids), end)

    # --- which features ---------------------------------------------------------------------------------------------

    def scores(self) -> Array:
        """m_j = s_j^2 Sigma_jj + 2 mu_j s_j of every column, s = sum_i C a_i y_i x_i."""
        scale = 1.0 if self.params["printed"] else self.params["C"]
        pull = scale * self.a * self.lesson.y
        s: Array = self.columns.transposed @ pull
        how, C = self.params["score"], self.params["C"]
        if how == "full":
            moved = self._smoothed(pull)
        elif how == "diagonal":
            moved = s / (1.0 / self._spread + C * self.columns.squares)
        else:
            moved = s
        return s * (moved + 2.0 * self._mean)

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
        X = self.columns.take(columns)
        if self.params["whiten"]:
            group = Group(ids, root_of(self.prior.blocks.marginal(ids), C * (X.T @ X)))
            X = np.ascontiguousarray(linalg.solve_triangular(group.root, X.T, lower=True, check_finite=False).T)
        else:
            group = Group(ids, np.eye(len(ids)))
        z = C * ((self.a * y) @ X)
        if self.params["group_tol"] is not None and self.groups and np.linalg.norm(z) <= self._cut():
            return False
        self.ends = np.append(self.ends, self.free + self.n_chosen + len(ids))
        self.groups.append(group)
        self._left[columns] = False
        slots = self._slots(-1)
        self.X[:, slots], self.z[slots] = X, z
        self.w0[slots] = group.root.T @ self.prior.mean(ids)
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
            group_ascend(
                self.X, self.ends, self.free, self.lesson.y, self.cost, given["C"], given["sigma"],
                given["ridge"], given["step"], self.w0, self.a, self.z, self.w,
            )  # fmt: skip
            self.n_iter += 1
            primal, dual = self.values()
            self.gap = primal - dual
            if self.gap <= given["gap_tol"] * abs(primal):
                break
        if not np.isfinite(self.w).all():
            raise FloatingPointError
        self.objectives.append(primal)

    def values(self) -> tuple[float, float]:
        """The objective, and that of the dual."""
        C, sigma, squared = (self.params[name] for name in ("C", "sigma", "squared"))
        width, free, labels = int(self.ends[-1]) if self.groups else self.free, self.free, self._labels()
        z, w, w0 = self.z[:width], self.w[:width], self.w0[:width]
        slack = np.maximum(0.0, 1.0 - self.lesson.y * (self.X[:, :width] @ w))
        loss = C * float(self.cost @ (0.5 * slack**2 if squared else slack))
        gain = C * float((self.a - (0.5 * self.a**2 / self.cost if squared else 0.0)).sum())
        outside = 0.5 * float((w - w0)[:free] @ (w - w0)[:free]), float(z[:free] @ (0.5 * z[:free] + w0[:free]))
        if not self.groups:
            return outside[0] + loss, gain - outside[1]
        inside = group_square((w - w0)[free:], labels, sigma)
        conjugate = group_square_conjugate(z[free:], labels, sigma, w0[free:])[0]
        return outside[0] + inside + loss, gain - outside[1] - conjugate


def has_settled(objectives: list[float], group_tol: float | None) -> bool:
    """Whether the last group changed the objective by no more than this part of it; never if that is None."""
    if group_tol is None or len(objectives) < 2:
        return False
    before, now = objectives[-2:]
    return abs(now - before) <= group_tol * abs(now)


def best_columns(scores: Array, left: NDArray[np.bool_], n: int) -> Ids:
    """The columns with the largest scores of those that are left; of equal ones the first."""
    places = np.flatnonzero(left)
    scores = scores[places]
    if len(places) > n:
        near = np.flatnonzero(scores >= np.partition(scores, -n)[-n])
        places, scores = places[near], scores[near]
    return places[np.argsort(-scores, kind="stable")[:n]]


def root_of(covariance: Array, gain: Array) -> Array:
    """The lower root of the precision after a batch: of the inverse covariance + C X'X."""
    try:
        factor = linalg.cho_factor(covariance, lower=True, check_finite=False)
        precision = linalg.cho_solve(factor, np.eye(len(covariance)), check_finite=False) + gain
        root: Array = linalg.cholesky(0.5 * (precision + precision.T), lower=True, check_finite=False)
    except linalg.LinAlgError:
        raise FloatingPointError from None
    return root


def refit(search: GroupSearch) -> Array:
    """Means of all chosen features together, the constant's first if there is one: one step of BCW on them alone."""
    lesson, prior, given = search.lesson, search.prior, search.params
    ids = np.concatenate([np.empty(0, np.int64), *(group.ids for group in search.groups)])
    free = search.free
    covariance, X = np.eye(free + len(ids)), np.empty((len(lesson.y), free + len(ids)))
    covariance[free:, free:] = prior.blocks.marginal(ids)
    X[:, free:] = search.columns.take(np.searchsorted(search.columns.ids, ids))
    centre = np.concatenate([np.full(free, prior.constant[0]), prior.mean(ids)])
    if free:
        covariance[0, 0], X[:, 0] = prior.constant[1], lesson.constant
    root = root_of(covariance, given["C"] * (X.T @ X))
    whitened = np.ascontiguousarray(linalg.solve_triangular(root, X.T, lower=True, check_finite=False).T)
    a, w = np.zeros(len(lesson.y)), root.T @ centre
    for _ in range(given["max_inner_iter"]):
        ascend(whitened, lesson.y, given["C"] * search.cost, given["squared"], a, w)
    return Group(ids, root).mean(w)
