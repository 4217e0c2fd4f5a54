"""Data frames of other libraries: what counts as one, the names of its columns, and its columns as numbers or text.

pandas is read column by column, with or without pyarrow. Everything else comes through one door, Arrow's C interface.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._scipy import sparse
from ._table import Table, Text

Kind = Literal["n", "d", "t"]  # numbers, dates (days since 1970-01-01) or text
Column = tuple[str, Kind, Any]

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


# --- frames ---------------------------------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of any library, or a Table."""
    return isinstance(X, Table) or is_numpy_like(X) or is_foreign(X)


def is_numpy_like(X: Any) -> bool:
    """Whether this is a frame of pandas or polars, which give their numbers without a detour."""
    return hasattr(X, "to_numpy") and hasattr(X, "columns") and hasattr(X, "dtypes")


def is_foreign(X: Any) -> bool:
    """Whether this is a frame of neither pandas nor polars, or a lazy one."""
    if isinstance(X, (np.ndarray, Table, list, tuple)) or sparse.issparse(X) or is_numpy_like(X):
        return False
    if hasattr(X, "collect_schema") or hasattr(X, "__dataframe__"):
        return True
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "to_numpy")  # which a single column has


def frame_names(X: Any) -> list[Any] | None:
    """The names of the columns of a data frame; None for anything else."""
    if isinstance(X, Table) or is_numpy_like(X):
        return list(X.columns)
    if not is_foreign(X):
        return None
    if hasattr(X, "collect_schema"):  # lazy frames warn of their attribute columns
        return list(X.collect_schema().names())
    if hasattr(X, "column_names"):  # pyarrow, whose columns are values
        return list(X.column_names)
    if hasattr(X, "columns"):
        return list(X.columns)
    return list((X if hasattr(X, "schema") else as_arrow(X)).schema.names)


def known_frame(X: Any) -> Any:
    """A frame of pandas or polars as it is, any other frame as a Table; all else as it is."""
    if not is_foreign(X):
        return X
    X = collected(X)
    return X if is_numpy_like(X) else Table.from_frame(X)


def collected(frame: Any) -> Any:
    """A frame out of its wrapper (of narwhals), with its rows in memory if it was lazy."""
    frame = frame.to_native() if hasattr(frame, "to_native") else frame
    return frame.collect() if hasattr(frame, "collect") and hasattr(frame, "collect_schema") else frame


def as_arrow(frame: Any) -> Any:
    """Any frame with rows in memory as a pyarrow Table."""
    need_pyarrow(f"a {type(frame).__name__}")
    import pyarrow.interchange

    frame = collected(frame)
    try:
        if hasattr(frame, "iloc"):
            return pyarrow.Table.from_pandas(frame, preserve_index=False)
        if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
            return pyarrow.table(frame)
        return pyarrow.interchange.from_dataframe(frame)
    except (pyarrow.ArrowException, TypeError, ValueError) as refusal:
        reason = (str(refusal).splitlines() or ["no reason is given"])[0].rstrip(".")
        raise ValueError(f"Table: {type(frame).__name__} cannot be read as a table by pyarrow ({reason}).") from None


def need_pyarrow(what: str) -> Any:
    """pyarrow; one sentence says how to install it where it is missing."""
    try:
        import pyarrow
    except ImportError:
        raise ValueError(f'{what} needs pyarrow: pip install "thresher[lab]".') from None
    return pyarrow


