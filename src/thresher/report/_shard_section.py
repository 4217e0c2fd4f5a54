"""How learning went in rounds over shards."""

from __future__ import annotations

from typing import Any

from .._figures import count, number, percent, plural, seconds_of
from ._measures import proportion
from ._subject import Section, Subject

_MOST = 60


def rounds(subject: Subject) -> Section | None:
    """Rows, errors and seconds of each round, from what :func:`thresher.distributed.fit` notes."""
    told = subject.data.get("distributed")
    if not told or not told.get("rounds"):
        return None
    has_errors = subject.task == "classification" and told["mode"] == "passes"
    found = [_round(each, has_errors) for each in told["rounds"]]
    section: Section = {
        "title": "Round by round",
        "mode": told["mode"],
        "n_shards": len(told["shards"]),
        "n_rounds": len(found),
        "rounds": found[:_MOST],
        "seconds": sum(each["seconds"] for each in found),
    }
    return section | {"says": _said(section, found)}


def _round(told: dict[str, Any], has_errors: bool) -> dict[str, Any]:
    rows = int(told.get("rows", 0))
    entry: dict[str, Any] = {
        "round": int(told["round"]),
        "questions": int(told["questions"]),
        "rows": rows,
        "seconds": float(told["seconds"]),
    }
    entry["error"] = proportion(float(told["mistakes"]), rows) if has_errors and rows and "mistakes" in told else None
    entry["loss"] = float(told["loss"]) / rows if rows and "loss" in told else None
    return entry


def _said(section: Section, found: list[dict[str, Any]]) -> str:
    said = f"The model was made in {plural(len(found), 'round')} over {plural(section['n_shards'], 'shard')}, "
    said += f"{seconds_of(section['seconds'])} in all"
    if section["mode"] == "sums":
        return said + "; in each, shards answered questions with sums over their rows."
    said += "; in each, shards learned apart and were merged"
    first, last = found[0]["error"], found[-1]["error"]
    if first is not None and last is not None:
        said += f". Rows were predicted before a shard learned from them: the error is {percent(first.value)}"
        said += (
            f" in the first round and {percent(last.value)} in the last, of rows seen before" if len(found) > 1 else ""
        )
    return said + "."


def table(section: Section) -> list[tuple[str, ...]]:
    """The rounds as text, under a line of what each column holds."""
    if section["mode"] == "sums":
        told = [(str(r["round"]), count(r["questions"]), seconds_of(r["seconds"])) for r in section["rounds"]]
        return [("round", "questions", "time"), *told]
    rows = []
    for r in section["rounds"]:
        error = "" if r["error"] is None else percent(r["error"].value)
        loss = "" if r["loss"] is None else number(r["loss"], 3)
        rows.append((str(r["round"]), count(r["rows"]), error, loss, seconds_of(r["seconds"])))
    return [("round", "rows", "error", "mean loss", "time"), *rows]
