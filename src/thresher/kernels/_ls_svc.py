"""The least-squares support vector machine: one factorisation, for all classes and all rows left out."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import Target, one_blas_thread
from .._estimators import Advice, GoodFor, KernelClassifier, WeighsLosses, param
from .._gate import (
    Array,
    Log,
    beside,
    boolean,
    check_value,
    class_weights,
    fraction,
    is_finite,
    is_foreign_array,
    linalg,
    namespace,
    on_host,
)
from .._kernels import solve_definite

_EXACT = 5_000  # rows up to which comparing all of them takes seconds


class LSSVC(WeighsLosses, KernelClassifier):
    r"""Least-squares support vector classifier: a kernel machine that solves one linear system.

    Minimises

    .. math:: \frac12 \|w\|^2 + \frac{C}{2} \sum_i v_i e_i^2 \qquad\text{with}\qquad
              y_i (\langle w, \varphi(x_i)\rangle + b) = 1 - e_i ,

    whose optimality conditions are :math:`(K + D)\, a + b\, 1 = y` and :math:`1^\top a = 0`, with
    :math:`D = \mathrm{diag}(1 / (C v_i))`. It is about as accurate as scikit-learn's ``SVC``, has an exact solution,
    and estimates its own error (``loo_error_``). Choose it as a baseline for up to a few thousand rows. It keeps all of
    them: if predictions must be fast or there are many rows, put :class:`FixedSizeNystroem` before a linear learner
    with squared loss, which is its fixed-size form (second example). Like all methods with a squared loss, it is
    sensitive to wrong labels.

    Attributes
    ----------
    loo_error_ : float
        Leave-one-out error: the weighted share of rows that a machine trained without them would misclassify, in closed
        form. It estimates the error on new rows without folds; use it to compare values of ``C`` and ``gamma``.

    Notes
    -----
    One Cholesky factorisation of :math:`K + D` serves all classes (one-vs-rest), and its inverse gives the
    leave-one-out scores: with :math:`u = (K + D)^{-1} 1` and :math:`q_i = (K + D)^{-1}_{ii} - u_i^2 / 1^\top u`, the
    score of row i without it is :math:`y_i - a_i / q_i` [2]_. :math:`O(n^3)`, and :math:`O(n)` kernel values for a
    prediction.

    References
    ----------
    .. [1] J. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural Processing Letters
       9, 1999.
    .. [2] G. Cawley and N. Talbot, "Fast exact leave-one-out cross-validation of sparse least-squares support vector
       machines", Neural Networks 17, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from thresher.kernels import LSSVC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> X_test, y_test = make_moons(1000, noise=0.2, random_state=1)
    >>> model = LSSVC(C=10.0, gamma=1.0).fit(X, y)
    >>> model.score(X_test, y_test) > 0.95, model.loo_error_ < 0.05
    (True, True)

    The fixed-size form: 35 landmarks instead of 300 rows.

    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from thresher.kernels import FixedSizeNystroem
    >>> small = make_pipeline(FixedSizeNystroem(gamma=1.0, n_components=35, random_state=0), RidgeClassifier(alpha=0.1))
    >>> small.fit(X, y).score(X_test, y_test) > 0.95
    True
    """

    _advice = Advice(
        GoodFor(2, aim="curved"),
        GoodFor(1, when=lambda p: p.is_table and not p.wants_sparsity and p.n_rows <= _EXACT, kind="kernel"),
        start=lambda p: {"C": 10.0},
    )

    C: float = param(default=1.0, doc=r"Weight of the losses (:math:`\gamma` in [1]_).", search=Log(1e-2, 1e3))
    fit_intercept: bool = param(
        default=True,
        rule=boolean,
        doc="""Fit a constant term. Without it, the coefficients are those of kernel ridge regression on the signs, with
        ``alpha = 1 / C``.""",
    )
    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="Weights of the classes, which multiply the row weights (:math:`v`).",
    )
    cache_size: float = param(
        default=500,
        doc="Memory for the kernel matrix in megabytes. It must fit as a whole; 500 MB are enough for 8000 rows.",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("loo_error_",)
    _takes_arrays: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Solve the linear system of all rows."""
        rows, target, weight, there = self._take_classes(X, y, sample_weight)
        signs = _signs(target)[there]
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            K = self._whole_gram(self._some(rows, there))
            found = least_squares(K, signs, 1.0 / (self.C * weight[there]), self.fit_intercept)
        if found is None:
            raise ValueError(
                f"{type(self).__name__}: the kernel matrix with 1 / C added to its diagonal must be positive definite; "
                f"choose another kernel, or a smaller C than {self.C!r}."
            )
        self._keep(X, rows, there, found.coef.T)
        self._commit_target(target)
        self.intercept_ = found.intercept
        guesses = self._read_scores(self._shape_scores(on_host(found.left_out)))
        wrong = guesses != self.classes_[target.y.astype(np.intp)[there]]
        self.loo_error_ = float(np.average(wrong, weights=weight[there]))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_value(type(self).__name__, "loo_error_", self.loo_error_, fraction)


