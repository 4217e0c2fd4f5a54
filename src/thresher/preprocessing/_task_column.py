"""The column of a table that holds the task of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._gate import Rule, Table, Text
from ._input import is_frame

task_column_rule = Rule(
    "None, or a column by its name or its number from 0",
    lambda v: v is None or isinstance(v, str) or (isinstance(v, (int, np.integer)) and not isinstance(v, bool)),
    type="str or int",
)


class Parted(NamedTuple):
    """Rows without the column of tasks, and that column as labels."""

    X: Any
    tasks: np.ndarray[Any, Any]


def part(X: Any, column: str | int, who: str) -> Parted:
    """Take the tasks out of a table, a data frame or (by number) an array."""
    if sparse.issparse(X):
        raise ValueError(f"{who}: task_column needs a table, a data frame or an array, got sparse rows.")
    if is_frame(X):
        X = Table.from_frame(X)
    if not isinstance(X, Table):
        return _part_array(np.asarray(X), column, who)
    name = _name(X, column, who)
    rest = X.select([other for other in X.columns if other != name])
    return Parted(rest, _labels(X[name], f"column {name!r}", who))


def without(X: Any, column: str | int, who: str) -> Any:
    """Rows like these without the column of tasks, which may be missing already."""
    if isinstance(X, Table) and isinstance(column, str) and column not in X.columns:
        return X
    return part(X, column, who).X


def _name(table: Table, column: str | int, who: str) -> str:
    if isinstance(column, str):
        if column not in table.columns:
            raise ValueError(f"{who}: task_column must be a column of X, but there is no {column!r}.")
        return column
    if not -len(table.columns) <= column < len(table.columns):
        raise ValueError(f"{who}: task_column must be below the {len(table.columns)} columns of X, got {column}.")
    return table.columns[column]


def _part_array(X: np.ndarray[Any, Any], column: str | int, who: str) -> Parted:
    if X.ndim != 2 or isinstance(column, str):
        raise ValueError(f"{who}: task_column {column!r} needs a table or a data frame, whose columns have names.")
    if not -X.shape[1] <= column < X.shape[1]:
        raise ValueError(f"{who}: task_column must be below the {X.shape[1]} columns of X, got {column}.")
    return Parted(np.delete(X, column, axis=1), _labels(X[:, column], f"column {column}", who))


def _labels(values: Any, where: str, who: str) -> np.ndarray[Any, Any]:
    """Words, or whole numbers; a row without a task is refused."""
    if isinstance(values, Text):
        gone = np.diff(values.offsets) == 0
        labels = np.array(values.to_list(), dtype=str)
    else:
        labels = np.asarray(values)
        gone = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
    if gone.any():
        raise ValueError(f"{who}: every row must have a task, but {where} is empty in row {int(gone.argmax())}.")
    if labels.dtype.kind == "f":
        odd = np.flatnonzero(labels != np.floor(labels))
        if len(odd):
            raise ValueError(
                f"{who}: tasks must be words or whole numbers, but {where} holds {labels[odd[0]]:g} in row {odd[0]}."
            )
    return labels
