"""Figures of the sections of a report."""

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
    dash,
    dots,
    draw,
    key,
    label,
    row_ticks,
    score,
    short,
    ticks,
    x_ticks,
)
from ..plotting import paint_course
from ._course import RARE
from ._curves import figures_of_curves
from ._decision_plots import reliability, thresholds
from ._race_section import FORMS
from ._subject import Section

_SMALL = (340, 250)
_MOST_PROFILES = 20  # clusters in one picture
_GUESS: dict[str, Any] = {"color": MUTED, "linewidth": 1, "linestyle": (0, (2, 3))}
_BORDER: dict[str, Any] = {"color": INK, "linewidth": 1, "linestyle": (0, (3, 3))}


def figures(name: str, section: Section) -> list[Figure]:
    """Draw the figures of a section, in order."""
    return _FIGURES[name](section) if name in _FIGURES else []


def _figure(paint: Any, caption: str, legend: list[Key] | None = None, small: bool = False) -> Figure:
    return Figure(draw(paint, *_SMALL) if small else draw(paint), caption, legend or [], small)


def _ranking(section: Section) -> list[Figure]:
    curves = section["curves"]

    def figure(kind: str, measure: str, x: str, y: str, caption: str) -> Figure:
        def paint(axes: Any) -> None:
            if kind == "roc":
                axes.plot([0, 1], [0, 1], **_GUESS)
            elif len(curves) == 1:
                axes.axhline(curves[0]["share"], **_GUESS)
            for i, curve in enumerate(curves):
                axes.plot(*curve[kind].values(), color=colour(i), linestyle=dash(i))
            axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=x, ylabel=y)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks([0, 0.2, 0.4, 0.6, 0.8, 1])
                ticks(axis, "share", None)

        legend = [key(i, f"{curve['class']}: {score(curve[measure].value)}") for i, curve in enumerate(curves)]
        legend += [Key("a guess", "muted", "dots")] if kind == "roc" or len(curves) == 1 else []
        return Figure(draw(paint, height=330), caption, legend)

    false, found = "false alarms (share of the other rows)", "found (share of the class)"
    right, areas = "right among those: precision", "Precision and recall, with the average precision"
    return [
        figure("roc", "auroc", false, found, "ROC curve, with the area below it"),
        figure("pr", "average precision", "found: recall", right, areas),
    ]


def _histogram(section: Section, caption: str) -> Figure:
    edges, shares = np.asarray(section["edges"]), section["shares"]

    def paint(axes: Any) -> None:
        for i, values in enumerate(shares.values()):
            axes.stairs(values, edges, fill=True, color=colour(i), alpha=0.22, linewidth=0)
            axes.stairs(values, edges, color=colour(i), linewidth=1.6)
        if section["border"] is not None:
            axes.axvline(section["border"], **_BORDER)
        axes.set(xlabel=section["axis"], ylabel="share of rows", xlim=(edges[0], edges[-1]), ylim=(0, None))
        ticks(axes.xaxis, "number")
        ticks(axes.yaxis, "share", 5)

    rows = section["rows"]
    if section["beyond"] > 0.01:
        caption += "; the outer bars hold all that lies beyond"
    legend = [key(i, f"{name} ({count(rows[name])})", "area") for i, name in enumerate(shares)]
    return Figure(draw(paint), caption, legend if len(legend) > 1 else [])


def _residuals(section: Section) -> list[Figure]:
    true, predicted = (np.asarray(section["points"][k]) for k in ("true", "predicted"))

    def paint(axes: Any) -> None:
        ends = [min(true.min(), predicted.min()), max(true.max(), predicted.max())]
        dots(axes, true, predicted, colour(0), 4, alpha=0.55)
        axes.plot(ends, ends, **_BORDER)
        axes.set(xlabel="true value", ylabel="predicted value")
        for axis in (axes.xaxis, axes.yaxis):
            ticks(axis, "number")

    return [
        Figure(draw(paint, height=320), f"{count(len(true))} rows; on the dashed line a prediction is right"),
        _histogram(section, "How far off predictions are"),
    ]


