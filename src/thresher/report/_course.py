"""The course of learning, of rounds over shards and of a search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._figures import (
    count,
    criterion_sign,
    criterion_words,
    formatter,
    label,
    number,
    percent,
    plural,
    quoted,
    score,
    seconds_of,
)
from ..plotting import RECENT, recent_rate
from ..training import History
from ._measures import proportion
from ._subject import Section, Subject

_MOST_FILES = 60
_MOST_STEPS = 300

RARE = {"f1": "F1", "roc_auc": "AUROC", "average_precision": "average precision"}  # measures of a rare class


def stream(subject: Subject) -> Section | None:
    """Follow the errors of rows that were predicted before they were learned from."""
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
        "recently": recent_rate(rows, total),
        "loss so far": loss / rows if counts_mistakes else None,
        "loss recently": recent_rate(rows, loss) if counts_mistakes else None,
        "features in use": np.array(history.n_used),
        "files": _files(history, counts_mistakes),
        "n_files": len(history.files),
        "passes": subject.n_passes,
        "rare class": _rare_class(history),
    }
    return section | {"says": _stream_sentences(section)}


def _rare_class(history: History) -> Section | None:
    """Follow the measures of a rare class."""
    if not history.measures:
        return None
    values = {name: np.array(history.measures[name], dtype=np.float64) for name in RARE}
    return {"class": label(history.positive), "rows": np.array(history.measures["rows"], dtype=np.int64), **values}


def _files(history: History, counts_mistakes: bool) -> list[dict[str, Any]]:
    found = []
    for file in history.files[:_MOST_FILES]:
        if rows := int(file["rows"]):
            entry = {"name": label(file["name"]), "pass": int(file.get("pass", 1)), "rows": rows}
            error = {"error": proportion(float(file["mistakes"]), rows)} if counts_mistakes else {}
            found.append(entry | error | {"loss": float(file["loss"]) / rows})
    return found


def _stream_sentences(section: Section) -> str:
    measure, rows = section["measure"], plural(int(section["rows"][-1]), "row")
    all_rows, recent = (float(section[key][-1]) for key in ("so far", "recently"))
    form = formatter(measure)
    says = f"Each row was predicted before the model learned from it: over {rows} the {measure} is {form(all_rows)}"
    says += f", in the last fifth of them {form(recent)}"
    trend = _trend(section)
    if trend < 0:
        says += "; the model was still getting better"
    elif trend > 0:
        says += f"; recently the {measure} is above its average, so the data may have changed"
    says += "."
    if section["passes"] > 1:
        says += f" Rows were read {section['passes']} times, so the model had seen them before in later passes."
    if (rare := section["rare class"]) is not None:
        measures = [f"{name} {score(float(rare[key][-1]))}" for key, name in RARE.items()]
        says += f" Of {quoted(rare['class'])}, the rarer class: {', '.join(measures)}; rows were scored batch by batch."
    files = [f for f in section["files"] if f["pass"] == 1]
    if len(files) > 1 and measure == "error":
        worst = max(files, key=lambda f: f["error"].value)
        if worst["error"].low > all_rows:
            says += f" The file with the largest error was {quoted(worst['name'])} ({percent(worst['error'].value)})."
    return says


def _trend(section: Section) -> int:
    """Return -1 if the last fifth is below all rows so far by more than chance, 1 if it is above, else 0."""
    rows, so_far, recently = section["rows"], float(section["so far"][-1]), float(section["recently"][-1])
    if len(rows) < 3:
        return 0
    low, high = 0.9 * recently, 1.1 * recently
    if section["measure"] == "error":
        n_recent = RECENT * rows[-1]
        _, low, high = proportion(recently * n_recent, n_recent)
    return -1 if high < so_far else 1 if low > so_far else 0


def objective(subject: Subject) -> Section | None:
    """Follow the objective of learners that work in steps over all rows."""
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
    end = f"in its last {len(tail) - 1} steps it moved by" if len(tail) > 2 else "its last step moved it by"
    return {
        "title": "Convergence",
        "says": f"The objective went from {number(first)} to {number(last)} in {plural(len(values), 'step')}; {end} "
        f"{percent(change)}.",
        "steps": places + 1,
        "objective": values[places],
    }


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
    says = f"The model was trained in {plural(len(found), 'round')} over {plural(section['n_shards'], 'shard')}, "
    says += f"{seconds_of(section['seconds'])} in all"
    if section["mode"] == "sums":
        return says + "; each round added up sums over the rows of all shards."
    says += "; in each round, models of the shards were trained separately and merged"
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


def tuning(subject: Subject) -> Section | None:
    """List the settings that a search tried."""
    criterion = next((entry["criterion"] for entry in subject.search or () if entry.get("criterion")), "score")
    sign = criterion_sign(criterion)
    tried = [_evaluation(i, entry, sign) for i, entry in enumerate(subject.search or ())]
    good = [entry for entry in tried if entry["score"] is not None]
    if not tried:
        return None
    n_tried = f"{plural(len(tried), 'setting was', 'settings were')} tried"
    section: Section = {
        "title": "The tuning path",
        "says": f"{n_tried}, and all of them failed.",
        "measure": criterion_words(criterion),
        "sign": sign,  # of values, from scores that are greater for better settings
        "evaluations": tried,
        "failed": len(tried) - len(good),
        "seconds": sum(entry["seconds"] or 0.0 for entry in tried),
    }
    if not good:
        return section
    best = max(good, key=lambda entry: entry["score"])
    so_far = np.fmax.accumulate(np.array([entry["score"] for entry in tried], dtype=float))  # passes over failures
    names = dict.fromkeys(name for entry in tried for name in entry["params"])
    section |= {
        "best": best,
        "best so far": [_finite(score) for score in so_far],
        "params": {name: _values(tried, name) for name in names},
        "stages": list(dict.fromkeys(entry["stage"] for entry in tried)),
    }
    return section | {"says": n_tried + _best_sentence(section, good[0])}


def _best_sentence(section: Section, first: dict[str, Any]) -> str:
    best = section["best"]
    says = f" in {seconds_of(section['seconds'])}" if section["seconds"] else ""
    form, top = formatter(section["measure"]), "lowest" if section["sign"] < 0 else "highest"
    says += f". The {top} {section['measure']} is {form(best['value'])}, of number {count(best['evaluation'])}"
    chosen = setting(best)
    says += f" ({chosen})" if chosen else ""
    says += f"; the first setting had {form(first['value'])}." if best is not first else "."
    return says + (f" {plural(section['failed'], 'setting')} failed." if section["failed"] else "")


def setting(evaluation: dict[str, Any]) -> str:
    """Write the model, where several are compared, and the parameters of an evaluation."""
    params = ", ".join(f"{name} = {number(value)}" for name, value in evaluation["params"].items())
    return ": ".join(part for part in (evaluation["model"], params) if part)


def _evaluation(place: int, entry: dict[str, Any], sign: int) -> dict[str, Any]:
    found = _finite(entry.get("score"))
    return {
        "evaluation": place + 1,
        "stage": label(entry.get("stage") or "search"),
        "model": label(entry["candidate"]) if entry.get("candidate") else None,  # where several are compared
        "params": {label(k).rsplit("__", 1)[-1]: _value(v) for k, v in (entry.get("params") or {}).items()},
        "score": found,
        "value": None if found is None else sign * found + 0.0,  # no error at all is 0, not -0
        "n_used": _finite(entry.get("n_used")),
        "seconds": entry.get("seconds"),
    }


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _value(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (bool, int, float, type(None))) else label(value)


def _values(tried: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Describe the values of a parameter: choices, or numbers and the scale on which they were searched."""
    values = [entry["params"][name] for entry in tried if name in entry["params"]]
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    if len(numbers) < len(values):
        return {"kind": "choice", "values": list(dict.fromkeys(map(label, values)))}
    wide = min(numbers) > 0 and max(numbers) >= 20 * min(numbers)
    return {"kind": "log" if wide else "number", "values": [min(numbers), max(numbers)]}
