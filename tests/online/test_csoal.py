"""CSOALClassifier: what it asks about, and what it learns from the answers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import budget as reference
from reference.agreement import assert_weights, last, row_by_row
from reference.dropout import uniform_draw
from thresher.online import CSOALClassifier, PAClassifier

forms = pytest.mark.parametrize("cost_kind", ["margin", "weight"])
ratios = pytest.mark.parametrize("ratio", [None, 2.5], ids="ratio={}".format)


def learner(scaling: float = 0.3, **params):
    given = {"delta": 0.5, "C": 0.3, "max_iter": 1, "shuffle": False, "random_state": 7} | params
    return CSOALClassifier(fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def twin(model, X, y, scaling: float = 0.3, weight=None, output: int = 0):
    """A run with the seed and the parameters of a fitted model."""
    given = {name: getattr(model, name) for name in ("delta", "cost_kind", "query_budget", "C", "cost")}
    seed = model.state_.arrays["seed"][output, 0]
    return reference.csoal(X, y, seed=seed, intercept=scaling, weight=weight, **given)


@forms
@ratios
@pytest.mark.parametrize("scaling", [0.0, 0.3], ids="constant={}".format)
def test_csoal_agrees_with_the_paper_step_by_step(problem, layout, dtype, cost_kind, ratio, scaling):
    X, y = problem
    X = X.astype(dtype)
    model = learner(scaling, cost_kind=cost_kind, cost=ratio)
    model.partial_fit(layout(X[:1]), y[:1], classes=[-1, 1])
    steps = list(twin(model, X.astype(float), y, scaling))
    for _, (_, w, n_queried) in zip(row_by_row(model, X[1:], y[1:], layout), steps[1:], strict=True):
        assert_weights(model, w)
        assert model.n_queried_ == n_queried
    assert 20 < model.n_queried_ < 55


@forms
def test_several_passes_and_row_weights_agree_with_the_paper(problem, row_weights, layout, cost_kind):
    X, y = problem
    model = learner(cost_kind=cost_kind, max_iter=3).fit(layout(X), y, sample_weight=row_weights)
    _, w, n_queried = last(twin(model, np.tile(X, (3, 1)), np.tile(y, 3), weight=np.tile(row_weights, 3)))
    assert_weights(model, w)
    assert model.n_queried_ == n_queried


@pytest.mark.parametrize("cost_kind", ["margin", "weight"])
def test_a_step_solves_the_problem_it_says_it_solves(cost_kind):
    """min |w' - w|^2 / 2 + C max(0, rho - y w'.x), or + C rho max(0, 1 - y w'.x), whenever the label was asked for"""
    rng = np.random.default_rng(0)
    model, before, asked = learner(0.5, cost_kind=cost_kind, cost=3.0, delta=2.0), np.zeros(5), 0
    for step in range(16):
        x, y, weight = rng.normal(size=4), rng.choice([-1, 1]), rng.choice([0.5, 1.0, 2.0])
        model.partial_fit(x[None], [y], classes=[-1, 1] if step == 0 else None, sample_weight=[weight])
        after = np.append(model.coef_[0], model.intercept_ / 0.5)
        if model.n_queried_ == asked:
            assert_array_equal(after, before)
            continue
        asked += 1
        rho = 3.0 if y > 0 else 1.0
        w = cp.Variable(5)
        margin = y * (w @ np.append(x, 0.5))
        loss = cp.pos(rho - margin) if cost_kind == "margin" else rho * cp.pos(1 - margin)
        objective = cp.sum_squares(w - before) / 2 + 0.3 * weight * loss
        cp.Problem(cp.Minimize(objective)).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
        )
        assert_allclose(after, w.value, atol=1e-5)
        before = after
    assert 8 < asked < 16


def test_labels_are_asked_for_as_often_as_they_should():
    """At |f| of 0, 0.5, 2 and 8, by weights that hardly move."""
    n_rows = 20_000
    for f in (0.0, 0.5, -2.0, 8.0):
        model = learner(0.0, C=1e-100).partial_fit([[0.0]], [1], classes=[-1, 1])
        model.state_.arrays["coef"][0, 0] = f
        asked = model.n_queried_
        model.partial_fit(np.ones((n_rows, 1)), np.ones(n_rows))
        chance = 0.5 / (0.5 + abs(f))
        deviation = np.sqrt(n_rows * chance * (1 - chance))
        assert abs(model.n_queried_ - asked - n_rows * chance) <= 3 * deviation


