"""Transformers of shards, merged: what one would know that read the shards one after the other."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._gate._table import Table, Text
from thresher.online import PAClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.training import merge_models


def cut(n_rows, places):
    edges = [0, *sorted(places), n_rows]
    return [slice(a, b) for a, b in pairwise(edges)]


def merged(transformers):
    first, *others = deepcopy(transformers)
    before = [deepcopy(vars(other)) for other in others]
    first._merged(others)
    for other, kept in zip(others, before, strict=True):
        assert_same(vars(other), kept)  # they are not ours to change
    return first


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        if isinstance(a[name], np.ndarray):
            assert a[name].dtype == b[name].dtype
            assert_array_equal(a[name], b[name], err_msg=name)
        else:
            assert a[name] == b[name], name


# --- RunningScaler ----------------------------------------------------------------------------------------------------


def moments(scaler):
    names = ("n_rows_", "n_missing_", "n_stored_", "centred_", "n_features_in_")
    return {name: getattr(scaler, name) for name in names}


def assert_variances(scaler, expected):
    """To 1e-12, and what the rounding of a mean far from 0 costs whoever computes it."""
    far = np.abs(scaler.stored_mean_) / np.sqrt(np.where(expected > 0, expected, 1.0))
    assert (np.abs(scaler.var_ - expected) <= (1e-12 + 1e-15 * far) * expected).all()


@settings(max_examples=100, deadline=None)
@given(
    places=st.lists(st.integers(1, 59), max_size=7, unique=True),
    seed=st.integers(0, 10**6),
    is_sparse=st.booleans(),
    missing=st.booleans(),
)
def test_moments_of_shards_are_those_of_all_rows(places, seed, is_sparse, missing):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5)) * [1, 1, 1e-3, 100, 0] + [1e8, 0, 1e-3, -7, 3]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    if is_sparse:
        X[rng.random(X.shape) < 0.5] = 0
    rows = sparse.csr_array(X) if is_sparse else X
    together = merged([RunningScaler().partial_fit(rows[part]) for part in cut(60, places)])
    one = RunningScaler()
    for part in cut(60, places):
        one.partial_fit(rows[part])
    assert_same(moments(together), moments(one))
    assert_allclose(together.mean_, one.mean_, rtol=1e-12, atol=1e-13)
    assert_array_equal(together.n_samples_seen_, one.n_samples_seen_)
    assert_variances(together, one.var_)
    if (np.isfinite(X).sum(axis=0) > 1).all():
        assert_variances(together, np.where(one.var_ > 0, np.nanvar(X, axis=0, ddof=1), 0))  # by two passes


def test_a_column_far_from_0_keeps_its_deviation():
    X = 1e8 + np.tile([[-1.0], [1.0]], (500, 1))
    together = merged([RunningScaler().fit(X[part]) for part in cut(1000, [1, 3, 400, 800])])
    assert_allclose(together.var_, 1000 / 999, rtol=1e-9)
    sums = [np.sum(X[part] ** 2) for part in cut(1000, [1, 3, 400, 800])]  # what sums of squares would make of it
    assert abs((sum(sums) - X.sum() ** 2 / 1000) / 999 - 1000 / 999) > 1e-3


def test_a_shift_between_shards_counts():
    a, b = np.zeros((10, 1)), np.ones((30, 1))
    together = merged([RunningScaler().fit(a), RunningScaler().fit(b)])
    assert together.mean_ == 0.75
    assert_allclose(together.var_, np.var(np.vstack([a, b]), ddof=1), rtol=1e-15)


def test_sparse_shards_may_have_different_widths():
    X = sparse.random_array((90, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    shards = [X[:30, :4], X[30:60], X[60:, :9]]
    one = RunningScaler()
    for shard in shards:
        one.partial_fit(shard)
    for order in ([0, 1, 2], [2, 0, 1]):
        together = merged([RunningScaler().fit(shards[i]) for i in order])
        assert together.n_features_in_ == 12
        assert_allclose(together.mean_, one.mean_, rtol=1e-12)
        assert_allclose(together.var_, one.var_, rtol=1e-12)


def test_learning_goes_on_after_merging():
    X = np.random.default_rng(0).normal(size=(90, 3))
    together = merged([RunningScaler().fit(X[:30]), RunningScaler().fit(X[30:60])]).partial_fit(X[60:])
    assert_allclose(together.var_, X.var(axis=0, ddof=1), rtol=1e-12)


def test_scalers_that_do_not_belong_together_are_refused_and_stay_as_they_are():
    dense, rows = RunningScaler().fit(np.eye(3)), RunningScaler().fit(sparse.csr_array(np.eye(3)))
    named = RunningScaler().fit(Table(["a", "b", "c"], np.eye(3)))
    for first, others, words in [
        (dense, [dense, rows], "shards must be all dense or all sparse"),
        (dense, [dense, RunningScaler().fit(np.eye(4))], "shards must have the same number of columns, got 3 and 4"),
        (named, [named, RunningScaler().fit(Table(["a", "x", "c"], np.eye(3)))], "but 'b' is missing"),
    ]:
        first, before = deepcopy(first), deepcopy(vars(first))
        with pytest.raises(ValueError, match=words):
            first._merged(others)
        assert_same(vars(first), before)


# --- TableEncoder -----------------------------------------------------------------------------------------------------

JOBS = ["cook", "clerk", "", "driver", "baker", "Köln"]
WORDS = ["you are a winner call now", "are you coming home for dinner", "", "the winner takes it all the prize"]


@st.composite
def tables(draw):
    n = draw(st.integers(1, 25))
    numbers = draw(st.lists(st.sampled_from([1.0, 2.0, np.nan]), min_size=2 * n, max_size=2 * n))
    columns = [draw(st.lists(st.sampled_from(JOBS), min_size=n, max_size=n)) for _ in range(2)]
    prose = draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n))
    text = {"job": Text.from_list(columns[0]), "town": Text.from_list(columns[1]), "message": Text.from_list(prose)}
    return Table(["age", "job", "dose", "town", "message"], np.array(numbers).reshape(n, 2), text)


@settings(max_examples=150, deadline=None)
@given(
    table=tables(),
    places=st.lists(st.integers(0, 25), max_size=5),
    batch=st.integers(1, 9),
    categories=st.sampled_from(["onehot", "hash"]),
    n_buckets=st.sampled_from([3, 8, 64]),
    idf=st.booleans(),
)
def test_encoders_of_shards_know_what_one_knows_that_read_them_all(table, places, batch, categories, n_buckets, idf):
    shards = [table[part] for part in cut(len(table), [min(place, len(table)) for place in places])]
    options = {"categories": categories, "n_buckets": n_buckets, "missing": "indicator", "idf": idf}
    options["text"] = ["message"]
    one, apart = TableEncoder(**options), []
    for shard in shards:
        apart.append(TableEncoder(**options))
        for begin in range(0, max(1, len(shard)), batch):
            one.partial_fit(shard[begin : begin + batch])
            apart[-1].partial_fit(shard[begin : begin + batch])
    together = merged(apart)
    assert_same({name: getattr(together, name) for name in one._fitted}, {n: getattr(one, n) for n in one._fitted})
    assert_array_equal(together.get_feature_names_out(), one.get_feature_names_out())
    assert_array_equal(together.transform(table).toarray(), one.transform(table).toarray())
    together._check_loaded()
    assert_same(
        {n: getattr(together.partial_fit(table), n) for n in one._fitted},
        {n: getattr(one.partial_fit(table), n) for n in one._fitted},
    )


def table_of(**text):
    n = len(next(iter(text.values())))
    return Table(list(text), np.empty((n, 0)), {name: Text.from_list(values) for name, values in text.items()})


def test_what_the_first_rows_decide_can_be_handed_to_all_shards():
    prose = [f"{word} is the first of some words here" for word in "abcdef"]
    first, second = table_of(message=prose), table_of(message=["ok", "ok", "no"])
    one = TableEncoder().partial_fit(first).partial_fit(second)
    begun = TableEncoder().partial_fit(first)
    before = deepcopy(vars(begun))
    apart = [deepcopy(begun._emptied()).partial_fit(shard) for shard in (first, second)]
    assert_same(vars(begun), before)
    together = merged([begun._emptied(), *apart])
    assert_same({n: getattr(together, n) for n in one._fitted}, {n: getattr(one, n) for n in one._fitted})
    with pytest.raises(ValueError, match="'message' holds prose in one shard and words in another; name prose in text"):
        TableEncoder().fit(first)._merged([TableEncoder().fit(second)])


def test_encoders_that_do_not_belong_together_are_refused_and_stay_as_they_are():
    a, b = table_of(job=["cook", "clerk"]), table_of(job=["baker", "cook"])
    for first, other, words in [
        (TableEncoder(max_categories=2).fit(a), TableEncoder(max_categories=2).fit(b), "more than 2 different words"),
        (TableEncoder().fit(a), TableEncoder().fit(table_of(town=["Gent"])), "shards must have the same columns"),
    ]:
        before = deepcopy(vars(first))
        with pytest.raises(ValueError, match=words):
            first._merged([other])
        assert_same({n: before[n] for n in first._fitted}, {n: getattr(first, n) for n in first._fitted})


# --- pipelines --------------------------------------------------------------------------------------------------------


def test_models_whose_transformers_saw_different_rows_are_still_not_merged():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    models = [
        StreamingPipeline([("scale", RunningScaler()), ("learn", PAClassifier())]).partial_fit(X[part], y[part], [0, 1])
        for part in cut(40, [20])
    ]
    with pytest.raises(ValueError, match="RunningScaler of the models saw different data"):
        merge_models(models)
