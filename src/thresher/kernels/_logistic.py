"""Logistic regression of rows in memory: Newton's method, with a bound on what is left to gain."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._estimators import Advice, param, warn_of_convergence
from .._gate import (
    Array,
    Log,
    as_float64,
    at_least,
    beside,
    check_value,
    is_foreign_array,
    namespace,
    non_negative,
    on_host,
    positive,
    row_blocks,
    sparse,
    zeros,
)
from ._least_squares import MODERATE, as_dense, eigen, scale_of
from ._linear_head import LinearHeadClassifier, LinearSolution

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_ENOUGH = 1e-4  # of what the slope promises, a step must gain
_HALVINGS = 40
_MOST_MOVES = 50  # of the constant alone


class LogisticClassifier(LinearHeadClassifier):
    r"""Linear logistic regression of rows in memory, solved to a known precision.

    Minimises

    .. math:: \frac{1}{\sum_i s_i} \sum_i s_i \log(1 + e^{-y_i (w^\top x_i + b)}) + \alpha \|w\|^2

    for each class, with targets of 1 for its rows and -1 for the others, and :math:`s_i` the row weights. Choose it
    behind :class:`FixedSizeNystroem` in place of :class:`LeastSquaresClassifier` if rows far on the right side of the
    boundary must not count, and if scores shall be log-odds. It takes about ten times as long, and you have to choose
    ``alpha``. Rows on a GPU are learned from there. For streams, and for rows that do not fit into memory, choose
    :class:`~thresher.stochastic.PegasosClassifier` with ``loss="log"``.

    Attributes
    ----------
    gap_ : float
        No weights have an objective that is lower by more than this.
    n_iter_ : int
        Newton steps, of the class that took most.

    Notes
    -----
    Each step of Newton's method solves one linear system in the features, or in the rows where these are fewer: O(n p
    min(n, p)). With the best constant for the weights, the objective is strongly convex in them, so that it is at most
    :math:`\|g\|^2 / (4 \alpha)` above its minimum, with :math:`g` the gradient.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.pipeline import make_pipeline
    >>> from thresher.kernels import FixedSizeNystroem, LogisticClassifier
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> X_test, y_test = make_moons(1000, noise=0.2, random_state=1)
    >>> landmarks = FixedSizeNystroem(gamma=1.0, n_components=35, random_state=0)
    >>> model = make_pipeline(landmarks, LogisticClassifier()).fit(X, y)
    >>> model.score(X_test, y_test) > 0.95, model[-1].gap_ < 1e-10
    (True, True)
    """

    gap_: float
    n_iter_: int

    _advice = Advice()

    alpha: float = param(
        default=1e-4,
        rule=positive,
        doc=r"Strength of the penalty (:math:`\alpha`).",
        search=Log(1e-8, 1.0),
        kw_only=False,
    )
    tol: float = param(default=1e-12, rule=positive, doc="Stop when the objective can fall by no more than this.")
    max_iter: int = param(default=100, rule=at_least(1), doc="Most Newton steps; about ten are usual.")

    _fitted: ClassVar[tuple[str, ...]] = ("gap_", "n_iter_")

    def _solve(self, rows: Any, columns: Array, weight: Array) -> LinearSolution:
        who = type(self).__name__
        there = columns[weight > 0]
        if (there == there[0]).all(axis=0).any():
            raise ValueError(f"{who}: sample_weight must be above zero for at least one row of every class.")
        found = logistic(
            rows, columns, weight, float(self.alpha), self.fit_intercept, float(self.tol), int(self.max_iter)
        )
        if not found.gap <= self.tol:
            warn_of_convergence(
                f"{who}: not converged, the objective may be {found.gap:.2g} above its minimum; raise max_iter or "
                "alpha, or scale the features to about 1.",
                stacklevel=4,
            )
        return LinearSolution(
            found.coef, found.intercept, {"gap_": min(found.gap, math.log(2.0)), "n_iter_": found.n_iter}
        )

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_value(type(self).__name__, "gap_", self.gap_, non_negative)
        check_value(type(self).__name__, "n_iter_", self.n_iter_, at_least(0))


class Logistic(NamedTuple):
    """Weights, a row per output, constants, a bound on what could be gained, and the steps made."""

    coef: Array
    intercept: Array
    gap: float
    n_iter: int


def logistic(
    X: Any, signs: Array, weight: Array, alpha: float, with_intercept: bool, tol: float, max_iter: int
) -> Logistic:
    """The least mean logistic loss with a penalty, for every column of signs."""
    X = as_float64(X) if is_foreign_array(X) else X.astype(np.float64)
    unit = scale_of(X.data if sparse.issparse(X) else X)
    unit = 1.0 if abs(math.log2(unit)) <= MODERATE else unit
    X = X if unit == 1 else X / unit
    share = beside(weight / weight.sum(), X)
    rows = _CentredRows(X, share @ X if with_intercept else zeros((X.shape[1],), X))
    features = rows if X.shape[1] <= X.shape[0] else rows.turned()
    problem = _Problem(features, share, alpha / unit / unit, with_intercept)
    runs = [problem.minimise(beside(np.ascontiguousarray(side), X), tol, max_iter) for side in signs.T]
    xp = namespace(X)
    coef = xp.stack([features.weights(run.w) for run in runs])
    constants = beside(np.array([run.b for run in runs]), X)
    intercept = constants - coef @ rows.middle
    return Logistic(coef / unit, intercept, max(run.gap for run in runs), max(run.n_iter for run in runs))


class _CentredRows:
    """Rows less their means, which are subtracted as they are used where the rows are sparse or elsewhere."""

    def __init__(self, X: Any, middle: Any) -> None:
        self.X, self.middle = X, middle
        self._is_moved = not sparse.issparse(X) and not is_foreign_array(X)
        if self._is_moved:
            self.X = X - middle
        self.shape = X.shape

    def times(self, w: Any) -> Any:
        """The score of each row."""
        scores = self.X @ w
        return scores if self._is_moved else scores - self.middle @ w

    def summed(self, g: Any) -> Any:
        """The sum of the rows, times numbers."""
        sums = self.X.T @ g
        return sums if self._is_moved else sums - self.middle * namespace(g).sum(g)

    def weights(self, w: Any) -> Any:
        """The weights of features for those of the columns."""
        return w

    def curvature(self, d: Any) -> Any:
        """The sum of the products of rows with themselves, times numbers of at least 0."""
        if sparse.issparse(self.X):
            root = sparse.diags_array(np.sqrt(d)) @ self.X
            sums = self.X.T @ d
            cross = np.outer(sums, self.middle)
            return as_dense(root.T @ root) - cross - cross.T + d.sum() * np.outer(self.middle, self.middle)
        if self._is_moved:
            scaled = self.X * np.sqrt(d)[:, None]
            return scaled.T @ scaled
        A = zeros((self.shape[1], self.shape[1]), self.X)
        for part in row_blocks(self.shape, self.X):
            moved = self.X[part, :] - self.middle
            A += (moved * d[part][:, None]).T @ moved
        return (A + A.T) / 2

    def turned(self) -> _Turned:
        """The rows in coordinates of the space that they span, of fewer columns."""
        X, middle = self.X, self.middle
        if self._is_moved or is_foreign_array(X):
            moved = X if self._is_moved else X - middle
            K = moved @ moved.T
        else:
            products = X @ middle
            K = as_dense(X @ X.T) - products[:, None] - products[None, :] + middle @ middle
        values, vectors = eigen(K)
        xp = namespace(values)
        kept = np.flatnonzero(on_host(values) > _EPS * self.shape[0] * max(float(xp.max(values)), _TINY))
        first = int(kept[0]) if len(kept) else self.shape[0] - 1  # eigenvalues rise
        roots = xp.sqrt(xp.clip(values[first:], _TINY, None))
        return _Turned(self, vectors[:, first:], roots)


class _Turned(_CentredRows):
    """Rows in coordinates of their own: R w has the scores of the rows for ``weights(w)``."""

    def __init__(self, rows: _CentredRows, vectors: Any, roots: Any) -> None:
        R = vectors * roots
        super().__init__(R, zeros((R.shape[1],), R))
        self._rows, self._back = rows, vectors / roots

    def weights(self, w: Any) -> Any:
        return self._rows.summed(self._back @ w)


class _Run(NamedTuple):
    w: Any
    b: float
    gap: float
    n_iter: int


class _Problem(NamedTuple):
    """The sum of ``share * log(1 + exp(-y f))`` and ``alpha |w|^2``, with f = R w + b."""

    rows: _CentredRows
    share: Any
    alpha: float
    with_intercept: bool

    def minimise(self, y: Any, tol: float, max_iter: int) -> _Run:
        """Newton's method. A step is halved until it gains; then the constant moves to where it is best."""
        xp = namespace(y)
        w = zeros((self.rows.shape[1],), self.share)
        b, f = self._best_constant(y, xp.zeros_like(y), 0.0)
        value, n_iter, gap = self._value(y, f, w), 0, math.inf
        while True:
            g, d = self._slopes(y, f)
            gradient = self.rows.summed(g) + 2 * self.alpha * w
            before, gap = gap, float(gradient @ gradient) / (4 * self.alpha)
            if gap <= tol or n_iter == max_iter:
                return _Run(w, b, gap, n_iter)
            step, move = self._newton(gradient, g, d)
            change = self.rows.times(step) + move
            promised = float(g @ change + 2 * self.alpha * (w @ step))
            length = self._length(y, f, change, w, step, value, promised)
            if length == 0 or (gap >= before and -promised <= _EPS * value):  # all that rounding leaves
                return _Run(w, b, gap, n_iter)
            w = w + length * step
            b, f = self._best_constant(y, f + length * change, b + length * move)
            value, n_iter = self._value(y, f, w), n_iter + 1

    def _value(self, y: Any, f: Any, w: Any) -> float:
        xp = namespace(f)
        return float(self.share @ xp.logaddexp(xp.zeros_like(f), -y * f)) + self.alpha * float(w @ w)

    def _slopes(self, y: Any, f: Any) -> tuple[Any, Any]:
        """The first and the second derivative of each loss by its score."""
        xp, margin = namespace(f), y * f
        wrong = xp.exp(-xp.logaddexp(xp.zeros_like(f), margin))
        right = xp.exp(-xp.logaddexp(xp.zeros_like(f), -margin))
        return -y * self.share * wrong, self.share * wrong * right

    def _newton(self, gradient: Any, g: Any, d: Any) -> tuple[Any, float]:
        """The steps of the weights and of the constant, which is eliminated."""
        xp, total = namespace(d), max(float(namespace(d).sum(d)), _TINY)
        A = self.rows.curvature(d)
        mean = self.rows.summed(d) / total if self.with_intercept else xp.zeros_like(gradient)
        A = A - total * mean[:, None] * mean[None, :]
        least = 2 * self.alpha + _EPS * float(xp.max(xp.linalg.diagonal(A))) + _TINY
        A = A + least * xp.eye(A.shape[0], dtype=A.dtype, device=A.device)
        slope = float(xp.sum(g)) if self.with_intercept else 0.0
        step = -xp.linalg.solve(A, (gradient - slope * mean)[:, None])[:, 0]
        return step, -slope / total - float(mean @ step) if self.with_intercept else 0.0

    def _length(self, y: Any, f: Any, change: Any, w: Any, step: Any, value: float, promised: float) -> float:
        """The part of a step to make: 1, unless that gains too little; 0 where nothing is to be gained."""
        length = 1.0
        for _ in range(_HALVINGS):
            reached = self._value(y, f + length * change, w + length * step)
            if reached <= value + _ENOUGH * length * promised + 4 * _EPS * value:
                return length
            length /= 2
        return 0.0

    def _best_constant(self, y: Any, f: Any, b: float) -> tuple[float, Any]:
        """The constant at which the loss is least for these weights, and the scores with it."""
        if not self.with_intercept:
            return b, f
        xp, least = namespace(f), math.inf
        for _ in range(_MOST_MOVES):
            g, d = self._slopes(y, f)
            slope, bend = float(xp.sum(g)), float(xp.sum(d))
            if not abs(slope) < least or bend <= _TINY:
                break
            least = abs(slope)
            move = min(max(-slope / bend, -1.0), 1.0)  # farther, the curve may have turned
            f, b = f + move, b + move
        return b, f
