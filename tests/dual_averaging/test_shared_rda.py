"""SharedRDAClassifier against its twin, and against the problem that its weights say they solve."""

from __future__ import annotations

import copy

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import multi_task as reference
from reference.losses import FOR_CLASSES
from thresher import onepass
from thresher.dual_averaging import L1RDAClassifier, SharedRDAClassifier
from thresher.training import merge_models
from variants import assert_same_bits, bits

LABELS = np.array(["a", "b", "c", "d"])


def make(**params):
    given = {"alpha": 0.05, "eta0": 0.4, "intercept_scaling": 0.3, "tau": 0.3, "max_iter": 1, "shuffle": False}
    return SharedRDAClassifier(**(given | params))


def stream(n_rows, n_classes=4, n_features=11, seed=0):
    """Rows with features of very different rates; four of them tell the classes apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < np.geomspace(0.05, 0.9, n_features))
    truth = rng.normal(size=(n_features, n_classes)) * (np.arange(n_features) >= n_features - 4)[:, None]
    codes = (X @ truth + 0.3 * rng.normal(size=(n_rows, n_classes))).argmax(axis=1)
    codes[:n_classes] = np.arange(n_classes)
    weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.85)
    return X, codes, weight


@pytest.mark.parametrize("loss", FOR_CLASSES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("option", [{}, {"fit_intercept": False}, {"n_features_to_select": 5}], ids=str)
def test_it_agrees_with_the_eager_twin_after_every_row(loss, n_classes, option):
    X, codes, weight = stream(150, n_classes)
    model, rows, y = make(loss=loss, **option), sparse.csr_array(X), LABELS[codes]
    bias = 0.3 if model.fit_intercept else 0.0
    mistakes = 0
    for i, (scores, W) in enumerate(reference.shared_rda(model, X, codes, weight)):
        model.partial_fit(rows[[i]], y[[i]], sample_weight=weight[[i]], classes=LABELS[:n_classes])
        wrong = (scores[0] > 0) != codes[i] if n_classes == 2 else scores.argmax() != codes[i]
        mistakes += wrong and weight[i] > 0
        assert model.n_mistakes_ == mistakes
        if not option.get("n_features_to_select"):  # readers cut elsewhere: see below
            assert_allclose(model.coef_, W[:-1].T, rtol=1e-9, atol=1e-12)
            assert_array_equal(model.coef_ != 0, W[:-1].T != 0)
            assert_allclose(model.intercept_, bias * W[-1], rtol=1e-9, atol=1e-12)
            assert_allclose(
                np.reshape(model.decision_function(X[:4]), (4, -1)), np.c_[X[:4], [bias] * 4] @ W, rtol=1e-9, atol=1e-12
            )
    assert model.coef_.any()


def test_any_form_of_rows_gives_the_same_model(layout, dtype):
    X, codes, weight = stream(300)
    X = X.astype(dtype)
    *_, (_, W) = reference.shared_rda(make(alpha=0.12), X, codes, weight)
    model = make(alpha=0.12).fit(layout(X), codes, sample_weight=weight)
    assert_allclose(model.coef_, W[:-1].T, rtol=1e-9, atol=1e-12)
    assert_array_equal(model.coef_ != 0, W[:-1].T != 0)
    used = model.coef_ != 0
    assert_array_equal(used.all(axis=0), used.any(axis=0))  # a feature is in use for all classes or for none
    assert 0 < len(model.support_) < X.shape[1]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_two_classes_are_l1_dual_averaging_to_the_bit(layout, loss):
    X, codes, weight = stream(400, 2)
    shared = make(loss=loss, shuffle=True, max_iter=2, random_state=1).fit(layout(X), codes, sample_weight=weight)
    alone = L1RDAClassifier(0.05, eta0=0.4, loss=loss, tau=0.3, intercept_scaling=0.3, max_iter=2, random_state=1)
    alone.fit(layout(X), codes, sample_weight=weight)
    assert_array_equal(shared.coef_, alone.coef_)
    assert_array_equal(shared.intercept_, alone.intercept_)
    assert (shared.n_mistakes_, shared.progressive_loss_) == (alone.n_mistakes_, alone.progressive_loss_)


def test_the_weights_solve_their_problem():
    X, codes, _ = stream(80)
    model = make(alpha=0.1, fit_intercept=False).fit(X, codes)
    G, t = model.state_.arrays["gradient_sum"][0, :-1] / 80, 80
    W = cp.Variable(G.shape)
    goal = cp.sum(cp.multiply(G, W)) + 0.1 * cp.sum(cp.norm(W, 2, axis=1)) + cp.sum_squares(W) / (2 * 0.4 * np.sqrt(t))
    cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert_allclose(model.coef_.T, W.value, atol=1e-5)
    assert len(model.support_) < 11


def test_its_limit_minimises_the_regularised_risk():
    """Many passes: the mean over classes' losses, summed, plus the penalty is that of a conic solver."""
    X, codes, _ = stream(120, 3)
    model = make(alpha=0.05, eta0=2.0, loss="logistic", fit_intercept=False, shuffle=True, max_iter=800, random_state=0)
    model.fit(X, codes)
    W = cp.Variable((11, 3))
    Y = np.where(codes[:, None] == np.arange(3), 1, -1)
    goal = cp.sum(cp.logistic(-cp.multiply(Y, X @ W))) / 120 + 0.05 * cp.sum(cp.norm(W, 2, axis=1))
    best = cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL")
    optimum = W.value
    W.value = model.coef_.T
    assert best - 1e-6 <= goal.value < best + 2e-3
    assert_array_equal(np.linalg.norm(optimum, axis=1) > 1e-4, model.coef_.any(axis=0))


