"""Silhouettes of a sample: scikit-learn's where all rows are taken, and estimates of them elsewhere."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import silhouette_samples

from thresher.metrics import _cluster_scores, sampled_silhouette

METRICS = pytest.mark.parametrize("metric", ["euclidean", "cosine"])


def clusters(n=300, seed=0):
    """Four clusters of very different size, one of them of a single row; a third of the values are 0."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([[3], rng.choice(3, n - 1, p=[0.8, 0.15, 0.05])])
    X = rng.normal(size=(n, 5)) + 3 * rng.normal(size=(4, 5))[labels]
    return X * (rng.random((n, 5)) < 0.7), labels


@METRICS
def test_all_rows_are_scikit_learns(layout, dtype, metric):
    X, labels = clusters()
    X = X.astype(dtype)
    X[7] = 0  # no direction
    found = sampled_silhouette(layout(X), np.array(list("abcd"))[labels], metric=metric)
    expected = silhouette_samples(X.astype(float), labels, metric=metric)
    assert_array_equal(found.rows, np.arange(300))
    assert_allclose(found.values, expected, atol=1e-7)
    assert found.values[0] == 0  # alone
    assert found.mean == pytest.approx(expected.mean())
    assert found.standard_error == 0


@METRICS
def test_a_sample_against_all_rows_has_their_silhouettes(layout, metric):
    X, labels = clusters()
    found = sampled_silhouette(layout(X), labels, n_samples=60, metric=metric)
    expected = silhouette_samples(X, labels, metric=metric)
    assert_allclose(found.values, expected[found.rows], atol=1e-7)
    assert (np.diff(found.rows) > 0).all()
    counts, sizes = np.bincount(labels[found.rows]), np.bincount(labels)
    roots = np.sqrt(sizes)
    assert counts[3] == 1
    assert (np.abs(counts[:3] - 59 * roots[:3] / roots[:3].sum()) <= 1.5).all()  # small clusters count
    shares = sizes / sizes.sum()
    assert found.mean == pytest.approx(shares @ [found.values[labels[found.rows] == c].mean() for c in range(4)])


def test_the_estimate_is_unbiased_and_its_error_is_what_it_says():
    X, labels = clusters(1000)
    truth = silhouette_samples(X, labels).mean()
    found = [sampled_silhouette(X, labels, n_samples=80, random_state=seed) for seed in range(200)]
    means = np.array([one.mean for one in found])
    errors = np.array([one.standard_error for one in found])
    assert abs(means.mean() - truth) < 3 * means.std() / np.sqrt(200)
    assert 0.85 < np.sqrt(np.mean(errors**2)) / means.std() < 1.15


def test_distances_from_a_sample_are_nearly_those_from_all():
    X, labels = clusters(3000)
    truth = silhouette_samples(X, labels)
    found = sampled_silhouette(X, labels, n_samples=500, n_others=500)
    assert np.abs(found.values - truth[found.rows]).mean() < 0.03
    assert abs(found.mean - truth.mean()) < 4 * found.standard_error + 0.01


def test_a_row_is_not_its_own_neighbour_in_a_sample_either(monkeypatch):
    X, labels = clusters(60)
    drawn = iter([np.array([1, 2, 5]), np.array([0, 1, 4, 5, 9, 20, 30, 31, 44])])
    monkeypatch.setattr(_cluster_scores, "_draw", lambda *_: next(drawn))
    some = np.array([0, 1, 4, 5, 9, 20, 30, 31, 44])
    labels[:] = np.arange(60) % 2
    found = sampled_silhouette(X, labels, n_samples=3, n_others=9).values
    for value, row in zip(found, (1, 2, 5), strict=True):
        away = np.linalg.norm(X[some] - X[row], axis=1)
        inside = away[(labels[some] == labels[row]) & (some != row)].mean()
        outside = away[labels[some] != labels[row]].mean()
        assert value == pytest.approx((outside - inside) / max(inside, outside))


def test_seeds_and_blocks(monkeypatch, layout):
    X, labels = clusters()
    first, again, other = (
        sampled_silhouette(layout(X), labels, n_samples=50, n_others=80, random_state=s) for s in (1, 1, 2)
    )
    assert_array_equal(first.values, again.values)
    assert first.mean == again.mean
    assert not np.array_equal(first.rows, other.rows)
    monkeypatch.setattr(_cluster_scores, "_BLOCK", 300)
    parts = sampled_silhouette(layout(X), labels, n_samples=50, n_others=80, random_state=1)
    assert_allclose(parts.values, first.values, atol=1e-12)


def test_far_from_the_origin_distances_are_the_same():
    X, labels = clusters()
    near, far = sampled_silhouette(X, labels), sampled_silhouette(X + 1e7, labels)
    assert_allclose(far.values, near.values, atol=1e-6)


def test_equal_rows_have_silhouette_0():
    found = sampled_silhouette(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert_array_equal(found.values, 0.0)


def test_every_cluster_is_seen_however_small_the_sample():
    labels = np.repeat(np.arange(50), 40)
    found = sampled_silhouette(np.random.default_rng(0).normal(size=(2000, 3)), labels, n_samples=10)
    assert_array_equal(np.bincount(labels[found.rows]), 2)


def test_many_wide_rows_take_little_memory():
    X = sparse.random_array((20_000, 50_000), density=2e-4, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    sampled_silhouette(X, np.arange(20_000) % 7, n_samples=400, metric="cosine")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # dense, these rows are 8 GB, and their distances from one another 3.2 GB


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([0, 0, 0], {}, r"labels must name at least 2 clusters and fewer than there are rows \(3\), got 1\."),
        ([0, 1, 2], {}, r"labels must name at least 2 clusters .*, got 3\."),
        ([0, 1], {}, r"labels must have one entry per row, got 2 for 3 rows\."),
        ([0, 0, 1], {"n_samples": 0}, r"n_samples must be an integer of at least 1, got 0\."),
        ([0, 0, 1], {"n_others": -1}, r"n_others must be None or an integer of at least 1, got -1\."),
        ([0, 0, 1], {"metric": "l1"}, r"metric must be one of 'euclidean', 'cosine', got 'l1'\."),
    ],
)
def test_what_has_no_silhouette_is_refused(labels, options, message):
    with pytest.raises(ValueError, match="^sampled_silhouette: " + message):
        sampled_silhouette(np.eye(3), labels, **options)
