"""Sparse K-means at several penalties."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from thresher.cluster import SparseKMeans, centre_path


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(200, 10, centers=4, cluster_std=0.7, center_box=(-3, 3), random_state=0)
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_each_point_is_a_model_begun_where_the_one_before_ended(blobs, layout, metric):
    X = layout(blobs)
    model = SparseKMeans(4, metric=metric, n_init=2, random_state=0)
    path = centre_path(X, model, [0.5, 0.0, 0.1])
    assert_array_equal(path.alphas, [0.0, 0.1, 0.5])
    start = "k-means++"
    rows = normalize(blobs) if metric == "cosine" else blobs
    for i, alpha in enumerate(path.alphas):
        n_init = 1 if i else 2
        one = SparseKMeans(4, metric=metric, alpha=alpha, init=start, n_init=n_init, random_state=0).fit(X)
        assert_array_equal(path.centres[i].toarray(), one.cluster_centers_)
        assert_array_equal(path.labels[i], one.labels_)
        assert path.inertia[i] == one.inertia_
        assert path.n_features_used[i] == len(one.support_)
        assert path.n_nonzero[i] == np.count_nonzero(one.cluster_centers_)
        own = one.cluster_centers_[one.labels_]
        away = (1 - (rows * own).sum(axis=1)).sum() if metric == "cosine" else ((rows - own) ** 2).sum()
        assert_allclose(path.distortion[i], away, rtol=1e-9)
        start = one.cluster_centers_


def test_the_grid_ends_where_little_is_left(blobs):
    path = centre_path(sparse.csr_array(blobs), SparseKMeans(4, random_state=0), alphas=6)
    assert len(path.alphas) == 6
    assert_allclose(path.alphas[-1] / path.alphas[0], 1e3)
    assert_allclose(path.alphas[-1], np.abs(SparseKMeans(4, random_state=0).fit(blobs).cluster_centers_).max())
    assert path.n_nonzero[0] > 5 * path.n_nonzero[-1]
    assert (np.diff(path.inertia) >= 0).all()  # the same cost and a larger penalty


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        (0, r"centre_path: alphas must be an integer of at least 1, got 0\."),
        ([], r"centre_path: alphas must hold a penalty, got none\."),
        ([0.1, -1.0], r"centre_path: alphas must be a number of at least 0, got -1.0\."),
    ],
)
def test_bad_penalties_are_refused(blobs, alphas, message):
    with pytest.raises(ValueError, match=message):
        centre_path(blobs, alphas=alphas)


def test_another_model_is_refused(blobs):
    from thresher.cluster import ProximalPlaneClustering

    with pytest.raises(ValueError, match=r"centre_path: model must be a SparseKMeans, got ProximalPlaneClustering\."):
        centre_path(blobs, ProximalPlaneClustering())
