"""Axes that read well at any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._wording import number


def percents(axis: Any) -> None:
    axis.set_major_formatter(lambda v, _: f"{100 * v:.4g}%")


def amounts(axis: Any, digits: int = 4) -> None:
    def say(v: float, _: Any) -> str:
        for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if abs(v) >= size:
                return f"{v / size:.{digits}g}{unit}"
        return f"{v:.4g}".replace("-", "−")

    axis.set_major_formatter(say)


def numbers(axis: Any) -> None:
    axis.set_major_formatter(lambda v, _: number(v, 3))


def few_ticks(axis: Any, most: int = 6, whole: bool = False) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, integer=whole))


def log(axes: Any, which: str, low: float, high: float) -> None:
    """A logarithmic axis with a handful of labels, in powers of ten, or steps between them if it spans few."""
    from matplotlib.ticker import FixedLocator, NullLocator

    getattr(axes, f"set_{which}scale")("log")
    first, last = np.floor(np.log10(low)), np.ceil(np.log10(high))
    decades = last - first
    powers = np.arange(first, last + 1, max(1, round(decades / 6)))
    steps = (1, 2, 5) if decades <= 2 else (1,)
    places = np.sort(np.concatenate([s * 10.0**powers for s in steps]))
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(FixedLocator([p for p in places if 0.7 * low <= p <= 1.4 * high]))
    axis.set_minor_locator(NullLocator())


def short(name: str, most: int = 30) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def row_axis(axes: Any, rows: Any) -> None:
    if rows[-1] / rows[0] > 30:
        log(axes, "x", rows[0], rows[-1])
    else:
        few_ticks(axes.xaxis)
    amounts(axes.xaxis)
    axes.set_xlabel("rows learned")