def test_draws_of_other_seeds_are_others():
    counts = set()
    for seed in range(10):
        model = learner(0.0, C=1e-100, random_state=seed).partial_fit([[0.0]], [1], classes=[-1, 1])
        model.state_.arrays["coef"][0, 0] = 1.0
        counts.add(model.partial_fit(np.ones((1000, 1)), np.ones(1000)).n_queried_)
    assert len(counts) > 5


def test_a_label_that_was_not_asked_for_is_not_used(problem):
    """Any other label in those rows gives the same bits; the books judge by it all the same."""
    X, y = problem
    model = learner().fit(X, y)
    scores, _, asked = map(np.array, zip(*twin(model, X, y), strict=True))
    unasked = np.diff(asked, prepend=0) == 0
    assert unasked.sum() > 5
    other = learner().fit(X, np.where(unasked, -y, y))
    for name in ("coef", "n_queried", "n_positives", "n_negatives", "n_steps"):
        assert_array_equal(other.state_.arrays[name], model.state_.arrays[name])
    assert other.n_mistakes_ == np.count_nonzero((scores > 0) != (np.where(unasked, -y, y) > 0))


def test_a_row_that_was_not_asked_about_changes_nothing_but_the_clock(problem):
    X, y = problem
    model = learner().partial_fit(X[:30], y[:30], classes=[-1, 1])
    seed = model.state_.arrays["seed"][0, 0]
    seen = 0
    for i in range(30, 60):
        before = {name: a.copy() for name, a in model.state_.arrays.items()}
        score = model.decision_function(X[i : i + 1])[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        assert model.state_.arrays["n_steps"][0, 0] == i + 1
        if uniform_draw(seed, 0, i + 1) >= 0.5 / (0.5 + abs(score)):
            seen += 1
            for name in ("coef", "n_queried", "n_positives", "n_negatives", "seed"):
                assert_array_equal(model.state_.arrays[name], before[name])
    assert seen > 3


def test_a_budget_is_used_up_exactly_and_then_nothing_is_learned(problem):
    X, y = problem
    model = learner(query_budget=9)
    fed = row_by_row(model, X, y, np.asarray, classes=[-1, 1])
    after = [(model.n_queried_, model.coef_.copy()) for _ in fed]
    counts = [n for n, _ in after]
    assert max(counts) == 9
    first = counts.index(9)
    assert 9 <= first + 1 < 40
    for _, w in after[first:]:
        assert_array_equal(w, after[first][1])
    free = learner().partial_fit(X[: first + 1], y[: first + 1], classes=[-1, 1])
    assert_array_equal(free.coef_, after[first][1])
    assert_weights(model, last(twin(model, X, y))[1])
    assert model.n_samples_seen_ == 60
    assert model.n_mistakes_ > 0


def test_boundless_curiosity_without_costs_is_passive_aggressive(problem):
    X, y = problem
    curious = learner(delta=1e100, cost=1.0).fit(X, y)
    assert_array_equal(
        curious.coef_, PAClassifier(0.3, intercept_scaling=0.3, max_iter=1, shuffle=False).fit(X, y).coef_
    )
    assert curious.n_queried_ == 60


@forms
def test_progressive_loss_is_that_of_all_rows(problem, row_weights, cost_kind):
    X, y = problem
    model = learner(cost_kind=cost_kind, cost=2.5).fit(X, y, sample_weight=row_weights)
    scores = np.array([score for score, *_ in twin(model, X, y, weight=row_weights)])
    rho = np.where(y > 0, 2.5, 1.0)
    losses = np.maximum(0, rho - y * scores) if cost_kind == "margin" else rho * np.maximum(0, 1 - y * scores)
    assert_allclose(model.progressive_loss_, np.average(losses, weights=row_weights), rtol=1e-12)


def test_each_class_asks_for_itself(three_classes):
    X, y = three_classes
    model = learner(query_budget=25).fit(X, y)
    total = 0
    for k, label in enumerate("abc"):
        _, w, asked = last(twin(model, X, np.where(y == label, 1, -1), output=k))
        assert_allclose(model.coef_[k], w[:-1], rtol=1e-10, atol=1e-13)
        assert asked <= 25
        total += asked
    assert model.n_queried_ == total > 50
    assert len(set(model.state_.arrays["seed"][:, 0])) == 3


def test_a_cost_by_weight_is_nothing_where_C_does_not_bind(problem):
    X, y = problem
    plain, costly = (learner(cost_kind="weight", C=1e6, cost=ratio).fit(X, y) for ratio in (1.0, 9.0))
    assert_array_equal(plain.coef_, costly.coef_)
    by_margin = learner(cost_kind="margin", C=1e6, cost=9.0).fit(X, y)
    assert np.abs(by_margin.coef_ - plain.coef_).max() > 0.1
