"""Kernel spectral clustering against the published eigenproblem, its stationarity, other solvers and known clusters."""

from __future__ import annotations

import copy
import inspect
import itertools
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from reference import spectral as reference
from strict_checks import parametrize_with_checks
from thresher import registry
from thresher._kernels import _weighted_pca as pca
from thresher.cluster import KernelSpectralClustering
from thresher.cluster import _kernel_spectral as module
from thresher.cluster._kernel_spectral import most_frequent, nearest, signs
from thresher.kernels import RBF, Linear, Polynomial, WeightedSum
from thresher.persistence import load_model, save_model
from thresher.tuning import CoupledAnnealingSearchCV, Log

KSC = KernelSpectralClustering


def exemptions(model):
    why = "Neighbours are rows, whatever their weights."
    by_variance = model.gamma == "neighbors" and model.n_clusters > 1
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse") if by_variance}


@parametrize_with_checks(
    [
        KSC(),
        KSC(1),
        KSC(3, gamma=0.1),
        KSC(gamma=0.1, eigen_solver="lanczos", decoding="margin"),
        KSC(gamma=0.1, kernel="polynomial", degree=2),
        KSC(gamma=0.1, n_components=20, random_state=0),
    ],
    expected_failed_checks=exemptions,
    xfail_strict=True,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    """Four clusters of unequal size in six columns, of which every fifth value is 0; near enough to touch."""
    X, labels = make_blobs([30, 20, 15, 10], 6, cluster_std=1.5, center_box=(-4, 4), random_state=3)
    X *= np.random.default_rng(0).random(X.shape) < 0.8
    return X, labels


def same_clusters(labels, others):
    return adjusted_rand_score(labels, others) == 1.0


# --- the eigenproblem -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eigen_solver", ["dense", "lanczos"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_it_solves_the_published_eigenproblem(blobs, layout, dtype, k, eigen_solver):
    X = blobs[0].astype(dtype)
    model = KSC(k, gamma=0.03, eigen_solver=eigen_solver, tol=1e-13).fit(layout(X))
    K = RBF(0.03)(X.astype(float))
    twin = reference.ksc(K, k)
    assert_allclose(model.eigenvalues_, twin.values, atol=1e-10)
    assert_allclose(model.dual_coef_, twin.alpha.T, atol=1e-10)
    assert_allclose(model.intercept_, twin.b, atol=1e-10)
    assert_allclose(model.transform(layout(X)), twin.scores, atol=1e-10)
    codes = reference.codebook(twin.scores, k)
    assert_array_equal(model.codebook_, codes)
    assert_array_equal(model.labels_, [reference.assign(e, twin.values, codes) for e in twin.scores])
    assert_array_equal(model.support_, np.arange(len(X)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("eigen_solver", ["dense", "lanczos"])
def test_all_equations_of_the_lagrangian_hold(blobs, eigen_solver, weighted):
    """By w, b, e and alpha; K alpha with explicit features, which know nothing of B."""
    X, _ = blobs
    s = np.random.default_rng(1).exponential(size=len(X)) if weighted else np.ones(len(X))
    model = KSC(4, gamma=0.03, eigen_solver=eigen_solver, tol=1e-13).fit(X, sample_weight=s)
    K = RBF(0.03)(X)
    values, vectors = np.linalg.eigh(K)
    Phi = vectors * np.sqrt(np.maximum(values, 0))
    v = s / (K @ s)
    for value, alpha, b in zip(model.eigenvalues_, model.dual_coef_, model.intercept_, strict=True):
        for name, rest in reference.stationarity(Phi, v, value, alpha, b).items():
            assert np.abs(rest).max() < 1e-10, name
        assert_allclose(v * (K @ alpha + b), value * alpha, atol=1e-10)  # e_i = lambda alpha_i / v_i
        assert_allclose(alpha @ K @ alpha, value, atol=1e-10)  # |w|^2
    assert_allclose((model.dual_coef_ / v) @ model.dual_coef_.T, np.eye(3), atol=1e-10)


def test_row_weights_are_numbers_of_rows(blobs):
    X, _ = blobs
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    model = KSC(3, gamma=0.03).fit(X, sample_weight=counts)
    other = KSC(3, gamma=0.03).fit(np.repeat(X, counts, axis=0))
    assert_allclose(model.eigenvalues_, other.eigenvalues_, atol=1e-10)
    assert_allclose(model.transform(X), other.transform(X), atol=1e-9)
    assert_array_equal(model.codebook_, other.codebook_)
    assert_array_equal(model.support_, np.flatnonzero(counts))
    assert_array_equal(model.labels_, model.predict(X))
    two, other = KSC(2, gamma=0.03).fit(X, sample_weight=counts), KSC(2, gamma=0.03).fit(np.repeat(X, counts, axis=0))
    assert_allclose(two.score(X), other.score(X), atol=1e-9)  # with degrees
    twin = reference.ksc(RBF(0.03)(X[counts > 0]), 3, counts[counts > 0].astype(float))
    assert_allclose(model.dual_coef_, twin.alpha.T, atol=1e-9)


@pytest.mark.parametrize("n_components", [None, 20])
def test_a_row_of_weight_0_is_absent_to_the_bit(blobs, n_components):
    X, _ = blobs
    weight = np.random.default_rng(4).exponential(size=len(X))
    weight[::4] = 0
    there = weight > 0
    model = KSC(3, n_components=n_components, random_state=0).fit(X, sample_weight=weight)
    other = KSC(3, n_components=n_components, random_state=0).fit(X[there], sample_weight=weight[there])
    assert_array_equal(model.dual_coef_, other.dual_coef_)
    assert_array_equal(model.support_, np.flatnonzero(there)[other.support_])
    assert_array_equal(model.labels_[there], other.labels_)
    assert model.score(X) == other.score(X)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2, 0.05, 1.0), WeightedSum([RBF(0.03), Linear(features=[0])], [1.0, 0.01])]
)
def test_other_kernels_solve_the_same_problem(blobs, kernel):
    X, _ = blobs
    twin = reference.ksc(kernel(X), 3)
    model = KSC(3, kernel).fit(X)
    assert_allclose(model.eigenvalues_, twin.values, atol=1e-9)
    assert_allclose(model.transform(X), twin.scores, atol=1e-7)


