"""Rows that are left for the first pass to check: it stops before the first bad row, and anything else checks them all.

Runs under sanitizers (``make sanitize``), so it imports the core, NumPy and the state only.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher import _core
from thresher._engine._state import Field, State

PARAMS = {"r": 1.0, "precision": False, "average": False}
N_ROWS, N_FEATURES, NNZ = 300, 40, 5
BAD_ROW = 200


def parts(seed=0):
    rng = np.random.default_rng(seed)
    columns = np.sort(np.stack([rng.permutation(N_FEATURES)[:NNZ] for _ in range(N_ROWS)]), axis=1).astype(np.int32)
    starts = np.arange(0, N_ROWS * NNZ + 1, NNZ, dtype=np.int64)
    return rng.normal(size=N_ROWS * NNZ), columns.ravel(), starts, np.where(rng.random(N_ROWS) < 0.5, -1.0, 1.0)


def spoiled(how):
    values, columns, starts, y = parts()
    at = BAD_ROW * NNZ + 2
    if how == "value":
        values[at] = np.nan
    elif how == "size":
        values[at] = 1e200
    elif how == "order":
        columns[at] = columns[at - 1]
    elif how == "range":
        columns[BAD_ROW * NNZ + NNZ - 1] = N_FEATURES
    elif how == "negative":
        columns[BAD_ROW * NNZ] = -1
    return values, columns, starts, y


def state():
    fields = [Field(*f) for f in _core.ArowDiagonal.fields(PARAMS)]
    return State([*fields, Field("tally", "tally", 0.0, "sum")], 1, {"weight": N_FEATURES + 1, "tally": 4})


def learn(rows, y, of, order=None):
    margins = np.zeros(len(y) if order is None else len(order))
    result = _core.ArowDiagonal.run_pass(rows, 1.0, y, None, None, order, of.view(0), PARAMS, margins)
    return result, margins


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("form", ["csr", "dense", "csr float32"])
def test_rows_checked_in_the_pass_are_learned_like_others(form, shuffled):
    values, columns, starts, y = parts()
    order = np.random.default_rng(1).permutation(N_ROWS) if shuffled else None

    def rows(later):
        if form == "dense":
            return _core.Rows.dense(values[: N_ROWS * 4].reshape(N_ROWS, 4), True, later)
        data = values.astype(np.float32) if form == "csr float32" else values
        return _core.Rows.csr(data, columns, starts, N_FEATURES, True, later)

    one, other = (rows(later) for later in (False, True))
    sizes = {"weight": one.n_features + 1, "tally": 4}
    states = [State(state().fields, 1, sizes) for _ in range(2)]
    for _ in range(2):  # the second pass has nothing left to check
        (result, margins), (result_later, margins_later) = (
            learn(one, y, states[0], order),
            learn(other, y, states[1], order),
        )
        assert result == result_later
        assert_array_equal(margins, margins_later)
    assert other.fault == ""
    for name, array in states[0].arrays.items():
        assert_array_equal(array, states[1].arrays[name])


@pytest.mark.parametrize("how", ["value", "size", "order", "range", "negative"])
def test_a_pass_stops_before_the_block_of_a_bad_row(how):
    values, columns, starts, y = spoiled(how)
    rows = _core.Rows.csr(values, columns, starts, N_FEATURES, True, True)
    assert rows.known_fault == ""
    (_, diverged, _), _ = learn(rows, y, state())
    assert BAD_ROW - 64 < diverged <= BAD_ROW
    assert rows.fault == {"size": "value", "negative": "range"}.get(how, how)
    eager = _core.Rows.csr(values, columns, starts, N_FEATURES)
    assert (rows.fault, rows.fault_at[:2]) == (eager.fault, eager.fault_at[:2])


@pytest.mark.parametrize("how", ["value", "size", "order", "range", "negative"])
def test_outputs_side_by_side_stop_before_the_block_of_a_bad_row(how):
    values, columns, starts, y = spoiled(how)
    rows = _core.Rows.csr(values, columns, starts, N_FEATURES, True, True)
    fields = [*(Field(*f) for f in _core.ArowDiagonal.fields(PARAMS)), Field("tally", "tally", 0.0, "sum")]
    of = State(fields, 3, {"weight": N_FEATURES + 1, "tally": 4})
    with _core.ArowDiagonal.several(of.views, [PARAMS] * 3, N_FEATURES + 1, N_ROWS) as several:
        diverged = several.run(rows, 1.0, y, np.ones(3), None, None, np.arange(3), np.zeros((3, N_ROWS)))
    assert BAD_ROW - 64 < diverged[0] <= BAD_ROW
    assert diverged == [diverged[0]] * 3
    assert rows.fault == {"size": "value", "negative": "range"}.get(how, how)


@pytest.mark.parametrize("how", ["value", "size", "order", "range", "negative"])
def test_scores_refuse_a_bad_row_when_they_come_to_it(how):
    def rows():
        return _core.Rows.csr(*spoiled(how)[:3], N_FEATURES, True, True)

    with pytest.raises(ValueError, match="refused"):
        _core.ArowDiagonal.scores(rows(), 1.0, state().view(0), PARAMS, np.empty(N_ROWS))
    for n_outputs in (1, 5):
        with pytest.raises(ValueError, match="refused"):
            _core.linear_scores(rows(), 1.0, np.zeros((n_outputs, N_FEATURES + 1)), np.empty((N_ROWS, n_outputs)))


@pytest.mark.parametrize("n_outputs", [1, 5])
def test_scores_of_rows_checked_on_the_way_are_those_of_others(n_outputs):
    values, columns, starts, _ = parts()
    weights = np.random.default_rng(2).normal(size=(n_outputs, N_FEATURES + 1))
    found = []
    for later in (False, True):
        rows, out = _core.Rows.csr(values, columns, starts, N_FEATURES, True, later), np.empty((N_ROWS, n_outputs))
        _core.linear_scores(rows, 0.5, weights, out)
        assert rows.fault == ""
        found.append(out)
    assert_array_equal(*found)


@pytest.mark.parametrize("how", ["value", "size", "order", "range", "negative"])
def test_lengths_are_measured_up_to_the_block_of_a_bad_row(how):
    values, columns, starts, _ = spoiled(how)
    rows, first, last = (
        _core.Rows.csr(values, columns, starts, N_FEATURES, True, True),
        np.arange(100),
        np.arange(256, 300),
    )
    sums, counts = np.zeros(1), np.zeros(1)
    _core.measure_lengths(rows, np.concatenate([first, last, [BAD_ROW], first]), sums, counts)
    assert counts[0] == 144
    squares = (values.reshape(N_ROWS, NNZ)[np.concatenate([first, last])] ** 2).sum(axis=1)
    np.testing.assert_allclose(sums[0], np.log(squares).sum())
    assert rows.known_fault == ""


@pytest.mark.parametrize("how", ["value", "size"])
def test_dense_rows_are_checked_as_well(how):
    X = parts()[0][: N_ROWS * 4].reshape(N_ROWS, 4)
    X[BAD_ROW, 1] = np.inf if how == "value" else -1e101
    rows = _core.Rows.dense(X, True, True)
    of = State(state().fields, 1, {"weight": 5, "tally": 4})
    (_, diverged, _), _ = learn(rows, parts()[3], of)
    assert BAD_ROW - 64 < diverged <= BAD_ROW
    assert rows.fault_at[:2] == (BAD_ROW, 1)


def test_rows_that_a_pass_did_not_visit_are_checked_when_asked_for():
    values, columns, starts, y = spoiled("value")
    rows = _core.Rows.csr(values, columns, starts, N_FEATURES, True, True)
    (_, diverged, _), _ = learn(rows, y, state(), np.arange(64))
    assert (diverged, rows.known_fault, rows.fault) == (-1, "", "value")


def test_whatever_else_uses_the_rows_checks_them_all_before():
    values, columns, starts, _ = spoiled("range")

    def rows():
        return _core.Rows.csr(values, columns, starts, N_FEATURES, True, True)

    count = np.zeros(N_FEATURES)
    with pytest.raises(ValueError, match="no scale"):
        _core.measure_rows(rows(), np.arange(3), 0.0, count, count.copy(), count.copy())


def test_starts_are_checked_at_once():
    values, columns, starts, _ = parts()
    starts[5] = len(values) + 1
    assert _core.Rows.csr(values, columns, starts, N_FEATURES, True, True).known_fault == "starts"


def test_columns_of_64_bits_are_checked_at_once():
    values, columns, starts, _ = spoiled("range")
    assert _core.Rows.csr(values, columns.astype(np.int64), starts, N_FEATURES, True, True).known_fault == "range"
