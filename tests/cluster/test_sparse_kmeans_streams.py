"""Sparse K-means on rows that come in parts: batches, weights, sums, shards, files, growing width."""

from __future__ import annotations

import copy
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from reference import cluster as reference
from thresher.cluster import ClusterSums, SparseKMeans, _sweep
from thresher.cluster._lloyd import spread_rows, steps
from thresher.cluster._sweep import Data, Objective
from thresher.persistence import load_model, save_model
from thresher.streams import open_stream
from thresher.training import Interrupted, merge_models, train

METRICS = pytest.mark.parametrize("metric", ["euclidean", "cosine"])


@pytest.fixture
def blobs():
    X, labels = make_blobs(300, 8, centers=4, cluster_std=0.8, center_box=(-5, 5), random_state=2)
    X[np.abs(X) < 0.7] = 0
    return X, labels


def start_of(X, metric):
    return (normalize(X) if metric == "cosine" else X)[[0, 5, 9, 17]]


# --- batches ----------------------------------------------------------------------------------------------------------


@METRICS
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_every_batch_is_that_of_the_specification(blobs, layout, dtype, metric, alpha):
    X = blobs[0].astype(dtype)
    rows = (normalize(X) if metric == "cosine" else X).astype(float)
    start = start_of(X, metric).astype(float)
    model = SparseKMeans(4, alpha=alpha, metric=metric, init=start, batch_size=50)
    theirs = reference.in_batches(rows, start, alpha, metric == "cosine", 50)
    for begin, (centres, counts) in zip(range(0, 300, 50), theirs, strict=True):
        model.partial_fit(layout(X[begin : begin + 50]))
        assert_allclose(model.cluster_centers_, centres, atol=1e-6 if dtype is np.float32 else 1e-11)
        assert_array_equal(model.cluster_weights_, counts)
    assert model.n_samples_seen_ == 300
    assert model.n_iter_ == 6


@METRICS
def test_batches_may_be_cut_anywhere_at_multiples_of_their_size(blobs, layout, metric):
    X = layout(blobs[0])
    one = SparseKMeans(4, alpha=0.05, metric=metric, batch_size=25, init=start_of(blobs[0], metric)).partial_fit(X)
    for cuts in ([25], [50, 75, 200], list(range(25, 300, 25))):
        other = SparseKMeans(4, alpha=0.05, metric=metric, batch_size=25, init=start_of(blobs[0], metric))
        for begin, end in zip([0, *cuts], [*cuts, 300], strict=True):
            other.partial_fit(X[begin:end])
        assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        assert_allclose(other.inertia_, one.inertia_, rtol=1e-13)
        assert other.n_iter_ == one.n_iter_ == 12


def test_a_stream_finds_what_memory_finds(blobs):
    X = blobs[0][np.random.default_rng(0).permutation(300)]
    model = SparseKMeans(4, batch_size=20, random_state=0)
    for begin in range(0, 300, 60):
        model.partial_fit(X[begin : begin + 60])
    exact = SparseKMeans(4, n_init=5, random_state=0).fit(X)
    assert -model.score(X) < 1.02 * exact.inertia_


def test_learning_goes_on_after_fit(blobs):
    X, _ = blobs
    model = SparseKMeans(4, alpha=0.1, random_state=0).fit(X[:200])
    centres = model.cluster_centers_.copy()
    labels = model.predict(X[200:])
    sums = np.array([X[:200][model.labels_ == c].sum(axis=0) + X[200:][labels == c].sum(axis=0) for c in range(4)])
    counts = np.bincount(model.labels_, minlength=4) + np.bincount(labels, minlength=4)
    model.partial_fit(X[200:])
    means = sums / counts[:, None]
    assert_allclose(model.cluster_centers_, np.sign(means) * np.maximum(np.abs(means) - 0.1, 0), atol=1e-12)
    assert not np.array_equal(model.cluster_centers_, centres)