def test_a_precomputed_kernel_is_the_same_machine(blobs):
    X, _ = blobs
    K = RBF(0.03)(X)
    before = K.copy()
    weight = np.arange(len(X)) % 3.0
    for eigen_solver in ("dense", "lanczos"):
        plain = KSC(3, gamma=0.03, eigen_solver=eigen_solver).fit(X, sample_weight=weight)
        given = KSC(3, "precomputed", eigen_solver=eigen_solver).fit(K, sample_weight=weight)
        new = np.random.default_rng(0).normal(size=(9, 6))
        assert_allclose(given.transform(RBF(0.03)(new, X)), plain.transform(new), atol=1e-10)
        assert_array_equal(given.predict(RBF(0.03)(new, X)), plain.predict(new))
        assert_allclose(given.score(K), plain.score(X), atol=1e-10)
        assert_array_equal(given.labels_, plain.labels_)
    assert_array_equal(K, before)


# --- solvers ----------------------------------------------------------------------------------------------------------


def test_a_matrix_that_does_not_fit_is_made_block_by_block(blobs, monkeypatch):
    X, _ = blobs
    whole = KSC(3, gamma=0.03, tol=1e-13).fit(X)
    small = KSC(3, gamma=0.03, tol=1e-13, cache_size=1e-3).fit(X)
    assert_allclose(small.eigenvalues_, whole.eigenvalues_, atol=1e-12)
    assert_allclose(small.dual_coef_, whole.dual_coef_, atol=1e-10)
    assert_array_equal(small.labels_, whole.labels_)
    with pytest.raises(
        ValueError, match=r"^KernelSpectralClustering: cache_size must hold the kernel matrix of 75 rows"
    ):
        KSC(3, eigen_solver="dense", cache_size=1e-3).fit(X)


def test_the_solver_is_chosen_by_the_number_of_rows(blobs, monkeypatch):
    X, _ = blobs
    asked = []
    plain = module.of_kernel
    monkeypatch.setattr(module, "of_kernel", lambda *given: asked.append(given[3]) or plain(*given))
    for few, solver in itertools.product((75, 74), ("auto", "dense", "lanczos")):
        monkeypatch.setattr(module, "_FEW_ROWS", few)
        KSC(3, eigen_solver=solver).fit(X)
    assert asked == [False, False, True, True, False, True]


