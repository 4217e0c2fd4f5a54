"""Transformers of a pipeline and SparseKMeans over shards: what one machine would make of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher import distributed
from thresher._gate._table import Table, Text
from thresher.cluster import SparseKMeans
from thresher.kernels import FixedSizeNystroem
from thresher.online import PAClassifier
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder


@pytest.fixture
def shards():
    rng = np.random.default_rng(0)
    jobs = np.array(["cook", "clerk", "baker", "driver", ""])
    made = []
    for i in range(4):
        # The first shard alone tells that messages are prose: those of the others are short, or all the same.
        words = [f"some {a} words that {b} says here" if i == 0 else "ok" for a, b in rng.integers(0, 99, size=(30, 2))]
        text = {
            "job": Text.from_list(list(jobs[rng.integers(i // 2, 3 + i // 2, size=30)])),
            "say": Text.from_list(words),
        }
        made.append((Table(["age", "job", "say"], rng.normal(size=(30, 1)) + i, text), rng.integers(0, 2, size=30)))
    return made


def test_transformers_are_those_of_one_machine(shards):
    steps = [("scale", RunningScaler()), ("encode", TableEncoder(n_buckets=64)), ("learn", PAClassifier())]
    model = distributed.fit(StreamingPipeline(steps), shards)
    scaler, encoder = RunningScaler(), TableEncoder(n_buckets=64)
    for X, _ in shards:
        scaler.partial_fit(X)
    for X, _ in shards:
        encoder.partial_fit(scaler.transform(X))
    assert encoder.kinds_ == model[1].kinds_ == "nct"
    assert_allclose(model[0].mean_, scaler.mean_, rtol=1e-12)
    assert_allclose(model[0].var_, scaler.var_, rtol=1e-12)
    for name in encoder._fitted:
        assert_array_equal(getattr(model[1], name), getattr(encoder, name))
    assert model[2].n_samples_seen_ == 120


def test_landmarks_are_chosen_among_the_first_rows():
    rng = np.random.default_rng(0)
    shards = [(rng.normal(size=(50, 3)), rng.integers(0, 2, size=50)) for _ in range(3)]
    landmarks = FixedSizeNystroem(n_components=10, random_state=0)
    model = distributed.fit(StreamingPipeline([("map", landmarks), ("learn", PAClassifier())]), shards)
    alone = FixedSizeNystroem(n_components=10, random_state=0).partial_fit(shards[0][0])
    assert_array_equal(model[0].transform(shards[1][0]), alone.transform(shards[1][0]))


def test_knots_are_chosen_by_the_rows_of_all_shards(shards):
    steps = [("splines", ColumnSplines()), ("scale", RunningScaler()), ("encode", TableEncoder(n_buckets=64))]
    model = distributed.fit(StreamingPipeline([*steps, ("learn", PAClassifier())]), shards)
    whole = Table.concat([X for X, _ in shards])
    assert_array_equal(model[0].knots_["age"], ColumnSplines().fit(whole).knots_["age"])
    assert_array_equal(model[0].transform(whole).numbers, ColumnSplines().fit(whole).transform(whole).numbers)


def test_clusters_are_those_of_one_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) + 3 * rng.integers(0, 3, size=(400, 1))
    start = X[[0, 0, 0, 7]]  # three clusters have no rows at first
    fitted = SparseKMeans(4, init=start, alpha=0.05).fit(X)
    model = distributed.fit(SparseKMeans(4, init=start, alpha=0.05), [X[:10], X[10:11], X[11:]])
    assert_allclose(model.cluster_centers_, fitted.cluster_centers_, atol=1e-12)
    assert_allclose(model.objective_history_, fitted.objective_history_, rtol=1e-12)
    assert model.n_iter_ == fitted.n_iter_ == len(model.record_["distributed"]["rounds"])
    assert model.record_["distributed"]["done"]


def test_a_start_from_other_rows_lends_its_centres():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) + 3 * rng.integers(0, 3, size=(300, 1))
    start = SparseKMeans(3, random_state=0).fit(X[:100] / 10)
    model = distributed.fit(SparseKMeans(3, random_state=0), [X[:100], X[100:]], start=start)
    fitted = SparseKMeans(3, init=start.cluster_centers_).fit(X)
    assert_allclose(model.cluster_centers_, fitted.cluster_centers_, atol=1e-12)
    assert len(start.objective_history_) == start.n_iter_  # it is not ours to change
