"""The picture of how often features were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._figures import INK, MUTED, SERIES, percents, short
from ._canvas import canvas, paler

if TYPE_CHECKING:
    from ._frequency import SelectionFrequency

_SIGNS = {1: (SERIES[0], "weight above 0"), -1: (SERIES[1], "weight below 0"), 0: (SERIES[6], "sign changes")}
_LINE = 23  # pixels for a bar
_AROUND = 130  # for title, axis and legend


def draw(found: SelectionFrequency, path: Any, axes: Any, n: int, threshold: float) -> Any:
    columns = found.most_frequent(n)
    with canvas(path, axes, _LINE * max(len(columns), 3) + _AROUND) as axes:
        _paint(axes, found, columns, threshold)
    return axes


def _paint(axes: Any, found: SelectionFrequency, columns: Any, threshold: float) -> None:
    shares = found.frequency[columns]
    stable = set(found.stable(threshold).tolist())
    signs = [0 if found.sign is None else int(found.sign[j]) for j in columns]  # anything between -1 and 1 is mixed
    for place, (j, share, sign) in enumerate(zip(columns, shares, signs, strict=True)):
        colour = SERIES[0] if found.sign is None else _SIGNS[sign][0]
        axes.barh(place, share, height=0.66, color=colour if j in stable else paler(colour), linewidth=0)
        axes.text(share + 0.012, place, f"{share:.0%}", va="center", size=9.5, color=INK if j in stable else MUTED)
    axes.set_yticks(range(len(columns)), [short(found.name(j), 32) for j in columns])
    for tick, j in zip(axes.get_yticklabels(), columns, strict=True):
        tick.set(color=INK if j in stable else MUTED, parse_math=False)
    axes.set_ylim(max(len(columns), 3) - 0.4, -0.6)  # the most frequent at the top
    axes.axvline(threshold, color="white", linewidth=3.2, alpha=0.75)  # so that the line is seen on dark bars, too
    axes.axvline(threshold, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set(xlim=(0, 1.09), xlabel=f"share of {found.n_runs} runs in which the feature was chosen")
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    percents(axes.xaxis)
    axes.grid(visible=False, axis="y")
    axes.spines["bottom"].set_visible(False)
    axes.set_title(_title(found, len(columns), len(stable), threshold), loc="left", size=12.5, color=INK, pad=10)
    if found.sign is not None:
        _legend(axes, [sign for sign in _SIGNS if sign in signs])


def _title(found: SelectionFrequency, n_shown: int, n_stable: int, threshold: float) -> str:
    width = len(found.frequency)
    words = f"{n_stable:,} of {width:,} features chosen in at least {threshold:.0%} of the runs"
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
