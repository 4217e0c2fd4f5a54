"""THE GATE: user data become rows, targets and weights. Data that pass are trusted below; the rest raises an error.

Every stored value is looked at once, by the core, when :class:`~thresher._core.Rows` is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core import Rows, all_finite
from ._arrays import is_foreign_array, namespace, row_blocks
from ._frames import frame_names, is_frame, is_numpy_like, known_frame
from ._names import check_names, keep_names
from ._placing import placed
from ._rules import HUGE
from ._scipy import sparse
from ._sparse_formats import as_csr, check_lengths, converted
from ._types import Array
from ._values import array_of, float_array, frame_values, is_sparse_frame, na_as_nan, numbers

_PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))
_MOST_FEATURES = 2**31 - 1  # columns of sparse rows have 32 bits in the core


# --- features -------------------------------------------------------------------------------------------------------


class UncheckedRows(Exception):
    """Rows that were left for the first pass to check turned out to be unsorted or not finite."""


def check_features(
    estimator: Any, X: Any, *, reset: bool, grow: bool = False, any_width: bool = False, later: bool = False
) -> Rows:
    """The rows of ``X``. Changes nothing on the estimator: see :func:`commit_features`.

    With ``grow``, rows may be wider or narrower than the model was so far; with ``any_width``, too, but the model stays
    as it is. With ``later``, the first pass, or the code that scores them, checks rows as it comes to them.
    """
    who = type(estimator).__name__
    is_matrix = type(X) is np.ndarray or sparse.issparse(X)
    if not is_matrix:
        X = known_frame(X)
    if reset:
        return as_rows(X, who, later=later)
    expected: int = estimator.n_features_in_
    if type(X) is not Rows and ("feature_names_in_" in vars(estimator) or (not is_matrix and is_frame(X))):
        if grow:
            _check_growing_names(estimator, X, who)
        else:  # names and their order, in scikit-learn's words
            check_names(estimator, X)
    if any_width:
        X = _without_new_features(X, expected, who)
    rows = as_rows(X, who, n_features=expected if grow or any_width else None, later=later)
    if rows.n_features != expected and not grow:
        advice = ""
        if rows.n_features > expected:
            advice = "; if features are added over time, train with partial_fit(..., grow=True)"
        elif rows.columns is not None:
            advice = f"; if the last columns of a sparse file are empty, read it with n_features={expected}"
        raise ValueError(
            f"X has {rows.n_features} features, but {who} is expecting {expected} features as input{advice}."
        )
    return rows


def _without_new_features(X: Any, n_features: int, who: str) -> Any:
    """Drop columns that no batch has had yet, because they have no weight."""
    if len(getattr(X, "shape", ())) != 2 or X.shape[1] <= n_features or is_frame(X):
        return X
    return (as_csr(X, who) if sparse.issparse(X) else X)[:, :n_features]


def _check_growing_names(estimator: Any, X: Any, who: str) -> None:
    """New columns may follow the ones that are known, which keep their places."""
    known = list(getattr(estimator, "feature_names_in_", ()))
    names = frame_names(X) or []
    if not known or not names:
        if bool(known) != bool(names):
            raise ValueError(f"{who}: with grow=True, X must have column names in every batch or in none.")
        return
    for place, (old, new) in enumerate(zip(known, names, strict=False)):
        if old != new:
            raise ValueError(
                f"{who}: column {place} of X must be named {old!r} as before, got {new!r}; new columns must come last."
            )


def commit_growth(estimator: Any, X: Any, n_features: int) -> None:
    """Remember features that appeared later."""
    if is_frame(X) and n_features > estimator.n_features_in_:
        keep_names(estimator, X)
    estimator.n_features_in_ = n_features


def commit_features(estimator: Any, X: Any, n_features: int) -> None:
    """Remember width and names of the features of a first batch, once everything else about it was accepted."""
    if is_frame(X):
        keep_names(estimator, X)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = n_features


def check_loaded_features(estimator: Any) -> None:
    """Refuse a number and names of features, as a file holds them, that are not such."""
    who, width = type(estimator).__name__, estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None)
    if type(width) is not int or width < 1:
        raise ValueError(f"{who}: n_features_in_ must be an integer of at least 1.")
    if names is not None and not (
        isinstance(names, np.ndarray) and names.shape == (width,) and all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"{who}: feature_names_in_ must hold one name per feature.")


def check_loaded_arrays(estimator: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse attributes of a model file that are not finite numbers of these shapes."""
    for name, shape in shapes.items():
        value = getattr(estimator, name)
        fits = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
        if not fits or not np.isfinite(value).all():
            raise ValueError(f"{type(estimator).__name__}: {name} must be float64 of shape {shape}, finite throughout.")