def test_a_model_stopped_and_taken_up_is_the_same(blobs, tmp_path):
    X = sparse.csr_array(blobs[0])
    whole = SparseKMeans(4, alpha=0.05, batch_size=50, random_state=0).partial_fit(X[:150]).partial_fit(X[150:])
    save_model(SparseKMeans(4, alpha=0.05, batch_size=50, random_state=0).partial_fit(X[:150]), tmp_path / "m")
    again = load_model(tmp_path / "m").partial_fit(X[150:])
    assert_array_equal(again.cluster_centers_, whole.cluster_centers_)
    assert again.inertia_ == whole.inertia_
    assert again.progressive_loss_ == whole.inertia_ / 300


def test_a_bad_batch_changes_nothing(blobs):
    X, _ = blobs
    model = SparseKMeans(4, random_state=0).partial_fit(X[:100])
    before = copy.deepcopy(vars(model))
    for bad in (X[:5, :3], np.full((2, 8), np.nan), [["a"] * 8]):
        with pytest.raises(ValueError, match=r"SparseKMeans|features"):
            model.partial_fit(bad)
    for name, value in before.items():
        assert_array_equal(getattr(model, name), value)
    with pytest.raises(ValueError, match=r"n_clusters must be at most the number of rows \(n_samples=3\), got 4\."):
        SparseKMeans(4).partial_fit(X[:3])


def test_a_centre_that_no_row_has_joined_stays(blobs):
    far = np.full((1, 8), 1e3)
    model = SparseKMeans(4, init=np.vstack([start_of(blobs[0], "euclidean")[:3], far])).partial_fit(blobs[0])
    assert_array_equal(model.cluster_centers_[3], far[0])
    assert model.cluster_weights_[3] == 0
    model.partial_fit(far + 1)
    assert_array_equal(model.cluster_centers_[3], far[0] + 1)


def test_width_may_grow(blobs):
    X = sparse.csr_array(blobs[0])
    narrow, wide = X[:150, :5], X[150:]
    model = SparseKMeans(4, alpha=0.05, init=start_of(blobs[0], "euclidean")[:, :5]).partial_fit(narrow, grow=True)
    model.partial_fit(wide, grow=True).partial_fit(narrow[:20], grow=True)
    assert model.cluster_centers_.shape == (4, 8)
    padded = sparse.csr_array(sparse.hstack([narrow, sparse.csr_array((150, 3))]))
    init = start_of(blobs[0], "euclidean") * (np.arange(8) < 5)
    same = SparseKMeans(4, alpha=0.05, init=init).partial_fit(padded)
    same.partial_fit(wide).partial_fit(padded[:20])
    assert_allclose(model.cluster_centers_, same.cluster_centers_, atol=1e-12)
    assert_array_equal(model.predict(narrow), same.predict(padded))
    model.partial_fit(wide[:5])
    assert_array_equal(model.predict(narrow), same.partial_fit(wide[:5]).predict(padded))
    with pytest.raises(ValueError, match="X has 5 features"):
        same.predict(narrow)


# --- weights ----------------------------------------------------------------------------------------------------------


@METRICS
def test_a_weight_is_so_many_rows(blobs, layout, metric):
    X, _ = blobs
    weight = np.random.default_rng(0).integers(0, 4, size=300)
    start = start_of(X, metric)
    options = {"alpha": 0.05, "metric": metric, "init": start, "batch_size": 1000}
    weighted = SparseKMeans(4, **options).fit(layout(X), sample_weight=weight)
    repeated = SparseKMeans(4, **options).fit(layout(np.repeat(X, weight, axis=0)))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-11)
    assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-11)
    assert_array_equal(weighted.labels_, repeated.predict(layout(X)))
    assert_allclose(weighted.score(X, sample_weight=weight), repeated.score(np.repeat(X, weight, axis=0)), rtol=1e-11)
    weighted = SparseKMeans(4, **options).partial_fit(layout(X), sample_weight=weight)
    repeated = SparseKMeans(4, **options).partial_fit(layout(np.repeat(X, weight, axis=0)))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-11)


