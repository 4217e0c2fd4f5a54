"""Rows, targets, groups and starts of the solvers, checked once."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, _gate
from .._engine import LOSSES as ALL_LOSSES
from .._gate import Rule, as_rows, check_targets, float_array, one_of, sparse
from ._block_problem import Solution, TaskData

LOSSES = {n: told for n, told in ALL_LOSSES.items() if told.has_conjugate and math.isfinite(told.curvature)}
known_loss = one_of(*LOSSES)
two_or_inf = Rule("2 or inf", lambda v: isinstance(v, Real) and v in (2, np.inf))
above_one = Rule(
    "a number above 1, or inf", lambda v: _gate.above_one.holds(v) or (isinstance(v, Real) and v == np.inf)
)


def as_columns(X: Any, who: str) -> _core.Rows:
    """The columns of ``X`` for the core, as rows of its transpose: CSC and Fortran order are read as they are."""
    dense = type(X) is np.ndarray and X.ndim == 2 and X.flags.f_contiguous and X.dtype.kind == "f"
    if dense or (sparse.issparse(X) and X.ndim == 2 and X.format == "csc"):
        try:
            return as_rows(X.T, who)
        except ValueError:
            as_rows(X, who)  # refuses with the rows and columns of X
            raise
    rows = as_rows(X, who)
    if rows.columns is None:
        return as_rows(np.asfortranarray(rows.values).T, who, look=False)
    by_row = sparse.csr_array((rows.values, rows.columns, rows.starts), shape=(rows.n_rows, rows.n_features))
    return as_rows(by_row.tocsc().T, who, look=False)


def task(who: str, columns: _core.Rows, y: Any, loss: str, fit_intercept: bool) -> TaskData:
    """Columns and targets that fit each other and the loss."""
    y = check_targets(y, columns.n_features, who)
    if not LOSSES[loss].for_values:
        wrong = np.flatnonzero(np.abs(y) != 1)
        if len(wrong):
            raise ValueError(f"{who}: y must hold -1 and 1 with loss={loss!r}, got {y[wrong[0]]} in row {wrong[0]}.")
        if fit_intercept and not rests(loss) and (y == y[0]).all():
            raise ValueError(f"{who}: y must hold both -1 and 1 when an intercept is fitted, got {y[0]} only.")
    return TaskData(columns, y)


def rests(loss: str) -> bool:
    """Whether a score on the right side can have a loss of 0."""
    return _core.loss_slope(loss, 30.0, 1.0) >= 0


def tasks(who: str, Xs: Any, ys: Any, loss: str, fit_intercept: bool) -> list[TaskData]:
    """One pair of columns and targets per task, all of the same features; rows that tasks share are read once."""
    if not isinstance(Xs, (list, tuple)) or not isinstance(ys, (list, tuple)) or not 0 < len(Xs) == len(ys):
        raise ValueError(f"{who}: Xs and ys must be two lists of one length, with an array for every task.")
    read: dict[int, _core.Rows] = {}
    found = []
    for q, (X, y) in enumerate(zip(Xs, ys, strict=True)):
        columns = read.get(id(X)) or read.setdefault(id(X), as_columns(X, f"{who}, task {q}"))
        found.append(task(f"{who}, task {q}", columns, y, loss, fit_intercept))
        if columns.n_rows != found[0].columns.n_rows:
            raise ValueError(
                f"{who}: every task must have {found[0].columns.n_rows} features as task 0 has, "
                f"got {columns.n_rows} in task {q}."
            )
    return _stored_alike(found)


def _stored_alike(given: list[TaskData]) -> list[TaskData]:
    """Columns of all tasks in one format and precision, which the core asks for."""
    forms = {(c.values.dtype, None if c.columns is None else c.columns.dtype) for c, _ in given}
    if len(forms) == 1:
        return given
    return [TaskData(_as_double_csr(columns, f"task {q}"), y) for q, (columns, y) in enumerate(given)]


def _as_double_csr(columns: _core.Rows, who: str) -> _core.Rows:
    held = columns.values
    if columns.columns is not None:
        held = sparse.csr_array(
            (columns.values, columns.columns, columns.starts), shape=(columns.n_rows, columns.n_features)
        )
    wide = sparse.csr_array(held, dtype=np.float64)
    wide.indices = wide.indices.astype(np.int64)
    return as_rows(wide, who)


def index_groups(who: str, groups: Any, n_features: int) -> list[NDArray[np.intp]]:
    """Groups of columns; a column that belongs to no group gets its own."""
    if not isinstance(groups, (list, tuple)):
        raise ValueError(f"{who}: groups must be a list of arrays of column indices, got {type(groups).__name__}.")
    found = []
    for g, group in enumerate(groups):
        columns = np.asarray(group)
        if columns.ndim != 1 or not len(columns) or columns.dtype.kind not in "iu":
            raise ValueError(f"{who}: groups[{g}] must be a list of column indices, at least one.")
        found.append(columns.astype(np.intp, copy=False))
    named = np.concatenate([*found, np.empty(0, np.intp)])
    of = np.repeat(np.arange(len(found)), [len(columns) for columns in found])
    outside = np.flatnonzero((named < 0) | (named >= n_features))
    if len(outside):
        wrong = named[outside[0]]
        raise ValueError(f"{who}: groups[{of[outside[0]]}] must hold columns in 0 ... {n_features - 1}, got {wrong}.")
    order = np.lexsort((named, of))
    twice = np.flatnonzero((np.diff(named[order]) == 0) & (np.diff(of[order]) == 0))
    if len(twice):
        raise ValueError(f"{who}: groups[{of[order][twice[0]]}] must name each column once.")
    alone = np.ones(n_features, dtype=bool)
    alone[named] = False
    return [*found, *np.flatnonzero(alone)[:, None]]


def start_at(who: str, start: Any, shape: tuple[int, ...]) -> Solution | None:
    """Weights to start from, if there are any."""
    if start is None:
        return None
    coef = float_array(start, "start", who)
    if coef.shape != shape or not np.isfinite(coef).all():
        raise ValueError(f"{who}: start must hold finite weights of shape {shape}, got shape {coef.shape}.")
    coef = coef.reshape(-1, shape[-1])
    return Solution(coef, np.zeros(len(coef)), np.inf, np.inf, 0, converged=False)
