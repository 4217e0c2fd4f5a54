"""Base classes of kernel machines: a kernel matrix, a dual problem, and the rows with a coefficient other than 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _engine, _gate
from .._engine import Target
from .._gate import (
    Array,
    Log,
    Rule,
    as_float64,
    at_least,
    beside,
    check_params,
    check_value,
    is_foreign_array,
    labels_beside,
    namespace,
    non_negative,
    none,
    on_host,
    one_of,
    positive,
    seed,
    sparse,
    take,
)
from .._kernels import (
    RBF,
    Cosine,
    FixedSize,
    Gram,
    Kernel,
    Linear,
    Neighbors,
    Polynomial,
    anchor_places,
    are_rows,
    as_arrays,
    as_rows,
    count_landmarks,
    fixed_size,
    gram,
    how_many,
    is_array,
    kernel_scores,
    share_neighbors,
    width,
)
from ._advice import MOST_COMPARED
from ._calibrated import CalibratedOnFolds
from ._contract import Estimator, check_is_fitted
from ._declared import Declared, param
from ._reading import ReadsClasses

_NAMES = ("rbf", "polynomial", "linear", "cosine")
_FEW_LANDMARKS = 20  # with fewer, nearly all of them would be neighbours
_kernel_object = Rule("a kernel of thresher.kernels", lambda v: isinstance(v, Kernel), type="Kernel")


class ChoosesKernel(Declared):
    """Mixin of estimators with a kernel."""

    kernel: Any = param(
        default="rbf", rule=one_of(*_NAMES) | _kernel_object, doc="By name, or an object of :mod:`thresher.kernels`."
    )
    gamma: Any = param(
        default="scale",
        rule=width,
        doc="""Width of the RBF and polynomial kernels: a number; ``"scale"``, which is ``1 / (n_features * X.var())``;
        or ``"neighbors"``, 2 over the median squared distance of a row from its 10th neighbour (``"scale"`` in a
        polynomial kernel).""",
        search=Log(1e-4, 10.0, when={"kernel": "rbf"}),
    )
    degree: int = param(default=3, rule=at_least(1), doc="Degree of the polynomial kernel.")
    coef0: float = param(default=1.0, rule=non_negative, doc="Constant term of the polynomial kernel, at least 0.")

    def _kernel_for(self, rows: Any, names: Any = None) -> Kernel:
        """The kernel that the parameters name, with numbers for everything that depends on the rows."""
        kernel: Kernel = self.kernel if isinstance(self.kernel, Kernel) else self._named_kernel()
        return kernel.settled(rows, names)

    def _named_kernel(self) -> Kernel:
        if self.kernel in ("linear", "cosine"):
            return Linear() if self.kernel == "linear" else Cosine()
        if self.kernel == "auto" and self._has_no_width:
            return Neighbors()
        if self.kernel in ("rbf", "auto"):
            return RBF(self.gamma)
        return Polynomial(self.degree, "scale" if self._has_no_width else self.gamma, self.coef0)

    @property
    def _has_no_width(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma == "neighbors"


class WeighsLosses(Declared):
    """Mixin of machines with a weight of the losses."""

    C: Any = param(default=1.0, rule=positive, doc="Weight of the losses.", search=Log(1e-2, 1e2), kw_only=False)


class KeepsRows:
    r"""Mixin of machines that keep the rows with non-zero coefficients.

    Attributes
    ----------
    support_ : ndarray
        Indices of the support vectors: rows with a coefficient other than 0.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_features)
        The support vectors, the only rows that the model keeps.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients (:math:`\beta`). One row when there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant terms (:math:`b`).
    n_features_in_ : int
        Number of features; with a precomputed kernel, the number of training rows.
    """

    n_features_in_: int
    support_: NDArray[np.int64]
    dual_coef_: Array
    intercept_: Array
    _support_rows: dict[str, NDArray[Any]]

    _max_rows: ClassVar[int] = MOST_COMPARED  # unless landmarks stand for them
    _fitted: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "support_", "dual_coef_", "intercept_", "_support_rows"),
    )

    @property
    def support_vectors_(self) -> Any:
        """The rows that the model keeps, in the form that kernels read; none with precomputed kernels."""
        check_is_fitted(self)
        if not self._support_rows:
            return np.empty((0, 0))
        return as_rows(self._support_rows, (len(self.support_), self.n_features_in_))

    def _rows_there(self, weight: Array | None, n_rows: int) -> tuple[Array, NDArray[np.intp]]:
        """A weight for each row, and the places of rows of weight above 0; the others are absent."""
        weight = np.ones(n_rows) if weight is None else weight
        there = np.flatnonzero(weight)
        if not len(there):
            raise ValueError(f"{type(self).__name__}: sample_weight must hold a weight above 0, got only zeros.")
        return weight, there

    def _check_rows(self, kernels: Sequence[Kernel] | None) -> None:
        """Refuse rows of a file that do not belong together, or to the kernels; None if these are precomputed."""
        _gate.check_loaded_features(self)
        who, support, width, parts = type(self).__name__, self.support_, self.n_features_in_, self._support_rows
        if not is_array(support, "i", 1) or (np.diff(support) <= 0).any() or (support < 0).any():
            raise ValueError(f"{who}: support_ must hold indices of rows in order.")
        if kernels is None:
            if parts or (support >= width).any():
                raise ValueError(f"{who}: without a kernel, support_ must name columns of a precomputed one.")
            return
        for kernel in kernels:
            check_value(who, "kernel_", kernel, _kernel_object)
            kernel._check_settled(width)
        if not isinstance(parts, dict) or not are_rows(parts, (len(support), width)):
            raise ValueError(f"{who}: the support vectors must be finite rows, one per index.")


class KernelMachine(KeepsRows, ChoosesKernel, Estimator):
    """Base class: a subclass takes rows, asks for their kernel matrix, finds coefficients and keeps the rows that have
    one.

    Attributes
    ----------
    kernel_ : Kernel or None
        The kernel, with numbers for all parameters that depend on the data; None if it is precomputed.
    """

    kernel: Any = param(
        default="rbf",
        rule=one_of(*_NAMES, "precomputed") | _kernel_object,
        doc="""By name, or an object of :mod:`thresher.kernels`. With ``"precomputed"``, :meth:`fit` takes the kernel of
        every row with every row, and the other methods that of their rows with those of :meth:`fit`.""",
    )
    cache_size: float = param(
        default=500,
        rule=positive,
        doc="Memory for the kernel matrix in megabytes; a larger matrix is computed row by row.",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("kernel_",)
    _spread_of_neighbors: ClassVar[float] = 0.0  # how far neighbours of neighbours count in a kernel of neighbours

    def _kernel_for(self, rows: Any, names: Any = None) -> Kernel:
        kernel = super()._kernel_for(rows, names)
        if isinstance(kernel, Neighbors) and 8 * rows.shape[0] ** 2 > self.cache_size * 2**20:
            return RBF("neighbors").settled(rows, names)
        return kernel

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _take(self, X: Any) -> Any:
        """The rows to learn from, or the kernel matrix itself; nothing is remembered of them."""
        rows = _gate.check_matrix(self, X, reset=True)
        self._names = _gate.frame_names(X)  # by which kernels find their features
        self._shared: Any = None  # from the time a kernel of neighbours is made until coefficients are kept
        if not self._is_precomputed:
            return rows
        K = _as_kernel_matrix(rows)
        who = type(self).__name__
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"{who}: a precomputed kernel must be a square matrix in fit, got shape {tuple(K.shape)}.")
        if not _is_symmetric(K):
            raise ValueError(f"{who}: a precomputed kernel must be symmetric in fit.")
        if float(namespace(K).min(namespace(K).linalg.diagonal(K))) < 0:
            raise ValueError(f"{who}: a precomputed kernel must not have negative entries on its diagonal.")
        return K

    def _gram(self, rows: Any) -> Any:
        """The kernel matrix: an array, or its rows on demand where it would take more than ``cache_size`` megabytes."""
        if self._is_precomputed:
            return rows
        kernel = self._kernel_for(rows, self._names)
        if not isinstance(kernel, Neighbors):
            return gram(kernel, rows, self.cache_size)
        self._shared = share_neighbors(kernel, rows, rows, self._spread_of_neighbors)
        return self._shared.matrix()

    def _whole_gram(self, rows: Any) -> Array:
        """The kernel matrix as an array, for those that need all of it at once."""
        K = self._gram(rows)
        if isinstance(K, Gram):
            instead = "n_components" if "n_components" in self.get_params() else "a learner behind FixedSizeNystroem"
            raise ValueError(
                f"{type(self).__name__}: cache_size must hold the kernel matrix of {K.shape[0]} rows, "
                f"{8 * K.shape[0] ** 2 / 2**20:.0f} MB, got {self.cache_size!r}; {instead} takes any number."
            )
        return K

    def _some(self, rows: Any, there: NDArray[np.intp]) -> Any:
        """The rows that count, or their part of a precomputed kernel."""
        if len(there) == rows.shape[0]:
            return rows
        if not self._is_precomputed:
            return take(rows, there)
        return beside(np.ascontiguousarray(on_host(rows)[np.ix_(there, there)]), rows)

    def _keep(self, X: Any, rows: Any, there: NDArray[np.intp], coef: Array, kernel: Kernel | None = None) -> None:
        """Remember the features, and of the rows that count, by their places among all, those that have a coefficient,
        of shape (n_outputs, n_there), other than 0; the kernel too, if it is settled already."""
        if kernel is None and not self._is_precomputed:
            kernel = self._kernel_for(self._some(rows, there), self._names)
            if isinstance(kernel, Neighbors):
                coef, self._shared = self._shared.of_anchors(coef), None
        of_rows = on_host(coef)
        used = np.flatnonzero(of_rows.any(axis=0) | isinstance(kernel, Neighbors))  # all are neighbours of new rows
        _gate.commit_features(self, X, rows.shape[1])
        self.kernel_, self.support_ = kernel, there[used]
        self.dual_coef_ = beside(np.ascontiguousarray(of_rows[:, used]), rows)
        self._support_rows = {} if kernel is None else as_arrays(take(rows, self.support_))

    def _kernel_scores(self, X: Any, coef: Array | None = None) -> Array:
        """The scores of rows, of shape (n_rows, n_outputs), without constant terms; by the model's coefficients, or by
        others of the rows that it keeps."""
        check_is_fitted(self)
        coef = self.dual_coef_ if coef is None else coef
        rows = _gate.check_matrix(self, X, reset=False)
        if self.kernel_ is None and is_foreign_array(rows):
            return take(as_float64(rows).T, self.support_).T @ beside(coef, rows).T
        if self.kernel_ is None:
            return np.asarray(rows[:, self.support_] @ on_host(coef).T, dtype=np.float64)
        return kernel_scores(self.kernel_, rows, self.support_vectors_, coef)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        if self._is_precomputed != (self.kernel_ is None):
            raise ValueError(f"{type(self).__name__}: kernel_ must be None if kernels are precomputed, and only then.")
        self._check_rows(None if self.kernel_ is None else [self.kernel_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags


class ComparesNeighbors(KernelMachine):
    """Base class of machines whose kernel is that of shared neighbours, unless one is chosen, or its width."""

    kernel: Any = param(
        default="auto",
        rule=one_of("auto", *_NAMES, "precomputed") | _kernel_object,
        doc="""By name, or an object of :mod:`thresher.kernels`. ``"auto"`` is ``"rbf"`` if ``gamma`` is given.
        Otherwise two rows are similar if they share neighbours, which adapts to the local density of the rows: if
        :math:`z_r(x) \\propto [1 - \\|x - x_r\\|^2 / h(x)^2]_+` are weights of the 10 rows nearest to x that sum to 1,
        and :math:`h` is the distance to the 11th, then :math:`k(x, x') = \\sum_r z_r(x) z_r(x') / \\sum_i z_r(x_i)`
        (Liu, He and Chang, 2010). If the matrix does not fit into ``cache_size``, or there are fewer than 20 landmarks,
        ``"auto"`` is ``"rbf"`` with ``gamma="neighbors"``. With ``"precomputed"``, :meth:`fit` takes the kernel matrix
        of the training rows, and the other methods the kernel between their rows and the training rows.""",
    )
    gamma: Any = param(default="neighbors", search=Log(1e-4, 100.0, when={"kernel": ("auto", "rbf")}))


class FixedSizeMachine(KernelMachine):
    """Base class of machines that may compare rows with a few landmarks instead of with one another."""

    n_components: Any = param(
        default=None,
        rule=(none | how_many)._replace(type=how_many.type),
        doc="""Compare rows with this many landmarks instead of with each other (the fixed-size Nystroem form): an
        integer, a float that multiplies the square root of the number of rows, or ``"sqrt"``. Time and memory then grow
        linearly with the number of rows instead of quadratically.""",
    )
    random_state: Any = param(default=None, rule=seed, doc="Source of the landmarks.")

    def _fixed_size(self, rows: Any) -> FixedSize | None:
        """Features that stand for the kernel, by a few landmarks, if ``n_components`` asks for that."""
        if self.n_components is None:
            return None
        who = type(self).__name__
        if self._is_precomputed:
            raise ValueError(f"{who}: n_components must be None if kernels are precomputed, got {self.n_components!r}.")
        drawn_from, n_rows = int(_engine.generator(self.random_state).integers(2**63)), rows.shape[0]
        n_seen = max(n_landmarks := count_landmarks(self.n_components, n_rows), _FEW_LANDMARKS)
        seen = (
            take(rows, anchor_places(n_rows, n_seen, drawn_from)) if self._has_no_width else rows
        )  # as far apart as those
        kernel = ChoosesKernel._kernel_for(self, seen, self._names)
        if isinstance(kernel, Neighbors) and n_landmarks < _FEW_LANDMARKS:
            kernel = RBF("neighbors").settled(seen, self._names)
        return fixed_size(kernel, rows, self.n_components, drawn_from, who)

    def _keep_fixed(self, X: Any, rows: Any, there: NDArray[np.intp], coef: Array, fixed: FixedSize | None) -> None:
        """Remember the rows that have a coefficient, or the landmarks."""
        places, kernel = (there, None) if fixed is None else (there[fixed.places], fixed.kernel)
        self._keep(X, rows, places, coef, kernel)


class ReadsFunctions(ReadsClasses, CalibratedOnFolds):
    """Mixin of kernel machines whose functions, the columns of ``_functions``, are read as classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    """

    _fitted: ClassVar[tuple[str, ...]] = ("classes_",)

    def _score_table(self, X: Any) -> Array:
        functions: Array = self._functions(X)  # type: ignore[attr-defined]
        return functions

    def _n_curves(self) -> int:
        return int(self.intercept_.shape[0])  # type: ignore[attr-defined]

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows: one per row with two classes (above 0 means the second), else one per
        class."""
        return self._shape_scores(self._functions(X))  # type: ignore[attr-defined]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Predict the class of each row."""
        return self._read_scores(self.decision_function(X))


