"""ReweightedL1RDA: the objective of a step, weights that stay zero, and what is owed between touches."""

from __future__ import annotations

import copy

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.agreement import row_by_row
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher import onepass
from thresher.dual_averaging import ReweightedL1RDAClassifier


@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.006])
@pytest.mark.parametrize("rho", [0.0, 0.03])
def test_weights_minimise_the_objective_of_their_step(problem, alpha, rho):
    """min G.w + alpha sum_{s <= t} |Theta_s w|_1 + (sqrt(t) / eta0) (|w|^2 / 2 + rho |w|_1)"""
    X, y = problem
    slope = find_loss("logistic").slope
    model = ReweightedL1RDAClassifier(alpha, eta0=0.4, rho=rho, smoothing=0.1, loss="logistic", fit_intercept=False)
    total, Q, w = np.zeros(12), np.ones(12), np.zeros(12)
    for i, _ in enumerate(row_by_row(model, X, y, sparse.csr_array, classes=[-1, 1])):
        t = i + 1
        total += slope(w @ X[i], y[i]) * X[i]
        w, price, curve = model.coef_[0], alpha * Q + rho * np.sqrt(t) / 0.4, np.sqrt(t) / 0.4
        used = w != 0
        assert_allclose((total + curve * w)[used], -(price * np.sign(w))[used], rtol=1e-10, atol=1e-11)
        assert (np.abs(total[~used]) <= price[~used] * (1 + 1e-12) + 1e-15).all()
        if t in (2, 10, 60):
            v = cp.Variable(12)
            solve(total @ v + price @ cp.abs(v) + curve / 2 * cp.sum_squares(v))
            assert_allclose(w, v.value, atol=1e-6)
            assert_array_equal(used, np.abs(v.value) > 1e-6)
        Q += 1 / (np.abs(w) + 0.1)
    assert w.any()
    assert alpha == 0 or not w.all()


def after_a_gap(G, Q, t, n, model):
    """Weights of a model in which n steps went by without a gradient since sums G and penalties Q of step t."""
    learner = onepass.learner(model, len(G))
    state = learner.new_state(len(G))
    view = state.view(0)
    view["gradient_sum"][:-1], view["penalty_sum"][:-1], view["last_step"][:-1] = G, Q, t
    view["n_steps"][0] = t + n
    return learner, state, learner.weights(state)[0, :-1]


@pytest.mark.parametrize("smoothing", [1e-8, 1e-3, 0.1, 100.0])
@pytest.mark.parametrize("alpha, rho", [(0.0, 0.0), (1e-9, 0.0), (1e-3, 0.0), (1e-3, 0.02), (0.5, 0.0)])
@pytest.mark.parametrize("n", [1, 50, 3000])
def test_a_gap_is_the_steps_it_stands_for(smoothing, alpha, rho, n):
    rng = np.random.default_rng(0)
    G, Q = rng.normal(size=200) * 10 ** rng.uniform(-3, 3, 200), 10 ** rng.uniform(0, 5, 200)
    model = ReweightedL1RDAClassifier(alpha, eta0=0.7, rho=rho, smoothing=smoothing)
    learner, state, w = after_a_gap(G, Q, 20, n, model)

    def value(Q, t):
        return -0.7 / np.sqrt(t) * np.sign(G) * np.maximum(np.abs(G) - alpha * Q - rho * np.sqrt(t) / 0.7, 0)

    for t in range(20, 20 + n):
        Q = Q + 1 / (np.abs(value(Q, t)) + smoothing)
    expected = value(Q, 20 + n)
    # Near its end a weight falls ever faster: rounding of the sums is what it can keep.
    assert (np.abs(w - expected) <= 1e-9 * np.abs(G) * 0.7 / np.sqrt(20 + n)).all()
    assert_array_equal(w == 0, expected == 0)
    learner.settle(state)
    assert_array_equal(learner.weights(state)[0, :-1], w)
    # After its end a weight of a tiny smoothing adds far more in each step: its end is right to 1e-6 of a step.
    assert_allclose(state.view(0)["penalty_sum"][:-1], Q, rtol=5e-9)


