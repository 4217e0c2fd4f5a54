"""Rows, targets, groups and starts of the solvers, checked once."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._gate import Rule, as_rows, check_targets, one_of
from ._proximal import Array
from ._solver_rows import LOSSES, TaskRows

known_loss = one_of(*LOSSES)
two_or_inf = Rule("2 or inf", lambda v: isinstance(v, Real) and v in (2, np.inf))
above_one = Rule("a number above 1, or inf", lambda v: isinstance(v, Real) and float(v) > 1)


def task(who: str, X: Any, y: Any, loss: str, fit_intercept: bool) -> TaskRows:
    """Rows and targets in float64."""
    as_rows(X, who)
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(X, dtype=np.float64)
    y = check_targets(y, X.shape[0], who)
    if LOSSES[loss].of_classes:
        wrong = np.flatnonzero(np.abs(y) != 1)
        if len(wrong):
            raise ValueError(f"{who}: y must hold -1 and 1 with loss={loss!r}, got {y[wrong[0]]} in row {wrong[0]}.")
        if fit_intercept and not LOSSES[loss].rests and (y == y[0]).all():
            raise ValueError(f"{who}: y must hold both -1 and 1 when an intercept is fitted, got {y[0]} only.")
    return TaskRows(X, y, LOSSES[loss], fit_intercept)


def tasks(who: str, Xs: Any, ys: Any, loss: str, fit_intercept: bool) -> list[TaskRows]:
    """One pair of rows and targets per task, all of the same features."""
    if not isinstance(Xs, (list, tuple)) or not isinstance(ys, (list, tuple)) or not 0 < len(Xs) == len(ys):
        raise ValueError(f"{who}: Xs and ys must be two lists of one length, with an array for every task.")
    found = [task(f"{who}, task {q}", X, y, loss, fit_intercept) for q, (X, y) in enumerate(zip(Xs, ys, strict=True))]
    for q, one in enumerate(found):
        if one.n_features != found[0].n_features:
            raise ValueError(
                f"{who}: every task must have {found[0].n_features} features as task 0 has, "
                f"got {one.n_features} in task {q}."
            )
    return found


def index_groups(who: str, groups: Any, n_features: int) -> list[NDArray[np.intp]]:
    """Groups of columns, and a group of its own for every column that is in none."""
    if not isinstance(groups, (list, tuple)):
        raise ValueError(f"{who}: groups must be a list of arrays of column indices, got {type(groups).__name__}.")
    found = []
    for g, group in enumerate(groups):
        columns = np.asarray(group)
        if columns.ndim != 1 or not len(columns) or columns.dtype.kind not in "iu":
            raise ValueError(f"{who}: groups[{g}] must be a list of column indices, at least one.")
        if columns.min() < 0 or columns.max() >= n_features:
            wrong = columns[(columns < 0) | (columns >= n_features)][0]
            raise ValueError(f"{who}: groups[{g}] must hold columns in 0 ... {n_features - 1}, got {wrong}.")
        if len(np.unique(columns)) < len(columns):
            raise ValueError(f"{who}: groups[{g}] must name each column once.")
        found.append(columns.astype(np.intp))
    alone = np.setdiff1d(np.arange(n_features), np.concatenate([*found, np.empty(0, np.intp)]))
    return [*found, *alone[:, None]]


def weights(who: str, start: Any, shape: tuple[int, ...]) -> Array:
    """Weights to start from, zeros by default."""
    if start is None:
        return np.zeros(shape)
    coef = np.asarray(start, dtype=np.float64)
    if coef.shape != shape or not np.isfinite(coef).all():
        raise ValueError(f"{who}: start must hold finite weights of shape {shape}, got shape {coef.shape}.")
    return coef
