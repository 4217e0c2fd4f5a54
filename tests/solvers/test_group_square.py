"""The squared sum of lengths of groups and its conjugate, against a general solver and what conjugates must do."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.groups_of_features import gradient_of_conjugate, omega
from thresher.solvers import group_square, group_square_conjugate

SIGMAS = [1.0, 0.1, 3.0, 1e-3]


def some(seed, n=12, n_groups=4):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.append(np.arange(n_groups), rng.integers(n_groups, size=n - n_groups)))
    return rng.normal(size=n) * 2, groups, rng.normal(size=n)


def lists(groups):
    return [np.flatnonzero(groups == k) for k in range(groups.max() + 1)]


@pytest.mark.parametrize("sigma", [1.0, 0.1, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_maximises_and_the_value_is_the_maximum(sigma, seed):
    z, groups, _ = some(seed)
    w = cp.Variable(len(z))
    total = cp.sum(cp.hstack([cp.norm(w[g]) for g in lists(groups)]))
    problem = cp.Problem(cp.Maximize(z @ w - sigma / 2 * cp.sum_squares(w) - cp.square(total) / 2))
    problem.solve(solver=cp.CLARABEL)
    value, gradient = group_square_conjugate(z, groups, sigma)
    assert_allclose(value, problem.value, rtol=1e-6)
    assert_allclose(gradient, w.value, atol=1e-3)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("seed", range(20))
def test_value_gradient_and_penalty_belong_together(sigma, seed):
    z, groups, centre = some(seed)
    value, w = group_square_conjugate(z, groups, sigma)
    assert_allclose(w, gradient_of_conjugate(z, lists(groups), sigma), rtol=1e-8, atol=1e-10 / sigma)
    assert_allclose(group_square(w, groups, sigma), omega(w, lists(groups), sigma), rtol=1e-13)
    assert_allclose(value + group_square(w, groups, sigma), z @ w, rtol=1e-11)  # Fenchel, with equality at the gradient
    shifted, there = group_square_conjugate(z, groups, sigma, centre)
    assert_allclose(there, centre + w, rtol=1e-12)
    assert_allclose(shifted + group_square(there - centre, groups, sigma), z @ there, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("sigma", [1.0, 0.1])
def test_the_gradient_is_the_slope_of_the_value(sigma):
    z, groups, centre = some(5)
    _, gradient = group_square_conjugate(z, groups, sigma, centre)
    for j in range(len(z)):
        step = np.eye(len(z))[j] * 1e-6
        up, down = (group_square_conjugate(z + s, groups, sigma, centre)[0] for s in (step, -step))
        assert_allclose((up - down) / 2e-6, gradient[j], atol=1e-6)


def test_ties_one_group_nothing_and_a_small_sigma():
    groups = np.array([0, 1, 2])
    value, w = group_square_conjugate(np.array([2.0, -2.0, 2.0]), groups, 0.5)
    assert_allclose(w, np.array([2, -2, 2]) / 3.5)  # each (2 - S) / sigma with S = 6 / 3.5
    assert_allclose(value, 6 / 3.5)
    z = np.array([3.0, -4.0])
    assert_allclose(group_square_conjugate(z, np.zeros(2, int), 0.7)[1], z / 1.7)
    value, w = group_square_conjugate(np.zeros(3), groups, 1.0)
    assert value == 0
    assert not w.any()
    value, w = group_square_conjugate(np.array([2.0, 1.9, 0.0]), groups, 1e-3)
    assert_allclose(value, 2.0, rtol=1e-3)  # half the square of the longest
    assert np.count_nonzero(w) == 1
