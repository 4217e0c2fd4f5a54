"""K-means with an l1 penalty: steps, optimality, agreement with scikit-learn, files."""

from __future__ import annotations

import copy
import inspect
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import cluster as reference
from thresher.cluster import SparseKMeans, _lloyd, _sparse_kmeans, _sweep
from thresher.cluster._lloyd import fill_empty, spread_rows, steps
from thresher.cluster._sweep import Data, Objective, Swept

METRICS = pytest.mark.parametrize("metric", ["euclidean", "cosine"])
ALPHAS = pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3])


_BY_CHANCE = dict.fromkeys(
    [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
    "other rows are drawn to start from, as in scikit-learn's KMeans; test_a_weight_is_so_many_rows",
)


@parametrize_with_checks(
    [SparseKMeans(), SparseKMeans(alpha=0.1, n_init=3), SparseKMeans(metric="cosine"), SparseKMeans(solver="rda")],
    expected_failed_checks=lambda _: _BY_CHANCE,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    """Five clusters in twelve columns, of which six are noise; every fifth value is 0."""
    X, labels = make_blobs(150, 6, centers=5, cluster_std=0.6, center_box=(-4, 4), random_state=3)
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.normal(size=X.shape)]) * (rng.random((150, 12)) < 0.8)
    return X, labels


# --- the steps --------------------------------------------------------------------------------------------------------


