"""The profile of rows in memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import ColumnFound, ColumnReading, Table, Text, looks_like_prose, sparse
from ._column_summary import ColumnFigures, Columns, RunningFigures, number_figures, word_figures
from ._column_words import kind_in_words, use_in_words, value_in_words
from ._look import LabelCounts, Look
from ._profile_parts import ColumnProfile, Doubt, Profile
from ._profile_warnings import LabelledRows, find_warnings

_MOST_CELLS, _MOST_ROWS, _FEWEST_ROWS = 10_000_000, 50_000, 100  # of an even sample in memory
_ROWS_OF_PROSE = 1000


def rows_that_fit(X: Any) -> int:
    """The number of rows like these from which a profile is made."""
    width = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
    return int(min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // max(1, int(width)))))


def are_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows without a target."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    empty = [value is None or value == "" or value != value for value in y.tolist()] if y.dtype.kind == "O" else False
    return np.broadcast_to(np.asarray(empty, dtype=bool), len(y))


def profile_rows(
    X: Any,
    y: Any,
    *,
    understood: Any = None,
    target: str | None = None,
    classes: dict[str, int] | None = None,
    n_rows: int | None = None,
    counted: RunningFigures | None = None,
) -> Profile:
    """Describe rows in memory, or an even sample if they are many.

    Parameters
    ----------
    X : Table, ndarray or csr_array
    y : ndarray or None
    understood : Understood, optional
        What was found out about the file from which the rows are.
    target : str, optional
        The name of the target.
    classes : dict of str to int, optional
        Rows of each class, if more rows than these were counted.
    n_rows : int, optional
        Rows that there are, if these are a sample.
    counted : RunningFigures, optional
        What was counted over more rows than these.
    """
    n_read = X.shape[0] if n_rows is None else n_rows
    X, y = _even_part(X, None if y is None or np.ndim(y) != 1 else np.asarray(y))
    looked: dict[str, ColumnFound] = {} if understood is None else understood.columns
    columns = Columns(X, _feature_names(X, looked, target))
    figures = columns.figures()
    figures = figures if counted is None else counted.corrected(columns, figures)
    order, readings = list(looked) or _in_order(X, columns), _typed_readings(X, columns)
    answers, shown = None, dict(figures)
    if y is not None:
        answers = _Answers(y, classes)
        target = target or ("target" if "target" not in order else "the target")
        order += [target] if target not in order else []
        shown[target], readings[target] = answers.figures, answers.reading
    readings |= {name: found.reading for name, found in looked.items()}
    return Profile(
        columns=tuple(
            _described(name, readings[name], shown.get(name), looked.get(name), name == target) for name in order
        ),
        n_columns=max(columns.n_columns + (y is not None), len(order)),
        n_rows=X.shape[0],
        n_read=n_read,
        n_estimated=n_read,
        target=None if answers is None else target,
        task=None if answers is None else answers.task,
        classes={} if answers is None else answers.classes,
        warnings=tuple(find_warnings(_with_answers(X, columns, figures, answers), n_read)),
        doubts=tuple(Doubt(found.doubt, found.option) for found in looked.values() if found.doubt),
        text={name: getattr(understood, name) for name in ("encoding", "delimiter", "header")}
        if understood is not None and understood.encoding is not None
        else {},
    )


def _even_part(X: Any, y: NDArray[Any] | None) -> tuple[Any, NDArray[Any] | None]:
    if X.shape[0] <= (most := rows_that_fit(X)):
        return X, y
    some = np.linspace(0, X.shape[0] - 1, most).astype(np.intp)
    return X[some], None if y is None else y[some]


def _feature_names(X: Any, looked: dict[str, ColumnFound], target: str | None) -> list[str]:
    """The names of columns of rows that hold none."""
    if isinstance(X, Table):
        return X.columns
    known = [name for name, found in looked.items() if found.reading.letter != "-" and name != target]
    return known if len(known) == X.shape[1] else [f"x{j + 1}" for j in range(X.shape[1])]


def _in_order(X: Any, columns: Columns) -> list[str]:
    return list(X.columns) if isinstance(X, Table) else list(columns.names)


def _typed_readings(X: Any, columns: Columns) -> dict[str, ColumnReading]:
    """The kinds of columns by their types alone."""
    dates = set(X.dates) if isinstance(X, Table) else set()
    found = {name: ColumnReading("date" if name in dates else "number") for name in columns.number_names}
    for name in columns.words:
        some: Text = X.text[name][:_ROWS_OF_PROSE]
        found[name] = ColumnReading("text" if looks_like_prose(some.to_list()) else "category")
    return found


def _described(
    name: str,
    reading: ColumnReading,
    figures: ColumnFigures | None,
    looked: ColumnFound | None,
    is_target: bool,
) -> ColumnProfile:
    """A column in words and figures; one that is left out has only what the look at the file found."""
    use = use_in_words(reading, "" if looked is None else looked.note, is_target)
    example = "" if looked is None else looked.example
    if figures is None:
        missing = 0.0 if looked is None else looked.n_missing / max(looked.n_rows, 1)
        return ColumnProfile(name, kind_in_words(reading, None), use, example, missing)
    if not example and figures.first is not None:
        first = figures.first
        example = first if isinstance(first, str) else value_in_words(first, reading.kind)
    values: dict[str, float | str] = {}
    if figures.five and figures.mean is not None:
        named = zip(("min", "q1", "median", "q3", "max", "mean"), (*figures.five, figures.mean), strict=True)
        is_date = reading.kind == "date"
        values = {each: value_in_words(value, "date") if is_date else value for each, value in named}
    return ColumnProfile(
        name,
        kind_in_words(reading, figures.n_distinct),
        use,
        example,
        figures.missing,
        figures.n_distinct,
        values,
        figures.frequent or {},
        figures.histogram,
    )


class _Answers:
    """The targets of the rows: classes or numbers, some of which may be missing."""

    def __init__(self, y: NDArray[Any], classes: dict[str, int] | None) -> None:
        self._y, self._known = y, ~are_missing(y)
        self._is_text = y.dtype.kind not in "fiub"
        self._labels, self._counted = LabelCounts(), classes
        self._labels.add(self._present)

    @property
    def _present(self) -> NDArray[Any]:
        present = self._y[self._known]
        return present.astype(str).astype(object) if self._is_text else present

    @cached_property
    def task(self) -> str:
        known = self._present
        return Look(len(known), 0, self._labels.distinct(), self._is_text, True, True, known, None).task

    @property
    def classes(self) -> dict[str, int]:
        return (self._counted or self._labels.by_name()) if self.task == "classification" else {}

    @property
    def reading(self) -> ColumnReading:
        return ColumnReading("category" if self._is_text else "number")

    @cached_property
    def figures(self) -> ColumnFigures:
        if not self._is_text:
            return number_figures(self._y.astype(np.float64)[None, :])[0]
        texts = [str(value) if known else "" for value, known in zip(self._y.tolist(), self._known, strict=True)]
        column = Text.from_list(texts)
        codes, rows = _core.factorize(column.offsets, column.data)
        return word_figures(codes, column.take(rows).to_list())

    @property
    def values(self) -> NDArray[np.float64]:
        """Numbers, or codes of the classes; NaN where the target is missing."""
        values, known = np.full(len(self._y), np.nan), self._present
        is_class = self.task == "classification"
        values[self._known] = np.unique(known, return_inverse=True)[1] if is_class else known
        return values


def _with_answers(
    X: Any, columns: Columns, figures: dict[str, ColumnFigures], answers: _Answers | None
) -> LabelledRows:
    if answers is None:
        return LabelledRows(X, columns, figures)
    return LabelledRows(X, columns, figures, answers.values, answers.task == "classification", answers.classes)
