"""Sets of kernel weights against a general convex solver, and by their optimality conditions."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.mkl import members
from thresher.mkl._kernel_weights import Ball, ElasticNet, EqualWeights, ball

VS = (0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0)
PS = (1.001, 1.2, 1.5, 2.0, 3.0, 20.0, 1000.0)
SETS = [*map(ElasticNet, VS), *map(Ball, PS)]


def named(each):
    return {"v": each.v} if isinstance(each, ElasticNet) else {"p": each.p} if isinstance(each, Ball) else {}


def inside(each, theta):
    """How far out a point is: 1 is the border."""
    if isinstance(each, ElasticNet):
        return each.v * theta.sum() + (1 - each.v) * (theta @ theta)
    return np.sum(theta**each.p) ** (1 / each.p)


def gains(rng, n):
    a = rng.exponential(size=n) * 10 ** rng.uniform(-6, 3)
    a[rng.random(n) < 0.2] = 0
    a[0] = a.max() + 1e-6
    return a


@pytest.mark.parametrize("each", SETS, ids=str)
def test_best_response_and_support_are_what_a_solver_finds(each):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        a = gains(rng, n)
        theta = cp.Variable(n)
        problem = cp.Problem(cp.Maximize((a / a.max()) @ theta), members(theta, **named(each)))
        problem.solve(solver="CLARABEL")
        best = each.best_response(a)
        assert best.min() >= 0
        assert inside(each, best) <= 1 + 1e-12
        assert_allclose(best @ a / a.max(), problem.value, rtol=5e-7)
        assert_allclose(each.support(a), best @ a, rtol=1e-12)


@pytest.mark.parametrize("each", SETS, ids=str)
def test_no_point_of_the_set_is_further_along_than_the_support_says(each):
    rng = np.random.default_rng(1)
    for n in (1, 3, 40):
        a = gains(rng, n)
        for _ in range(50):
            theta = each.project(rng.exponential(size=n) * 10 ** rng.uniform(-2, 3))
            assert theta @ a <= each.support(a) * (1 + 1e-12)


@pytest.mark.parametrize("each", SETS, ids=str)
def test_projection_leaves_nothing_that_points_into_the_set(each):
    """P is the projection of z if and only if (z - P) . (theta - P) <= 0 for all theta of the set."""
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 60):
        for size in (0.01, 1.0, 100.0):
            z = rng.normal(size=n) * size
            found = each.project(z)
            assert found.min() >= 0
            assert inside(each, found) <= 1 + 1e-12
            left = z - found
            assert each.support(np.maximum(left, 0.0)) - left @ found <= 1e-13 * max(1, size) ** 2


@pytest.mark.parametrize("each", SETS, ids=str)
def test_projection_is_what_a_solver_finds(each):
    rng = np.random.default_rng(3)
    for n in (2, 10):
        z, theta = rng.normal(size=n) + 0.5, cp.Variable(n)
        cp.Problem(cp.Minimize(cp.sum_squares(theta - z)), members(theta, **named(each))).solve(solver="CLARABEL")
        assert_allclose(each.project(z), theta.value, atol=2e-4)


@pytest.mark.parametrize("each", SETS, ids=str)
def test_projection_of_a_member_is_itself(each):
    z = 0.99 * each.start(7)
    assert_allclose(each.project(z), z, rtol=1e-14)


@pytest.mark.parametrize("each", SETS, ids=str)
def test_equal_weights_at_the_start_reach_the_border(each):
    for n in (1, 4, 1000):
        start = each.start(n)
        assert len(set(start.tolist())) == 1
        assert_allclose(inside(each, start), 1, rtol=1e-12)


@pytest.mark.parametrize("each", SETS, ids=str)
def test_equal_gains_get_equal_weights_and_larger_ones_no_less(each):
    best = each.best_response(np.array([3.0, 1.0, 3.0, 2.0, 0.0]))
    assert best[0] == best[2] >= best[3] >= best[1] >= best[4]
    assert_allclose(each.best_response(np.zeros(4)), each.start(4))
    assert each.support(np.zeros(4)) == 0


@pytest.mark.parametrize("each", SETS, ids=str)
def test_slopes_are_the_derivative_of_the_projection(each):
    rng = np.random.default_rng(4)
    for size in (0.01, 2.0):  # inside, and beyond the border
        z = size * (0.2 + rng.random(6))
        own, normal = each.slopes(z, each.project(z))
        assert (normal is None) == (size == 0.01)
        J = np.diag(own)
        if normal is not None:
            J = J - np.outer(own * normal, own * normal) / (normal @ (own * normal))
        h = 1e-6
        numbers = np.array([each.project(z + h * e) - each.project(z - h * e) for e in np.eye(6)]).T / (2 * h)
        assert_allclose(J, numbers, atol=2e-5 if isinstance(each, Ball) else 1e-7)


def test_ends_of_the_family():
    a = np.array([1.0, 3.0, 2.0])
    assert_allclose(ElasticNet(1.0).best_response(a), [0, 1, 0])
    assert_allclose(ElasticNet(0.0).best_response(a), a / np.linalg.norm(a))
    assert_allclose(ElasticNet(0.0).project(3 * a), Ball(2.0).project(3 * a), rtol=1e-12)
    assert ball(1) == ElasticNet(1.0)
    assert ball(2) == Ball(2.0)
    assert_allclose(EqualWeights().best_response(a), np.full(3, 1 / 3))
    assert_allclose(EqualWeights().support(a), 2.0)
    assert_allclose(EqualWeights().project(a), np.full(3, 1 / 3))


@pytest.mark.parametrize("p", [1.2, 4 / 3, 1.5, 2.0, 2.5, 4.0, 100.0])
def test_roots_inside_a_projection_end_when_only_rounding_is_left(monkeypatch, p):
    """Steps of rounding errors that were never small enough once made a fit ten times slower."""
    rng, steps, power = np.random.default_rng(6), [], np.power
    monkeypatch.setattr(np, "power", lambda *given, **options: steps.append(1) or power(*given, **options))
    for _ in range(200):
        z, l = rng.exponential(size=30) * 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-8, 8)
        steps.clear()
        theta = Ball(p)._pulled(z, l)
        assert len(steps) <= 12
        assert_allclose(theta + l * power(theta, p - 1), z, rtol=1e-13)