def test_memory_stays_far_below_the_kernel_matrix():
    X, labels = make_blobs(4000, 3, centers=3, cluster_std=0.5, random_state=0)
    tracemalloc.start()
    model = KSC(3, gamma=0.1, cache_size=1).fit(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert same_clusters(model.labels_, labels)
    assert most < 8 * 4000**2 * 0.8  # blocks of half of it at most, and their products


def test_coefficients_sum_to_0_however_loose_the_tolerance(blobs):
    model = KSC(3, gamma="scale", eigen_solver="lanczos", tol=0.1).fit(blobs[0])
    assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-13)
    assert_allclose(model.eigenvalues_, KSC(3, gamma="scale").fit(blobs[0]).eigenvalues_, rtol=0.1)


def test_eigenvectors_that_have_not_settled_are_told(blobs, monkeypatch):
    monkeypatch.setattr(pca, "_MAX_PRODUCTS", 2)
    with pytest.warns(
        ConvergenceWarning, match=r"^KernelSpectralClustering: eigenvectors are not exact to tol=1e-10; "
    ):
        KSC(3, eigen_solver="lanczos").fit(blobs[0])


@pytest.mark.parametrize("n_components", [None, 30])
def test_the_bits_do_not_depend_on_the_number_of_threads(n_components):
    X, _ = make_blobs(1200, 5, centers=3, cluster_std=3.0, random_state=0)
    found = []
    for n in (1, 4):
        with threadpool_limits(n, user_api="blas"):
            model = KSC(3, n_components=n_components, random_state=0).fit(X)
            found.append((model.dual_coef_, model.transform(X)))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