def test_rows_of_weight_0_are_absent(blobs):
    X, _ = blobs
    weight = (np.arange(300) % 3 > 0).astype(float)
    model = SparseKMeans(4, random_state=0).fit(X, sample_weight=weight)
    without = SparseKMeans(4, random_state=0).fit(X[weight > 0])
    assert_array_equal(model.cluster_centers_, without.cluster_centers_)
    assert_array_equal(model.labels_[weight > 0], without.labels_)
    with pytest.raises(ValueError, match=r"SparseKMeans: sample_weight must hold a weight above 0, got only zeros\."):
        SparseKMeans(4).fit(X, sample_weight=np.zeros(300))


# --- sums -------------------------------------------------------------------------------------------------------------


@METRICS
def test_steps_by_sums_are_those_of_fit(blobs, layout, metric):
    """Rows in five places, one step after the other: the centres of fit after as many."""
    X, _ = blobs
    options = {"alpha": 0.05, "metric": metric, "tol": 0.0}
    start = SparseKMeans(4, max_iter=1, init=start_of(X, metric), **options).fit(X)
    model = copy.deepcopy(start)
    for n_steps in range(2, 6):
        sums = sum(model.cluster_sums(layout(X[begin : begin + 60])) for begin in range(0, 300, 60))
        assert_allclose(sums.cost, model.inertia_ if n_steps == 2 else -model.score(X), rtol=1e-10)
        model.move_centres(sums)
        fitted = SparseKMeans(4, max_iter=n_steps, init=start_of(X, metric), **options).fit(X)
        if fitted.n_iter_ < n_steps:
            break
        assert_allclose(model.cluster_centers_, fitted.cluster_centers_, atol=1e-11)
    assert n_steps > 2


def test_sums_that_do_not_fit_are_refused(blobs):
    X, _ = blobs
    model = SparseKMeans(4, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"sums must be ClusterSums of shape \(4, 8\)"):
        model.move_centres(SparseKMeans(3, random_state=0).fit(X).cluster_sums(X))
    with pytest.raises(ValueError, match=r"got \(4, 8\) and \(3, 8\)"):
        model.cluster_sums(X) + SparseKMeans(3, random_state=0).fit(X).cluster_sums(X)
    with pytest.raises(TypeError):
        model.cluster_sums(X) + 1


def test_a_centre_without_rows_stays(blobs):
    X, _ = blobs
    model = SparseKMeans(4, random_state=0).fit(X)
    none = ClusterSums(np.zeros((4, 8)), np.zeros(4), 0.0, 0)
    before = model.cluster_centers_
    assert_array_equal(model.move_centres(none).cluster_centers_, before)


# --- shards -----------------------------------------------------------------------------------------------------------


@METRICS
def test_shards_add_up(blobs, metric):
    X = blobs[0]
    start = SparseKMeans(4, alpha=0.05, metric=metric, batch_size=1000, random_state=0).partial_fit(X[:60])
    shards = [copy.deepcopy(start).partial_fit(X[begin : begin + 80]) for begin in (60, 140, 220)]
    merged = merge_models(shards, start=start)
    together = copy.deepcopy(start).partial_fit(X[60:])  # one batch: all rows join the same centres
    assert_allclose(merged.cluster_centers_, together.cluster_centers_, atol=1e-11)
    assert_allclose(merged.inertia_, together.inertia_, rtol=1e-12)
    assert merged.n_samples_seen_ == 300
    assert_array_equal(merge_models(shards[::-1], start=start).cluster_centers_, merged.cluster_centers_)
    alone = merge_models(shards[:1], start=start)
    assert_array_equal(alone.cluster_centers_, shards[0].cluster_centers_)


def test_only_models_alike_are_merged(blobs):
    a, b = (SparseKMeans(4, alpha=alpha, random_state=0).fit(blobs[0]) for alpha in (0.0, 0.1))
    with pytest.raises(ValueError, match="parameters differ"):
        merge_models([a, b])


# --- threads and files ------------------------------------------------------------------------------------------------


@METRICS
def test_the_number_of_threads_leaves_no_trace(layout, metric, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 20)) * (np.arange(20) % 3 > 0)
    monkeypatch.setattr(_sweep, "_WORK", 1 << 14)
    found = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda n=n_threads: n)
        found.append(SparseKMeans(6, alpha=0.01, metric=metric, max_iter=5, random_state=0).fit(layout(X)))
    for other in found[1:]:
        assert_array_equal(other.cluster_centers_, found[0].cluster_centers_)
        assert_array_equal(other.objective_history_, found[0].objective_history_)


