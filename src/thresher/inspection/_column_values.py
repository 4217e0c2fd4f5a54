"""The columns that a model takes: their names, the values they are known to have, and rows with other values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import Table, Text, float_array, sparse

Array = NDArray[np.float64]

_MOST_VALUES = 50  # of a category that are tried or drawn
_FEW = 12  # different numbers that are all on the grid
_MOST_WHOLE = 1000


class ColumnValues(NamedTuple):
    """The known values of a column.

    Attributes
    ----------
    name : str
    grid : ndarray or list of str
        Numbers from the smallest to the largest, or categories.
    quantiles : ndarray
        Numbers that cut the rows into parts of equal size, the ends included; empty for categories.
    is_whole : bool
        Whether all values are whole numbers.
    """

    name: str
    grid: Any
    quantiles: Array
    is_whole: bool = False

    @property
    def is_text(self) -> bool:
        return isinstance(self.grid, list)

    @property
    def middle(self) -> Any:
        """A usual value."""
        return self.grid[0] if self.is_text else float(self.quantiles[len(self.quantiles) // 2])


def as_table(model: Any, X: Any, who: str) -> Table:
    """Rows as a table; columns without names are those of the model, or ``x1``, ``x2``, ..."""
    if isinstance(X, Table):
        return X
    if sparse.issparse(X):
        raise ValueError(f"{who}: rows must be a table, a data frame or an array, got sparse rows.")
    if hasattr(X, "columns"):
        return Table.from_frame(X)
    numbers = np.atleast_2d(float_array(X, "rows", who))
    if numbers.ndim > 2:
        raise ValueError(f"{who}: rows must be a table, got an array of shape {numbers.shape}.")
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return Table(known if len(known) == numbers.shape[1] else numbered(numbers.shape[1]), numbers)


def numbered(n: int) -> list[str]:
    return [f"x{j + 1}" for j in range(n)]


def as_model_takes(model: Any, table: Table) -> Any:
    """A table for a pipeline that learned from one, otherwise the numbers."""
    model = _one_of(model)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    is_named = hasattr(model, "task_column") and names not in ([], numbered(len(names)))
    return table if table.text or is_named else table.numbers


def _one_of(model: Any) -> Any:
    """The first model of a sum, which takes the same rows as the others; any other model itself."""
    return model.models_[0] if hasattr(model, "models_") else model


def with_values(row: Table, name: str, values: Any) -> Table:
    """Copies of one row, each with one of the values in a column."""
    return with_all_values(row, {name: values}, len(values))


def with_all_values(row: Table, values: dict[str, Any], n: int) -> Table:
    """`n` copies of one row, with values in some columns."""
    copies = row.take(np.zeros(n, dtype=np.int64))
    numbers, text = copies.numbers.astype(np.float64), dict(copies.text)
    for name, each in values.items():
        if name in text:
            text[name] = Text.from_list(list(each))
        else:
            numbers[:, row.number_names.index(name)] = each
    return Table(row.columns, numbers, text, row.dates)


def known_values(model: Any, data: Table | None, n_points: int) -> list[ColumnValues]:
    """The columns of numbers and of categories with their values: those of `data`, or else those that steps of the
    model have kept. Columns of prose are left out."""
    if data is None:
        return _kept_by_steps(model, n_points)
    found = []
    prose = prose_of(model)
    for name in data.columns:
        if name in prose:
            continue
        values = data[name]
        if isinstance(values, Text):
            different, counts = np.unique(np.array([v for v in values if v] or [""], dtype=object), return_counts=True)
            usual = different[np.argsort(-counts, kind="stable")][:_MOST_VALUES]
            found.append(ColumnValues(name, [str(v) for v in usual], np.empty(0)))
        elif len(there := np.sort(values[np.isfinite(values)].astype(np.float64))):
            quantiles = there[np.rint(np.linspace(0, len(there) - 1, 11)).astype(np.intp)]
            is_whole = bool((there == np.rint(there)).all())
            found.append(
                ColumnValues(name, _grid(np.unique(there), quantiles, is_whole, n_points), quantiles, is_whole)
            )
    return found


def _grid(different: Array, quantiles: Array, is_whole: bool, n_points: int) -> Array:
    """Points from the smallest to the largest value: evenly, and where the rows are."""
    if len(different) <= _FEW:
        return different
    low, high = float(different[0]), float(different[-1])
    if is_whole and high - low <= _MOST_WHOLE:
        return np.arange(low, high + 1)
    points = np.linspace(low, high, n_points)
    return np.unique(np.concatenate([np.rint(points) if is_whole else points, quantiles]))


def prose_of(model: Any) -> set[str]:
    """Columns of text that are hashed, so that their values are not known."""
    steps = [step for _, step in getattr(_one_of(model), "steps", [])[:-1]]
    kinds = [zip(step.columns_, step.kinds_, strict=True) for step in steps if hasattr(step, "kinds_")]
    return {name for each in kinds for name, kind in each if kind in "ht"}


def dates_of(model: Any) -> list[str]:
    """Columns of dates."""
    return [name for _, step in getattr(_one_of(model), "steps", [])[:-1] for name in getattr(step, "dates_", ())]


def _kept_by_steps(model: Any, n_points: int) -> list[ColumnValues]:
    """Ranges of numbers and dates that splines or a scaler have seen, and the categories of an encoder."""
    found: dict[str, ColumnValues] = {}
    for step in (step for _, step in reversed(getattr(_one_of(model), "steps", [])[:-1])):
        if hasattr(step, "added_values_"):
            for name, kind, places in zip(step.columns_, step.kinds_, step._places(), strict=True):
                if kind == "c" and places:
                    found[name] = ColumnValues(name, list(places)[:_MOST_VALUES], np.empty(0))
        elif hasattr(step, "knots_"):
            found = {name: values for name, values in found.items() if values.is_text}
            for name, knots in step.knots_.items():
                if len(knots):
                    is_whole = bool((knots == np.rint(knots)).all())
                    even = np.linspace(knots[0], knots[-1], n_points if len(knots) > 2 else len(knots))
                    grid = np.unique(np.concatenate([np.rint(even) if is_whole else even, knots]))
                    found[name] = ColumnValues(name, grid, knots, is_whole)
        elif hasattr(step, "scale_"):
            names = [str(name) for name in step.get_feature_names_out()]
            for name, mean, scale in zip(names, step.mean_.tolist(), step.scale_.tolist(), strict=True):
                ends = np.array([mean - 2 * scale, mean, mean + 2 * scale])
                found[name] = ColumnValues(name, np.linspace(ends[0], ends[-1], n_points), ends)
        elif hasattr(step, "dates_"):
            for name in step.dates_:
                for part in step._parts(name):
                    found.pop(part, None)
                if name in found:
                    grid, quantiles = (step._days(name, values) for values in found[name][1:3])
                    found[name] = ColumnValues(name, grid, quantiles, name not in step.timed_)
    return list(found.values())
