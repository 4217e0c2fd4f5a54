"""ColumnSplines against its twin, scikit-learn's SplineTransformer, and the laws of transformers."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import splines as reference
from thresher import dual_averaging, online
from thresher._gate import Table, Text
from thresher.inspection import groups_in_use
from thresher.persistence import load_model, save_model
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder, prepared


@parametrize_with_checks([ColumnSplines(), ColumnSplines(3, pairs="all")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    """A usual column, a heavy tail with ties, 0/1, three values, a constant, gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(101, 6))
    X[:, 1] = np.where(rng.random(101) < 0.6, 0.0, np.exp(3 * X[:, 1]))
    X[:, 2] = X[:, 2] > 0
    X[:, 3] = rng.integers(0, 3, size=101)
    X[:, 4] = 7.0
    X[rng.random(101) < 0.2, 5] = np.nan
    return X


def beyond(X):
    """Rows within the range of X and beyond it."""
    return np.concatenate([X[::7], np.nanmin(X, axis=0)[None] - 2, np.nanmax(X, axis=0)[None] + 3])


def table_of(X):
    text = Text.from_list([f"t{i % 3}" for i in range(len(X))])
    return Table(["a", "b", "word", "c", "d", "e", "f"], X, {"word": text})


# --- features --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_knots", [2, 3, 8])
def test_features_are_those_of_the_recursion(X, n_knots, dtype):
    X = X.astype(dtype)
    features = ColumnSplines(n_knots).fit(X).transform(beyond(X))
    expected = reference.fit_transform(X.astype(float), n_knots, beyond(X).astype(float))
    assert features.dtype == dtype
    assert_allclose(
        features, expected, rtol=1e-12 if dtype == np.float64 else 2e-5, atol=1e-12 if dtype == np.float64 else 1e-5
    )


def test_products_of_pairs_are_those_of_the_twin(X):
    splines = ColumnSplines(pairs=[(0, 1), (5, 0)]).fit(X)
    expected = reference.pair_features(X, 8, [(0, 1), (0, 5)], beyond(X))
    assert_allclose(splines.transform(beyond(X))[:, -8:], expected, rtol=1e-12, atol=1e-12)
    assert splines.get_feature_names_out()[-5:].tolist() == ["x1:x2 4", "x1:x6 1", "x1:x6 2", "x1:x6 3", "x1:x6 4"]


def test_they_span_the_splines_of_scikit_learn():
    X = np.random.default_rng(1).normal(size=(300, 1))
    splines = ColumnSplines().fit(X)
    knots = splines.knots_["x1"]
    peer = SplineTransformer(degree=2, knots=knots[:, None], extrapolation="linear").fit(X)
    Z = np.linspace(-6, 6, 200)[:, None]
    mine, theirs = (np.column_stack([np.ones(200), t.transform(Z)]) for t in (splines, peer))
    coefficients, *_ = np.linalg.lstsq(mine, theirs, rcond=None)
    assert_allclose(mine @ coefficients, theirs, atol=1e-9)
    assert np.linalg.matrix_rank(mine) == 9


def test_splines_have_the_mean_0(X):
    splines = ColumnSplines().fit(X)
    features, made = splines.transform(X), ["spline" in name for name in splines.get_feature_names_out()]
    assert_allclose(features[:, made].sum(axis=0), 0, atol=1e-10)


def test_columns_of_few_values_have_few_features(X):
    names = ColumnSplines().fit(X).get_feature_names_out().tolist()
    per_column = [sum(name.split()[0] == f"x{j + 1}" for name in names) for j in range(6)]
    assert per_column[0] == per_column[5] == 10
    assert 5 <= per_column[1] < 10  # ties make knots coincide
    assert per_column[2:5] == [1, 4, 1]


def test_a_missing_number_is_left_to_the_encoder(X):
    splines = ColumnSplines().fit(X)
    row = np.full((1, 6), np.nan)
    features = splines.transform(row)[0]
    first = [" spline " not in name for name in splines.get_feature_names_out()]
    assert np.isnan(features[first]).all()
    assert (features[~np.array(first)] == 0).all()
    encoder = TableEncoder(missing="indicator").fit(splines.transform(X))
    names = encoder.get_feature_names_out(splines.get_feature_names_out())
    assert [name for name in names if name.endswith("is missing")] == ["x6 is missing"]


def test_text_is_passed_on_and_columns_keep_their_names(X):
    table = table_of(X)
    splines = ColumnSplines().fit(table)
    made = splines.transform(table[:5])
    assert made.columns == splines.get_feature_names_out().tolist()
    assert made.columns[:2] == ["a", "a spline 1"]
    assert made["word"].to_list() == table["word"][:5].to_list()
    assert splines.feature_names_in_.tolist() == table.columns
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(word="t")
    assert_array_equal(ColumnSplines().fit(frame).transform(frame[:5]).numbers, made.numbers)