def _stream(section: Section) -> list[Figure]:
    rows = np.asarray(section["rows"], dtype=float)
    if len(rows) < 2:
        return []
    small = section["loss so far"] is not None
    found = [_course(rows, section["so far"], section["recently"], section["measure"], section.get("guess"), small)]
    if small:
        found.append(_course(rows, section["loss so far"], section["loss recently"], "loss", None, small))
    used = np.asarray(section["features in use"], dtype=float)
    if len(used) == len(rows):

        def paint(axes: Any) -> None:
            axes.plot(rows, used, color=colour(2))
            row_ticks(axes, rows)
            axes.set(ylabel="features in use", ylim=(0, 1.05 * max(used.max(), 1)))
            ticks(axes.yaxis, "amount", 5, whole=True)

        found.append(_figure(paint, "Features in use", small=small))
    if section["rare class"] is not None and len(section["rare class"]["rows"]) > 1:
        found.append(_rare_class(section["rare class"], small))
    return found


def _rare_class(rare: Section, small: bool) -> Figure:
    rows = np.asarray(rare["rows"], dtype=float)

    def paint(axes: Any) -> None:
        for i, name in enumerate(RARE):
            axes.plot(rows, rare[name], color=colour(i), linestyle=dash(i))
        row_ticks(axes, rows)
        axes.set(ylabel="measure so far", ylim=(0, 1.02))
        ticks(axes.yaxis, most=5)

    legend = [key(i, f"{title}: {score(float(rare[name][-1]))}") for i, (name, title) in enumerate(RARE.items())]
    return _figure(paint, f"How well {short(rare['class'])} is found, before rows were learned", legend, small)


def _course(rows: Any, so_far: Any, recently: Any, measure: str, guess: float | None, small: bool) -> Figure:
    def paint(axes: Any) -> None:
        paint_course(axes, rows, so_far, recently, measure, guess)

    legend = [key(0, "all rows so far"), key(1, "the last fifth of them")]
    legend += [Key("a guess", "muted", "dots")] if guess is not None else []
    what = "Error" if measure == "error" else "Mean loss"
    return _figure(paint, f"{what} of rows before they were learned", legend, small)


def _objective(section: Section) -> list[Figure]:
    def paint(axes: Any) -> None:
        axes.plot(section["steps"], section["objective"], color=colour(0), marker="", linewidth=2)
        axes.set(xlabel="step", ylabel="objective")
        ticks(axes.xaxis, whole=True)
        ticks(axes.yaxis, "amount", 5)

    return [Figure(draw(paint), "The objective after each step")]


def _sparsity(section: Section) -> list[Figure]:
    kept = np.asarray(section["kept"], dtype=float)
    if len(kept) < 2:
        return []
    values = np.array([tuple(e) for e in section["error"]])

    def paint(axes: Any) -> None:
        axes.fill_between(kept, values[:, 1], values[:, 2], color=colour(0), alpha=0.18, linewidth=0)
        axes.plot(kept, values[:, 0], color=colour(0))
        dots(axes, kept, values[:, 0], colour(0), 5)
        axes.set_xscale("log", base=2)
        shown = kept if len(kept) <= 8 else kept[np.unique(np.linspace(0, len(kept) - 1, 7).astype(int))]
        axes.set_xticks(shown)
        ticks(axes.xaxis, "rough amount", None)
        axes.set(xlabel="most important features kept", ylabel=section["measure"], ylim=(0, None))
        axes.minorticks_off()
        ticks(axes.yaxis, section["measure"], 5)

    legend = [key(0, f"{section['measure']} on the sample"), key(0, "95 % interval", "area")]
    return [Figure(draw(paint), "Error when only the most important features are kept", legend)]


