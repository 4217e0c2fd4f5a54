"""Plot of the outcomes of a binary classifier at other thresholds."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from .._figures import INK, colour, label, ticks
from .._gate import Array, as_column, check_length
from ._display import Display

_GRID = 200
_IN_USE: dict[str, Any] = {"color": INK, "linewidth": 1, "linestyle": (0, (3, 3))}


class Steps(NamedTuple):
    """Counts of positive predictions at every threshold: the rows above the first 0, 1, 2, ... distinct scores.

    Attributes
    ----------
    scores : ndarray of shape (n_scores,)
        Distinct scores, falling.
    called, found : ndarray of shape (n_scores + 1,)
        Rows with a score above the threshold, and those of the class among them.
    """

    scores: Array
    called: Array
    found: Array

    @classmethod
    def of(cls, scores: Array, of_class: Array) -> Steps:
        distinct, places = np.unique(-scores, return_inverse=True)
        called, found = (np.bincount(places, weights=w, minlength=len(distinct)) for w in (None, of_class))
        return cls(-distinct, *(np.append(0.0, np.cumsum(each)) for each in (called, found)))

    def at(self, thresholds: Any) -> Any:
        """Return how many distinct scores are above thresholds."""
        return np.searchsorted(-self.scores, -np.asarray(thresholds), side="left")

    def cost(self, ratio: float) -> Array:
        """Return the cost of a row at every threshold, in false alarms, if a missed row costs so many."""
        missed, alarms = self.found[-1] - self.found, self.called - self.found
        return np.asarray((ratio * missed + alarms) / self.called[-1])

    def between(self, step: int) -> float:
        """Return a threshold that leaves so many distinct scores above: midway to the next, or at an end."""
        if 0 < step < len(self.scores):
            return float(self.scores[step - 1] + self.scores[step]) / 2
        return float(self.scores[0]) if step == 0 else float(np.nextafter(self.scores[-1], -np.inf))

    def outcome(self, step: int, threshold: float) -> dict[str, Any]:
        called, found = int(self.called[step]), int(self.found[step])
        return {
            "threshold": threshold,
            "called": called,
            "found": found,
            "recall": found / self.found[-1],
            "precision": found / called if called else np.nan,
        }


class ThresholdDisplay(Display):
    """Recall and precision of the second of two classes over the threshold of its score.

    Parameters
    ----------
    thresholds : ndarray
    recall, precision : ndarray
        Values at each threshold; the precision is NaN if no row has a score above it.
    in_use : float
        The threshold that ``predict`` uses.
    pos_label : object
        The positive class.

    See Also
    --------
    thresher.report.Report : draws counts and costs, too.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.plotting import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X[:, 0] + rng.normal(size=2000) > 1
    >>> model = AROWClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> display = ThresholdDisplay.from_estimator(model, X[1000:], y[1000:])
    >>> display.ax_.get_xlabel()
    'score above which a row is called True'
    """

    def __init__(self, thresholds: Array, recall: Array, precision: Array, in_use: float, pos_label: Any) -> None:
        self.thresholds, self.recall, self.precision = thresholds, recall, precision
        self.in_use, self.pos_label = in_use, pos_label

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the outcomes for rows that the model has not learned from.

        Parameters
        ----------
        estimator : estimator or pipeline
            A fitted classifier of two classes, with ``decision_function``.
        X : Table, data frame, array-like or sparse matrix
        y : array-like of shape (n_samples,)
            The classes of the rows.
        ax : matplotlib axes, optional

        Returns
        -------
        ThresholdDisplay
        """
        if len(getattr(estimator, "classes_", ())) != 2:
            raise ValueError(f"{cls.__name__}: estimator must be a fitted classifier of two classes.")
        learner = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        in_use = float(getattr(learner, "threshold_", 0.0))
        scores, second = estimator.decision_function(X), estimator.classes_[1]
        return cls.from_predictions(y, scores, pos_label=second, threshold=in_use, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, pos_label: Any = True, threshold: float = 0.0, ax: Any = None
    ) -> Self:
        """Draw the outcomes of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        y_score : array-like of shape (n_samples,)
            Scores, higher for rows that seem to be of the class.
        pos_label : object, default=True
            The positive class.
        threshold : float, default=0.0
            The threshold in use.
        ax : matplotlib axes, optional

        Returns
        -------
        ThresholdDisplay
        """
        of_class = as_column(y_true, cls.__name__) == pos_label
        scores = np.asarray(y_score, dtype=np.float64)
        check_length(of_class, len(scores), "y_true", cls.__name__)
        if not 0 < of_class.sum() < len(scores):
            raise ValueError(
                f"{cls.__name__}: y_true must hold rows of class {pos_label!r} and others; pos_label names the class."
            )
        steps = Steps.of(scores, of_class.astype(np.float64))
        low, high = np.quantile(scores, [0.002, 0.998])
        ends = (min(low, threshold), max(high, threshold)) if np.isfinite(threshold) else (low, high)
        grid = np.linspace(*ends, _GRID)
        outcomes = [steps.outcome(step, at) for step, at in zip(steps.at(grid), grid.tolist(), strict=True)]
        recall, precision = (np.array([each[name] for each in outcomes]) for name in ("recall", "precision"))
        return cls(grid, recall, precision, threshold, pos_label).plot(ax=ax)

    def _paint(self, axes: Any) -> None:
        name = label(self.pos_label)
        axes.plot(self.thresholds, self.recall, color=colour(0), drawstyle="steps-post", label="recall")
        axes.plot(self.thresholds, self.precision, color=colour(1), drawstyle="steps-post", label="precision")
        axes.axvline(self.in_use, label="in use", **_IN_USE)
        ends = self.thresholds[0], self.thresholds[-1]
        axes.set(xlabel=f"score above which a row is called {name}", ylabel="share", ylim=(0, 1.02), xlim=ends)
        ticks(axes.xaxis, "number", 5)
        ticks(axes.yaxis, "share", 5)
        axes.legend(frameon=False)
