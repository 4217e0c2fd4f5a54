"""The rows that a model takes, as requests write them: objects or lists of JSON, lines of CSV, or Arrow."""

from __future__ import annotations

import difflib
import io
import math
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import task_of
from .._gate import HUGE, ColumnReading, Table, Text, need_pyarrow, sparse
from ..streams import Batch, checked_layout, has_target, open_stream
from ..training import is_known_label, learner_of, match_labels, written_label

Row = list[Any]
"""A row as it is kept: of a table, a number or a text for each column; of sparse rows, columns and their values."""

CSV = "text/csv"
ARROW = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
_KEPT, _LONGEST_KEPT = 8192, 40  # texts whose values are remembered, and characters of one
_BATCH = 1024  # rows of a long body that are predicted at a time
_DAYS = (-719_162, 2_932_897)  # since 1970-01-01, of the years 1 to 9999
_MOST_COLUMNS = 1 << 20  # of sparse rows, for a model with fewer columns that learns new ones


class RowForm:
    """Reads rows for one model, as ``thresher predict`` reads those of a file.

    Parameters
    ----------
    model : estimator or StreamingPipeline
    stream_options : dict
        Arguments of :func:`thresher.streams.open_stream` for files like those the model was trained on.
    """

    def __init__(self, model: Any, stream_options: dict[str, Any] | None = None) -> None:
        self._model, self._options = model, stream_options or {}
        layout = self._options.get("layout")
        layout = layout if layout is not None else _layout_of(model)
        self.is_sparse = "zero_based" in layout
        self.columns: list[str] = []
        self._labels = {str(written_label(label)): label for label in getattr(model, "classes_", np.array([])).tolist()}
        if self.is_sparse:
            self._first = 0 if layout["zero_based"] else 1
            return
        if "columns" not in layout:
            raise ValueError("Models of hashed features cannot be served; train from a table or svmlight rows.")
        layout = checked_layout(layout)
        self._options = {**self._options, "layout": self._options.get("layout") or layout}
        self.columns, self.kinds = layout["columns"], layout["kinds"]
        self._target: str | None = layout["target"]
        usual = {"t": "category", "d": "date", "n": "number"}
        self._readings = [
            layout["readings"].get(name) or ColumnReading(usual[kind])
            for name, kind in zip(self.columns, self.kinds, strict=True)
        ]
        self._read_text = lru_cache(_KEPT)(self._read_value)  # dates and words come again
        self._plan = list(zip(self.columns, self.kinds, self._readings, strict=True))
        self._numbers = [j for j, kind in enumerate(self.kinds) if kind != "t"]
        self._texts = [(j, name) for j, name in enumerate(self.columns) if self.kinds[j] == "t"]
        self._dates = [name for name, kind in zip(self.columns, self.kinds, strict=True) if kind == "d"]
        self._is_table = bool(layout["header"] or self._texts or self._dates)

    # --- JSON -------------------------------------------------------------------------------------------------------

    def read(self, row: Any) -> Row:
        """A row of JSON: an object of names, or a list in the order of the columns."""
        if self.is_sparse:
            return self._read_sparse(row)
        if isinstance(row, dict):
            try:
                values: Sequence[Any] = [row[name] for name in self.columns]
            except KeyError as missing:
                raise ValueError(self._without(missing.args[0], row)) from None
        elif isinstance(row, list):
            if len(row) != len(self.columns):
                raise ValueError(f"A row must have {len(self.columns)} values, got {len(row)}.")
            values = row
        else:
            raise ValueError("A row must be an object of column names and values, or a list of values.")
        read: Row = []
        for place, value in enumerate(values):
            if type(value) is float and -HUGE <= value <= HUGE and self.kinds[place] == "n":  # most of them
                read.append(value)
            elif type(value) is str and len(value) <= _LONGEST_KEPT:
                read.append(self._read_text(place, value))
            else:
                read.append(self._read_value(place, value))
        return read

    def _read_value(self, place: int, value: Any) -> Any:
        name, kind, reading = self._plan[place]
        return _text(name, value, reading) if kind == "t" else _number(name, value, kind, reading)

    def _without(self, name: str, row: dict[str, Any]) -> str:
        close = difflib.get_close_matches(name, [str(key)[:200] for key in list(row)[:1000]], n=1)
        hint = f"; the row has {close[0]!r}" if close else ""
        return f"The row has no column {name!r}, which the model needs{hint}. Write null for a missing value."

    def _read_sparse(self, row: Any) -> Row:
        pairs: Any = list(row.items()) if isinstance(row, dict) else row
        if not isinstance(pairs, list) or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise ValueError("A row must be an object of column numbers and values, or a list of such pairs.")
        read: dict[int, float] = {}
        most = max(_MOST_COLUMNS, learner_of(self._model).n_features_in_)
        for key, value in pairs:
            try:
                column = int(key) - self._first
            except (TypeError, ValueError, OverflowError):
                column = -1
            if isinstance(key, (float, bool)) or not 0 <= column < most or column in read:
                rule = f"whole numbers from {self._first} to {most - 1 + self._first}, each once"
                raise ValueError(f"The columns of a row must be {rule}, got {_shown(key)}.")
            read[column] = _number(str(key), value, "n", ColumnReading("number"))
        return [sorted(read), [read[column] for column in sorted(read)]]

    def empty_row(self) -> Row:
        """A row of zeros and empty texts."""
        return [[], []] if self.is_sparse else ["" if kind == "t" else 0.0 for kind in self.kinds]

    def read_label(self, label: Any) -> Any:
        """A label of JSON as the model knows it: one of its classes, or a number."""
        if self._labels:
            known = self._labels.get(str(written_label(label))) if isinstance(label, (str, int, float)) else None
            if known is None:
                names = [repr(name) for name in list(self._labels)[:10]] + ["..."] * (len(self._labels) > 10)
                raise ValueError(f"A label must be one of the classes {', '.join(names)}, got {_shown(label)}.")
            return known
        if isinstance(label, bool) or not isinstance(label, (int, float)) or not abs(label) <= HUGE:
            raise ValueError(f"A label must be a number, got {_shown(label)}.")
        return float(label)

    # --- other bodies -----------------------------------------------------------------------------------------------

    def batches(self, kind: str, body: bytes) -> Iterator[Batch]:
        """The rows of a body of CSV or Arrow."""
        options: dict[str, Any] = {**self._options, "prefetch": False, "batch_size": _BATCH}
        if self.is_sparse:
            raise ValueError("Sparse rows are sent as JSON.")
        if kind != CSV:
            yield from open_stream(_arrow_table(body), **options).batches()
            return
        with tempfile.NamedTemporaryFile(prefix="thresher-", suffix=".csv") as file:
            file.write(body)
            file.flush()
            try:
                yield from open_stream(file.name, format="csv", **options).batches()
            except ValueError as refusal:
                name = file.name.rpartition("/")[2]
                raise ValueError(str(refusal).replace(name, "The body")) from None

    def rows_of(self, batch: Batch) -> tuple[list[Row], list[Any]]:
        """The rows of a batch as they are kept, and their labels."""
        if batch.y is None or not has_target(batch.y).all():
            raise ValueError(f"Every row to learn must have a value in the column {self._target!r}.")
        targets = match_labels(batch.y, self._model)
        if task_of(self._model) == "classification" and not (known := is_known_label(self._model, targets)).all():
            self.read_label(written_label(targets[int(np.argmin(known))]))  # says what is wrong
        numbers = batch.X.numbers if isinstance(batch.X, Table) else np.asarray(batch.X)
        if np.isinf(numbers).any() or np.abs(numbers).max(initial=0.0, where=~np.isnan(numbers)) > HUGE:
            raise ValueError(f"Numbers must lie between {-HUGE:g} and {HUGE:g}.")
        columns: list[Any] = [None] * len(self.columns)
        for place, values in zip(self._numbers, numbers.T, strict=True):
            columns[place] = values.tolist()
        for place, name in self._texts:
            columns[place] = batch.X[name].to_list()
        return [list(row) for row in zip(*columns, strict=True)], [self.read_label(each) for each in targets.tolist()]

    # --- what the model takes -----------------------------------------------------------------------------------------

    def matrix(self, rows: Sequence[Row], *, grow: bool = False) -> Any:
        """Rows that were read, as the model takes them. Columns that it does not know count for nothing, unless it is
        to `grow`."""
        if self.is_sparse:
            return self._csr(rows, grow)
        numbers = np.array([[row[j] for j in self._numbers] for row in rows], dtype=np.float64)
        if not self._is_table:
            return numbers
        text = {name: Text.from_list([row[j] for row in rows]) for j, name in self._texts}
        return Table(self.columns, numbers.reshape(len(rows), len(self._numbers)), text, self._dates)

    def _csr(self, rows: Sequence[Row], grow: bool) -> Any:
        width: int = learner_of(self._model).n_features_in_
        if grow:
            width = max(width, 1 + max((columns[-1] for columns, _ in rows if columns), default=0))
        kept = [[(j, v) for j, v in zip(*row, strict=True) if j < width] for row in rows]
        places = np.cumsum([0, *map(len, kept)])
        columns = np.array([j for row in kept for j, _ in row], dtype=np.int32)
        values = np.array([v for row in kept for _, v in row], dtype=np.float64)
        return sparse.csr_array((values, columns, places), shape=(len(rows), width))

    def targets(self, labels: Sequence[Any]) -> NDArray[Any]:
        """Labels that were read, as the model learns them."""
        if not self._labels:
            return np.array(labels, dtype=np.float64)
        return np.array(labels, dtype=self._model.classes_.dtype)


