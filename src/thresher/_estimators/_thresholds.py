"""Decisions by the cost of mistakes, from calibrated probabilities and without training again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import Curve
from .._gate import Array, Rule, auto, none, number, one_of, positive, shown
from ._calibrated import Calibrated
from ._declared import param

CRITERIA = ("error", "balanced_error", "f1", "cost")
_ALIKE = 1.5  # the largest class over the smallest: up to here, they are about equal

_by_class = Rule(
    "a dict of class to a number above 0",
    lambda v: isinstance(v, Mapping) and len(v) > 0 and all(map(positive.holds, v.values())),
    type="dict",
)
cost_rule: Rule = positive | _by_class | none


class Decides(Calibrated):
    """Mixin of classifiers with decision rules other than the largest score."""

    threshold: Any = param(
        default=None,
        rule=none | number | auto | one_of(*CRITERIA),
        doc="""How :meth:`predict` decides. None: predict the class with the largest score; with two classes, a score
        above 0 means the second one. A number: with two classes, a score above it means the second one. The name of a
        criterion that decisions minimize, ``"error"`` (mistakes), ``"balanced_error"`` (the mean error rate of the
        classes) or ``"cost"`` (see ``cost``), or maximize, ``"f1"`` (of the second of two classes): the threshold then
        follows from the probabilities when predictions are made, without retraining. ``"auto"`` is ``"cost"`` if
        ``cost`` is given, else ``"error"``.""",
        file="decision_threshold",
    )
    cost: Any = param(
        default=None,
        rule=cost_rule,
        doc="""Cost of a mistake on a row of the second of two classes, relative to 1 for the first; or a dict from
        class to cost, for any number of classes. It affects only ``threshold``, not training.""",
        file="decision_cost",
    )

    @property
    def _criterion(self) -> Any:
        """None, a number, or one of the criteria."""
        threshold = self.threshold
        if not isinstance(threshold, str) or threshold != "auto":
            return threshold
        return "error" if self.cost is None else "cost"

    @property
    def threshold_(self) -> float:
        """The score above which the second of two classes is predicted."""
        criterion = self._criterion
        if criterion is None or not isinstance(criterion, str):
            return float(criterion or 0.0)
        (curve,) = self._free_curves(2)
        return curve.score_of(self._log_odds(criterion, curve))

    def _decide(self, scores: Array) -> NDArray[np.intp]:
        """The codes of the classes that scores predict under the criterion."""
        if scores.ndim == 1:
            return (scores > self.threshold_).astype(np.intp)
        criterion = self._criterion
        if not isinstance(criterion, str) or criterion == "f1":
            raise ValueError(
                f'{type(self).__name__}: with more than two classes, threshold must be None, "auto", "error", '
                f'"balanced_error" or "cost", got {criterion!r}.'
            )
        shares = self._read_shares(scores, self._free_curves(scores.shape[1]))
        return (shares * self._factors_of_classes(criterion)).argmax(axis=1)

    def _free_curves(self, n_classes: int) -> list[Curve]:
        """Return curves from scores to log-odds that need not be even at a score of 0."""
        missing = self._missing_for("threshold")
        if missing:
            raise ValueError(f"{type(self).__name__}: threshold={self.threshold!r} needs {missing}.")
        return self._score_counts().curves()

    def _log_odds(self, criterion: str, curve: Curve) -> float:
        """Of two classes, what the log-odds of the second must be above."""
        if criterion == "error":
            return 0.0
        if criterion == "f1":  # the best threshold is half of what it reaches
            best = self._best_f1(curve) / 2
            return float(np.log(best / (1 - best)))
        of_first, of_second = self._factors_of_classes(criterion)
        return float(np.log(of_first / of_second))

    def _best_f1(self, curve: Curve) -> float:
        """The largest F1 over all thresholds, by what is expected of the rows in each bin."""
        from_high = slice(None, None, -1)
        rows, centres = self._score_counts().rows()
        n = rows[0].sum(axis=0)[from_high]
        found = np.cumsum(n / (1 + np.exp(-curve(centres[from_high]))))
        return float(np.clip(np.max(2 * found / (np.cumsum(n) + found[-1])), 1e-6, 1 - 1e-6))

    def _factors_of_classes(self, criterion: str) -> Array:
        """Return the cost of a mistake on a row of each class."""
        n = len(self.classes_)
        if criterion == "error":
            return np.ones(n)
        if criterion == "balanced_error":
            return 1 / np.maximum(self._class_shares(), np.finfo(float).eps)
        if isinstance(self.cost, Mapping):
            unknown = [label for label in self.cost if label not in self.classes_.tolist()]
            if unknown:
                known, got = shown(self.classes_.tolist(), 300), shown(unknown[0])
                raise ValueError(f"{type(self).__name__}: cost must name classes among {known}, got {got}.")
            return np.array([float(self.cost.get(label, 1.0)) for label in self.classes_.tolist()])
        ratio = None if n > 2 else self._cost_ratio()
        if ratio is None:
            what = "a dict of class to cost" if n > 2 else "given"
            raise ValueError(f'{type(self).__name__}: cost must be {what} with threshold="cost", got {self.cost!r}.')
        return np.array([1.0, ratio])

    def _cost_ratio(self) -> float | None:
        """Return the cost of a mistake on the second of two classes, relative to the first."""
        return None if self.cost is None else float(self.cost)

    def _class_shares(self) -> Array:
        """The shares of the classes in the rows that were counted."""
        rows, _ = self._score_counts().rows()
        own = rows[:, 1].sum(axis=1) / rows[0].sum()
        return np.array([1 - own[0], own[0]]) if len(own) == 1 else own

    def _ratio_of_share(self, share: float) -> float:
        """Return that ratio if rows of the second class have this share of the total cost."""
        of_first, of_second = np.maximum(self._class_shares(), np.finfo(float).eps)
        return float(share / (1 - share) * of_first / of_second)

    @property
    def _is_lopsided(self) -> bool:
        """Whether classes differ so much in size that a cost which balances them moves decisions."""
        shares = self._class_shares()
        return bool(shares.max() > _ALIKE * shares.min())
