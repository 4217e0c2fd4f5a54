"""The column of a table that holds the task of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._gate import Rule, Table, Text, is_frame, sparse

task_column_rule: Rule = Rule(
    "None, or a column by its name or its number from 0",
    lambda v: v is None or isinstance(v, str) or (isinstance(v, (int, np.integer)) and not isinstance(v, bool)),
    type="str or int",
)


class RowsAndTasks(NamedTuple):
    """Rows without the column of tasks, and that column as labels."""

    X: Any
    tasks: np.ndarray[Any, Any]


def split_tasks(X: Any, column: str | int, who: str) -> RowsAndTasks:
    """Take the tasks out of a table, a data frame or (by number) an array."""
    if sparse.issparse(X):
        raise ValueError(f"{who}: task_column needs a table, a data frame or an array, got sparse rows.")
    rows: Any = X if isinstance(X, Table) else Table.from_frame(X) if is_frame(X) else np.asarray(X)
    names = rows.columns if isinstance(rows, Table) else None
    if names is None and (rows.ndim != 2 or isinstance(column, str)):
        raise ValueError(f"{who}: task_column {column!r} needs a table or a data frame, whose columns have names.")
    place = _place(names, rows.shape[1], column, who)
    if names is None:
        return RowsAndTasks(np.delete(rows, place, axis=1), _labels(rows[:, place], f"column {column}", who))
    rest = rows.select([name for name in names if name != names[place]])
    return RowsAndTasks(rest, _labels(rows[names[place]], f"column {names[place]!r}", who))


def without(X: Any, column: str | int, who: str) -> Any:
    """Rows like these without the column of tasks, which may be missing already."""
    if isinstance(X, Table) and isinstance(column, str) and column not in X.columns:
        return X
    return split_tasks(X, column, who).X


def _place(names: list[str] | None, n_columns: int, column: str | int, who: str) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            raise ValueError(f"{who}: task_column must be a column of X, but there is no {column!r}.")
        return names.index(column)
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{who}: task_column must be below the {n_columns} columns of X, got {column}.")
    return column


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
                f"{who}: tasks must be text or whole numbers, but {where} holds {labels[odd[0]]:g} in row {odd[0]}."
            )
    return labels
