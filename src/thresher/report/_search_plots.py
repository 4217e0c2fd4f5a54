"""Figures of a search for parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import INK, MUTED, Figure, Key, colour, dots, draw, key, label, short, ticks, x_ticks
from ._subject import Section

_MOST_PARAMS = 9


def figures_of_search(section: Section) -> list[Figure]:
    """Draw the path of a search, and its scores by size and by parameter."""
    tried = [entry for entry in section["evaluations"] if entry["score"] is not None]
    if len(tried) < 2:
        return []
    found = [_path(section, tried)]
    if sum(entry["n_used"] is not None for entry in tried) > 1:
        found.append(_by_size(section, tried))
    return found + [_by_param(section, tried, name) for name in list(section["params"])[:_MOST_PARAMS]]


def _score_axis(axes: Any, scores: Any) -> Any:
    """Put very bad settings, which would squeeze the others, on the lower edge."""
    scores = np.asarray(scores, dtype=float)
    best, low = scores.max(), scores.min()
    floor = max(low, best - 4 * max(best - float(np.median(scores)), 1e-12))
    room = max(best - floor, 1e-9 * max(abs(best), 1.0))
    axes.set(ylim=(floor - 0.08 * room, best + 0.1 * room))
    ticks(axes.yaxis, "number", 5)
    return np.maximum(scores, floor)


def _stage_dots(axes: Any, section: Section, tried: list[dict[str, Any]], x: Any, y: Any) -> None:
    stages = np.array([section["stages"].index(entry["stage"]) for entry in tried])
    for i in range(len(section["stages"])):
        dots(axes, x[stages == i], y[stages == i], colour(i), 5, square=i % 2 == 1, alpha=0.75)
    if section["best"] not in tried:  # another method's parameter
        return
    best = tried.index(section["best"])
    dots(axes, x[[best]], y[[best]], INK, 11)
    dots(axes, x[[best]], y[[best]], colour(int(stages[best])), 7, square=bool(stages[best] % 2))


def _stage_keys(section: Section) -> list[Key]:
    keys = [key(i, stage, "square" if i % 2 else "dot") for i, stage in enumerate(section["stages"])]
    return [*keys, Key("the best", "ink", "dot")]


def _path(section: Section, tried: list[dict[str, Any]]) -> Figure:
    def paint(axes: Any) -> None:
        y = _score_axis(axes, [entry["score"] for entry in tried])
        x = np.array([entry["evaluation"] for entry in tried], dtype=float)
        axes.plot(x, np.maximum.accumulate(y), color=MUTED, linewidth=1.4, drawstyle="steps-post")
        _stage_dots(axes, section, tried, x, y)
        axes.set(xlabel="setting, in the order tried", ylabel="score")
        ticks(axes.xaxis, whole=True)

    legend = [*_stage_keys(section), Key("best so far", "muted")]
    return Figure(draw(paint), "Score of each setting, and the best so far", legend)


def _by_param(section: Section, tried: list[dict[str, Any]], name: str) -> Figure:
    about = section["params"][name]
    having = [entry for entry in tried if name in entry["params"]]

    def paint(axes: Any) -> None:
        y = _score_axis(axes, [entry["score"] for entry in having])
        values = [entry["params"][name] for entry in having]
        if about["kind"] == "choice":
            options = about["values"][:8]
            places = {option: float(place) for place, option in enumerate(options)}
            x = np.array([places.get(label(value), len(options)) for value in values])
            axes.set_xticks(range(len(options)), [short(o, 14) for o in options])
            axes.set_xlim(-0.6, len(options) - 0.4)
            x += np.random.default_rng(0).uniform(-0.2, 0.2, len(x))
        else:
            x = np.array(values, dtype=float)
            x_ticks(axes, "number", about["values"], log=about["kind"] == "log")
        _stage_dots(axes, section, having, x, y)
        axes.set(xlabel=short(name), ylabel="score")

    return Figure(draw(paint, 320, 220), f"Score by {name}", small=True)


def _by_size(section: Section, tried: list[dict[str, Any]]) -> Figure:
    having = [entry for entry in tried if entry["n_used"] is not None]

    def paint(axes: Any) -> None:
        y = _score_axis(axes, [entry["score"] for entry in having])
        x = np.array([entry["n_used"] for entry in having], dtype=float)
        low, high = float(x.min()), float(x.max())
        x_ticks(axes, "amount", (low, high), log=low > 0 and high > 20 * low)
        _stage_dots(axes, section, having, x, y)
        axes.set(xlabel="features in use", ylabel="score")

    return Figure(draw(paint), "Score against sparsity", _stage_keys(section))
