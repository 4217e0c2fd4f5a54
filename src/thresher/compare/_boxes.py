"""Box plots of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._figures import INK, MUTED, SERIES, few_ticks, label, numbers, short
from ._canvas import canvas, paler
from ._score_table import marks

if TYPE_CHECKING:
    from ._comparison import Comparison

_LINE = 34  # pixels for a box
_AROUND = 100  # for title and axis
_SPREAD = 0.22  # of the runs' dots, so that equal ones are seen


def draw(found: Comparison, path: Any, axes: Any, measure: str) -> Any:
    with canvas(path, axes, _LINE * max(len(found.scores[measure]), 2) + _AROUND) as axes:
        _paint(axes, found, measure)
    return axes


def _paint(axes: Any, found: Comparison, measure: str) -> None:
    named, marked = found.scores[measure], marks(found, measure)
    for place, (name, runs) in enumerate(named.items()):
        colour = SERIES[0] if name in marked else SERIES[6]
        _box(axes, place, runs, colour)
        places = place + _SPREAD * np.linspace(-1, 1, len(runs)) if len(runs) > 1 else [place]
        axes.plot(runs, places, "o", color=colour, markersize=2.8, alpha=0.75, markeredgewidth=0)
    axes.set_yticks(range(len(named)), [short(label(name), 32) for name in named])
    for tick, name in zip(axes.get_yticklabels(), named, strict=True):
        tick.set(color=INK if name in marked else MUTED, parse_math=False)
    axes.set_ylim(max(len(named), 2) - 0.4, -0.6)  # the first at the top
    few_ticks(axes.xaxis)
    numbers(axes.xaxis)
    better = ", less is better" if measure in found.lower_is_better else ""
    axes.set_xlabel(f"{label(measure)}{better}")
    axes.grid(visible=False, axis="y")
    axes.spines["bottom"].set_visible(False)
    axes.set_title(_title(found, measure, len(marked) - 1), loc="left", size=12.5, color=INK, pad=10)


def _title(found: Comparison, measure: str, n_close: int) -> str:
    if n_close < 0:
        return f"{found.n_runs} runs"
    best = f"{found.n_runs} runs: {short(label(found.best(measure)))} is best"
    return f"{best}, {n_close} not told apart from it" if n_close else best


def _box(axes: Any, place: int, runs: Any, colour: str) -> None:
    """Quartiles and median, and lines to the last runs within 1.5 times the length of the box."""
    low, middle, high = np.percentile(runs, [25, 50, 75])
    reach = 1.5 * (high - low)
    near = runs[(runs >= low - reach) & (runs <= high + reach)]
    axes.hlines([place, place], [near.min(), high], [low, near.max()], colors=colour, linewidth=1.2)
    axes.barh(place, high - low, left=low, height=0.62, color=paler(colour), edgecolor=colour, linewidth=1.2)
    axes.vlines(middle, place - 0.31, place + 0.31, colors=colour, linewidth=2.4)
