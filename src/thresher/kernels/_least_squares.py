"""Least squares with a ridge penalty, linear in the features: one decomposition, for all outputs and all penalties."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import Target
from .._estimators import Advice, GoodFor, LearningProblem, ReadsValues, param
from .._gate import (
    Array,
    as_float64,
    auto,
    beside,
    is_foreign_array,
    linalg,
    namespace,
    on_host,
    positive,
    row_blocks,
    sparse,
    zeros,
)
from ._linear_head import LinearHead, LinearHeadClassifier, LinearSolution

_PENALTIES = np.logspace(-10, 1, 34)  # of "auto", in units of the largest eigenvalue
_TOLD = 1e-3  # of the rows that must be left over beside the parameters in use
_TINY = 1e-9  # of the spread of targets: smaller errors are rounding errors
MODERATE = 100  # powers of 2: fourth powers of values within that stay in the range of floating point
_FEW = 20  # columns whose pairs can all be tried


def _takes_landmarks(problem: LearningProblem) -> bool:
    return problem.is_table and not problem.wants_sparsity


class _LeastSquares(LinearHead):
    """Weights with the least squared error and penalty."""

    alpha_: float

    alpha: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Strength of the penalty (:math:`\alpha`). ``"auto"`` tries {len(_PENALTIES)} values and takes the one
        with the smallest generalised cross-validation error [1]_, at almost no extra cost.""",
        kw_only=False,
    )

    _fitted: ClassVar[tuple[str, ...]] = ("alpha_",)

    def _solve(self, rows: Any, columns: Array, weight: Array) -> LinearSolution:
        found = ridge(rows, columns, weight, None if self.alpha == "auto" else float(self.alpha), self.fit_intercept)
        return LinearSolution(found.coef, found.intercept, {"alpha_": found.alpha})

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not positive.holds(self.alpha_):
            raise ValueError(f"{type(self).__name__}: alpha_ must be a number above 0.")


class LeastSquaresClassifier(_LeastSquares, LinearHeadClassifier):
    r"""Linear least-squares classification of rows in memory, with an automatic ridge penalty.

    Minimises

    .. math:: \frac{1}{\sum_i s_i} \sum_i s_i (y_i - w^\top x_i - b)^2 + \alpha \|w\|^2

    for each class, with targets of 1 for its rows and -1 for the others, and :math:`s_i` the row weights. The solution
    is exact, and there is nothing to tune. After :class:`FixedSizeNystroem` it is the fixed-size form of :class:`LSSVC`
    [2]_, for many more rows, and the best choice for kernel features. As a linear model of the columns themselves it is
    fast, but with more than two classes other learners separate them better.

    Attributes
    ----------
    alpha_ : float
        The penalty that was used.

    Notes
    -----
    One eigenvalue decomposition of the covariance of the features, or of the Gram matrix of the rows if there are fewer
    of them, serves all classes and penalties. With eigenvalues :math:`l_j` and :math:`n = \sum_i s_i` rows,
    :math:`\mathrm{df} = 1 + \sum_j l_j / (l_j + \alpha)` parameters are in use, and the error of generalised
    cross-validation is the mean squared error divided by :math:`(1 - \mathrm{df} / n)^2`. O(n p min(n, p)).

    References
    ----------
    .. [1] G. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for choosing a good ridge
       parameter", Technometrics 21, 1979.
    .. [2] K. De Brabanter, J. De Brabanter, J. Suykens and B. De Moor, "Optimized fixed-size kernel models for large
       data sets", Computational Statistics and Data Analysis 54, 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.pipeline import make_pipeline
    >>> from thresher.kernels import FixedSizeNystroem, LeastSquaresClassifier
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> X_test, y_test = make_moons(1000, noise=0.2, random_state=1)
    >>> landmarks = FixedSizeNystroem(gamma=1.0, n_components=35, random_state=0)
    >>> make_pipeline(landmarks, LeastSquaresClassifier()).fit(X, y).score(X_test, y_test) > 0.95
    True
    """

    _advice = Advice(
        *(GoodFor(1, when=_takes_landmarks, kind=kind) for kind in ("landmarks", "curved landmarks")),
    )


