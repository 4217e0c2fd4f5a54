"""Which rows become landmarks: entropy, clusters, samples of streams."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from reference import kernels as reference
from thresher._kernels import _kept_rows as _kept
from thresher._kernels import _kernel_blocks as _blocks
from thresher._kernels._landmark_sample import first, keys, swaps
from thresher.kernels import RBF, Cosine, FixedSizeNystroem, Polynomial, WeightedSum
from thresher.kernels._nystroem import middle_rows
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline

SELECTIONS = pytest.mark.parametrize("selection", ["entropy", "random", "kmeans"])


def clumps(seed=0, n_rows=30):
    """Most rows close together, five far away."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n_rows - 5, 2)) * 0.3, 4 + rng.normal(size=(5, 2))])[rng.permutation(n_rows)]


# --- entropy ----------------------------------------------------------------------------------------------------------

KINDS = [RBF(0.5), Polynomial(2, 0.3), Cosine(), WeightedSum([RBF(2.0, features=0), RBF(0.1)], [0.3, 0.7])]


@pytest.mark.parametrize("values", [1 << 20, 31], ids=["one block", "blocks of three"])
@pytest.mark.parametrize("kernel", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_swaps_are_those_of_entropies_computed_anew(seed, kernel, values, layout, monkeypatch):
    monkeypatch.setattr(_blocks, "_VALUES", values)
    rows = clumps(seed)
    places = np.random.default_rng(seed).integers(10, size=20)
    expected = reference.select(kernel(rows), np.arange(10), [(place, 10 + k) for k, place in enumerate(places)])
    path = list(swaps(kernel, layout(rows), 10, places))
    assert len(path) > 2
    assert_array_equal([chosen for chosen, _ in path], expected)


@pytest.mark.parametrize("seed", range(5))
def test_entropy_rises_with_every_swap_and_is_the_one_kept(seed):
    rows, kernel = clumps(seed), RBF(0.5)
    path = list(swaps(kernel, rows, 10, np.random.default_rng(seed).integers(10, size=20)))
    entropies = [reference.entropy(kernel(rows), chosen) for chosen, _ in path]
    assert_allclose([-np.log(total / 100) for _, total in path], entropies, rtol=1e-10)
    assert (np.diff(entropies) > 0).all()
    assert all(len(set(chosen)) == 10 for chosen, _ in path)


def test_landmarks_by_entropy_are_less_alike_than_random_ones():
    X = np.vstack([np.random.default_rng(0).normal(size=(380, 2)) * 0.1, 3 + np.eye(20, 2)])
    K = RBF(1.0)(X)

    def entropies(selection):
        models = [FixedSizeNystroem(gamma=1.0, selection=selection, random_state=k).fit(X) for k in range(20)]
        return np.array([reference.entropy(K, model.component_indices_) for model in models])

    assert (entropies("entropy") >= entropies("random")).all()  # the same seed starts from the same rows
    assert entropies("entropy").mean() > entropies("random").mean() + 0.05


def test_more_candidates_raise_the_entropy_further():
    X = np.random.default_rng(0).normal(size=(300, 2))
    K = RBF(1.0)(X)
    entropies = []
    for n_candidates in (20, 40, 300):
        model = FixedSizeNystroem(gamma=1.0, n_components=20, n_candidates=n_candidates, random_state=0).fit(X)
        entropies.append(reference.entropy(K, model.component_indices_))
    assert entropies[0] < entropies[1] < entropies[2]


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_middle_rows_are_those_nearest_to_the_means_that_lloyd_finds(layout):
    rows = np.random.default_rng(0).normal(size=(80, 3))
    found = middle_rows(layout(rows), 6)
    peer = KMeans(6, init=rows[:6], n_init=1, max_iter=20, tol=0, algorithm="lloyd").fit(rows)
    expected = [
        min(np.flatnonzero(peer.labels_ == k), key=lambda i, k=k: np.sum((rows[i] - peer.cluster_centers_[k]) ** 2))
        for k in range(6)
    ]
    assert_array_equal(found, expected)


def test_rows_that_repeat_leave_clusters_empty_and_landmarks_distinct():
    rows = np.repeat(np.eye(3), 4, axis=0)[[0, 1, 2, 3, 4, 5, 8, 6, 7, 9, 10, 11]]
    found = middle_rows(rows, 5)
    assert len(set(found)) == 5
    assert len(np.unique(rows[found], axis=0)) >= 2
    assert_array_equal(middle_rows(rows[:4], 4), np.arange(4))


def test_a_cluster_without_rows_stays_where_it_was(layout):
    """At the row that it shares with another; it does not come back elsewhere."""
    near, far = 0.1 * np.random.default_rng(0).normal(size=(6, 2)), 5 + np.random.default_rng(1).normal(size=(6, 2))
    rows = np.vstack([[[5.0, 5.0], [5.0, 5.0], [1.0, 1.0]], near, far])
    found = middle_rows(layout(rows), 3)
    around = [np.flatnonzero(rows[:, 0] > 3), np.flatnonzero(rows[:, 0] < 3)]
    expected = [min(some, key=lambda i, some=some: np.sum((rows[i] - rows[some].mean(0)) ** 2)) for some in around]
    assert found[0] == expected[0]
    assert found[2] == expected[1]
    assert found[1] == min(set(range(len(rows))) - set(expected))  # the first that stands for none


def test_landmarks_by_clusters_come_closer_to_the_kernel_than_random_ones():
    X = np.random.default_rng(0).normal(size=(400, 3))
    K = RBF(0.2)(X)

    def error(selection):
        maps = [FixedSizeNystroem(RBF(0.2), n_components=15, selection=selection, random_state=k) for k in range(10)]
        return np.mean([np.linalg.norm(K - f @ f.T) for f in (one.fit_transform(X) for one in maps)])

    assert error("kmeans") < 0.85 * error("random")


# --- samples ----------------------------------------------------------------------------------------------------------


def splitmix64(state):
    """The generator as it is published, one step."""
    mask = (1 << 64) - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return state, z ^ (z >> 31)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_keys_are_those_of_the_generator(seed):
    state, expected = seed, []
    for _ in range(50):
        state, key = splitmix64(state)
        expected.append(key)
    assert keys(seed, np.arange(50)).tolist() == expected
    assert keys(seed, np.array([7, 3])).tolist() == [expected[7], expected[3]]


def test_a_sample_is_the_rows_with_the_smallest_keys():
    drawn = keys(5, np.arange(100))
    assert_array_equal(first(5, np.arange(100), 12), np.argsort(drawn)[:12])
    assert_array_equal(first(5, np.arange(100), 1000), np.argsort(drawn))


def test_every_row_is_as_likely_to_be_drawn():
    counts = np.zeros(40)
    for seed in range(4000):
        counts[first(seed * 7919, np.arange(40), 10)] += 1
    assert np.abs(counts / 4000 - 0.25).max() < 0.03  # four standard deviations


@SELECTIONS
def test_the_seed_decides(problem, selection):
    X, _ = problem
    fits = [FixedSizeNystroem(selection=selection, random_state=k).fit(X) for k in (0, 0, 1)]
    assert_array_equal(fits[0].transform(X), fits[1].transform(X))
    assert set(fits[0].component_indices_) != set(fits[2].component_indices_)


@SELECTIONS
def test_the_bits_do_not_depend_on_the_number_of_threads(selection):
    X = np.random.default_rng(0).normal(size=(3000, 20))
    found = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads, user_api="blas"):
            model = FixedSizeNystroem(selection=selection, n_components=400, random_state=0).fit(X)
        found.append((model.component_indices_, model.normalization_))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


