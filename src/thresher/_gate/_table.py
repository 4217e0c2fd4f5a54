"""Rows with names, of numbers and text: what a stream yields when its file has either."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

Rows = slice | NDArray[Any] | Sequence[int]


class Text:
    """A column of text as Arrow keeps it: all values in one run of UTF-8 bytes, and where each of them begins.

    Parameters
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        Value `i` is ``data[offsets[i] : offsets[i + 1]]``; the first offset need not be 0.
    data : uint8 ndarray

    Examples
    --------
    >>> from thresher._gate import Text
    >>> towns = Text.from_list(["Köln", None, "Gent"])
    >>> len(towns), towns[0], towns[1:].to_list()
    (3, 'Köln', ['', 'Gent'])
    """

    __slots__ = ("data", "offsets")

    def __init__(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        if offsets.ndim != 1 or len(offsets) == 0 or offsets.dtype != np.int64 or data.dtype != np.uint8:
            raise ValueError("Text: offsets must be int64, one more than there are values, and data uint8.")
        self.offsets = offsets
        self.data = data

    @classmethod
    def from_list(cls, values: Sequence[str | None]) -> Text:
        """From strings, None being a missing one."""
        encoded = [value.encode("utf-8", "replace") if value else b"" for value in values]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(value) for value in encoded], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    @classmethod
    def from_arrow(cls, column: Any) -> Text:
        """From a pyarrow array of text, in one or more chunks; their memory is shared if it is one run."""
        import pyarrow as pa

        large = pa.large_string()
        if pa.types.is_dictionary(column.type):  # pyarrow decodes no dictionary of string views
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            column = pa.chunked_array([chunk.dictionary.cast(large).take(chunk.indices) for chunk in chunks], large)
        column = column.cast(large)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        column = column.fill_null("") if column.null_count else column
        _, offsets, data = column.buffers()
        if not len(column):
            return cls.from_list([])
        places = np.frombuffer(offsets, np.int64, len(column) + 1, column.offset * 8)
        return cls(places, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8))

    def to_list(self) -> list[str]:
        """All values as strings; bytes that are not valid UTF-8 become U+FFFD."""
        begin = int(self.offsets[0])
        text = self.data[begin : int(self.offsets[-1])].tobytes()
        places = (self.offsets - begin).tolist()
        bounds = itertools.pairwise(places)
        if text.isascii():  # one decoding for all
            whole = text.decode("ascii")
            return [whole[a:b] for a, b in bounds]
        return [text[a:b].decode("utf-8", "replace") for a, b in bounds]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def __getitem__(self, rows: int | np.integer[Any] | Rows) -> Any:
        """One value as a string, or some rows as Text; a slice without steps copies no text."""
        if isinstance(rows, (int, np.integer)):
            place = range(len(self))[int(rows)]
            return self.data[self.offsets[place] : self.offsets[place + 1]].tobytes().decode("utf-8", "replace")
        if isinstance(rows, slice):
            begin, end, step = rows.indices(len(self))
            if step == 1:
                return Text(self.offsets[begin : max(begin, end) + 1], self.data)
        return self.take(_places(rows, len(self)))

    def take(self, indices: NDArray[Any] | Sequence[int]) -> Text:
        """The values at these places, in this order."""
        return Text(*_core.take_texts(self.offsets, self.data, np.ascontiguousarray(indices, dtype=np.int64)))

    @classmethod
    def concat(cls, parts: Sequence[Text]) -> Text:
        """One column below the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(offsets, np.concatenate([part.data[part.offsets[0] : part.offsets[-1]] for part in parts]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.to_list() == other.to_list()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3].to_list()))
        return f"Text([{shown}{', ...' if len(self) > 3 else ''}], n={len(self)})"


