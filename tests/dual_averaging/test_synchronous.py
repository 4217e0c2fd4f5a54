"""One gradient over all rows, one step: however the rows are divided, it is a mini-batch of all of them."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.rounds import run_round
from reference.synchronous import rounds, shared_rounds
from thresher._engine import ShardFacts, add
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    AdaptiveL1RDARegressor,
    FTRLClassifier,
    FTRLRegressor,
    GroupFOBOSClassifier,
    GroupRDAClassifier,
    GroupRDARegressor,
    L1RDAClassifier,
    L1RDARegressor,
    MultiTaskRDAClassifier,
    ReweightedL1RDAClassifier,
    ReweightedL1RDARegressor,
    ReweightedL2RDAClassifier,
    ReweightedL2RDARegressor,
    SharedRDAClassifier,
)
from thresher.dual_averaging._synchronous import Synchronous
from thresher.solvers import lasso
from variants import assert_same_bits, first_batch, models, name_of, regresses, rows_for, with_params

LAYOUTS = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])

TWINS = [
    L1RDAClassifier(alpha=0.03, eta0=3.0, rho=0.02, l2_weight=0.1),
    L1RDAClassifier(alpha=0.01, eta0=5.0, loss="logistic", penalize_intercept=True, intercept_scaling=1.0),
    L1RDAClassifier(eta0=2.0, n_features_to_select=4),
    L1RDAClassifier(alpha=0.02, eta0=2.0, batch_size=7, fit_intercept=False),
    L1RDARegressor(alpha=0.05, eta0=0.3),
    AdaptiveL1RDAClassifier(alpha=0.02, eta0=0.5, loss="squared_hinge"),
    AdaptiveL1RDAClassifier(eta0=0.5, n_features_to_select=3),
    AdaptiveL1RDAClassifier(alpha=0.02, eta0=0.5, batch_size=7),
    AdaptiveL1RDARegressor(alpha=0.05, eta0=0.3, penalize_intercept=True),
    FTRLClassifier(alpha=0.3, eta0=0.3, l2=0.1, loss="pinball", tau=0.2),
    FTRLClassifier(eta0=0.3, n_features_to_select=4),
    FTRLRegressor(1.0, alpha=0.4, loss="quantile", tau=0.3),
    ReweightedL1RDAClassifier(alpha=0.004, eta0=2.0, rho=0.01),
    ReweightedL1RDAClassifier(eta0=2.0, n_features_to_select=4, penalize_intercept=True),
    ReweightedL1RDARegressor(alpha=0.01, eta0=0.1, loss="epsilon_insensitive"),
    ReweightedL1RDARegressor(alpha=0.01, eta0=0.1, batch_size=7),
    ReweightedL2RDAClassifier(smoothing=10.0, threshold=0.3, loss="modified_huber"),
    ReweightedL2RDARegressor(alpha=0.1, smoothing=2.0, threshold=0.05),
    ReweightedL2RDARegressor(alpha=0.1, smoothing=2.0, threshold=0.05, batch_size=7),
    GroupRDAClassifier(alpha=0.02, eta0=2.0),
    GroupRDAClassifier([[0, 1, 3], [4, 5]], alpha=0.03, eta0=2.0),
    GroupRDAClassifier([[0, 1, 3], [3, 4, 5]], alpha=0.03, eta0=2.0),
    GroupRDAClassifier([[0, 1, 3], [4, 5]], alpha=0.02, eta0=2.0, l1_weight=0.3, rho=0.01),
    GroupRDARegressor([[0, 1, 3], [4, 5]], alpha=0.05, eta0=0.1, norm="inf"),
]


def begun(model, X, y):
    """As a driver begins: all classes and features are known, no row was learned from."""
    return first_batch(with_params(model), X[:1], y[:1], y, sample_weight=np.zeros(1))


def facts_of(X, y):
    return ShardFacts(X.shape[0], X.shape[1], np.unique(y))


def in_rounds(model, batches, n_rounds):
    """``batches`` of (X, y, weight), the first of full width."""
    X, y = batches[0][0], np.concatenate([b[1] for b in batches])
    model = begun(model, X, y)
    for _ in range(n_rounds):
        run_round(model, facts_of(X, y), batches)
    return model


def divided(X, y, weight, cuts):
    edges = [0, *cuts, X.shape[0]]
    return [(X[a:b], y[a:b], None if weight is None else weight[a:b]) for a, b in pairwise(edges)]


def data_for(model, problem, regression):
    return regression if regresses(model) else problem


# --- the papers' steps ----------------------------------------------------------------------------------------------


@LAYOUTS
@pytest.mark.parametrize("model", TWINS, ids=name_of)
def test_a_round_is_the_papers_step_with_the_mean_gradient_of_all_rows(
    model, layout, dtype, problem, regression, row_weights
):
    X, y = data_for(model, problem, regression)
    X = X.astype(dtype)
    fitted = begun(model, layout(X), y)
    loss = 0.0
    for n, (paid, w) in enumerate(rounds(model, X, y, row_weights, 70), 1):
        run_round(fitted, facts_of(X, y), divided(layout(X), y, row_weights, [11, 40]))
        loss += paid
        if n in (1, 2, 5, 63, 64, 65, 70):  # selections follow a new penalty from step 64 on
            assert_allclose(fitted.coef_.reshape(-1), w[:-1], rtol=1e-8, atol=1e-10)
            assert_array_equal(np.flatnonzero(fitted.coef_), np.flatnonzero(w[:-1]))
            scale = model.intercept_scaling if model.fit_intercept else 0.0
            assert_allclose(fitted.intercept_, w[-1] * scale, rtol=1e-8, atol=1e-10)
    assert len(fitted.support_)
    assert_allclose(fitted.progressive_loss_, loss / (70 * row_weights.sum()), rtol=1e-9)


@LAYOUTS
@pytest.mark.parametrize(
    "model",
    [SharedRDAClassifier(alpha=0.15, eta0=3.0), SharedRDAClassifier(alpha=0.05, loss="logistic", eta0=9.0)],
    ids=name_of,
)
def test_a_round_of_classes_that_share_features(model, layout, dtype, three_classes):
    X, y = three_classes
    X = X.astype(dtype)
    codes = np.searchsorted(["a", "b", "c"], y)
    fitted = begun(model, layout(X), y)
    for W in shared_rounds(model, X, codes, 3, 20):
        run_round(fitted, facts_of(X, y), divided(layout(X), y, None, [11, 40]))
        assert_allclose(fitted.coef_, W[:-1].T, rtol=1e-9, atol=1e-12)
        assert_array_equal(fitted.support_, np.flatnonzero(W[:-1].any(axis=1)))
        assert_allclose(fitted.intercept_, W[-1] * model.intercept_scaling, rtol=1e-9, atol=1e-12)
    assert 0 < len(fitted.support_) < 10


def test_shared_features_keep_to_their_number_and_with_two_classes_are_l1(problem, three_classes):
    X, y = three_classes
    for n in (1, 3, 9):
        few = in_rounds(SharedRDAClassifier(eta0=1.0, n_features_to_select=3), divided(X, y, None, [20]), n)
        assert len(few.support_) == 3
    X, y = problem
    shared, plain = (
        in_rounds(cls(alpha=0.02, eta0=2.0), divided(X, y, None, [20]), 9)
        for cls in (SharedRDAClassifier, L1RDAClassifier)
    )
    assert_allclose(shared.coef_, plain.coef_, rtol=1e-12, atol=1e-15)
    assert_array_equal(shared.state_.arrays["tally"][:, :2], plain.state_.arrays["tally"][:, :2])
    assert_allclose(shared.progressive_loss_, plain.progressive_loss_, rtol=1e-12)
    assert shared.n_mistakes_ == plain.n_mistakes_


# --- one machine ----------------------------------------------------------------------------------------------------

BATCHED = [
    L1RDAClassifier(alpha=0.02, eta0=2.0),
    L1RDAClassifier(alpha=0.02, eta0=2.0, class_weight={"ham": 2.0, "spam": 0.5, "maybe": 0.0}),
    L1RDAClassifier(alpha=0.01, eta0=1.0, loss="logistic", l2_weight=0.1, rho=0.1, penalize_intercept=True),
    L1RDAClassifier(alpha="auto", eta0=2.0),
    L1RDAClassifier(eta0=2.0, n_features_to_select=3),
    L1RDARegressor(alpha=0.02, eta0=0.1),
    L1RDARegressor(alpha="auto", eta0=0.1),
    AdaptiveL1RDAClassifier(alpha=0.02, eta0=0.5, l2_weight=0.1),
    ReweightedL1RDAClassifier(alpha=0.004, eta0=2.0, rho=0.01),
    ReweightedL1RDAClassifier(eta0=2.0, n_features_to_select=3),
    ReweightedL2RDARegressor(alpha=0.1, smoothing=2.0, threshold=0.05),
]


@LAYOUTS
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("cuts", [(), (1, 2, 30), (13, 13, 64)], ids=str)
@pytest.mark.parametrize("model", BATCHED, ids=name_of)
def test_rounds_are_one_machine_with_a_mini_batch_of_all_rows(model, layout, weighed, cuts):
    X, y = rows_for(model, n_rows=70)
    weight = np.random.default_rng(5).integers(0, 4, 70).astype(float) if weighed else None
    present = np.ones(70) if weight is None else weight
    if getattr(model, "class_weight", None):
        present = present * np.array([model.class_weight[label] for label in y])
    n_rows = int(np.count_nonzero(present))
    selects = getattr(model, "n_features_to_select", None) is not None
    n_rounds = 66 if selects else 10  # penalties that select change after 64 steps
    one = with_params(model, batch_size=n_rows, shuffle=False, max_iter=n_rounds).fit(layout(X), y, weight)
    many = in_rounds(model, divided(layout(X), y, weight, cuts), n_rounds)
    assert_allclose(many.coef_, one.coef_, rtol=1e-12, atol=1e-14)
    assert_allclose(many.intercept_, one.intercept_, rtol=1e-12, atol=1e-14)
    assert_array_equal(many.support_, one.support_)
    assert_array_equal(many.state_.arrays["n_steps"], one.state_.arrays["n_steps"])
    assert_array_equal(many.state_.arrays["n_mistakes"], one.state_.arrays["n_mistakes"])
    assert_array_equal(many.state_.arrays["tally"][:, :2], one.state_.arrays["tally"][:, :2])
    assert_allclose(many.state_.arrays["tally"], one.state_.arrays["tally"], rtol=1e-12)


def test_rounds_and_passes_may_take_turns(problem):
    X, y = problem
    one = L1RDAClassifier(alpha=0.02, batch_size=60, eta0=2.0)
    first_batch(one, X, y).partial_fit(X[:10], y[:10])  # ten rows wait
    many = pickle.loads(pickle.dumps(one))
    run_round(many, facts_of(X, y), divided(X, y, None, [25]))  # closes them as a batch of ten
    learner = one._learner_now()
    learner.finish(one.state_)
    one.partial_fit(X, y)
    assert_allclose(many.coef_, one.coef_, rtol=1e-12, atol=1e-15)
    assert_allclose(many.partial_fit(X, y).coef_, one.partial_fit(X, y).coef_, rtol=1e-12, atol=1e-15)


# --- rows wherever they are -----------------------------------------------------------------------------------------

SYNCHRONOUS = [
    with_params(m, eta0=0.5) if getattr(m, "eta0", None) == "auto" else m
    for m in models()
    if isinstance(m, Synchronous)
    and not getattr(m, "debias", False)
    and getattr(m, "average", False) is not True
    and getattr(m, "smoothing", 1) != "auto"
]


@pytest.mark.parametrize("model", SYNCHRONOUS, ids=name_of)
def test_narrow_rows_rows_of_weight_zero_and_no_rows_change_nothing(model):
    X, y = rows_for(model, n_rows=50)
    X[20:35, 5:] = 0
    whole, weight = sparse.csr_array(X), np.ones(50)
    weight[40:] = 0
    narrow = sparse.csr_array(X[20:35, :5])
    one = in_rounds(model, [(whole[:40], y[:40], None), (whole[:0], y[:0], None)], 3)
    many = in_rounds(
        model,
        [(whole[:20], y[:20], None), (narrow, y[20:35], None), (whole[35:], y[35:], weight[35:])],
        3,
    )
    assert_allclose(many.coef_, one.coef_, rtol=1e-10, atol=1e-13)
    assert_array_equal(many.support_, one.support_)
    assert_array_equal(many.state_.arrays["tally"][:, :2], one.state_.arrays["tally"][:, :2])
    assert many.n_samples_seen_ == 120
    assert_array_equal(many.state_.arrays["n_mistakes"], one.state_.arrays["n_mistakes"])


@pytest.mark.parametrize("model", SYNCHRONOUS, ids=name_of)
def test_a_round_is_replayed_from_its_totals_to_the_bit_and_changes_nothing_before_its_end(model):
    X, y = rows_for(model, n_rows=50)
    fitted = in_rounds(model, [(X, y, None)], 2)
    again = pickle.loads(pickle.dumps(fitted))
    steps = fitted._round(facts_of(X, y))
    question = pickle.loads(pickle.dumps(next(steps)))  # travels
    total = add(question.answer(X[:20], y[:20], None), question.answer(X[20:], y[20:], None))
    assert_same_bits(fitted.state_, again.state_)
    with pytest.raises(StopIteration) as end:
        steps.send(total)
    assert end.value.value is False
    replayed = again._round(facts_of(X, y))
    next(replayed)
    with pytest.raises(StopIteration):
        replayed.send(pickle.loads(pickle.dumps(total)))
    assert_same_bits(fitted.state_, again.state_)
    assert fitted.state_.arrays["tally"][0, 0] == 150


def test_a_question_carries_the_weights_in_use_and_no_others():
    model = L1RDAClassifier(alpha=0.5, eta0=1.0)
    X = sparse.csr_array(([1.0, -1.0, 0.1], ([0, 1, 2], [7, 7, 99_998])), shape=(3, 100_000))
    fitted = in_rounds(model, [(X, np.array([1, 0, 1]), None)], 1)
    assert fitted.support_.size == 1
    assert len(pickle.dumps(next(fitted._round(ShardFacts(3, 100_000))))) < 5_000


# --- when to stop, and what is refused --------------------------------------------------------------------------------


def test_tol_stops_rounds_where_it_stops_fit(problem):
    X, y = problem
    model = L1RDAClassifier(alpha=0.02, loss="logistic", eta0=3.0, tol=0.05, max_iter=500, batch_size=60, shuffle=False)
    one = with_params(model).fit(X, y)
    assert 2 < one.n_iter_ < 100
    many = begun(model, X, y)
    said = [run_round(many, facts_of(X, y), [(X, y, None)]) for _ in range(one.n_iter_)]
    assert said == [False] * (one.n_iter_ - 1) + [True]


def test_weights_that_are_all_zero_are_no_reason_to_stop(problem):
    X, y = problem
    model = begun(L1RDAClassifier(alpha=100.0, eta0=1.0, tol=1.0, fit_intercept=False), X, y)
    assert not any(run_round(model, facts_of(X, y), [(X, y, None)]) for _ in range(3))
    assert run_round(model, facts_of(X, y), [(X, y, np.zeros(60))])  # no rows: nothing will ever change
    assert model.n_samples_seen_ == 180


def test_as_many_rounds_as_fit_would_make_steps():
    assert L1RDAClassifier(max_iter=7)._n_rounds() == 7
    assert L1RDAClassifier(max_iter=7, n_steps=12)._n_rounds() == 12
    assert not L1RDAClassifier._prefers_sums


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            L1RDAClassifier(eta0="auto"),
            'L1RDAClassifier: eta0 must be a number and scale False with mode="sums"; mode="passes" supports both.',
        ),
        (
            L1RDAClassifier(debias=True),
            'L1RDAClassifier: debias must be False with mode="sums", got True; mode="passes" supports it.',
        ),
        (
            L1RDAClassifier(eta0=1.0, average=True),
            'L1RDAClassifier: average must be False or "auto" with mode="sums", got True.',
        ),
        (
            L1RDAClassifier(eta0=1.0, multi_class="joint"),
            'L1RDAClassifier: multi_class must be "one_vs_rest" or "auto" with mode="sums", got "joint".',
        ),
        (
            FTRLClassifier(eta0=0.3, class_weight="balanced"),
            'FTRLClassifier: class_weight must be None or a dict with mode="sums", got "balanced".',
        ),
    ],
    ids=["auto", "debias", "average", "joint", "balanced"],
)
def test_what_has_no_synchronous_step_is_refused_before_any_row_is_read(model, sentence, problem):
    X, y = problem
    fitted = begun(with_params(model, class_weight=None), X, y).set_params(class_weight=model.class_weight)
    with pytest.raises(ValueError) as refusal:
        fitted._round(facts_of(X, y))
    assert str(refusal.value) == sentence


def test_learners_without_sums_of_gradients_have_no_rounds():
    for cls in (GroupFOBOSClassifier, MultiTaskRDAClassifier):
        assert not hasattr(cls, "_round")


def test_weights_that_outgrow_floating_point_are_refused_and_leave_the_model_alone(regression):
    X, y = regression[0] * 1e60, regression[1]
    model = begun(L1RDARegressor(eta0=1e100), X, y)
    run_round(model, facts_of(X, y), [(X, y, None)])
    before = pickle.loads(pickle.dumps(model.state_))
    with pytest.raises(FloatingPointError, match=r"L1RDARegressor: the weights overflowed .* eta0\)\."):
        run_round(model, facts_of(X, y), [(X, y, None)])
    assert_same_bits(model.state_, before)


def test_wider_rows_and_labels_that_nobody_announced_are_refused(problem):
    X, y = problem
    model = begun(L1RDAClassifier(eta0=1.0), X, y)
    wide = np.hstack([X, X[:, :1] + 1])
    for rows, n in ((wide, 13), (sparse.csr_array(wide), 13), (X[:, :-1], 11)):
        with pytest.raises(ValueError, match=f"X has {n} features, but L1RDAClassifier is expecting 12"):
            run_round(model, facts_of(X, y), [(rows, y, None)])
    with pytest.raises(ValueError, match="L1RDAClassifier: "):
        run_round(model, facts_of(X, y), [(X, y + 5, None)])
    assert model.n_samples_seen_ == 0


# --- where it leads ---------------------------------------------------------------------------------------------------


def objective(w, X, y, alpha):
    return np.logaddexp(0, -y * (X @ w)).mean() + alpha * np.abs(w).sum()


def test_the_gap_to_the_optimum_falls_at_least_with_the_root_of_the_rounds():
    """Xiao's Corollary 2 for the mean of the iterates, gap <= (|w*|^2 / (2 eta0) + eta0 L^2) / sqrt t with gradients of
    at most L; the last iterate's gap halves at least when the rounds are four times as many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 15))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=400) > 0, 1.0, -1.0)
    best = lasso(X, y, 0.05, loss="logistic", fit_intercept=False, tol=1e-12).coef
    least, eta0 = objective(best, X, y, 0.05), 4.0
    model = begun(L1RDAClassifier(alpha=0.05, loss="logistic", eta0=eta0, fit_intercept=False), X, y)
    steepest, total, gaps = 0.0, np.zeros(15), {}
    for t in range(1, 1025):
        total = total + model.coef_[0]
        run_round(model, facts_of(X, y), divided(X, y, None, [100, 200, 300]))
        gaps[t] = objective(model.coef_[0], X, y, 0.05) - least
        slopes = -y / (1 + np.exp(y * (X @ (total / t))))
        steepest = max(steepest, float(np.linalg.norm(X.T @ slopes / 400)))
        bound = (best @ best / (2 * eta0) + eta0 * steepest**2) / np.sqrt(t)
        assert -1e-9 <= objective(total / t, X, y, 0.05) - least <= bound
    for t in (16, 64, 256):
        assert 0 < gaps[4 * t] <= gaps[t] / 2
    assert gaps[1024] < 3e-4
    assert_array_equal(model.support_, np.flatnonzero(best))
