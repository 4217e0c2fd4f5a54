"""AROWClassifier against its twins and against the problem it says it solves."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import online as reference
from reference.agreement import assert_weights, last, progressive, row_by_row
from thresher.online import AROWClassifier

VARIANTS = {
    "drop": {"diagonal": "drop"},
    "precision": {"diagonal": "precision"},
    "full": {"covariance": "full"},
}
variants = pytest.mark.parametrize("variant", VARIANTS)
constants = pytest.mark.parametrize("scaling", [0.0, 1.0, 0.3], ids="constant={}".format)


def learner(variant: str, scaling: float, **params):
    """A scaling of 0 means no constant."""
    given = {"r": 0.7, "max_iter": 1, "shuffle": False} | VARIANTS[variant] | params
    return AROWClassifier(fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def twin(variant: str, X, y, scaling: float, weight=None):
    if variant == "full":
        return reference.arow_full(X, y, r=0.7, intercept=scaling, weight=weight)
    return reference.arow_diagonal(X, y, r=0.7, diagonal=variant, intercept=scaling, weight=weight)


def assert_agrees(model, mu, sigma):
    assert_weights(model, mu)
    if sigma.ndim == 2:
        assert_allclose(model.covariance_[0], sigma[:-1, :-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.state_.arrays["covariance"][0], sigma, rtol=1e-10, atol=1e-13)
        sigma = np.diag(sigma)
    assert_allclose(model.variance_[0], sigma[:-1], rtol=1e-10, atol=1e-13)


@variants
@constants
def test_arow_agrees_with_the_paper_step_by_step(problem, layout, dtype, variant, scaling):
    X, y = problem
    model = learner(variant, scaling)
    steps = twin(variant, X.astype(dtype).astype(float), y, scaling)
    for _, (_, mu, sigma) in zip(row_by_row(model, X.astype(dtype), y, layout, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, sigma)


@variants
@constants
def test_arow_agrees_with_the_paper_after_a_fit(problem, layout, dtype, variant, scaling):
    X, y = problem
    model = learner(variant, scaling, max_iter=3).fit(layout(X.astype(dtype)), y)
    _, mu, sigma = last(twin(variant, np.tile(X.astype(dtype).astype(float), (3, 1)), np.tile(y, 3), scaling))
    assert_agrees(model, mu, sigma)


def test_the_three_forms_are_three_algorithms(problem):
    X, y = problem
    ends = [learner(variant, 1.0).fit(X, y).coef_ for variant in VARIANTS]
    assert min(np.abs(ends[i] - ends[j]).max() for i, j in ((0, 1), (0, 2), (1, 2))) > 1e-3


def test_diagonal_and_full_agree_on_rows_with_one_feature():
    rng = np.random.default_rng(3)
    X = np.eye(5)[rng.integers(5, size=40)] * rng.normal(size=(40, 1))
    y = rng.choice([-1, 1], size=40)
    drop, precision, full = (learner(variant, 0.0).fit(X, y) for variant in VARIANTS)
    for other in (precision, full):
        assert_allclose(other.coef_, drop.coef_, rtol=1e-12)
        assert_allclose(other.variance_, drop.variance_, rtol=1e-12)


def test_the_inverse_covariance_adds_up_the_rows_of_updates(problem, row_weights, layout):
    """S^-1 = I + sum_updates (weight / r) x x'"""
    X, y = problem
    for weight in (np.ones(len(y)), row_weights):
        model = learner("full", 0.0)
        precision, score = np.eye(X.shape[1]), 0.0
        for i, _ in enumerate(row_by_row(model, X, y, layout, weight, classes=[-1, 1])):
            if weight[i] > 0 and y[i] * score < 1:
                precision += weight[i] / 0.7 * np.outer(X[i], X[i])
            score = model.decision_function(X[(i + 1) % len(X)][None])[0]
            assert_allclose(np.linalg.inv(model.covariance_[0]), precision, rtol=1e-9, atol=1e-10)


def test_a_full_step_solves_the_problem_it_says_it_solves():
    """min KL(N(mu', S') || N(mu, S)) + (loss^2 + x'S'x) / (2 r),  over rows with a loss"""
    rng = np.random.default_rng(0)
    model = learner("full", 0.0)
    mu, sigma = np.zeros(3), np.eye(3)
    n_updates = 0
    for step in range(10):
        x, label, weight = rng.normal(size=3), rng.choice([-1, 1]), rng.choice([0.5, 1.0, 2.0])
        model.partial_fit(x[None], [label], classes=[-1, 1] if step == 0 else None, sample_weight=[weight])
        mu_after, sigma_after = model.coef_[0].copy(), model.covariance_[0].copy()
        if label * (mu @ x) >= 1:
            assert_array_equal(mu_after, mu)
            assert_array_equal(sigma_after, sigma)
            continue
        n_updates += 1
        m, S = cp.Variable(3), cp.Variable((3, 3), PSD=True)
        precision = np.linalg.inv(sigma)
        precision = (precision + precision.T) / 2
        divergence = (cp.trace(precision @ S) - cp.log_det(S) + cp.quad_form(m - mu, precision)) / 2
        data = weight / (2 * 0.7) * (cp.square(cp.pos(1 - label * (m @ x))) + x @ S @ x)
        cp.Problem(cp.Minimize(divergence + data)).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )
        assert_allclose(mu_after, m.value, atol=1e-4)
        assert_allclose(sigma_after, S.value, atol=1e-4)
        mu, sigma = mu_after, sigma_after
    assert n_updates > 4


