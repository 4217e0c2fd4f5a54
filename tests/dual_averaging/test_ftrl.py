"""FTRL: its closed form is the leader that proximal terms regularise, and what the constant pays."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize_scalar

from reference.agreement import row_by_row
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher.dual_averaging import FTRLClassifier


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("l1", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("l2, beta", [(0.0, 1.0), (0.5, 0.3), (1.0, 0.0)])
def test_weights_follow_the_regularised_leader(problem, loss, l1, l2, beta):
    """min sum_s g_s.w + sum_s sum_j sigma_sj (w_j - w_sj)^2 / 2 + beta |w|^2 / (2 alpha) + l1 |w|_1 + l2 |w|^2 / 2

    sum_{s <= t} sigma_s = sqrt(sum of squared gradients) / alpha, feature by feature; w_s is where g_s was taken.
    """
    X, y = problem
    alpha, slope = 0.3, find_loss(loss).slope
    model = FTRLClassifier(alpha, beta=beta, alpha=l1, l2=l2, loss=loss, fit_intercept=False)
    gradients, places, w = [], [], np.zeros(12)
    for i, _ in enumerate(row_by_row(model, X, y, sparse.csr_array, classes=[-1, 1])):
        gradients.append(slope(w @ X[i], y[i]) * X[i])
        places.append(w)
        w = model.coef_[0]
        curves = np.sqrt(np.cumsum(np.square(gradients), axis=0)) / alpha
        sigma = np.diff(curves, axis=0, prepend=np.zeros((1, 12)))
        pull = np.sum(gradients, axis=0) + np.sum(sigma * (w - np.array(places)), axis=0) + (l2 + beta / alpha) * w
        used = w != 0
        assert_allclose(pull[used], -l1 * np.sign(w[used]), rtol=1e-10, atol=1e-10)
        assert (np.abs(pull[~used]) <= l1 * (1 + 1e-12) + 1e-13).all()
        if i in (1, 9, 59):
            v = cp.Variable(12)
            stay = sum(s / 2 @ (v - place) ** 2 for s, place in zip(sigma, places, strict=True))
            ridge = (l2 + beta / alpha) / 2 * cp.sum_squares(v)
            solve(np.sum(gradients, axis=0) @ v + stay + ridge + l1 * cp.norm1(v))
            assert_allclose(w, v.value, atol=2e-6)
            assert_array_equal(used, np.abs(v.value) > 2e-6)
    assert w.any()
    assert l1 < 1 or not w.all()


def test_one_weight_is_the_minimum_that_a_line_search_finds():
    model = FTRLClassifier(0.7, beta=0.4, alpha=0.3, l2=0.2, loss="squared", fit_intercept=False)
    z, n, w = 0.0, 0.0, 0.0
    for x, y in [(2.0, 1), (-1.0, 1), (0.5, -1), (3.0, 1)]:
        g = (w * x - y) * x
        z, n = z + g - w * (np.sqrt(n + g * g) - np.sqrt(n)) / 0.7, n + g * g
        model.partial_fit([[x]], [y], classes=[-1, 1])
        w = model.coef_[0, 0]
        found = minimize_scalar(
            lambda v, z=z, n=n: z * v + 0.3 * abs(v) + (0.2 + (0.4 + np.sqrt(n)) / 0.7) * v * v / 2, tol=1e-12
        )
        assert_allclose(w, found.x, atol=1e-6)
    assert w != 0


def test_a_free_constant_has_neither_penalty(problem):
    X, y = problem
    given = {"eta0": 0.5, "alpha": 100.0, "l2": 5.0, "loss": "squared", "max_iter": 1, "shuffle": False}
    for beta in (1.0, 0.0):
        model = FTRLClassifier(beta=beta, intercept_scaling=1.0, **given).partial_fit(X, y, classes=[-1, 1])
        assert not model.coef_.any()
        z = n = b = 0.0
        for target in y:
            g = b - target
            z, n = z + g - b * (np.sqrt(n + g * g) - np.sqrt(n)) / 0.5, n + g * g
            b = -0.5 * z / (beta + np.sqrt(n))
        assert_allclose(model.intercept_, b, rtol=1e-12)
    model = FTRLClassifier(penalize_intercept=True, **given).partial_fit(X, y, classes=[-1, 1])
    assert not model.intercept_.any()


def test_a_constant_without_inertia_starts_at_zero():
    model = FTRLClassifier(beta=0.0, l2=1.0).partial_fit([[0.0]], [1], classes=[-1, 1], sample_weight=[0.0])
    assert_array_equal(model.intercept_, [0])
    assert np.isfinite(model.partial_fit([[1.0]], [1]).intercept_)
