"""Sparse K-means in rounds over rows that are elsewhere: the steps of ``fit``, however rows are divided."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from reference.rounds import run_round
from thresher import distributed
from thresher._engine import ShardFacts, join
from thresher.cluster import SparseKMeans
from thresher.cluster._kmeans_rounds import Fill, Sweep, filled
from thresher.cluster._lloyd import fill_empty, sum_rows
from thresher.cluster._sweep import Data, Objective
from thresher.persistence import load_model, save_model

METRICS = pytest.mark.parametrize("metric", ["euclidean", "cosine"])


@pytest.fixture
def blobs():
    X, _ = make_blobs(400, 8, centers=5, cluster_std=4.0, center_box=(-5, 5), random_state=2)
    X[np.abs(X) < 0.7] = 0
    return X


def start_of(X, metric, places=(0, 5, 9, 17)):
    return (normalize(X) if metric == "cosine" else X)[list(places)].astype(float)


def cut(X, weight, *places):
    """Batches of rows."""
    edges = [0, *sorted(places), X.shape[0]]
    for begin, end in pairwise(edges):
        yield X[begin:end], None, None if weight is None else weight[begin:end]


def in_rounds(model, X, n_rounds, weight=None, places=(30, 31, 200), sample=None):
    facts = ShardFacts(X.shape[0], X.shape[1], sample=sample)
    for _ in range(n_rounds):
        if run_round(model, facts, cut(X, weight, *places)):
            break
    return model


def assert_same(model, fitted, X, tol=1e-12):
    assert model.n_iter_ == fitted.n_iter_
    scale = np.abs(fitted.cluster_centers_).max()
    assert_allclose(model.cluster_centers_, fitted.cluster_centers_, atol=tol * scale, rtol=0)
    assert_array_equal(model.cluster_centers_ != 0, fitted.cluster_centers_ != 0)
    assert_allclose(model.objective_history_, fitted.objective_history_, rtol=tol)
    assert_allclose(model.cluster_weights_, fitted.cluster_weights_, rtol=tol)
    assert_allclose(model._sums, fitted._sums, rtol=tol, atol=tol * np.abs(fitted._sums).max())
    assert model.inertia_ == model.objective_history_[-1]
    assert (model.n_samples_seen_, model.n_features_in_) == (fitted.n_samples_seen_, fitted.n_features_in_)
    assert_array_equal(model.predict(X), fitted.labels_)
    assert not hasattr(model, "labels_")


# --- the steps of fit -------------------------------------------------------------------------------------------------


@METRICS
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_are_the_steps_of_fit(blobs, layout, dtype, metric, alpha, weighted):
    X = layout(blobs.astype(dtype))
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=400) if weighted else None
    options = {"alpha": alpha, "metric": metric, "init": start_of(blobs, metric), "tol": 0.0}
    for n_rounds in (1, 2, 3, 100):
        fitted = SparseKMeans(4, max_iter=n_rounds, **options).fit(X, sample_weight=weight)
        model = in_rounds(SparseKMeans(4, **options), X, n_rounds, weight)
        assert_same(model, fitted, X, 1e-6 if dtype is np.float32 and metric == "cosine" else 1e-12)
    assert 3 < fitted.n_iter_ < 100  # it settled, and later than the others stopped


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    places=st.lists(st.integers(0, 120), max_size=9),
    k=st.integers(1, 7),
    tol=st.sampled_from([0.0, 1e-4, 1e-2, 0.2]),
    alpha=st.sampled_from([0.0, 0.2]),
    metric=st.sampled_from(["euclidean", "cosine"]),
    far=st.sampled_from([0.0, 1e4]),
)
def test_any_division_stops_at_the_step_of_fit(seed, places, k, tol, alpha, metric, far):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3)) + rng.integers(0, 3, size=(120, 1))
    X += far if metric == "euclidean" else 0.0  # far away, all directions are one
    start = start_of(X, metric, rng.permutation(120)[:k])
    options = {"alpha": alpha, "metric": metric, "init": start, "tol": tol}
    fitted = SparseKMeans(k, **options).fit(X)
    assert_same(in_rounds(SparseKMeans(k, **options), X, 100, places=places), fitted, X, 1e-10)


def test_a_round_says_whether_it_was_the_last(blobs):
    model = SparseKMeans(4, init=start_of(blobs, "euclidean"), tol=1e-2)
    facts, ends = ShardFacts(*blobs.shape), []
    while not ends or not ends[-1]:
        ends.append(run_round(model, facts, cut(blobs, None, 100)))
    assert len(ends) == model.n_iter_ == SparseKMeans(4, init=model.init, tol=1e-2).fit(blobs).n_iter_
    model.set_params(tol=0.0)
    while not run_round(model, facts, cut(blobs, None, 100)):
        pass
    settled, n_iter = model.cluster_centers_.copy(), model.n_iter_
    assert run_round(model, facts, cut(blobs, None, 100))
    assert_array_equal(model.cluster_centers_, settled)
    assert model.n_iter_ == n_iter


def test_the_round_after_which_no_row_has_moved_is_the_last(blobs):
    start = start_of(blobs, "euclidean")
    fitted = SparseKMeans(4, init=start, tol=0.0).fit(blobs)
    model, facts = SparseKMeans(4, init=start, tol=0.0), ShardFacts(*blobs.shape)
    ends = [run_round(model, facts, cut(blobs, None, 100)) for _ in range(fitted.n_iter_)]
    assert ends == [False] * (fitted.n_iter_ - 1) + [True]
    assert model.n_iter_ == fitted.n_iter_


def test_rounds_go_on_from_a_file(blobs, tmp_path):
    options = {"init": start_of(blobs, "euclidean"), "tol": 0.0, "alpha": 0.05}
    never_stopped = in_rounds(SparseKMeans(4, **options), blobs, 6)
    model = in_rounds(SparseKMeans(4, **options), blobs, 3)
    save_model(model, tmp_path / "m.thresher")
    resumed = in_rounds(load_model(tmp_path / "m.thresher"), blobs, 3)
    assert_array_equal(resumed.cluster_centers_, never_stopped.cluster_centers_)
    assert_array_equal(resumed.objective_history_, never_stopped.objective_history_)
    save_model(resumed, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher")._sums, never_stopped._sums)


def test_a_round_can_be_replayed(blobs):
    """A driver that was lost in the middle of a round sends the totals it kept to a new one."""
    facts = ShardFacts(*blobs.shape, sample=(blobs[::3], None))
    batches = list(cut(blobs, None, 120))
    for seed in (None, 3, np.random.default_rng(7), np.random.RandomState(7)):
        model, kept = SparseKMeans(6, random_state=seed), []
        steps, question = model._round(facts), None
        asked = [next(steps)]
        try:
            while True:
                question = pickle.loads(pickle.dumps(asked[-1]))  # it travels
                total = None
                for batch in batches:
                    total = join(question, total, question.answer(*batch))
                kept.append(total)
                asked.append(steps.send(total))
        except StopIteration:
            pass
        again = model.__class__(6, random_state=seed)
        steps = again._round(facts)
        for n, question in enumerate(asked):
            replayed = next(steps) if n == 0 else steps.send(kept[n - 1])
            assert_array_equal(replayed.centres, question.centres)
        with pytest.raises(StopIteration):
            steps.send(kept[-1])
        assert_array_equal(again.cluster_centers_, model.cluster_centers_)


def test_an_interrupted_round_changes_nothing(blobs):
    model = in_rounds(SparseKMeans(4, init=start_of(blobs, "euclidean")), blobs, 2)
    before = pickle.dumps(vars(model))
    next(model._round(ShardFacts(*blobs.shape)))
    assert pickle.dumps(vars(model)) == before
    fresh = SparseKMeans(4, init=start_of(blobs, "euclidean"))
    steps = fresh._round(ShardFacts(*blobs.shape))
    steps.send(next(steps).answer(blobs, None, None))
    assert not hasattr(fresh, "cluster_centers_")
    assert not hasattr(fresh, "n_features_in_")


# --- clusters that lose their rows ------------------------------------------------------------------------------------


@METRICS
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_cluster_without_rows_is_given_the_row_that_fit_gives_it(blobs, layout, metric, alpha, weighted):
    start = start_of(blobs, metric, [0, 0, 0, 9, 9, 17])  # of equal centres one gets all rows
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.5], size=400) if weighted else None
    X = layout(blobs)
    for n_rounds in (1, 3, 100):
        options = {"alpha": alpha, "metric": metric, "init": start, "tol": 0.0}
        fitted = SparseKMeans(6, max_iter=n_rounds, **options).fit(X, sample_weight=weight)
        for places in ((), (1, 2, 3, 4, 5), (30, 250), range(1, 400, 7)):
            model = in_rounds(SparseKMeans(6, **options), X, n_rounds, weight, places)
            assert_same(model, fitted, X)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_rows_that_fill_clusters_are_those_of_one_machine(data):
    n, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
    values = st.sampled_from([-2.0, 0.0, 1.0, 1.0, 4.0])
    X = np.array(data.draw(st.lists(st.lists(values, min_size=2, max_size=2), min_size=n, max_size=n)))
    centres = np.array(data.draw(st.lists(st.lists(values, min_size=2, max_size=2), min_size=k, max_size=k)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 1e-9]), min_size=n, max_size=n)))
    places = data.draw(st.lists(st.integers(0, n), max_size=4))
    plain, objective = Objective(0.0, False), Objective(0.25, False)
    rows = Data.of(X, centres, weight)
    swept = plain.sweep(rows, centres)
    expected = fill_empty(swept.labels, (plain.assign(rows, centres)[1] - objective.alone(rows)) * weight, k)
    question, total = Fill(centres, plain, objective), None
    for batch in cut(X, weight, *places):
        total = join(question, total, question.answer(*batch))
    found = filled(total)
    if np.array_equal(expected, swept.labels):
        assert found is None
    else:
        sums, weights = sum_rows(rows, expected, k)
        assert_allclose(found[0], sums, atol=1e-15)
        assert_allclose(found[1], weights, rtol=1e-15)
    assert_array_equal(total["sizes"], np.bincount(swept.labels, minlength=k))


@pytest.mark.parametrize(("seed", "k"), [(2021, 6), (2897, 5)])
def test_no_tolerance_ends_rounds_while_a_cluster_can_be_filled(seed, k):
    rng = np.random.default_rng(seed)
    rng.integers(3, 7), rng.choice(3)
    X = rng.normal(size=(30, 2)) * rng.choice([1, 3], size=(30, 1))
    options = {"alpha": 0.6, "init": X[rng.permutation(30)[:k]], "tol": 10.0}
    fitted = SparseKMeans(k, **options).fit(X)
    assert fitted.n_iter_ == 3  # any gain is little, but after the second step a cluster had no rows
    assert_same(in_rounds(SparseKMeans(k, **options), X, 100, places=(4, 11)), fitted, X)


def test_clusters_that_no_row_gains_by_stay_empty_and_the_end_says_so():
    X = np.repeat([[0.0, 0.0], [4.0, 4.0]], 10, axis=0)
    start = np.array([[0.0, 0.0], [4.0, 4.0], [9.0, 9.0]])
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows; too few rows differ"):
        fitted = SparseKMeans(3, init=start).fit(X)
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows; too few rows differ"):
        model = in_rounds(SparseKMeans(3, init=start), X, 100, places=(7,))
    assert_same(model, fitted, X)
    assert_array_equal(model.cluster_weights_, [10, 10, 0])


# --- rows of all kinds ------------------------------------------------------------------------------------------------


@METRICS
def test_sparse_rows_may_be_narrower_than_the_model(blobs, metric):
    X = blobs.copy()
    X[:150, 5:] = 0
    start = start_of(X, metric, [160, 200, 250, 300])
    narrow = sparse.csr_array(X[:150, :5])
    facts = ShardFacts(400, 8)
    model = SparseKMeans(4, init=start, metric=metric, alpha=0.05)
    while not run_round(model, facts, [(narrow, None, None), (sparse.csr_array(X[150:]), None, None)]):
        pass
    assert_same(model, SparseKMeans(4, init=start, metric=metric, alpha=0.05).fit(X), sparse.csr_array(X))
    assert_array_equal(model.predict(narrow), model.predict(sparse.csr_array(X))[:150])


@METRICS
def test_batches_without_rows_say_nothing(blobs, layout, metric):
    X, weight = layout(blobs), np.ones(400)
    weight[:30] = 0.0
    options = {"init": start_of(blobs, metric), "metric": metric}
    model = in_rounds(SparseKMeans(4, **options), X, 100, weight, places=(0, 30, 200, 200, 400))
    assert_same(model, SparseKMeans(4, **options).fit(X, sample_weight=weight), X)
    for question in (Sweep(np.ones((2, 8)), Objective(0.1, metric == "cosine")),):
        for found in question.answer(X[:0], None, None).values():
            assert not found.any()


@METRICS
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_starts_are_drawn_from_the_sample_as_fit_draws_them(blobs, layout, dtype, metric, init):
    X = layout(blobs.astype(dtype))
    fitted = SparseKMeans(4, init=init, metric=metric, random_state=3, max_iter=1).fit(X)
    model = in_rounds(SparseKMeans(4, init=init, metric=metric, random_state=3), X, 1, sample=(X, None))
    assert_allclose(model.cluster_centers_, fitted.cluster_centers_, atol=1e-6 if dtype is np.float32 else 1e-12)


def test_a_stream_goes_on_in_rounds_from_its_centres(blobs):
    stream = SparseKMeans(4, random_state=0).partial_fit(blobs[:50])
    fitted = SparseKMeans(4, init=stream.cluster_centers_).fit(blobs)
    assert_same(in_rounds(stream, blobs, 100), fitted, blobs)


def test_passes_begin_at_the_starts_of_the_sample(blobs):
    model = SparseKMeans(4, random_state=3, batch_size=50)
    model._begin(ShardFacts(*blobs.shape, sample=(blobs, None)))
    assert (model.n_iter_, model.n_samples_seen_, model.inertia_) == (0, 0, 0.0)
    assert not model.cluster_weights_.any()
    model.partial_fit(blobs)
    one = SparseKMeans(4, random_state=3, batch_size=50).partial_fit(blobs)
    assert_array_equal(model.cluster_centers_, one.cluster_centers_)
    assert model.inertia_ == one.inertia_


def test_a_model_can_be_told_that_other_rows_follow(blobs):
    model = SparseKMeans(4, random_state=0).fit(blobs[:200] + 1)
    model._forget_rows()
    start = model.cluster_centers_.copy()
    assert_same(in_rounds(model, blobs, 100), SparseKMeans(4, init=start).fit(blobs), blobs)


def test_by_itself_it_asks_for_sums_in_as_many_rounds_as_steps():
    assert SparseKMeans._prefers_sums
    assert SparseKMeans(max_iter=17)._n_rounds() == 17


# --- refusals ---------------------------------------------------------------------------------------------------------


def refusal(model, X, facts=None, weight=None):
    with pytest.raises(ValueError) as caught:
        run_round(model, facts or ShardFacts(*X.shape), [(X, None, weight)])
    assert not hasattr(model, "cluster_centers_")
    return str(caught.value)


def test_what_rounds_refuse(blobs):
    start = start_of(blobs, "euclidean")
    assert refusal(SparseKMeans(4, solver="rda", init=start), blobs) == (
        "SparseKMeans: solver must be 'exact' to learn in rounds, got 'rda'."
    )
    assert "alpha must be a number" in refusal(SparseKMeans(4, alpha=-1), blobs)
    assert "init must be an array where there is no sample" in refusal(SparseKMeans(4), blobs)
    assert "drawn from (n_samples=3), got 4" in refusal(
        SparseKMeans(4), blobs, ShardFacts(400, 8, None, (blobs[:3], None))
    )
    assert "init must be numbers of shape (4, 9)" in refusal(SparseKMeans(4, init=start), blobs, ShardFacts(400, 9))
    assert "X has 8 features" in refusal(SparseKMeans(2, init=np.ones((2, 7))), blobs, ShardFacts(400, 7))
    wide = sparse.csr_array(blobs)
    assert "X has 8 features" in refusal(SparseKMeans(2, init=np.ones((2, 7))), wide, ShardFacts(400, 7))
    assert "(n_samples=3), got 4" in refusal(SparseKMeans(4, init=start), blobs[:3])
    assert "got only zeros" in refusal(SparseKMeans(4, init=start), blobs, weight=np.zeros(400))
    assert "weight" in refusal(SparseKMeans(4, init=start), blobs, weight=np.full(400, -1.0))
    assert "NaN" in refusal(SparseKMeans(4, init=start), np.full((400, 8), np.nan))


def test_a_model_with_other_clusters_is_not_continued(blobs):
    model = in_rounds(SparseKMeans(4, init=start_of(blobs, "euclidean")), blobs, 1).set_params(n_clusters=3)
    with pytest.raises(ValueError, match="n_clusters and metric must be those of the calls before"):
        run_round(model, ShardFacts(*blobs.shape), cut(blobs, None))


@pytest.mark.parametrize("mode", ["sums", "passes"])
def test_centres_know_the_names_of_features(mode):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    model = distributed.fit(SparseKMeans(2, random_state=0), [X[:40], X[40:]], mode=mode)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    assert model.predict(X).shape == (60,)
