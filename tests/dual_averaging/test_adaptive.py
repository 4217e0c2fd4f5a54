"""AdaptiveL1RDA: the objective of its weights, and what the constant pays."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.agreement import row_by_row
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher.dual_averaging import AdaptiveL1RDAClassifier


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.06])
@pytest.mark.parametrize("l2_weight", [0.0, 0.5])
def test_weights_minimise_the_objective_they_state(problem, loss, alpha, l2_weight):
    """min g.w + alpha |w|_1 + l2_weight |w|^2 / 2 + sum_j H_j w_j^2 / (2 eta0 t): half of the square (E18)"""
    X, y = problem
    slope = find_loss(loss).slope
    model = AdaptiveL1RDAClassifier(alpha, eta0=0.3, smoothing=0.2, l2_weight=l2_weight, loss=loss, fit_intercept=False)
    total, squares, w = np.zeros(12), np.zeros(12), np.zeros(12)
    for i, _ in enumerate(row_by_row(model, X, y, sparse.csr_array, classes=[-1, 1])):
        t = i + 1
        gradient = slope(w @ X[i], y[i]) * X[i]
        total, squares, w = total + gradient, squares + gradient**2, model.coef_[0]
        g, curve, used = total / t, (0.2 + np.sqrt(squares)) / (0.3 * t), w != 0
        assert_allclose((g + (l2_weight + curve) * w)[used], -alpha * np.sign(w[used]), rtol=1e-10, atol=1e-12)
        assert (np.abs(g[~used]) <= alpha * (1 + 1e-12) + 1e-15).all()
        if t in (2, 10, 60):
            v = cp.Variable(12)
            solve(g @ v + alpha * cp.norm1(v) + l2_weight / 2 * cp.sum_squares(v) + curve / 2 @ v**2)
            assert_allclose(w, v.value, atol=1e-6)
            assert_array_equal(used, np.abs(v.value) > 1e-6)
    assert w.any()
    assert alpha == 0 or not w.all()


def test_a_free_constant_is_not_penalised_at_all(problem):
    X, y = problem
    given = {"alpha": 10.0, "l2_weight": 5.0, "loss": "squared", "max_iter": 1, "shuffle": False}
    model = AdaptiveL1RDAClassifier(intercept_scaling=1.0, smoothing=0.1, eta0=0.5, **given)
    model.partial_fit(X, y, classes=[-1, 1])
    assert not model.coef_.any()
    total = squares = b = 0.0
    for target in y:  # dual averaging of the constant alone
        total, squares = total + (b - target), squares + (b - target) ** 2
        b = -0.5 * total / (0.1 + np.sqrt(squares))
    assert_allclose(model.intercept_, b, rtol=1e-12)
    model = AdaptiveL1RDAClassifier(penalize_intercept=True, **given).partial_fit(X, y, classes=[-1, 1])
    assert not model.intercept_.any()


@pytest.mark.parametrize("smoothing", [1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("eta0", [1e-9, 1e6])
def test_the_first_weight_follows_the_step_size(smoothing, eta0):
    model = AdaptiveL1RDAClassifier(0.25, eta0=eta0, smoothing=smoothing, fit_intercept=False)
    model.partial_fit([[2.0, 0.25, -3.0]], [1], classes=[-1, 1])  # hinge: G = -x
    expected = eta0 * np.array([1.75, 0.0, -2.75]) / (smoothing + np.array([2.0, 0.25, 3.0]))
    assert_allclose(model.coef_[0], expected, rtol=1e-14)
