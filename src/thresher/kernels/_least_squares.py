"""Least squares with a ridge penalty, linear in the features: one decomposition, for all outputs and all penalties."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _gate
from .._engine import Target, one_blas_thread
from .._estimators import (
    Advice,
    CalibratedOnFolds,
    Estimator,
    GoodFor,
    LearningProblem,
    LinearClasses,
    ReadsValues,
    WeighsClasses,
    check_is_fitted,
    param,
)
from .._gate import (
    Array,
    as_float64,
    auto,
    beside,
    boolean,
    check_params,
    is_finite,
    is_foreign_array,
    linalg,
    namespace,
    on_host,
    positive,
    row_blocks,
    sparse,
    zeros,
)

_MOST = 10_000  # features or rows, whichever are fewer: the matrix that is decomposed has as many rows
_PENALTIES = np.logspace(-10, 1, 34)  # of "auto", in units of the largest eigenvalue
_TOLD = 1e-3  # of the rows that must be left over beside the parameters in use
_TINY = 1e-9  # of the spread of targets: smaller errors are rounding errors
_MODERATE = 100  # powers of 2: fourth powers of values within that stay in the range of floating point
_FEW = 20  # columns whose pairs can all be tried


def _takes_landmarks(problem: LearningProblem) -> bool:
    return problem.is_table and not problem.wants_sparsity


class _LeastSquares(Estimator):
    """Weights with the least squared error and penalty. A subclass reads targets and turns them into columns."""

    coef_: Array
    intercept_: Array
    alpha_: float
    n_features_in_: int

    alpha: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Strength of the penalty (:math:`\alpha`). ``"auto"`` tries {len(_PENALTIES)} values and takes the one
        with the smallest generalised cross-validation error [1]_, at almost no extra cost.""",
        kw_only=False,
    )
    fit_intercept: bool = param(default=True, rule=boolean, doc="Fit a constant term, which has no penalty.")

    _fitted: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "coef_", "intercept_", "alpha_")
    _takes_arrays: ClassVar[bool] = True

    def _columns(self, target: Target) -> Array:
        """The targets, one column per output."""
        raise NotImplementedError

    def _shaped(self, coef: Array) -> Array:
        """Weights of shape (n_outputs, n_features) as users see them."""
        return coef

    def _finish(self, X: Any, y: Any, target: Target, sample_weight: Any) -> None:
        """Keep what else was learned."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights, and the penalty if that is ``"auto"``."""
        who = type(self).__name__
        check_params(self, self._param_rules)
        rows = _gate.check_matrix(self, X, reset=True)
        target = self._read_all(y, rows.shape[0])  # type: ignore[attr-defined]
        weight = self._weigh(_gate.check_weights(sample_weight, rows.shape[0], who), target)  # type: ignore[attr-defined]
        weight = np.ones(rows.shape[0]) if weight is None else weight
        if not weight.any():
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        if min(rows.shape) > _MOST:
            raise ValueError(f"{who}: X must have at most {_MOST:,} rows or columns, got {rows.shape}.")
        with one_blas_thread():  # the same bits, whatever the number of threads
            found = ridge(
                rows,
                self._columns(target),
                weight,
                None if self.alpha == "auto" else float(self.alpha),
                self.fit_intercept,
            )
        if not is_finite(found.coef):
            raise FloatingPointError(f"{who}: the weights outgrew floating point; scale the features to about 1.")
        _gate.commit_features(self, X, rows.shape[1])
        self.coef_, self.intercept_, self.alpha_ = self._shaped(found.coef), found.intercept, found.alpha
        self._finish(X, y, target, sample_weight)
        return self

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = _gate.check_matrix(self, X, reset=False)
        coef, intercept = (beside(values, rows) for values in (self.coef_, self.intercept_))
        coef = coef if coef.ndim == 2 else coef[None, :]
        if is_foreign_array(rows):
            return as_float64(rows) @ coef.T + intercept
        return np.asarray(rows @ coef.T + intercept)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _gate.check_loaded_features(self)
        n_outputs = self._n_outputs()
        shape = (n_outputs, self.n_features_in_) if np.ndim(self.coef_) == 2 else (self.n_features_in_,)
        _gate.check_loaded_arrays(self, {"coef_": shape, "intercept_": (n_outputs,)})
        if not positive.holds(self.alpha_):
            raise ValueError(f"{type(self).__name__}: alpha_ must be a number above 0.")

    def _n_outputs(self) -> int:
        return 1


class LeastSquaresClassifier(LinearClasses, CalibratedOnFolds, WeighsClasses, _LeastSquares):
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

    def _columns(self, target: Target) -> Array:
        codes = [target.positive(output) for output in range(target.n_outputs)]
        return np.where(target.y[:, None] == np.array(codes, dtype=np.float64), 1.0, -1.0)

    def _finish(self, X: Any, y: Any, target: Target, sample_weight: Any) -> None:
        self._commit_target(target)
        self._score_folds(X, y, sample_weight)

    def _score_table(self, X: Any) -> Array:
        return self._scores(X)

    def _n_curves(self) -> int:
        return int(self.intercept_.shape[0])

    def _n_outputs(self) -> int:
        return Target(on_host(self.intercept_), self.classes_).n_outputs

    def _check_loaded(self) -> None:
        _gate.check_loaded(self.classes_, type(self).__name__)
        super()._check_loaded()
        self._check_counts()

    _fitted: ClassVar[tuple[str, ...]] = ("classes_",)


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
    of_X, of_targets = _scale(X.data if sparse.issparse(X) else X), _scale(targets)
    if is_foreign_array(X) and abs(math.log2(of_X)) <= _MODERATE:
        of_X = 1.0  # no copy
    penalty = None if alpha is None else alpha / of_X / of_X
    scaled = X if of_X == 1 else X / of_X
    found = _scaled_ridge(scaled, targets / of_targets, weight, penalty, with_intercept)
    with np.errstate(over="ignore"):  # weights that outgrow floating point are for the caller to refuse
        coef = found.coef * of_targets / of_X
    used = max(found.alpha * of_X * of_X, np.finfo(np.float64).tiny) if alpha is None else alpha
    return Ridge(coef, found.intercept * of_targets, used)


def _scale(values: Array) -> float:
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
        values, vectors = _eigh(A)
        parts = vectors.T @ B
    else:
        products = X @ middle
        A = _dense(X @ X.T) - products[:, None] - products[None, :] + middle @ middle
        A *= root[:, None] * root[None, :]
        values, vectors = _eigh(A)
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
        return _dense(scaled.T @ scaled) - np.outer(means, means), X.T @ (share[:, None] * T)
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


def _eigh(A: Any) -> tuple[Any, Any]:
    if is_foreign_array(A):
        return tuple(namespace(A).linalg.eigh(A))
    return linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)


def _dense(A: Any) -> Any:
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
