"""OFS, PEtrun and MBPA against their twins, and their parts against the problems they solve."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import budget as reference
from reference.agreement import assert_model, assert_same_course, gappy_stream, last, progressive
from thresher import onepass
from thresher.online import MBPAClassifier, OFSClassifier, PETrunClassifier

CASES = {
    "OFS": (OFSClassifier, reference.ofs, {"alpha": 0.3, "eta0": 0.4}),
    "OFS without shrinking": (OFSClassifier, reference.ofs, {"alpha": 0.3, "eta0": 0.4, "shrink": False}),
    "PEtrun": (PETrunClassifier, reference.petrun, {"eta0": 0.7}),
    "MBPA": (MBPAClassifier, reference.mbpa, {"C": 0.3, "alpha": 0.5}),
    "MBPA of a given ratio": (MBPAClassifier, reference.mbpa, {"C": 0.3, "alpha": 0.5, "cost": 2.5}),
}
cases = pytest.mark.parametrize("case", CASES)
constants = pytest.mark.parametrize("scaling", [0.0, 0.3], ids="constant={}".format)


def learner(case: str, B: int, scaling: float = 0.3, **params):
    cls, _, given = CASES[case]
    given = {"max_iter": 1, "shuffle": False} | given | params
    return cls(B, fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def twin(case: str, X, y, B: int, scaling: float = 0.3, weight=None, **params):
    _, run, given = CASES[case]
    return run(X, y, B=B, intercept=scaling, weight=weight, **given | params)


@cases
@constants
@pytest.mark.parametrize("B", [1, 3, 50], ids="B={}".format)
def test_each_agrees_with_the_paper_step_by_step(problem, layout, dtype, case, scaling, B):
    X, y = problem
    X = X.astype(dtype)
    steps = twin(case, X.astype(float), y, B, scaling)
    assert_same_course(learner(case, B, scaling), X, y, layout, steps, classes=[-1, 1])


@cases
def test_each_agrees_with_the_paper_after_a_fit(problem, layout, dtype, case):
    X, y = problem
    X = X.astype(dtype)
    model = learner(case, 4, max_iter=3).fit(layout(X), y)
    assert_model(model, last(twin(case, np.tile(X.astype(float), (3, 1)), np.tile(y, 3), 4))[1])


@cases
def test_a_long_stream_with_gaps_agrees_with_the_paper(case):
    X, scores = gappy_stream(1500, 200)
    y = np.where(scores > 0.2, 1, -1)
    model = learner(case, 20)
    steps = [w for _, w in twin(case, X.toarray(), y, 20)]
    for begin in range(0, 1500, 50):
        model.partial_fit(X[begin : begin + 50], y[begin : begin + 50], classes=[-1, 1])
        assert_model(model, steps[begin + 49], rtol=1e-8)
    assert len(model.support_) == 20


@cases
def test_a_row_weight_multiplies_the_step(problem, row_weights, layout, case):
    X, y = problem
    steps = twin(case, X, y, 4, weight=row_weights)
    assert_same_course(learner(case, 4), X, y, layout, steps, row_weights, classes=[-1, 1])


@cases
def test_the_small_problem_sees_both_sides_of_every_case(problem, case):
    X, y = problem
    steps = [w for _, w in twin(case, X, y, 3)]
    sizes = [np.count_nonzero(w[:-1]) for w in steps]
    free = [np.count_nonzero(w[:-1]) for _, w in twin(case, X, y, 50)]
    assert max(sizes) == 3 < max(free)
    if "alpha" in CASES[case][2]:
        lengths = np.array([np.linalg.norm(w) for _, w in twin(case, X, y, 50)])
        radius = 1 / np.sqrt(CASES[case][2]["alpha"])
        assert np.isclose(lengths, radius).sum() > 2 < (lengths < 0.99 * radius).sum()
    moved = np.abs(np.diff(steps, axis=0)).max(1)
    assert (moved > 0).sum() > 5 < (moved == 0).sum() or case == "OFS"  # which shrinks at every row


def nearest_sparse(v: np.ndarray, B: int) -> np.ndarray:
    """By trying all sets of B features; the first set of those equally near. The constant stays."""
    best, distance = v, np.inf
    for kept in itertools.combinations(range(len(v) - 1), B):
        w = np.where(np.isin(np.arange(len(v)), (*kept, len(v) - 1)), v, 0)
        if np.linalg.norm(w - v) < distance - 1e-12:
            best, distance = w, np.linalg.norm(w - v)
    return best


@pytest.mark.parametrize("case", ["OFS", "MBPA of a given ratio"])
def test_a_step_solves_the_problems_it_says_it_solves(case):
    """A proximal step on the row, then the nearest point of the ball, then the nearest vector of B features."""
    rng = np.random.default_rng(0)
    B, scaling, model, before = 2, 0.5, learner(case, 2, 0.5), np.zeros(6)
    cut = 0
    for step in range(14):
        x, y, weight = rng.normal(size=5), rng.choice([-1, 1]), rng.choice([0.5, 1.0, 2.0])
        row = np.append(x, scaling)
        w = cp.Variable(6)
        if case == "OFS":  # along the gradient of 0.3 |w|^2 / 2 + hinge, by a problem that is linear but for the step
            slope = 0.3 * before - (y * row if y * (before @ row) <= 1 else 0)
            move = cp.sum_squares(w - before) / (2 * 0.4 * weight)
            cp.Problem(cp.Minimize(slope @ w + move)).solve(solver=cp.CLARABEL)
            moved = w.value
        else:
            loss = cp.pos((2.5 if y > 0 else 1.0) - y * (w @ row))
            cp.Problem(cp.Minimize(cp.sum_squares(w - before) / 2 + 0.3 * weight * loss)).solve(solver=cp.CLARABEL)
            moved = w.value
        u = cp.Variable(6)
        ball = [cp.norm(u) <= 1 / np.sqrt(CASES[case][2]["alpha"])]
        cp.Problem(cp.Minimize(cp.sum_squares(u - moved)), ball).solve(solver=cp.CLARABEL)
        model.partial_fit(x[None], [y], classes=[-1, 1] if step == 0 else None, sample_weight=[weight])
        after = np.append(model.coef_[0], model.intercept_ / scaling)
        assert_allclose(after, nearest_sparse(u.value, B), atol=2e-4)
        cut += np.count_nonzero(np.abs(u.value[:-1]) > 1e-3) > B
        before = after
    assert cut > 4


def test_of_equal_weights_the_first_stay():
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        model = PETrunClassifier(2, eta0=1.0, fit_intercept=False)
        row = np.array([[1.0, -1.0, 1.0, -1.0]])
        model.partial_fit(row, [1], classes=[-1, 1])
        assert_array_equal(model.coef_, [[1.0, -1.0, 0.0, 0.0]])
        twin_w = last(reference.petrun(row[:, order], np.array([1]), B=2))[1]
        assert_array_equal(twin_w[:-1], np.array([1.0, 1, 0, 0]) * row[0, order])


@cases
def test_the_budget_holds_at_every_moment_and_for_each_class(three_classes, case):
    X, y = three_classes
    model = learner(case, 3, selection="class")
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=list("abc"))
        names = model.state_.arrays["selected"]
        assert (np.count_nonzero(model.coef_, axis=1) <= 3).all()
        for k, w in enumerate(model.coef_):
            assert_array_equal(names[k][names[k] > 0] - 1, np.flatnonzero(w))
    assert (np.count_nonzero(model.coef_, axis=1) == 3).all()
    assert np.all(model.intercept_ != 0)  # never cut


@cases
def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout, case):
    X, y = three_classes
    model = learner(case, 3, selection="class").fit(layout(X), y, sample_weight=row_weights)
    for k, label in enumerate("abc"):
        w = last(twin(case, X, np.where(y == label, 1, -1), 3, weight=row_weights))[1]
        assert_allclose(model.coef_[k], w[:-1], rtol=1e-10, atol=1e-12)


@cases
def test_progressive_loss_and_mistakes_are_those_of_the_twin(problem, row_weights, case):
    X, y = problem
    model = learner(case, 3).fit(X, y, sample_weight=row_weights)
    scores = np.array([score for score, _ in twin(case, X, y, 3, weight=row_weights)])
    present = row_weights > 0
    assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])
    if case == "PEtrun":
        expected = np.average(np.maximum(0, -y * scores), weights=row_weights)
    elif case == "MBPA of a given ratio":
        expected = np.average(np.maximum(0, np.where(y > 0, 2.5, 1.0) - y * scores), weights=row_weights)
    elif case == "MBPA":
        before = [np.cumsum((y == label) & present) - ((y == label) & present) for label in (1, -1)]
        rho = np.where(y > 0, (1 + before[1]) / (1 + before[0]), 1.0)
        expected = np.average(np.maximum(0, rho - y * scores), weights=row_weights)
    else:
        expected = progressive(scores, y, "hinge", row_weights)
    assert_allclose(model.progressive_loss_, expected, rtol=1e-12)


def test_ofs_without_shrinking_leaves_rows_with_a_margin_alone():
    row = np.array([[3.0, 0.0]])
    for shrink, expected in ((False, 1.2), (True, 1.2 * (1 - 0.3 * 0.4))):
        model = learner("OFS", 2, 0.0, shrink=shrink).partial_fit(row, [1], classes=[-1, 1])
        assert_allclose(model.coef_[0, 0], 1.2)
        model.partial_fit(row, [1])
        assert_allclose(model.coef_[0, 0], expected)


def test_a_step_longer_than_the_penalty_allows_forgets_all():
    model = learner("OFS", 2, 0.0).partial_fit([[1.0, 0.0]], [1], classes=[-1, 1])
    model.partial_fit([[0.0, 1.0]], [1], sample_weight=[1e6])
    assert_allclose(model.coef_, [[0.0, 1 / np.sqrt(0.3)]])


def test_features_that_were_forgotten_are_named_once_when_they_come_again():
    X = np.random.default_rng(0).normal(size=(40, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    weight = np.where(np.arange(40) % 3 == 0, 1e6, 1.0)  # steps longer than the penalty allows
    model = learner("OFS", 3).fit(X, y, sample_weight=weight)
    assert_model(model, last(twin("OFS", X, y, 3, weight=weight))[1])
    names = model.state_.arrays["selected"][0]
    assert len(np.unique(names)) == np.count_nonzero(model.coef_) == 3


@cases
def test_huge_rows_and_weights_leave_finite_weights(case):
    model = learner(case, 2)
    model.partial_fit([[1e100, 1e100, 1e99]], [1], classes=[-1, 1], sample_weight=[1e99])
    assert np.isfinite(model.coef_).all()
    assert len(model.support_) == 2


@cases
def test_merged_shards_are_averaged_and_cut_back(problem, case):
    X, y = problem
    start = learner(case, 3).partial_fit(X[:10], y[:10], classes=[-1, 1])
    core = onepass.learner(start, X.shape[1])
    states = []
    for rows in (slice(10, 30), slice(30, 60)):
        state = start.state_.copy()
        core.learn(onepass.Lesson(onepass.rows(X[rows]), onepass.Target(y[rows].astype(float))), state)
        states.append(state)
    mean = (20 * core.weights(states[0])[0] + 30 * core.weights(states[1])[0]) / 50
    assert np.count_nonzero(mean[:-1]) > 3
    merged = core.merge(start.state_, states, [20, 30])
    assert_allclose(core.weights(merged)[0], reference.truncated(mean, 3), rtol=1e-10, atol=1e-14)
    names = merged.arrays["selected"][0]
    assert_array_equal(names - 1, np.flatnonzero(core.weights(merged)[0, :-1]))
    core.learn(onepass.Lesson(onepass.rows(X), onepass.Target(y.astype(float))), merged)
    assert np.count_nonzero(core.weights(merged)[0, :-1]) <= 3


def test_a_margin_of_exactly_one_still_moves_ofs():
    model = learner("OFS", 2, 0.0, eta0=1.0, shrink=False, alpha=1e-4)
    for expected in (1.0, 2.0, 2.0):  # at scores 0, 1 and 2
        model.partial_fit([[1.0, 0.0]], [1], classes=[-1, 1])
        assert_allclose(model.coef_, [[expected, 0.0]])