def one_for_each(values: Any, n: int, name: str, thing: str, who: str) -> Array:
    """Numbers of a parameter, one for each feature or other thing."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{who}: {name} must hold numbers, one for each {thing}, got {values!r:.60}.") from None
    if len(array) != n:
        raise ValueError(f"{who}: {name} must have one entry per {thing}, got {len(array)} for {n} {thing}s.")
    return array


def as_rows(X: Any, who: str, *, n_features: int | None = None, look: bool = True, later: bool = False) -> Rows:
    """Rows for the core, at least ``n_features`` wide. Without ``look``, only indices are looked at; with ``later``,
    only the places where rows begin, and whatever uses the rows first checks them."""
    if type(X) is Rows:  # of a row reader, which has looked at it
        return X
    if type(X) is np.ndarray and X.dtype in _PRECISIONS and X.ndim == 2 and X.flags.c_contiguous and n_features is None:
        rows = Rows.dense(X, look, later)  # the everyday case: nothing to convert
        if not rows.known_fault and rows.n_rows and rows.n_features:
            return rows
    rows = _converted(X, who, n_features or 0, look, later)
    if rows.known_fault:
        raise ValueError(_refusal(rows, X, who))
    if rows.n_rows == 0:
        raise ValueError(
            f"{who}: found array with 0 sample(s) (shape={(0, rows.n_features)}) while a minimum of 1 is required."
        )
    if rows.n_features == 0:
        raise ValueError(
            f"{who}: found array with 0 feature(s) (shape={(rows.n_rows, 0)}) while a minimum of 1 is required."
        )
    return rows


def _converted(X: Any, who: str, n_features: int, look: bool, later: bool) -> Rows:
    """Rows of any matrix or frame; narrower ones get columns of zeros."""
    if not sparse.issparse(X):
        X = known_frame(X)
        if is_sparse_frame(X):
            X = X.sparse.to_coo()
    if sparse.issparse(X):
        return _sparse_rows(X, who, n_features, look, later)
    dense = _dense(X, who)
    if dense.shape[1] < n_features:
        dense = np.pad(dense, ((0, 0), (0, n_features - dense.shape[1])))
    return Rows.dense(dense, look, later)


def check_matrix(estimator: Any, X: Any, *, reset: bool, any_width: bool = False) -> Any:
    """``X`` as an array in C order or a csr_array in order, of float64 or float32, for work that belongs to matrix
    products. Changes nothing on the estimator: see :func:`commit_features`. With ``any_width``, sparse rows may be
    wider or narrower than the model."""
    who, X = type(estimator).__name__, known_frame(X)
    if any_width and sparse.issparse(X) and X.ndim == 2 and X.shape[1] != estimator.n_features_in_:
        X = as_csr(X, who).copy()
        X.resize((X.shape[0], estimator.n_features_in_))
    if not reset and (is_frame(X) or hasattr(estimator, "feature_names_in_")):
        check_names(estimator, X)
    if is_foreign_array(X) and estimator._takes_arrays:
        rows = check_array(X, who)
        _check_width(estimator, rows.shape[1], reset)
        return rows
    if reset and len({isinstance(name, str) for name in frame_names(X) or ()}) > 1:
        raise TypeError(f"{who}: either all columns of X must be named by text, or none.")
    _check_width(estimator, as_rows(X, who).n_features, reset)
    return placed(_as_matrix(X, who), reset) if estimator._takes_arrays else _as_matrix(X, who)


def _check_width(estimator: Any, n_features: int, reset: bool) -> None:
    if not reset and n_features != estimator.n_features_in_:
        who = type(estimator).__name__
        raise ValueError(
            f"X has {n_features} features, but {who} is expecting {estimator.n_features_in_} features as input."
        )


def check_array(X: Any, who: str, *, with_missing: bool = False) -> Any:
    """Rows in an array of another library, looked at where they lie: float32 and float64 as they are."""
    xp = namespace(X)
    X = X.detach() if hasattr(X, "detach") else X
    if X.ndim != 2:
        raise ValueError(_not_a_table(who, tuple(X.shape)))
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{who}: X must hold numbers: Complex data not supported, got {X.dtype}.")
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float64)
    for n, things in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if n == 0:
            raise ValueError(
                f"{who}: found array with 0 {things} (shape={tuple(X.shape)}) while a minimum of 1 is required."
            )
    for part in row_blocks(X.shape, X):
        sizes = xp.abs(X[part, ...])
        largest = float(xp.max(xp.where(xp.isnan(sizes), xp.zeros_like(sizes), sizes) if with_missing else sizes))
        if not largest <= HUGE:  # NaN, too
            raise ValueError(f"{who}: X must hold finite numbers up to 1e100 in size, got {largest}.")
    return X


def widened(X: Any, width: int) -> Any:
    """Sparse rows as wide as a model, with features that they do not have; all else as it is."""
    if not sparse.issparse(X) or X.ndim != 2 or X.shape[1] >= width:
        return X
    X = as_csr(X, "X")
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def as_matrix(X: Any, who: str) -> Any:
    """The same for a function that keeps nothing."""
    X = known_frame(X)
    as_rows(X, who)
    return _as_matrix(X, who)


def _as_matrix(X: Any, who: str) -> Any:
    if is_sparse_frame(X):
        X = X.sparse.to_coo()
    if not sparse.issparse(X):
        return _dense(X, who)
    X = X.tocsr()
    matrix = sparse.csr_array((numbers(X.data, "X", who), X.indices, X.indptr), shape=X.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _sparse_rows(X: Any, who: str, n_features: int, look: bool, later: bool) -> Rows:
    if X.ndim != 2:
        raise ValueError(_not_a_table(who, X.shape))
    if X.dtype.kind not in "fiub":
        numbers(X.data, "X", who)
    if X.format != "csr":
        X = converted(X, who)
    rows = _csr(X, who, n_features, look, later)
    if rows.known_fault == "order":  # in range and finite, but unsorted or repeated: put in order on a copy
        X = X.copy()
        X.has_canonical_format = X.has_sorted_indices = False
        X.sum_duplicates()
        rows = _csr(X, who, n_features, look, later=False)
    return rows


def _csr(X: Any, who: str, n_features: int, look: bool, later: bool) -> Rows:
    check_lengths(X, X.shape[0], who)
    values, columns, starts = X.data, X.indices, X.indptr
    if columns.dtype not in (np.int32, np.int64):
        columns = columns.astype(np.int64)
    width = max(X.shape[1], n_features)
    if width > _MOST_FEATURES:
        raise ValueError(
            f"{who}: X must have at most {_MOST_FEATURES} columns, got {width}; hash its features to fewer columns."
        )
    starts = np.ascontiguousarray(starts.astype(np.int64, copy=False))
    if starts[-1] < len(columns) and 0 <= starts[-1] == starts.max():  # entries after the last row belong to no row
        values, columns = values[: starts[-1]], columns[: starts[-1]]
    return Rows.csr(
        np.ascontiguousarray(numbers(values, "X", who)),
        np.ascontiguousarray(columns),
        starts,
        width,
        look,
        later,
    )


def _dense(X: Any, who: str) -> np.ndarray[Any, Any]:
    array = X if type(X) is np.ndarray else frame_values(X, who) if is_numpy_like(X) else array_of(X, "X", who)
    if array.ndim != 2:
        raise ValueError(_not_a_table(who, array.shape, is_text=array.size > 0 and isinstance(array.flat[0], str)))
    return np.ascontiguousarray(numbers(array, "X", who))


def _not_a_table(who: str, shape: tuple[int, ...], is_text: bool = False) -> str:
    """The reason, in words that scikit-learn's checks look for, and what to do."""
    advice = "Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one row."
    if is_text:
        advice = "Turn texts into word counts first, for example with scikit-learn's TfidfVectorizer."
    return f"{who}: X must be a table of rows and columns (Expected 2D array), got shape {shape}. {advice}"