@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_a_file_is_learned_from_in_parts_and_resumed(blobs, tmp_path, kind):
    X, _ = blobs
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        pd.DataFrame(X, columns=list("abcdefgh")).to_csv(path, index=False)
        options = {"target": None}
    else:
        lines = ["0 " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) for x in X]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options = {}

    def stream():
        return open_stream(path, batch_size=60, max_iter=2, **options)

    model = SparseKMeans(4, alpha=0.05, batch_size=30, random_state=0)
    run = train(copy.deepcopy(model), stream())
    assert run.model.n_samples_seen_ == 600
    assert run.facts.n_rows == 300
    batches = iter([False, False, False, True])
    with pytest.raises(Interrupted):
        train(
            copy.deepcopy(model),
            stream(),
            checkpoint=tmp_path / "c",
            checkpoint_seconds=0,
            should_stop=lambda: next(batches),
        )
    resumed = train(copy.deepcopy(model), stream(), checkpoint=tmp_path / "c", resume=True)
    assert_array_equal(resumed.model.cluster_centers_, run.model.cluster_centers_)
    assert resumed.model.inertia_ == run.model.inertia_


# --- starts with weights ----------------------------------------------------------------------------------------------


def test_starts_are_drawn_by_weights_and_costs():
    """From 0, the others cost 1 and 9: with weights 27 and 1 they are drawn with chances 3/4 and 1/4; of two draws the
    one counts that leaves less, 27 * 0 + 9 after the first and 27 * 1 after the second: the first, unless both are the
    second."""
    X, weight = np.array([[0.0], [1.0], [3.0]]), np.array([12.0, 27.0, 1.0])
    starts = [spread_rows(X, 2, np.random.default_rng(seed), weight).ravel() for seed in range(2000)]
    firsts = np.array([first for first, _ in starts])
    assert abs(np.mean(firsts == 0) - 0.3) < 0.04
    assert abs(np.mean(firsts == 1) - 0.675) < 0.04
    seconds = np.array([second for first, second in starts if first == 0])
    assert abs(np.mean(seconds == 3) - 1 / 16) < 0.03


def test_an_empty_cluster_gets_the_row_that_gains_most_by_its_weight():
    X = np.array([[0.0], [0.0], [5.0], [4.0]])
    weight = np.array([10.0, 10.0, 1.0, 3.0])
    start = np.zeros((2, 1))
    step = next(steps(Objective(0.0, False), Data.of(X, start, weight), start))
    assert_allclose(np.sort(step.centres.ravel()), [5 / 21, 4.0])


# --- corners ----------------------------------------------------------------------------------------------------------


def test_models_without_a_common_start_are_not_merged(blobs):
    """Cluster 0 of one is not cluster 0 of the other."""
    X, _ = blobs
    a, b = (SparseKMeans(4, random_state=0).partial_fit(part) for part in (X[:150], X[150:]))
    with pytest.raises(ValueError, match=r"merge_models: to match their clusters, .*; give start\."):
        merge_models([a, b])
    init = start_of(X, "euclidean")  # the same centres for all: a start in common
    a, b = (SparseKMeans(4, init=init, batch_size=1000).partial_fit(part) for part in (X[:150], X[150:]))
    together = SparseKMeans(4, init=init, batch_size=1000).partial_fit(X)
    assert_allclose(merge_models([a, b]).cluster_centers_, together.cluster_centers_, atol=1e-11)


def test_merged_models_may_differ_in_width_and_count_the_start_once(blobs):
    X = sparse.csr_array(blobs[0])
    start = SparseKMeans(4, batch_size=1000, random_state=0).partial_fit(X[:60, :6], grow=True)
    a = copy.deepcopy(start).partial_fit(X[60:200, :5], grow=True)
    b = copy.deepcopy(start).partial_fit(X[200:], grow=True)
    merged = merge_models([a, b], start=start)
    assert merged.n_iter_ == 3
    assert merged.n_features_in_ == 8
    rows = sparse.csr_array(sparse.vstack([X[60:200] * (np.arange(8) < 5), X[200:]]))
    together = copy.deepcopy(start).partial_fit(rows, grow=True)
    assert_allclose(merged.cluster_centers_, together.cluster_centers_, atol=1e-11)


