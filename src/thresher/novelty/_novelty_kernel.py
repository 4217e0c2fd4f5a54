"""Base class of both kernel machines of this room: rows with signs in, coefficients of every class out."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import _gate
from .._engine import one_blas_thread
from .._estimators import KernelClassifier, param
from .._gate import Array, Log, beside
from ._outliers import NoveltyTarget, ReadsNovelty

NOTHING = 1e-8  # squared lengths below this part of the rows' own are none


class NoveltySolution(NamedTuple):
    """Of each class: the coefficients of all rows, the offset rho, and the products of its weights with the rows; the
    duality gap, and the number of steps."""

    coef: Array
    offsets: Array
    scores: Array
    gap: float = 0.0
    n_iter: int = 0
    own: Array = np.empty(0)  # the kernel of each row with itself
    held_out: Array = np.empty(0)  # the products of the weights without a row with this row, where they are known

    def left_out(self) -> Array:
        """The functions on the rows, each as if it were new; without its own coefficient where no more is known."""
        return (self.held_out if self.held_out.size else self.scores - self.coef * self.own) - self.offsets[:, None]

    def compared(self, Y: Array, weight: Array, share: float) -> NoveltySolution:
        """The functions in units of their offsets, and a border that leaves this share of the rows of classes outside,
        each as if it were new."""
        found, unit = self, self.offsets[:, None]
        if (self.offsets > NOTHING * np.abs(self.scores).max(axis=1)).all():
            found = self._replace(
                coef=self.coef / unit,
                scores=self.scores / unit,
                offsets=np.ones(len(unit)),
                held_out=self.held_out / unit if self.held_out.size else self.held_out,
            )
        known = (Y > 0).any(axis=1)
        highest = found.left_out()[:, known].max(axis=0)
        return found._replace(offsets=found.offsets + border(highest, weight[known], share))


class NoveltyMachine(ReadsNovelty, KernelClassifier):
    r"""Base class: a subclass solves its problem.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Coefficients of the stored rows in each function.
    intercept_ : ndarray of shape (n_classes,)
        :math:`-\rho`.
    norms_ : ndarray of shape (n_classes,)
        :math:`\|w_j\|`.
    cosines_ : ndarray of shape (n_classes, n_classes)
        Cosines of the angles between the :math:`w_j`; negative for classes that repel each other.
    """

    gamma: Any = param(default="scale", search=Log(1e-2, 1e2, when={"kernel": "rbf"}))

    _fitted: ClassVar[tuple[str, ...]] = ("norms_", "cosines_")
    _beside_rows: ClassVar[tuple[str, ...]] = ("intercept_", "norms_", "cosines_")  # if rows are on another device

    def _solve(self, rows: Any, Y: Array, weight: Array) -> NoveltySolution:
        """Find the functions of all classes; all weights are above 0."""
        raise NotImplementedError

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Find the coefficients of all classes together."""
        rows, read, weight, present = self._take_classes(X, y, sample_weight)
        target = NoveltyTarget(*read)
        if not set(range(target.n_outputs)) <= set(target.y[present]):
            who = type(self).__name__
            raise ValueError(f"{who}: sample_weight must be above zero for at least one row of every class.")
        weight, Y = weight[present], target.signs()[present]
        with one_blas_thread():  # the same bits, whatever the number of threads
            found = self._solve(self._some(rows, present), Y, weight)
            self._keep(X, rows, present, found.coef)
        self._commit_target(target)
        self.intercept_ = -found.offsets
        self._look_at_angles(found)
        self._finish(found, Y, weight)
        for name in self._beside_rows:
            setattr(self, name, beside(getattr(self, name), rows))

    def _finish(self, found: NoveltySolution, Y: Array, weight: Array) -> None:
        """Remember more of a solution."""

    def _look_at_angles(self, found: NoveltySolution) -> None:
        """Lengths of the classes' weights, and cosines of the angles between them."""
        products = found.coef @ found.scores.T
        self.norms_ = np.sqrt(np.maximum(products.diagonal(), 0.0))
        lengths = np.maximum(np.outer(self.norms_, self.norms_), np.finfo(float).tiny)
        self.cosines_ = np.clip((products + products.T) / (2 * lengths), -1.0, 1.0)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        n = len(self.classes_)
        if self._is_outlier(self.classes_).any():
            raise ValueError(f"{type(self).__name__}: classes_ must not hold the label of outliers.")
        _gate.check_loaded_arrays(self, {"norms_": (n,), "cosines_": (n, n)})


def border(values: Array, weight: Array, share: float) -> float:
    """A number that at most this share of values, by weight, is not above: halfway to the next one that is."""
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weight[order])
    outside = int(np.count_nonzero(reached <= share * reached[-1] * (1 + 1e-12)))
    if outside == len(values):
        return float(values[-1])
    if outside == 0:
        return float(values[0] - 1e-9 * max(abs(values[0]), values[-1] - values[0]))  # below it, also when rounded
    return float((values[outside - 1] + values[outside]) / 2)
