"""The settings that a search tried."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._figures import count, label, number, plural, seconds_of
from ._subject import Section, Subject


def tuning(subject: Subject) -> Section | None:
    """List the settings that a search tried."""
    tried = [_evaluation(i, entry) for i, entry in enumerate(subject.search or ())]
    good = [entry for entry in tried if entry["score"] is not None]
    if not tried:
        return None
    n_tried = f"{plural(len(tried), 'setting was', 'settings were')} tried"
    section: Section = {
        "title": "The tuning path",
        "says": f"{n_tried}, and all of them failed.",
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
    says += f"; the best, number {count(best['evaluation'])}, scores {number(best['score'])}"
    says += f" where the first scored {number(first['score'])}" if best is not first else ""
    chosen = ", ".join(f"{name} = {number(value)}" for name, value in best["params"].items())
    says += f". It has {chosen}." if chosen else "."
    return says + (f" {plural(section['failed'], 'setting')} failed." if section["failed"] else "")


def _evaluation(place: int, entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "evaluation": place + 1,
        "stage": label(entry.get("stage") or "search"),
        "params": {label(k).rsplit("__", 1)[-1]: _value(v) for k, v in (entry.get("params") or {}).items()},
        "score": _finite(entry.get("score")),
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
