"""Labels with one for outliers, which is not a class, in targets and in predictions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import _gate
from .._engine import Target
from .._estimators import Declared, OwnFunctions, ReadsClasses, param, with_label
from .._gate import Array, Log, Rule, above_one, beside, boolean, class_weights, none, number

Labels = np.ndarray[Any, Any]

_label = Rule(
    "a label, a whole number or text",
    lambda v: isinstance(v, str) or (number.holds(v) and float(v).is_integer() and abs(v) < 2**62),
    type="int or str",
)


class NoveltyTarget(Target):
    """Codes of the classes; one more is that of outliers. Every class has an output, two have two."""

    @property
    def n_outputs(self) -> int:
        assert self.classes is not None
        return len(self.classes)

    def signs(self) -> Array:
        """+1 for a row in the column of its class, -1 elsewhere: shape (n_rows, n_classes)."""
        return np.where(self.y[:, None] == np.arange(self.n_outputs), 1.0, -1.0)


class ReadsNovelty(OwnFunctions, ReadsClasses, Declared):
    """Mixin of classifiers with a score for each class: the class with the largest wins, and a row on which all are too
    small is an outlier.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted, without that of outliers.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 2.1 and Algorithm 1.
    """

    coupling: float = param(
        default=2.0,
        rule=above_one,
        doc=r"""How strongly the classes repel each other (:math:`\gamma`, for least squares :math:`\gamma_1`), above 1:
        values near 1 repel most, and with large values the classes are learned almost independently.""",
        search=Log(1.05, 30.0),
    )
    threshold: None = param(
        default=None,
        rule=none,
        doc="Must be None: each class has its own function.",
    )
    outlier_label: Any = param(
        default=-1,
        rule=_label | none,
        doc="""The label of rows that belong to no class, in ``y`` (which need not contain any) and in predictions. If
        labels are strings, it is the string ``"-1"``.""",
    )
    reject: bool = param(
        default=True,
        rule=boolean,
        doc="Predict ``outlier_label`` if no score is above 0. If False, always predict the largest class score.",
    )
    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="Weights of the classes and of ``outlier_label``, which multiply the row weights.",
    )

    _needs: ClassVar[tuple[str, ...]] = ("outliers",)

    # --- targets ----------------------------------------------------------------------------------------------------

    def _read_all(self, y: Any, n_rows: int) -> NoveltyTarget:
        who = type(self).__name__
        self._check_reject(who)
        found, codes = _gate.find_classes(y, who)
        _gate.check_length(codes, n_rows, "y", who)
        classes = self._without_outliers(found, who)
        return self._target(found[codes.astype(np.intp)], classes, who)

    def _read_batch(self, y: Any, n_rows: int, classes: Any, first: bool) -> NoveltyTarget:
        who = type(self).__name__
        self._check_reject(who)
        target = self._target(_gate.as_column(y, who), self._known_classes(classes, first), who)
        _gate.check_length(target.y, n_rows, "y", who)
        return target

    def _announced(self, classes: Any) -> Labels:
        return self._without_outliers(super()._announced(classes), type(self).__name__)

    def _target(self, labels: Labels, classes: Labels, who: str) -> NoveltyTarget:
        outside = self._is_outlier(labels)
        codes = np.full(len(labels), float(len(classes)))
        if not outside.all():
            codes[~outside] = _gate.encode(labels[~outside], classes, who)
        return NoveltyTarget(codes, classes)

    def _without_outliers(self, labels: Labels, who: str) -> Labels:
        """The labels that are classes; at least two."""
        if isinstance(self.outlier_label, str) and labels.dtype.kind in "biuf":
            raise ValueError(
                f"{who}: outlier_label must be a whole number if labels are numbers, got {self.outlier_label!r}."
            )
        classes = labels[~self._is_outlier(labels)]
        if len(classes) < len(labels) and len(classes) < 2:
            rest = f"the one class {classes.tolist()[0]!r}" if len(classes) else "no class"
            raise ValueError(
                f"{who}: y must hold at least two classes besides outlier_label, got {rest} besides "
                f"{self.outlier_label!r}; if that label is a class, give another outlier_label."
            )
        return _gate.at_least_two(classes, who)

    def _is_outlier(self, labels: Labels) -> np.ndarray[Any, Any]:
        return _gate.carrying(labels, self.outlier_label)

    def _check_reject(self, who: str) -> None:
        if self.reject and self.outlier_label is None:
            raise ValueError(f"{who}: outlier_label must be a label if reject=True, got None.")

    def _weigh(self, weight: Array | None, target: Target) -> Array | None:
        """Row weights times class weights; outliers count as a class of their own."""
        class_weight = self.class_weight
        if class_weight is None:
            return weight
        assert target.classes is not None
        labels, has_outliers = target.classes, bool((target.y == len(target.classes)).any())
        if self.outlier_label is not None and (has_outliers or not isinstance(class_weight, str)):
            labels = with_label(labels, self.outlier_label)
        factors = _gate.class_factors(class_weight, labels, target.y, type(self).__name__)
        assert factors is not None
        rows = np.append(factors, 1.0)[target.y.astype(np.intp)]
        return rows if weight is None else rows * weight

    # --- scores -----------------------------------------------------------------------------------------------------

    def _all_scores(self, X: Any) -> Array:
        """One score per row and class."""
        return self._functions(X)  # type: ignore[attr-defined]

    def _thresholds(self) -> Any:
        """Borders: the score of a class must be above its own."""
        return 0.0

    def class_scores(self, X: Any) -> Array:
        """Return how far rows are inside each class, shape (n_samples, n_classes); above 0, a row belongs to it.

        The negative of the largest value of a row is a novelty score.
        """
        scores, borders = self._all_scores(X), self._thresholds()
        return scores - (borders if isinstance(borders, float) else beside(borders, scores))

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes: one per class; with two classes, the difference of the second and the
        first."""
        return self._shape_scores(self._all_scores(X))

    def predict(self, X: Any) -> Labels:
        """Predict the class of each row, or ``outlier_label`` if ``reject`` is set and no score is above 0."""
        self._check_reject(type(self).__name__)
        return self._read_own(self._all_scores(X), self._thresholds(), self.outlier_label if self.reject else None)
