"""What the binding promises: rows are checked once, passes refuse what would reach outside memory, and nothing crashes.

Runs under sanitizers (``make sanitize``), so it imports the core, NumPy and the state only.
"""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from thresher import _core
from thresher._engine._state import Field, State

LOSS = {"loss": "hinge", "tau": 0.5, "epsilon": 0.1}
PEGASOS = LOSS | {
    "mean_constant": False,
    "inverse_alpha": 10.0,
    "inverse_alphas": None,
    "projection": True,
    "late": False,
    "average": True,
    "free_constant": True,
    "batch_size": 1.0,
}
SPARSE = LOSS | {"n_selected": 2.0, "debias": True, "free_constant": True}
L1_RDA = SPARSE | {"alpha": 0.01, "eta0": 1.0, "rho": 0.0, "l2_weight": 0.0, "batch_size": 1.0}
ADAPTIVE = SPARSE | {"alpha": 0.01, "eta0": 1.0, "smoothing": 0.1, "l2_weight": 0.0}
REWEIGHTED = SPARSE | {"alpha": 0.01, "eta0": 1.0, "smoothing": 0.1, "rho": 0.0}
CW = {"phi": 1.3, "precision": False, "average": False, "n_selected": 2.0}
LEARNERS = {
    "Pa": {"C": 1.0, "squared": False, "average": False},
    "ArowDiagonal": {"r": 1.0, "precision": False, "average": False},
    "ArowFull": {"r": 1.0},
    "ArowSelecting": {"r": 1.0, "relative": True, "n_selected": 2.0},
    "CwDiagonal": CW,
    "CwFull": {"phi": 1.3, "n_selected": 2.0},
    "CwVarianceDiagonal": CW | {"precision": True},
    "CwVarianceFull": {"phi": 1.3, "n_selected": 0.0},
    "ScwDiagonal": CW | {"C": 1.0, "squared": True},
    "ScwFull": {"phi": 1.3, "n_selected": 2.0, "C": 1.0, "squared": False},
    "NarowDiagonal": {"b": 2.0, "precision": False, "average": False, "n_selected": 2.0},
    "NarowFull": {"b": 2.0, "n_selected": 2.0},
    "NherdDiagonal": {"C": 1.0, "precision": False, "average": False, "n_selected": 2.0},
    "NherdFull": {"C": 1.0, "n_selected": 0.0},
    "SopDiagonal": {"a": 1.0, "average": True, "n_selected": 2.0},
    "SopFull": {"a": 1.0, "n_selected": 2.0},
    "Ofs": {"n_selecteds": 2.0, "alpha": 0.1, "eta0": 0.2, "shrink": True},
    "Petrun": {"n_selecteds": 2.0, "eta0": 1.0},
    "Sofs": {"n_selecteds": 2.0, "r": 1.0, "advantage": 1.0},
    "Mbpa": {"n_selecteds": 2.0, "C": 1.0, "alpha": 0.1, "cost_ratio": 0.0},
    "Csoal": {"average": True, "C": 1.0, "delta": 1.0, "query_budget": 4.0, "cost_ratio": 0.0, "by_weight": False},
    "Pegasos": PEGASOS,
    "PegasosMean": PEGASOS | {"average": True, "late": True},
    "PegasosBatch": PEGASOS | {"batch_size": 3.0, "mean_constant": True, "batch_constant": False},
    "L1Rda": L1_RDA,
    "L1RdaBatch": L1_RDA | {"batch_size": 3.0, "debias": False},
    "AdaptiveL1Rda": ADAPTIVE,
    "AdaptiveL1RdaBatch": ADAPTIVE | {"batch_size": 3.0, "debias": False},
    "Ftrl": SPARSE | {"alpha": 0.1, "beta": 1.0, "l1": 0.1, "l2": 0.0},
    "ReweightedL1Rda": REWEIGHTED | {"l2_weight": 0.0},
    "ReweightedL1RdaBatch": REWEIGHTED | {"batch_size": 3.0, "debias": False},
    "ReweightedL2Rda": LOSS | {"alpha": 0.01, "smoothing": 0.1, "threshold": 0.01},
    "ReweightedL2RdaBatch": LOSS | {"alpha": 0.01, "smoothing": 0.1, "threshold": 0.01, "batch_size": 3.0},
}
over_learners = pytest.mark.parametrize("name", LEARNERS)
refused = pytest.raises((ValueError, TypeError))


