"""Running standardisation of columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._engine import joint_moments
from .._estimators import check_is_fitted, param
from .._gate import Table, as_rows, boolean, one_of, sparse
from ._running import (
    RunningTransformer,
    check_number_names,
    counted_names,
    names_going_in,
    read_input,
    refuse_value,
    require,
)

Array = NDArray[np.float64]

_COLUMNS = ("n_stored_", "stored_mean_", "stored_m2_", "n_missing_")  # in the order of the core
_SAME = 1e-12  # a deviation this small beside the mean is rounding, not variation


class ColumnStatistics:
    """Counts and moments of columns, as model files keep them."""

    n_rows_: int
    n_missing_: Array
    n_stored_: Array
    stored_mean_: Array
    stored_m2_: Array
    centred_: bool
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]


def _lengths(squares: Array) -> Array:
    """Lengths of rows by their sums of squares; a row of zeros stays as it is."""
    return np.where(squares > 0, np.sqrt(squares), 1.0)


class RunningScaler(ColumnStatistics, RunningTransformer):
    """Standardise columns by their running mean and standard deviation.

    The steps of online learners are proportional to the size of features, so a column in grams dominates one in tonnes.
    This transformer scales dense columns to mean 0 and deviation 1, and sparse ones to deviation 1 without moving their
    zeros. The statistics cover all rows seen so far, however they were split into batches.

    Attributes
    ----------
    mean_, var_, scale_ : ndarray of shape (n_features,)
        Mean, variance (with n - 1) and divisor of each column. A column that has been constant so far has the divisor
        1.
    n_samples_seen_ : int or ndarray of shape (n_features,)
        Number of values seen in each column; a single number if all are equal. Missing values (NaN) do not count, but
        implicit zeros of sparse rows do.
    centred_ : bool
        Whether the mean is subtracted; decided by the first rows.
    n_features_in_ : int
        Number of columns (numeric ones, if there is text).
    feature_names_in_ : ndarray of str
        Their names, if they have any.

    Notes
    -----
    NaN stays NaN: :class:`TableEncoder` after the scaler turns it into 0, which is the mean. Text columns of a table
    are passed through. The mean and the squared deviations are updated value by value [1]_, which is stable for columns
    such as 1e8 ± 1. A batch of sparse rows costs O(stored values), whatever their width, and may be wider or narrower
    than the ones before.

    References
    ----------
    .. [1] B. P. Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4(3),
       1962.

    Examples
    --------
    >>> from thresher.preprocessing import RunningScaler
    >>> scaler = RunningScaler()
    >>> for batch in ([[1.0, 300.0]], [[3.0, 100.0], [2.0, 200.0]]):
    ...     scaler = scaler.partial_fit(batch)
    >>> scaler.mean_, scaler.scale_
    (array([  2., 200.]), array([  1., 100.]))
    >>> scaler.transform([[2.0, 50.0]])
    array([[ 0. , -1.5]])
    """

    with_mean: bool = param(
        default=True, rule=boolean, doc="Subtract the mean. Sparse rows are never centred.", kw_only=False
    )
    with_std: bool = param(default=True, rule=boolean, doc="Divide by the standard deviation.", kw_only=False)
    constant: str = param(
        default="zero",
        rule=one_of("zero", "keep"),
        doc="Whether a dense column that has been constant so far is centred like the others or passed through.",
    )
    unit_rows: bool = param(
        default=False,
        rule=boolean,
        doc="""Then divide each row by its length, the root of the sum of squares. Texts of different length become
        comparable; ``with_mean=False, with_std=False`` leaves columns as they are.""",
    )

    _fitted = tuple(ColumnStatistics.__annotations__)
    _input_tags = ("sparse", "allow_nan")

    # --- learning ---------------------------------------------------------------------------------------------------

    def _learn(self, X: Any, first: bool) -> Self:
        self._check_params()
        who = type(self).__name__
        X = read_input(X, who)
        names = X.number_names if isinstance(X, Table) else None
        numbers = X.numbers if isinstance(X, Table) else X
        width = numbers.shape[1]
        centred = bool(self.with_mean) and not sparse.issparse(numbers)
        if not first:
            self._check_columns(numbers, names)
        columns = [np.zeros(width) for _ in _COLUMNS] if first else self._columns(width)
        if min(numbers.shape) > 0:
            bad = _core.add_moments(as_rows(numbers, who, look=False), *columns)
            if bad is not None:
                refuse_value(bad, names, who)
        vars(self).update(zip(_COLUMNS, columns, strict=True))
        if first:
            self.n_rows_, self.centred_ = 0, centred
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
        self.n_rows_ += numbers.shape[0]
        self.n_features_in_ = len(self.n_stored_)
        return self

    def _check_columns(self, numbers: Any, names: list[str] | None) -> None:
        who, width = type(self).__name__, numbers.shape[1]
        self._check_names(names)
        if sparse.issparse(numbers):
            if self.centred_:
                raise ValueError(
                    f"{who}: X must be dense like the first rows, which are centred; with_mean=False supports both."
                )
        elif width != self.n_features_in_:
            raise ValueError(f"X has {width} features, but {who} is expecting {self.n_features_in_} features as input.")

    def _check_names(self, names: list[str] | None) -> None:
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None:
            check_number_names(known.tolist(), names, type(self).__name__)

    # --- shards -----------------------------------------------------------------------------------------------------

    def _merged(self, others: list[Self]) -> None:
        """Add the statistics of others that learned from later rows; the same as learning from these, to rounding."""
        for other in others:
            self._check_joins(other)
        width = max(each.n_features_in_ for each in (self, *others))
        columns = self._columns(width)
        for other in others:
            *moments, missing = other._columns(width)
            columns = [*joint_moments(columns[:3], moments), columns[3] + missing]
        vars(self).update(zip(_COLUMNS, columns, strict=True))
        self.n_rows_ += sum(other.n_rows_ for other in others)
        self.n_features_in_ = width

    def _check_joins(self, other: Self) -> None:
        who = type(self).__name__
        self._check_names(list(getattr(other, "feature_names_in_", [])) or None)
        if self.centred_ and not other.centred_:
            raise ValueError(f"{who}: shards must be all dense or all sparse; with_mean=False supports both.")
        if (self.centred_ or other.centred_) and self.n_features_in_ != other.n_features_in_:
            raise ValueError(
                f"{who}: shards must have the same number of columns, "
                f"got {self.n_features_in_} and {other.n_features_in_}."
            )

    def _columns(self, width: int) -> list[Array]:
        """Counts and moments, with room for so many columns."""
        known, room = [getattr(self, name) for name in _COLUMNS], width - self.n_features_in_
        return [np.pad(column, (0, room)) for column in known] if room > 0 else known

    # --- statistics -------------------------------------------------------------------------------------------------

    def _moments(self, places: Any) -> tuple[Array, Array]:
        """Mean and variance of some columns: the values that were there, joined by the zeros that were left out."""
        stored, mean = self.n_stored_[places], self.stored_mean_[places]
        n = self.n_rows_ - self.n_missing_[places]
        share = stored / np.maximum(n, 1)
        m2 = self.stored_m2_[places] + mean**2 * stored * (1 - share)
        var = m2 / np.maximum(n - 1, 1)
        same = (n < 2) | (np.sqrt(var) <= _SAME * np.abs(mean))
        return share * mean, np.where(same, 0.0, var)

    def _scale(self, places: Any) -> Array:
        return self._divisor(self._moments(places)[1])

    def _divisor(self, var: Array) -> Array:
        """The divisor for columns of this variance."""
        return np.where(var > 0, np.sqrt(var), 1.0) if self.with_std else np.ones_like(var)

    @property
    def mean_(self) -> Array:
        """Mean of each column."""
        check_is_fitted(self)
        return self._moments(slice(None))[0]

    @property
    def var_(self) -> Array:
        """Variance of each column."""
        check_is_fitted(self)
        return self._moments(slice(None))[1]

    @property
    def scale_(self) -> Array:
        """Divisor of each column."""
        check_is_fitted(self)
        return self._scale(slice(None))

    @property
    def n_samples_seen_(self) -> int | NDArray[np.int64]:
        """Values seen in each column."""
        check_is_fitted(self)
        return (self.n_rows_ - self.n_missing_).astype(np.int64) if self.n_missing_.any() else self.n_rows_

    def transform(self, X: Any) -> Any:
        """Return the rows with standardised columns, of the same type and precision.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray, csr_array or Table
            A Table for a Table, and for a data frame with text.
        """
        check_is_fitted(self)
        X = read_input(X, type(self).__name__)
        if isinstance(X, Table):
            self._check_columns(X.numbers, X.number_names)
            return X.with_numbers(self._scaled(X.numbers))
        self._check_columns(X, None)
        if not sparse.issparse(X):
            return self._scaled(X)
        known = X.indices < self.n_features_in_
        places = X.indices if known.all() else X.indices[known]
        scale = self._scale(places) if len(places) < self.n_features_in_ else self.scale_[places]
        values = X.data.astype(np.float64)
        values[known] /= scale
        if self.unit_rows:
            row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            squares = np.bincount(row_of, np.nan_to_num(values) ** 2, X.shape[0]).astype(np.float64)
            values /= _lengths(squares)[row_of]
        scaled = sparse.csr_array((values.astype(X.dtype, copy=False), X.indices, X.indptr), shape=X.shape)
        scaled.has_sorted_indices = scaled.has_canonical_format = True
        return scaled

    def _scaled(self, numbers: NDArray[Any]) -> NDArray[Any]:
        mean, var = self._moments(slice(None))
        scaled = numbers - self._middle(mean, var) if self.centred_ else numbers.astype(np.float64)
        scaled /= self._divisor(var)
        if self.unit_rows:
            scaled /= _lengths(np.nansum(scaled**2, axis=1))[:, None]
        return scaled.astype(numbers.dtype, copy=False)

    def _middle(self, mean: Array, var: Array) -> Array:
        """The value to subtract from columns of this mean and variance."""
        return mean if self.constant == "zero" else np.where(var > 0, mean, 0.0)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: those of the rows, those given, or ``x1``, ``x2``, ..."""
        check_is_fitted(self)
        known = self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None
        given = [] if known is None or input_features is None else [str(name) for name in input_features]
        if len(given) > len(known or ()) and [name for name in given if name in set(known or ())] == known:
            return np.array(given, dtype=object)  # columns of words pass through
        names = names_going_in(counted_names(self.n_features_in_) if known is None else known, input_features)
        return np.array(names, dtype=object)

    def _check_loaded(self) -> None:
        """Refuse attributes from a file that do not belong together."""
        width, n_rows = self.n_features_in_, self.n_rows_
        whole = type(width) is int and type(n_rows) is int and width >= 0 and 0 <= n_rows < 2**53
        require(whole, "the number of rows and columns must be integers of at least 0.")
        require(type(self.centred_) is bool, "centred_ must be True or False.")
        for name in _COLUMNS:
            column = getattr(self, name)
            floats = isinstance(column, np.ndarray) and column.dtype == np.float64 and column.shape == (width,)
            require(floats, f"{name} must hold one float64 per column.")
            finite = np.isfinite(column).all() and (name == "stored_mean_" or (column >= 0).all())
            require(finite, f"{name} must hold finite numbers of at least 0.")
            setattr(self, name, np.array(column))  # ours to change
        require(not (self.n_missing_ + self.n_stored_ > n_rows).any(), "there must be no more values than rows.")
        names = getattr(self, "feature_names_in_", np.array([""] * width, dtype=object))
        named = isinstance(names, np.ndarray) and names.shape == (width,)
        require(named and all(isinstance(name, str) for name in names.tolist()), "there must be one name per column.")
