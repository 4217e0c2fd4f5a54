"""Dates to what linear models can use: the time since 2000, the month, the weekday and the hour."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._estimators import check_is_fitted
from .._gate import Table, Text
from ._encoder_state import is_names
from ._running import RunningTransformer, by_place, counted_names, names_going_in, read_input, require

_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_HOURS = [f"{hour:02d}" for hour in range(24)]
DAY_2000, DAYS_IN_YEAR = 10957, 365.2425
DATE_PARTS = {"month": _MONTHS, "weekday": _WEEKDAYS, "hour": _HOURS}
_WORDS = [Text.from_list(["", *words]) for words in DATE_PARTS.values()]


class DateColumns:
    """Columns and dates, as model files keep them."""

    columns_: list[str]
    dates_: list[str]
    timed_: list[str]


class DateEncoder(DateColumns, RunningTransformer):
    """Turn dates into years since 2000, and into categories for the month, the weekday and the hour.

    A column ``sold`` of dates becomes a number ``sold``, and the categories ``sold month`` (``January``, ...),
    ``sold weekday`` (``Monday``, ...) and, if the first rows have times of day, ``sold hour`` (``00`` to ``23``).
    :class:`TableEncoder` makes features of the categories, such as ``sold month=May``. Other columns pass through.

    Attributes
    ----------
    columns_ : list of str
        The columns of the first rows.
    dates_, timed_ : list of str
        Those that hold dates, and those of them that have times of day.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    TableEncoder : the next step, which encodes categories.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from thresher.preprocessing import DateEncoder
    >>> frame = pd.DataFrame({"sold": pd.to_datetime(["2024-05-01", "2025-01-05"]), "price": [3.0, 4.0]})
    >>> table = DateEncoder().fit(frame).transform(frame)
    >>> table
    Table(2 rows: sold, sold month (text), sold weekday (text), price)
    >>> table["sold"].round(1).tolist(), table["sold month"].to_list(), table["sold weekday"].to_list()
    ([24.3, 25.0], ['May', 'January'], ['Wednesday', 'Sunday'])
    """

    _fitted = tuple(DateColumns.__annotations__)
    _input_tags = ("allow_nan", "string", "categorical")
    _stays: ClassVar[bool] = True  # the first rows tell which columns are dates

    def _learn(self, X: Any, first: bool) -> Self:
        table = self._as_table(X, first)
        if not first:
            self._check_columns(table)
            return self
        times = {name: table[name] for name in table.dates}
        self.columns_, self.dates_ = list(table.columns), list(table.dates)
        self.timed_ = [name for name, days in times.items() if np.nanmax(days % 1, initial=0) > 0]
        return self

    def _as_table(self, X: Any, first: bool = False) -> Table:
        who = type(self).__name__
        X = read_input(X, who)
        if isinstance(X, Table):
            return X if first else by_place(X, self.columns_, who)
        if not first and X.shape[1] != len(self.columns_):
            width = len(self.columns_)
            raise ValueError(f"X has {X.shape[1]} features, but {who} is expecting {width} features as input.")
        return Table(counted_names(X.shape[1]) if first else self.columns_, X)

    def _check_columns(self, table: Table) -> None:
        who = type(self).__name__
        for name in self.columns_ if table.columns != self.columns_ else ():
            if name not in table:
                raise ValueError(f"{who}: X must have the columns of the first rows, but {name!r} is missing.")
        if set(table.dates) != set(self.dates_):
            name = next(iter(set(table.dates) ^ set(self.dates_)))
            held = "dates" if name in self.dates_ else "no dates"
            raise ValueError(f"{who}: column {name!r} held {held} in the first rows.")

    def transform(self, X: Any) -> Any:
        """Return the rows with dates replaced by numbers and categories.

        Parameters
        ----------
        X : Table, data frame or array-like of shape (n_samples, n_columns)

        Returns
        -------
        Table, or ndarray for rows of nothing but numbers
        """
        check_is_fitted(self)
        table = self._as_table(X)
        if table.columns != self.columns_ and set(self.columns_) <= set(table.columns):
            table = table.select(self.columns_)
        self._check_columns(table)
        numbers, text = table.numbers.copy(), dict(table.text)
        for name in self.dates_:
            days = table[name].astype(np.float64)
            numbers[:, table.number_names.index(name)] = (days - DAY_2000) / DAYS_IN_YEAR
            text |= dict(zip(self._parts(name), _categories(days, name in self.timed_), strict=True))
        return Table(self._columns_out(), numbers, text) if text or isinstance(X, Table) else numbers

    def _days(self, name: str, years: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dates of a column in days since 1970, from the numbers that replace them."""
        days = years * DAYS_IN_YEAR + DAY_2000
        return days if name in self.timed_ else np.rint(days)

    def _parts(self, name: str) -> list[str]:
        """Names of the categories that a column of dates becomes."""
        made = [f"{name} {part}" for part in DATE_PARTS if part != "hour" or name in self.timed_]
        return [part if part not in self.columns_ else f"{part} of {name}" for part in made]

    def _columns_out(self) -> list[str]:
        parts = {name: self._parts(name) for name in self.dates_}
        return [out for name in self.columns_ for out in (name, *parts.get(name, ()))]

    @property
    def origins_(self) -> list[str]:
        """For each output column, the column it is made from."""
        return [name for name in self.columns_ for _ in (name, *(self._parts(name) if name in self.dates_ else ()))]

    @property
    def n_features_in_(self) -> int:
        return len(self.columns_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        return np.array(self.columns_, dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns; `input_features` names columns that have no names."""
        check_is_fitted(self)
        given = names_going_in(self.columns_, input_features)
        return np.array(given if not self.dates_ else self._columns_out(), dtype=object)

    def _check_loaded(self) -> None:
        """Refuse attributes from a file that do not belong together."""
        for name in self._fitted:
            names = getattr(self, name)
            require(isinstance(names, list) and is_names(names), f"{name} must hold names.")
        require(len(set(self.columns_)) == len(self.columns_) > 0, "columns_ must hold different names.")
        apart = set(self.timed_) <= set(self.dates_) <= set(self.columns_) and len(set(self.dates_)) == len(self.dates_)
        require(apart, "dates_ and timed_ must be columns.")
        require(len(set(self._columns_out())) == len(self._columns_out()), "columns that come out must differ.")


def _categories(days: NDArray[np.float64], with_hour: bool) -> list[Text]:
    """Month, weekday and perhaps hour of points in time, as words; empty where the date is missing."""
    parts = _core.date_parts(days)[: 3 if with_hour else 2]
    return [words.take(places) for words, places in zip(_WORDS, parts, strict=False)]
