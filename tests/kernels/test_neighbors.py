"""Widths and kernels from neighbours: their twins, and what kernel methods reach with them without any tuning."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from thresher._kernels import RBF, Neighbors, neighbor_width, share_neighbors
from thresher.cluster import KernelSpectralClustering
from thresher.kernels import RBF as PublicRBF
from thresher.novelty import SNDClassifier
from thresher.persistence import load_model, save_model
from thresher.semi_supervised import S3VC, BiSemiKSC, LapSVC, SemiKSC, TriClassSVC, UniversumSVC

FEW_LABELS = [SemiKSC, BiSemiKSC, LapSVC, UniversumSVC, TriClassSVC, S3VC]


def rows(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def twin_weights(X, anchors, k):
    """Row by row: [1 - d / h]_+ of the anchors, with h the distance from the one after the k nearest."""
    Z = np.zeros((len(X), len(anchors)))
    for i, x in enumerate(X):
        d = ((anchors - x) ** 2).sum(axis=1)
        Z[i] = np.maximum(1 - d / np.sort(d)[k], 0)
        Z[i] /= Z[i].sum()
    return Z


def moons():
    X, truth = make_moons(300, noise=0.05, random_state=0)
    y = np.full(300, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:5]] = c
    return X, y, truth


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n", [40, 300])
def test_the_width_is_two_over_the_median_distance_from_the_tenth_neighbour(layout, n):
    X = rows(n)
    k = min(10, int(np.ceil(np.sqrt(n))))
    tenth = [np.sort(((X - x) ** 2).sum(axis=1))[k] for x in X]
    assert_allclose(neighbor_width(layout(X)), 2 / np.median(tenth), rtol=1e-10)
    assert RBF("neighbors").settled(layout(X)).gamma == neighbor_width(layout(X))
    assert PublicRBF is RBF


@pytest.mark.parametrize("factor", [1e-3, 10.0])
def test_the_width_follows_the_scale_of_the_rows(factor):
    X = rows()
    assert_allclose(neighbor_width(factor * X) * factor**2, neighbor_width(X), rtol=1e-10)


def test_rows_that_are_all_alike_have_the_width_of_their_variance():
    assert neighbor_width(np.ones((30, 2))) == 0
    assert RBF("neighbors").settled(np.ones((30, 2))).gamma == 1.0
    assert RBF("neighbors").settled(np.ones((1, 2))).gamma == 1.0


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_weights_and_kernel_agree_with_their_twins(layout):
    X, anchors = rows(80), rows(150, seed=1)
    Z = twin_weights(X, anchors, 10)
    assert_allclose(Neighbors()(layout(X), layout(anchors)), Z, atol=1e-12)
    shared = share_neighbors(Neighbors(), layout(X), layout(anchors))
    K = sum(np.outer(z, z) / z.sum() for z in Z.T if z.sum() > 0)
    assert_allclose(shared.matrix(), K, atol=1e-12)
    assert_allclose(K.sum(axis=1), 1.0)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    spread = share_neighbors(Neighbors(), layout(X), layout(anchors), 0.9)
    wide = K @ np.linalg.inv(np.eye(80) - 0.9 * K)
    assert_allclose(spread.matrix(), wide / wide.diagonal().mean(), atol=1e-10)


@pytest.mark.parametrize("spread", [0.0, 0.9])
def test_values_of_anchors_give_the_scores_of_coefficients(spread):
    X, coef = rows(80), rows(2, 80, seed=3)
    shared = share_neighbors(Neighbors(), X, X, spread)
    assert_allclose(Neighbors()(X, X) @ shared.of_anchors(coef).T, shared.matrix() @ coef.T, atol=1e-10)


def test_rows_that_are_repeated_are_neighbours_of_one_weight():
    X = np.repeat(rows(4), 20, axis=0)
    Z = Neighbors()(X, X)
    assert np.isfinite(Z).all()
    assert_allclose(Z.sum(axis=1), 1.0)


@pytest.mark.parametrize("cls", FEW_LABELS)
def test_two_moons_with_ten_labels_whatever_their_scale(cls, tmp_path):
    X, y, truth = moons()
    model = cls().fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.97
    assert_array_equal(cls().fit(10 * X, y).transduction_, model.transduction_)
    assert np.mean(model.predict(X) == model.transduction_) > 0.99
    save_model(model, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").decision_function(X), model.decision_function(X))


def test_rings_are_clusters_whatever_their_scale(tmp_path):
    X, ring = make_circles(400, factor=0.4, noise=0.04, random_state=0)
    model = KernelSpectralClustering(2).fit(X[:300])
    assert adjusted_rand_score(ring[300:], model.predict(X[300:])) == 1
    assert_array_equal(KernelSpectralClustering(2).fit(10 * X[:300]).labels_, model.labels_)
    save_model(model, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").predict(X), model.predict(X))
    many, blob = make_blobs(600, 5, centers=8, random_state=0)
    for n_components in (None, 100):
        model = KernelSpectralClustering(8, n_components=n_components, random_state=0).fit(many)
        assert adjusted_rand_score(blob, model.labels_) > 0.95


def test_a_kernel_that_does_not_fit_is_one_with_a_width_by_neighbours():
    X, y, _ = moons()
    small = SemiKSC(cache_size=0.7).fit(X, y)
    assert isinstance(small.kernel_, Neighbors)
    model = UniversumSVC(cache_size=0.1).fit(X, y)
    assert model.kernel_ == RBF(neighbor_width(X[model.support_])) or isinstance(model.kernel_, RBF)


def test_a_ring_around_three_blobs_is_new_and_few_known_rows_are_rejected():
    X, blob = make_blobs(900, centers=[[-4, 0], [4, 0], [0, 5]], random_state=0)
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    ring = 12 * np.c_[np.cos(angle), np.sin(angle)] + [0, 1.5]
    model = SNDClassifier().fit(X[:500], blob[:500])
    assert (model.predict(ring) == -1).all()
    assert np.mean(model.predict(X[500:]) == -1) < 0.15
    scores = -model.class_scores(np.vstack([X[500:], ring])).max(axis=1)
    assert roc_auc_score(np.repeat([0, 1], [400, 200]), scores) > 0.995
    assert_array_equal(SNDClassifier().fit(10 * X[:500], blob[:500]).predict(10 * X), model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_about_a_share_nu_of_known_rows_is_rejected_however_many_classes_there_are(n_classes):
    X, blob = make_blobs(1200, 10, centers=n_classes, cluster_std=2.0, random_state=1)
    model = SNDClassifier(0.1).fit(X[:500], blob[:500])
    assert np.mean(model.predict(X[500:]) == -1) < 0.15


def test_a_number_gives_the_published_machine():
    X, blob = make_blobs(200, centers=3, random_state=0)
    one, other = SNDClassifier(gamma=0.3), SNDClassifier(gamma=0.3, coupling=2.0)
    assert_array_equal(one.fit(X, blob).class_scores(X), other.fit(X, blob).class_scores(X))
