"""Base class of machines with many kernels: rows, the search for kernel weights, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _gate
from .._engine import Target, one_blas_thread
from .._estimators import MOST_COMPARED, Estimator, ReadsTargets, check_is_fitted, param, warn_of_convergence
from .._gate import Array, Log, Rule, at_least, boolean, check_params, positive
from .._kernels import Kernel, as_arrays, as_rows, kernel_scores
from . import _mkl_loaded
from ._given_kernels import take_matrices, take_square_matrices
from ._kernel_weights import WeightSet
from ._level import level_method
from ._simple_kernels import simple_mkl_kernels
from ._stack import GivenMatrices, MadeMatrices, Stack
from ._weight_search import Dual, Search, projected_gradient

_kernel_list = Rule(
    'None, "precomputed" or a list of kernels',
    lambda v: (
        v is None
        or (isinstance(v, str) and v == "precomputed")
        or (isinstance(v, (list, tuple)) and len(v) > 0 and all(isinstance(one, Kernel) for one in v))
    ),
    type='list of kernels or "precomputed"',
)


class KernelView(NamedTuple):
    """Rows as kernels see them, and the kernels, ready for them; neither where matrices are precomputed."""

    rows: Any
    kernels: list[Kernel]
    names: list[str]
    mean: Array | None = None
    scale: Array | None = None


class _SolvedKernels:
    """The types of the attributes that :meth:`fit` sets, and the solver of machines that offer no choice."""

    solver: str = "auto"
    n_features_in_: int
    kernels_: list[Kernel] | None
    kernel_names_: np.ndarray[Any, Any]
    weights_: Array
    factors_: Array
    mean_: Array | None
    scale_: Array | None
    support_: NDArray[np.int64]
    dual_coef_: Array
    intercept_: Array
    bounds_: Array
    n_svm_: int
    _support_rows: dict[str, NDArray[Any]]


class ManyKernelsMachine(_SolvedKernels, ReadsTargets, Estimator):
    r"""Base class: a subclass names its set of kernel weights and its dual problem.

    Attributes
    ----------
    weights_ : ndarray of shape (1, n_kernels) or (n_classes, n_kernels)
        Weights of the kernels (:math:`\theta`). One row when there are two classes, else each class has its own.
    kernels_, kernel_names_ : list, ndarray of str
        The kernels, ready for rows like those of the training, and their names.
    factors_ : ndarray of shape (n_kernels,)
        What each kernel is multiplied by: 1 over its trace.
    support_ : ndarray
        Rows with a coefficient other than 0; the others are forgotten.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients (:math:`\alpha \circ y`).
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant terms.
    bounds_ : ndarray of shape (1, 2) or (n_classes, 2)
        Two numbers between which the optimum lies.
    gap_ : float
        Their distance, as a part of the larger; the most of any class.
    n_svm_ : int
        Machines that were solved, of all classes together.
    history_ : list of ndarray of shape (n_machines, 2)
        The bounds after each machine, for every output. Not kept in files.
    mean_, scale_ : ndarray of shape (n_features,)
        What features were standardised by; None without.
    n_features_in_ : int
        Number of features; of precomputed kernels, that of training rows.
    """

    kernels: Any = param(
        default=None,
        rule=_kernel_list,
        doc="""Kernels of :mod:`thresher.kernels`, mostly on some columns each; by default :func:`simple_mkl_kernels`.
        Each is divided by its trace on the training rows. With ``"precomputed"``, ``X`` holds the matrices: of shape
        (n_kernels, n, n) to learn from, (n_kernels, n_rows, n) to predict, divided by the traces of the first.""",
        kw_only=False,
    )
    C: float = param(
        default=100.0,
        rule=positive,
        doc="""Weight of the losses (:math:`C`). Kernels have trace 1, so that it must be large, and it matters more
        than the kind of norm: tune it.""",
        search=Log(1.0, 1e4),
        kw_only=False,
    )
    tol: float = param(
        default=1e-3,
        rule=positive,
        doc="Stop when the bounds of the objective are no further apart than this part of it.",
    )
    standardise: bool = param(
        default=True,
        rule=boolean,
        doc="""Bring every feature to mean 0 and deviation 1 by what the training rows say, before kernels see it; rows
        become dense then. The default kernels count on it.""",
    )
    max_svm: int = param(default=500, rule=at_least(1), doc="Most machines that are solved, for each class.")
    cache_size: float = param(
        default=500,
        rule=positive,
        doc="""Megabytes for kernel matrices, of which half is kept; those that do not fit are computed anew whenever
        they are needed.""",
    )

    _max_rows: ClassVar[int] = MOST_COMPARED
    _fitted: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "kernels_", "kernel_names_", "weights_", "factors_", "mean_"),
        *("scale_", "support_", "dual_coef_", "intercept_", "bounds_", "n_svm_", "_support_rows"),
    )

    def _weight_set(self) -> WeightSet:
        raise NotImplementedError

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        raise NotImplementedError

    # --- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights of the kernels, and the machine that goes with them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernels="precomputed"``, an array of shape (n_kernels, n_samples, n_samples).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0, which stand for copies of a row: only their ratios matter. A row of weight 0 is
            absent.

        Returns
        -------
        self
        """
        who = type(self).__name__
        check_params(self, self._param_rules)
        exact: list[bool] = []
        if self._is_precomputed:
            given, exact = take_square_matrices(X, who)
        else:
            given = _gate.check_matrix(self, X, reset=True)
        n_rows = given.shape[-2]
        target = self._read_all(y, n_rows)
        weight = _gate.check_weights(sample_weight, n_rows, who)
        counts = np.ones(n_rows) if weight is None else weight
        present = np.flatnonzero(counts)
        if not len(present):
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        factors = self._weigh(weight, target)
        costs = float(self.C) * (counts if factors is None else factors)[present]
        target = target._replace(y=target.y[present])
        with one_blas_thread():
            view = self._see(X, given, counts)
            source = (
                GivenMatrices(given, present, exact)
                if self._is_precomputed
                else MadeMatrices(view.kernels, view.rows[present])
            )
            stack = Stack(source, counts[present], self.cache_size)
            found = [self._search(stack, self._dual(target, k, costs)) for k in range(target.n_outputs)]
        coef = np.zeros((len(found), n_rows))
        coef[:, present] = [search.best.x for search in found]
        _gate.commit_features(self, np.empty((0, 0)) if self._is_precomputed else X, given.shape[-1])
        self._commit_target(target)
        self._keep(view, stack, found, coef)
        self._look_back(found)
        return self

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str)

    def _see(self, X: Any, rows: Any, counts: Array) -> KernelView:
        if self._is_precomputed:
            return KernelView(None, [], [f"kernel {q + 1}" for q in range(len(rows))])
        names = list(map(str, X.columns)) if hasattr(X, "columns") else None
        mean = scale = None
        if self.standardise:
            rows = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
            share = counts / counts.sum()
            mean = share @ rows
            spread = np.sqrt(share @ (rows - mean) ** 2)
            scale = np.where(spread > 1e-12 * np.abs(mean), spread, 1.0)
            rows = (rows - mean) / scale
        asked: Sequence[Kernel] = simple_mkl_kernels(rows) if self.kernels is None else self.kernels
        kernels = [kernel.settled(rows[np.flatnonzero(counts)], names) for kernel in asked]
        called = names or [f"x{j + 1}" for j in range(rows.shape[1])]
        return KernelView(rows, kernels, [kernel.describe(called) for kernel in kernels], mean, scale)

    def _search(self, stack: Stack, dual: Dual) -> Search:
        solver = self.solver
        search = Search(stack, dual, self._weight_set(), float(self.tol), int(self.max_svm))
        if solver != "level":
            projected_gradient(search, patient=solver == "spg")
        if solver != "spg":
            level_method(search)
        return search

    def _keep(self, view: KernelView, stack: Stack, found: list[Search], coef: Array) -> None:
        used = np.flatnonzero(coef.any(axis=0))
        self.kernels_ = None if self._is_precomputed else view.kernels
        self.kernel_names_ = np.array(view.names, dtype=object)
        self.weights_, self.factors_ = np.stack([search.best.theta for search in found]), stack.factors
        self.mean_, self.scale_ = view.mean, view.scale
        self.support_, self.dual_coef_ = used, np.ascontiguousarray(coef[:, used])
        self.intercept_ = np.array([search.best.intercept for search in found])
        self.bounds_ = np.array([(search.lower, search.upper) for search in found])
        self.n_svm_ = sum(len(search.history) for search in found)
        self.history_ = [np.array(search.history) for search in found]
        self._support_rows = {} if self._is_precomputed else as_arrays(view.rows[used])

    def _look_back(self, found: list[Search]) -> None:
        if not all(search.converged for search in found):
            warn_of_convergence(
                f"{type(self).__name__}: the bounds are {self.gap_:.2g} of the objective apart after {self.max_svm} "
                f"machines, more than tol={self.tol:g}; raise max_svm, lower C, or be content with less.",
                stacklevel=3,
            )

    @property
    def gap_(self) -> float:
        """The distance of the bounds of the objective, as a part of the upper one; the largest over the outputs."""
        check_is_fitted(self)
        lower, upper = self.bounds_.T
        size = np.maximum(np.abs(upper), np.finfo(np.float64).tiny)
        return float(np.max(np.maximum(upper - lower, 0.0) / size))

    @property
    def support_vectors_(self) -> Any:
        """The rows that the model keeps, as kernels see them; none where kernels are precomputed."""
        check_is_fitted(self)
        if self.kernels_ is None:
            return np.empty((0, 0))
        return as_rows(self._support_rows, (len(self.support_), self.n_features_in_))

    # --- scores ------------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Array:
        """Of shape (n_rows, n_outputs). Kernels of weight 0 are not looked at."""
        check_is_fitted(self)
        used = np.flatnonzero(self.weights_.any(axis=0) & (self.factors_ > 0))
        if self.kernels_ is None:
            matrices = take_matrices(X, type(self).__name__, (len(self.factors_), self.n_features_in_))
            scores = np.zeros((matrices.shape[1], len(self.intercept_)))
            for q in used.tolist():
                scores += matrices[q][:, self.support_].astype(np.float64, copy=False) @ self._coef_of(q).T
            return scores + self.intercept_
        rows = _gate.check_matrix(self, X, reset=False)
        if self.mean_ is not None and self.scale_ is not None:
            rows = (np.asarray(rows.toarray() if sparse.issparse(rows) else rows) - self.mean_) / self.scale_
        kept = self.support_vectors_
        scores = np.zeros((rows.shape[0], len(self.intercept_)))
        for q in used.tolist():
            scores += kernel_scores(self.kernels_[q], rows, kept, self._coef_of(q))
        return scores + self.intercept_

    def _coef_of(self, q: int) -> Array:
        """The coefficients of support vectors in one kernel, for every output."""
        coef: Array = self.dual_coef_ * (self.weights_[:, q : q + 1] * self.factors_[q])
        return coef

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _mkl_loaded.check(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.two_d_array = not self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags
