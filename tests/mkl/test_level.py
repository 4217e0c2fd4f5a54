"""The step of the level method against a general convex solver."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from reference.mkl import members
from thresher.kernels import RBF, Linear, Polynomial
from thresher.mkl import GMKLClassifier
from thresher.mkl._kernel_weights import Ball, ElasticNet
from thresher.mkl._level import nearest


def cuts(seed, n=12, m=7):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(m, n)), 2 + rng.random(m)


def named(each):
    return {"v": each.v} if isinstance(each, ElasticNet) else {"p": each.p}


SETS = [ElasticNet(0.0), ElasticNet(0.5), ElasticNet(0.95), ElasticNet(1.0), Ball(1.3), Ball(3.0)]


def least(each, gains, sums):
    theta, top = cp.Variable(gains.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Minimize(top), [*members(theta, **named(each)), sums - gains @ theta <= top])
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize("each", SETS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_nearest_weights_below_a_level(each, seed):
    gains, sums = cuts(seed)
    low = least(each, gains, sums)
    centre = each.start(12)
    top = float(np.max(sums - gains @ centre))
    level = low + 0.5 * (top - low)
    found = nearest(each, centre, gains, sums, level, np.zeros(len(sums)), 1e-9)
    theta = cp.Variable(12)
    below = [*members(theta, **named(each)), sums - gains @ theta <= level]
    cp.Problem(cp.Minimize(cp.sum_squares(theta - centre)), below).solve(solver="CLARABEL")
    assert np.max(sums - gains @ found.theta) <= level + 1e-8
    assert_allclose(found.theta, theta.value, atol=5e-4)
    assert np.sum((found.theta - centre) ** 2) <= np.sum((theta.value - centre) ** 2) + 1e-5
    assert found.bound <= low + 1e-6


@pytest.mark.parametrize("each", SETS, ids=str)
def test_a_level_that_no_weights_reach_is_proven_so(each):
    gains, sums = cuts(5)
    low = least(each, gains, sums)
    level = low - 0.05 * (sums.max() - low)
    found = nearest(each, each.start(12), gains, sums, level, np.zeros(len(sums)), 1e-9)
    assert level < found.bound <= low + 1e-6


def test_a_corner_is_no_trap():
    """Gradient steps end at a corner of the set, where the projection does not move at first and no curvature says how
    far multipliers should go."""
    X, y = load_iris(return_X_y=True)
    kernels = [RBF(0.01), RBF(0.1), RBF(1.0), Linear(), Polynomial(2)]
    model = GMKLClassifier(kernels, v=1.0, C=1000.0).fit(X, y)
    assert model.gap_ <= 1e-3
    assert model.n_svm_ <= 60
