"""Figures of probabilities and of thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import (
    INK,
    MUTED,
    Figure,
    Key,
    colour,
    count,
    dots,
    draw,
    key,
    number,
    panel_below,
    percent,
    quoted,
    short,
    ticks,
)
from ._subject import Section

_RIGHT: dict[str, Any] = {"color": MUTED, "linewidth": 1, "linestyle": (0, (2, 3))}


def reliability(section: Section) -> list[Figure]:
    """Draw observed over predicted shares, and below them how many rows have which prediction."""
    bins = section["bins"]
    predicted = np.array([each["predicted"] for each in bins])
    observed = np.array([tuple(each["observed"]) for each in bins])
    what = "the answer" if section["class"] is None else short(section["class"], 24)
    counts, edges = np.asarray(section["counts"]), np.asarray(section["edges"])
    low, high = min(edges[0], observed[:, 1].min()), max(edges[-1], observed[:, 2].max())
    is_taken = (predicted < low + 0.45 * (high - low)) & (observed[:, 2] > low + 0.9 * (high - low))  # the upper left

    def paint(axes: Any) -> None:
        below = panel_below(axes, 0.28)
        axes.plot([low, high], [low, high], **_RIGHT)
        for x, (_, least, most) in zip(predicted, observed, strict=True):
            axes.plot([x, x], [least, most], color=colour(0), linewidth=1.4)
        axes.plot(predicted, observed[:, 0], color=colour(0), linewidth=1.2)
        dots(axes, predicted, observed[:, 0], colour(0), 7)
        room = {"transform": axes.transAxes, "color": MUTED, "size": 10}
        axes.text(0.45 if is_taken.any() else 0.03, 0.97, "more frequent than predicted", va="top", **room)
        axes.text(0.97, 0.04, "less frequent than predicted", ha="right", **room)
        pad = 0.02 * (high - low)
        observed_is = "right answers" if section["class"] is None else "observed share"
        axes.set(ylabel=observed_is, xlim=(low - pad, high + pad), ylim=(low - pad, high + pad))
        ticks(axes.yaxis, "share", 5)
        below.stairs(counts, edges, fill=True, color=colour(0), alpha=0.35, linewidth=0)
        below.set(xlabel=f"predicted probability of {what}", ylabel="rows", ylim=(0, None))
        ticks(below.xaxis, "share", 6)
        ticks(below.yaxis, "rough amount", 2, whole=True)

    legend = [
        key(0, f"{len(bins)} bins of about {count(section['rows'] / len(bins))} rows, 95 % interval", "dot"),
        Key("probabilities that are right", "muted", "dots"),
    ]
    return [Figure(draw(paint, height=360), "Predicted probabilities and observed shares", legend)]


_IN_USE: dict[str, Any] = {"color": INK, "linewidth": 1, "linestyle": (0, (3, 3))}


def thresholds(section: Section) -> list[Figure]:
    """Draw counts, shares and costs over the threshold, with the one in use."""
    x, name = np.asarray(section["threshold"]), quoted(short(section["class"], 24))
    now, n_class = section["in use"], section["of the class"]

    def figure(lines: dict[str, Any], caption: str, y: str, form: str, lowest: bool = False) -> Figure:
        def paint(axes: Any) -> None:
            top = 0.0
            for i, values in enumerate(lines.values()):
                axes.plot(x, values, color=colour(i), drawstyle="steps-post")
                top = max(top, float(np.nanmax(values)))
                if lowest and (place := section["costs"][i]["best"]["threshold"]) >= x[0]:
                    best = section["costs"][i]
                    dots(axes, [min(place, x[-1])], [best["best"]["cost"] / best["constant"]], colour(i), 7)
            axes.axvline(now["threshold"], **_IN_USE)
            top = min(top, 2.0) if lowest else top  # far from the border the cost says little
            axes.set(xlabel="threshold", ylabel=y, ylim=(0, 1.05 * top), xlim=(x[0], x[-1]))
            ticks(axes.xaxis, "number", 5)
            ticks(axes.yaxis, form, 5)

        legend = [key(i, says) for i, says in enumerate(lines)]
        legend.append(Key("in use", "ink", "dash"))
        return Figure(draw(paint, 340, 250), caption, legend, small=True)

    called, found = np.asarray(section["called"]), np.asarray(section["found"])
    costs = {
        f"a miss costs {number(cost['ratio'], 3)}: {100 * cost['in use'] / cost['constant']:.0f} %": (
            np.asarray(cost["cost"]) / cost["constant"]
        )
        for cost in section["costs"]
    }
    return [
        figure(
            {f"called so: {count(now['called'])}": called, f"found: {count(now['found'])} of {count(n_class)}": found},
            f"Rows called {name}, and found",
            "rows",
            "amount",
        ),
        figure(
            {
                f"recall: {percent(now['recall'])}": section["recall"],
                f"precision: {percent(now['precision']) if now['called'] else '–'}": np.array(
                    section["precision"], dtype=float
                ),
            },
            "Recall and precision",
            "share",
            "share",
        ),
        figure(costs, "Cost beside calling none or all", "cost", "share", lowest=True),
    ]
