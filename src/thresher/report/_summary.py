"""The three or four numbers that matter, and one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._figures import count, number, percent, score, size_range


def summary(task: str, facts: dict[str, Any]) -> dict[str, Any]:
    """``says``, the sentence at the top, and ``tiles`` of ``label``, ``value`` and ``note``."""
    main = next(facts[name] for name in ("measures", "clusters", "stream", "model") if name in facts)
    return {"says": main["says"], "tiles": _tiles(task, facts)[:4]}


def _tiles(task: str, facts: dict[str, Any]) -> list[dict[str, str]]:
    tiles = []
    if "measures" in facts:
        tiles += _class_tiles(facts["measures"]) if task == "classification" else _value_tiles(facts["measures"])
    elif "stream" in facts:
        tiles.append(_stream_tile(facts["stream"]))
    if "clusters" in facts:
        tiles += _cluster_tiles(facts["clusters"])
    if "no_class" in facts and "detection rate" in facts["no_class"]:
        lost = f"and {percent(facts['no_class']['classes rejected'])} of the classes' rows are lost"
        tiles.append(_tile("Rows of no class found", percent(facts["no_class"]["detection rate"]), lost))
    figures = facts["model"]["figures"]
    if "features in use" in figures:
        note = f"of {count(figures['features'])}"
        tiles.append(_tile("Features in use", count(figures["features in use"]), note))
    if "support vectors" in figures:
        tiles.append(_tile("Support vectors", count(figures["support vectors"]), "rows that the model keeps"))
    if "data" in facts and "rows" in facts["data"]["figures"]:
        tiles.append(_tile("Rows", count(facts["data"]["figures"]["rows"]), "of training data"))
    return tiles


def _tile(label: str, value: str, note: str) -> dict[str, str]:
    return {"label": label, "value": value, "note": note}


def _class_tiles(section: dict[str, Any]) -> list[dict[str, str]]:
    found, guesses = section["measures"], section["guesses"]
    error = found["error"]
    tiles = [
        _tile(
            "Error",
            percent(error.value),
            f"{percent(error.low)} to {percent(error.high)}; a guess errs on {percent(guesses['error'])}",
        )
    ]
    if "average precision" in found and guesses["average precision"] < 0.25 and len(section["classes"]) == 2:
        ap = found["average precision"]
        tiles.append(
            _tile(
                "Average precision",
                score(ap.value),
                f"{_range(ap, score)}; a guess has {number(guesses['average precision'], 2)}",
            )
        )
    else:
        balanced = found["balanced accuracy"]
        tiles.append(
            _tile("Balanced accuracy", percent(balanced.value), f"{percent(balanced.low)} to {percent(balanced.high)}")
        )
    if "AUROC" in found:
        tiles.append(_tile("AUROC", score(found["AUROC"].value), f"{_range(found['AUROC'], score)}; a guess has 0.5"))
    return tiles


def _value_tiles(section: dict[str, Any]) -> list[dict[str, str]]:
    rmse, r2, mae = (section["measures"][name] for name in ("RMSE", "R²", "MAE"))
    guess = number(section["guesses"]["RMSE"], 3)
    return [
        _tile("RMSE", number(rmse.value, 3), f"{_range(rmse)}; the mean has {guess}"),
        _tile("Variance explained", percent(r2.value), f"{percent(r2.low)} to {percent(r2.high)}"),
        _tile("Mean absolute error", number(mae.value, 3), _range(mae)),
    ]


def _stream_tile(section: dict[str, Any]) -> dict[str, str]:
    say = percent if section["measure"] == "error" else (lambda v: number(v, 3))
    note = f"{say(float(section['recently'][-1]))} in the last fifth of the rows"
    return _tile(f"Progressive {section['measure']}", say(float(section["so far"][-1])), note)


def _cluster_tiles(section: dict[str, Any]) -> list[dict[str, str]]:
    sizes = list(section["sizes"].values())
    tiles = [_tile("Clusters", count(len(sizes)), f"of {size_range(sizes)}")]
    if section["silhouette"] is not None:
        tiles.append(_tile("Silhouette", number(section["silhouette"].value, 2), "1 is far apart, 0 on the border"))
    return tiles


def _range(estimate: Any, say: Callable[[float], str] = lambda v: number(v, 3)) -> str:
    return f"{say(estimate.low)} to {say(estimate.high)}"