def _kernels(section: Section) -> list[Figure]:
    shown = section["kernels"][::-1]
    if not shown:
        return []
    several = len(section["outputs"]) > 1
    outputs = section["outputs"][:8] if several else section["outputs"]

    def paint(axes: Any) -> None:
        height = 0.8 / len(outputs)
        for i in range(len(outputs)):
            places = np.arange(len(shown)) + height * (len(outputs) - 1 - 2 * i) / 2
            axes.barh(places, [kernel["weights"][i] for kernel in shown], 0.9 * height, color=colour(i))
        axes.set_yticks(range(len(shown)), [short(kernel["name"], 44) for kernel in shown])
        axes.set(xlabel="weight", ylim=(-0.7, len(shown) - 0.3))
        axes.grid(False, axis="y")
        ticks(axes.xaxis, "number", 5)

    rest = section["n_used"] - len(shown)
    caption = "Weights of the kernels in use" + (f"; {count(rest)} smaller ones are left out" if rest else "")
    legend = [key(i, name, "square") for i, name in enumerate(outputs)] if several else []
    return [Figure(draw(paint, 660, 90 + len(shown) * (20 if len(outputs) < 4 else 34)), caption, legend)]


def _plane(section: Section) -> list[Figure]:
    x, y = np.asarray(section["x"]), np.asarray(section["y"])
    true, predicted = section["true"], np.asarray(section["predicted"])
    wrong = None if true is None else np.asarray(true) != predicted

    def side(groups: Any, ring: bool) -> str:
        def paint(axes: Any) -> None:
            if ring and wrong is not None and wrong.any():
                dots(axes, x[wrong], y[wrong], INK, 9)
            _grouped(axes, x, y, groups, len(section["groups"]))
            axes.set(xlabel="first direction", ylabel="second direction", xticks=[], yticks=[])
            axes.grid(False)

        return draw(paint, height=330)

    legend = _group_keys(section["groups"])
    if wrong is None:
        return [Figure(side(predicted, False), "Rows as the model groups them", legend)]
    marked = [*legend, Key("ringed: another answer than the truth", "ink", "dot")] if wrong.any() else legend
    return [
        Figure(side(np.asarray(true), False), "True classes", legend),
        Figure(side(predicted, True), "Classes as predicted", marked),
    ]


def _grouped(axes: Any, x: Any, y: Any, groups: Any, n: int) -> None:
    sizes = np.bincount(groups, minlength=n)
    for k in np.argsort(-sizes, kind="stable"):  # small groups on top
        if sizes[k]:
            mine = groups == k
            dots(axes, x[mine], y[mine], colour(int(k)), 5, square=bool(k % 2))


def _group_keys(groups: list[str]) -> list[Key]:
    return [key(k, name, "square" if k % 2 else "dot") for k, name in enumerate(groups)]