class LeastSquaresRegressor(ReadsValues, _LeastSquares):
    r"""Ridge regression of rows in memory, with an automatic penalty.

    The problem of :class:`LeastSquaresClassifier` with numbers as targets. Choose it as a baseline, after
    :class:`FixedSizeNystroem` for nonlinear relations, and for rows in memory in general; choose
    :class:`~thresher.stochastic.PegasosRegressor` for streams and for other losses.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Constant term.
    alpha_ : float
        The penalty that was used.

    References
    ----------
    .. [1] G. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for choosing a good ridge
       parameter", Technometrics 21, 1979.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from thresher.kernels import LeastSquaresRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LeastSquaresRegressor().fit(X[:300], y[:300])
    >>> round(model.score(X[300:], y[300:]), 1)
    0.5
    """

    _advice = Advice(
        GoodFor(
            0,
            "all rows fit in memory, and least squares has an exact solution with an automatic penalty",
            lambda p: p.is_table and not p.wants_sparsity,
        ),
        GoodFor(1, when=lambda p: p.is_table and not p.wants_sparsity, kind="additive"),
        GoodFor(1, when=lambda p: p.is_table and not p.wants_sparsity and p.n_features <= _FEW, kind="pairs"),
        *(GoodFor(1, when=_takes_landmarks, kind=kind) for kind in ("landmarks", "curved landmarks")),
    )

    def _columns(self, target: Target) -> Array:
        return target.y[:, None]

    def _shaped(self, coef: Array) -> Array:
        return coef[0, :]

    def predict(self, X: Any) -> Array:
        """Predict the value of each row."""
        return self._scores(X)[:, 0]


# --- the solution -----------------------------------------------------------------------------------------------------


class Ridge(NamedTuple):
    """Weights, a row per output, constants, and the penalty."""

    coef: Array
    intercept: Array
    alpha: float


def ridge(X: Any, targets: Array, weight: Array, alpha: float | None, with_intercept: bool) -> Ridge:
    """The least mean squared error with a penalty, for every column of the targets; without `alpha`, the penalty by
    generalised cross-validation."""
    X = as_float64(X) if is_foreign_array(X) else X.astype(np.float64)
    of_X, of_targets = scale_of(X.data if sparse.issparse(X) else X), scale_of(targets)
    if is_foreign_array(X) and abs(math.log2(of_X)) <= MODERATE:
        of_X = 1.0  # no copy
    penalty = None if alpha is None else alpha / of_X / of_X
    scaled = X if of_X == 1 else X / of_X
    found = _scaled_ridge(scaled, targets / of_targets, weight, penalty, with_intercept)
    with np.errstate(over="ignore"):  # if weights overflow, the caller raises an error
        coef = found.coef * of_targets / of_X
    used = max(found.alpha * of_X * of_X, np.finfo(np.float64).tiny) if alpha is None else alpha
    return Ridge(coef, found.intercept * of_targets, used)


def scale_of(values: Array) -> float:
    """The power of 2 in whose units values are about 1: fourth powers of them stay in the range of floating point."""
    if is_foreign_array(values):
        xp = namespace(values)
        parts = row_blocks(values.shape, values)
        largest = max(float(xp.max(xp.abs(values[part, :]))) for part in parts)
    else:
        largest = float(np.abs(values).max(initial=0.0))
    return 2.0 ** min(max(math.frexp(largest)[1], -1000), 1000)


