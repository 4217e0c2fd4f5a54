"""Pictures of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._figures import INK, MUTED, SERIES, headline, label, name_bars, paler, picture, short, ticks
from ._score_table import marks

if TYPE_CHECKING:
    from ._comparison import Comparison
    from ._frequency import SelectionFrequency

_BOX, _AROUND_BOXES = 34, 100  # pixels for a box, and for title and axis
_BAR, _AROUND_BARS = 23, 130  # pixels for a bar, and for title, axis and legend
_SPREAD = 0.22  # of the runs' dots, so that equal ones are seen
_SIGNS = {1: (SERIES[0], "weight above 0"), -1: (SERIES[1], "weight below 0"), 0: (SERIES[6], "sign changes")}


def draw_boxes(runs: Comparison, path: Any, axes: Any, measure: str) -> Any:
    with picture(path, axes, _BOX * max(len(runs.scores[measure]), 2) + _AROUND_BOXES) as axes:
        named, marked = runs.scores[measure], marks(runs, measure)
        for place, (name, values) in enumerate(named.items()):
            colour = SERIES[0] if name in marked else SERIES[6]
            _box(axes, place, values, colour)
            places = place + _SPREAD * np.linspace(-1, 1, len(values)) if len(values) > 1 else [place]
            axes.plot(values, places, "o", color=colour, markersize=2.8, alpha=0.75, markeredgewidth=0)
        name_bars(axes, [label(name) for name in named], [name in marked for name in named], least=2)
        ticks(axes.xaxis, "number")
        axes.set_xlabel(f"{label(measure)}{', less is better' if measure in runs.lower_is_better else ''}")
        headline(axes, _boxes_title(runs, measure, len(marked) - 1))
    return axes


def _boxes_title(runs: Comparison, measure: str, n_close: int) -> str:
    if n_close < 0:
        return f"{runs.n_runs} runs"
    best = f"{runs.n_runs} runs: {short(label(runs.best(measure)))} is best"
    return f"{best}, {n_close} not told apart from it" if n_close else best


def _box(axes: Any, place: int, values: Any, colour: str) -> None:
    """Draw quartiles and median, and lines to the last runs within 1.5 times the length of the box."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (high - low)
    near = values[(values >= low - reach) & (values <= high + reach)]
    axes.hlines([place, place], [near.min(), high], [low, near.max()], colors=colour, linewidth=1.2)
    axes.barh(place, high - low, left=low, height=0.62, color=paler(colour), edgecolor=colour, linewidth=1.2)
    axes.vlines(middle, place - 0.31, place + 0.31, colors=colour, linewidth=2.4)


def draw_frequencies(result: SelectionFrequency, path: Any, axes: Any, n: int, threshold: float) -> Any:
    columns = result.most_frequent(n)
    with picture(path, axes, _BAR * max(len(columns), 3) + _AROUND_BARS) as axes:
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
    return axes


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
