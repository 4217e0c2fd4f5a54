"""Plot of the effect of a column on the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._figures import MUTED, colour, dash, label, short, ticks
from .._gate import Array
from ..inspection import ColumnCurve, column_curves
from ._display import Display


class ColumnCurveDisplay(Display):
    """The contribution of a column to the score, over its values; ticks mark quantiles of the rows.

    Parameters
    ----------
    curve : ColumnCurve
        One of :func:`thresher.inspection.column_curves`.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.plotting import ColumnCurveDisplay
    >>> from thresher.preprocessing import prepared
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(2000, 3))
    >>> model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, X[:, 0] ** 2 > 1 + 0.2 * X[:, 1])
    >>> display = ColumnCurveDisplay.from_estimator(model, "x1")
    >>> display.ax_.get_xlabel()
    'x1'
    """

    def __init__(self, curve: ColumnCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(cls, estimator: Any, column: str | None = None, X: Any = None, *, ax: Any = None) -> Self:
        """Draw the effect of a column of a fitted linear or additive model.

        Parameters
        ----------
        estimator : estimator or pipeline
        column : str, optional
            Name of the column; by default the one that matters most.
        X : Table, data frame or array-like, optional
            Rows that determine the range of the column, see :func:`~thresher.inspection.column_curves`.
        ax : matplotlib axes, optional

        Returns
        -------
        ColumnCurveDisplay
        """
        curves = column_curves(estimator, X)
        named = [curve for curve in curves if column in (None, curve.name)]
        if not named:
            known = ", ".join(repr(curve.name) for curve in curves[:10]) or "none"
            raise ValueError(f"{cls.__name__}: column must be one that the model uses ({known}), got {column!r}.")
        return cls(named[0]).plot(ax=ax)

    def _paint(self, axes: Any) -> None:
        curve = self.curve
        if isinstance(curve.values, list):
            drawn = paint_bars(axes, [label(value) for value in curve.values], curve.parts)
            axes.set(xlabel="part of the score", ylabel=label(curve.name))
        else:
            ends = float(curve.parts.min()), float(curve.parts.max())
            drawn = paint_curve(axes, curve.values, curve.parts, curve.quantiles, ends)
            axes.set(xlabel=label(curve.name), ylabel="part of the score")
        if len(curve.outputs) > 1:
            axes.legend(drawn, [label(output) for output in curve.outputs], frameon=False)


def paint_curve(axes: Any, values: Array, parts: Array, quantiles: Array, ends: tuple[float, float]) -> list[Any]:
    """A line for each output between these ends, and ticks at quantiles of the rows below them; returns the lines."""
    room = 0.08 * (ends[1] - ends[0])
    axes.axhline(0, color=MUTED, linewidth=0.8)
    drawn = [axes.plot(values, each, color=colour(i), linestyle=dash(i))[0] for i, each in enumerate(parts)]
    for quantile in quantiles:
        axes.plot([quantile] * 2, [ends[0] - room, ends[0] - 0.4 * room], color=MUTED, linewidth=1)
    axes.set(ylim=(ends[0] - room, ends[1] + room))
    ticks(axes.xaxis, "number", 5)
    ticks(axes.yaxis, "number", 5)
    return drawn


def paint_bars(axes: Any, names: Sequence[str], parts: Array, most: int = 14) -> list[Any]:
    """A bar for each name and output, from the top down; `most` letters of a name are shown. Returns the bars."""
    n = len(parts)
    places = np.arange(len(names))
    axes.axvline(0, color=MUTED, linewidth=0.8)
    below = (np.arange(n) - (n - 1) / 2) * 0.8 / n
    drawn = [axes.barh(places + below[i], each, 0.8 / n, color=colour(i)) for i, each in enumerate(parts)]
    axes.set(ylim=(len(places) - 0.4, -0.6))
    axes.yaxis.set_ticks(places, [short(name, most) for name in names])
    ticks(axes.xaxis, "number", 5)
    return drawn
