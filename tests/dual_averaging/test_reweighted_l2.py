"""ReweightedL2RDA: the objective of a step, and the jumps by which a weight without gradient is brought up to date."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.agreement import row_by_row
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher import onepass
from thresher.dual_averaging import ReweightedL2RDAClassifier, ReweightedL2RDARegressor


def after_a_gap(G, R, n, alpha, smoothing):
    """Weights of a model in which n steps went by without a gradient since sums G and denominators R."""
    model = ReweightedL2RDAClassifier(alpha=alpha, smoothing=smoothing, threshold=0.0)
    learner = onepass.learner(model, len(G))
    state = learner.new_state(len(G))
    view = state.view(0)
    view["gradient_sum"][:-1], view["denominator"][:-1], view["last_step"][:-1] = G, R, 7
    view["n_steps"][0] = 7 + n
    return learner, state, learner.weights(state)[0, :-1]


def stepped(G, R, n, alpha, smoothing):
    for _ in range(n):
        R = R + alpha + 1 / ((G / R) ** 2 + smoothing)
    return -G / R


@pytest.mark.parametrize("alpha", [1e-100, 1e-12, 1e-6, 1e-2, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("smoothing", [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e4])
def test_a_jump_is_the_steps_it_stands_for(alpha, smoothing):
    """Small and large sums and denominators, before, at and behind the place where the recursion bends most."""
    rng = np.random.default_rng(0)
    G = rng.choice([-1, 1], 300) * 10 ** rng.uniform(-6, 5, 300)
    R = 1 + 10 ** rng.uniform(-6, 6, 300)
    G[200:], R[200:] = 10 ** rng.uniform(-1, 3, 100) / np.sqrt(smoothing), 1 + 10 ** rng.uniform(-1, 2, 100)
    for n in (1, 9, 60, 1000, 5000):
        *_, w = after_a_gap(G, R, n, alpha, smoothing)
        assert_allclose(w, stepped(G, R, n, alpha, smoothing), rtol=2e-8, err_msg=f"{n} steps")


@pytest.mark.parametrize("n_steps, accuracy", [(16_000, 2e-8), (100_000, 1e-3)])  # one by one, and in strides
def test_long_gaps(n_steps, accuracy):
    rng = np.random.default_rng(1)
    G, R = 10 ** rng.uniform(-4, 4, 50), 1 + 10 ** rng.uniform(-3, 4, 50)
    pairs = [(alpha, smoothing) for alpha in (1e-12, 1e-3, 10.0) for smoothing in (1e-3, 0.1, 10.0)]
    seen = np.concatenate([after_a_gap(G, R, n_steps, *pair)[2] for pair in pairs])
    alpha, smoothing = np.repeat(pairs, 50, axis=0).T
    assert_allclose(seen, stepped(np.tile(G, 9), np.tile(R, 9), n_steps, alpha, smoothing), rtol=accuracy)


def test_gradients_as_good_as_nothing_stay_finite():
    """A logistic slope of a sure row may be the smallest number there is."""
    G = np.array([5e-324, -1e-310, 1e-200, 1e-162, 0.0])
    for alpha in (1e-12, 1.0):
        *_, w = after_a_gap(G, np.full(5, 2.5), 1000, alpha, 0.5)
        assert_allclose(w, stepped(G, np.full(5, 2.5), 1000, alpha, 0.5), rtol=1e-8, atol=1e-323)


def test_a_weight_that_never_had_a_gradient_has_a_closed_form():
    learner, state, w = after_a_gap(np.zeros(3), np.ones(3), 10**6, 0.25, 0.5)
    assert not w.any()
    state.view(0)["last_step"][1] = state.view(0)["denominator"][1] = 0  # a feature that no row had: Theta_1 = 1
    learner.settle(state)
    assert_array_equal(state.view(0)["denominator"][[0, 1]], [1 + 10**6 * 2.25, 1.25 + (10**6 + 6) * 2.25])
    assert_array_equal(state.view(0)["last_step"][[0, 1]], [10**6 + 7] * 2)


def test_settling_and_looking_agree_to_the_bit():
    rng = np.random.default_rng(2)
    learner, state, w = after_a_gap(rng.normal(size=50), 1 + rng.random(50), 777, 0.01, 0.1)
    learner.settle(state)
    assert_array_equal(learner.weights(state)[0, :-1], w)


def test_weights_minimise_the_objective_of_their_step(problem):
    """min G.w + alpha t |w|^2 / 2 + sum_{s <= t} |Theta_s^(1/2) w|^2 / 2, with half of both squares (E19)"""
    X, y = problem
    slope = find_loss("logistic").slope
    model = ReweightedL2RDAClassifier(0.05, smoothing=4.0, threshold=0.0, loss="logistic", fit_intercept=False)
    total, thetas, w = np.zeros(12), [np.ones(12)], np.zeros(12)
    for i, _ in enumerate(row_by_row(model, X, y, sparse.csr_array, classes=[-1, 1])):
        t = i + 1
        total += slope(w @ X[i], y[i]) * X[i]
        w = model.coef_[0]
        assert_allclose(total + (0.05 * t + np.sum(thetas, axis=0)) * w, 0, atol=1e-8)
        if t in (2, 10, 60):
            v = cp.Variable(12)
            solve(total @ v + 0.05 * t / 2 * cp.sum_squares(v) + np.sum(thetas, axis=0) @ v**2 / 2)
            assert_allclose(w, v.value, atol=1e-6)
        thetas.append(1 / (w**2 + 4))
    assert np.abs(w).max() > 0.1


def test_the_threshold_cuts_what_is_read_and_nothing_that_is_learned(problem):
    X, y = problem
    given = {"smoothing": 0.5, "max_iter": 1, "shuffle": False}
    plain = ReweightedL2RDAClassifier(threshold=0.0, **given).fit(X, y)
    for threshold in (0.02, float(np.sort(np.abs(plain.coef_[0]))[5]), 10.0):
        cut = ReweightedL2RDAClassifier(threshold=threshold, **given).partial_fit(X, y, classes=[-1, 1])
        assert_array_equal(cut.coef_, np.where(np.abs(plain.coef_) <= threshold, 0, plain.coef_))
        assert_array_equal(cut.intercept_, plain.intercept_)
        assert_allclose(cut.decision_function(X), X @ cut.coef_[0] + cut.intercept_, atol=1e-12)
        assert cut.progressive_loss_ == plain.progressive_loss_
        for name, array in plain.state_.arrays.items():
            assert_array_equal(cut.state_.arrays[name], array)


def test_a_parameter_that_changes_under_way_holds_from_then_on(problem):
    """Weights that were not touched since owe steps of the old parameter."""
    X, y = sparse.csr_array(problem[0]), problem[1]
    model = ReweightedL2RDAClassifier(alpha=0.01, smoothing=0.5, threshold=0.0)
    same = ReweightedL2RDAClassifier(alpha=0.01, smoothing=0.5, threshold=0.0)
    model.partial_fit(X[:40], y[:40], classes=[-1, 1])
    same.partial_fit(X[:40], y[:40], classes=[-1, 1])
    model.set_params(alpha=0.01 * (1 + 1e-9))
    assert_allclose(model.partial_fit(X[40:], y[40:]).coef_, same.partial_fit(X[40:], y[40:]).coef_, rtol=1e-6)


def test_squared_loss_finds_the_relevant_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40))
    model = ReweightedL2RDARegressor(threshold=0.1, shuffle=False).fit(X, 2 * X[:, 3] - X[:, 7])
    assert_array_equal(model.support_, [3, 7])