# --- streams ----------------------------------------------------------------------------------------------------------


def cut(n_rows, seed):
    """Slices of rows, some of one row, some of many."""
    rng = np.random.default_rng(seed)
    ends = np.unique(np.r_[rng.integers(1, n_rows, size=rng.integers(1, 12)), n_rows])
    return [slice(int(a), int(b)) for a, b in zip(np.r_[0, ends[:-1]], ends, strict=True)]


def streamed(model, X, batches):
    for batch in batches:
        model.partial_fit(X[batch])
    return model


def same(a, b):
    assert_array_equal(a.component_indices_, b.component_indices_)
    assert_array_equal(a.normalization_, b.normalization_)
    assert a.kernel_ == b.kernel_
    for one, other in ((a.components_, b.components_), (a._candidate_rows(), b._candidate_rows())):
        assert type(one) is type(other)
        assert_array_equal(
            one.toarray() if sparse.issparse(one) else one, other.toarray() if sparse.issparse(other) else other
        )


@pytest.mark.parametrize("few", [1 << 20, 10], ids=["dense candidates", "sparse candidates"])
@SELECTIONS
def test_any_split_of_a_stream_gives_the_landmarks_of_fit_to_the_bit(selection, layout, dtype, few, monkeypatch):
    monkeypatch.setattr(_kept, "_FEW", few)
    X = layout(
        (np.random.default_rng(0).normal(size=(200, 6)) * (np.random.default_rng(1).random((200, 6)) < 0.5)).astype(
            dtype
        )
    )
    params = {"gamma": 0.2, "n_components": 9, "selection": selection, "n_candidates": 25, "random_state": 3}
    whole = FixedSizeNystroem(**params).fit(X)
    for seed in range(6):
        same(streamed(FixedSizeNystroem(**params), X, cut(200, seed)), whole)
    one_by_one = [slice(i, i + 1) for i in range(200)]
    same(streamed(FixedSizeNystroem(**params), X, one_by_one), whole)


