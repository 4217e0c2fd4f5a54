"""Transformers that learn batch by batch: their base class, and the rows that they take."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from .._core import same_entries
from .._engine import in_turn
from .._estimators import Estimator, TransformerContract, is_fitted
from .._gate import Table, Text, as_rows, check_params, is_frame, on_host, similar_names, sparse

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class RunningTransformer(TransformerContract, Estimator):
    """A transformer that learns from all rows so far, however they are cut into batches."""

    _derived: ClassVar[tuple[str, ...]] = ()  # attributes that are computed from others where they are missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from these rows, forgetting earlier ones.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(X, first=True)

    @in_turn
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from some more rows; parameters and result as for :meth:`fit`."""
        return self._learn(X, first=not is_fitted(self))

    def _learn(self, X: Any, first: bool) -> Self:
        raise NotImplementedError

    def _check_params(self) -> None:
        """Look at the parameters, if one of them is another object than last time."""
        names = tuple(self._params)
        if not same_entries(self.__dict__, names, self.__dict__.get("_checked_params", ())):
            check_params(self, self._param_rules)
            self._checked_params = tuple(map(self.__dict__.get, names))

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted[0] in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def require(holds: bool, rule: str) -> None:
    """Refuse attributes from a model file that break a rule."""
    if not holds:
        raise ValueError(rule)


def read_input(X: Any, who: str) -> Any:
    """``X`` as a Table, an array or a csr_array in order, of float64 or float32; NaN and infinities are let through."""
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return Table.from_frame(X)
    if sparse.issparse(X):
        as_rows(X, who, look=False)  # looks at the structure
        X = X.tocsr()
        X = sparse.csr_array((_floats(X.data), X.indices, X.indptr), shape=X.shape)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    array = np.asarray(on_host(X)) if not isinstance(X, np.ndarray) else X
    if array.ndim == 2 and array.dtype.kind in "fiub":
        array = np.ascontiguousarray(_floats(array))
    as_rows(array, who, look=False)  # raises its own error for anything but a table of numbers
    return np.ascontiguousarray(array if array.dtype in _FLOATS else array.astype(np.float64))


def _floats(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if values.dtype in _FLOATS and values.dtype.isnative:
        return values
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)


def refuse_value(place: tuple[int, int, float], names: list[str] | None, who: str) -> None:
    row, column, value = place
    where = repr(names[column]) if names is not None else str(column)
    what = "finite numbers" if np.isinf(value) else "numbers up to 1e100 in size"
    raise ValueError(f"{who}: X must hold {what}, got {value} in row {row}, column {where}.")


def counted_names(n: int) -> list[str]:
    """Names of columns that have none, as svmlight counts them."""
    return [f"x{j + 1}" for j in range(n)]


def names_going_in(known: list[str], input_features: Any, also: list[str] | None = None) -> list[str]:
    """The names of the columns: those known, or those given where columns have none. `also` are other names that may be
    given: those that a scaler before an encoder knows."""
    if input_features is None or (given := [str(name) for name in input_features]) in (known, also):
        return known
    if len(given) != len(known):
        raise ValueError(
            f"input_features should have length equal to number of features ({len(known)}), got {len(given)}"
        )
    if known != counted_names(len(known)):
        raise ValueError("input_features is not equal to feature_names_in_")
    return given


def by_place(table: Table, known: list[str], who: str) -> Table:
    """A table with the names of the fit; columns are taken by place if those of the fit had no names."""
    if (
        table.columns == known
        or len(table.columns) != len(known)
        or known != counted_names(len(known))
        or set(known) & set(table.columns)
    ):
        return table
    warnings.warn(f"X has feature names, but {who} was fitted without feature names", UserWarning, stacklevel=5)
    text = {known[table.columns.index(name)]: column for name, column in table.text.items()}
    dates = [known[table.columns.index(name)] for name in table.dates]
    return Table(known, table.numbers, text, dates)


def check_number_names(known: list[str], names: list[str], who: str) -> None:
    """Refuse columns of numbers that are not those of the first rows, in their order."""
    if names == known:
        return
    if missing := [name for name in known if name not in names]:
        close = similar_names(missing[0], [name for name in names if name not in known])
        raise ValueError(f"{who}: X must have the columns of the first rows, but {missing[0]!r} is missing{close}.")
    differ = next((a for a, b in zip(known, names, strict=False) if a != b), None)
    expected = f"{differ!r} in its place" if differ is not None else f"{len(known)} columns of numbers"
    raise ValueError(f"{who}: X must have the columns of the first rows, with {expected}.")


def without_values(table: Table, name: str, text: bool) -> Table:
    """The same table, a column without any value taken for one of text or of numbers."""
    others = table.select([other for other in table.columns if other != name])
    if text:
        none = Text.from_list([None] * len(table))
        return Table(table.columns, others.numbers, {**others.text, name: none}, others.dates)
    before = sum(other not in others.text for other in table.columns[: table.columns.index(name)])
    return Table(table.columns, np.insert(others.numbers, before, np.nan, axis=1), others.text, others.dates)


def refuse_missing(table: Table, missing: str, who: str) -> None:
    """Refuse a number that is missing, where that is an error."""
    if missing == "error" and np.isnan(table.numbers).any():
        row, column = np.argwhere(np.isnan(table.numbers))[0]
        raise ValueError(
            f"{who}: a number is missing in row {row}, column {table.number_names[column]!r}; "
            'use missing="zero" or missing="indicator".'
        )
