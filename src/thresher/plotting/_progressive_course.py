"""Errors of rows before they were learned from, along a stream."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._figures import MUTED, colour, row_ticks, ticks
from .._gate import Array, check_value, one_of
from ..training import History
from ._display import Display

RECENT = 0.2  # of the rows so far
_GUESS: dict[str, Any] = {"color": MUTED, "linewidth": 1, "linestyle": (0, (2, 3))}
_measures = one_of("error", "loss")


class ProgressiveDisplay(Display):
    """The progressive error or loss along a stream: of all rows so far, and of the last fifth of them.

    Parameters
    ----------
    rows : ndarray
        Rows learned so far, at each point.
    so_far, recently : ndarray
        The mean over all rows, and over the last fifth of them.
    measure : {"error", "loss"}

    Examples
    --------
    >>> from thresher.online import AROWClassifier
    >>> from thresher.plotting import ProgressiveDisplay
    >>> from thresher.streams import open_stream
    >>> from thresher.training import train
    >>> import pandas as pd, numpy as np
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 3)), columns=list("abc"))
    >>> run = train(AROWClassifier(), open_stream(frame.assign(y=np.where(frame.a > 0, "yes", "no")), target="y"))
    >>> display = ProgressiveDisplay.from_run(run)
    >>> bool(display.so_far[-1] < 0.1)
    True
    """

    def __init__(self, rows: Array, so_far: Array, recently: Array, measure: str) -> None:
        self.rows, self.so_far, self.recently, self.measure = rows, so_far, recently, measure

    @classmethod
    def from_history(cls, history: History, measure: str = "error", *, ax: Any = None) -> Self:
        """Draw the history of a run of :func:`thresher.training.train`.

        Parameters
        ----------
        history : History
        measure : {"error", "loss"}, default="error"
            Mistakes of a classifier, or the loss of any learner.
        ax : matplotlib axes, optional

        Returns
        -------
        ProgressiveDisplay
        """
        check_value(cls.__name__, "measure", measure, _measures)
        rows = np.array(history.rows, dtype=np.float64)
        total = np.array(history.mistakes if measure == "error" else history.loss, dtype=np.float64)
        if not len(rows):
            raise ValueError(f"{cls.__name__}: history must have a point, but nothing was learned yet.")
        return cls(rows, total / rows, recent_rate(rows, total), measure).plot(ax=ax)

    @classmethod
    def from_run(cls, run: Any, *, ax: Any = None) -> Self:
        """Draw a run of :func:`thresher.training.train`: the error of a classifier, the loss of others."""
        is_classifier = hasattr(run.model, "classes_")
        return cls.from_history(run.history, "error" if is_classifier else "loss", ax=ax)

    def _paint(self, axes: Any) -> None:
        drawn = paint_course(axes, self.rows, self.so_far, self.recently, self.measure)
        axes.legend(drawn, ["all rows so far", "the last fifth of them"], frameon=False)


def recent_rate(rows: Array, total: Array) -> Array:
    """The rate within the last fifth of the rows so far, by totals at some numbers of rows."""
    begin = np.searchsorted(rows, (1 - RECENT) * rows, side="right") - 1
    earlier = np.where(begin >= 0, total[begin], 0.0)
    since = np.where(begin >= 0, rows[begin], 0.0)
    return np.asarray((total - earlier) / (rows - since))


def paint_course(
    axes: Any, rows: Any, so_far: Any, recently: Any, measure: str, guess: float | None = None
) -> tuple[Any, Any]:
    """The two lines of a measure, which are returned; a dotted one for a guess."""
    (late,) = axes.plot(rows, recently, color=colour(1), linewidth=1.3)
    (all_rows,) = axes.plot(rows, so_far, color=colour(0), linewidth=2.2)
    if guess is not None:
        axes.axhline(guess, **_GUESS)
    row_ticks(axes, rows)
    settled = rows >= min(rows[-1] / 20, rows[len(rows) // 4])  # the first few rows would squeeze all others
    shown = np.concatenate([np.asarray(so_far)[settled], np.asarray(recently)[settled], [guess or 0]])
    axes.set(ylabel=measure, ylim=(0, 1.12 * max(float(shown.max()), 1e-12)))
    ticks(axes.yaxis, measure, 5)
    return all_rows, late
