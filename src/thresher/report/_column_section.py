"""The columns that matter in an additive model, whose features are pieces of curves that mean little by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import column_value, label, listed, plural, quoted
from .._gate import written_date
from ..inspection import ColumnCurve, column_curves, contributions
from ..preprocessing import ColumnSplines
from ._measures import Array
from ._subject import Section, Subject

MOST_COLUMNS = 20
_ONE_WAY = 0.8  # of the ups and downs of a curve, less those the other way: more of it does one thing


def has_curves(subject: Subject) -> bool:
    """Whether columns pass through splines before the learner takes them."""
    steps = [step for _, step in getattr(subject.model, "steps", [])[:-1]]
    if subject.weights is None or subject.task == "clustering" or subject.has_tasks:
        return False
    return any(isinstance(step, ColumnSplines) for step in steps)


def columns(subject: Subject) -> Section | None:
    """List the columns and pairs of columns that change the score most between rows.

    The rows are those of the sample. Without one, columns count by their curves over the values that the model has
    seen, and pairs are left out.
    """
    rows = None if subject.sample is None else subject.sample.X
    curves = {curve.name: curve for curve in column_curves(subject.model, rows)}
    if rows is None:
        spread = {name: curve.parts.std(axis=1) for name, curve in curves.items()}
    else:
        found = contributions(subject.model, rows)
        spread = dict(zip(found.names, found.parts.std(axis=0).T, strict=True))
    strength = {name: float(each.max()) for name, each in spread.items() if each.max() > 0}
    if not strength:
        return None
    names = sorted(strength, key=lambda name: -strength[name])
    table: list[dict[str, Any]] = [
        {
            "name": label(name),
            "index": None,
            "weights": [],
            "importance": strength[name] / strength[names[0]],
            "deviation": None,
            "confidence": None,
            "effect": _effect(subject, name, curves, int(spread[name].argmax())),
        }
        for name in names[:MOST_COLUMNS]
    ]
    assert subject.weights is not None
    outputs = subject.weights.outputs
    return {
        "title": "The columns that matter",
        "says": _sentence(table, names),
        "by": "the spread of a column's part of the score",
        "n_used": len(names),
        "outputs": [label(each) for each in outputs],
        "n_outputs": len(outputs),
        "is_centres": False,
        "each": "class",
        "features": table,
    }


def _effect(subject: Subject, name: str, curves: dict[str, ColumnCurve], output: int) -> str:
    curve = curves.get(name)
    if curve is None:
        return "depends on both columns together" if ":" in name else "depends on its words"
    part = curve.parts[output]
    if isinstance(curve.values, list):
        at = int(np.argmax(np.abs(part - part.mean())))
        return f"{quoted(label(curve.values[at]))} {_towards(subject, curve, output, part[at] > part.mean())}"
    among = (curve.values >= curve.quantiles[1]) & (curve.values <= curve.quantiles[-2])  # four of five rows
    values, part = (curve.values[among], part[among]) if among.sum() > 1 else (curve.values, part)
    way = _one_way(part)
    if way:
        return f"more of it {_towards(subject, curve, output, way > 0)}"
    at = int(np.argmax(np.abs(part - np.median(part))))
    there = value_text(float(values[at]), is_date(subject, name))
    return f"{_towards(subject, curve, output, part[at] > np.median(part))} most near {there}"


def is_date(subject: Subject, column: str) -> bool:
    """Whether a column holds dates, as a step of the model knows."""
    steps = [step for _, step in getattr(subject.model, "steps", [])]
    return any(column in getattr(step, "dates_", ()) for step in steps)


def value_text(value: float, is_date: bool) -> str:
    """A value of a column of numbers or dates, for people."""
    return written_date(value) if is_date else column_value(value, 3)


def _one_way(part: Array) -> int:
    """1 if a curve nearly always rises, -1 if it nearly always falls, else 0."""
    steps = np.diff(part)
    total = np.abs(steps).sum()
    share = steps.sum() / total if total else 0.0
    return int(np.sign(share)) if abs(share) >= _ONE_WAY else 0


def _towards(subject: Subject, curve: ColumnCurve, output: int, up: bool) -> str:
    if subject.task == "regression":
        return "raises the value" if up else "lowers the value"
    if len(curve.outputs) == 1:
        return f"pushes towards {quoted(subject.classes[1 if up else 0])}"
    return f"pushes {'towards' if up else 'away from'} {quoted(curve.outputs[output])}"


def _sentence(table: list[dict[str, Any]], names: list[str]) -> str:
    shown = listed([quoted(row["name"]) for row in table[:3]], 3)
    pairs = " and pairs of columns" if any(":" in name for name in names) else ""
    total = f"Of {plural(len(names), 'column')}{pairs} in use, " if len(names) > 3 else ""
    matter = "matters" if len(table) == 1 else "matter"
    return f"{total}{shown} {matter} most. For {quoted(table[0]['name'])}: {table[0]['effect']}."