def test_a_feature_that_comes_back_after_100_000_rows():
    """All the while it is zero, so that it costs one operation; and its penalty has grown as if it had been stepped."""
    model = ReweightedL1RDAClassifier(1e-3, eta0=1.0, smoothing=0.1, fit_intercept=False, loss="hinge")
    model.partial_fit(sparse.csr_array([[1.0, 0.0]]), [1], classes=[-1, 1])
    n = 100_000
    columns = np.tile([1.0], n)
    others = sparse.csr_array((columns, np.ones(n, int), np.arange(n + 1)), shape=(n, 2))
    model.partial_fit(others, np.ones(n, int))
    w, Q = 1.0, 1.0  # after step 1: G = -1, w = 1 - alpha Q
    for t in range(1, n + 1):
        w = max(0.0, 1 - 1e-3 * Q) / np.sqrt(t)
        Q += 1 / (w + 0.1)
    assert w == 0
    model.partial_fit(sparse.csr_array([[1.0, 0.0]]), [1])
    onepass.learner(model, 2).settle(model.state_)
    assert_allclose(model.state_.view(0)["penalty_sum"][0], Q + 10, rtol=1e-9)
    assert model.state_.view(0)["last_step"][0] == n + 2
    assert model.state_.view(0)["gradient_sum"][0] == -2


def test_a_zero_that_its_gradient_leaves_zero_owes_the_step():
    """The sum of its penalties only rises, so it need not be known until a gradient is large enough for the old one."""
    model = ReweightedL1RDAClassifier(1e-2, eta0=1.0, smoothing=0.1, fit_intercept=False, loss="hinge")
    rows = sparse.csr_array([[1.0, 0.0], *[[0.0, 1.0]] * 1000, [1.0, 0.0], [1.0, 0.0], [500.0, 0.0]])
    y = np.ones(rows.shape[0], int)
    model.partial_fit(rows[:1001], y[:1001], classes=[-1, 1])
    whole = copy.deepcopy(model)
    model.partial_fit(rows[1001:1003], y[1001:1003])
    late = model.state_.view(0)["last_step"][0]
    model.partial_fit(rows[1003:], y[1003:])
    assert late < 1003 < model.state_.view(0)["last_step"][0] == 1004
    onepass.learner(whole, 2).settle(whole.state_)
    whole.partial_fit(rows[1001:], y[1001:])
    assert_allclose(model.coef_, whole.coef_, rtol=1e-12)
    assert model.coef_[0, 0] > 0


def test_zero_costs_nothing_and_stays_zero():
    learner, state, w = after_a_gap(
        np.array([1.0, -1.0]), np.array([2e3, 2e3]), 5, 10**12, ReweightedL1RDAClassifier(1e-3, eta0=1.0)
    )
    assert_array_equal(w, [0, 0])
    learner.settle(state)
    assert_allclose(state.view(0)["penalty_sum"][:2], 2e3 + 1e13, rtol=1e-15)


def test_a_free_constant_is_not_penalised_at_all(problem):
    X, y = problem
    given = {"alpha": 5.0, "eta0": 1.0, "rho": 1.0, "smoothing": 0.01, "max_iter": 1, "shuffle": False}
    model = ReweightedL1RDAClassifier(**given).partial_fit(X, y, classes=[-1, 1])
    assert not model.coef_.any()
    assert model.intercept_ != 0
    model = ReweightedL1RDAClassifier(penalize_intercept=True, **given).partial_fit(X, y, classes=[-1, 1])
    assert not model.intercept_.any()


@pytest.mark.parametrize("changed", [{"alpha": 1e-3 * (1 + 1e-9)}, {"eta0": 1 + 1e-9}, {"loss": "log_loss"}])
def test_a_parameter_that_changes_under_way_holds_from_then_on(problem, changed):
    """Weights that were not touched since owe steps of the old parameter."""
    X, y = sparse.csr_array(problem[0]), problem[1]
    one, two = (ReweightedL1RDAClassifier(1e-3, eta0=1.0, loss="logistic") for _ in range(2))
    for model in (one, two):
        model.partial_fit(X[:40], y[:40], classes=[-1, 1])
    one.set_params(**changed)
    assert_allclose(one.partial_fit(X[40:], y[40:]).coef_, two.partial_fit(X[40:], y[40:]).coef_, rtol=1e-6)
    assert two.coef_.any()
