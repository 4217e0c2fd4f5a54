"""Warnings about data: columns without information or with too much, repeated rows, targets that are hard to learn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from .._dataclasses import dataclass
from .._figures import listed, number, percent, plural, quoted
from .._gate import sparse
from ..streams import Table
from ._column_summary import ColumnFigures, Columns
from ._leaks import Leak, find_leaks

_NEARLY_EMPTY = 0.95  # of the rows have no value
_FEW_ROWS = 20  # below which neither order nor repetition means anything
_RARE_ROWS, _RARE_SHARE = 10, 0.002  # a class with fewer rows, or a smaller share of them, is very rare
_REPEATED = 0.01  # of the rows
_ROOM = 100  # possible different rows per row, from which on repeated rows are not due to chance
_FAR = 1000  # times the distance between the quartiles
_WHOLE = 2.0**53  # from here on floating point skips whole numbers


@dataclass(frozen=True)
class DataWarning:
    """A property of the data that is likely to harm a model.

    Attributes
    ----------
    kind : str
        ``leak``, ``constant``, ``empty``, ``nearly_empty``, ``duplicated_columns``, ``range``, ``duplicated_rows``,
        ``wide``, ``sorted``, ``rare_class``, ``one_class`` or ``skipped``.
    says : str
        A sentence that describes it and says what to do.
    columns : tuple of str
    option : str or None
        The parameter of :func:`thresher.streams.open_stream` that deals with it.
    """

    kind: str
    says: str
    columns: tuple[str, ...] = ()
    option: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class LabelledRows:
    """The input of warnings: columns, their statistics, and the target as class codes or numbers."""

    X: Any
    columns: Columns
    figures: dict[str, ColumnFigures]
    target: NDArray[np.float64] | None = None
    is_class: bool = False
    classes: dict[str, int] = field(default_factory=dict)


def find_warnings(rows: LabelledRows, n_rows: int) -> list[DataWarning]:
    """All warnings, the worst first; the rows may be a sample of `n_rows`."""
    leaks = [] if rows.target is None else find_leaks(rows.columns, rows.target, rows.is_class)
    found = [*_leak_warning(leaks, rows.is_class), *_target_warnings(rows), *_column_warnings(rows)]
    return [*found, *_row_warnings(rows, n_rows)]


def _named(names: list[str], does: str, do: str) -> str:
    """Begin a sentence about some columns with the verb that suits one or several."""
    return (
        f"Column {quoted(names[0])} {does}" if len(names) == 1 else f"Columns {listed(list(map(quoted, names)))} {do}"
    )


def _leak_warning(leaks: list[Leak], is_class: bool) -> Iterator[DataWarning]:
    if not leaks:
        return
    names, best = [leak.name for leak in leaks], leaks[0]
    how = f"is wrong on {percent(best.error)} of rows, a guess on {percent(best.guess)}"
    if not is_class:
        how = f"explains {percent(1 - best.error)} of the variance"
    who = _named(names, "alone predicts", "each predict")
    what = "leave it out" if len(names) == 1 else "leave them out"
    yield DataWarning(
        "leak",
        f"{who} the target nearly perfectly ({quoted(best.name)} {how}); "
        f"{what} unless the value is known before the target is",
        tuple(names),
        "drop",
    )


def _column_warnings(rows: LabelledRows) -> Iterator[DataWarning]:
    figures = rows.figures
    if rows.columns.n_rows < 2:
        return
    empty = [name for name, f in figures.items() if f.n_missing == f.n_rows]
    if empty:
        says = f"{_named(empty, 'has no values', 'have no values')} in the rows looked at; leave out what stays empty"
        yield DataWarning("empty", says, tuple(empty), "drop")
    constant = [name for name, f in figures.items() if f.is_constant]
    if constant:
        says = f"{_named(constant, 'has', 'have')} the same value in every row looked at; leave them out"
        yield DataWarning(
            "constant", says.replace("them", "it") if len(constant) == 1 else says, tuple(constant), "drop"
        )
    hollow = [name for name, f in figures.items() if _NEARLY_EMPTY < f.missing < 1]
    if hollow:
        most = max(figures[name].missing for name in hollow)
        says = _named(hollow, "is nearly empty", "are nearly empty")
        says += f" ({percent(most)} of the rows have no value); leave out what is not filled in for a reason"
        yield DataWarning("nearly_empty", says, tuple(hollow), "drop")
    yield from _repeated_columns(rows)
    yield from _wide_ranges(figures)


def _repeated_columns(rows: LabelledRows) -> Iterator[DataWarning]:
    first: dict[Any, str] = {}
    again: dict[str, str] = {}
    for name, key in _column_keys(rows.columns):
        if rows.figures[name].n_distinct > 1 and first.setdefault(key, name) != name:
            again[name] = first[key]
    if again:
        name, original = next(iter(again.items()))
        others = "" if len(again) == 1 else f", and {plural(len(again) - 1, 'other column')} repeat another"
        says = f"Column {quoted(name)} has the same values as {quoted(original)}{others}; keep one of each"
        yield DataWarning("duplicated_columns", says, tuple(again), "drop")


def _column_keys(columns: Columns) -> Iterator[tuple[str, Any]]:
    """Each column with its values in a form that can be compared."""
    for names, block in columns.blocks():
        block += 0.0  # minus zero is zero
        yield from ((name, hash(values.tobytes())) for name, values in zip(names, block, strict=True))
    for name, codes in columns.words.items():
        yield name, (hash(codes.tobytes()), tuple(columns.texts[name]))


def _wide_ranges(figures: dict[str, ColumnFigures]) -> Iterator[DataWarning]:
    far, large = [], []
    for name, f in figures.items():
        low, q1, _, q3, high = f.five or (0.0,) * 5
        if max(abs(low), abs(high)) >= _WHOLE:
            large.append(name)
        elif high - low > _FAR * (q3 - q1) > 0:
            far.append(name)
    if large:
        says = f"{_named(large, 'has', 'have')} numbers above {number(_WHOLE)}, where digits get lost"
        yield DataWarning("range", f"{says}; leave out identifiers, or take logarithms", tuple(large), "drop")
    if far:
        low, q1, _, q3, high = figures[far[0]].five
        says = f"{_named(far, 'has', 'have')} values far from most others ({quoted(far[0])}: half lie between "
        says += f"{number(q1)} and {number(q3)}, all between {number(low)} and {number(high)})"
        yield DataWarning("range", f"{says}; look for slips and marks such as 9999, or take logarithms", tuple(far))


def _target_warnings(rows: LabelledRows) -> Iterator[DataWarning]:
    if rows.target is None:
        return
    known = rows.target[~np.isnan(rows.target)]
    if len(known) < _FEW_ROWS:
        return
    if len(known) and (known == known[0]).all():
        yield DataWarning("one_class", "The target is the same in all rows looked at; there is nothing to learn")
        return
    steps = np.diff(known)
    in_order = not _engine.are_mixed(known) if rows.is_class else bool((steps >= 0).all() or (steps <= 0).all())
    if in_order:
        yield DataWarning("sorted", "The rows seem to be sorted by the target; shuffle them before training")
    total = sum(rows.classes.values())
    rare = {name: n for name, n in rows.classes.items() if n < _RARE_ROWS or n < _RARE_SHARE * total}
    if rare:
        names = list(map(quoted, rare))
        which = f"Class {names[0]} has" if len(rare) == 1 else f"Classes {listed(names)} have at least"
        says = f"{which} {min(rare.values())} of {plural(total, 'row')}; collect more of them, join classes, "
        yield DataWarning("rare_class", f"{says}or judge models by average precision and not by the error")


def _row_warnings(rows: LabelledRows, n_rows: int) -> Iterator[DataWarning]:
    columns = rows.columns
    if columns.n_columns > n_rows:
        yield DataWarning(
            "wide",
            f"There are more columns ({columns.n_columns:,}) than rows ({n_rows:,}); choose a method that "
            "selects features, and measure it on rows that took no part in choosing",
        )
    share = repeated_rows(rows)
    room = sum(math.log(max(f.n_distinct, 1)) for f in rows.figures.values())
    if columns.n_rows >= _FEW_ROWS and share >= _REPEATED and room >= math.log(_ROOM * columns.n_rows):
        says = f"{percent(share)} of the rows repeat an earlier row"
        yield DataWarning(
            "duplicated_rows", f"{says}; remove them, or copies of training rows will be among those held out"
        )


def repeated_rows(rows: LabelledRows) -> float:
    """The share of rows that are the same as an earlier one, target included."""
    X, n_rows = rows.X, rows.columns.n_rows
    if sparse.issparse(X):
        bounds = X.indptr.tolist()
        parts = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in itertools.pairwise(bounds)]
    else:
        values = np.ascontiguousarray(X.numbers if isinstance(X, Table) else X)
        words = list(rows.columns.words.values())
        codes = np.stack(words, axis=1) if words else np.zeros((n_rows, 0))
        parts = [(row.tobytes(), code.tobytes()) for row, code in zip(values, codes, strict=True)]
    target = [0.0] * n_rows if rows.target is None else np.nan_to_num(rows.target, nan=math.inf).tolist()
    return 1 - len({hash(key) for key in zip(parts, target, strict=True)}) / max(n_rows, 1)
