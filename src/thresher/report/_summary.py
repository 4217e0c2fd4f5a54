"""The three or four numbers that matter most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._figures import count, formatter, lines, low_to_high, number, percent, quoted, short, size_range
from ._subject import Section

Tile = tuple[str, str, str]  # label, value, note


def summary(task: str, sections: Mapping[str, Section], model: Any = None) -> dict[str, Any]:
    """Return ``says``, the sentence at the top, ``better``, sentences on models that would do better, and ``tiles`` of
    ``label``, ``value`` and ``note``."""
    main = next(sections[name] for name in ("measures", "clusters", "stream", "model") if name in sections)
    tiles = _tiles(task, sections)[:4]
    named = [dict(zip(("label", "value", "note"), tile, strict=True)) for tile in tiles]
    return {"says": main["says"], "better": _better_models(model), "tiles": named}


def _better_models(model: Any) -> list[str]:
    """The yardsticks that :func:`thresher.auto` found to be clearly better than the model, as sentences."""
    made = (getattr(model, "record_", None) or {}).get("auto")
    found = made.get("better") if isinstance(made, dict) else None
    return [" ".join(lines(sentence).split()) for sentence in found] if isinstance(found, list) else []


def _tiles(task: str, sections: Mapping[str, Section]) -> list[Tile]:
    tiles: list[Tile] = []
    if "measures" in sections:
        tiles += (_class_tiles if task == "classification" else _value_tiles)(sections["measures"])
    elif "stream" in sections:
        tiles.append(_stream_tile(sections["stream"]))
    if "clusters" in sections:
        tiles += _cluster_tiles(sections["clusters"])
    if "no_class" in sections and "detection rate" in sections["no_class"]:
        lost = f"and {percent(sections['no_class']['classes rejected'])} of the rows of known classes are rejected"
        tiles.append(("Rows of no class found", percent(sections["no_class"]["detection rate"]), lost))
    figures = sections["model"]["figures"]
    if "features in use" in figures:
        tiles.append(("Features in use", count(figures["features in use"]), f"of {count(figures['features'])}"))
    if "support vectors" in figures:
        tiles.append(("Support vectors", count(figures["support vectors"]), "rows that the model keeps"))
    if "data" in sections and "rows" in sections["data"]["figures"]:
        tiles.append(("Rows", count(sections["data"]["figures"]["rows"]), "of training data"))
    return tiles


def _measure_tile(
    title: str, section: Section, name: str, guess: str = "", form: Callable[[float], str] | None = None
) -> Tile:
    estimate, form = section["measures"][name], form or formatter(name)
    return title, form(estimate.value), low_to_high(estimate, form) + guess


def _class_tiles(section: Section) -> list[Tile]:
    guesses = section["guesses"]
    if (rare := section["rare class"]) is not None and np.count_nonzero([c["rows"] for c in section["classes"]]) == 2:
        return _rare_class_tiles(section, rare)
    tiles = [_measure_tile("Error", section, "error", f"; a guess is wrong on {percent(guesses['error'])}")]
    tiles.append(_measure_tile("Balanced accuracy", section, "balanced accuracy"))
    if "AUROC" in section["measures"]:
        tiles.append(_measure_tile("AUROC", section, "AUROC", "; a guess has 0.5"))
    return tiles


def _rare_class_tiles(section: Section, rare: dict[str, Any]) -> list[Tile]:
    recall, precision = (low_to_high(rare[name], percent) for name in ("recall", "precision"))
    tiles = [(f"Recall of {quoted(short(rare['class'], 20))}", percent(rare["recall"].value), recall)]
    if rare["found"] + rare["false alarms"]:
        guess = f"{precision}; a guess has {percent(rare['share'])}"
        tiles.append(("Precision", percent(rare["precision"].value), guess))
    if "average precision" in section["measures"]:
        guess = f"; a guess has {number(section['guesses']['average precision'], 2)}"
        tiles.append(_measure_tile("Average precision", section, "average precision", guess))
    return tiles


def _value_tiles(section: Section) -> list[Tile]:
    return [
        _measure_tile("RMSE", section, "RMSE", f"; the mean has {number(section['guesses']['RMSE'], 3)}"),
        _measure_tile("Variance explained", section, "R²", form=percent),
        _measure_tile("Mean absolute error", section, "MAE"),
    ]


def _stream_tile(section: Section) -> Tile:
    form = formatter(section["measure"])
    note = f"{form(float(section['recently'][-1]))} in the last fifth of the rows"
    return f"Progressive {section['measure']}", form(float(section["so far"][-1])), note


def _cluster_tiles(section: Section) -> list[Tile]:
    sizes = list(section["sizes"].values())
    tiles: list[Tile] = [("Clusters", count(len(sizes)), f"of {size_range(sizes)}")]
    if section["silhouette"] is not None:
        tiles.append(("Silhouette", number(section["silhouette"].value, 2), "1 is far apart, 0 on the border"))
    return tiles