@variants
@pytest.mark.parametrize("size", [1e3, 1e8, 1e12])
def test_a_feature_of_any_size_keeps_some_variance(variant, size):
    """One feature: S = r / (r + x^2), never 0, which could not be learned from again nor merged."""
    model = learner(variant, 0.0).partial_fit([[size]], [1], classes=[-1, 1])
    if variant == "full":
        assert (model.variance_ > 0).all()
    else:
        assert_allclose(model.variance_, [[0.7 / (0.7 + size**2)]], rtol=1e-6)


@variants
def test_a_row_weight_divides_r(problem, row_weights, layout, variant):
    X, y = problem
    model = learner(variant, 1.0)
    steps = twin(variant, X, y, 1.0, row_weights)
    for _, (_, mu, sigma) in zip(row_by_row(model, X, y, layout, row_weights, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, sigma)


@variants
def test_a_constant_row_weight_is_a_smaller_r(problem, variant):
    X, y = problem
    weighted = learner(variant, 1.0).fit(X, y, sample_weight=np.full(len(y), 4.0))
    assert_allclose(weighted.coef_, learner(variant, 1.0, r=0.7 / 4).fit(X, y).coef_, rtol=1e-12)


@variants
def test_a_row_of_weight_zero_changes_nothing(problem, row_weights, layout, variant):
    X, y = problem
    present = row_weights > 0
    weighted = learner(variant, 1.0, max_iter=2).fit(layout(X), y, sample_weight=row_weights)
    without = learner(variant, 1.0, max_iter=2).fit(layout(X[present]), y[present], sample_weight=row_weights[present])
    for name, array in without.state_.arrays.items():
        assert_array_equal(weighted.state_.arrays[name], array)


@variants
def test_class_weight_is_the_same_weight_on_each_row(problem, row_weights, variant):
    X, y = problem
    by_class = learner(variant, 1.0, class_weight={-1: 0.5, 1: 3.0}).fit(X, y, sample_weight=row_weights)
    by_row = learner(variant, 1.0).fit(X, y, sample_weight=row_weights * np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)


@variants
def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout, variant):
    X, y = three_classes
    model = learner(variant, 1.0).fit(layout(X), y, sample_weight=row_weights)
    scores, losses = [], []
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        steps = list(twin(variant, X, sign, 1.0, row_weights))
        _, mu, sigma = steps[-1]
        assert_allclose(model.coef_[k], mu[:-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.intercept_[k], mu[-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.variance_[k], (np.diag(sigma) if sigma.ndim == 2 else sigma)[:-1], rtol=1e-10, atol=1e-13)
        scores.append([step[0] for step in steps])
        losses.append(progressive(scores[k], sign, "hinge", row_weights))
    present = row_weights > 0
    assert model.n_mistakes_ == np.count_nonzero((np.array(list("abc"))[np.argmax(scores, axis=0)] != y)[present])
    assert_allclose(model.progressive_loss_, np.mean(losses), rtol=1e-12)
    assert_array_equal(model.predict(layout(X)), np.array(list("abc"))[model.decision_function(layout(X)).argmax(1)])


@variants
def test_progressive_loss_and_mistakes_are_those_of_the_twin(problem, row_weights, variant):
    X, y = problem
    for weight in (None, row_weights):
        model = learner(variant, 1.0).fit(X, y, sample_weight=weight)
        scores = np.array([step[0] for step in twin(variant, X, y, 1.0, weight)])
        present = np.ones(len(y), bool) if weight is None else weight > 0
        assert_allclose(model.progressive_loss_, progressive(scores, y, "hinge", weight), rtol=1e-12)
        assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])


@variants
def test_threads_leave_no_trace(three_classes, variant):
    X, y = three_classes
    one, two = (AROWClassifier(max_iter=3, random_state=0, n_jobs=n, **VARIANTS[variant]).fit(X, y) for n in (1, 2))
    for name, array in one.state_.arrays.items():
        assert_array_equal(two.state_.arrays[name], array)


@variants
def test_scores_are_those_of_the_weights(problem, three_classes, layout, dtype, variant):
    for X, y in (problem, three_classes):
        data = X.astype(dtype)
        model = learner(variant, 0.3).fit(layout(data), y)
        expected = data.astype(float) @ model.coef_.T + model.intercept_
        assert_allclose(model.decision_function(layout(data)), expected.squeeze(), rtol=1e-12, atol=1e-14)


def test_n_steps_counts_rows(problem):
    X, y = problem
    model = learner("drop", 1.0, n_steps=130).fit(X, y)
    assert (model.n_samples_seen_, model.n_iter_) == (130, 3)
    rows = np.arange(130) % 60
    assert_agrees(model, *last(twin("drop", X[rows], y[rows], 1.0))[1:])


@pytest.mark.parametrize("variant", ["drop", "precision"])
def test_a_long_sparse_stream_agrees_with_the_paper(variant):
    rng = np.random.default_rng(7)
    X = sparse.random_array((5000, 300), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=300) > 0, 1, -1)
    assert_agrees(learner(variant, 1.0).fit(X, y), *last(twin(variant, X.toarray(), y, 1.0))[1:])
