"""Rows with names, of numbers and text: what a stream yields when its file has either."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        """All values as strings; bytes that are no UTF-8 become U+FFFD."""
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
        places = np.asarray(indices, dtype=np.int64)
        lengths = np.diff(self.offsets)[places]
        offsets = np.zeros(len(places) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        shift = np.repeat(self.offsets[:-1][places] - offsets[:-1], lengths)
        return Text(offsets, self.data[np.arange(offsets[-1]) + shift])

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

    Attributes
    ----------
    columns, numbers, text
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

    __slots__ = ("columns", "number_names", "numbers", "text")

    def __init__(self, columns: Sequence[str], numbers: NDArray[Any], text: dict[str, Text] | None = None) -> None:
        self.columns = list(columns)
        self.text = dict(text or {})
        self.number_names = [name for name in self.columns if name not in self.text]
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

    @classmethod
    def from_frame(cls, frame: Any) -> Table:
        """From a pandas or polars DataFrame or a pyarrow Table. What is neither number, truth value nor text is
        refused, by the name of the column.

        Parameters
        ----------
        frame : DataFrame or pyarrow.Table

        Returns
        -------
        Table
        """
        names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
        _check_different(names)
        read = _pandas_column if hasattr(frame, "iloc") else _arrow_column if _is_arrow(frame) else _polars_column
        values = {name: read(frame, place, name) for place, name in enumerate(names)}
        text = {name: column for name, column in values.items() if isinstance(column, Text)}
        numbers = [column for column in values.values() if not isinstance(column, Text)]
        dtype = np.result_type(np.float32, *numbers) if numbers else np.float64
        table = np.empty((len(frame), len(numbers)), dtype=dtype)
        for place, column in enumerate(numbers):
            table[:, place] = column
        return cls(names, table, text)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), len(self.columns)

    @property
    def ndim(self) -> int:
        return 2

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, key: Any) -> Any:
        """A column by its name (an ndarray or :class:`Text`), or rows by a slice, indices or a mask (a Table)."""
        if isinstance(key, str):
            return self.text[key] if key in self.text else self.numbers[:, self.number_names.index(key)]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn asks for rows
        if isinstance(key, slice):
            return Table(self.columns, self.numbers[key], {name: column[key] for name, column in self.text.items()})
        return self.take(_places(key, len(self)))

    def take(self, indices: NDArray[Any] | Sequence[int]) -> Table:
        """The rows at these places, in this order."""
        places = np.asarray(indices, dtype=np.int64)
        text = {name: column.take(places) for name, column in self.text.items()}
        return Table(self.columns, self.numbers[places], text)

    def select(self, names: Sequence[str]) -> Table:
        """Some of the columns, in this order."""
        text = {name: self.text[name] for name in names if name in self.text}
        numbers = [name for name in names if name not in text]
        if numbers == self.number_names:
            return Table(names, self.numbers, text)
        return Table(names, self.numbers[:, [self.number_names.index(name) for name in numbers]], text)

    @classmethod
    def concat(cls, parts: Sequence[Table]) -> Table:
        """One table below the other; all have the same columns."""
        if len(parts) == 1:
            return parts[0]
        text = {name: Text.concat([part.text[name] for part in parts]) for name in parts[0].text}
        return cls(parts[0].columns, np.concatenate([part.numbers for part in parts]), text)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.text:
            raise TypeError(
                f"column {next(iter(self.text))!r} holds text; put a TableEncoder of thresher.preprocessing before "
                "what needs numbers."
            )
        return np.array(self.numbers, dtype=dtype) if copy else np.asarray(self.numbers, dtype=dtype)

    def __repr__(self) -> str:
        shown = [name + " (text)" * (name in self.text) for name in self.columns[:8]]
        return f"Table({len(self)} rows: {', '.join(shown)}{', ...' if len(self.columns) > 8 else ''})"


def _check_different(names: list[str]) -> None:
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Table: columns must have different names, got {twice!r} twice.")


def _places(rows: Any, n: int) -> NDArray[np.int64]:
    """Row numbers from a slice, a mask or row numbers."""
    places = np.arange(n)[rows] if isinstance(rows, slice) else np.asarray(rows)
    if places.dtype == bool:
        if len(places) != n:
            raise IndexError(f"a mask must have one entry per row, got {len(places)} for {n} rows.")
        places = np.flatnonzero(places)
    return places.astype(np.int64, copy=False)


# --- columns of other libraries' frames ------------------------------------------------------------------------------


def _refused(name: str, dtype: Any) -> ValueError:
    return ValueError(f"Table: column {name!r} must hold numbers or text, got {dtype}; turn it into one of them first.")


def _number(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _mixed(values: list[Any], missing: NDArray[Any], name: str) -> NDArray[Any] | Text:
    """Python objects: numbers if they all are, else text."""
    kept = [None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]
    if any(isinstance(value, str) for value in kept):
        return Text.from_list([None if value is None else str(value) for value in kept])
    try:
        return np.array([np.nan if value is None else float(value) for value in kept], dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(name, type(next(value for value in kept if value is not None)).__name__) from None


def _pandas_column(frame: Any, place: int, name: str) -> NDArray[Any] | Text:
    column = frame.iloc[:, place]
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column, "cat"):
        return _mixed(column.astype(object).astype(str).tolist(), column.isna().to_numpy(), name)
    if kind in "fiub":
        if isinstance(column.dtype, np.dtype):
            return _number(column.to_numpy())
        dtype = np.float32 if column.dtype.itemsize == 4 and kind == "f" else np.float64
        return np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    if kind in "mMc" or not (kind in "OU" or str(column.dtype).startswith("str")):
        raise _refused(name, column.dtype)
    return _mixed(column.astype(object).tolist(), column.isna().to_numpy(), name)


def _polars_column(frame: Any, place: int, name: str) -> NDArray[Any] | Text:
    column = frame[:, place]
    kind = str(column.dtype).partition("(")[0]
    if column.dtype.is_numeric() or kind in ("Boolean", "Null"):
        import polars

        return np.asarray(column.cast(polars.Float32 if kind == "Float32" else polars.Float64).to_numpy())
    if kind not in ("String", "Categorical", "Enum"):
        raise _refused(name, column.dtype)
    return Text.from_list(column.to_list())


def _is_arrow(frame: Any) -> bool:
    return hasattr(frame, "column_names") and hasattr(frame, "schema")


def _arrow_column(frame: Any, place: int, name: str) -> NDArray[Any] | Text:
    import pyarrow as pa

    column = frame.column(place)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float32() if pa.types.is_float32(kind) else pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"):
        raise _refused(name, kind)
    return Text.from_arrow(column)