class LeastSquares(NamedTuple):
    """Coefficients of rows and constants, a column per output; and the scores of rows that were left out."""

    coef: Array
    intercept: Array
    left_out: Array


def least_squares(K: Array, targets: Array, ridge: Array, with_intercept: bool) -> LeastSquares | None:
    """The solution of (K + diag(ridge)) a + b 1 = t with 1'a = 0 (or b = 0), for every column t of the targets; None
    where the matrix is not positive definite."""
    xp = namespace(K)
    targets, ridge = beside(targets, K), beside(ridge, K)
    solved = (_solved_where_it_lies if is_foreign_array(K) else _solved)(K, targets, ridge)
    if solved is None:
        return None
    (a, u, q), b = solved, xp.zeros_like(targets[0, :])
    if with_intercept:
        b = xp.sum(a, axis=0) / xp.sum(u)
        a -= u[:, None] * b[None, :]
        q -= u**2 / xp.sum(u)  # of the inverse of the whole system, with its row for the constant
    with np.errstate(all="ignore"):
        left_out = targets - a / q[:, None]
    if not (is_finite(a) and is_finite(b)):
        return None
    known = xp.isfinite(left_out)
    return LeastSquares(a, b, xp.where(known, left_out, xp.zeros_like(left_out)))  # of a row alone nothing is known


def _solved(K: Array, targets: Array, ridge: Array) -> tuple[Array, Array, Array] | None:
    """The solutions of (K + diag(ridge)) a = t and of (K + diag(ridge)) u = 1, and the diagonal of the inverse."""
    A = K.copy(order="F")
    A[np.diag_indices_from(A)] += ridge
    factor, failed = linalg.lapack.dpotrf(A, lower=True, overwrite_a=True)  # zeros above the diagonal
    if failed or not np.isfinite(factor.diagonal()).all():
        return None
    a = linalg.cho_solve((factor, True), targets)
    u = linalg.cho_solve((factor, True), np.ones(len(K)))
    root, _ = linalg.lapack.dtrtri(factor, lower=True, overwrite_c=True)
    return a, u, np.einsum("ij,ij->j", root, root)  # the inverse is root' root


def _solved_where_it_lies(K: Any, targets: Any, ridge: Any) -> tuple[Any, Any, Any] | None:
    """The same in arrays of another library."""
    xp = namespace(K)
    found = solve_definite(K, ridge, xp.concat([targets, xp.ones_like(targets[:, :1])], axis=1))
    return None if found is None else (found[0][:, :-1], found[0][:, -1], found[1])


def _signs(target: Target) -> Array:
    """+1 for the class of an output, -1 for all others; a column per output."""
    outputs = (target.positive(k) for k in range(target.n_outputs))
    return np.stack([np.where(target.y == positive, 1.0, -1.0) for positive in outputs], axis=1)
