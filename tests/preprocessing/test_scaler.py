"""RunningScaler against scikit-learn's StandardScaler and plain NumPy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from thresher._gate._table import Table, Text
from thresher.preprocessing import RunningScaler


@parametrize_with_checks([RunningScaler(), RunningScaler(with_mean=False, with_std=False, unit_rows=True)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(101, 6)) * [1, 100, 1e-3, 5, 1, 1e6] + [0, 50, 1e-3, -7, 0, 1e6]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 3.0
    return X


def batches(X, *sizes):
    begin = 0
    for size in sizes:
        yield X[begin : begin + size]
        begin += size
    yield X[begin:]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"with_mean": False}, {"with_std": False}])
def test_dense_rows_are_scaled_as_scikit_learn_scales_them_but_for_n_minus_1(X, options, dtype):
    X = X.astype(dtype)
    scaler = RunningScaler(**options)
    for batch in batches(X, 1, 1, 40, 7):
        scaler.partial_fit(batch)
    peer = StandardScaler(**options).fit(X.astype(np.float64))
    n = peer.n_samples_seen_
    unbiased = np.sqrt(np.where(peer.scale_ == 1, 1, n / (n - 1))) if peer.with_std else 1
    scaled = scaler.transform(X)
    assert scaled.dtype == dtype
    assert_allclose(scaled, peer.transform(X.astype(np.float64)) / unbiased, rtol=1e-5 if dtype == np.float32 else 1e-9)
    assert_array_equal(scaler.n_samples_seen_, n)
    assert_allclose(scaler.mean_, np.nanmean(X.astype(np.float64), axis=0), rtol=1e-12)
    assert_allclose(scaler.var_, np.nanvar(X.astype(np.float64), axis=0, ddof=1), rtol=1e-9, atol=1e-30)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("with_std", [False, True])
def test_rows_are_divided_by_their_length_after_columns_are_scaled(X, layout, dtype, with_std):
    X[:, 5] = 0.0
    X[3] = 0.0  # a row of zeros stays one
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.4, 0.0, X).astype(dtype)
    plain = RunningScaler(with_mean=False, with_std=with_std).fit(layout(X)).transform(layout(X))
    made = RunningScaler(with_mean=False, with_std=with_std, unit_rows=True).fit(layout(X)).transform(layout(X))
    assert made.dtype == dtype
    expected, made = (np.asarray(each.todense() if sparse.issparse(each) else each) for each in (plain, made))
    for row, found in zip(expected.astype(np.float64), made, strict=True):
        assert_allclose(found, row / (np.sqrt(np.nansum(row**2)) or 1.0), rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_cutting_rows_into_batches_makes_no_difference(X):
    whole = RunningScaler().fit(X)
    parts = RunningScaler()
    for batch in batches(X, 3, 1, 50):
        parts.partial_fit(batch)
    rows = RunningScaler()
    for row in sparse.csr_array(np.nan_to_num(X)):
        rows.partial_fit(row.reshape(1, -1))
    for name in RunningScaler._fitted[:-1]:
        assert_array_equal(getattr(whole, name), getattr(parts, name))
    assert_array_equal(RunningScaler().fit(sparse.csr_array(np.nan_to_num(X))).scale_, rows.scale_)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_scaled_and_their_zeros_count(layout, dtype):
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((60, 8)) < 0.3, rng.normal(3, 2, (60, 8)), 0).astype(dtype)
    dense[:, 5] = 0
    dense[:, 6] = 4
    scaler = RunningScaler()
    for batch in (dense[:20], dense[20:21], dense[21:]):
        scaler.partial_fit(layout(batch))
    truth = dense.astype(np.float64)
    assert_allclose(scaler.mean_, truth.mean(axis=0), rtol=1e-12)
    assert_allclose(scaler.var_, truth.var(axis=0, ddof=1), rtol=1e-12, atol=1e-30)
    scaled = scaler.transform(layout(dense))
    assert isinstance(scaled, sparse.csr_array)
    assert scaled.dtype == dtype
    deviation = truth.std(axis=0, ddof=1)
    assert_allclose(scaled.toarray(), truth / np.where(deviation > 0, deviation, 1), rtol=1e-6)
    assert_allclose(scaler.transform(dense), scaled.toarray())  # dense rows later are not centred either


def test_sparse_batches_may_be_wider_or_narrower():
    narrow, wide = sparse.csr_array([[1.0, 2.0], [3.0, 0.0]]), sparse.csr_array([[0.0, 5.0, 7.0, 0.0]])
    scaler = RunningScaler().partial_fit(narrow).partial_fit(wide).partial_fit(narrow)
    rows = np.array([[1, 2, 0, 0], [3, 0, 0, 0], [0, 5, 7, 0], [1, 2, 0, 0], [3, 0, 0, 0]])
    assert scaler.n_features_in_ == 4
    assert_allclose(scaler.mean_, rows.mean(axis=0))
    assert_allclose(scaler.var_, rows.var(axis=0, ddof=1))
    assert_allclose(scaler.transform(narrow).toarray(), rows[:2, :2] / scaler.scale_[:2])
    unseen = sparse.csr_array([[0.0, 0.0, 7.0, 0.0, 9.0]])
    assert_allclose(scaler.transform(unseen).toarray(), [[0, 0, 7 / scaler.scale_[2], 0, 9]])


def test_a_wide_sparse_batch_costs_its_stored_values():
    width = 1_000_000
    one = sparse.csr_array((np.ones(3), np.array([5, 70_000, 999_999]), np.array([0, 3])), shape=(1, width))
    scaler = RunningScaler().partial_fit(one)
    tracemalloc.start()
    scaler.partial_fit(one)
    scaler.transform(one)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # one array of the width takes 8,000,000 bytes; an import on the way may take some of it


@pytest.mark.parametrize("as_sparse", [False, True])
def test_values_far_from_zero_keep_their_deviation(as_sparse):
    values = 1e8 + np.random.default_rng(2).normal(size=(20_000, 1))
    scaler = RunningScaler()
    for batch in batches(values, *[500] * 30):
        scaler.partial_fit(sparse.csr_array(batch) if as_sparse else batch)
    assert_allclose(scaler.mean_, values.mean(), rtol=1e-14)
    assert_allclose(scaler.var_, values.var(ddof=1), rtol=1e-7)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3, -7e-30])
def test_a_column_that_has_not_varied_is_divided_by_nothing(value):
    rows = np.full((1000, 1), value)
    scaler = RunningScaler().partial_fit(rows[:1])
    assert_array_equal(scaler.transform(rows[:1]), [[0]])  # one value says nothing
    for batch in batches(rows, 7, 333):
        scaler.partial_fit(batch)
    assert (scaler.var_[0], scaler.scale_[0]) == (0, 1)
    assert_allclose(scaler.transform(rows), 0, atol=1e-12 * abs(value))
    stored = RunningScaler().fit(sparse.csr_array(rows))
    assert_array_equal(stored.transform(sparse.csr_array(rows)).toarray(), rows)


def test_rounding_is_not_taken_for_variation():
    rows = np.array([[0.3], [0.1 + 0.2]] * 50)
    assert np.var(rows) > 0
    assert RunningScaler().fit(rows).scale_ == [1]


def test_tables_and_frames_keep_their_text_and_names(X):
    frame = pd.DataFrame({"a": [1.0, 2.0, 6.0], "town": ["x", "y", None], "b": [np.nan, 1.0, 3.0]})
    scaler = RunningScaler().fit(frame)
    assert_array_equal(scaler.feature_names_in_, ["a", "b"])
    assert_array_equal(scaler.get_feature_names_out(), ["a", "b"])
    scaled = scaler.transform(Table.from_frame(frame))
    assert scaled.columns == ["a", "town", "b"]
    assert scaled["town"].to_list() == ["x", "y", ""]
    numbers = frame[["a", "b"]]
    assert_allclose(scaled.numbers, (numbers - numbers.mean()) / numbers.std(), rtol=1e-12)
    with pytest.raises(ValueError, match=r"^RunningScaler: X must have the columns of the first rows, with 'a' in its"):
        scaler.transform(frame[["b", "town", "a"]])
    with pytest.raises(ValueError, match=r"^RunningScaler: X must have .* with 2 columns of numbers.$"):
        scaler.transform(frame.assign(c=1.0))
    with pytest.raises(ValueError, match=r"^RunningScaler: X must have .*, but 'b' is missing; similar names: bb.$"):
        scaler.transform(frame.rename(columns={"b": "bb"}))
    assert_array_equal(RunningScaler().fit(X).get_feature_names_out(), ["x1", "x2", "x3", "x4", "x5", "x6"])
    words = Table(["t"], np.empty((2, 0)), {"t": Text.from_list(["a", "b"])})
    assert RunningScaler().partial_fit(words).transform(words).text == words.text


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e101])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, lambda X: pd.DataFrame(X, columns=list("abc"))])
def test_refused_rows_leave_nothing_behind(value, layout):
    scaler = RunningScaler().partial_fit(layout(np.ones((2, 3)) * [1.0, 2.0, 3.0]))
    before = {name: np.copy(getattr(scaler, name)) for name in scaler._fitted if hasattr(scaler, name)}
    bad = np.ones((4, 3))
    bad[2, 1:] = value
    with pytest.raises(ValueError, match=r"^RunningScaler: X must hold .*, got .* in row 2, column (1|'b').$"):
        scaler.partial_fit(layout(bad))
    for name, known in before.items():
        assert_array_equal(getattr(scaler, name), known)


def test_other_refusals():
    with pytest.raises(NotFittedError):
        RunningScaler().transform([[1.0]])
    with pytest.raises(ValueError, match=r"^RunningScaler: with_mean must be True or False, got 2.$"):
        RunningScaler(with_mean=2).fit([[1.0]])
    dense = RunningScaler().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"^RunningScaler: X must be dense like the first rows, which are centred"):
        dense.transform(sparse.csr_array([[1.0, 2.0]]))
    with pytest.raises(ValueError, match=r"^X has 1 features, but RunningScaler is expecting 2 features as input.$"):
        dense.partial_fit([[1.0]])
    both = RunningScaler(with_mean=False).fit([[1.0, 2.0], [3.0, 5.0]])
    assert_allclose(both.transform(sparse.csr_array([[1.0, 2.0]])).toarray(), both.transform([[1.0, 2.0]]))


# ------------------------------------------------------------------------------------------------------------ files


def loaded(scaler, **changes):
    again = RunningScaler(**scaler.get_params())
    for name in scaler._fitted:
        if hasattr(scaler, name):
            setattr(again, name, changes.get(name, getattr(scaler, name)))
    again._check_loaded()
    return again


def test_what_was_saved_goes_on_as_if_it_had_never_stopped(X):
    half = RunningScaler().fit(X[:50])
    again = loaded(half).partial_fit(X[50:])
    assert_array_equal(again.transform(X), RunningScaler().fit(X).transform(X))
    assert_array_equal(half.mean_, RunningScaler().fit(X[:50]).mean_)


@pytest.mark.parametrize(
    "change",
    [
        {"n_rows_": -1}, {"n_rows_": 1.5}, {"n_rows_": True}, {"n_rows_": 2**60}, {"n_features_in_": 5},
        {"n_features_in_": "6"}, {"centred_": 1}, {"n_stored_": np.full(6, 102.0)}, {"n_stored_": np.full(6, -1.0)},
        {"n_missing_": np.full(6, 99.0)}, {"stored_mean_": np.full(6, np.inf)}, {"stored_m2_": np.full(6, np.nan)},
        {"stored_m2_": np.full(6, -1.0)}, {"stored_m2_": np.zeros((6, 1))}, {"stored_m2_": np.zeros(6, np.float32)},
        {"stored_m2_": [0.0] * 6}, {"n_missing_": None},
    ],
)  # fmt: skip
def test_a_file_that_does_not_hold_together_is_refused(X, change):
    with pytest.raises(ValueError, match=r"\.$"):
        loaded(RunningScaler().fit(X), **change)


def test_a_constant_column_is_centred_or_kept_as_it_is():
    X = np.array([[7.0, 1.0], [7.0, 3.0], [7.0, 5.0]])
    assert_array_equal(RunningScaler().fit(X).transform(X), [[0, -1], [0, 0], [0, 1]])
    assert_array_equal(RunningScaler(constant="keep").fit(X).transform(X), [[7, -1], [7, 0], [7, 1]])
