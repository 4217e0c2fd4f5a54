"""Rows of a run, why the model answers as it does, and what it would answer if values were others."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._figures import label
from .._gate import Table, Text, sparse, written_date
from ..inspection import reasons, smallest_change
from ..persistence import load_model
from ..streams import open_stream
from ._guard import HttpRefusal
from ._lab_runs import MODEL, LabRun

_MOST_COMPARED = 10_000  # rows that tell the range of columns
_MOST_PARTS = 30
_MOST_CHOICES = 50
_MOST_MODELS = 4


def explain_row(run: LabRun, number: int, changes: dict[str, Any]) -> dict[str, Any]:
    """The answer for a row of the file with some values changed, its parts, and the values that it has.

    Parameters
    ----------
    run : LabRun
        That is done.
    number : int
        Of the row, from 1 on.
    changes : dict
        Column -> number, text, date as ISO 8601 writes it, or None for a missing value.
    """
    model = _model(str(run.path / MODEL), (run.path / MODEL).stat().st_mtime_ns)
    X, target, first = _read(model, run, number)
    changed = _with_changes(X, changes) if changes else X
    found = reasons(model, changed)[0]
    data: dict[str, Any] = {
        "row": number,
        "answer": _shown(found.answer),
        "probability": found.probability,
        "favoured": None if found.favoured is None else [_shown(found.favoured[0]), found.favoured[1]],
        "target": None if target is None else _shown(target),
        "against": None if found.against is None else _shown(found.against),
        "score": found.score,
        "baseline": found.baseline,
        "parts": [{"column": p.name, "value": _shown(p.value), "part": p.part} for p in found.parts[:_MOST_PARTS]],
        "of_rows": found.of_rows,
        "meaning": found.meaning,
        "rest": sum(part.part for part in found.parts[_MOST_PARTS:]),
        "values": _values(changed, first) if isinstance(changed, Table) else [],
    }
    if found.against is not None and not sparse.issparse(X) and not changes:
        data["change"] = _change(model, X, first)
    return data


@functools.lru_cache(_MOST_MODELS)
def _model(path: str, changed: int) -> Any:
    return load_model(path)


def _read(model: Any, run: LabRun, number: int) -> tuple[Any, Any, Any]:
    """A row of the file, its target, and the first rows."""
    record = model.record_
    kept = {name: value for name, value in (record.get("stream") or {}).items() if name != "format"}
    stream = open_stream(
        run.lab.find(run.job["file"]), **kept, layout=record.get("layout") or None, skip_malformed=True
    )
    first, n_before = None, 0
    for batch in stream.batches():
        first = batch.X[:_MOST_COMPARED] if first is None else first
        place = number - 1 - n_before
        if 0 <= place < len(batch):
            return batch.X[place : place + 1], None if batch.y is None else batch.y[place], first
        n_before += len(batch)
    raise HttpRefusal(404, f"The file has {n_before:,} rows; choose one from 1 to {n_before:,}.")


def _with_changes(row: Any, changes: dict[str, Any]) -> Any:
    if not isinstance(row, Table):
        raise HttpRefusal(400, "Only values of tables can be changed.")
    numbers, text = row.numbers.copy(), dict(row.text)
    for name, value in changes.items():
        if name in text:
            text[name] = Text.from_list(["" if value is None else str(value)])
        elif name in row.number_names:
            numbers[0, row.number_names.index(name)] = _number(name, value, name in row.dates)
        else:
            raise HttpRefusal(400, f"{name!r} is not a column that the model uses.")
    return Table(row.columns, numbers, text, row.dates)


def _number(name: str, value: Any, is_date: bool) -> float:
    if value is None or value == "":
        return math.nan
    try:
        if is_date:
            return float(
                (np.datetime64(str(value), "m") - np.datetime64("1970-01-01", "m")) / np.timedelta64(1440, "m")
            )
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        kind = "a date such as 2024-05-31" if is_date else "a number"
        raise HttpRefusal(400, f"{name!r} must be {kind}, or empty if it is not known.") from None
    if not math.isfinite(number):
        raise HttpRefusal(400, f"{name!r} must be a finite number.")
    return number


def _values(row: Table, first: Table) -> list[dict[str, Any]]:
    """The values of a row, with the range or the choices of each column."""
    values: list[dict[str, Any]] = []
    for name in row.columns:
        column = row[name]
        if name in row.text:
            frequent = dict.fromkeys(value for value in first[name][:1000] if value)
            choices = list(frequent)[:_MOST_CHOICES] if len(frequent) <= _MOST_CHOICES else []
            values.append({"name": name, "kind": "text", "value": column[0], "choices": choices})
        elif name in row.dates:
            values.append({"name": name, "kind": "date", "value": written_date(float(column[0])) or None})
        else:
            known = first[name][np.isfinite(first[name])]
            ends = [float(known.min()), float(known.max())] if len(known) else [0.0, 1.0]
            is_whole = bool(len(known)) and bool((known == np.rint(known)).all())
            now = float(column[0])
            kept = None if math.isnan(now) else now
            values.append({"name": name, "kind": "number", "value": kept, "range": ends, "is_whole": is_whole})
    return values


def _change(model: Any, row: Any, first: Any) -> dict[str, Any] | None:
    """The smallest change that leads to another answer."""
    found = smallest_change(model, row, first)
    if found is None:
        return None
    columns = [
        {"column": name, "now": _shown(now), "then": _shown(then)} for name, (now, then) in found.columns.items()
    ]
    return {"columns": columns, "answer": _shown(found.after)}


def _shown(value: Any) -> Any:
    """A value for the page: numbers as they are, everything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or (isinstance(value, int) and not isinstance(value, bool)) else label(value)
