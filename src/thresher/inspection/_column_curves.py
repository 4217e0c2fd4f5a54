"""The part of a model's score that each column gives, over the values of the column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Table, Text, at_least, checked
from ._column_values import Array, ColumnValues, as_model_takes, as_table, dates_of, known_values, prose_of, with_values
from ._contributions import contributions
from ._features import last_step


@dataclass(frozen=True)
class ColumnCurve:
    """The effect of a column on the score; see :func:`column_curves`.

    Attributes
    ----------
    name : str
    values : ndarray or list of str
        Numbers in rising order, in the units of the column, or categories.
    outputs : list
        With two classes the second one, with more each class; a regressor has ``"value"``.
    parts : ndarray of shape (n_outputs, n_values)
        The part of the score at each value.
    quantiles : ndarray
        Quantiles of the rows at equal distances, which show where the data lie. Empty for categories.
    strength : float
        How much the effect varies between rows: its standard deviation over the quantiles or categories.
    """

    name: str
    values: Any
    outputs: list[Any]
    parts: Array
    quantiles: Array
    strength: float


@checked(n_points=at_least(2))
def column_curves(model: Any, X: Any = None, *, n_points: int = 101) -> list[ColumnCurve]:
    """Return the curve of each column in an additive or linear model, the strongest first.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with linear weights. After :class:`~thresher.preprocessing.ColumnSplines` columns have curves; otherwise
        they are straight lines.
    X : Table, data frame or array-like of shape (n_rows, n_columns), optional
        Rows that define the ranges and quantiles of columns. By default, the ranges are those that the steps of the
        model have seen; a learner without steps needs `X`.
    n_points : int, default=101
        Smallest number of values of a numeric column.

    Returns
    -------
    list of ColumnCurve
        Columns that the model does not use are left out, and so are text columns and products of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.inspection import column_curves
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import prepared
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(2000, 3))
    >>> model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, X[:, 0] ** 2 > 1 + 0.2 * X[:, 1])
    >>> first, second, third = column_curves(model)
    >>> first.name, third.name
    ('x1', 'x3')
    >>> low, middle, high = np.interp([-1.9, 0.0, 1.9], first.values, first.parts[0])
    >>> bool(low > 0 and middle < 0 and high > 0)
    True
    """
    model = getattr(model, "best_estimator_", model)
    if not hasattr(last_step(model), "coef_"):
        raise ValueError(f"column_curves: model must have linear weights, got {type(last_step(model)).__name__}.")
    data = None if X is None else as_table(model, X, "column_curves")
    columns = known_values(model, data, n_points)
    if not columns:
        raise ValueError("column_curves: X must be given, because the model does not store the range of its columns.")
    row = _usual_row(model, data, columns)
    curves = [curve for each in columns if (curve := _curve(model, row, each)) is not None]
    return sorted(curves, key=lambda curve: -curve.strength)


def _usual_row(model: Any, data: Table | None, columns: list[ColumnValues]) -> Table:
    """One row with all columns, each with a usual value."""
    usual = {column.name: column.middle for column in columns}
    names = data.columns if data is not None else [str(name) for name in getattr(model, "feature_names_in_", usual)]
    text = prose_of(model) if data is None else data.text
    values = {name: usual.get(name, "" if name in text else 0.0) for name in names}
    texts = {name: Text.from_list([value]) for name, value in values.items() if isinstance(value, str)}
    numbers = [value for value in values.values() if not isinstance(value, str)]
    dates = dates_of(model) if data is None else data.dates
    return Table(list(values), np.array([numbers], dtype=np.float64), texts, dates)


def _curve(model: Any, row: Table, column: ColumnValues) -> ColumnCurve | None:
    n_grid = len(column.grid)
    values = column.grid if column.is_text else np.concatenate([column.grid, column.quantiles])
    rows = as_model_takes(model, with_values(row, column.name, values))
    found = contributions(model, rows, by="row")  # behind landmarks, columns have a part of each row, but no curve
    if column.name not in found.names:
        return None
    parts: NDArray[Any] = found.parts[:, :, found.names.index(column.name)].T
    among = parts if column.is_text else parts[:, n_grid:]
    strength = float(among.std(axis=1).max())
    if not parts.any():
        return None
    return ColumnCurve(column.name, column.grid, found.outputs, parts[:, :n_grid], column.quantiles, strength)