class OwnFunctions:
    """Mixin of classifiers with a function for every class, also for each of two: the largest wins."""

    classes_: np.ndarray[Any, Any]

    def _n_functions(self, n_classes: int) -> int:
        return n_classes

    def _shape_scores(self, scores: Array) -> Array:
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _read_own(self, functions: Array, borders: Any, outlier_label: Any) -> np.ndarray[Any, Any]:
        """The class with the largest function of those above their border; a label, unless it is None, if none is."""
        if outlier_label is None:
            return labels_beside(self.classes_[on_host(functions).argmax(axis=1)], functions)
        values = on_host(functions)
        inside = np.where(values > on_host(borders), values, -np.inf)
        winner = np.where(np.isneginf(inside).all(axis=1), len(self.classes_), inside.argmax(axis=1))
        return labels_beside(with_label(self.classes_, outlier_label)[winner], functions)


def with_label(classes: np.ndarray[Any, Any], label: Any) -> np.ndarray[Any, Any]:
    """The classes and one label more: among words, the word for it."""
    return _gate.joined(classes, str(label) if isinstance(classes[0], str) else label)


class KernelClassifier(ReadsFunctions, KernelMachine):
    """Base class of kernel machines whose scores are read as classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel of every row with every row.
        y : array-like of shape (n_samples,)
            Labels, including the label for rows that are unlabelled or belong to no class, if the machine has one.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, which multiply the losses. Rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        with self._without_scores():
            self._learn(X, y, sample_weight)
        self._score_folds(X, y, sample_weight)
        return self

    def _parts(self, X: Any, there: Any, others: Any = None) -> Any:
        if not self._is_precomputed:
            return super()._parts(X, there)
        K = np.asarray(X.toarray() if sparse.issparse(X) else on_host(X))
        return beside(K[np.ix_(there, there if others is None else others)], X)

    def _row_keys(self, X: Any) -> Any:
        return np.arange(X.shape[0]) if self._is_precomputed else super()._row_keys(X)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Find the functions, and keep what predicts."""
        raise NotImplementedError

    def _take_classes(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Target, Array, NDArray[np.intp]]:
        """All rows, their targets and weights, and the places of rows of weight above 0."""
        rows = self._take(X)
        target = self._read_all(y, rows.shape[0])
        weight = _gate.check_weights(sample_weight, rows.shape[0], type(self).__name__)
        return rows, target, *self._rows_there(self._weigh(weight, target), rows.shape[0])

    def _functions(self, X: Any) -> Array:
        scores = self._kernel_scores(X)
        return scores + beside(self.intercept_, scores)

    def _n_functions(self, n_classes: int) -> int:
        """The number of functions for this number of classes."""
        return 1 if n_classes == 2 else n_classes

    def _check_loaded(self) -> None:
        super()._check_loaded()
        _gate.check_loaded(self.classes_, type(self).__name__)
        n = self._n_functions(len(self.classes_))
        _gate.check_loaded_arrays(self, {"intercept_": (n,), "dual_coef_": (n, len(self.support_))})
        self._check_counts()


def _as_kernel_matrix(K: Any) -> Any:
    if is_foreign_array(K):
        return as_float64(K)
    return np.ascontiguousarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)


def _is_symmetric(K: Any) -> bool:
    xp = namespace(K)
    atol = 1e-8 * float(xp.max(xp.abs(K)))
    if is_foreign_array(K):
        return bool(xp.all(xp.abs(K - K.T) <= atol + 1e-5 * xp.abs(K.T)))
    return np.allclose(K, K.T, rtol=1e-5, atol=atol)
