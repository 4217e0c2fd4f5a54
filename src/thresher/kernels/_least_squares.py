"""Least squares with a ridge penalty, linear in the features: one decomposition, for all outputs and all penalties."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import Target
from .._estimators import Advice, GoodFor, LearningProblem, ReadsValues, param
from .._gate import (
    Array,
    as_float64,
    auto,
    beside,
    boolean,
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
_CONSTANT = 1e-12  # of the mean of a column: a smaller deviation is a rounding error
_TINY = 1e-9  # of the spread of targets: smaller errors are rounding errors
MODERATE = 100  # powers of 2: fourth powers of values within that stay in the range of floating point
_FEW = 20  # columns whose pairs can all be tried


def _takes_landmarks(problem: LearningProblem) -> bool:
    return problem.is_table and not problem.wants_sparsity


class _LeastSquares(LinearHead):
    """Weights with the least squared error and penalty."""

    alpha_: float
    scaled_: bool

    alpha: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Strength of the penalty (:math:`\alpha`). ``"auto"`` tries {len(_PENALTIES)} values and takes the one
        with the smallest generalised cross-validation error [1]_, at almost no extra cost.""",
        kw_only=False,
    )
    scale: Any = param(
        default="auto",
        rule=boolean | auto,
        doc="""Divide the columns of dense rows by their deviations, so that the penalty does not depend on their units;
        sparse rows stay as they are. The penalty then refers to scaled columns, and ``coef_`` to those of ``X``.
        ``"auto"`` takes the form with the smaller error of cross-validation if ``alpha`` is ``"auto"``, too, and does
        not scale otherwise.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("alpha_", "scaled_")

    def _solve(self, rows: Any, columns: Array, weight: Array) -> LinearSolution:
        alpha = None if self.alpha == "auto" else float(self.alpha)
        either = (False, True) if alpha is None else (False,)
        forms = either if self.scale == "auto" else (bool(self.scale),)
        found = ridge(rows, columns, weight, alpha, self.fit_intercept, forms)
        return LinearSolution(found.coef, found.intercept, {"alpha_": found.alpha, "scaled_": found.scaled})

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not positive.holds(self.alpha_):
            raise ValueError(f"{type(self).__name__}: alpha_ must be a number above 0.")
        if not boolean.holds(self.scaled_):
            raise ValueError(f"{type(self).__name__}: scaled_ must be True or False.")


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
    scaled_ : bool
        Whether it refers to scaled columns, see ``scale``.

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
    scaled_ : bool
        Whether it refers to scaled columns, see ``scale``.

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
    """Weights, a row per output, constants, and the penalty, which may refer to scaled columns."""

    coef: Array
    intercept: Array
    alpha: float
    scaled: bool


def ridge(
    X: Any,
    targets: Array,
    weight: Array,
    alpha: float | None,
    with_intercept: bool,
    forms: Sequence[bool] = (False,),
) -> Ridge:
    """The least mean squared error with a penalty, for every column of the targets; without `alpha`, the penalty by
    generalised cross-validation. `forms`: with scaled columns or without, or both, of which the better one is taken.
    """
    X = as_float64(X) if is_foreign_array(X) else X.astype(np.float64)
    of_X, of_targets = scale_of(X.data if sparse.issparse(X) else X), scale_of(targets)
    if is_foreign_array(X) and abs(math.log2(of_X)) <= MODERATE:
        of_X = 1.0  # no copy
    if sparse.issparse(X):
        forms = (False,)
    size = 1.0 if forms == (True,) else of_X  # of the columns that the penalty refers to
    penalty = None if alpha is None else alpha / size / size
    rows = X if of_X == 1 else X / of_X
    found = _moderate_ridge(rows, targets / of_targets, weight, penalty, with_intercept, forms)
    with np.errstate(over="ignore"):  # if weights overflow, the caller raises an error
        coef = found.coef * of_targets / of_X
    size = 1.0 if found.scaled else of_X
    used = max(found.alpha * size * size, np.finfo(np.float64).tiny) if alpha is None else alpha
    return Ridge(coef, found.intercept * of_targets, used, found.scaled)


def scale_of(values: Array) -> float:
    """The power of 2 in whose units values are about 1: fourth powers of them stay in the range of floating point."""
    if is_foreign_array(values):
        xp = namespace(values)
        parts = row_blocks(values.shape, values)
        largest = max(float(xp.max(xp.abs(values[part, :]))) for part in parts)
    else:
        largest = float(np.abs(values).max(initial=0.0))
    return 2.0 ** min(max(math.frexp(largest)[1], -1000), 1000)


class _Decomposed(NamedTuple):
    """A problem in terms of the eigenvectors of its features, or of its rows."""

    values: Array
    squares: Array
    """Of the covariances with the targets."""
    coef: Callable[[float], Array]
    """By penalty, a row per output."""


def _moderate_ridge(
    X: Any, targets: Array, weight: Array, alpha: float | None, with_intercept: bool, forms: Sequence[bool]
) -> Ridge:
    """The same for rows and targets of a size of about 1."""
    xp, total = namespace(X), float(weight.sum())
    share, targets = beside(weight / total, X), beside(targets, X)
    means, mean_targets = (
        (share @ X, share @ targets)
        if with_intercept
        else (zeros((X.shape[1],), X), zeros((targets.shape[1],), targets))
    )
    T = targets - mean_targets
    in_primal = X.shape[1] <= X.shape[0]
    if not sparse.issparse(X) and not (in_primal and is_foreign_array(X)):
        X = X - means
    sums = (_sums_by_blocks if is_foreign_array(X) else _sums)(X, T, share, means) if in_primal else None
    spread = float(share @ xp.sum(T**2, axis=1))
    found = []
    for scaled in forms:
        units = None
        if scaled:
            squares = share @ X**2 if sums is None else xp.sum(sums[0] * beside(np.eye(X.shape[1]), X), axis=0)
            units = _units(xp.sqrt(squares), means)
        parts = _in_rows(X, T, share, means, units) if sums is None else _in_features(sums[0], sums[1], units)
        penalty, error = (
            _best_penalty(on_host(parts.values), on_host(parts.squares), spread, total, with_intercept)
            if alpha is None
            else (alpha, 0.0)
        )
        found.append((error, penalty, parts, scaled))
    _, penalty, parts, scaled = min(found, key=lambda each: each[0])  # of equal ones, the first
    coef = parts.coef(penalty)
    intercept = mean_targets - coef @ means
    return Ridge(coef if is_foreign_array(coef) else np.ascontiguousarray(coef), intercept, penalty, scaled)


def _units(deviations: Any, means: Any) -> Any:
    """Factors that give columns a standard deviation of 1; constant columns have a factor of 1."""
    xp = namespace(deviations)
    varies = deviations > _CONSTANT * xp.abs(means)
    return xp.where(varies, 1 / xp.where(varies, deviations, xp.ones_like(deviations)), xp.ones_like(deviations))


def _in_features(A: Any, B: Any, units: Any) -> _Decomposed:
    xp = namespace(A)
    if units is not None:
        A, B = A * units[:, None] * units[None, :], B * units[:, None]
    values, vectors = eigen(A)
    values, parts = xp.clip(values, 0.0, None), vectors.T @ B

    def coef(alpha: float) -> Any:
        scaled = (vectors @ (parts / (values + alpha)[:, None])).T
        return scaled if units is None else scaled * units[None, :]

    return _Decomposed(values, xp.sum(parts**2, axis=1), coef)


def _in_rows(X: Any, T: Any, share: Any, means: Any, units: Any) -> _Decomposed:
    """Sparse rows stay as they are, and sums are moved; dense ones have a mean of 0."""
    xp = namespace(X)
    root = xp.sqrt(share)
    middle = means if sparse.issparse(X) else xp.zeros_like(means)
    Z = X if units is None else X * units[None, :]
    products = Z @ middle
    A = as_dense(Z @ Z.T) - products[:, None] - products[None, :] + middle @ middle
    A *= root[:, None] * root[None, :]
    values, vectors = eigen(A)
    values, seen = xp.clip(values, 0.0, None), vectors.T @ (root[:, None] * T)

    def coef(alpha: float) -> Any:
        rows = root[:, None] * (vectors @ (seen / (values + alpha)[:, None]))
        scaled = (Z.T @ rows - middle[:, None] * xp.sum(rows, axis=0)[None, :]).T
        return scaled if units is None else scaled * units[None, :]

    return _Decomposed(values, values * xp.sum(seen**2, axis=1), coef)


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


def _best_penalty(
    values: Array, squares: Array, spread: float, total: float, with_intercept: bool
) -> tuple[float, float]:
    """The penalty with the least error of generalised cross-validation, the strongest of equal ones, and this error."""
    top = float(values.max(initial=0.0))
    if top == 0:
        return 1.0, math.inf
    penalties = top * _PENALTIES[::-1]
    shrunk = values[None, :] + penalties[:, None]
    left = spread - (squares * (shrunk + penalties[:, None]) / shrunk**2).sum(axis=1)
    free = 1 - ((values / shrunk).sum(axis=1) + with_intercept) / total
    told = free > _TOLD  # where hardly a row is left over, both numbers are rounding errors
    errors = np.where(told, np.maximum(left, _TINY * spread) / np.where(told, free, 1.0) ** 2, np.inf)
    best = int(errors.argmin())
    return float(penalties[best]), float(errors[best])
