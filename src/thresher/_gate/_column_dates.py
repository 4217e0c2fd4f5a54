"""Ways in which dates and times are written, and those that fit the values of a column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from .. import _core
from ._column_reading import ColumnReading
from ._table import Text

DATE_ORDERS = ("D/M/Y", "M/D/Y")  # where a file does not say which, the first
_MAYBE = re.compile(r"(?=.*\d)(?=.*([-/.: ]|[A-Za-z]|\d{8})).{3,40}")
_TIMES = ("", "h:m", "h:m:s", "h:m:sz", "h:m:s z", "h:m p", "h:m:s p", "h:mz", "h:mp")
_NAMED = ("D b Y", "D-b-Y", "D-b-y", "b D, Y", "b D Y", "D. b Y", "a, D b Y", "b Y", "D/b/Y", "a b D Y")
_MISTAKES = 0.02  # of the values may be something else, which the parser then refuses or skips


class DateFound(NamedTuple):
    """A reading that fits, and the order of day and month that it stands for: one of `DATE_ORDERS` or ``""``."""

    reading: ColumnReading
    order: str


def _patterns() -> Iterator[tuple[str, str]]:
    """All patterns of dates, each with its order; the likelier first."""
    yield from ((f"Y{mark}M{mark}D", "") for mark in "-/.")
    for year in "Yy":
        for mark in "./-":
            yield f"D{mark}M{mark}{year}", DATE_ORDERS[0]
            if mark != ".":  # month.day.year is not used
                yield f"M{mark}D{mark}{year}", DATE_ORDERS[1]
    yield from ((pattern, "") for pattern in (*_NAMED, "YNd", "Y-M", "Y/M", "M/Y", "M.Y"))


@cache
def _all_readings() -> tuple[DateFound, ...]:
    """Dates, dates with times, and last times of day."""
    dates = [
        DateFound(ColumnReading("date", pattern=date + between + time), order)
        for date, order in _patterns()
        for time in _TIMES
        for between in ((" ", "T", ", ") if time else ("",))
    ]
    return (*dates, *(DateFound(ColumnReading("time", pattern=time), "") for time in _TIMES if time))


def date_readings(texts: Sequence[str]) -> tuple[DateFound, ...]:
    """All readings as dates, or else as times of day, that fit the values of a column, the likelier first."""
    if not texts or not all(_MAYBE.fullmatch(text) for text in texts[:20]):
        return ()
    found = _all_readings()
    for sample in (texts[:1], texts[:20], texts):
        column = Text.from_list(sample)
        found = tuple(date for date in found if _fits(date.reading, column))
    return found


def order_of(pattern: str | None) -> str | None:
    """The order of day and month in a pattern; None if it leaves no choice."""
    places = [pattern.find(letter) for letter in "DMY"] if pattern is not None else [-1]
    if min(places) < 0 or places[2] < max(places):
        return None
    return DATE_ORDERS[0] if places[0] < places[1] else DATE_ORDERS[1]


def fitting_date(pattern: str, texts: Sequence[str]) -> DateFound | None:
    """The reading by a pattern that a user has given, if it fits the values of a column."""
    reading = ColumnReading("date", pattern=pattern)
    return DateFound(reading, order_of(pattern) or "") if texts and _fits(reading, Text.from_list(texts)) else None


def _fits(reading: ColumnReading, texts: Text) -> bool:
    assert reading.format is not None
    _, _, n_missing, n_wrong = _core.read_values(texts.offsets, texts.data, reading.format)
    return n_wrong <= _MISTAKES * len(texts) and n_missing < len(texts)


def in_order(reading: ColumnReading, texts: Sequence[str]) -> bool:
    """Whether the dates of a column rise or fall from row to row, if they are read in this way."""
    values, _ = reading.values(Text.from_list(texts))
    steps = np.diff(values[~np.isnan(values)])
    return len(steps) >= 5 and bool((steps >= 0).all() or (steps <= 0).all()) and bool(steps.any())
