"""The pieces of Newton's method on sums: the smoothed hinge, and what holds the weights of groups together."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from thresher.confidence._batch_newton import STEPS, NewtonDescent, Normal, _slopes, _smooth
from thresher.confidence._group_rounds import GroupPrior
from thresher.confidence._group_search import Group
from thresher.solvers import group_square

SLACKS = np.array([-30.0, -2.0, -0.1, 0.0, 0.1, 0.7, 2.0, 30.0])


@pytest.mark.parametrize("width", [1.0, 0.01])
def test_the_smoothed_hinge_is_the_largest_of_its_lines(width):
    for slack in SLACKS:
        best = minimize_scalar(
            lambda a, s=slack: -(a * s + width * (np.log(a) + np.log1p(-a))), bounds=(1e-12, 1 - 1e-12),
            method="bounded", options={"xatol": 1e-12},
        )  # fmt: skip
        assert_allclose(_smooth(np.array([slack]), width), -best.fun, rtol=1e-7)
        assert_allclose(_slopes(np.array([slack]), width)[0], best.x, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("width", [0.0, 1.0, 0.01])
def test_slopes_and_curvatures_are_those_of_the_losses(width):
    h = 1e-6 * (width or 1.0)
    slack = SLACKS + 2 * h  # not where the squared hinge bends
    slope, curvature = _slopes(slack, width)
    assert_allclose(slope, (_smooth(slack + h, width) - _smooth(slack - h, width)) / (2 * h), rtol=1e-5, atol=1e-6)
    assert_allclose(
        curvature, (_slopes(slack + h, width)[0] - _slopes(slack - h, width)[0]) / (2 * h), rtol=1e-5, atol=1e-6
    )


def test_smoothing_adds_at_most_the_width_to_the_gap():
    for width in (1.0, 0.01):
        blur = np.maximum(0, SLACKS) - _slopes(SLACKS, width)[0] * SLACKS
        assert (blur >= 0).all()
        assert (blur <= width).all()


def test_slopes_for_a_smaller_width_follow_to_first_order():
    slack, width = np.array([-1.5, -0.2, 0.3, 2.0]), 0.5
    slope, curvature = _slopes(slack, width)
    errors = []
    for share in (1e-2, 1e-3):
        linear = slope + share * slack * curvature
        errors.append(np.abs(linear - _slopes(slack, (1 - share) * width)[0]).max())
    assert errors[1] < 0.02 * errors[0]


def group_problem(seed=0, steep=3.0):
    rng = np.random.default_rng(seed)
    groups = []
    for k, size in enumerate((3, 2, 1)):
        root = np.linalg.cholesky(np.cov(rng.normal(size=(size, 40))).reshape(size, size) + np.eye(size))
        groups.append(Group(np.arange(size) + 10 * k, root))
    centre, m, pull = rng.normal(size=(3, 7))
    A = rng.normal(size=(7, 5))
    return GroupPrior(groups, 1.7, centre, 0.4), groups, centre, m, pull, steep * A @ A.T


def omega(groups, centre, x, sigma=0.4, root=1.7):
    """In cvxpy."""
    begin, parts = 0, []
    for group in groups:
        some = slice(begin, begin + len(group.ids))
        parts.append(group.root.T @ (x[some] - centre[some]))
        begin = some.stop
    lengths = sum(cp.norm(u) for u in parts)
    ridge = 0.5 * sigma * sum(cp.sum_squares(u) for u in parts)
    return ridge + 0.5 * cp.square(lengths) + 0.5 * root**2 * cp.square(x[-1] - centre[-1])


@pytest.mark.parametrize("steep", [0.0, 0.1, 30.0])
def test_the_next_weights_of_groups_are_those_of_a_general_solver(steep):
    prior, groups, centre, m, pull, bend = group_problem(steep=steep)
    x = cp.Variable(7)
    model = omega(groups, centre, x) - pull @ (x - m) + 0.5 * cp.quad_form(x - m, cp.psd_wrap(bend))
    cp.Problem(cp.Minimize(model)).solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_feas=1e-10)
    assert_allclose(prior.best(m, pull, bend), x.value, atol=1e-5)


def test_the_value_and_the_excess_of_groups():
    prior, groups, centre, m, pull, _ = group_problem()
    u = np.concatenate([g.root.T @ (m - centre)[a:b] for g, a, b in zip(groups, (0, 3, 5), (3, 5, 6), strict=True)])
    value = group_square(u, np.repeat([0, 1, 2], [3, 2, 1]), 0.4) + 0.5 * (1.7 * (m - centre)[-1]) ** 2
    assert_allclose(prior.value(m), value)
    x = cp.Variable(7)
    conjugate = -cp.Problem(cp.Minimize(omega(groups, centre, x) - pull @ x)).solve(solver="CLARABEL")
    assert_allclose(prior.excess(m, pull), value + conjugate - m @ pull, atol=1e-6)
    best = prior.best(m, pull, np.zeros((7, 7)))
    assert_allclose(prior.excess(best, pull), 0, atol=1e-13)


def normal(precision):
    return Normal(precision, np.linalg.cholesky(precision), np.zeros(len(precision)))


def told(m, move, X, y, cost, width):
    """The sums of all rows, one formula for each."""
    slack = 1 - y * (X @ (m + move))
    slope, curvature = _slopes(slack, width)
    sums = {
        "losses": np.array([cost @ _smooth(1 - y * (X @ (m + t * move)), width) for t in STEPS]),
        "pull": X.T @ (cost * slope * y),
        "bend": (X.T * (cost * curvature)) @ X,
        "paid": np.array(cost @ (np.maximum(0, slack) if width else 0.5 * np.maximum(0, slack) ** 2)),
    }
    turn = {
        "turn": X.T @ (cost * curvature * slack * y),
        "blur": np.array(cost @ (np.maximum(0, slack) - slope * slack)),
    }
    return sums | turn if width else sums


@pytest.mark.parametrize(("squared", "tol"), [(True, 1e-15), (False, 1e-5)])
def test_descents_end_far_from_any_start(squared, tol):
    """Bad starts and little to hold the weights: steps are cut short, and the objective falls all the same."""
    rng = np.random.default_rng(3)
    for trial in range(20):
        X = rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(-1, 1, 6)
        y, cost = np.sign(rng.normal(size=40)), 10 * rng.exponential(size=40)
        descent = NewtonDescent(normal(1e-2 * np.eye(6)), 30 * rng.normal(size=6), squared, tol)
        values: list[tuple[float, float]] = []
        for _ in range(100):
            m, move, width = descent.coef, descent.move, descent.width
            descent.hear(told(m, move, X, y, cost, width))
            values.append(
                (width, 5e-3 * descent.coef @ descent.coef + cost @ _smooth(1 - y * (X @ descent.coef), width))
            )
            if descent.settled:
                break
        assert descent.relative_gap <= tol, trial
        same = [(b - a) / abs(a) for (w, a), (v, b) in itertools.pairwise(values) if w == v]
        assert max(same) <= 1e-12