def _refusal(rows: Rows, X: Any, who: str) -> str:
    """The reason why the core did not take these rows."""
    row, column, value = rows.fault_at
    if rows.fault == "value":
        names = frame_names(X)
        where = str(column) if names is None else repr(names[column])
        if np.isfinite(value):
            return f"{who}: X must hold numbers up to 1e100 in size, got {value} in row {row}, column {where}."
        what = "NaN" if np.isnan(value) else "infinity" if value > 0 else "-infinity"
        return f"{who}: X must hold finite numbers, got {what} in row {row}, column {where}."
    if rows.fault == "range":
        return f"{who}: column indices of sparse X must lie in 0 ... {rows.n_features - 1}, got {column} in row {row}."
    return f"{who}: indptr of sparse X must start at 0 and never fall or exceed its data, got {value:.0f} at row {row}."


# --- targets and weights --------------------------------------------------------------------------------------------


def check_targets(y: Any, n_rows: int, who: str) -> Array:
    """Targets of a regression: finite numbers, one per row."""
    values = np.ascontiguousarray(numbers(as_column(y, who), "y", who), dtype=np.float64)
    check_length(values, n_rows, "y", who)
    if not all_finite(values):
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        what = "NaN" if np.isnan(values[bad]) else "infinity"
        raise ValueError(f"{who}: y must hold finite numbers, got {values[bad]} in row {bad}: Input y contains {what}.")
    if np.abs(values).max(initial=0.0) > HUGE:
        bad = int(np.abs(values).argmax())
        raise ValueError(f"{who}: y must hold numbers up to 1e100 in size, got {values[bad]} in row {bad}.")
    return values


