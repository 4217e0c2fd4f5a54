"""SNDClassifier: its problem against a general solver, its conditions of optimality, and what it is for."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from reference import novelty as reference
from thresher.datasets import make_novelty
from thresher.metrics import detection_rate
from thresher.novelty import SNDClassifier
from thresher.novelty._snd import inverse_coupling, offsets

LABELS = np.array(["a", "b", "c", "d"])


def problem(n_rows=40, n_classes=3, seed=0, outliers=0.1):
    """Rows around a centre for each class; codes, of which the last is that of outliers."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n_rows)
    codes[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n_rows, 3)) + 1.5 * rng.normal(size=(n_classes, 3))[codes]
    outside = np.arange(n_rows) >= (1 - outliers) * n_rows
    X[outside], codes[outside] = rng.uniform(-4, 4, size=(outside.sum(), 3)), n_classes
    return X, codes


def named(codes, n_classes):
    return np.append(LABELS[:n_classes], "none")[codes]


def features_of(K):
    """Phi with Phi Phi' = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def best(K, Y, C, coupling):
    """W, rho and the least objective, of a general solver."""
    Phi, m = features_of(K), Y.shape[1]
    W, rho, slack = cp.Variable((Phi.shape[1], m)), cp.Variable((1, m)), cp.Variable(Y.shape, nonneg=True)
    root = np.linalg.cholesky(reference.coupling_matrix(coupling, m))
    objective = cp.sum_squares(W @ root) / 2 + cp.sum(C @ slack) - cp.sum(rho)
    rows = [cp.multiply(Y, Phi @ W) >= np.ones((len(Y), 1)) @ rho - slack]
    solved = cp.Problem(cp.Minimize(objective), rows)
    solved.solve(cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    return Phi, W.value, rho.value[0], solved.value


def test_the_inverse_of_the_coupling_is_one():
    for coupling, m in ((1.05, 2), (2.0, 3), (30.0, 7)):
        product = inverse_coupling(coupling, m) @ reference.coupling_matrix(coupling, m)
        assert_allclose(product, np.eye(m), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("nu", "coupling", "n_classes", "outliers"),
    [(0.3, 2.0, 3, 0.1), (0.1, 1.05, 2, 0.1), (0.5, 10.0, 4, 0.1), (0.3, 1.5, 2, 0.0), (0.2, 3.0, 3, 0.0)],
)
def test_it_is_the_optimum_that_a_general_solver_finds(nu, coupling, n_classes, outliers, weighted):
    X, codes = problem(n_classes=n_classes, outliers=outliers)
    weight = np.random.default_rng(5).exponential(size=len(X)) if weighted else np.ones(len(X))
    model = SNDClassifier(nu, coupling=coupling, gamma=0.2, outlier_label="none", tol=1e-10)
    model.fit(X, named(codes, n_classes), sample_weight=weight)
    K, Y, C = rbf_kernel(X, gamma=0.2), reference.signs(codes, n_classes), weight / (nu * weight.sum())
    Phi, W, rho, least = best(K, Y, C, coupling)
    f = Phi @ W - rho
    assert_allclose(model.class_scores(X), f, atol=2e-6)
    assert_allclose(-model.intercept_, rho, atol=2e-6)
    coef = np.zeros((n_classes, len(X)))
    coef[:, model.support_] = model.dual_coef_
    assert_allclose(reference.snd_primal(Phi.T @ coef.T, rho, Phi, Y, C, coupling), least, atol=1e-6)
    lengths = np.linalg.norm(W, axis=0)
    assert_allclose(model.norms_, lengths, rtol=1e-4)
    assert_allclose(model.cosines_, W.T @ W / np.outer(lengths, lengths), atol=1e-4)


def test_the_conditions_of_optimality_hold():
    X, codes = problem(120, seed=2)
    nu, coupling = 0.25, 1.6
    model = SNDClassifier(nu, coupling=coupling, gamma=0.3, outlier_label="none", tol=1e-12).fit(X, named(codes, 3))
    coef = np.zeros((3, len(X)))
    coef[:, model.support_] = model.dual_coef_
    Y, C = reference.signs(codes, 3), 1 / (nu * len(X))
    alpha = Y * (reference.coupling_matrix(coupling, 3) @ coef).T
    assert_allclose(alpha.sum(axis=0), 1.0, rtol=1e-9)
    assert alpha.min() > -1e-12
    assert alpha.max() < C * (1 + 1e-9)
    margin = Y * (rbf_kernel(X, gamma=0.3) @ coef.T) + model.intercept_
    free = (alpha > 1e-6 * C) & (alpha < C * (1 - 1e-6))
    assert free.any(axis=0).all()
    assert_allclose(margin[free], 0.0, atol=1e-6)
    assert margin[alpha < 1e-6 * C].min() > -1e-6
    assert margin[alpha > C * (1 - 1e-6)].max() < 1e-6
    used = np.flatnonzero((alpha > 0).any(axis=1))
    assert set(model.support_) <= set(used)  # the others are gone
    assert len(model.support_) < len(X)
    assert len(model.support_vectors_) == len(model.support_)


def test_offsets_lie_in_the_middle_where_no_row_is_inside_its_box():
    values = np.array([[1.0, 2.0, 5.0, 4.0]])
    assert_allclose(offsets(values, np.array([[0.5, 0.5, 0.0, 0.0]]), np.full(4, 0.5)), [3.0])
    assert_allclose(offsets(values, np.array([[0.5, 0.4, 0.1, 0.0]]), np.full(4, 0.5)), [3.5])
    assert_allclose(offsets(values, np.full((1, 4), 0.25), np.full(4, 0.25)), [5.0])


def test_a_share_nu_of_1_leaves_nothing_inside():
    X, codes = problem(outliers=0.0)
    model = SNDClassifier(1.0, gamma=0.2).fit(X, codes)
    assert (model.predict(X) == -1).all()
    assert len(model.support_) == len(X)


def test_two_classes_have_two_functions_that_look_away_from_one_another():
    X, y = make_novelty(100, outliers=0.0, random_state=0)
    model = SNDClassifier(0.1, gamma=5.0).fit(X, y)
    assert_allclose(model.cosines_, [[1.0, -1.0], [-1.0, 1.0]], atol=1e-9)  # without outliers, Y = (y, -y)
    assert_array_equal(model.intercept_[0], model.intercept_[1])  # so that the nearer class wins outside, too
    assert_array_equal(model.dual_coef_[0], -model.dual_coef_[1])
    far = np.array([[-2.0, -1.5], [1.5, 2.0]])
    assert_array_equal(model.predict(far), [-1, -1])
    assert_array_equal(model.set_params(reject=False).predict(far), [0, 1])
    loose = SNDClassifier(0.1, gamma=5.0, coupling=9.0, tol=1e-9).fit(X, y)
    tight = SNDClassifier(0.1, gamma=5.0, coupling=1.5, tol=1e-9).fit(X, y)
    assert_allclose(8 * loose.class_scores(X), 0.5 * tight.class_scores(X), atol=1e-7)
    assert model.class_scores(X).shape == (100, 2)
    assert_allclose(model.decision_function(X), np.diff(model.class_scores(X), axis=1)[:, 0])
    X, y = make_novelty(100, random_state=0)
    assert -0.9 < SNDClassifier(0.1, gamma=5.0).fit(X, y).cosines_[0, 1] < 0


@pytest.mark.parametrize("kind", ["blobs", "moons", "rings"])
@pytest.mark.parametrize("given", [False, True], ids=["outliers unknown", "outliers given"])
def test_it_rejects_about_nu_of_what_is_known_and_finds_the_outliers(kind, given):
    nu = 0.1
    rejected, found, right = [], [], []
    for seed in range(5):
        X, y = make_novelty(900, kind=kind, random_state=seed)
        rows = (np.arange(900) < 300) & (given | (y != -1))
        model = SNDClassifier(nu, gamma=5.0 if kind == "rings" else 15.0).fit(X[rows], y[rows])
        X, y = X[300:], y[300:]
        predicted = model.predict(X)
        rejected.append(np.mean(predicted[y != -1] == -1))
        found.append(detection_rate(y, predicted))
        answered = (predicted != -1) & (y != -1)
        right.append(np.mean(predicted[answered] == y[answered]))
    assert np.mean(rejected) <= nu + 0.05  # a row of a class may be missed by its own function only
    assert np.mean(found) >= 0.98
    assert np.mean(right) >= 0.995


def test_every_form_of_rows_gives_the_same_model(layout, dtype):
    X, codes = problem()
    X = (X * (np.abs(X) > 0.5)).astype(dtype)
    dense = SNDClassifier(0.2, gamma=0.2, outlier_label=3, tol=1e-10).fit(X.astype(float), codes)
    model = SNDClassifier(0.2, gamma=0.2, outlier_label=3, tol=1e-10).fit(layout(X), codes)
    assert_allclose(model.class_scores(layout(X)), dense.class_scores(X.astype(float)), atol=1e-6)
    assert_array_equal(model.support_, dense.support_)


def test_a_precomputed_kernel_is_the_kernel():
    X, codes = problem(60)
    y, weight = named(codes, 3), np.random.default_rng(0).integers(3, size=60).astype(float)
    weight[:3] = 1.0
    K = rbf_kernel(X, gamma=0.2)
    one = SNDClassifier(0.2, gamma=0.2, outlier_label="none").fit(X, y, sample_weight=weight)
    other = SNDClassifier(0.2, kernel="precomputed", outlier_label="none").fit(K, y, sample_weight=weight)
    assert_array_equal(one.support_, other.support_)
    assert not set(one.support_) & set(np.flatnonzero(weight == 0))
    new = np.random.default_rng(1).normal(size=(20, 3))
    assert_allclose(other.class_scores(rbf_kernel(new, X, gamma=0.2)), one.class_scores(new), atol=1e-5)
    with pytest.raises(ValueError, match="SNDClassifier: a precomputed kernel must be a square matrix"):
        other.fit(K[:, :10], y)


def test_rows_of_weight_0_are_absent_and_whole_weights_are_repeats():
    X, codes = problem(60)
    y, weight = named(codes, 3), np.random.default_rng(0).integers(3, size=60)
    weight[:3] = 1
    params = {"nu": 0.2, "outlier_label": "none", "tol": 1e-10}
    weighted = SNDClassifier(**params, gamma=0.2).fit(X, y, sample_weight=weight)
    repeated = SNDClassifier(**params, gamma=0.2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.class_scores(X), repeated.class_scores(X), atol=1e-6)
    weight = (weight > 0).astype(float)
    weighted = SNDClassifier(**params).fit(X, y, sample_weight=weight)  # gamma="scale", of the rows that are there
    without = SNDClassifier(**params).fit(X[weight > 0], y[weight > 0])
    assert_array_equal(weighted.class_scores(X), without.class_scores(X))
    assert_array_equal(weighted.support_, np.flatnonzero(weight)[without.support_])
    with pytest.raises(ValueError, match="sample_weight must be above zero for at least one row of every class"):
        SNDClassifier(**params).fit(X, y, sample_weight=(y != "a").astype(float))


def test_a_kernel_matrix_that_does_not_fit_is_made_row_by_row():
    X, codes = problem(400)
    whole = SNDClassifier(0.2, gamma=0.2, outlier_label=3).fit(X, codes)
    parts = SNDClassifier(0.2, gamma=0.2, outlier_label=3, cache_size=0.1).fit(X, codes)
    assert_allclose(parts.class_scores(X), whole.class_scores(X), atol=1e-5)


def test_rows_around_the_origin_have_no_linear_solution_and_it_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    with pytest.warns(ConvergenceWarning, match=r"SNDClassifier: all weights are nearly 0, .* surround the origin"):
        model = SNDClassifier(0.5, kernel="linear").fit(X, y)
    assert model.norms_.max() < 1e-2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SNDClassifier(0.5).fit(X, y)
        SNDClassifier(0.1, kernel="linear").fit(np.c_[np.where(y == 1, 3.0, -3.0), 0.1 * X], y)


def test_too_few_steps_are_warned_of():
    X, codes = problem()
    with pytest.warns(ConvergenceWarning, match=r"SNDClassifier: the duality gap is .* after 5 steps.*raise max_iter"):
        SNDClassifier(0.2, outlier_label=3, max_iter=5).fit(X, codes)


def test_the_same_rows_give_the_same_bits():
    X, codes = problem(100)
    one, other = (SNDClassifier(0.2, outlier_label=3).fit(X, codes) for _ in range(2))
    assert_array_equal(one.dual_coef_, other.dual_coef_)
    assert_array_equal(one.class_scores(X), other.class_scores(X))