def new_state(name, n_features, n_outputs=1):
    fields = [Field(*f) for f in getattr(_core, name).fields(LEARNERS[name])]
    sizes = {"weight": n_features + 1, "tally": 4, "selected": 2}
    return State([*fields, Field("tally", "tally", 0.0, "sum")], n_outputs, sizes)


def small(n_rows=6, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_features)), np.where(rng.random(n_rows) < 0.5, -1.0, 1.0)


def csr_parts(X, columns=np.int32):
    rows, cols = np.nonzero(X)
    starts = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int64)
    return np.ascontiguousarray(X[rows, cols]), cols.astype(columns), starts


def run(name, rows, y, state, *, weight=None, order=None, bias=1.0, positive=None, params=None, margins=None):
    params = LEARNERS[name] if params is None else params
    return getattr(_core, name).run_pass(rows, bias, y, positive, weight, order, state, params, margins)


# --- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("column", [np.int32, np.int64])
@over_learners
def test_dense_and_sparse_rows_are_the_same_rows(name, value, column):
    X, y = small()
    X = X.astype(value)
    X[1] = X[3, :2] = 0
    values, columns, starts = csr_parts(X, column)
    dense, sparse = _core.Rows.dense(X), _core.Rows.csr(values, columns, starts, X.shape[1])
    assert (
        (dense.n_rows, dense.n_features, dense.fault) == (sparse.n_rows, sparse.n_features, sparse.fault) == (6, 4, "")
    )
    one, other = new_state(name, 4), new_state(name, 4)
    margins = np.empty(6), np.empty(6)
    results = (
        run(name, dense, y, one.view(0), margins=margins[0]),
        run(name, sparse, y, other.view(0), margins=margins[1]),
    )
    assert_allclose(results[0], results[1], rtol=1e-12)
    assert_allclose(margins[0], margins[1], rtol=1e-10, atol=1e-12)
    w = np.empty(5), np.empty(5)
    for state, out in zip((one, other), w, strict=True):
        getattr(_core, name).weights(state.view(0), LEARNERS[name], out)
    assert_allclose(w[0], w[1], rtol=1e-10, atol=1e-12)


@over_learners
def test_scores_are_the_weights_times_the_rows(name):
    X, y = small(20)
    rows, state = _core.Rows.dense(X), new_state(name, 4)
    run(name, rows, y, state.view(0), bias=0.5)
    weights, scores = np.empty(5), np.full((20, 3), np.nan)
    getattr(_core, name).weights(state.view(0), LEARNERS[name], weights)
    getattr(_core, name).scores(rows, 0.5, state.view(0), LEARNERS[name], scores[:, 1])
    assert_allclose(scores[:, 1], X @ weights[:4] + 0.5 * weights[4], rtol=1e-10, atol=1e-12)
    assert np.isnan(scores[:, [0, 2]]).all()  # a column of a matrix is written with its stride, and nothing beside it


