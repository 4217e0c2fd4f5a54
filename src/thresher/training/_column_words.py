"""The kind of a column in plain words, and what becomes of it."""

from __future__ import annotations

import numpy as np

from .._figures import number, plural
from .._gate import ColumnReading
from ._column_summary import MOST_WORDS

_MARKS = {",": "commas", "'": "apostrophes", " ": "blanks"}


def kind_in_words(reading: ColumnReading, n_distinct: int | None) -> str:
    """The kind of a column: ``number, decimal comma, in €`` or ``category, 12 values``."""
    if reading.kind in ("date", "time"):
        return f"{reading.kind} {reading.pattern}".rstrip()
    if reading.kind == "boolean":
        return f"{reading.yes[0]}/{reading.no[0]}" if reading.yes and reading.no else "yes/no"
    if reading.kind == "category":
        more = " or more" if n_distinct is not None and n_distinct >= MOST_WORDS else ""
        return "category" if n_distinct is None else f"category, {plural(n_distinct, 'value')}{more}"
    if reading.kind == "drop":
        return "not read"
    words = [reading.kind]
    if reading.kind == "number":
        if reading.decimal == ",":
            words.append("decimal comma")
        elif reading.thousands:
            words.append(f"{_MARKS[reading.thousands]} between thousands")
        words += [f"in {reading.unit}"] if reading.unit else []
    return ", ".join(words)


def use_in_words(reading: ColumnReading, note: str, is_target: bool) -> str:
    """Describe how a column is used: ``years, month, weekday`` or ``left out: it counts the rows``."""
    if reading.kind == "drop":
        return "left out, as requested"
    if reading.kind == "identifier":
        return f"left out: {note}" if note else "left out"
    uses = {
        "number": "a number",
        "time": "hours",
        "date": "years, month, weekday" + ", hour" * ("h" in reading.pattern),
        "boolean": "1 for {}, 0 for {}".format(*(reading.yes or ("yes",))[:1], *(reading.no or ("no",))[:1]),
        "category": "one feature for each value",
        "text": "word counts",
    }
    use = "the target" if is_target else uses[reading.kind]
    return f"{use}; {note}" if note else use


def value_in_words(value: float, kind: str) -> str:
    """A value of a column of numbers, dates or times."""
    if kind == "date" and np.isfinite(value):
        minutes = np.datetime64(round(value * 1440), "m")
        return str(minutes).removesuffix("T00:00").replace("T", " ")
    return number(value)