# --- landmarks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_with_all_rows_as_landmarks_it_is_the_full_form(blobs, layout, weighted):
    X, _ = blobs
    weight = np.random.default_rng(4).exponential(size=len(X)) if weighted else None
    full = KSC(4, gamma=0.1).fit(layout(X), sample_weight=weight)
    fixed = KSC(4, gamma=0.1, n_components=len(X), random_state=0).fit(layout(X), sample_weight=weight)
    assert_allclose(fixed.eigenvalues_, full.eigenvalues_, atol=1e-8)
    assert_allclose(fixed.transform(layout(X)), full.transform(layout(X)), atol=1e-8)
    assert_array_equal(fixed.codebook_, full.codebook_)
    assert_array_equal(fixed.labels_, full.labels_)
    for k in (2, 4):  # two clusters need degrees
        parts = {"gamma": 0.1, "random_state": 0}
        full, fixed = KSC(k, **parts).fit(X), KSC(k, n_components=len(X), **parts).fit(X)
        assert_allclose(fixed.score(X), full.score(X), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_few_landmarks_solve_the_problem_of_the_kernel_they_stand_for(blobs, weighted):
    X, _ = blobs
    s = np.random.default_rng(4).exponential(size=len(X)) if weighted else np.ones(len(X))
    model = KSC(3, gamma=0.03, n_components=15, random_state=0).fit(X, sample_weight=s)
    assert len(model.support_) == 15
    S = X[model.support_]
    K = RBF(0.03)(X, S) @ np.linalg.pinv(RBF(0.03)(S), hermitian=True) @ RBF(0.03)(S, X)
    v = s / (K @ s + s * (1 - K.diagonal()))
    e = model.transform(X)
    alpha = v[:, None] * e / model.eigenvalues_
    assert_allclose(alpha.sum(axis=0), 0, atol=1e-9)
    assert_allclose(K @ alpha + model.intercept_, e, atol=1e-8)  # with e_i = lambda alpha_i / v_i all equations hold
    assert_allclose((alpha.T / v) @ alpha, np.eye(2), atol=1e-8)
    others = np.linalg.eigvals((np.diag(v) - np.outer(v, v) / v.sum()) @ K).real
    assert_allclose(model.eigenvalues_, np.sort(others)[::-1][:2], atol=1e-8)
    assert_allclose(model._kernel_scores(X, model._degree_coef[None])[:, 0], K @ s, rtol=1e-7)


def test_a_row_far_from_all_landmarks_does_not_outweigh_the_others():
    """Its kernel with all landmarks is 0; without its similarity with itself, so would be its degree."""
    X, labels = make_blobs(200, 2, centers=[[0, 0], [6, 0]], cluster_std=0.7, random_state=0)
    X = np.vstack([X, np.random.default_rng(0).uniform(-60, 60, (6, 2))])
    models = [KSC(2, gamma=0.5, n_components=10, random_state=seed).fit(X) for seed in range(6)]
    far = [model for model in models if model.support_.max() < 200]
    assert len(far) > 3
    for model in far:
        assert same_clusters(labels, model.labels_[:200])


def test_landmarks_find_curved_clusters():
    X, ring = make_circles((300, 700), factor=0.4, noise=0.04, random_state=0)
    model = KSC(2, gamma=20.0, n_components=150, random_state=0).fit(X)
    assert same_clusters(model.labels_, ring)
    assert len(model.support_) == 150
    again = KSC(2, gamma=20.0, n_components=150, random_state=0).fit(X)
    assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.slow
def test_a_hundred_thousand_rows_need_no_square_matrix():
    X, labels = make_blobs(100_000, 5, centers=5, cluster_std=0.8, center_box=(-8, 8), random_state=1)
    tracemalloc.start()
    model = KSC(5, gamma=0.05, n_components="sqrt", random_state=0).fit(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(model.support_) == 317
    assert adjusted_rand_score(labels, model.labels_) > 0.99
    assert most < 8 * 100_000 * 317 * 3  # 80 GB would be square


# --- codes ------------------------------------------------------------------------------------------------------------


def test_the_labels_of_training_rows_are_predictions(blobs, layout, dtype):
    X = layout(blobs[0].astype(dtype))
    for decoding in ("hamming", "margin"):
        model = KSC(4, gamma=0.03, decoding=decoding)
        labels = model.fit_predict(X)
        assert_array_equal(labels, model.predict(X))
        assert_array_equal(labels, model.labels_)
        assert_array_equal(model.decision_function(X), model.transform(X))


def test_codes_are_counted_by_weight_and_ties_go_by_value():
    scores = np.array([[1.0, -2.0], [0.5, -1.0], [-1.0, 0.0], [-1.0, 3.0], [-2.0, 1.0], [1.0, 1.0]])
    codes = signs(scores)
    assert_array_equal(codes, [[1, -1], [1, -1], [-1, -1], [-1, 1], [-1, 1], [1, 1]])  # 0 is not positive
    assert codes.dtype == np.int8
    assert_array_equal(most_frequent(codes, np.ones(6), 3), [[-1, 1], [1, -1], [-1, -1]])
    assert_array_equal(most_frequent(codes, np.array([1.0, 1, 1, 1, 1, 9]), 2), [[1, 1], [-1, 1]])
    assert len(most_frequent(codes, np.ones(6), 9)) == 4


@pytest.mark.parametrize("decoding", ["hamming", "margin"])
def test_the_nearest_code_is_the_one_that_a_search_finds(decoding):
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(200, 4)), np.array([0.9, 0.5, 0.3, 0.01])
    codebook = np.unique(signs(rng.normal(size=(7, 4))), axis=0)[[2, 0, 1, 4, 3]]
    found = nearest(scores, np.sqrt(values), codebook, decoding)
    codes = [tuple(code) for code in codebook]
    assert_array_equal(found, [reference.assign(e, values, codes, decoding) for e in scores])
    other = nearest(scores, np.sqrt(values), codebook, "margin" if decoding == "hamming" else "hamming")
    assert (found != other).any()


def test_a_tie_goes_to_the_nearest_planes():
    codebook = np.array([[1, 1], [-1, -1]], dtype=np.int8)
    scores = np.array([[0.3, -0.2], [0.2, -0.3], [1.0, -0.4]])
    assert_array_equal(nearest(scores, np.ones(2), codebook, "hamming"), [0, 1, 0])
    assert_array_equal(nearest(scores, np.array([1.0, 0.1]), codebook, "hamming"), [1, 1, 1])  # planes at 2, 3 and 4


def test_fewer_codes_than_clusters_are_told(blobs):
    """Weights under which scores of three codes have mean 0 and no correlation, and the kernel that has such scores."""
    codes = np.repeat([[1, 1, 1], [1, -1, -1], [-1, 1, -1]], 20, axis=0)
    R = codes * np.random.default_rng(0).lognormal(sigma=1.5, size=(60, 3))
    pairs = np.stack([R[:, i] * R[:, j] for i, j in itertools.combinations(range(3), 2)])
    s = linprog(np.ones(60), A_eq=np.vstack([R.T, pairs]), b_eq=np.zeros(6), bounds=(1.0, None)).x
    R *= np.sqrt([0.9, 0.8, 0.7] / (s @ R**2) * s.sum())
    R, s = np.vstack([R, [1.0, 1.0, -1.0]]), np.r_[s, 0.0]  # a row that is absent has no say
    with pytest.warns(ConvergenceWarning, match=r"only 3 of 4 clusters have rows; use fewer clusters or another gamma"):
        model = KSC(4, "precomputed").fit(1.0 + R @ R.T, sample_weight=s)
    assert_allclose(model.eigenvalues_, [0.9, 0.8, 0.7], atol=1e-8)
    assert model.codebook_.shape == (3, 3)
    assert_array_equal(np.unique(model.labels_), [0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(KSC(4).fit(blobs[0]).codebook_) == 4


@pytest.mark.parametrize("sizes", [(30, 30, 30, 30), (90, 40, 20, 8), (50, 3, 25, 60)])
@pytest.mark.parametrize("eigen_solver", ["dense", "lanczos"])
def test_clusters_without_any_similarity_are_told_apart_under_every_rotation(sizes, eigen_solver):
    """Eigenvalues repeat then, and eigenvectors are free to rotate: products of score vectors stay below 0."""
    labels = np.repeat(np.arange(4), sizes)
    X = np.random.default_rng(0).normal(size=(len(labels), 2)) + 1000.0 * labels[:, None]
    model = KSC(4, gamma=1.0, eigen_solver=eigen_solver).fit(X)
    assert_allclose(model.eigenvalues_, 1.0, atol=1e-6)
    e, rng = model.transform(X), np.random.default_rng(1)
    for _ in range(50):
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turned = e @ rotation
        for p, q in itertools.combinations(range(4), 2):
            assert (turned[labels == p] @ turned[labels == q].T).max() < 0
    codes = {tuple(signs(e)[i]) for i in range(len(e))}
    for code in codes:
        assert len(np.unique(labels[(signs(e) == code).all(axis=1)])) == 1  # no code is of two clusters


# --- known clusters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eigen_solver", ["dense", "lanczos"])
def test_curved_clusters_are_found_and_new_rows_assigned(eigen_solver):
    for make, gamma in (
        (lambda seed: make_moons(300, noise=0.05, random_state=seed), 20.0),
        (lambda seed: make_moons((60, 300), noise=0.04, random_state=seed), 20.0),
        (lambda seed: make_circles((200, 150), factor=0.4, noise=0.04, random_state=seed), 20.0),
        (lambda seed: make_circles((400, 60), factor=0.3, noise=0.04, random_state=seed), 20.0),
    ):
        X, y = make(0)
        new, expected = make(1)
        model = KSC(2, gamma=gamma, eigen_solver=eigen_solver).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.97
        assert adjusted_rand_score(expected, model.predict(new)) > 0.97


@pytest.mark.parametrize("sizes", [(60, 60, 60), (200, 30, 60), (20, 150, 20)])
def test_blobs_of_unequal_size_on_a_line_are_found(sizes):
    """The middle one has a score of about 0 in one direction, and two codes."""
    labels = np.repeat(np.arange(3), sizes)
    X = 0.4 * np.random.default_rng(0).normal(size=(len(labels), 2)) + np.outer(labels, [4.0, 0.0])
    assert adjusted_rand_score(labels, KSC(3, gamma=0.5).fit(X).labels_) > 0.97


# --- model selection --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_the_score_is_the_line_fit_of_scores_labels_and_degrees(blobs, k):
    X, _ = blobs
    new = X + 0.5 * np.random.default_rng(0).normal(size=X.shape)
    model = KSC(k, gamma=0.03).fit(X)
    degrees = RBF(0.03)(new, X).sum(axis=1)
    for through in ("origin", "mean"):
        expected = reference.line_fit(model.transform(new), model.predict(new), degrees, 0.3, through)
        assert_allclose(model.line_fit(new, balance_weight=0.3, through=through), expected, rtol=1e-10)
    expected = reference.line_fit(model.transform(new), model.predict(new), degrees, 0.1, "origin")
    assert_allclose(model.score(new), expected, rtol=1e-10)
    assert KSC(1).fit(X).score(new) == 0.0


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_line_fit_prefers_the_true_number_of_clusters(k):
    for seed in range(3):
        centres = 6.0 * np.column_stack([np.cos(np.arange(k) * 2 * np.pi / k), np.sin(np.arange(k) * 2 * np.pi / k)])
        X, _ = make_blobs(60 * k, centers=centres, cluster_std=0.8, random_state=seed)
        search = GridSearchCV(KSC(gamma=0.2), {"n_clusters": range(2, 7)}, cv=3).fit(X)
        assert search.best_params_ == {"n_clusters": k}


def test_searches_find_the_width_of_the_kernel_by_themselves():
    X, y = make_circles(300, factor=0.4, noise=0.04, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    search = CoupledAnnealingSearchCV(KSC(2), {"gamma": Log(0.1, 100.0)}, n_evaluations=20, cv=3, random_state=0)
    search.fit(X[order])
    assert search.best_score_ > 0.95
    assert same_clusters(search.best_estimator_.labels_, y[order])


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be an integer of at least 1, got 0\."),
        ({"n_clusters": 2.0}, r"n_clusters must be an integer of at least 1, got 2\.0\."),
        ({"kernel": "poly"}, r"kernel must be one of .* or a kernel of thresher.kernels, got 'poly'\."),
        ({"gamma": -1.0}, r"gamma must be"),
        ({"decoding": "none"}, r"decoding must be one of 'auto', 'hamming', 'margin', 'angle', got 'none'\."),
        ({"eigen_solver": "arpack"}, r"eigen_solver must be one of 'auto', 'dense', 'lanczos', got 'arpack'\."),
        ({"tol": 0.0}, r"tol must be a number above 0, got 0\.0\."),
        ({"n_components": 0}, r"n_components must be"),
        ({"n_clusters": 76}, r"n_clusters must be at most the number of rows \(n_samples=75\), got 76\."),
        (
            {"kernel": "linear"},
            r"degrees \(sums of the kernel of a row with all rows\) must be finite and above 0, got -",
        ),
        (
            {"n_components": 2, "n_clusters": 4},
            r"n_clusters must be at most 3 for this kernel, which spreads .* got 4\.",
        ),
    ],
)
def test_bad_parameters_are_refused_and_leave_no_trace(blobs, params, message):
    model = KSC(**params)
    with pytest.raises(ValueError, match="^KernelSpectralClustering: " + message):
        model.fit(blobs[0])
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "labels_")


def test_more_clusters_than_directions_are_refused():
    rows = np.random.default_rng(0).uniform(1, 2, (20, 2))
    assert len(KSC(3, "linear").fit(rows).eigenvalues_) == 2
    for solver in ("dense", "lanczos"):
        with pytest.raises(
            ValueError, match=r"n_clusters must be at most 3 for this kernel, which spreads these rows in 2"
        ):
            KSC(4, "linear", eigen_solver=solver).fit(rows)
        with pytest.raises(ValueError, match=r"n_clusters must be at most 1 for this kernel"):
            KSC(2, eigen_solver=solver).fit(np.ones((20, 2)))


def test_a_refused_fit_leaves_the_old_one(blobs):
    X, _ = blobs
    K = RBF(0.03)(X)
    model = KSC(3, "precomputed").fit(K)
    before = model.transform(K)
    for given, weight in (
        (K - 1.0, None),
        (K, np.zeros(75)),
        (K, np.eye(75)[0]),
        (K, np.full(75, 1e308)),
        (K[:, :9], None),
        (np.triu(K), None),
    ):
        with pytest.raises(ValueError, match=r"^KernelSpectralClustering: "):
            model.fit(given, sample_weight=weight)
    assert_array_equal(model.transform(K), before)
    with pytest.raises(ValueError, match=r"n_components must be None if kernels are precomputed, got 3\."):
        KSC(3, "precomputed", n_components=3).fit(K)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_components": 9, "random_state": 0},
        {"kernel": WeightedSum([RBF(0.1), RBF(0.01, features=[1])])},
        {"n_clusters": 1},
    ],
    ids=str,
)
def test_a_file_keeps_all_that_is_needed(blobs, tmp_path, layout, params):
    X = layout(blobs[0])
    model = KSC(**{"n_clusters": 2, "decoding": "margin", **params}).fit(X)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.transform(X), model.transform(X))
    assert_array_equal(again.predict(X), model.labels_)
    assert again.score(X) == model.score(X)
    assert not hasattr(again, "labels_")


