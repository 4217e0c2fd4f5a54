"""Weights of groups: the compiled ascent against the steps written out, and its end against a general solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.groups_of_features import Problem
from thresher._core import GroupRows, group_ascend
from thresher.solvers import group_square_conjugate

GROUPS = [np.array([1, 2]), np.array([3, 4, 5]), np.array([6])]
LABELS = np.array([0, 0, 1, 1, 1, 2])


def some(seed, *, n=30, C=0.7, sigma=1.0, squared=True, centred=False, ridge=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) * (rng.random((n, 7)) < 0.6)
    X[4] = 0
    y = np.where(X @ rng.normal(size=7) + rng.normal(size=n) > 0, 1.0, -1.0)
    D = rng.exponential(size=n) + 0.05
    w0 = np.zeros(7) if centred else rng.normal(size=7) * 0.3
    ridge = float(squared) if ridge is None else ridge
    return Problem(X, y, D, GROUPS, np.array([0]), w0, C, sigma, squared, ridge)


def grouped(X):
    """Rows over one free column and the groups; of each group those that have a value in it."""
    rows = GroupRows(X[:, :1].copy())
    for group in GROUPS:
        there = np.flatnonzero(X[:, group].any(axis=1))
        rows.add(np.ascontiguousarray(X[np.ix_(there, group)]), there)
    return rows


def ascend(problem, a, step, max_inner_iter=1):
    """The compiled passes; a changes in place, w is returned."""
    z, w = problem.C * (a * problem.y) @ problem.X, np.empty(7)
    given = (problem.y, problem.D, problem.C, problem.sigma, problem.ridge, step, problem.w0)
    for _ in range(max_inner_iter):
        _, primal, _ = group_ascend(grouped(problem.X), *given, a, z, w)
    assert_allclose(primal, problem.primal(w), rtol=1e-12)
    assert_allclose(z, problem.C * (a * problem.y) @ problem.X, atol=1e-10)
    return w


def dual(problem, a):
    z = problem.C * (a * problem.y) @ problem.X
    value, _ = group_square_conjugate(z[1:], LABELS, problem.sigma, problem.w0[1:])
    gain = a - (a**2 / (2 * problem.D) if problem.squared else 0)
    return problem.C * gain.sum() - value - z[0] ** 2 / 2 - z[0] * problem.w0[0]


@pytest.mark.parametrize("step", ["corrected", "safe", "exact"])
@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("sigma", [1.0, 0.2])
def test_passes_are_those_written_out(step, squared, sigma):
    problem = some(0, sigma=sigma, squared=squared)
    a = np.random.default_rng(1).random(30) * problem.D
    b = a.copy()
    w = ascend(problem, a, step, 2)
    problem.ascend(b, step, 2)
    assert_allclose(a, b, rtol=1e-8, atol=1e-9)
    assert_allclose(w, problem.weights(b), rtol=1e-7, atol=1e-8)
    assert a[4] == problem.D[4]  # a row without a feature has slack 1 whatever the weights are


def test_the_constant_of_the_papers_is_a_smaller_ridge():
    problem = some(0, ridge=0.5)
    a, b = np.zeros(30), np.zeros(30)
    ascend(problem, a, "corrected")
    problem.ascend(b, "corrected", 1)
    assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    i = 0  # the first step from 0, as printed: slack / (C |x|^2 + 0.5 / D)
    slack = 1 - problem.y[i] * problem.X[i] @ problem.w0
    printed = slack / (problem.C * problem.X[i] @ problem.X[i] + 0.5 / problem.D[i])
    assert_allclose(a[i], max(0, printed), rtol=1e-12)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("sigma, step", [(1.0, "corrected"), (0.3, "safe"), (0.3, "exact")])
def test_at_the_end_the_gap_is_0_and_a_general_solver_agrees(squared, centred, sigma, step):
    problem = some(2, sigma=sigma, squared=squared, centred=centred)
    a = problem.D.copy()
    w = ascend(problem, a, step, 3000)
    gap = problem.primal(w) - dual(problem, a)
    assert 0 <= gap + 1e-10 < 1e-8 * (1 + problem.primal(w))
    v = cp.Variable(7)
    slack = cp.pos(1 - cp.multiply(problem.y, problem.X @ v))
    change = v - problem.w0
    penalty = (sigma / 2) * cp.sum_squares(change[1:]) + cp.square(sum(cp.norm(change[g]) for g in GROUPS)) / 2
    loss = problem.C * problem.D @ (cp.square(slack) / 2 if squared else slack)
    general = cp.Problem(cp.Minimize(penalty + cp.sum_squares(change[:1]) / 2 + loss))
    general.solve(solver=cp.CLARABEL)
    assert_allclose(problem.primal(w), general.value, rtol=1e-6)
    assert_allclose(w, v.value, atol=2e-3)


@pytest.mark.parametrize("sigma, step, falls", [
    (1.0, "corrected", False), (0.01, "safe", False), (0.01, "exact", False), (0.01, "corrected", True),
])  # fmt: skip
def test_steps_climb_but_for_the_papers_curvature_at_small_sigma(sigma, step, falls):
    """Every single step: rows one at a time, the others with a cost of 0, which leaves them alone."""
    losses = 0
    for seed in range(6):
        problem = some(seed, sigma=sigma, C=3.0)
        a, rows = np.zeros(30), grouped(problem.X)
        before = dual(problem, a)
        for i in range(30):
            z, w = problem.C * (a * problem.y) @ problem.X, np.empty(7)
            cost = np.where(np.arange(30) == i, problem.D, 0)
            given = (problem.y, cost, problem.C, sigma, 1.0, step, problem.w0)
            group_ascend(rows, *given, a, z, w)
            after = dual(problem, a)
            losses += after < before - 1e-9 * (1 + abs(before))
            before = after
    assert (losses > 0) == falls


def test_the_problem_is_the_dual_of_the_choice_for_means_of_0_only():
    """(15) of Liu et al.: min over shares l of the groups of sum_k |v_k|^2 / (2 l_k) + the loss of v + l w0, against
    (16), the problem that is solved. They agree where w0 = 0."""
    for centred in (True, False):
        problem = some(3, sigma=1e-9, centred=centred)
        rng = np.random.default_rng(5)
        w0 = problem.w0.copy() if centred else rng.normal(size=7) * 2
        v, share = cp.Variable(6), cp.Variable(3)
        X, where = problem.X[:, 1:], LABELS
        moved = cp.hstack([share[int(where[j])] * w0[1 + j] for j in range(6)])
        slack = cp.pos(1 - cp.multiply(problem.y, X @ (v + moved)))
        pays = sum(cp.quad_over_lin(v[np.flatnonzero(where == k)], share[k]) for k in range(3)) / 2
        loss = problem.C * problem.D @ cp.square(slack) / 2
        choice = cp.Problem(cp.Minimize(pays + loss), [share >= 0, cp.sum(share) == 1])
        choice.solve(solver=cp.CLARABEL)
        w = cp.Variable(6)
        slack = cp.pos(1 - cp.multiply(problem.y, X @ w))
        total = sum(cp.norm((w - w0[1:])[np.flatnonzero(where == k)]) for k in range(3))
        solved = cp.Problem(cp.Minimize(cp.square(total) / 2 + problem.C * problem.D @ cp.square(slack) / 2))
        solved.solve(solver=cp.CLARABEL)
        assert np.isclose(choice.value, solved.value, rtol=1e-5) == centred


def test_shapes_that_do_not_fit_are_refused():
    problem, a, z = some(0), np.zeros(30), np.zeros(7)
    rows = grouped(problem.X)
    for places in ([0, 2, 1], [0, 1, 30], [-1, 0, 1], [0, 1, 1], [0, 1]):
        with pytest.raises(ValueError, match="a row for all values of a group"):
            rows.add(np.ones((3, 2)), np.array(places))
    with pytest.raises(ValueError, match="a dual variable for every row"):
        group_ascend(rows, problem.y, problem.D, 1.0, 1.0, 1.0, "safe", z, a[:4], z.copy(), z.copy())
    with pytest.raises(ValueError, match="a weight for every column"):
        group_ascend(rows, problem.y, problem.D, 1.0, 1.0, 1.0, "safe", z, a, z[:6], z.copy())


def test_more_groups_than_bits_in_a_number_are_the_same_as_few():
    """Seventy groups of one column, of which only three have values, and these three alone."""
    problem, found = some(3), []
    for blank in (0, 67):
        rows = GroupRows(problem.X[:, :1].copy())
        for k in range(blank):
            rows.add(np.zeros((1, 1)), np.array([k % 30]))
        for j in (1, 2, 3):
            there = np.flatnonzero(problem.X[:, j])
            rows.add(np.ascontiguousarray(problem.X[there, j : j + 1]), there)
        a, z, w, w0 = np.zeros(30), *(np.zeros(4 + blank) for _ in range(3))
        given = (problem.y, problem.D, 0.7, 1.0, 1.0, "corrected")
        found.append((group_ascend(rows, *given, w0, a, z, w)[1:], a, w[[0, *range(blank + 1, blank + 4)]]))
    for few, many in zip(*found, strict=True):
        assert_allclose(few, many, rtol=1e-12)
