"""What both kernel machines of this room share: rows with signs in, coefficients of every class out."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _gate
from .._engine import one_blas_thread
from .._estimators import KernelMachine
from .._gate import Array, Rule, check_params, class_weights
from ._outliers import COUPLING, OUTLIER_RULES, ReadsNovelty


class Found(NamedTuple):
    """Of each class: the coefficients of all rows, the offset rho, and the products of its weights with the rows. How
    far the objective may be from the best, after so many steps."""

    coef: Array
    offsets: Array
    scores: Array
    gap: float = 0.0
    n_iter: int = 0


class NoveltyMachine(ReadsNovelty, KernelMachine):
    """Base class: a subclass names its parameters and solves its problem."""

    _param_rules: ClassVar[dict[str, Rule]] = (
        KernelMachine._kernel_rules | OUTLIER_RULES | {"coupling": COUPLING, "class_weight": class_weights}
    )
    _fitted: ClassVar[tuple[str, ...]] = (*KernelMachine._kernel_fitted, "classes_", "intercept_", "norms_", "cosines_")

    coupling: float
    intercept_: Array
    norms_: Array
    cosines_: Array

    def _solve(self, K: Any, Y: Array, weight: Array) -> Found:
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
        who = type(self).__name__
        check_params(self, self._param_rules)
        rows = self._take(X)
        target = self._read_all(y, rows.shape[0])
        weight = self._weigh(_gate.check_weights(sample_weight, rows.shape[0], who), target)
        weight = np.ones(rows.shape[0]) if weight is None else weight
        present = np.flatnonzero(weight)
        if not set(range(target.n_outputs)) <= set(target.y[present]):
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

    def _finish(self, found: Found, Y: Array, weight: Array) -> None:
        """What else is remembered of a solution."""

    def _look_at_angles(self, found: Found) -> None:
        """Lengths of the classes' weights, and cosines of the angles between them."""
        products = found.coef @ found.scores.T
        self.norms_ = np.sqrt(np.maximum(products.diagonal(), 0.0))
        lengths = np.maximum(np.outer(self.norms_, self.norms_), np.finfo(float).tiny)
        self.cosines_ = np.clip((products + products.T) / (2 * lengths), -1.0, 1.0)

    def _all_scores(self, X: Any) -> Array:
        return self._kernel_scores(X) + self.intercept_

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        self._check_kept()
        who, classes = type(self).__name__, self.classes_
        _gate.check_loaded(classes, who)
        if self._is_outlier(classes).any():
            raise ValueError(f"{who}: classes_ must not hold that of outliers.")
        n = len(classes)
        if len(self.dual_coef_) != n:
            raise ValueError(f"{who}: dual_coef_ must have a row for every class.")
        for name, shape in (("intercept_", (n,)), ("norms_", (n,)), ("cosines_", (n, n)), *self._more_arrays(n)):
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
                raise ValueError(f"{who}: {name} must be float64 of shape {shape}.")
            if not np.isfinite(value).all():
                raise ValueError(f"{who}: {name} must hold finite numbers.")

    def _more_arrays(self, n_classes: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return ()
