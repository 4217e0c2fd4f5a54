"""Rounds over shards."""

from __future__ import annotations

from typing import Any

from .._figures import count, number, percent, plural, seconds_of
from ._measures import proportion
from ._subject import Section, Subject

_MOST = 60


def rounds(subject: Subject) -> Section | None:
    """List rows, errors and seconds of each round, as :func:`thresher.distributed.fit` notes them."""
    notes = subject.data.get("distributed")
    if not notes or not notes.get("rounds"):
        return None
    has_errors = subject.task == "classification" and notes["mode"] == "passes"
    found = [_round(each, has_errors) for each in notes["rounds"]]
    section: Section = {
        "title": "Round by round",
        "mode": notes["mode"],
        "n_shards": len(notes["shards"]),
        "n_rounds": len(found),
        "rounds": found[:_MOST],
        "seconds": sum(each["seconds"] for each in found),
    }
    return section | {"says": _sentence(section, found)}


def _round(notes: dict[str, Any], has_errors: bool) -> dict[str, Any]:
    rows = int(notes.get("rows", 0))
    return {
        "round": int(notes["round"]),
        "questions": int(notes["questions"]),
        "rows": rows,
        "seconds": float(notes["seconds"]),
        "error": proportion(float(notes["mistakes"]), rows) if has_errors and rows and "mistakes" in notes else None,
        "loss": float(notes["loss"]) / rows if rows and "loss" in notes else None,
    }


def _sentence(section: Section, found: list[dict[str, Any]]) -> str:
    says = f"The model was made in {plural(len(found), 'round')} over {plural(section['n_shards'], 'shard')}, "
    says += f"{seconds_of(section['seconds'])} in all"
    if section["mode"] == "sums":
        return says + "; in each, shards answered questions with sums over their rows."
    says += "; in each, shards learned apart and were merged"
    first, last = found[0]["error"], found[-1]["error"]
    if first is not None and last is not None:
        says += f". Rows were predicted before a shard learned from them: the error is {percent(first.value)}"
        if len(found) > 1:
            says += f" in the first round and {percent(last.value)} in the last, of rows seen before"
    return says + "."


def table(section: Section) -> list[tuple[str, ...]]:
    """Write the rounds as a table of text, under a line of titles."""
    if section["mode"] == "sums":
        rounds = [(str(r["round"]), count(r["questions"]), seconds_of(r["seconds"])) for r in section["rounds"]]
        return [("round", "questions", "time"), *rounds]
    rows = []
    for r in section["rounds"]:
        error = "" if r["error"] is None else percent(r["error"].value)
        loss = "" if r["loss"] is None else number(r["loss"], 3)
        rows.append((str(r["round"]), count(r["rows"]), error, loss, seconds_of(r["seconds"])))
    return [("round", "rows", "error", "mean loss", "time"), *rows]