def test_scale_in_a_stream_is_of_the_rows_that_are_kept():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = streamed(FixedSizeNystroem(n_components=10, random_state=0), X, cut(300, 0))
    assert_allclose(model.gamma_, 1 / (4 * X[model._indices].var()), rtol=1e-12)
    assert len(model._indices) == 20
    same(streamed(FixedSizeNystroem(n_components=10, random_state=0), X, cut(300, 1)), model)


@SELECTIONS
def test_the_map_works_after_every_batch(selection):
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = FixedSizeNystroem(gamma=0.5, n_components=20, selection=selection, random_state=0)
    for batch in [slice(0, 1), slice(1, 15), slice(15, 70), slice(70, 100)]:
        model.partial_fit(X[batch])
        landmarks, features = X[model.component_indices_], model.transform(X)
        assert len(landmarks) == min(20, batch.stop) == len(set(model.component_indices_))
        assert model.component_indices_.max() < batch.stop == model.n_rows_seen_
        assert_array_equal(model.components_, landmarks)
        on_landmarks = model.transform(landmarks)
        assert_allclose(on_landmarks @ on_landmarks.T, RBF(0.5)(landmarks), atol=1e-8)
        assert features.shape == (100, model.normalization_.shape[1]) == (100, len(model.get_feature_names_out()))


def test_a_stream_counts_on_ten_thousand_rows():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for n_components, expected in (("sqrt", 100), (0.2, 20), (7, 7), (5.0, 300)):
        model = FixedSizeNystroem(RBF(1.0), n_components=n_components, random_state=0).partial_fit(X)
        assert len(model.component_indices_) == expected


def test_learning_goes_on_after_fit():
    X = np.random.default_rng(0).normal(size=(300, 2))
    params = {"gamma": 1.0, "n_components": 12, "random_state": 0}
    model = FixedSizeNystroem(**params).fit(X[:100])
    before = model.component_indices_
    same(model.partial_fit(X[100:]), FixedSizeNystroem(**params).fit(X))
    assert set(before) != set(model.component_indices_)


def test_a_sorted_stream_is_sampled_evenly():
    X = np.arange(5000.0)[:, None]
    model = streamed(FixedSizeNystroem(gamma=1.0, n_components=200, random_state=0), X, cut(5000, 0))
    counts = np.histogram(model.component_indices_, bins=4, range=(0, 5000))[0]
    assert counts.min() > 30