def test_tiny_and_huge_columns_stay_finite():
    X = np.array([[0.0, 1e100], [1e-300, -1e100], [2e-300, 0.0], [3e-300, 1.0]])
    features = ColumnSplines().fit(X).transform(np.array([[1e100, 1e100], [-1e100, 0.0]]))
    assert np.isfinite(features).all()


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (sparse.csr_array(np.eye(3)), "splines of sparse rows would be dense"),
        (np.array([[1.0, np.inf]]), "finite numbers, got inf in row 0, column 1"),
        (np.array([[1.0, 1e101]]), "numbers up to 1e100 in size"),
        (Table(["a"], np.empty((1, 0)), {"a": Text.from_list(["x"])}), "must have a column of numbers"),
    ],
)
def test_rows_that_are_refused(rows, says):
    with pytest.raises(ValueError, match=says):
        ColumnSplines().fit(rows)
    with pytest.raises(NotFittedError):
        ColumnSplines().transform(np.eye(2))


def test_infinite_values_are_refused_when_features_are_made(X):
    splines = ColumnSplines().fit(X)
    bad = X[:3].copy()
    bad[1, 2] = -np.inf
    with pytest.raises(ValueError, match="got -inf in row 1, column 2"):
        splines.transform(bad)


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ([("a", "z")], "pairs must name columns of numbers, got 'z'"),
        ([("a", "word")], "pairs must name columns of numbers, got 'word'"),
        ([(0, 6)], "pairs must name columns of numbers, got 6"),
        ([("a", "b"), ("b", "a")], "each pair once"),
        ([("a", "a")], "two different columns"),
        ("some", 'pairs must be None or "all" or a list of pairs of columns'),
    ],
)
def test_pairs_that_are_refused(X, pairs, says):
    with pytest.raises(ValueError, match=says):
        ColumnSplines(pairs=pairs).fit(table_of(X))


def test_other_columns_are_refused(X):
    splines = ColumnSplines().fit(table_of(X))
    with pytest.raises(ValueError, match="with 'a' in its place"):
        splines.transform(table_of(X).select(["b", "a", "c", "d", "e", "f"]))
    with pytest.raises(ValueError, match="X has 2 features, but ColumnSplines is expecting 6 features"):
        splines.transform(np.eye(2))


# --- streams, shards and files ---------------------------------------------------------------------------------------


def fitted_in(parts):
    splines = ColumnSplines(pairs=[(0, 1)])
    for part in parts:
        splines.partial_fit(part)
    return splines


def assert_same_knots(a, b):
    assert a.knots_.keys() == b.knots_.keys()
    for name, knots in a.knots_.items():
        assert_array_equal(knots, b.knots_[name])


@pytest.mark.parametrize("sizes", [[101], [1, 50, 50], [40, 1, 60], [100, 1]])
def test_any_chunking_gives_the_same_features(X, sizes):
    parts = np.split(X, np.cumsum(sizes)[:-1])
    splines, whole = fitted_in(parts), ColumnSplines(pairs=[(0, 1)]).fit(X)
    assert_same_knots(splines, whole)
    assert_array_equal(splines.transform(X), whole.transform(X))
    assert_array_equal(np.concatenate([splines.transform(part) for part in parts]), whole.transform(X))
    assert splines.n_rows_seen_ == 101


def test_the_first_ten_thousand_rows_decide():
    X = np.random.default_rng(0).normal(size=(25_000, 1))
    splines = ColumnSplines()
    for begin in range(0, 25_000, 3_000):
        splines.partial_fit(X[begin : begin + 3_000])
    assert_same_knots(splines, ColumnSplines().fit(X[:10_000]))
    assert splines.knots_["x1"][-1] != X.max()
    assert_same_knots(ColumnSplines().fit(X), ColumnSplines().fit(X[::-1]))  # fit takes all