def _scaled_ridge(X: Any, targets: Array, weight: Array, alpha: float | None, with_intercept: bool) -> Ridge:
    """The same for rows and targets of a size of about 1."""
    xp, total = namespace(X), float(weight.sum())
    share, targets = beside(weight / total, X), beside(targets, X)
    means, mean_targets = (
        (share @ X, share @ targets)
        if with_intercept
        else (zeros((X.shape[1],), X), zeros((targets.shape[1],), targets))
    )
    T = targets - mean_targets
    root = xp.sqrt(share)
    in_primal = X.shape[1] <= X.shape[0]
    if sparse.issparse(X):
        middle = means  # sparse rows stay as they are, and sums are moved
    else:
        middle = xp.zeros_like(means)
        X = X if in_primal and is_foreign_array(X) else X - means
    if in_primal:
        A, B = (_sums_by_blocks if is_foreign_array(X) else _sums)(X, T, share, means)
        values, vectors = eigen(A)
        parts = vectors.T @ B
    else:
        products = X @ middle
        A = as_dense(X @ X.T) - products[:, None] - products[None, :] + middle @ middle
        A *= root[:, None] * root[None, :]
        values, vectors = eigen(A)
        seen = vectors.T @ (root[:, None] * T)
        parts = xp.sqrt(xp.clip(values, 0.0, None))[:, None] * seen
    values = xp.clip(values, 0.0, None)
    if alpha is None:
        spread = float(share @ xp.sum(T**2, axis=1))
        alpha = _best_penalty(on_host(values), on_host(xp.sum(parts**2, axis=1)), spread, total, with_intercept)
    if in_primal:
        coef = (vectors @ (parts / (values + alpha)[:, None])).T
    else:
        rows = root[:, None] * (vectors @ (seen / (values + alpha)[:, None]))
        coef = (X.T @ rows - middle[:, None] * xp.sum(rows, axis=0)[None, :]).T
    intercept = mean_targets - coef @ means
    return Ridge(coef if is_foreign_array(coef) else np.ascontiguousarray(coef), intercept, alpha)


def _sums(X: Any, T: Array, share: Array, means: Array) -> tuple[Array, Array]:
    """The covariance of the features, of dense rows less their means, and that with the targets. T has mean 0, so that
    the means of X do not matter to the second."""
    root = np.sqrt(share)
    if sparse.issparse(X):
        scaled = sparse.diags_array(root) @ X
        return as_dense(scaled.T @ scaled) - np.outer(means, means), X.T @ (share[:, None] * T)
    scaled = X * root[:, None]
    return scaled.T @ scaled, X.T @ (share[:, None] * T)


def _sums_by_blocks(X: Any, T: Any, share: Any, means: Any) -> tuple[Any, Any]:
    """The same where the rows lie, and without a copy of them."""
    A, B = zeros((X.shape[1], X.shape[1]), X), zeros((X.shape[1], T.shape[1]), X)
    for part in row_blocks(X.shape, X):
        centred = X[part, :] - means
        weighted = (centred * share[part][:, None]).T
        A += weighted @ centred
        B += weighted @ T[part, :]
    return (A + A.T) / 2, B


def eigen(A: Any) -> tuple[Any, Any]:
    if is_foreign_array(A):
        return tuple(namespace(A).linalg.eigh(A))
    return linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)


def as_dense(A: Any) -> Any:
    if is_foreign_array(A):
        return A
    return np.asarray(A.todense() if sparse.issparse(A) else A, dtype=np.float64)


def _best_penalty(values: Array, squares: Array, spread: float, total: float, with_intercept: bool) -> float:
    """The penalty with the least error of generalised cross-validation: the strongest of equal ones."""
    top = float(values.max(initial=0.0))
    if top == 0:
        return 1.0
    penalties = top * _PENALTIES[::-1]
    shrunk = values[None, :] + penalties[:, None]
    left = spread - (squares * (shrunk + penalties[:, None]) / shrunk**2).sum(axis=1)
    free = 1 - ((values / shrunk).sum(axis=1) + with_intercept) / total
    told = free > _TOLD  # where hardly a row is left over, both numbers are rounding errors
    errors = np.where(told, np.maximum(left, _TINY * spread) / np.where(told, free, 1.0) ** 2, np.inf)
    return float(penalties[int(errors.argmin())])
