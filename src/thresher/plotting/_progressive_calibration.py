"""Plot of the calibration of a classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._estimators import Calibrated
from .._figures import colour, label, ticks
from .._gate import Array
from ._display import Display

_MOST_GROUPS = 20


class ProgressiveCalibrationDisplay(Display):
    """Calibration curve of a classifier, with the rows that it is based on.

    The line is the curve that ``predict_proba`` uses. The dots are rows in groups of equal size, which were scored
    before they were learned from, or by folds: the share of the class among them, at their mean score. With more than
    two classes, the score of a class is its lead over the best of the others, and the line is the probability before
    those of all classes are made to add up to 1.

    Parameters
    ----------
    scores, probabilities : ndarray
        The curve.
    mean_scores, shares : ndarray
        The groups of rows.
    pos_label : object
        The class whose probability is shown.
    is_lead : bool
        Whether scores are leads over other classes.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.plotting import ProgressiveCalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> model = AROWClassifier(random_state=0).fit(X, X[:, 0] + rng.normal(size=3000) > 0)
    >>> display = ProgressiveCalibrationDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'probability of True'
    """

    def __init__(
        self, scores: Array, probabilities: Array, mean_scores: Array, shares: Array, pos_label: Any, is_lead: bool
    ) -> None:
        self.scores, self.probabilities = scores, probabilities
        self.mean_scores, self.shares = mean_scores, shares
        self.pos_label, self.is_lead = pos_label, is_lead

    @classmethod
    def from_estimator(cls, estimator: Any, pos_label: Any = None, *, ax: Any = None) -> Self:
        """Draw the calibration of a fitted classifier.

        Parameters
        ----------
        estimator : estimator or pipeline
            With ``predict_proba``.
        pos_label : object, optional
            The class; by default the last of ``classes_``.
        ax : matplotlib axes, optional

        Returns
        -------
        ProgressiveCalibrationDisplay
        """
        learner = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not isinstance(learner, Calibrated) or not hasattr(learner, "predict_proba"):
            raise ValueError(f"{cls.__name__}: estimator must be a classifier of thresher that has predict_proba.")
        classes = learner.classes_.tolist()
        pos_label = classes[-1] if pos_label is None else pos_label
        if pos_label not in classes:
            raise ValueError(f"{cls.__name__}: pos_label must be one of {classes!r}, got {pos_label!r}.")
        place, is_lead = classes.index(pos_label), len(classes) > 2
        rows, at = learner._score_counts().rows()
        curve, (others, own) = learner._curves()[place if is_lead else 0], rows[place if is_lead else 0]
        if not is_lead and place == 0:  # the first of two classes: the other way round
            others, own = own, others
        n = others + own
        used = n > 0
        log_odds = curve(at[used]) * (-1 if not is_lead and place == 0 else 1)
        means, shares = _groups(at[used], own[used], n[used])
        return cls(at[used], 1 / (1 + np.exp(-log_odds)), means, shares, pos_label, is_lead).plot(ax=ax)

    def _paint(self, axes: Any) -> None:
        axes.plot(self.scores, self.probabilities, color=colour(0), label="as predict_proba reads scores")
        axes.plot(self.mean_scores, self.shares, "o", color=colour(1), label="share of rows with such scores")
        name, low, high = label(self.pos_label), *np.quantile(self.mean_scores, [0, 1])
        room = 0.05 * max(high - low, 1e-12)
        axes.set(
            xlabel=f"lead of {name} over the best other class" if self.is_lead else "score",
            ylabel=f"probability of {name}",
            xlim=(low - room, high + room),
            ylim=(-0.02, 1.02),
        )
        ticks(axes.xaxis, "number", 5)
        ticks(axes.yaxis, "share", 5)
        axes.legend(frameon=False)


def _groups(at: Array, own: Array, n: Array) -> tuple[Array, Array]:
    """Mean scores and shares of a class, of neighbouring bins that hold about the same number of rows."""
    ends = np.cumsum(n)
    places = np.minimum((ends - n / 2) / ends[-1] * _MOST_GROUPS, _MOST_GROUPS - 1).astype(int)
    rows, scores, of_class = (np.bincount(places, weights=each) for each in (n, n * at, own))
    there = rows > 0
    return scores[there] / rows[there], of_class[there] / rows[there]