def frame_columns(frame: Any) -> list[Column]:
    """Name, kind and values of each column."""
    frame = collected(frame)
    if hasattr(frame, "iloc"):
        return [_pandas_column(frame.iloc[:, place], str(name)) for place, name in enumerate(frame.columns)]
    table = as_arrow(frame)
    return [_arrow_column(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]


def _refused(name: str, dtype: Any) -> ValueError:
    return ValueError(
        f"Table: column {name!r} must hold numbers, dates or text, got {dtype}; turn it into one of them first."
    )


# --- time -----------------------------------------------------------------------------------------------------------


def days(counts: NDArray[np.int64], per_day: int, missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Days from counts of a smaller unit. The same moment gives the same bits, whatever its unit was."""
    whole, rest = np.divmod(counts, per_day)
    result = whole + rest / per_day
    result[missing] = np.nan
    return result


def _numpy_days(values: NDArray[Any]) -> NDArray[np.float64]:
    """Days from datetime64 or timedelta64 of any unit."""
    kind, unit = ("datetime64", "timedelta64")[values.dtype.kind == "m"], np.datetime_data(values.dtype)[0]
    if unit not in _PER_DAY:
        values, unit = values.astype(f"{kind}[s]"), "s"
    elif np.datetime_data(values.dtype)[1] != 1:
        values = values.astype(f"{kind}[{unit}]")
    return days(values.view(np.int64), _PER_DAY[unit], np.isnat(values))


def _moment(value: datetime.date) -> np.datetime64:
    """A date, or a date and time; a time zone is turned into UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _hour(value: datetime.time) -> float:
    return (value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6) / 3600


# --- pandas ---------------------------------------------------------------------------------------------------------


def _pandas_column(column: Any, name: str) -> Column:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiub" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        return name, "n", values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    if hasattr(column, "cat"):
        words = Text.from_list([*map(str, column.cat.categories), None])
        return name, "t", words.take(column.cat.codes.to_numpy().astype(np.int64) % len(words))  # -1 is missing
    if hasattr(column.dtype, "pyarrow_dtype") or getattr(column.dtype, "storage", None) == "pyarrow":
        return _arrow_column(column.array.__arrow_array__(), name)
    if kind in "fiub":
        dtype = np.float32 if column.dtype.itemsize == 4 and kind == "f" else np.float64
        return name, "n", np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    if str(column.dtype).startswith("period"):
        column, kind = column.dt.to_timestamp(), "M"
    if kind == "M" and not isinstance(column.dtype, np.dtype):
        column = column.dt.tz_convert(None)  # to UTC
    if kind in "mM":
        return name, "d" if kind == "M" else "n", _numpy_days(column.to_numpy())
    if kind in "OU" or str(column.dtype).startswith("str"):
        return _objects(column.astype(object).tolist(), column.isna().tolist(), name)
    raise _refused(name, column.dtype)


def _objects(values: list[Any], missing: list[bool], name: str) -> Column:
    """Python objects: numbers or moments if they all are, else text."""
    there = [value for value, gone in zip(values, missing, strict=True) if not gone]
    if any(isinstance(value, str) for value in there):
        kept = (None if gone else str(value) for value, gone in zip(values, missing, strict=True))
        return name, "t", Text.from_list(list(kept))
    result = np.full(len(values), np.nan)
    rows = ~np.array(missing, dtype=bool)
    if there and all(isinstance(value, datetime.date) for value in there):
        result[rows] = _numpy_days(np.array([_moment(value) for value in there]))
        return name, "d", result
    read: Callable[[Any], Any] = float
    if there and all(isinstance(value, datetime.time) for value in there):
        read = _hour
    elif there and all(isinstance(value, datetime.timedelta) for value in there):
        there = _numpy_days(np.array(there, dtype="timedelta64[us]")).tolist()
    try:
        result[rows] = [read(value) for value in there]
    except (TypeError, ValueError):
        raise _refused(name, type(there[0]).__name__) from None
    return name, "n", result


# --- Arrow ----------------------------------------------------------------------------------------------------------


def arrow_kind(arrow_type: Any) -> Kind | None:
    """The kind of a column of this type; None if it holds neither numbers nor dates nor text."""
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_timestamp(arrow_type) or types.is_date(arrow_type):
        return "d"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(is_one(arrow_type) for is_one in (*numbers, types.is_time, types.is_duration)):
        return "n"
    is_text = types.is_string(arrow_type) or types.is_large_string(arrow_type) or str(arrow_type) == "string_view"
    return "t" if is_text else None


def arrow_numbers(column: Any) -> NDArray[Any]:
    """A pyarrow column of numbers or dates as float64, or float32 if it was that; missing values are NaN."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_temporal(kind):
        return _arrow_time(column)
    column = column.cast(pa.float32() if pa.types.is_float32(kind) else pa.float64(), safe=False)  # rounds beyond 2^53
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _arrow_time(column: Any) -> NDArray[np.float64]:
    """Days; hours, for a time of day. Arrow counts moments in UTC, whatever their time zone."""
    import pyarrow as pa

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s" if pa.types.is_date32(column.type) else "ms"))
    per_day, width = _PER_DAY[column.type.unit], column.type.bit_width
    missing = column.is_null().to_numpy(zero_copy_only=False)
    counts = column.fill_null(0) if column.null_count else column
    counts = counts.view(pa.int32() if width == 32 else pa.int64()).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_time(column.type):
        hours = counts / (per_day // 24)
        hours[missing] = np.nan
        return np.asarray(hours)
    return days(counts, per_day, missing)


def _arrow_column(column: Any, name: str) -> Column:
    kind = arrow_kind(column.type)
    if kind is None:
        raise _refused(name, column.type)
    return name, kind, Text.from_arrow(column) if kind == "t" else arrow_numbers(column)
