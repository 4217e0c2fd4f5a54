"""The curve of each column of an additive model, as figures and as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import (
    Figure,
    draw,
    key,
    label,
    listed,
    number,
    quoted,
    short,
)
from ..inspection import ColumnCurve, column_curves
from ..plotting import paint_bars, paint_curve
from ._column_section import has_curves, is_date, value_text
from ._subject import Section, Subject

_MOST_CURVES = 12
_MOST_OUTPUTS = 6
_MOST_BARS = 10
_SMALL = (340, 230)


def curves(subject: Subject) -> Section | None:
    """Trace what each column adds to the score, if the model has curves."""
    if not has_curves(subject):
        return None
    found = column_curves(subject.model, None if subject.sample is None else subject.sample.X)
    if not found:
        return None
    outputs = found[0].outputs
    shown = _outputs(found)
    return {
        "title": "What each column does",
        "says": _sentence(subject, found, shown),
        "outputs": [label(outputs[k]) for k in shown],
        "n_outputs": len(outputs),
        "n_columns": len(found),
        "columns": [
            {
                "name": label(curve.name),
                "values": [label(v) for v in curve.values[:_MOST_BARS]] if _is_text(curve) else curve.values,
                "parts": curve.parts[shown][:, : _MOST_BARS if _is_text(curve) else None],
                "quantiles": curve.quantiles,
                "strength": curve.strength,
                "is_text": _is_text(curve),
                "is_date": is_date(subject, curve.name),
            }
            for curve in found[:_MOST_CURVES]
        ],
    }


def _is_text(curve: ColumnCurve) -> bool:
    return isinstance(curve.values, list)


def _outputs(found: list[ColumnCurve]) -> list[int]:
    """The outputs to show: those that the columns change most."""
    spread = np.sum([np.ptp(curve.parts, axis=1) for curve in found], axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:_MOST_OUTPUTS].tolist())


def _sentence(subject: Subject, found: list[ColumnCurve], shown: list[int]) -> str:
    if subject.task == "regression":
        total = "The answer is a sum of one part for each column."
    elif len(found[0].outputs) == 1:
        total = f"The score is a sum of one part for each column; above 0 it means {quoted(subject.classes[1])}."
    else:
        total = "The score of each class is a sum of one part for each column."
    names = listed([quoted(label(curve.name)) for curve in found[:3]], 3)
    return f"{total} {names} {'changes' if len(found) == 1 else 'change'} it most{_peak(subject, found[0], shown)}."


def _peak(subject: Subject, curve: ColumnCurve, shown: list[int]) -> str:
    """Say where the strongest column adds most, if there is one output."""
    if len(shown) > 1:
        return ""
    at = curve.values[int(np.argmax(curve.parts[shown[0]]))]
    there = quoted(label(at)) if isinstance(at, str) else value_text(float(at), is_date(subject, curve.name))
    return f"; {quoted(label(curve.name))} adds most at {there}"


def figures_of_curves(section: Section) -> list[Figure]:
    """Draw one small figure for each column, with ticks that cut its rows into equal parts."""
    outputs = section["outputs"]
    low = min(float(np.min(column["parts"])) for column in section["columns"])
    high = max(float(np.max(column["parts"])) for column in section["columns"])
    legend = [key(i, name) for i, name in enumerate(outputs)] if len(outputs) > 1 else []
    drawn = []
    for place, column in enumerate(section["columns"]):

        def paint(axes: Any, column: Section = column) -> None:
            if column["is_text"]:
                paint_bars(axes, column["values"], column["parts"])
            else:
                paint_curve(axes, column["values"], column["parts"], column["quantiles"], (low, high))
            if column["is_date"]:
                axes.locator_params(axis="x", nbins=3)
                axes.xaxis.set_major_formatter(lambda value, _: value_text(value, is_date=True)[:10])

        caption = f"{short(column['name'])}" + ("" if place else ": its part of the score")
        drawn.append(Figure(draw(paint, *_SMALL), caption, [] if place else legend, True))
    return drawn


def rows_of_curves(section: Section) -> tuple[list[tuple[str, ...]], int]:
    """List for each column the values where its part is least and most; and count the columns there are."""
    rows: list[tuple[str, ...]] = []
    for column in section["columns"]:
        parts, values = np.asarray(column["parts"])[0], column["values"]
        least, most = int(np.argmin(parts)), int(np.argmax(parts))
        ends = [values[k] if column["is_text"] else value_text(values[k], column["is_date"]) for k in (least, most)]
        rows.append((column["name"], ends[0], number(parts[least], 3), ends[1], number(parts[most], 3)))
    return rows, section["n_columns"]