def test_features_of_other_names_are_not_merged(blobs):
    frame = pd.DataFrame(blobs[0], columns=list("abcdefgh"))
    init = start_of(blobs[0], "euclidean")
    a = SparseKMeans(4, init=init).partial_fit(frame)
    b = SparseKMeans(4, init=init).partial_fit(frame[list("bacdefgh")])
    with pytest.raises(ValueError, match=r"merge_models: the models must have the same feature names"):
        merge_models([a, b])


@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e-7, 1.0, 1e20, 1e90])
def test_only_the_direction_counts_for_the_cosine(blobs, layout, scale):
    X = blobs[0]
    expected = SparseKMeans(4, alpha=0.1, metric="cosine", random_state=0).fit(X)
    found = SparseKMeans(4, alpha=0.1, metric="cosine", random_state=0).fit(layout(X * scale))
    assert_array_equal(found.labels_, expected.labels_)
    assert_allclose(found.cluster_centers_, expected.cluster_centers_, atol=1e-12)
    assert_array_equal(expected.predict(layout(X * scale)), expected.labels_)
    small = (X * min(scale, 1e18) if scale > 1 else X * max(scale, 1e-30)).astype(np.float32)
    assert_allclose(expected.transform(layout(small)), expected.transform(X), atol=1e-5)


def test_clusters_and_metric_stay_between_batches(blobs, tmp_path):
    X, _ = blobs
    model = SparseKMeans(4, random_state=0).partial_fit(X)
    for changes, said in [({"n_clusters": 5}, "4 and 'euclidean', got 5 and"), ({"metric": "cosine"}, "and 'cosine'.")]:
        with pytest.raises(ValueError, match="n_clusters and metric must be those of the calls before") as refusal:
            copy.deepcopy(model).set_params(**changes).partial_fit(X)
        assert said in str(refusal.value)
    huge = SparseKMeans(3, alpha=1e100, init=X[:3]).partial_fit(X)
    save_model(huge, tmp_path / "m")
    assert load_model(tmp_path / "m").inertia_ == huge.inertia_ < np.inf


def test_the_progressive_loss_is_a_mean_whatever_the_weights(blobs):
    X, _ = blobs
    plain = SparseKMeans(4, init=X[:4]).partial_fit(X)
    light = SparseKMeans(4, init=X[:4]).partial_fit(X, sample_weight=np.full(300, 1e-5))
    assert_allclose(light.progressive_loss_, plain.progressive_loss_, rtol=1e-9)


def test_sums_of_no_sense_change_nothing(blobs):
    model = SparseKMeans(4, random_state=0).fit(blobs[0])
    good = model.cluster_sums(blobs[0])
    before = model.cluster_centers_.copy()
    for bad in (
        ClusterSums(good.sums * np.nan, good.weights, 0.0, 1),
        ClusterSums(good.sums, -good.weights, 0.0, 1),
        ClusterSums(good.sums, good.weights[:2], 0.0, 1),
    ):
        with pytest.raises(ValueError, match="SparseKMeans: sums must"):
            model.move_centres(bad)
    assert_array_equal(model.cluster_centers_, before)


def test_a_batch_of_absent_rows_changes_nothing(blobs):
    X, _ = blobs
    model = SparseKMeans(4, random_state=0).partial_fit(X)
    before = model.cluster_centers_.copy()
    model.partial_fit(X[:20], sample_weight=np.zeros(20))
    assert_array_equal(model.cluster_centers_, before)
    assert model.n_samples_seen_ == 300


@pytest.mark.parametrize("init", [[[1.0, 2.0]], [[1.0], [2.0, 3.0]], [["a"] * 8] * 4, np.full((4, 8), np.nan)])
def test_a_bad_start_is_refused_by_its_name(blobs, init):
    with pytest.raises(ValueError, match=r"SparseKMeans: init must be numbers of shape \(4, 8\), got"):
        SparseKMeans(4, init=init).fit(blobs[0])
