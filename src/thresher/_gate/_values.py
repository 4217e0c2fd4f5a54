"""Arrays of numbers from lists, frames and objects: what the gate looks at."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._arrays import on_host
from ._scipy import sparse
from ._types import Array

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def array_of(values: Any, name: str, who: str) -> np.ndarray[Any, Any]:
    """Convert lists and other array-likes; an error if the shape is irregular."""
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{who}: {name} must not be masked; fill the missing values first.")
    if sparse.issparse(values):
        raise TypeError(f"{who}: {name} must be a dense array, got a sparse one.")
    try:
        return np.asarray(on_host(values))
    except ValueError:
        raise ValueError(f"{who}: {name} must have rows of equal length, got rows of different lengths.") from None


def na_as_nan(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Among objects, pandas' NA as NaN."""
    if array.dtype.kind != "O":
        return array
    unknown = np.fromiter((type(item).__name__ == "NAType" for item in array.flat), bool, array.size)
    return np.where(unknown.reshape(array.shape), np.nan, array) if unknown.any() else array


def numbers(array: np.ndarray[Any, Any], name: str, who: str) -> np.ndarray[Any, Any]:
    """Convert to float32 or float64; an error for text, dates, complex numbers and other types."""
    kind = array.dtype.kind
    if kind in "fiub":
        return _as_float(array)
    if kind == "c":
        raise ValueError(f"{who}: {name} must hold numbers: Complex data not supported, got {array.dtype}.")
    if kind == "O":
        for item in array.flat:
            if isinstance(item, str | bytes):
                raise ValueError(_text_refused(item, name, who))
            if isinstance(item, complex | np.complexfloating):
                raise ValueError(f"{who}: {name} must hold numbers: Complex data not supported, got {item!r}.")
        try:
            return na_as_nan(array).astype(np.float64)
        except OverflowError:
            raise ValueError(f"{who}: {name} must hold numbers that fit a float, got a larger integer.") from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{who}: {name} must hold numbers: {error}.") from None
    if kind in "UST" and array.size:
        raise ValueError(_text_refused(array.flat[0], name, who))
    example = f" such as {array.flat[0]!r}" if array.size else ""
    raise ValueError(f"{who}: {name} must hold numbers, got {array.dtype}{example}.")


def _text_refused(item: Any, name: str, who: str) -> str:
    plain = str(item) if isinstance(item, str) else bytes(item)
    return f"{who}: {name} must hold numbers, got the text {plain!r}; encode it first."


def distinct(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values in order, each once. Without counts, ``np.unique`` imports ``numpy.ma``, which takes milliseconds."""
    return np.unique(values, return_counts=True)[0]


def float_array(values: Any, name: str, who: str) -> Array:
    """Convert to float64 of any shape; an error if the values are not numbers."""
    return numbers(array_of(values, name, who), name, who).astype(np.float64, copy=False)


def _as_float(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if values.dtype in _FLOATS and values.dtype.isnative:
        return values
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)


def is_sparse_frame(X: Any) -> bool:
    """Whether this is a pandas frame whose columns are all sparse."""
    return (
        hasattr(X, "sparse")
        and hasattr(X, "columns")
        and len(X.columns) > 0
        and all(getattr(dtype, "fill_value", None) == 0 and hasattr(dtype, "subtype") for dtype in X.dtypes)
    )


def frame_values(X: Any, who: str) -> np.ndarray[Any, Any]:
    """The numbers of a pandas or polars frame; an error names a column with other values."""
    if all(map(_is_numeric, X.dtypes)):
        array: np.ndarray[Any, Any] = X.to_numpy()
        if array.dtype.kind in "fiub":
            return array
    return np.column_stack([_column_values(X, place, who) for place in range(len(X.columns))])


def _is_numeric(dtype: Any) -> bool:
    """Whether a type of columns in pandas or polars is that of numbers."""
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "fiub"


def _column_values(X: Any, place: int, who: str) -> np.ndarray[Any, Any]:
    column = X.iloc[:, place] if hasattr(X, "iloc") else X[X.columns[place]]
    name = f"column {X.columns[place]!r} of X"
    if _is_numeric(column.dtype):
        if hasattr(column, "isna"):  # pandas, whose nullable numbers come as objects otherwise
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return numbers(np.asarray(column.to_numpy()), name, who)
    if column.dtype == object and not any(isinstance(value, str) for value in column):
        return numbers(np.asarray(column.to_numpy()), name, who)
    raise ValueError(f"{who}: {name} must hold numbers, got {column.dtype}; encode it first.")
