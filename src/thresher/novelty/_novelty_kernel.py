"""Base class of both kernel machines of this room: rows with signs in, coefficients of every class out."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .._engine import one_blas_thread
from .._estimators import KernelClassifier, param
from .._gate import Array, Log, check_loaded_arrays, check_params
from ._outliers import NoveltyTarget, ReadsNovelty


class NoveltySolution(NamedTuple):
    """Of each class: the coefficients of all rows, the offset rho, and the products of its weights with the rows; the
    duality gap, and the number of steps."""

    coef: Array
    offsets: Array
    scores: Array
    gap: float = 0.0
    n_iter: int = 0


class _Angles:
    """The types of the attributes that :meth:`fit` sets."""

    norms_: Array
    cosines_: Array


class NoveltyMachine(_Angles, ReadsNovelty, KernelClassifier):
    r"""Base class: a subclass solves its problem.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Coefficients of the rows that are kept, in each function.
    intercept_ : ndarray of shape (n_classes,)
        :math:`-\rho`.
    norms_ : ndarray of shape (n_classes,)
        :math:`\|w_j\|`.
    cosines_ : ndarray of shape (n_classes, n_classes)
        Of the angles between the :math:`w_j`; classes that repel one another are below 0.
    """

    gamma: Any = param(default="scale", search=Log(1e-2, 1e2, when={"kernel": "rbf"}))

    _fitted: ClassVar[tuple[str, ...]] = ("norms_", "cosines_")

    def _solve(self, K: Any, Y: Array, weight: Array) -> NoveltySolution:
        """All weights are above 0."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients of all classes together.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the square matrix of all rows with one another.
        y : array-like of shape (n_samples,)
            Labels; rows of ``outlier_label`` belong to no class.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0. A row of weight 0 is absent.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows, read, weight, present = self._take_classes(X, y, sample_weight)
        target = NoveltyTarget(*read)
        if not set(range(target.n_outputs)) <= set(target.y[present]):
            who = type(self).__name__
            raise ValueError(f"{who}: sample_weight must be above zero for a row of every class at least.")
        weight, Y = weight[present], target.signs()[present]
        with one_blas_thread():  # the same bits, whatever the number of threads
            found = self._solve(self._matrix(self._some(rows, present)), Y, weight)
            self._keep(X, rows, present, found.coef)
        self._commit_target(target)
        self.intercept_ = -found.offsets
        self._look_at_angles(found)
        self._finish(found, Y, weight)
        return self

    def _matrix(self, rows: Any) -> Any:
        """The kernel matrix that the problem needs."""
        return self._gram(rows)

    def _finish(self, found: NoveltySolution, Y: Array, weight: Array) -> None:
        """Remember more of a solution."""

    def _look_at_angles(self, found: NoveltySolution) -> None:
        """Lengths of the classes' weights, and cosines of the angles between them."""
        products = found.coef @ found.scores.T
        self.norms_ = np.sqrt(np.maximum(products.diagonal(), 0.0))
        lengths = np.maximum(np.outer(self.norms_, self.norms_), np.finfo(float).tiny)
        self.cosines_ = np.clip((products + products.T) / (2 * lengths), -1.0, 1.0)

    def _all_scores(self, X: Any) -> Array:
        return self._functions(X)

    def _n_functions(self, n_classes: int) -> int:
        return n_classes

    def _check_loaded(self) -> None:
        super()._check_loaded()
        n = len(self.classes_)
        if self._is_outlier(self.classes_).any():
            raise ValueError(f"{type(self).__name__}: classes_ must not hold that of outliers.")
        check_loaded_arrays(self, {"norms_": (n,), "cosines_": (n, n)})