class Table:
    """Rows of named columns, some of numbers and some of text.

    A missing number is NaN, a missing text is empty.

    Parameters
    ----------
    columns : list of str
        Names of all columns in the order of the file, each once.
    numbers : ndarray of shape (n_rows, n_number_columns)
        float64 or float32. Its columns are those of `columns` that are not in `text`, in that order.
    text : dict of str to Text, optional
        The columns of text.
    dates : sequence of str
        Columns of `numbers` that hold points in time: days since 1970-01-01, with the time of day as a fraction.

    Attributes
    ----------
    columns, numbers, text, dates
        As given.
    number_names : list of str
        Names of the columns of `numbers`.
    shape : (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from thresher._gate import Table, Text
    >>> table = Table(["age", "job"], np.array([[31.0], [47.0]]), {"job": Text.from_list(["clerk", "cook"])})
    >>> table
    Table(2 rows: age, job (text))
    >>> table[1:]["job"].to_list()
    ['cook']
    """

    __slots__ = ("_places", "columns", "dates", "number_names", "numbers", "text")

    def __init__(
        self,
        columns: Sequence[str],
        numbers: NDArray[Any],
        text: dict[str, Text] | None = None,
        dates: Collection[str] = (),
    ) -> None:
        self.columns = list(columns)
        self.text = dict(text or {})
        self.number_names = [name for name in self.columns if name not in self.text]
        self._places = {name: place for place, name in enumerate(self.number_names)}
        self.dates = tuple(name for name in self.number_names if name in dates)
        if numbers.ndim != 2 or numbers.dtype not in (np.float64, np.float32):
            raise ValueError("Table: numbers must be float64 or float32, of two dimensions.")
        self.numbers = np.ascontiguousarray(numbers)
        _check_different(self.columns)
        if len(self.number_names) != self.numbers.shape[1] or not set(self.text) <= set(self.columns):
            raise ValueError(
                f"Table: {len(self.columns)} columns, of which {len(self.text)} are text, do not fit "
                f"{self.numbers.shape[1]} columns of numbers."
            )
        if any(len(column) != len(self.numbers) for column in self.text.values()):
            raise ValueError("Table: all columns must be equally long.")
        if len(self.dates) != len(dates):
            raise ValueError("Table: dates must name columns of numbers.")

    @classmethod
    def from_frame(cls, frame: Any) -> Table:
        """From a data frame of any library: of pandas, polars or narwhals, a pyarrow Table, a DuckDB relation, or
        anything else that speaks Arrow's C interface. Truth values and lengths of time are numbers (of days), a time
        of day is a number of hours, points in time are dates. What is neither number, date nor text is refused, by the
        name of the column.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, pyarrow.Table, ...

        Returns
        -------
        Table
        """
        from ._frames import frame_columns  # which makes columns of text, and so needs this file

        columns = frame_columns(frame)
        _check_different([name for name, _, _ in columns])
        text = {name: values for name, kind, values in columns if kind == "t"}
        numbers = [values for _, kind, values in columns if kind != "t"]
        dtype = np.result_type(np.float32, *numbers) if numbers else np.float64
        table = np.empty((len(columns[0][2]) if columns else len(frame), len(numbers)), dtype=dtype)
        for place, column in enumerate(numbers):
            table[:, place] = column
        return cls([name for name, _, _ in columns], table, text, [name for name, kind, _ in columns if kind == "d"])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), len(self.columns)

    @property
    def ndim(self) -> int:
        return 2

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name."""
        return name in self._places or name in self.text

    def __getitem__(self, key: Any) -> Any:
        """A column by its name (an ndarray or :class:`Text`), or rows by a slice, indices or a mask (a Table)."""
        if isinstance(key, str):
            return self.text[key] if key in self.text else self.numbers[:, self._places[key]]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn asks for rows
        if isinstance(key, slice):
            text = {name: column[key] for name, column in self.text.items()}
            return Table(self.columns, self.numbers[key], text, self.dates)
        return self.take(_places(key, len(self)))

    def take(self, indices: NDArray[Any] | Sequence[int]) -> Table:
        """The rows at these places, in this order."""
        places = np.asarray(indices, dtype=np.int64)
        text = {name: column.take(places) for name, column in self.text.items()}
        return Table(self.columns, self.numbers[places], text, self.dates)

    def select(self, names: Sequence[str]) -> Table:
        """Some of the columns, in this order."""
        text = {name: self.text[name] for name in names if name in self.text}
        numbers = [name for name in names if name not in text]
        dates = set(self.dates).intersection(numbers)
        if numbers == self.number_names:
            return Table(names, self.numbers, text, dates)
        return Table(names, self.numbers[:, [self._places[name] for name in numbers]], text, dates)

    def with_numbers(self, numbers: NDArray[Any]) -> Table:
        """The same columns with other numbers, of the same shape and type; none of them are dates any more."""
        if numbers.shape != self.numbers.shape or numbers.dtype != self.numbers.dtype:
            raise ValueError(
                f"Table: numbers must be {self.numbers.dtype} of shape {self.numbers.shape}, got {numbers.dtype} of "
                f"shape {numbers.shape}."
            )
        made = copy(self)  # whose columns were checked
        made.numbers, made.dates = np.ascontiguousarray(numbers), ()
        return made

    @classmethod
    def concat(cls, parts: Sequence[Table]) -> Table:
        """One table below the other; all have the same columns."""
        if len(parts) == 1:
            return parts[0]
        text = {name: Text.concat([part.text[name] for part in parts]) for name in parts[0].text}
        return cls(parts[0].columns, np.concatenate([part.numbers for part in parts]), text, parts[0].dates)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.text or self.dates:
            name, kind = (next(iter(self.text)), "text") if self.text else (self.dates[0], "dates")
            raise TypeError(f"column {name!r} holds {kind}; encode it first, with thresher.preprocessing.TableEncoder.")
        return np.array(self.numbers, dtype=dtype) if copy else np.asarray(self.numbers, dtype=dtype)

    def __repr__(self) -> str:
        shown = [name + " (text)" * (name in self.text) + " (date)" * (name in self.dates) for name in self.columns[:8]]
        return f"Table({len(self)} rows: {', '.join(shown)}{', ...' if len(self.columns) > 8 else ''})"


def written_date(days: float) -> str:
    """A point in time of a table as ISO 8601 writes it, to the minute if it is not midnight; empty if it is missing."""
    if np.isnan(days):
        return ""
    moment = np.datetime64("1970-01-01T00:00") + np.timedelta64(round(days * 1440), "m")
    return str(moment).removesuffix("T00:00")


def _check_different(names: list[str]) -> None:
    if len(set(names)) != len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"Table: columns must have different names, got {twice!r} twice.")


def _places(rows: Any, n: int) -> NDArray[np.int64]:
    """Row numbers from a slice, a mask or row numbers."""
    places = np.arange(n)[rows] if isinstance(rows, slice) else np.asarray(rows)
    if places.dtype == bool:
        if len(places) != n:
            raise IndexError(f"a mask must have one entry per row, got {len(places)} for {n} rows.")
        places = np.flatnonzero(places)
    return places.astype(np.int64, copy=False)
