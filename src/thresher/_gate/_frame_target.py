"""Targets in any form: a column of a data frame, or values of any library, some of which may be missing."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._frames import is_frame
from ._names import similar_names
from ._table import Table, Text


def split_target(frame: Any, target: Any, who: str) -> tuple[Any, Any]:
    """Take a column, by name or number, out of a pandas or polars DataFrame, pyarrow Table or Table.

    Parameters
    ----------
    frame : DataFrame, pyarrow.Table or Table
    target : str or int
    who : str
        Named in refusals.

    Returns
    -------
    frame, column
        The frame without it, and the column as its library has it.
    """
    if not is_frame(frame):
        raise ValueError(
            f"{who}: target names a column, so X must be a data frame or a file, got {type(frame).__name__}."
        )
    names = list(getattr(frame, "column_names", frame.columns))
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool) and target not in names:
        if not -len(names) <= target < len(names):
            raise ValueError(f"{who}: target must be a column name or a number below {len(names)}, got {target!r}.")
        target = names[int(target)]
    if names.count(target) != 1:
        shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
        many = f"several columns have the name {target!r}" if target in names else f"there is no column {target!r}"
        similar = "" if target in names else similar_names(str(target), map(str, names))
        raise ValueError(f"{who}: target must name a column, but {many}{similar}; the columns are {shown}.")
    others = [name for name in names if name != target]
    if isinstance(frame, Table):
        return frame.select(others), frame[target]
    column = frame.column(target) if hasattr(frame, "column_names") else frame[target]
    return frame[others] if hasattr(frame, "iloc") else frame.select(others), column


def read_target(y: Any, who: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read targets: those that are there, and which rows have one.

    Missing are None, NaN, the missing values of pandas, nulls of polars and pyarrow, and empty text. Truth values,
    whole numbers, other numbers and text keep their types.

    Parameters
    ----------
    y : array-like, Series, pyarrow array or Text
    who : str
        Named in refusals.

    Returns
    -------
    labels, there : ndarrays
        As many labels as `there` has rows that are True.
    """
    values = _as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{who}: y must be one column of targets, got an array of shape {values.shape}.")
    if values.dtype.kind in "biu":
        return values, np.ones(len(values), dtype=bool)
    if values.dtype.kind == "f":
        there = ~np.isnan(values)
        return values[there], there
    if values.dtype.kind == "U":
        there = values != ""
        return values[there], there
    if values.dtype.kind != "O":
        raise ValueError(f"{who}: y must hold numbers or text, got {values.dtype}.")
    there = np.array([not _is_missing(value) for value in values.tolist()], dtype=bool)
    return _typed(values[there], who), there


def _as_array(y: Any) -> NDArray[Any]:
    if hasattr(y, "to_pylist"):
        return _objects(y.to_pylist())
    if isinstance(y, Text) or (hasattr(y, "to_list") and not isinstance(getattr(y, "dtype", None), np.dtype)):
        return _objects(y.to_list())
    return np.asarray(y)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value == "") if isinstance(value, str) else isinstance(value, Real) and bool(value != value)


def _typed(labels: NDArray[Any], who: str) -> NDArray[Any]:
    """Labels that were kept as objects in the type that they have in common; words stay objects."""
    kinds = {type(label) for label in labels.tolist()}
    if any(issubclass(kind, str) for kind in kinds):
        return labels
    from decimal import Decimal

    if not all(issubclass(kind, (Real, Decimal, np.generic)) for kind in kinds):
        raise ValueError(f"{who}: y must hold numbers or text.")
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return labels.astype(bool)
    whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
    return labels.astype(np.int64 if whole and kinds else np.float64)