@over_learners
def test_rows_keep_their_memory_alive(name):
    X, y = small(2000, 50)
    truth, state = new_state(name, 50), new_state(name, 50)
    run(name, _core.Rows.dense(X), y, truth.view(0))
    rows = [_core.Rows.dense(X.copy()) for _ in range(3)]
    sparse = _core.Rows.csr(*csr_parts(X), 50)
    gc.collect()
    _litter = [np.full((2000, 50), np.nan) for _ in range(5)]
    run(name, rows[1], y, state.view(0))
    for a, b in zip(truth.view(0).values(), state.view(0).values(), strict=True):
        assert_array_equal(a, b)
    run(name, sparse, y, new_state(name, 50).view(0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_value_that_is_not_finite_is_reported_where_it_stands(value, kind):
    for n_features in (1, 7, 8, 9, 17):  # around the width in which values are summed
        for row, column in ((0, 0), (4, n_features - 1), (2, n_features // 2)):
            X = np.ones((5, n_features), dtype=kind)
            X[row, column] = value
            for rows in (_core.Rows.dense(X), _core.Rows.csr(*csr_parts(X), n_features)):
                assert rows.fault == "value"
                assert rows.fault_at[:2] == (row, column)
                assert_array_equal(rows.fault_at[2], value)


def test_large_values_that_sum_beyond_floats_are_finite():
    assert _core.all_finite(np.full(36, 1.7e308))
    assert not _core.all_finite(np.array([1.0, np.nan]))


@pytest.mark.parametrize("value", [1e100, -1e100, 1.1e100, -1e200, 1.7e308])
def test_a_feature_whose_square_could_overflow_is_reported(value):
    X = np.ones((3, 9))
    X[2, 7] = value
    for rows in (_core.Rows.dense(X), _core.Rows.csr(*csr_parts(X), 9)):
        assert rows.fault == ("" if abs(value) <= 1e100 else "value")
        assert abs(value) <= 1e100 or rows.fault_at == (2, 7, value)
    assert _core.all_finite(np.zeros(0))


def test_rows_made_without_a_look_are_looked_at_when_asked():
    X = np.ones((3, 2))
    X[2, 1] = np.nan
    for rows in (_core.Rows.dense(X, False), _core.Rows.csr(*csr_parts(X), 2, False)):
        assert rows.fault == ""
        rows.look()
        assert (rows.fault, rows.fault_at[:2]) == ("value", (2, 1))
    values, columns, starts = csr_parts(X)
    columns[0] = 5
    assert _core.Rows.csr(values, columns, starts, 2, False).fault == "range"  # structure is never left for later


@over_learners
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weight", [None, 0.0])
def test_a_pass_stops_at_a_value_that_is_not_finite_before_it_learns_from_it(name, value, weight):
    """What a pass over rows without a look must find: NaN and infinity anywhere, also against zero weights."""
    X, y = small(9)
    weights = None if weight is None else np.array([1.0, 1.0, 1.0, 1.0, weight, 1.0, 1.0, 1.0, 1.0])
    for column in range(4):
        bad = X.copy()
        bad[4, column] = value
        for rows in (_core.Rows.dense(bad, False), _core.Rows.csr(*csr_parts(bad), 4, False)):
            state, truth = new_state(name, 4), new_state(name, 4)
            result = run(name, rows, y, state.view(0), weight=weights)
            assert result[1] == 4
            run(name, _core.Rows.dense(X), y, truth.view(0), order=np.arange(4))
            for key, a in truth.view(0).items():
                assert np.isfinite(state.view(0)[key]).all()
                assert_allclose(state.view(0)[key], a, rtol=1e-10, atol=1e-12)


STRUCTURE = {
    "starts fall": ([0, 2, 1, 3], [0, 1, 0], "starts"),
    "starts beyond": ([0, 1, 2, 4], [0, 1, 0], "starts"),
    "starts far beyond": ([0, 2**62, 2, 3], [0, 1, 0], "starts"),
    "starts negative": ([0, -1, 2, 3], [0, 1, 0], "starts"),
    "starts not at 0": ([1, 1, 2, 3], [0, 1, 0], "starts"),
    "column too far": ([0, 1, 2, 3], [0, 5, 0], "range"),
    "column negative": ([0, 1, 2, 3], [0, -1, 0], "range"),
    "column smallest": ([0, 1, 2, 3], [0, -(2**31), 0], "range"),
    "column largest": ([0, 1, 2, 3], [0, 2**31 - 1, 0], "range"),
    "column negative, sorted": ([0, 2, 2, 3], [-1, 0, 0], "range"),
    "repeated": ([0, 2, 3, 3], [1, 1, 0], "order"),
    "unsorted": ([0, 2, 3, 3], [2, 1, 0], "order"),
    "unsorted and too far": ([0, 2, 3, 3], [2, 1, 9], "range"),
    "sound": ([0, 2, 2, 3], [0, 4, 2], ""),
    "spare": ([0, 1, 1, 2], [0, 4, 99], ""),
}


@pytest.mark.parametrize("case", STRUCTURE)
@pytest.mark.parametrize("column", [np.int32, np.int64])
@over_learners
def test_broken_structure_is_reported_and_no_pass_takes_it(name, case, column):
    starts, columns, fault = STRUCTURE[case]
    rows = _core.Rows.csr(np.ones(3), np.array(columns, dtype=column), np.array(starts, dtype=np.int64), 5)
    assert rows.fault == fault
    state = new_state(name, 5)
    before = {k: v.copy() for k, v in state.view(0).items()}
    if fault:
        with refused:
            run(name, rows, np.ones(3), state.view(0))
        with refused:
            getattr(_core, name).scores(rows, 1.0, state.view(0), LEARNERS[name], np.empty(3))
        rows.look()  # does not forgive
        assert rows.fault == fault
        for k, v in state.view(0).items():
            assert_array_equal(v, before[k])
    else:
        run(name, rows, np.ones(3), state.view(0))


@pytest.mark.parametrize("n_rows", [1, 255, 256, 257, 700])
@pytest.mark.parametrize("column", [np.int32, np.int64])
def test_columns_may_fall_between_rows_and_nowhere_else(n_rows, column):
    """All columns are looked at in one sweep over blocks of rows."""
    rng = np.random.default_rng(n_rows)
    rows = [np.sort(rng.choice(6, size=rng.integers(0, 5), replace=False)) for _ in range(n_rows - 1)] + [np.arange(3)]
    columns = np.concatenate(rows).astype(column)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    assert _core.Rows.csr(np.ones(len(columns)), columns, starts, 6).fault == ""
    for k in set(range(1, len(columns))) - set(starts.tolist()):
        wrong = columns.copy()
        wrong[k] = wrong[k - 1]
        assert _core.Rows.csr(np.ones(len(columns)), wrong, starts, 6).fault == "order"


@pytest.mark.parametrize("n_features", [0, 1, 511, 512, 1030])
def test_a_survey_tells_what_all_weights_tell(n_features):
    def survey(j=0, value=0.0):
        state = new_state("Pa", n_features)
        state.arrays["coef"][0, j] = value
        return _core.Pa.survey(state.view(0), LEARNERS["Pa"], n_features + 1)

    assert survey() == survey(n_features, 1.0) == (True, False)  # the constant alone uses no feature
    assert survey(n_features, np.inf) == (False, False)
    for j in {0, n_features // 2, n_features - 1} & set(range(n_features)):
        assert survey(j, -1e-300) == (True, True)
        assert survey(j, np.nan)[0] is survey(j, -np.inf)[0] is False


@pytest.mark.parametrize("eta0", [1.0, 1e250])  # with the second, sums alone do not tell
@pytest.mark.parametrize("n_features", [1, 511, 1030])
def test_a_survey_of_gradient_sums_tells_what_all_weights_tell(n_features, eta0):
    params = L1_RDA | {"n_selected": 0.0, "debias": False, "eta0": eta0}
    fields = [Field(*f) for f in _core.L1Rda.fields(params)]

    def survey(j=0, value=0.0):
        state = State([*fields, Field("tally", "tally", 0.0, "sum")], 1, {"weight": n_features + 1, "tally": 4})
        state.arrays["n_steps"][...] = 4.0
        state.arrays["gradient_sum"][0, j] = value
        return _core.L1Rda.survey(state.view(0), params, n_features + 1)

    assert survey() == survey(n_features, 1.0) == (True, False)
    for j in (0, n_features // 2, n_features - 1):
        assert survey(j, -1.0) == (True, True)
        assert survey(j, 0.03) == (True, False)  # which the penalty cuts: 4 * 0.01
        assert survey(j, -1e99) == (eta0 == 1.0, True)
        assert survey(j, np.nan)[0] is survey(j, -np.inf)[0] is False
    assert survey(n_features, np.inf) == (False, False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_64_bits_are_narrowed(dtype):
    columns = np.array([0, 2**31 - 2, 5, 7])
    values, starts = np.arange(4).astype(dtype), np.array([0, 2, 3, 4])
    rows = _core.Rows.csr(values, columns, starts, 2**31 - 1)
    assert rows.fault == ""
    assert rows.columns.dtype == np.int32
    assert_array_equal(rows.columns, columns)
    narrow = columns.astype(np.int32)
    assert np.shares_memory(_core.Rows.csr(values, narrow, starts, 2**31 - 1).columns, narrow)


index = st.integers(-3, 12) | st.sampled_from([2**31 - 1, -(2**31), 2**40, -(2**40), 2**62, -(2**63), 2**63 - 1])


@settings(max_examples=400, deadline=None)
@given(
    starts=st.lists(index, max_size=8),
    columns=st.lists(index, max_size=12),
    n_features=st.integers(-2, 10) | st.sampled_from([2**31 - 1, 2**31, 2**40]),
    n_values=st.integers(0, 12),
    wide=st.booleans(),
    look=st.booleans(),
)
def test_random_structure_is_sound_or_reported(starts, columns, n_features, n_values, wide, look):
    """Against a slow check in Python."""
    columns = [c for c in columns if wide or -(2**31) <= c < 2**31]
    cols = np.array(columns, dtype=np.int64 if wide else np.int32)
    values, ends = np.ones(n_values), np.array(starts, dtype=np.int64)
    if n_values != len(cols) or not starts or not 0 <= n_features < 2**31:
        with refused:
            _core.Rows.csr(values, cols, ends, n_features, look)
        return
    rows = _core.Rows.csr(values, cols, ends, n_features, look)
    pairs = list(itertools.pairwise(starts))
    if starts[0] != 0 or any(b < a or b > n_values for a, b in pairs):
        assert rows.fault == "starts"
    else:
        used = [columns[a:b] for a, b in pairs]
        if any(not 0 <= c < n_features for row in used for c in row):
            assert rows.fault == "range"
        elif any(sorted(set(row)) != row for row in used):
            assert rows.fault == "order"
        else:
            assert rows.fault == ""
            assert (rows.n_rows, rows.n_features) == (len(pairs), n_features)
            if n_features < 20:
                run("Pa", rows, np.ones(len(pairs)), new_state("Pa", n_features).view(0))


@pytest.mark.parametrize(
    "X",
    [
        np.ones(3),
        np.ones((2, 2, 2)),
        np.ones((2, 2), dtype=np.int64),
        np.ones((2, 2), dtype=np.float16),
        np.ones((4, 4))[:, ::2],
        np.asfortranarray(np.ones((3, 2))),
        np.ones((2, 2), dtype=complex),
        [[1.0, 2.0]],
        None,
        "rows",
        np.ones((2, 2), dtype=">f8"),
        np.ones((2, 2), dtype=object),
        np.float64(1.0),
        np.ones((2, 2), dtype=bool),
    ],
    ids=[
        "1-D",
        "3-D",
        "int",
        "float16",
        "strided",
        "fortran",
        "complex",
        "list",
        "None",
        "text",
        "big-endian",
        "object",
        "scalar",
        "bool",
    ],
)
def test_dense_rows_of_another_form_are_refused(X):
    with refused:
        _core.Rows.dense(X)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_empty_rows_are_harmless(shape):
    rows = _core.Rows.dense(np.ones(shape))
    assert (rows.n_rows, rows.n_features, rows.fault) == (*shape, "")
    state = new_state("L1Rda", shape[1])
    run("L1Rda", rows, np.ones(shape[0]), state.view(0))
    assert state.view(0)["tally"][0] == shape[0]


@pytest.mark.parametrize("part", ["values", "columns", "starts"])
@pytest.mark.parametrize(
    "bad",
    [
        None,
        [0, 1],
        np.ones((2, 2)),
        np.ones(3, dtype=np.int16),
        np.ones(3, dtype=np.uint64),
        np.ones(3, dtype=np.float16),
        np.ones(3, dtype=object),
        np.ones(6, dtype=np.int64)[::2],
        np.ones(3, dtype=complex),
        np.ones(3, dtype=bool),
    ],
    ids=["None", "list", "2-D", "int16", "uint64", "float16", "object", "strided", "complex", "bool"],
)
def test_sparse_rows_of_another_form_are_refused(part, bad):
    parts = {"values": np.ones(3), "columns": np.array([0, 1, 2]), "starts": np.array([0, 1, 2, 3])} | {part: bad}
    with refused:
        _core.Rows.csr(parts["values"], parts["columns"], parts["starts"], 5)


# --- passes ---------------------------------------------------------------------------------------------------------


@over_learners
@pytest.mark.parametrize("order", [[6], [-1], [0, 1, 2**62], [0, -(2**63)], [5, 6]], ids=str)
def test_an_order_that_leaves_the_rows_is_refused(name, order):
    X, y = small()
    state = new_state(name, 4)
    before = {k: v.copy() for k, v in state.view(0).items()}
    with refused:
        run(name, _core.Rows.dense(X), y, state.view(0), order=np.array(order, dtype=np.int64))
    for k, v in state.view(0).items():
        assert_array_equal(v, before[k])


@over_learners
@settings(max_examples=15, deadline=None)
@given(order=st.lists(st.integers(0, 5), max_size=70))
def test_an_order_is_the_rows_it_names(name, order):
    X, y = small()
    chosen = np.array(order, dtype=np.int64)
    by_order, by_copy = new_state(name, 4), new_state(name, 4)
    first = run(name, _core.Rows.dense(X), y, by_order.view(0), order=chosen)
    second = run(name, _core.Rows.dense(np.ascontiguousarray(X[chosen])), y[chosen], by_copy.view(0))
    assert first == second
    for a, b in zip(by_order.view(0).values(), by_copy.view(0).values(), strict=True):
        assert_array_equal(a, b)


@over_learners
def test_lengths_that_do_not_agree_are_refused(name):
    X, y = small()
    rows, state = _core.Rows.dense(X), new_state(name, 4)
    for options in (
        {"weight": np.ones(5)},
        {"weight": np.ones(7)},
        {"margins": np.empty(5)},
        {"margins": np.empty(7)},
        {"order": np.arange(3), "margins": np.empty(6)},
        {"weight": np.ones((6, 1))},
    ):
        with refused:
            run(name, rows, y, state.view(0), **options)
    for targets in (y[:5], np.append(y, 1.0), y[:, None], y.astype(object), None, "y"):
        with refused:
            run(name, rows, targets, state.view(0))
    for out in (np.empty(5), np.empty(7), np.empty((6, 1)), np.empty(6, dtype=np.float32), [0.0] * 6, None):
        with refused:
            getattr(_core, name).scores(rows, 1.0, state.view(0), LEARNERS[name], out)
    for out in (np.empty(4), np.empty(6), np.empty((5, 1)), np.empty(5, dtype=np.float32), np.empty(10)[::2], None):
        with refused:
            getattr(_core, name).weights(state.view(0), LEARNERS[name], out)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


SPOIL = {
    "missing": None,
    "shorter": lambda a: a[:-1].copy(),
    "longer": lambda a: np.append(a, 0.0),
    "empty": lambda a: np.zeros(0),
    "float32": lambda a: a.astype(np.float32),
    "int64": lambda a: a.astype(np.int64),
    "matrix": lambda a: a.reshape(-1, 1).copy(),
    "strided by three": lambda a: np.repeat(a, 3)[::3],
    "backwards": lambda a: a[::-1],
    "read-only": read_only,
    "list": lambda a: a.tolist(),
    "None": lambda a: None,
    "text": lambda a: "array",
}


@over_learners
@pytest.mark.parametrize("how", SPOIL)
def test_state_arrays_of_another_form_are_refused(name, how):
    """Each array of each learner in turn: never a write outside it, never a silent copy."""
    X, y = small()
    rows, core, params = _core.Rows.dense(X), getattr(_core, name), LEARNERS[name]
    for key in new_state(name, 4).view(0):
        view = dict(new_state(name, 4).view(0))
        if how == "missing":
            del view[key]
        elif how == "backwards" and len(view[key]) == 1:
            continue  # one number has no direction
        elif how == "strided by three" and len(view[key]) == 1:
            continue
        else:
            view[key] = SPOIL[how](view[key])
        with refused:
            run(name, rows, y, view)
        if key == "tally":  # the books of the loop, which nothing else opens
            continue
        for act in (
            lambda v=view: core.scores(rows, 1.0, v, params, np.empty(6)),
            lambda v=view: core.weights(v, params, np.empty(5)),
            lambda v=view: core.finish(v, params, 5),
            lambda v=view: core.settle(v, params, 5),
            lambda v=view: core.rebuild(v, params, 5),
        ):
            with refused:
                act()


@over_learners
def test_a_state_of_another_width_is_refused(name):
    X, y = small()
    rows, core, params = _core.Rows.dense(X), getattr(_core, name), LEARNERS[name]
    for width in (0, 3, 5, 40):
        view = new_state(name, width).view(0)
        with refused:
            run(name, rows, y, view)
        with refused:
            core.scores(rows, 1.0, view, params, np.empty(6))
    view = new_state(name, 4).view(0)
    for n_weights in (-1, 0, 4, 6, 2**40, 2**62, -(2**63)):
        for hook in (core.finish, core.settle, core.rebuild):
            with refused:
                hook(view, params, n_weights)


@over_learners
def test_parameters_of_another_form_are_refused(name):
    X, y = small()
    rows = _core.Rows.dense(X)
    for key in LEARNERS[name]:
        for bad in ("missing", None, object(), "nonsense", [1], np.ones(3)):
            if key == "inverse_alphas" and bad is None:
                continue
            if name in ("Pegasos", "PegasosMean", "L1Rda") and key == "batch_size":
                continue  # mini-batches of one row do not ask
            params = dict(LEARNERS[name])
            if isinstance(bad, str) and bad == "missing":
                del params[key]
            else:
                params[key] = bad
            with pytest.raises((ValueError, TypeError, RuntimeError)):
                run(name, rows, y, new_state(name, 4).view(0), params=params)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_random_calls_never_crash(data):
    """Any mixture of lengths, types and states: a result or an exception, and the process lives."""
    name = data.draw(st.sampled_from(sorted(LEARNERS)))
    X, _ = small(data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))
    rows = (
        _core.Rows.dense(X)
        if data.draw(st.booleans())
        else _core.Rows.csr(*csr_parts(X), X.shape[1] + data.draw(st.integers(0, 2)))
    )
    state = new_state(name, data.draw(st.integers(0, 6)))
    numbers = st.floats(allow_nan=True, allow_infinity=True)
    y = np.array(data.draw(st.lists(numbers, max_size=6)))
    weight = data.draw(st.none() | st.lists(numbers, max_size=6).map(np.array))
    order = data.draw(st.none() | st.lists(index, max_size=6).map(lambda v: np.array(v, dtype=np.int64)))
    margins = data.draw(st.none() | st.integers(0, 6).map(np.empty))
    try:
        result = run(
            name,
            rows,
            y,
            state.view(0),
            weight=weight,
            order=order,
            bias=data.draw(numbers),
            positive=data.draw(st.none() | numbers),
            margins=margins,
        )
    except (ValueError, TypeError):
        return
    assert len(y) == rows.n_rows
    assert 0 <= result[0] <= (rows.n_rows if order is None else len(order))