@ALPHAS
@METRICS
def test_every_step_is_that_of_the_specification(blobs, layout, dtype, metric, alpha):
    X = blobs[0].astype(dtype)
    cosine = metric == "cosine"
    if cosine:
        X = normalize(X)
    start = X[[0, 1, 3, 7, 11]].astype(np.float64)
    mine = steps(Objective(alpha, cosine), Data.of(layout(X), start, cosine=cosine), start)
    theirs = reference.sparse_kmeans(X.astype(np.float64), start, alpha, cosine)
    for step, (centres, labels, objective) in itertools.islice(zip(mine, theirs, strict=False), 8):
        assert_array_equal(step.swept.labels, labels)
        assert_allclose(step.centres, centres, atol=1e-12)
        assert_allclose(step.swept.value, objective, rtol=1e-6 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("max_iter", [1, 2, 3, 100])
def test_without_a_penalty_it_is_scikit_learns_from_the_same_start(blobs, layout, max_iter):
    X, _ = blobs
    start = spread_rows(X, 5, np.random.default_rng(7))
    peer = KMeans(5, init=start, n_init=1, max_iter=max_iter, tol=0, algorithm="lloyd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(X)
    mine = SparseKMeans(5, max_iter=max_iter, tol=0, random_state=np.random.default_rng(7)).fit(layout(X))
    assert_allclose(mine.cluster_centers_, peer.cluster_centers_, atol=1e-8)
    assert_allclose(mine.inertia_, peer.inertia_, rtol=1e-10)
    assert_array_equal(mine.labels_, peer.labels_)
    assert_allclose(mine.score(X), peer.score(X), rtol=1e-10)


@ALPHAS
@METRICS
def test_the_objective_never_rises(blobs, metric, alpha):
    X, _ = blobs
    for seed in range(10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SparseKMeans(9, alpha=alpha, metric=metric, tol=0, random_state=seed).fit(X)
        assert (np.diff(model.objective_history_) <= 0).all()
        assert len(model.objective_history_) == model.n_iter_
        assert model.inertia_ == model.objective_history_[-1]
        assert_allclose(-model.score(X), model.inertia_, rtol=1e-12)


@ALPHAS
def test_centres_satisfy_the_conditions_of_a_minimum(blobs, alpha):
    """0 is a subgradient at each centre: |mean - w| <= alpha, with equality and the sign of w where w is not 0."""
    X, _ = blobs
    model = SparseKMeans(5, alpha=alpha, tol=0, random_state=0).fit(X)
    assert model.n_iter_ < 100
    for c, w in enumerate(model.cluster_centers_):
        slope = X[model.labels_ == c].mean(axis=0) - w
        assert_allclose(slope[w != 0], alpha * np.sign(w[w != 0]), atol=1e-12)
        assert (np.abs(slope[w == 0]) <= alpha + 1e-12).all()


@ALPHAS
def test_no_direction_is_better_than_a_cosine_centre(blobs, alpha):
    X = normalize(blobs[0])
    model = SparseKMeans(5, alpha=alpha, metric="cosine", tol=0, random_state=0).fit(blobs[0])
    rng = np.random.default_rng(0)
    for c, w in enumerate(model.cluster_centers_):
        rows = X[model.labels_ == c]
        assert_allclose(np.linalg.norm(w), 1.0, rtol=1e-12)
        paid = sum(reference.cost(x, w, alpha, True) for x in rows)
        for size in (1e-3, 1e-1, 1.0):
            for _ in range(20):
                other = w + size * rng.normal(size=12) * (rng.random(12) < 0.5)
                other /= max(np.linalg.norm(other), 1.0)
                assert sum(reference.cost(x, other, alpha, True) for x in rows) >= paid - 1e-12


@ALPHAS
@METRICS
def test_every_row_is_where_it_costs_least(blobs, layout, metric, alpha):
    X, _ = blobs
    model = SparseKMeans(5, alpha=alpha, metric=metric, random_state=0).fit(layout(X))
    rows = normalize(X) if metric == "cosine" else X
    expected = [
        np.argmin([reference.cost(x, w, alpha, metric == "cosine") for w in model.cluster_centers_]) for x in rows
    ]
    assert_array_equal(model.labels_, expected)
    assert_array_equal(model.predict(layout(X)), expected)


def test_a_penalty_names_the_features_of_each_cluster():
    labels = np.repeat(np.arange(4), 50)
    X = 0.5 * np.random.default_rng(0).normal(size=(200, 30))
    for c in range(4):
        X[np.ix_(labels == c, [2 * c, 2 * c + 1])] += 4
    plain = SparseKMeans(4, n_init=3, random_state=0).fit(X)
    model = SparseKMeans(4, alpha=0.4, n_init=3, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert len(plain.support_) == 30
    assert_array_equal(model.support_, np.arange(8))
    for c in range(4):
        assert_array_equal(np.flatnonzero(model.cluster_centers_[model.labels_[50 * c]]), [2 * c, 2 * c + 1])


def test_distances(blobs, layout):
    X, _ = blobs
    for metric, distances in (("euclidean", euclidean_distances), ("cosine", cosine_distances)):
        model = SparseKMeans(5, alpha=0.1, metric=metric, random_state=0).fit(X)
        expected = distances(X, model.cluster_centers_)
        assert_allclose(model.transform(layout(X)), expected, atol=1e-7 if metric == "euclidean" else 1e-12)
    assert list(model.get_feature_names_out()) == [f"sparsekmeans{i}" for i in range(5)]


def test_blocks_of_rows_leave_no_trace(blobs, layout, monkeypatch):
    X, _ = blobs
    whole = SparseKMeans(5, alpha=0.1, random_state=0).fit(layout(X))
    monkeypatch.setattr(_sweep, "_BLOCK", 100)
    monkeypatch.setattr(_sweep, "_WORK", 1000)
    parts = SparseKMeans(5, alpha=0.1, random_state=0).fit(layout(X))
    assert_array_equal(parts.labels_, whole.labels_)
    assert_allclose(parts.cluster_centers_, whole.cluster_centers_, atol=1e-12)
    assert_allclose(parts.transform(layout(X)), whole.transform(layout(X)), atol=1e-7)


def test_dense_rows_may_lie_far_from_the_origin(blobs):
    X, _ = blobs
    near = SparseKMeans(5, random_state=0).fit(X)
    far = SparseKMeans(5, random_state=0).fit(X + 1e7)
    assert_array_equal(far.labels_, near.labels_)
    assert_allclose(far.inertia_, near.inertia_, rtol=1e-6)


def _costs_by_row(X, start, swept, weight, alpha, cosine):
    return sum(w * reference.cost(x, start[c], alpha, cosine) for x, c, w in zip(X, swept.labels, weight, strict=True))


@ALPHAS
@METRICS
def test_the_objective_is_the_sum_of_the_costs_of_rows(blobs, layout, metric, alpha):
    cosine = metric == "cosine"
    X, weight = normalize(blobs[0]) if cosine else blobs[0], np.arange(1.0, 151.0)
    start = X[[0, 1, 3, 7, 11]]
    swept = Objective(alpha, cosine).sweep(Data.of(layout(X), start, weight, cosine=cosine), start)
    assert_allclose(swept.value, _costs_by_row(X, start, swept, weight, alpha, cosine), rtol=1e-12)
    assert_allclose(swept.sums, (swept.labels == np.arange(5)[:, None]) * weight @ X, atol=1e-10)


def test_the_objective_of_rows_far_from_the_origin_keeps_its_digits(blobs):
    X, weight = blobs[0] + 1e7, np.arange(1.0, 151.0)
    start = X[[0, 1, 3, 7, 11]]
    swept = Objective(0.0, False).sweep(Data.of(X, start, weight), start)
    assert_allclose(swept.value, _costs_by_row(X, start, swept, weight, 0.0, False), rtol=1e-7)


def test_sums_of_whole_numbers_are_exact():
    X = np.random.default_rng(0).integers(100, 120, size=(1000, 7)).astype(float)
    start = X[:3] + 0.3
    data = Data.of(X, start)
    swept = Objective(0.0, False).sweep(data, start)
    assert data.middle is not None
    assert_array_equal(swept.sums, (swept.labels[:, None] == np.arange(3)).T.astype(float) @ X)


def test_sparse_rows_are_not_made_dense():
    X = sparse.random_array((2000, 200_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    model = SparseKMeans(3, alpha=0.01, max_iter=2, random_state=0).fit(X)  # dense, this would be 3.2 GB
    assert model.predict(X).shape == (2000,)


# --- starts and empty clusters ----------------------------------------------------------------------------------------


@METRICS
def test_starts_are_rows_far_apart(metric, layout):
    centres = np.array([[5.0, 0.1, 0.0], [0.1, 5.0, 0.0], [0.0, 0.1, 5.0]])
    X = np.repeat(centres, 40, axis=0) + 0.05 * np.random.default_rng(0).normal(size=(120, 3))
    X = normalize(X) if metric == "cosine" else X
    for seed in range(30):
        start = spread_rows(layout(X), 3, np.random.default_rng(seed), cosine=metric == "cosine")
        assert all((row == X).all(axis=1).any() for row in start)
        assert sorted(start.argmax(axis=1)) == [0, 1, 2]


def test_draws_are_in_proportion_to_squared_distances():
    X = np.array([[0.0], [1.0], [3.0]])
    starts = [spread_rows(X, 2, np.random.default_rng(seed)).ravel() for seed in range(1500)]
    seconds = [second for first, second in starts if first == 0]
    # of two draws (1: one tenth, 3: nine tenths) the one that leaves less counts: 3, unless both are 1
    assert abs(len(seconds) - 500) < 60
    assert abs(np.mean(np.array(seconds) == 1.0) - 0.01) < 0.01
    assert 1.0 in seconds


def test_an_empty_cluster_gets_the_row_that_gains_most():
    labels = np.array([0, 0, 0, 2, 2], dtype=np.int32)
    assert_array_equal(fill_empty(labels, np.array([1.0, 5.0, 2.0, 9.0, 3.0]), 4), [0, 3, 0, 1, 2])
    assert_array_equal(labels, [0, 0, 0, 2, 2])


def test_a_row_that_is_all_its_cluster_has_stays():
    labels = np.array([0, 1, 1], dtype=np.int32)
    assert_array_equal(fill_empty(labels, np.array([9.0, 1.0, 2.0]), 3), [0, 1, 2])


def test_rows_that_gain_nothing_stay_where_they_are():
    labels = np.array([0, 0, 0], dtype=np.int32)
    assert_array_equal(fill_empty(labels, np.array([0.0, 1.0, -1.0]), 3), [0, 1, 0])


@ALPHAS
@METRICS
def test_the_cost_alone_is_that_of_the_best_centre_for_one_row(blobs, layout, metric, alpha):
    X = normalize(blobs[0]) if metric == "cosine" else blobs[0]
    cosine = metric == "cosine"
    expected = [reference.cost(x, reference.centre(x[None], alpha, cosine), alpha, cosine) for x in X]
    data = Data.of(layout(X), X, cosine=cosine)
    assert_allclose(Objective(alpha, cosine).alone(data), expected, atol=1e-12)


@METRICS
def test_clusters_that_run_empty_are_filled_again(metric):
    """Three starts in one place leave two clusters without rows; the first step fills them."""
    rng = np.random.default_rng(0)
    X = np.vstack([1 + rng.random((20, 2)), [[9.0, 0.1], [0.1, 9.0]]])
    X = normalize(X) if metric == "cosine" else X
    start = np.repeat(X[:1], 3, axis=0)
    step = next(steps(Objective(0.0, metric == "cosine"), Data.of(X, start, cosine=metric == "cosine"), start))
    assert_array_equal(np.sort(np.bincount(step.swept.labels)), [1, 1, 20])
    assert_array_equal(np.sort(step.swept.weights), [1, 1, 20])


@pytest.mark.parametrize(
    ("X", "alpha", "n_used", "message"),
    [
        (np.repeat(np.eye(3), 4, axis=0), 0.0, 3, r"only 3 of 5 clusters have rows; too few rows differ\."),
        (np.random.default_rng(0).normal(size=(50, 4)), 9.0, 1, r"only 1 of 5 clusters .*; a smaller alpha keeps more"),
    ],
)
def test_clusters_that_stay_empty_are_told(X, alpha, n_used, message):
    with pytest.warns(ConvergenceWarning, match="SparseKMeans: " + message):
        model = SparseKMeans(5, alpha=alpha, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == n_used
    assert model.inertia_ == pytest.approx(np.sum(X**2) if alpha else 0.0, abs=1e-12)


def test_rows_of_zeros_have_no_direction():
    X = np.vstack([np.zeros((30, 3)), np.repeat(np.eye(3), 10, axis=0) + 0.01])
    model = SparseKMeans(3, metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 10), model.labels_[30:]) == 1.0
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert_allclose(model.transform(X)[:30], 0.0)


# --- the estimator ----------------------------------------------------------------------------------------------------


def test_the_best_of_several_runs_counts(blobs):
    X, _ = blobs
    rng = np.random.default_rng(3)
    single = [SparseKMeans(5, random_state=rng).fit(X).inertia_ for _ in range(6)]
    model = SparseKMeans(5, n_init=6, random_state=np.random.default_rng(3)).fit(X)
    assert model.inertia_ == min(single) < max(single)


def test_the_seed_decides(blobs):
    X, _ = blobs
    fits = [SparseKMeans(5, random_state=seed).fit(X) for seed in (0, 0, 1)]
    assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    assert not np.array_equal(fits[0].cluster_centers_, fits[2].cluster_centers_)


def test_a_tolerance_stops_early(blobs):
    X, _ = blobs
    exact = SparseKMeans(9, tol=0, random_state=1).fit(X)
    early = SparseKMeans(9, tol=0.05, random_state=1).fit(X)
    falls = -np.diff(exact.objective_history_) / exact.objective_history_[1:]
    assert early.n_iter_ == 2 + np.flatnonzero(falls <= 0.05)[0] < exact.n_iter_
    assert_array_equal(early.objective_history_, exact.objective_history_[: early.n_iter_])


@pytest.mark.parametrize(
    ("scripted", "expected"),
    [
        ([([0, 1], 5.0), ([1, 0], 5.0 + 1e-12), ([0, 1], 1.0)], [5.0]),  # a rise by rounding is not taken
        ([([0, 1], 5.0), ([1, 0], 4.9999), ([0, 1], 1.0)], [5.0, 4.9999]),  # too little was gained
        ([([0, 1], 5.0), ([0, 0], 4.9999), ([1, 0], 1.0)], [5.0, 4.9999, 1.0]),  # an empty cluster is filled first
        ([([0, 1], 5.0), ([0, 1], 4.0), ([1, 0], 1.0)], [5.0, 4.0]),  # no row moved, no centre will
    ],
)
def test_when_a_run_stops(monkeypatch, scripted, expected):
    made = [
        _lloyd.KMeansStep(np.eye(2), Swept(np.array(labels), np.eye(2), np.bincount(labels, minlength=2), value))
        for labels, value in scripted
    ]
    monkeypatch.setattr(_sparse_kmeans, "steps", lambda *_: iter(made))
    model = SparseKMeans(2, tol=1e-3, random_state=0).fit(np.eye(2))
    assert_array_equal(model.objective_history_, expected)
    assert_array_equal(model.labels_, scripted[len(expected) - 1][0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be an integer of at least 1, got 0\."),
        ({"n_clusters": 7}, r"n_clusters must be at most the number of rows \(n_samples=6\), got 7\."),
        ({"alpha": -1.0}, r"alpha must be a number of at least 0 and at most 1e\+100, got -1.0\."),
        ({"alpha": 1e101}, r"alpha must be at most 1e100 in size, got 1e\+101\."),
        ({"metric": "l1"}, r"metric must be one of 'euclidean', 'cosine', got 'l1'\."),
        ({"max_iter": 0}, r"max_iter must be an integer of at least 1, got 0\."),
        ({"tol": None}, r"tol must be a number of at least 0, got None\."),
        ({"n_init": "auto"}, r"n_init must be an integer of at least 1, got 'auto'\."),
    ],
)
def test_bad_parameters_are_refused_and_leave_no_trace(params, message):
    model = SparseKMeans(**params)
    with pytest.raises(ValueError, match="SparseKMeans: " + message):
        model.fit(np.eye(6))
    assert not hasattr(model, "n_features_in_")


def test_columns_keep_their_names_and_places():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 5.0]})
    model = SparseKMeans(2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="X has 3 features, but SparseKMeans is expecting 2 features as input"):
        SparseKMeans(2, random_state=0).fit(frame.to_numpy()).predict(np.eye(3))


# --- model files ------------------------------------------------------------------------------------------------------


def reloaded(model, **changes):
    """A model with only what a file keeps, some of it changed."""
    again = SparseKMeans(**model.get_params())
    for name in model._fitted:
        if hasattr(model, name):
            setattr(again, name, copy.deepcopy(changes.get(name, getattr(model, name))))
    return again


@METRICS
def test_a_file_keeps_all_that_is_needed(blobs, metric):
    X, _ = blobs
    model = SparseKMeans(5, alpha=0.1, metric=metric, random_state=0).fit(X)
    again = reloaded(model)
    again._check_loaded()
    assert_array_equal(again.predict(X), model.labels_)
    assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n_features_in_", lambda v: v + 1),
        ("n_features_in_", lambda v: float(v)),
        ("feature_names_in_", lambda v: v[1:]),
        ("feature_names_in_", lambda v: v.tolist()),
        ("feature_names_in_", lambda v: np.arange(len(v))),
        ("cluster_centers_", lambda v: v[1:]),
        ("cluster_centers_", lambda v: v[:, 1:]),
        ("cluster_centers_", lambda v: v * np.nan),
        ("cluster_centers_", lambda v: 2 * v),
        ("cluster_centers_", lambda v: 1e200 * v),
        ("cluster_centers_", lambda v: v.astype(str)),
        ("cluster_centers_", lambda v: v.tolist()),
        ("objective_history_", lambda v: v[:-1]),
        ("objective_history_", lambda v: v[::-1].copy()),
        ("objective_history_", lambda v: v * np.inf),
        ("objective_history_", lambda v: v[None]),
        ("inertia_", lambda v: v / 2),
        ("inertia_", lambda v: "x"),
        ("n_iter_", lambda v: v + 1),
        ("n_iter_", lambda v: str(v)),
        ("n_samples_seen_", lambda v: 0),
        ("_sums", lambda v: v[1:]),
        ("_sums", lambda v: v * np.nan),
        ("_sums", lambda v: 1e200 * v),
        ("cluster_weights_", lambda v: -v),
        ("cluster_weights_", lambda v: v[1:]),
    ],
)
def test_attributes_that_do_not_belong_together_are_refused(blobs, name, change):
    frame = pd.DataFrame(blobs[0], columns=list("abcdefghijkl"))
    model = SparseKMeans(5, metric="cosine", tol=0, random_state=0).fit(frame)
    assert model.n_iter_ > 2
    reloaded(model)._check_loaded()
    with pytest.raises(ValueError, match="SparseKMeans: "):
        reloaded(model, **{name: change(getattr(model, name))})._check_loaded()


def test_every_constructor_parameter_has_a_rule():
    assert set(SparseKMeans._param_rules) == set(inspect.signature(SparseKMeans).parameters)
