"""Bars of the frequencies with which features were selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._figures import INK, MUTED, SERIES, headline, name_bars, paler, picture, ticks

if TYPE_CHECKING:
    from ._frequency import SelectionFrequency

_SIGNS = {1: (SERIES[0], "weight above 0"), -1: (SERIES[1], "weight below 0"), 0: (SERIES[6], "sign changes")}
_LINE = 23  # pixels for a bar
_AROUND = 130  # for title, axis and legend


def draw(result: SelectionFrequency, path: Any, axes: Any, n: int, threshold: float) -> Any:
    columns = result.most_frequent(n)
    with picture(path, axes, _LINE * max(len(columns), 3) + _AROUND) as axes:
        _paint(axes, result, columns, threshold)
    return axes


def _paint(axes: Any, result: SelectionFrequency, columns: Any, threshold: float) -> None:
    shares = result.frequency[columns]
    stable = set(result.stable(threshold).tolist())
    signs = [0 if result.sign is None else int(result.sign[j]) for j in columns]  # anything between -1 and 1 is mixed
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
    headline(axes, _title(result, len(columns), len(stable), threshold))
    if result.sign is not None:
        _legend(axes, [sign for sign in _SIGNS if sign in signs])


def _title(result: SelectionFrequency, n_shown: int, n_stable: int, threshold: float) -> str:
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