def _layout_of(model: Any) -> dict[str, Any]:
    """The columns of a model that was not trained from a file."""
    steps = [step for _, step in getattr(model, "steps", ())]
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    kind_of = {
        name: kind
        for step in steps
        if hasattr(step, "kinds_")
        for name, kind in zip(step.columns_, step.kinds_, strict=True)
    }
    dates = {name for step in steps for name in getattr(step, "dates_", ())}
    kinds = "".join("d" if name in dates else "n" if kind_of.get(name, "n") == "n" else "t" for name in names)
    kinds = kinds or "n" * model.n_features_in_
    counted = [f"x{j + 1}" for j in range(len(kinds))]
    return {"columns": names or counted, "kinds": kinds, "target": None, "header": names not in ([], counted)}


def _arrow_table(body: bytes) -> Any:
    need_pyarrow("A body of Arrow")
    import pyarrow

    try:
        if body.startswith(b"ARROW1"):
            return pyarrow.ipc.open_file(io.BytesIO(body)).read_all()
        table = pyarrow.ipc.open_stream(body).read_all()
        table.validate(full=True)
        return table
    except (pyarrow.ArrowException, OSError, ValueError):
        raise ValueError("The body is not what Arrow writes as a stream or a file.") from None


def _number(name: str, given: Any, kind: str, reading: ColumnReading) -> float:
    value = given
    if isinstance(given, str):
        values, wrong = reading.values(Text.from_list([given]))
        value = float(values[0]) if wrong < 0 else None
        if wrong >= 0 and kind == "d" and reading.is_plain:  # no way of writing it is known
            value = _iso_date(given)
    elif given is None:
        value = math.nan
    if kind == "d" and isinstance(value, (int, float)) and not (value != value or _DAYS[0] <= value < _DAYS[1]):
        value = None
    if isinstance(value, (int, float)) and (abs(value) <= HUGE or (value != value and not isinstance(given, float))):
        return float(value)
    raise ValueError(f"The column {name!r} expects a {reading.kind}, got {_shown(given)}.")


def _iso_date(text: str) -> float | None:
    try:
        moment = np.datetime64(text, "m")
    except ValueError:
        return None
    return float((moment - np.datetime64("1970-01-01T00:00")) / np.timedelta64(1, "D"))


def _text(name: str, value: Any, reading: ColumnReading) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"The column {name!r} expects a text, got {_shown(value)}.")
    text = value if isinstance(value, str) else repr(value).removesuffix(".0")
    return text if reading.is_plain else reading.texts(Text.from_list([text]))[0]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
