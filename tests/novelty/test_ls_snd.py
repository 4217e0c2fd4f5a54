"""LSSNDClassifier: the fast form against the direct system and a general solver, and where its borders are."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from reference import novelty as reference
from thresher.datasets import make_novelty
from thresher.metrics import detection_rate
from thresher.novelty import LSSNDClassifier
from thresher.novelty._ls_snd import border, least_squares_snd

EXACT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def problem(n_rows=30, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes + 1, size=n_rows)
    codes[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n_rows, 3)) + 1.5 * rng.normal(size=(n_classes + 1, 3))[codes]
    return X, codes


@pytest.mark.parametrize(
    ("n_classes", "coupling", "C"), [(2, 1.05, 10.0), (3, 2.0, 1.0), (5, 8.0, 1e4), (3, 1.5, 0.01)]
)
def test_the_fast_form_is_the_direct_system(n_classes, coupling, C):
    X, codes = problem(40, n_classes)
    K, Y = rbf_kernel(X, gamma=0.2), reference.signs(codes, n_classes)
    ridge = 1 / (C * np.random.default_rng(1).exponential(size=40))
    alpha, rho = reference.direct_ls_snd(K, Y, ridge, coupling)
    B, offset, _ = least_squares_snd(K, Y, ridge, coupling)
    assert_allclose(B * Y, alpha, rtol=1e-8, atol=1e-10 * np.abs(alpha).max())
    assert_allclose(offset, rho, rtol=1e-10)


@pytest.mark.parametrize(("n_classes", "coupling"), [(2, 1.05), (3, 2.0), (5, 8.0)])
def test_errors_of_rows_left_out_are_those_of_weights_learned_without_them(n_classes, coupling):
    X, codes = problem(30, n_classes)
    K, Y = rbf_kernel(X, gamma=0.2), reference.signs(codes, n_classes)
    ridge, inverse = 0.1 + np.random.default_rng(1).random(30), reference.coupling_matrix(coupling, n_classes)
    inverse = np.linalg.inv(inverse)
    _, rho, errors = least_squares_snd(K, Y, ridge, coupling, leave_out=True)
    for i in range(0, 30, 7):
        rest = np.delete(np.arange(30), i)
        system = np.kron(K[np.ix_(rest, rest)], inverse) + np.diag(np.repeat(ridge[rest], n_classes))
        B = np.linalg.solve(system, (Y * rho)[rest].ravel()).reshape(-1, n_classes)
        assert_allclose(Y[i] * rho - K[i, rest] @ B @ inverse, errors[i], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_optimum_that_a_general_solver_finds(weighted):
    X, codes = problem()
    C, coupling = 5.0, 1.7
    weight = np.random.default_rng(5).exponential(size=len(X)) if weighted else np.ones(len(X))
    weight /= weight.mean()
    model = LSSNDClassifier(C, coupling=coupling, gamma=0.2, outlier_label=3).fit(X, codes, sample_weight=weight)
    K, Y = rbf_kernel(X, gamma=0.2), reference.signs(codes, 3)
    values, vectors = np.linalg.eigh(K)
    Phi = vectors * np.sqrt(np.maximum(values, 0))
    W, rho = cp.Variable((len(X), 3)), cp.Variable((1, 3))
    slack = np.ones((len(X), 1)) @ rho - cp.multiply(Y, Phi @ W)
    root = np.linalg.cholesky(reference.coupling_matrix(coupling, 3))
    paid = C / 2 * cp.sum(weight @ cp.square(slack))
    cp.Problem(cp.Minimize(cp.sum_squares(W @ root) / 2 + paid - cp.sum(rho))).solve(cp.CLARABEL, **EXACT)
    assert_allclose(-model.intercept_, rho.value[0], rtol=1e-5)
    assert_allclose(model.class_scores(X) + model.thresholds_, Phi @ W.value - rho.value, atol=1e-6)
    assert_allclose(model.norms_, np.linalg.norm(W.value, axis=0), rtol=1e-5)
    assert_array_equal(model.support_, np.arange(len(X)))


def test_borders_leave_a_share_outside():
    values = np.array([5.0, 1.0, 2.0, 3.0, 4.0])
    assert border(values, np.ones(5), 0.4) == 2.5
    assert border(values, np.ones(5), 0.39) == 1.5
    assert 1 - 1e-8 <= border(values, np.ones(5), 0.19) < 1
    assert border(values, np.array([1.0, 4.0, 1.0, 1.0, 1.0]), 0.5) == 1.5
    assert border(np.array([2.0, 2.0, 3.0]), np.ones(3), 0.5) == 2.0


@pytest.mark.parametrize("nu", [0.0, 0.05, 0.2])
def test_at_most_a_share_nu_of_each_class_is_outside_its_border(nu):
    X, y = make_novelty(300, kind="moons", random_state=0)
    model = LSSNDClassifier(nu=nu, gamma=10.0).fit(X, y)
    for k in range(2):
        outside = np.mean(model.class_scores(X[y == k])[:, k] <= 0)
        assert nu - 1 / np.sum(y == k) < outside <= nu
    about_half = np.mean(model.class_scores(X[y == 0])[:, 0] + model.thresholds_[0] <= 0)
    assert about_half > 0.3  # 0 is what the equalities aim at, and no border


def test_borders_decide_on_rejections_only():
    X, codes = problem(80)
    model = LSSNDClassifier(gamma=0.2, outlier_label=3, nu=0.3).fit(X, codes)
    never = LSSNDClassifier(gamma=0.2, outlier_label=3, nu=0.3, reject=False).fit(X, codes)
    predicted, f = model.predict(X), model.class_scores(X) + model.thresholds_
    assert_array_equal(never.predict(X), f.argmax(axis=1))
    assert_array_equal(predicted == 3, (model.class_scores(X) <= 0).all(axis=1))
    inside = np.where(f > model.thresholds_, f, -np.inf)
    assert_array_equal(predicted[predicted != 3], inside.argmax(axis=1)[predicted != 3])
    assert_allclose(model.decision_function(X), f, atol=1e-12)


@pytest.mark.parametrize("kind", ["blobs", "moons", "rings"])
def test_it_rejects_about_nu_of_what_is_known_and_finds_the_outliers(kind):
    X, y = make_novelty(2000, kind=kind, random_state=0)
    model = LSSNDClassifier(gamma=10.0).fit(X[:800], y[:800])
    predicted, y = model.predict(X[800:]), y[800:]
    assert detection_rate(y, predicted) > 0.98
    assert np.mean(predicted[y != -1] == -1) < 0.05 + 0.03


@pytest.mark.parametrize("nu", [0.05, 0.2])
def test_with_a_width_from_neighbours_a_share_nu_of_new_rows_is_rejected(nu):
    """In ten columns, where a narrow kernel knows each row and hardly any other."""
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=1600)
    X = 3 * np.eye(4, 10)[codes] + rng.normal(size=(1600, 10))
    model = LSSNDClassifier(nu=nu).fit(X[:400], codes[:400])
    predicted = model.predict(X[400:])
    assert abs(np.mean(predicted == -1) - nu) < 0.03
    assert np.mean(predicted == codes[400:]) > 0.9 * (1 - nu)
    assert detection_rate(np.full(200, -1), model.predict(rng.normal(size=(200, 10)) - 3)) > 0.95
    assert_array_equal(model.thresholds_, np.zeros(4))


def test_a_kernel_matrix_that_does_not_fit_is_refused():
    X, codes = problem(400)
    with pytest.raises(ValueError, match=r"LSSNDClassifier: cache_size must hold the kernel matrix of 400 rows, 1 MB"):
        LSSNDClassifier(outlier_label=3, cache_size=1).fit(X, codes)


@pytest.mark.parametrize("given", [{"C": 1e16, "kernel": "linear"}, {"C": 1e20, "gamma": 1e-9}])
def test_a_matrix_that_cannot_be_factorised_is_refused(given):
    X, y = make_novelty(60, outliers=0.0, random_state=0)
    model = LSSNDClassifier(**given)
    with pytest.raises(ValueError, match=r"^LSSNDClassifier: the kernel matrix with 1 / C added .* positive definite"):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")