# --- exactly K features ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_selected", [1, 3, 10])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_exactly_that_many_features_are_in_use_after_every_batch(n_selected, n_classes):
    X, codes, _ = stream(400, n_classes, n_features=40)
    X[:20] += 0.01  # all features have occurred
    model = make(n_features_to_select=n_selected)
    for begin in range(0, 400, 37):
        part = slice(begin, begin + 37)
        model.partial_fit(X[part], codes[part], classes=np.arange(n_classes))
        before = bits(model.state_)
        assert len(model.support_) == n_selected
        S = model.state_.arrays["gradient_sum"][0, :-1]
        lengths = np.linalg.norm(S, axis=1)
        assert_array_equal(model.support_, np.sort(np.argsort(lengths)[-n_selected:]))
        cut, t = np.sort(lengths)[-n_selected - 1], model.n_samples_seen_
        truth = -0.4 / np.sqrt(t) * np.maximum(1 - cut / lengths, 0)[:, None] * S
        assert_allclose(model.coef_.T, truth, rtol=1e-9, atol=1e-12)
        scores = np.reshape(model.decision_function(X), (400, -1))
        assert_allclose(scores, X @ model.coef_.T + model.intercept_, rtol=1e-9, atol=1e-12)
        assert bits(model.state_) == before  # reading changes nothing


def test_in_training_the_penalty_is_found_anew_at_powers_of_two():
    X, codes, _ = stream(300, n_features=40)
    model = make(n_features_to_select=6)
    levels = []
    for i in range(300):
        model.partial_fit(X[[i]], codes[[i]], classes=np.arange(4))
        levels.append(model.state_.arrays["level"][0, 0])
    levels = np.array(levels)
    assert not levels[:63].any()
    assert_array_equal(np.flatnonzero(np.diff(levels)) + 2, [64, 128, 256])
    assert_array_equal(levels[[63, 126]], levels[[63, 63]])


def test_more_features_than_there_are_means_all_of_them():
    X, codes, _ = stream(100)
    model = make(n_features_to_select=11).fit(X, codes)
    assert len(model.support_) == 11
    assert len(make(n_features_to_select=99).fit(X, codes).support_) == 11


# --- shards, lengths ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [{}, {"n_features_to_select": 4}], ids=str)
def test_shards_add_up_and_lengths_are_true_again(option):
    X, codes, _ = stream(300)
    model = make(**option)
    shards = [copy.deepcopy(model).partial_fit(X[k::2], codes[k::2], classes=np.arange(4)) for k in range(2)]
    merged = merge_models(shards)
    arrays = merged.state_.arrays
    assert_allclose(
        arrays["gradient_sum"], sum(s.state_.arrays["gradient_sum"] for s in shards), rtol=1e-14, atol=1e-14
    )
    assert arrays["n_steps"][0, 0] == 300
    lengths = np.linalg.norm(arrays["gradient_sum"][0], axis=1)
    assert_allclose(arrays["length"][0], lengths, rtol=1e-14)
    if option:
        assert_allclose(arrays["level"][0, 0], np.sort(lengths[:-1])[-5] / 300, rtol=1e-14)
        assert len(merged.support_) == 4


def test_sums_whose_squares_outgrow_floating_point_are_still_measured():
    """A sum of 1e160 has no square, but a length."""
    model = make(alpha=0.0).partial_fit(np.full((1, 2), 1e80), [0], sample_weight=[1e80], classes=[0, 1, 2])
    assert_allclose(model.state_.arrays["length"][0, :2], np.sqrt(3) * 1e160, rtol=1e-12)
    assert np.isfinite(model.coef_).all()


def test_a_refused_batch_of_the_squared_loss_leaves_no_trace():
    X, codes, _ = stream(60)
    model = make(loss="squared").partial_fit(sparse.csr_array(X), codes, classes=np.arange(4))
    before = model.state_.copy()
    with pytest.raises(FloatingPointError, match="SharedRDAClassifier: the weights overflowed at row"):
        model.partial_fit(sparse.csr_array(np.full((50, 11), 1e80)), np.zeros(50, int))
    assert_same_bits(model.state_, before)


def test_margins_of_a_pass_are_the_scores_before_each_update():
    X, codes, _ = stream(50)
    model = make()
    learner = onepass.learner(model, 11)
    state, margins = learner.new_state(11, 4), np.empty(200)
    target = onepass.Target(codes.astype(float), np.arange(4))
    learner.learn(onepass.Lesson(onepass.rows(X), target, margins=margins), state)
    truth = np.array([scores for scores, _ in reference.shared_rda(make(intercept_scaling=0.3), X, codes)])
    assert_allclose(margins.reshape(50, 4), truth, rtol=1e-10, atol=1e-13)


def test_codes_that_are_not_there_are_refused_before_the_loop():
    X, codes, _ = stream(20)
    learner = onepass.learner(make(), 11)
    state = learner.new_state(11, 4)
    for wrong in (codes - 1, codes + 2, codes[:-1]):
        with pytest.raises(ValueError, match=r"code|differ in length"):
            learner.learn(onepass.Lesson(onepass.rows(X), onepass.Target(wrong.astype(float), np.arange(4))), state)
    with pytest.raises(ValueError, match="code"):
        learner.scores(onepass.rows(X), state, codes=codes.astype(np.int64) + 99)
