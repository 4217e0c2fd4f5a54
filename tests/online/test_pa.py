"""PAClassifier against its twin and against the problem it says it solves."""

from __future__ import annotations

from copy import deepcopy

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import online as reference
from reference.agreement import assert_weights, assert_weights_after_every_row, last, progressive
from thresher.online import PAClassifier
from thresher.training import merge_models

variants = pytest.mark.parametrize("variant", ["hard", "I", "II"])
constants = pytest.mark.parametrize("scaling", [0.0, 1.0, 0.3], ids="constant={}".format)


def learner(variant: str, scaling: float, **params):
    """C is small enough to bind in some rows and not in others; a scaling of 0 means no constant."""
    given = {"C": 0.2, "max_iter": 1, "shuffle": False} | params
    return PAClassifier(variant=variant, fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


@variants
@constants
def test_pa_agrees_with_the_paper_step_by_step(problem, layout, dtype, variant, scaling):
    X, y = problem
    model = learner(variant, scaling)
    steps = reference.pa(X.astype(dtype).astype(float), y, C=0.2, variant=variant, intercept=scaling)
    assert_weights_after_every_row(model, X.astype(dtype), y, layout, steps, classes=[-1, 1])


@variants
@constants
def test_pa_agrees_with_the_paper_after_a_fit(problem, layout, dtype, variant, scaling):
    X, y = problem
    model = learner(variant, scaling, max_iter=3).fit(layout(X.astype(dtype)), y)
    twice = np.tile(X.astype(dtype).astype(float), (3, 1)), np.tile(y, 3)
    assert_weights(model, last(reference.pa(*twice, C=0.2, variant=variant, intercept=scaling))[1])


@variants
def test_a_mean_of_late_iterates_counts_iterate_t_so_often(problem, row_weights, layout, dtype, variant):
    X, y = problem
    model, total, mass, t = learner(variant, 0.3, average=True), np.zeros(X.shape[1] + 1), 0, 0
    given = X.astype(dtype)
    steps = reference.pa(given.astype(float), y, C=0.2, variant=variant, intercept=0.3, weight=row_weights)
    for i, (_, w) in enumerate(steps):
        model.partial_fit(layout(given[[i]]), y[[i]], classes=[-1, 1], sample_weight=row_weights[[i]])
        if row_weights[i] > 0:
            t += 1
            total, mass = total + t * w, mass + t
        assert_weights(model, total / max(mass, 1), rtol=1e-9)
    assert not np.allclose(model.coef_[0], w[:-1])


def test_a_number_or_the_hard_variant_reads_the_last_iterate(problem):
    X, y = problem
    assert "lag" in PAClassifier().fit(X, y).state_.arrays
    for published in ({"C": 0.2}, {"variant": "hard"}, {"average": False}):
        assert "lag" not in PAClassifier(**published).fit(X, y).state_.arrays


def test_the_small_problem_sees_both_sides_of_every_case(problem):
    """PA-I meets rows without an update, rows that C stops and rows that it does not; all-zero rows too."""
    X, y = problem
    scores, iterates = zip(*reference.pa(X, y, C=0.2), strict=True)
    moves = np.diff([np.zeros(X.shape[1] + 1), *iterates], axis=0)
    square = (X**2).sum(1)
    tau = np.sqrt((moves**2).sum(1)[square > 0] / square[square > 0])
    assert (tau == 0).sum() > 3
    assert np.isclose(tau, 0.2).sum() > 3
    assert ((tau > 0) & (tau < 0.199)).sum() > 3
    assert (square == 0).sum() >= 4
    assert scores[0] == 0


@variants
def test_a_step_solves_the_problem_it_says_it_solves(variant):
    """min |w' - w|^2 / 2 + C loss (I), + C loss^2 (II), with loss = 0 (hard)"""
    rng = np.random.default_rng(0)
    model = learner(variant, 0.5, C=0.3)
    before = np.zeros(5)
    for step in range(12):
        x, y, weight = rng.normal(size=4), rng.choice([-1, 1]), rng.choice([0.5, 1.0, 2.0])
        model.partial_fit(x[None], [y], classes=[-1, 1] if step == 0 else None, sample_weight=[weight])
        after = np.append(model.coef_[0], model.intercept_ / 0.5)
        w = cp.Variable(5)
        loss = cp.pos(1 - y * (w @ np.append(x, 0.5)))
        move = cp.sum_squares(w - before) / 2
        if variant == "hard":
            problem = cp.Problem(cp.Minimize(move), [y * (w @ np.append(x, 0.5)) >= 1])
            if y * (before @ np.append(x, 0.5)) >= 1:
                assert_array_equal(after, before)
        elif variant == "I":
            problem = cp.Problem(cp.Minimize(move + 0.3 * weight * loss))
        else:
            problem = cp.Problem(cp.Minimize(move + 0.3 * weight * cp.square(loss)))
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        assert_allclose(after, w.value, atol=1e-5)
        before = after


@variants
def test_a_row_weight_multiplies_C(problem, row_weights, layout, variant):
    X, y = problem
    model = learner(variant, 1.0)
    steps = reference.pa(X, y, C=0.2, variant=variant, intercept=1.0, weight=row_weights)
    assert_weights_after_every_row(model, X, y, layout, steps, row_weights, classes=[-1, 1])


def test_the_hard_variant_ignores_weights_other_than_zero(problem, row_weights):
    X, y = problem
    present = row_weights > 0
    weighted = learner("hard", 1.0).fit(X, y, sample_weight=row_weights)
    assert_array_equal(weighted.coef_, learner("hard", 1.0).fit(X[present], y[present]).coef_)


@variants
def test_a_row_of_weight_zero_changes_nothing(problem, row_weights, layout, variant):
    X, y = problem
    present = row_weights > 0
    weighted = learner(variant, 1.0, max_iter=2).fit(layout(X), y, sample_weight=row_weights)
    without = learner(variant, 1.0, max_iter=2).fit(layout(X[present]), y[present], sample_weight=row_weights[present])
    for name, array in without.state_.arrays.items():
        assert_array_equal(weighted.state_.arrays[name], array)


def test_class_weight_is_the_same_weight_on_each_row(problem, row_weights):
    X, y = problem
    by_class = learner("II", 1.0, class_weight={-1: 0.5, 1: 3.0}).fit(X, y, sample_weight=row_weights)
    by_row = learner("II", 1.0).fit(X, y, sample_weight=row_weights * np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = learner("II", 1.0, class_weight="balanced").fit(X, y)
    counts = np.where(y == 1, (y == 1).sum(), (y == -1).sum())
    assert_array_equal(balanced.coef_, learner("II", 1.0).fit(X, y, sample_weight=len(y) / (2 * counts)).coef_)


def test_progressive_loss_and_mistakes_are_those_of_the_twin(problem, row_weights, layout):
    X, y = problem
    for weight in (None, row_weights):
        model = learner("I", 1.0).fit(layout(X), y, sample_weight=weight)
        scores = np.array([p for p, _ in reference.pa(X, y, C=0.2, intercept=1.0, weight=weight)])
        present = np.ones(len(y), bool) if weight is None else weight > 0
        assert_allclose(model.progressive_loss_, progressive(scores, y, "hinge", weight), rtol=1e-12)
        assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])
        assert model.n_samples_seen_ == present.sum()


