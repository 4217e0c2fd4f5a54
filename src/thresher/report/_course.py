"""How learning went: along the stream, step by step, and over the parameters that were tried."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._figures import count, label, number, percent, plural, quoted, score, seconds_of
from ..training import History
from ._measures import Array, proportion
from ._subject import Section, Subject

_RECENT = 0.2  # the part of the rows so far that counts as recent
_MOST_FILES = 60
_MOST_STEPS = 300

RARE = {"f1": "F1", "roc_auc": "AUROC", "average_precision": "average precision"}  # what a rare class is measured by


def stream(subject: Subject) -> Section | None:
    """Errors of rows that were predicted before they were learned from."""
    history = subject.history
    if history is None:
        return None
    counts_mistakes = subject.task == "classification"
    rows = np.array(history.rows, dtype=np.float64)
    total = np.array(history.mistakes if counts_mistakes else history.loss, dtype=np.float64)
    loss = np.array(history.loss, dtype=np.float64)
    section: Section = {
        "title": "Along the stream",
        "measure": "error" if counts_mistakes else "loss",
        "rows": rows.astype(np.int64),
        "so far": total / rows,
        "recently": _recent(rows, total),
        "loss so far": loss / rows if counts_mistakes else None,
        "loss recently": _recent(rows, loss) if counts_mistakes else None,
        "features in use": np.array(history.n_used),
        "files": _files(history, counts_mistakes),
        "n_files": len(history.files),
        "passes": max((int(f.get("pass", 1)) for f in history.files), default=1),
        "rare class": _rare_class(history),
    }
    return section | {"says": _stream_said(section)}


def _rare_class(history: History) -> Section | None:
    """The course of the measures of a rare class."""
    if not history.measures:
        return None
    values = {name: np.array(history.measures[name], dtype=np.float64) for name in RARE}
    return {"class": label(history.positive), "rows": np.array(history.measures["rows"], dtype=np.int64), **values}


def _recent(rows: Array, total: Array) -> Array:
    """The rate within the last fifth of the rows so far."""
    begin = np.searchsorted(rows, (1 - _RECENT) * rows, side="right") - 1
    earlier = np.where(begin >= 0, total[begin], 0.0)
    since = np.where(begin >= 0, rows[begin], 0.0)
    return (total - earlier) / (rows - since)


def _files(history: History, counts_mistakes: bool) -> list[dict[str, Any]]:
    found = []
    for file in history.files[:_MOST_FILES]:
        rows = int(file["rows"])
        if not rows:
            continue
        entry = {"name": label(file["name"]), "pass": int(file.get("pass", 1)), "rows": rows}
        if counts_mistakes:
            entry["error"] = proportion(float(file["mistakes"]), rows)
        found.append(entry | {"loss": float(file["loss"]) / rows})
    return found


def _stream_said(section: Section) -> str:
    say = percent if section["measure"] == "error" else (lambda v: number(v, 3))
    rows, so_far, recently = section["rows"], section["so far"], section["recently"]
    said = (
        f"Each row was predicted before it was learned: over {plural(int(rows[-1]), 'row')} the {section['measure']} "
    )
    said += f"is {say(float(so_far[-1]))}, in the last fifth of them {say(float(recently[-1]))}"
    trend = _trend(section)
    if trend < 0:
        said += "; the model was still getting better"
    elif trend > 0:
        said += f"; recently the {section['measure']} is above its average, as if the data had changed"
    said += "."
    if section["passes"] > 1:
        said += f" Rows were read {section['passes']} times, so later ones had been seen before."
    if (rare := section["rare class"]) is not None:
        measures = [f"{name} {score(float(rare[key][-1]))}" for key, name in RARE.items()]
        said += f" Of {quoted(rare['class'])}, the rarer class: {', '.join(measures)}; rows were scored batch by batch."
    files = [f for f in section["files"] if f["pass"] == 1]
    if len(files) > 1 and section["measure"] == "error":
        worst = max(files, key=lambda f: f["error"].value)
        if worst["error"].low > so_far[-1]:
            said += f" Hardest was {quoted(worst['name'])} ({percent(worst['error'].value)})."
    return said


def _trend(section: Section) -> int:
    """Whether the last fifth is below (-1) or above (1) all rows so far, by more than chance."""
    rows, so_far, recently = section["rows"], float(section["so far"][-1]), float(section["recently"][-1])
    if len(rows) < 3:
        return 0
    low, high = 0.9 * recently, 1.1 * recently
    if section["measure"] == "error":
        n_recent = _RECENT * rows[-1]
        _, low, high = proportion(recently * n_recent, n_recent)
    return -1 if high < so_far else 1 if low > so_far else 0


def objective(subject: Subject) -> Section | None:
    """The objective of learners that work in steps over all rows."""
    for name in ("objective_history_", "loss_curve_", "objectives_"):
        values = getattr(subject.learner, name, None)
        if values is not None and len(values) > 1 and np.ndim(values[0]) == 0:  # not one for each of several classes
            break
    else:
        return None
    values = np.asarray(values, dtype=np.float64)
    places = np.unique(np.linspace(0, len(values) - 1, _MOST_STEPS).astype(np.intp))
    first, last = float(values[0]), float(values[-1])
    tail = values[-max(2, len(values) // 10) :]
    change = abs(float(tail[0] - tail[-1])) / max(abs(last), np.finfo(float).tiny)
    end = (
        f"in its last {len(tail) - 1} steps it moved by {percent(change)}"
        if len(tail) > 2
        else (f"its last step moved it by {percent(change)}")
    )
    return {
        "title": "Convergence",
        "says": f"The objective went from {number(first)} to {number(last)} in {plural(len(values), 'step')}; {end}.",
        "steps": places + 1,
        "objective": values[places],
    }


# --- tuning ----------------------------------------------------------------------------------------------------------


def tuning(subject: Subject) -> Section | None:
    """What was tried, and what came of it."""
    tried = [_evaluation(i, entry) for i, entry in enumerate(subject.search or ())]
    good = [entry for entry in tried if entry["score"] is not None]
    if not tried:
        return None
    section: Section = {
        "title": "The tuning path",
        "says": "",
        "evaluations": tried,
        "failed": len(tried) - len(good),
        "seconds": sum(entry["seconds"] or 0.0 for entry in tried),
    }
    if not good:
        return section | {
            "says": f"{plural(len(tried), 'setting was', 'settings were')} tried, and all of them failed."
        }
    best = max(good, key=lambda entry: entry["score"])
    so_far = np.maximum.accumulate([-np.inf if e["score"] is None else e["score"] for e in tried])
    section |= {
        "best": best,
        "best so far": [None if not math.isfinite(v) else float(v) for v in so_far],
        "params": {name: _values(tried, name) for name in _names(tried)},
        "stages": list(dict.fromkeys(entry["stage"] for entry in tried)),
    }
    return section | {"says": _tuning_said(section, good[0])}


def _evaluation(place: int, entry: dict[str, Any]) -> dict[str, Any]:
    score, used = entry.get("score"), entry.get("n_used")
    return {
        "evaluation": place + 1,
        "stage": label(entry.get("stage") or "search"),
        "params": {_short(k): _value(v) for k, v in (entry.get("params") or {}).items()},
        "score": float(score) if score is not None and math.isfinite(score) else None,
        "n_used": float(used) if used is not None and math.isfinite(used) else None,
        "seconds": entry.get("seconds"),
    }


def _short(name: Any) -> str:
    """A parameter without the names of the steps around it."""
    return label(name).rsplit("__", 1)[-1]


def _value(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (bool, int, float, type(None))) else label(value)


def _names(tried: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for entry in tried for name in entry["params"]))


def _values(tried: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """What is known of a parameter: whether it is a number, and on which scale it was searched."""
    values = [entry["params"][name] for entry in tried if name in entry["params"]]
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    if len(numbers) < len(values):
        return {"kind": "choice", "values": list(dict.fromkeys(map(label, values)))}
    wide = min(numbers) > 0 and max(numbers) >= 20 * min(numbers)
    return {"kind": "log" if wide else "number", "values": [min(numbers), max(numbers)]}


def _tuning_said(section: Section, first: dict[str, Any]) -> str:
    best, n = section["best"], len(section["evaluations"])
    chosen = ", ".join(f"{name} = {number(value)}" for name, value in best["params"].items())
    said = f"{plural(n, 'setting was', 'settings were')} tried"
    said += f" in {seconds_of(section['seconds'])}" if section["seconds"] else ""
    said += f"; the best, number {count(best['evaluation'])}, scores {number(best['score'])}"
    if best is not first:
        said += f" where the first scored {number(first['score'])}"
    said += f". It has {chosen}." if chosen else "."
    if section["failed"]:
        said += f" {plural(section['failed'], 'setting')} failed."
    return said
