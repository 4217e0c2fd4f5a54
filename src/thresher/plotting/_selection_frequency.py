"""Plot of how often runs on parts of the data select each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._figures import INK, MUTED, SERIES, headline, name_bars, paler, ticks
from .._gate import at_least, checked, fraction
from ._display import Display

if TYPE_CHECKING:
    from ..compare import SelectionFrequency

_BAR, _AROUND = 23, 130  # points for a bar, and for title, axis and legend
_SIGNS = {1: (SERIES[0], "weight above 0"), -1: (SERIES[1], "weight below 0"), 0: (SERIES[6], "sign changes")}


class SelectionFrequencyDisplay(Display):
    """The share of runs on parts of the data that select each feature, the most frequent first.

    Colours show the signs of weights, if features have one. Bars below the threshold are pale.

    Parameters
    ----------
    result : SelectionFrequency
        What :func:`thresher.compare.selection_frequency` returns.
    n : int, default=20
        Largest number of features.
    threshold : float, default=0.8
        The share of the runs from which on a feature is called stable.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.plotting import SelectionFrequencyDisplay
    >>> X = np.random.default_rng(0).normal(size=(600, 20))
    >>> model = L1RDAClassifier(alpha=0.1)
    >>> display = SelectionFrequencyDisplay.from_estimator(model, X, X[:, 4] > X[:, 9], n_runs=5, random_state=0)
    >>> sorted(tick.get_text() for tick in display.ax_.get_yticklabels()[:2])
    ['x10', 'x5']
    """

    _size = (620, 300)

    @checked(n=at_least(1), threshold=fraction)
    def __init__(self, result: SelectionFrequency, n: int = 20, threshold: float = 0.8) -> None:
        self.result, self.n, self.threshold = result, n, threshold

    @classmethod
    def from_result(cls, result: SelectionFrequency, *, n: int = 20, threshold: float = 0.8, ax: Any = None) -> Self:
        """Draw the result of :func:`thresher.compare.selection_frequency`."""
        return cls(result, n, threshold).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, n: int = 20, threshold: float = 0.8, ax: Any = None, **runs: Any
    ) -> Self:
        """Run :func:`thresher.compare.selection_frequency`, and draw the result.

        Parameters
        ----------
        estimator : estimator or pipeline
            Not fitted.
        X : Table, data frame, array-like or sparse matrix
        y : array-like of shape (n_samples,), optional
        n : int, default=20
            Largest number of features.
        threshold : float, default=0.8
            The share of the runs from which on a feature is called stable.
        ax : matplotlib axes, optional
        **runs
            Parameters of :func:`~thresher.compare.selection_frequency`, such as ``n_runs``.

        Returns
        -------
        SelectionFrequencyDisplay
        """
        from ..compare import selection_frequency  # imports scikit-learn

        return cls.from_result(selection_frequency(estimator, X, y, **runs), n=n, threshold=threshold, ax=ax)

    def _height(self) -> float:
        return frequencies_height(self.result, self.n)

    def _paint(self, axes: Any) -> None:
        paint_frequencies(axes, self.result, self.n, self.threshold)


def frequencies_height(result: SelectionFrequency, n: int) -> float:
    return float(_BAR * max(len(result.most_frequent(n)), 3) + _AROUND)


def paint_frequencies(axes: Any, result: SelectionFrequency, n: int, threshold: float) -> None:
    columns = result.most_frequent(n)
    shares = result.frequency[columns]
    stable = set(result.stable(threshold).tolist())
    signs = [0 if result.sign is None else int(result.sign[j]) for j in columns]  # 0 between -1 and 1: mixed
    for place, (j, share, sign) in enumerate(zip(columns, shares, signs, strict=True)):
        colour = SERIES[0] if result.sign is None else _SIGNS[sign][0]
        axes.barh(place, share, height=0.66, color=colour if j in stable else paler(colour), linewidth=0)
        axes.text(share + 0.012, place, f"{share:.0%}", va="center", size=9.5, color=INK if j in stable else MUTED)
    name_bars(axes, [result.name(j) for j in columns], [j in stable for j in columns], least=3)
    axes.axvline(threshold, color="white", linewidth=3.2, alpha=0.75)  # so that the line is seen on dark bars, too
    axes.axvline(threshold, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set(xlim=(0, 1.09), xlabel=f"share of {result.n_runs} runs in which the feature was chosen")
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ticks(axes.xaxis, "share", None)
    headline(axes, _bars_title(result, len(columns), len(stable), threshold))
    if result.sign is not None:
        _legend(axes, [sign for sign in _SIGNS if sign in signs])


def _bars_title(result: SelectionFrequency, n_shown: int, n_stable: int, threshold: float) -> str:
    words = f"{n_stable:,} of {len(result.frequency):,} features chosen in at least {threshold:.0%} of the runs"
    return words if n_stable <= n_shown else f"{words}; {n_shown} shown"


def _legend(axes: Any, signs: list[int]) -> None:
    from matplotlib.patches import Patch
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -40 / 72, axes.figure.dpi_scale_trans)
    handles = [Patch(color=_SIGNS[sign][0], label=_SIGNS[sign][1], linewidth=0) for sign in signs]
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=3, frameon=False,
        borderpad=0, borderaxespad=0, handlelength=1, handleheight=1, labelcolor=MUTED, fontsize=10.5,
    )  # fmt: skip