@SELECTIONS
def test_saved_and_resumed_in_the_middle_is_never_stopped(tmp_path, selection):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(120, 3)))
    params = {"kernel": RBF(), "n_components": 9, "selection": selection, "random_state": 0}
    model = FixedSizeNystroem(**params).partial_fit(X[:50])
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    same(again, model)
    assert again.get_params() == model.get_params()
    assert_array_equal(again.transform(X), model.transform(X))
    same(again.partial_fit(X[50:]), FixedSizeNystroem(**params).partial_fit(X))


def test_a_file_needs_a_map_that_is_fitted(tmp_path):
    with pytest.raises(ValueError, match="FixedSizeNystroem is not fitted"):
        save_model(FixedSizeNystroem(), tmp_path / "m")


def test_a_batch_that_is_refused_changes_nothing():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    model = FixedSizeNystroem(gamma=1.0, random_state=0).partial_fit(frame)
    before = model.transform(frame)
    for bad in (frame.assign(b=np.nan), frame[["b", "a"]], frame[["a"]]):
        with pytest.raises(ValueError):
            model.partial_fit(bad)
    assert_array_equal(model.transform(frame), before)
    assert model.n_rows_seen_ == 20


def test_a_kernel_of_zeros_is_said_when_landmarks_are_needed():
    model = FixedSizeNystroem("linear").partial_fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="the kernel must not be 0 on all landmarks"):
        model.transform(np.ones((1, 2)))
    assert model.partial_fit(np.eye(2)).transform(np.ones((1, 2))).shape == (1, 2)


# --- behind and before others -----------------------------------------------------------------------------------------


def ring(n_rows=600):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    return X, (np.hypot(*X.T) > 1.1).astype(int)


def test_a_map_that_has_seen_rows_is_used_as_it_is():
    X, y = ring()
    landmarks = streamed(FixedSizeNystroem(n_components=40, random_state=0), X, cut(600, 0))
    before = landmarks.component_indices_
    model = StreamingPipeline([("map", landmarks), ("learn", AROWClassifier())])
    plain = AROWClassifier()
    for batch in cut(600, 1):
        model.partial_fit(X[batch], y[batch], classes=[0, 1])
        plain.partial_fit(landmarks.transform(X[batch]), y[batch], classes=[0, 1])
    assert_array_equal(model["map"].component_indices_, before)
    assert_array_equal(model.coef_, plain.coef_)
    assert model.score(X, y) > 0.9


def test_a_new_map_takes_its_landmarks_from_the_first_batch():
    X, y = ring()
    steps = [
        ("scale", RunningScaler()),
        ("map", FixedSizeNystroem(n_components=40, random_state=0)),
        ("learn", AROWClassifier()),
    ]
    model = StreamingPipeline(steps).partial_fit(X[:200], y[:200], classes=[0, 1])
    before = model["map"].component_indices_
    for start in (200, 400):
        model.partial_fit(X[start : start + 200], y[start : start + 200])
    assert_array_equal(model["map"].component_indices_, before)
    assert model["map"].n_rows_seen_ == 200
    assert model["scale"].n_samples_seen_ == 600
    assert model.score(X, y) > 0.9


def test_a_pipeline_is_saved_with_its_map_and_goes_on(tmp_path):
    X, y = ring()
    steps = [("map", FixedSizeNystroem(RBF(0.5), n_components=30, random_state=0)), ("learn", AROWClassifier())]
    model = StreamingPipeline(steps).partial_fit(X[:200], y[:200], classes=[0, 1])
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m").partial_fit(X[200:], y[200:])
    assert_array_equal(again.coef_, model.partial_fit(X[200:], y[200:]).coef_)


def test_fit_of_a_pipeline_begins_anew():
    X, y = ring()
    landmarks = FixedSizeNystroem(n_components=10, random_state=0).partial_fit(X[:50])
    model = StreamingPipeline([("map", landmarks), ("learn", AROWClassifier())]).fit(X, y)
    assert model["map"].n_rows_seen_ == 600
