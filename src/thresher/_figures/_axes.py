"""Ticks of axes that read well at any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._canvas import INK, MUTED
from ._wording import amount, number, short

_FORMS: dict[str, Callable[[float], str]] = {
    "error": lambda value: f"{100 * value:.4g}%",
    "share": lambda value: f"{100 * value:.4g}%",
    "amount": amount,
    "rough amount": lambda value: amount(value, 2),
}


def ticks(axis: Any, form: str | None = None, most: int | None = 6, *, whole: bool = False) -> None:
    """Put at most so many ticks on an axis, or leave those it has.

    ``form`` says what their values are: an error or another share, an amount, or any other number.
    """
    from matplotlib.ticker import MaxNLocator

    if most is not None:
        axis.set_major_locator(MaxNLocator(most, integer=whole))
    if form is not None:
        axis.set_major_formatter(lambda value, _: _FORMS[form](value) if form in _FORMS else number(value, 3))


def x_ticks(axes: Any, form: str, ends: Sequence[float], *, log: bool) -> None:
    """Put ticks below the x axis, on a logarithmic scale in powers of ten, or steps between them if it spans few."""
    if not log:
        return ticks(axes.xaxis, form)
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_xscale("log")
    low, high = ends[0], ends[-1]
    first, last = np.floor(np.log10(low)), np.ceil(np.log10(high))
    decades = last - first
    powers = np.arange(first, last + 1, max(1, round(decades / 6)))
    steps = (1, 2, 5) if decades <= 2 else (1,)
    places = np.sort(np.concatenate([s * 10.0**powers for s in steps]))
    axes.xaxis.set_major_locator(FixedLocator([p for p in places if 0.7 * low <= p <= 1.4 * high]))
    axes.xaxis.set_minor_locator(NullLocator())
    ticks(axes.xaxis, form, None)


def row_ticks(axes: Any, rows: Any) -> None:
    x_ticks(axes, "amount", rows, log=rows[-1] / rows[0] > 30)
    axes.set_xlabel("rows learned")


def name_bars(axes: Any, names: Sequence[str], strong: Sequence[bool], least: int) -> None:
    """Name horizontal bars from the top down, in ink if they are strong, with room for at least so many."""
    axes.set_yticks(range(len(names)), [short(name, 32) for name in names])
    for tick, is_strong in zip(axes.get_yticklabels(), strong, strict=True):
        tick.set(color=INK if is_strong else MUTED, parse_math=False)
    axes.set_ylim(max(len(names), least) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["bottom"].set_visible(False)


def headline(axes: Any, words: str) -> None:
    axes.set_title(words, loc="left", size=12.5, color=INK, pad=10)