def test_knots_that_were_chosen_for_good_stay(X, tmp_path):
    splines = ColumnSplines().fit(X)
    before = splines.transform(X)
    splines.partial_fit(100 * X)
    assert_array_equal(splines.transform(X), before)
    stream = ColumnSplines().partial_fit(X[:50])
    save_model(stream, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").partial_fit(X[50:]).transform(X), stream.transform(X))


def test_shards_are_merged_as_if_read_one_after_the_other(X):
    begun = ColumnSplines(pairs="all").partial_fit(X[:3])
    shards = [deepcopy(begun._emptied()).partial_fit(part) for part in np.split(X, [30, 31])]
    rows = [part.copy() for shard in shards for part in shard._rows]
    shards[0]._merged(shards[1:])
    whole = ColumnSplines(pairs="all").fit(X)
    assert_same_knots(shards[0], whole)
    assert_array_equal(shards[0].transform(X), whole.transform(X))
    assert shards[0].n_rows_seen_ == 101
    assert_array_equal(np.concatenate(rows), X)
    with pytest.raises(ValueError, match="different knots"):
        whole._merged([ColumnSplines(pairs="all").fit(X[:50])])
    with pytest.raises(ValueError, match="the same columns"):
        shards[0]._merged([ColumnSplines().partial_fit(X[:, :2])])


@pytest.mark.parametrize("pairs", [None, "all", [("a", "d"), ("b", "c")]])
def test_a_file_keeps_the_knots_and_no_rows(X, tmp_path, pairs):
    table = table_of(X)
    splines = ColumnSplines(5, pairs=pairs).partial_fit(table)
    save_model(splines, tmp_path / "m.thresher")
    loaded = load_model(tmp_path / "m.thresher")
    assert_array_equal(loaded.transform(table).numbers, splines.transform(table).numbers)
    assert loaded.transform(table).columns == splines.transform(table).columns
    assert loaded._rows == splines._rows == []
    assert_array_equal(clone(loaded).fit(table).transform(table).numbers, splines.transform(table).numbers)


# --- in pipelines ----------------------------------------------------------------------------------------------------


def circles(n=1500):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, (X[:, 0] ** 2 + X[:, 2] ** 2 > 0.6).astype(int)


def test_a_linear_learner_behind_splines_learns_a_circle():
    X, y = circles()
    linear, curved = (prepared(online.AROWClassifier(random_state=0), X, splines=s) for s in (False, True))
    assert linear.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) < 0.7
    assert curved.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


def test_products_of_pairs_learn_what_no_sum_of_curves_can():
    X, _ = circles()
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    alone, paired = (
        prepared(online.AROWClassifier(random_state=0), X, splines=ColumnSplines(pairs=p)) for p in (None, [(0, 1)])
    )
    assert alone.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) < 0.6
    assert paired.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


def test_in_a_stream_the_first_batch_decides_and_features_keep_their_meaning():
    X, y = circles()
    model = prepared(online.AROWClassifier(random_state=0), X, splines=True)
    model.partial_fit(X[:400], y[:400], classes=[0, 1])
    knots = model["splines"].knots_["x1"]
    for begin in range(400, 1500, 300):
        model.partial_fit(3 * X[begin : begin + 300], y[begin : begin + 300])
    assert_array_equal(model["splines"].knots_["x1"], knots)
    assert_array_equal(knots, ColumnSplines().fit(X[:400]).knots_["x1"])


@pytest.mark.parametrize("as_table", [False, True])
def test_group_learners_choose_whole_columns(as_table):
    X, y = circles()
    learner = dual_averaging.GroupRDAClassifier("encoder", alpha=0.05, random_state=0)
    rows = Table(list("abcd"), X) if as_table else X
    model = prepared(learner, rows, splines=True).fit(rows, y)
    chosen = {group.name for group in groups_in_use(model)}
    assert chosen == ({"a", "c"} if as_table else {"x1", "x3"})
    assert all(len(group.features) == 10 for group in groups_in_use(model))


def test_a_gap_and_the_words_of_a_column_belong_to_groups(X):
    table = table_of(X)
    splines, encoder = ColumnSplines().fit(table), TableEncoder(missing="indicator")
    learner = dual_averaging.GroupRDAClassifier("encoder", alpha=1e-3, random_state=0)
    steps = [("splines", splines), ("scale", RunningScaler()), ("encode", encoder), ("learn", learner)]
    model = StreamingPipeline(steps).fit(table, X[:, 0] > 0)
    groups = dict(zip(model.get_feature_names_out(), learner._groups_handed, strict=True))
    assert groups["f is missing"] == groups["f spline 1"] == groups["f"] == "f"
    assert groups["word=t1"] == "word"
    assert groups["c"] == groups["e"] == ""  # on their own


def test_a_pipeline_with_splines_is_saved_and_goes_on(X, tmp_path):
    table, y = table_of(X), (X[:, 0] > 0).astype(int)
    model = prepared(online.AROWClassifier(random_state=0), table, splines=True)
    model.partial_fit(table[:60], y[:60], classes=[0, 1])
    save_model(model, tmp_path / "m.thresher")
    loaded = load_model(tmp_path / "m.thresher")
    for each in (model, loaded):
        each.partial_fit(table[60:], y[60:])
    assert_array_equal(loaded.decision_function(table), model.decision_function(table))
    assert loaded.feature_names_in_.tolist() == table.columns