def test_names_of_columns_and_of_scores(blobs):
    frame = pd.DataFrame(blobs[0], columns=list("abcdef"))
    model = KSC(3, RBF(0.1, features=["b", "f"])).fit(frame)
    assert_array_equal(model.feature_names_in_, list("abcdef"))
    assert_array_equal(model.labels_, KSC(3, RBF(0.1, features=[1, 5])).fit(blobs[0]).labels_)
    assert_array_equal(model.get_feature_names_out(), ["kernelspectralclustering0", "kernelspectralclustering1"])
    assert model.set_output(transform="pandas").transform(frame).shape == (75, 2)
    assert_array_equal(model.predict(frame), model.labels_)


FORGERIES = {
    "constants of another number": ("intercept_", np.zeros(3)),
    "constants of integers": ("intercept_", np.zeros(2, dtype=int)),
    "constants that are not finite": ("intercept_", np.array([0.0, np.inf])),
    "constants of text": ("intercept_", "x"),
    "eigenvalues of 0": ("eigenvalues_", np.zeros(2)),
    "eigenvalues below 0": ("eigenvalues_", np.array([0.5, -0.5])),
    "eigenvalues that rise": ("eigenvalues_", np.array([0.4, 0.5])),
    "eigenvalues of another number": ("eigenvalues_", np.array([0.4])),
    "fewer scores": ("dual_coef_", np.zeros((1, 75))),
    "fewer coefficients": ("dual_coef_", np.zeros((2, 74))),
    "coefficients that are not finite": ("dual_coef_", np.full((2, 75), np.nan)),
    "support twice": ("support_", np.zeros(75, dtype=np.int64)),
    "degrees of fewer rows": ("_degree_coef", np.ones(74)),
    "degrees that are not finite": ("_degree_coef", np.full(75, np.inf)),
    "codes of other widths": ("codebook_", np.ones((3, 1), dtype=np.int8)),
    "codes twice": ("codebook_", np.ones((3, 2), dtype=np.int8)),
    "codes of other values": ("codebook_", np.array([[1, 1], [1, 0]], dtype=np.int8)),
    "codes of no size": ("codebook_", np.array([[1, 1], [1, -128]], dtype=np.int8)),
    "codes that are no integers": ("codebook_", np.array([[1.0, 1.0], [1.0, -1.0]])),
    "too many codes": ("codebook_", np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.int8)),
    "no codes": ("codebook_", np.empty((0, 2), dtype=np.int8)),
    "kernel without a number": ("kernel_", RBF()),
    "rows of no kind": ("_support_rows", {}),
    "width": ("n_features_in_", 3),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_attributes_that_do_not_belong_together_are_refused(blobs, forgery):
    model = copy.deepcopy(KSC(3, gamma="scale").fit(blobs[0]))
    model._check_loaded()
    setattr(model, *forgery)
    with pytest.raises(ValueError, match=r"^KernelSpectralClustering: |^RBF: "):
        model._check_loaded()


def test_every_constructor_parameter_has_a_rule_and_it_is_in_the_registry():
    assert set(KSC._param_rules) == set(inspect.signature(KSC).parameters)
    assert registry.estimators()["kernelspectralclustering"] is KSC
    assert sparse.issparse(KSC(2).fit(sparse.random_array((3000, 500), density=0.01, rng=0)).support_vectors_)