def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout):
    X, y = three_classes
    model = learner("I", 1.0).fit(layout(X), y, sample_weight=row_weights)
    scores, losses = [], []
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        steps = list(reference.pa(X, sign, C=0.2, intercept=1.0, weight=row_weights))
        assert_allclose(model.coef_[k], steps[-1][1][:-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.intercept_[k], steps[-1][1][-1], rtol=1e-10, atol=1e-13)
        scores.append([p for p, _ in steps])
        losses.append(progressive(scores[k], sign, "hinge", row_weights))
    present = row_weights > 0
    assert model.n_mistakes_ == np.count_nonzero((np.array(list("abc"))[np.argmax(scores, axis=0)] != y)[present])
    assert_allclose(model.progressive_loss_, np.mean(losses), rtol=1e-12)
    assert_array_equal(model.predict(layout(X)), np.array(list("abc"))[model.decision_function(layout(X)).argmax(1)])


def test_threads_leave_no_trace(three_classes):
    X, y = three_classes
    one, two = (learner("I", 1.0, max_iter=3, shuffle=True, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    for name, array in one.state_.arrays.items():
        assert_array_equal(two.state_.arrays[name], array)


def test_a_score_of_zero_is_not_positive(problem):
    X, y = problem
    model = learner("I", 0.0).fit(X, y)
    assert_array_equal(model.decision_function(np.zeros((1, X.shape[1]))), [0.0])
    assert_array_equal(model.predict(np.zeros((1, X.shape[1]))), [-1])


def test_scores_are_those_of_the_weights(problem, three_classes, layout, dtype):
    for X, y in (problem, three_classes):
        data = X.astype(dtype)
        model = learner("I", 0.3).fit(layout(data), y)
        expected = data.astype(float) @ model.coef_.T + model.intercept_
        assert_allclose(model.decision_function(layout(data)), expected.squeeze(), rtol=1e-12, atol=1e-14)


def test_n_steps_counts_rows(problem):
    X, y = problem
    model = learner("I", 1.0, n_steps=130).fit(X, y)
    assert (model.n_samples_seen_, model.n_iter_) == (130, 3)
    rows = np.arange(130) % 60
    assert_weights(model, last(reference.pa(X[rows], y[rows], C=0.2, intercept=1.0))[1])


def test_passes_are_steps_times_rows(problem):
    X, y = problem
    by_passes = PAClassifier(max_iter=3, random_state=5).fit(X, y)
    assert_array_equal(PAClassifier(n_steps=180, random_state=5).fit(X, y).coef_, by_passes.coef_)


def test_tol_stops_at_the_first_pass_that_moves_less():
    X, y = np.array([[1.0, 0.0], [0.5, 1.0], [1.0, 0.2]]), [1, -1, 1]
    model = PAClassifier(variant="hard", fit_intercept=False, max_iter=500, tol=1e-6, shuffle=False).fit(X, y)
    assert 2 < model.n_iter_ < 500
    ends = [model.set_params(max_iter=k, tol=None).fit(X, y).coef_ for k in range(1, model.n_iter_ + 1)]
    moves = np.linalg.norm(np.diff(ends, axis=0), axis=(1, 2))
    assert moves[-1] <= 1e-6 < moves[:-1].min()


def test_a_long_sparse_stream_agrees_with_the_paper():
    rng = np.random.default_rng(7)
    X = sparse.random_array((5000, 300), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=300) > 0, 1, -1)
    model = learner("I", 1.0).fit(X, y)
    assert_weights(model, last(reference.pa(X.toarray(), y, C=0.2, intercept=1.0))[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_means_are_means_over_the_iterates_of_all_shards(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(n_classes, size=60)
    start = PAClassifier(0.5, average=True, multi_class="joint")
    start.partial_fit(X[:20], y[:20], classes=np.arange(n_classes))
    shards = [deepcopy(start).partial_fit(X[k : k + 20], y[k : k + 20]) for k in (20, 40)]
    merged = merge_models(shards, start)

    def total(model):
        return float(model.state_.arrays["mass"].max()) * np.hstack([model.coef_, model.intercept_[:, None]])

    expected = total(start) + sum(total(shard) - total(start) for shard in shards)
    assert_allclose(total(merged), expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
