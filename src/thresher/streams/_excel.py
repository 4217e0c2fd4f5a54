"""Excel and OpenDocument spreadsheets: one sheet as a table, by python-calamine."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from .._gate import need_pyarrow
from ._arrow import MemoryRows, in_words
from ._csv import unique_names
from ._source import ReadOptions

_MISSING = {"", "na", "n/a", "nan", "null", "none", "?", ".", "-", "#n/a"}
_NUMBERS = (bool, int, float)


class ExcelSource(MemoryRows):
    """A sheet, by default the first one. The first row holds names if all its fields are text."""

    def __init__(self, path: Path, options: ReadOptions, layout: dict[str, Any] | None = None) -> None:
        need_pyarrow(f"{path.name}: a spreadsheet")
        rows = _rows(path, options.sheet)
        first = [str(cell).strip() for cell in rows[0]]
        named = options.header
        if named == "auto":
            named = len(rows) > 1 and all(isinstance(cell, str) for cell in rows[0]) and any(first)
        names = unique_names(first if named else [""] * len(first))
        table = _table(dict(zip(names, zip(*rows[int(named) :], strict=True), strict=True)))
        if not len(table):
            raise ValueError(f"{path.name}: the sheet has no rows.")
        super().__init__(path, path.stat().st_size, table, options, layout)


def _rows(path: Path, sheet: str | int | None) -> list[list[Any]]:
    """The cells of a sheet; rows without any value are passed over."""
    try:
        import python_calamine
    except ImportError:
        raise ValueError(f'{path.name}: a spreadsheet needs python-calamine: pip install "thresher[lab]".') from None
    try:
        with python_calamine.CalamineWorkbook.from_path(path) as book:
            names = book.sheet_names
            if sheet is not None and sheet not in (names if isinstance(sheet, str) else range(len(names))):
                raise ValueError(f"{path.name}: sheet={sheet!r}, but the sheets are {', '.join(names)}.")
            name = sheet if isinstance(sheet, str) else names[sheet or 0]
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except (python_calamine.CalamineError, OSError) as error:
        raise ValueError(f"{path.name}: not a readable spreadsheet ({in_words(error)}).") from None
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError(f"{path.name}: the sheet {name!r} is empty.")
    return rows


def _table(columns: dict[str, tuple[Any, ...]]) -> Any:
    import pyarrow

    return pyarrow.table({name: pyarrow.array(*_typed(cells)) for name, cells in columns.items()})


def _typed(cells: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Cells of one column as values of one type: numbers, dates, times or text."""
    import pyarrow

    values = [None if isinstance(cell, str) and cell.strip().lower() in _MISSING else cell for cell in cells]
    there = [value for value in values if value is not None]
    if all(isinstance(value, _NUMBERS) for value in there):
        return [None if value is None else float(value) for value in values], pyarrow.float64()
    if all(isinstance(value, datetime.date) for value in there):
        moments = [value if isinstance(value, datetime.datetime | None) else _midnight(value) for value in values]
        return moments, pyarrow.timestamp("us")
    for kind, arrow_type in ((datetime.time, pyarrow.time64("us")), (datetime.timedelta, pyarrow.duration("us"))):
        if all(isinstance(value, kind) for value in there):
            return values, arrow_type
    return [cell if isinstance(cell, str) else _written(cell) for cell in cells], pyarrow.string()


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime(day.year, day.month, day.day)


def _written(cell: Any) -> str:
    """A cell of a column of text as people write it: 3 rather than 3.0."""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)
