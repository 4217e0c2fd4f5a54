"""Pictures of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._figures import SERIES, headline, label, name_bars, paler, picture, short, ticks
from ..plotting import frequencies_height, paint_frequencies
from ._score_table import marks

if TYPE_CHECKING:
    from ._comparison import Comparison
    from ._frequency import SelectionFrequency

_BOX, _AROUND_BOXES = 34, 100  # pixels for a box, and for title and axis
_SPREAD = 0.22  # of the runs' dots, so that equal ones are seen


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
        axes.set_xlabel(f"{label(measure)}{', lower is better' if measure in runs.lower_is_better else ''}")
        headline(axes, _boxes_title(runs, measure, len(marked) - 1))
    return axes


def _boxes_title(runs: Comparison, measure: str, n_close: int) -> str:
    if n_close < 0:
        return f"{runs.n_runs} runs"
    best = f"{runs.n_runs} runs: {short(label(runs.best(measure)))} is best"
    return f"{best}, {n_close} not significantly worse" if n_close else best


def _box(axes: Any, place: int, values: Any, colour: str) -> None:
    """Draw quartiles and median, and lines to the last runs within 1.5 times the length of the box."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (high - low)
    near = values[(values >= low - reach) & (values <= high + reach)]
    axes.hlines([place, place], [near.min(), high], [low, near.max()], colors=colour, linewidth=1.2)
    axes.barh(place, high - low, left=low, height=0.62, color=paler(colour), edgecolor=colour, linewidth=1.2)
    axes.vlines(middle, place - 0.31, place + 0.31, colors=colour, linewidth=2.4)


def draw_frequencies(result: SelectionFrequency, path: Any, axes: Any, n: int, threshold: float) -> Any:
    with picture(path, axes, frequencies_height(result, n)) as axes:
        paint_frequencies(axes, result, n, threshold)
    return axes
