"""Base class of machines with many kernels: rows, the search for kernel weights, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _gate
from .._engine import Target, one_blas_thread
from .._estimators import (
    Estimator,
    KeepsRows,
    ReadsFunctions,
    ReadsTargets,
    WeighsLosses,
    check_is_fitted,
    param,
    warn_of_convergence,
)
from .._gate import (
    Array,
    Log,
    Rule,
    as_float64,
    at_least,
    beside,
    boolean,
    check_params,
    check_value,
    class_weights,
    is_foreign_array,
    namespace,
    on_host,
    positive,
    sparse,
    take,
    zeros,
)
from .._kernels import Kernel, as_arrays, is_array, kernel_scores
from ._kernel_weights import WeightSet
from ._level import level_method
from ._simple_kernels import simple_mkl_kernels
from ._stack import AnyStack, MadeMatrices, stacked, take_matrices, take_square_matrices
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


class ManyKernelsMachine(WeighsLosses, KeepsRows, ReadsTargets, Estimator):
    r"""Base class: a subclass names its set of kernel weights and its dual problem.

    Attributes
    ----------
    weights_ : ndarray of shape (1, n_kernels) or (n_classes, n_kernels)
        Weights of the kernels (:math:`\theta`): one row with two classes, else one per class.
    kernels_, kernel_names_ : list, ndarray of str
        The fitted kernels and their names.
    factors_ : ndarray of shape (n_kernels,)
        Factor of each kernel: 1 over its trace.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Coefficients of the support vectors (:math:`\alpha \circ y`).
    bounds_ : ndarray of shape (1, 2) or (n_classes, 2)
        Lower and upper bounds of the optimum.
    gap_ : float
        The difference of the bounds, relative to the upper one; the largest over the classes.
    n_svm_ : int
        Number of machines solved, over all classes.
    history_ : list of ndarray of shape (n_machines, 2)
        The bounds after each machine, for each output. While kernels are left out, the lower bound stays where it is.
        Not saved in model files.
    mean_, scale_ : ndarray of shape (n_features,)
        Means and deviations of the features; None if they are not standardised.
    """

    kernels: Any = param(
        default=None,
        rule=_kernel_list,
        doc="""Kernels of :mod:`thresher.kernels`, usually on some of the columns each; by default
        :func:`simple_mkl_kernels`. Each is divided by its trace on the training rows. With ``"precomputed"``, ``X``
        holds the matrices: of shape (n_kernels, n, n) for training and (n_kernels, n_rows, n) for predictions, both
        divided by the traces of the training matrices.""",
        kw_only=False,
    )
    C: Any = param(
        default=100.0,
        doc="""Weight of the losses (:math:`C`). Kernels have trace 1, so it must be large. It matters more than the
        norm: tune it.""",
        search=Log(1.0, 1e4),
    )
    tol: float = param(
        default=1e-3,
        rule=positive,
        doc="Stop when the relative difference of the bounds is at most this.",
    )
    standardise: bool = param(
        default=True,
        rule=boolean,
        doc="""Standardise the features with the means and deviations of the training rows; sparse rows become dense.
        The default kernels expect it.""",
    )
    max_svm: int = param(default=500, rule=at_least(1), doc="Largest number of machines to solve for each class.")
    cache_size: float = param(
        default=500,
        rule=positive,
        doc="""Memory for kernel matrices in megabytes; only half of each symmetric matrix is stored. Matrices that do
        not fit are computed again whenever they are needed.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = (
        *("kernels_", "kernel_names_", "weights_", "factors_", "mean_", "scale_", "bounds_", "n_svm_"),
    )
    _takes_arrays: ClassVar[bool] = True
    _only_mean: ClassVar[bool] = False  # whether only the mean of the kernels is needed

    def _weight_set(self) -> WeightSet:
        raise NotImplementedError

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        raise NotImplementedError

    # --- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights of the kernels and the corresponding machine.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernels="precomputed"``, an array of shape (n_kernels, n_samples, n_samples).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, equivalent to copies of a row: only their ratios matter. Rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        who = type(self).__name__
        check_params(self, self._param_rules)
        if self._is_precomputed:
            X = given = take_square_matrices(X, who)
        else:
            given = _gate.check_matrix(self, X, reset=True)
        n_rows = given.shape[-2]
        target = self._read_all(y, n_rows)
        weight = _gate.check_weights(sample_weight, n_rows, who)
        counts, present = self._rows_there(weight, n_rows)
        factors = self._weigh(weight, target)
        price = self._price(X, given, target.y, counts)
        costs = price * (counts if factors is None else factors)[present]
        target = target._replace(y=target.y[present])
        with one_blas_thread():
            view = self._see(X, given, counts)
            source = (
                given.part(present) if self._is_precomputed else MadeMatrices(view.kernels, take(view.rows, present))
            )
            stack = stacked(source, counts[present], self.cache_size, only_mean=self._only_mean)
            found = [self._search(stack, self._dual(target, k, costs)) for k in range(target.n_outputs)]
        coef = np.zeros((len(found), n_rows))
        coef[:, present] = [search.best.x * search.scale for search in found]
        _gate.commit_features(self, np.empty((0, 0)) if self._is_precomputed else X, given.shape[-1])
        self._commit_target(target)
        self._keep(view, stack, found, coef)
        self._look_back(found)
        self._score_rows(X, y, sample_weight)
        return self

    def _score_rows(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Score rows by machines that have not seen them, where scores are read as probabilities."""

    def _price(self, X: Any, rows: Any, y: Array, counts: Array) -> float:
        """The weight of the losses."""
        return float(self.C)

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str)

    def _see(self, X: Any, rows: Any, counts: Array) -> KernelView:
        if self._is_precomputed:
            return KernelView(None, [], [f"kernel {q + 1}" for q in range(rows.n_kernels)])
        names = None if (found := _gate.frame_names(X)) is None else list(map(str, found))
        mean = scale = None
        if self.standardise:
            rows, xp = _dense(rows), namespace(rows)
            share = beside(counts / counts.sum(), rows)
            mean = share @ rows
            spread = xp.sqrt(share @ (rows - mean) ** 2)
            scale = xp.where(spread > 1e-12 * xp.abs(mean), spread, xp.ones_like(spread))
            rows = (rows - mean) / scale
        asked: Sequence[Kernel] = self._default_kernels(rows) if self.kernels is None else self.kernels
        kernels = [kernel.settled(take(rows, np.flatnonzero(counts)), names) for kernel in asked]
        called = names or [f"x{j + 1}" for j in range(rows.shape[1])]
        return KernelView(rows, kernels, [kernel.describe(called) for kernel in kernels], mean, scale)

    def _default_kernels(self, rows: Any) -> list[Kernel]:
        return simple_mkl_kernels(rows)

    def _search(self, stack: AnyStack, dual: Dual, solver: str = "auto") -> Search:
        search = Search(stack, dual, self._weight_set(), float(self.tol), int(self.max_svm))
        if solver != "level":
            projected_gradient(search, patient=solver == "spg")
        if solver != "spg":
            level_method(search)
        while search.widen():
            level_method(search) if solver != "spg" else projected_gradient(search, patient=True)
        return search

    def _keep(self, view: KernelView, stack: AnyStack, found: list[Search], coef: Array) -> None:
        used = np.flatnonzero(coef.any(axis=0))
        self.kernels_ = None if self._is_precomputed else view.kernels
        self.kernel_names_ = np.array(view.names, dtype=object)
        self.weights_, self.factors_ = np.stack([search.best.theta for search in found]), stack.factors
        self.mean_, self.scale_ = view.mean, view.scale
        self.support_, self.dual_coef_ = used, beside(np.ascontiguousarray(coef[:, used]), view.rows)
        intercept = np.array([search.best.intercept * search.scale for search in found])
        self.intercept_ = beside(intercept, view.rows)
        self.n_svm_ = sum(len(search.history) for search in found)
        self.history_ = [np.array(search.history) * search.scale**2 for search in found]
        self.bounds_ = np.array([bounds[-1] for bounds in self.history_])
        self._support_rows = {} if self._is_precomputed else as_arrays(take(view.rows, used))

    def _look_back(self, found: list[Search]) -> None:
        if not all(search.converged for search in found):
            n_most = max(len(search.history) for search in found)
            warn_of_convergence(
                f"{type(self).__name__}: the bounds are {self.gap_:.2g} of the objective apart after {n_most} "
                f"machines, more than tol={self.tol:g}; {'raise max_svm, ' if n_most >= self.max_svm else ''}lower C, "
                "or raise tol.",
                stacklevel=3,
            )

    @property
    def gap_(self) -> float:
        """The difference of the bounds of the objective, relative to the upper one; the largest over the outputs."""
        check_is_fitted(self)
        lower, upper = self.bounds_.T
        size = np.maximum(np.abs(upper), np.finfo(np.float64).tiny)
        return float(np.max(np.maximum(upper - lower, 0.0) / size))

    # --- scores ------------------------------------------------------------------------------------------------------

    def _functions(self, X: Any) -> Array:
        """Of shape (n_rows, n_outputs). Kernels of weight 0 are not looked at."""
        check_is_fitted(self)
        used = np.flatnonzero(self.weights_.any(axis=0) & (self.factors_ > 0))
        if self.kernels_ is None:
            matrices = take_matrices(X, type(self).__name__, (len(self.factors_), self.n_features_in_))
            pairs = zip(self.weights_ * self.factors_, on_host(self.dual_coef_), strict=True)
            scores = [matrices.between(weights, self.support_) @ coef for weights, coef in pairs]
            return np.stack(scores, axis=1) + self.intercept_
        rows = _gate.check_matrix(self, X, reset=False)
        if self.mean_ is not None and self.scale_ is not None:
            rows = (_dense(rows) - beside(self.mean_, rows)) / beside(self.scale_, rows)
        kept = self.support_vectors_
        scores = zeros((rows.shape[0], self.intercept_.shape[0]), rows)
        for q in used.tolist():
            scores += kernel_scores(self.kernels_[q], rows, kept, self._coef_of(q))
        return scores + beside(self.intercept_, scores)

    def _coef_of(self, q: int) -> Array:
        """The coefficients of support vectors in one kernel, for every output."""
        return on_host(self.dual_coef_) * (self.weights_[:, q : q + 1] * self.factors_[q])

    def _check_loaded(self, n_outputs: int = 1) -> None:
        """Refuse attributes of a file that do not belong together."""
        who, kernels, names = type(self).__name__, self.kernels_, self.kernel_names_
        n_kernels = len(self.factors_) if is_array(self.factors_, "f", 1) else 0
        as_many = isinstance(kernels, list) and len(kernels) == n_kernels
        if not (kernels is None if self._is_precomputed else as_many):
            raise ValueError(f"{who}: kernels_ must be one per weight, and None if they are precomputed.")
        self._check_rows(kernels)
        shapes: dict[str, tuple[int, ...]] = {"factors_": (max(n_kernels, 1),), "weights_": (n_outputs, n_kernels)}
        shapes |= {"dual_coef_": (n_outputs, len(self.support_)), "intercept_": (n_outputs,), "bounds_": (n_outputs, 2)}
        _gate.check_loaded_arrays(self, shapes)
        if (self.weights_ < 0).any() or (self.factors_ < 0).any():
            raise ValueError(f"{who}: weights_ and factors_ must be at least 0.")
        are_names = isinstance(names, np.ndarray) and all(isinstance(name, str) for name in names)
        if not are_names or names.shape != (n_kernels,):
            raise ValueError(f"{who}: kernel_names_ must hold one name per kernel.")
        check_value(who, "n_svm_", self.n_svm_, at_least(1))
        self._check_scaling(who)

    def _check_scaling(self, who: str) -> None:
        """Refuse means and deviations of a file that no rows have."""
        if self.mean_ is None and self.scale_ is None:
            return
        _gate.check_loaded_arrays(self, dict.fromkeys(("mean_", "scale_"), (self.n_features_in_,)))
        if self.scale_ is not None and not self.scale_.min() > 0:
            raise ValueError(f"{who}: scale_ must hold numbers above 0.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.two_d_array = not self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags


def _dense(rows: Any) -> Any:
    """Rows of float64 as an array."""
    if is_foreign_array(rows):
        return as_float64(rows)
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


class ManyKernelsClassifier(ReadsFunctions, ManyKernelsMachine):
    """Base class: a subclass names its set of kernel weights. Several classes are learned one against the rest."""

    class_weight: Any = param(default=None, rule=class_weights, doc="Weights of the classes, which multiply ``C``.")

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        y = np.where(target.y == target.positive(output), 1.0, -1.0)
        return Dual(y, np.minimum(costs * y, 0.0), np.maximum(costs * y, 0.0))

    def _score_rows(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._score_folds(X, y, sample_weight)

    def _parts(self, X: Any, there: Any, others: Any = None) -> Any:
        if not self._is_precomputed:
            return super()._parts(X, there)
        return X.part(there, others)

    def _divisible(self, X: Any) -> Any:
        return X if self._is_precomputed else super()._divisible(X)

    def _row_keys(self, X: Any) -> Any:
        return np.arange(X.shape[1]) if self._is_precomputed else super()._row_keys(X)

    def _check_loaded(self, n_outputs: int = 1) -> None:
        _gate.check_loaded(self.classes_, type(self).__name__)
        super()._check_loaded(Target(np.empty(0), self.classes_).n_outputs)
        self._check_counts()