def _regions(section: Section) -> list[Figure]:
    leads, low, high = section["_leads"], section["low"], section["high"]
    n = len(section["groups"])

    def paint(axes: Any) -> None:
        xs, ys = (np.linspace(low[i], high[i], leads.shape[1]) for i in (0, 1))
        for k in range(n):
            if leads[k].max() > 0:
                axes.contourf(xs, ys, leads[k], levels=[0, leads[k].max() + 1], colors=[colour(k)], alpha=0.2)
            if k and leads[k].min() < 0 < leads[k].max():
                axes.contour(xs, ys, leads[k], levels=[0], colors=[INK], linewidths=1.2)
        _grouped(axes, np.asarray(section["x"]), np.asarray(section["y"]), np.asarray(section["true"]), n)
        x, y = map(short, section["names"])
        axes.set(xlabel=x, ylabel=y, xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.grid(False)
        for axis in (axes.xaxis, axes.yaxis):
            ticks(axis, "number")

    caption = "Points are rows of the sample, areas the model's answers"
    return [Figure(draw(paint, height=340), caption, _group_keys(section["groups"]))]


def _clusters(section: Section) -> list[Figure]:
    """Draw the sorted silhouettes of each cluster, as high as its share of the rows."""
    bars = list(section["bars"].items())[:_MOST_PROFILES]
    if not bars:
        return []
    sizes = np.array([section["sizes"].get(name, 1) for name, _ in bars], dtype=float)
    heights = np.maximum(sizes / sizes.sum(), 0.02)  # small ones can still be seen
    tops = np.concatenate([[0.0], np.cumsum(heights + 0.015)])

    def paint(axes: Any) -> None:
        for k, (_, values) in enumerate(bars):
            y = np.linspace(tops[k], tops[k] + heights[k], len(values) + 1)
            axes.stairs(np.asarray(values), y, orientation="horizontal", fill=True, color=colour(k), alpha=0.75)
        axes.axvline(section["silhouette"].value, **_BORDER)
        axes.set_yticks(tops[:-1] + heights / 2, [short(name, 12) for name, _ in bars])
        axes.set(xlabel="silhouette", ylabel="cluster", ylim=(tops[-1], 0), xlim=(None, 1))
        axes.grid(False, axis="y")
        ticks(axes.xaxis, "number")

    caption = "Silhouettes of the sample, cluster by cluster; left of 0 rows are nearer to another cluster"
    return [Figure(draw(paint, height=330), caption, [Key("mean of all rows", "ink", "dash")])]


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


def _score_axis(axes: Any, section: Section, tried: list[dict[str, Any]]) -> Any:
    """Return the values of settings; very bad ones, which would squeeze the others, are put on the edge."""
    sign = section["sign"]
    scores = np.array([entry["score"] for entry in tried], dtype=float)
    best, low = scores.max(), scores.min()
    floor = max(low, best - 4 * max(best - float(np.median(scores)), 1e-12))
    room = max(best - floor, 1e-9 * max(abs(best), 1.0))
    ends = sign * (floor - 0.08 * room), sign * (best + 0.1 * room)
    axes.set(ylim=(min(ends), max(ends)))
    ticks(axes.yaxis, "number", 5)
    return sign * np.maximum(scores, floor)


def _stage_dots(axes: Any, section: Section, tried: list[dict[str, Any]], x: Any, y: Any) -> None:
    stages = np.array([section["stages"].index(entry["stage"]) for entry in tried])
    for i in range(len(section["stages"])):
        dots(axes, x[stages == i], y[stages == i], colour(i), 5, square=i % 2 == 1, alpha=0.75)
    if section["best"] not in tried:  # another method's parameter
        return
    best = tried.index(section["best"])
    dots(axes, x[[best]], y[[best]], INK, 11)
    dots(axes, x[[best]], y[[best]], colour(int(stages[best])), 7, square=bool(stages[best] % 2))


def _title(section: Section) -> str:
    measure = section["measure"]
    return str(measure[0].upper() + measure[1:])


def _stage_keys(section: Section) -> list[Key]:
    keys = [key(i, stage, "square" if i % 2 else "dot") for i, stage in enumerate(section["stages"])]
    return [*keys, Key("the best", "ink", "dot")]


def _path(section: Section, tried: list[dict[str, Any]]) -> Figure:
    def paint(axes: Any) -> None:
        y, sign = _score_axis(axes, section, tried), section["sign"]
        x = np.array([entry["evaluation"] for entry in tried], dtype=float)
        axes.plot(x, sign * np.maximum.accumulate(sign * y), color=MUTED, linewidth=1.4, drawstyle="steps-post")
        _stage_dots(axes, section, tried, x, y)
        axes.set(xlabel="setting, in the order tried", ylabel=section["measure"])
        ticks(axes.xaxis, whole=True)

    legend = [*_stage_keys(section), Key("best so far", "muted")]
    return Figure(draw(paint), f"{_title(section)} of each setting, and the best so far", legend)


def _by_param(section: Section, tried: list[dict[str, Any]], name: str) -> Figure:
    about = section["params"][name]
    having = [entry for entry in tried if name in entry["params"]]

    def paint(axes: Any) -> None:
        y = _score_axis(axes, section, having)
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
        axes.set(xlabel=short(name), ylabel=section["measure"])

    return Figure(draw(paint, 320, 220), f"{_title(section)} by {name}", small=True)


def _by_size(section: Section, tried: list[dict[str, Any]]) -> Figure:
    having = [entry for entry in tried if entry["n_used"] is not None]

    def paint(axes: Any) -> None:
        y = _score_axis(axes, section, having)
        x = np.array([entry["n_used"] for entry in having], dtype=float)
        low, high = float(x.min()), float(x.max())
        x_ticks(axes, "amount", (low, high), log=low > 0 and high > 20 * low)
        _stage_dots(axes, section, having, x, y)
        axes.set(xlabel="features in use", ylabel=section["measure"])

    return Figure(draw(paint), f"{_title(section)} against sparsity", _stage_keys(section))


def _race(section: Section) -> list[Figure]:
    """Draw the candidates of each part of a race by the parameter that it was about."""
    step, second, candidates = section["parameter"], section["second"], section["candidates"]
    if step is None:
        return []
    first = [c for c in candidates if second is None or c["params"][second] == candidates[0]["params"][second]]
    later = [c for c in candidates if c["part"] == 2]
    return [_candidates(section, first, step), *([_candidates(section, later, second)] if len(later) > 1 else [])]


def _candidates(section: Section, shown: list[dict[str, Any]], name: str) -> Figure:
    measure = section["measure"]
    forms: list[Any] = [form for form in FORMS if any(c["params"].get("multi_class") == form for c in shown)] or [None]
    in_use = next(c["params"] for c in section["candidates"] if c["chosen"])
    marked = [all(c["params"].get(k) == in_use.get(k) for k in (name, "multi_class")) for c in shown]

    def paint(axes: Any) -> None:
        values = [c["params"][name] for c in shown]
        x_ticks(axes, "number", (min(values), max(values)), log=True)
        for c, is_in_use in zip(shown, marked, strict=True):
            i = forms.index(c["params"].get("multi_class"))
            x, y = c["params"][name] * (1 + 0.12 * (i - (len(forms) - 1) / 2)), c[measure]
            if not c["running"] and not is_in_use:
                axes.plot([x, x], [y, c["best"]], color=MUTED, linewidth=0.9)
                axes.plot([0.9 * x, 1.1 * x], [c["best"]] * 2, color=MUTED, linewidth=1.6)
                axes.plot([x], [y], "o", markersize=6, markerfacecolor="none", markeredgecolor=colour(i))
                continue
            if is_in_use:
                dots(axes, [x], [y], INK, 12)
            dots(axes, [x], [y], colour(i), 7)
        ends = [value for c in shown for value in (c[measure], c["best"]) if np.isfinite(value)]
        room = max(max(ends) - min(ends), 0.1 * max(ends), 1e-12)
        axes.set(xlabel=name, ylabel=measure, ylim=(max(0.0, min(ends) - 0.2 * room), max(ends) + 0.15 * room))
        ticks(axes.yaxis, measure, 5)

    legend = [key(i, f"classes {FORMS[form]}", "dot") for i, form in enumerate(forms) if form]
    if not legend and any(c["running"] and not c["chosen"] for c in shown):
        legend = [key(0, "still learning", "dot")]
    legend.append(Key("in use", "ink", "dot"))
    if not all(c["running"] for c in shown):
        legend += [Key("dropped: up to then", "muted", "ring"), Key("the leader up to then", "muted")]
    what = "Error" if measure == "error" else "Mean loss"
    return Figure(draw(paint), f"{what} of rows before they were learned, by {name}", legend)


_FIGURES = {
    "ranking": _ranking,
    "decision_values": lambda section: [_histogram(section, f"Share of rows by {section['axis']}")],
    "decisions": thresholds,
    "probabilities": reliability,
    "residuals": _residuals,
    "stream": _stream,
    "objective": _objective,
    "race": _race,
    "tuning": figures_of_search,
    "curves": figures_of_curves,
    "sparsity": _sparsity,
    "kernels": _kernels,
    "map": _plane,
    "regions": _regions,
    "clusters": _clusters,
}
