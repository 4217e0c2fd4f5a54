"""Tables whose source knows the types of columns: the text among them is looked at, and read, as that of files is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ._column_kinds import ColumnFound, ReadingOptions, find_readings
from ._column_reading import ColumnReading
from ._table import Table, Text

ROWS_TO_LOOK_AT = 2000


def understand_table(
    table: Table, options: ReadingOptions, told: Mapping[str, ColumnReading], target: str | None
) -> dict[str, ColumnFound]:
    """Find out how each column of a table is to be read, by its first rows."""
    first = table[:ROWS_TO_LOOK_AT]
    dates = {name: ColumnReading("date") for name in table.dates}
    return find_readings({name: first[name] for name in table.columns}, options, {**dates, **told}, target)


def read_table(table: Table, readings: Mapping[str, ColumnReading]) -> Table:
    """The columns that readings name, in their order, as numbers, dates and text."""
    numbers: list[NDArray[np.float64]] = []
    text: dict[str, Text] = {}
    dates: list[str] = []
    names = [name for name, reading in readings.items() if reading.letter != "-"]
    if all(readings[name].is_plain for name in names):
        return table if names == table.columns else table.select(names)
    for name in names:
        column, reading = table[name], readings[name]
        if reading.letter == "t":
            text[name] = reading.texts(column if isinstance(column, Text) else as_words(column))
            continue
        numbers.append(_values(name, column, reading) if isinstance(column, Text) else column)
        dates += [name] if reading.letter == "d" else []
    made = np.empty((len(table), len(numbers)), dtype=table.numbers.dtype)
    for place, values in enumerate(numbers):
        made[:, place] = values
    return Table(names, made, text, dates)


def _values(name: str, column: Text, reading: ColumnReading) -> NDArray[np.float64]:
    values, wrong = reading.values(column)
    if wrong >= 0:
        raise ValueError(f"row {wrong}, column {name!r}: expected a {reading.kind}, got {column[wrong]!r}.")
    return values


def as_words(values: NDArray[np.float64]) -> Text:
    """Numbers as they would be written; missing ones are empty."""
    return Text.from_list(["" if np.isnan(value) else repr(value).removesuffix(".0") for value in values.tolist()])