def as_column(y: Any, who: str) -> np.ndarray[Any, Any]:
    """``y`` as a one-dimensional array."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind not in "cO":
        return y
    if y is None:
        raise ValueError(f"This {who} estimator requires y to be passed, but the target y is None.")
    array = na_as_nan(array_of(y, "y", who))
    if array.dtype.kind == "c":
        raise ValueError(f"{who}: Complex data not supported in y, got {array.dtype}.")
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected: {who} reads y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        array = array.ravel()
    if array.ndim != 1:
        several = (
            "; for several targets, wrap the estimator in MultiOutputClassifier or MultiOutputRegressor of sklearn"
        )
        advice = several if array.ndim == 2 else ""
        raise ValueError(f"{who}: y should be a 1d array, got an array of shape {array.shape} instead{advice}.")
    return array


def check_length(values: np.ndarray[Any, Any], n_rows: int, name: str, who: str) -> None:
    if len(values) != n_rows:
        raise ValueError(f"{who}: {name} must have one entry per row, got {len(values)} for {n_rows} rows.")


def check_weights(sample_weight: Any, n_rows: int, who: str) -> Array | None:
    """Row weights of at least 0, or None when all are 1. Those below 1e-100 are 0: their sums would be rounding."""
    if sample_weight is None:
        return None
    weight = float_array(sample_weight, "sample_weight", who)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"{who}: Sample weights must be 1D array or scalar, got an array of shape {weight.shape}.")
    check_length(weight, n_rows, "sample_weight", who)
    weight = np.ascontiguousarray(weight)
    sane = (weight >= 0) & (weight <= HUGE)
    if not sane.all():
        bad = int(np.flatnonzero(~sane)[0])
        raise ValueError(f"{who}: sample_weight must hold numbers from 0 to 1e100, got {weight[bad]} in row {bad}.")
    tiny = (weight > 0) & (weight < 1 / HUGE)
    return np.where(tiny, 0.0, weight) if tiny.any() else weight
