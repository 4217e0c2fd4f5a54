"""Axes of matplotlib in the style of the library, with ticks that read well at any size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._wording import amount, number, short

INK, MUTED, GRID = "#1b1f24", "#667080", "#d8dde4"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#a8478a", "#9a7400", "#3e97cf", "#5c6570", "#8f5b4a")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
_PALE = 0.35
_PICTURE_WIDTH = 620

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "thresher",
    "text.parse_math": False,  # a label may hold any text
    "axes.formatter.use_mathtext": False,
    "path.simplify": False,
    "font.size": 11.5,
    "axes.labelsize": 11.5,
    "axes.facecolor": "none",
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.8,
}


@contextmanager
def styled(purpose: str) -> Iterator[None]:
    """Draw in the style of the library."""
    mpl = matplotlib_for(purpose)
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font lacks
        yield


def matplotlib_for(purpose: str) -> Any:
    """Import matplotlib; the error names what needs it."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(f'{purpose} needs matplotlib: pip install "thresher[lab]".') from None
    return matplotlib


def new_axes(width: float, height: float, pads: tuple[int, int], dpi: int = 72) -> Any:
    """Make axes that fill a figure, whose sizes and margins are in points."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), dpi=dpi, layout="constrained")
    figure.get_layout_engine().set(w_pad=pads[0] / 72, h_pad=pads[1] / 72)  # type: ignore[union-attr, call-arg]
    return figure.subplots()


def panel_below(axes: Any, share: float) -> Any:
    """Make room for a second panel below axes, which takes a share of their height and has their x axis."""
    grid = axes.get_subplotspec().subgridspec(2, 1, height_ratios=(1 - share, share))
    axes.set_subplotspec(grid[0])
    below = axes.figure.add_subplot(grid[1], sharex=axes)
    axes.tick_params(labelbottom=False)
    return below


@contextmanager
def picture(path: Any, axes: Any, height: float) -> Iterator[Any]:
    """Yield axes, or those of a new figure, and save what is drawn there if there is a path."""
    with styled("A picture"):
        axes = new_axes(_PICTURE_WIDTH, height, (8, 8), dpi=144) if axes is None else axes
        yield axes
        if path is not None:
            axes.figure.savefig(path, facecolor="white")


def colour(i: int) -> str:
    return SERIES[i % len(SERIES)]


def paler(colour: str) -> Any:
    from matplotlib.colors import to_rgb

    return tuple(1 - _PALE * (1 - part) for part in to_rgb(colour))


def dash(i: int) -> Any:
    """Lines are dashed once all colours are used."""
    return _DASHES[i // len(SERIES) % 3]


def dots(axes: Any, x: Any, y: Any, colour: str, size: float = 4.5, square: bool = False, **options: Any) -> None:
    """Draw points as one path of steps of no length with round or square ends: a few bytes each, sharp at any size."""
    gap = np.full(len(x), np.nan)
    axes.plot(
        np.stack([x, x, gap], axis=1).ravel(),
        np.stack([y, y, gap], axis=1).ravel(),
        color=colour,
        linewidth=0.85 * size if square else size,
        solid_capstyle="projecting" if square else "round",
        **options,
    )


_FORMS: dict[str, Callable[[float], str]] = {
    "error": lambda value: f"{100 * value:.4g}%",
    "share": lambda value: f"{100 * value:.4g}%",
    "amount": amount,
    "rough amount": lambda value: amount(value, 2),
}


def ticks(axis: Any, form: str | None = None, most: int | None = 6, *, whole: bool = False) -> None:
    """Put at most this many ticks on an axis, or keep the ones it has.

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
