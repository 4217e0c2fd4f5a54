"""n_features_to_select: exactly K whenever someone looks, a training penalty that follows an order statistic."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.agreement import assert_model, assert_same_course, gappy_stream, last, progressive
from reference.sparse_learners import twin
from thresher import onepass
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    AdaptiveL1RDARegressor,
    FTRLClassifier,
    FTRLRegressor,
    L1RDAClassifier,
    L1RDARegressor,
    ReweightedL1RDAClassifier,
    ReweightedL1RDARegressor,
)
from thresher.persistence import load_model, save_model
from variants import assert_same_bits, bits

CLASSIFIERS = [L1RDAClassifier, AdaptiveL1RDAClassifier, FTRLClassifier, ReweightedL1RDAClassifier]
REGRESSORS = [L1RDARegressor, AdaptiveL1RDARegressor, FTRLRegressor, ReweightedL1RDARegressor]
PENALISED = {"penalize_intercept": True, "intercept_scaling": 0.7}
CASES = [(cls, options) for cls in CLASSIFIERS + REGRESSORS for options in ({}, {"debias": True})]
CASES += [(cls, PENALISED) for cls in CLASSIFIERS]
CASES += [
    (L1RDAClassifier, {"batch_size": 3}),
    (L1RDARegressor, {"batch_size": 5, "l2_weight": 0.1} | PENALISED),
    (L1RDAClassifier, {"rho": 0.05}),
    (AdaptiveL1RDAClassifier, {"l2_weight": 0.1, "smoothing": 3.0}),
    (FTRLClassifier, {"l2": 2.0, "eta0": 1.0, "debias": True}),
    (FTRLClassifier, {"loss": "hinge"}),
    (ReweightedL1RDAClassifier, {"rho": 0.02, "smoothing": 2.0}),
    (ReweightedL1RDAClassifier, {"smoothing": 1e-3, "debias": True}),
    (AdaptiveL1RDAClassifier, {"batch_size": 3}),
    (AdaptiveL1RDARegressor, {"batch_size": 2, "l2_weight": 0.1} | PENALISED),
    (ReweightedL1RDAClassifier, {"batch_size": 3}),
    (ReweightedL1RDARegressor, {"batch_size": 2} | PENALISED),
]
cases = pytest.mark.parametrize("estimator, options", CASES, ids=[f"{e.__name__}-{o}" for e, o in CASES])
classifiers = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)


def learner(estimator, k=5, **options):
    return estimator(**({"n_features_to_select": k, "max_iter": 1, "shuffle": False, "eta0": 0.3} | options))


def stream(estimator, n_rows=300, n_features=40, seed=0):
    X, scores = gappy_stream(n_rows, n_features, seed)
    X = X + sparse.random_array((n_rows, n_features), density=0.1, rng=np.random.default_rng(seed), format="csr")
    X[:, [0, 33]] *= 0
    X.eliminate_zeros()
    return X, np.where(scores > 0, 1, -1) if estimator.__name__.endswith("Classifier") else scores


def first_call(estimator):
    return {"classes": [-1, 1]} if estimator.__name__.endswith("Classifier") else {}


def fed(model, X, y, sizes):
    """In chunks of these sizes, again and again."""
    begin = i = 0
    while begin < len(y):
        end = begin + sizes[i % len(sizes)]
        model.partial_fit(X[begin:end], y[begin:end], **(first_call(type(model)) if begin == 0 else {}))
        begin, i = end, i + 1
    return model


@cases
def test_selected_weights_are_the_twins_after_every_row(estimator, options):
    X, y = stream(estimator)
    weight = np.random.default_rng(0).exponential(size=len(y))
    weight[::6] = 0
    for share, n_rows in ((None, 300), (weight, 180)):
        model = learner(estimator, **options)
        X, y, share = X[:n_rows], y[:n_rows], None if share is None else share[:n_rows]
        steps = list(twin(model, X.toarray(), y, share))
        assert_same_course(model, X, y, lambda rows: rows, steps, share, rtol=1e-9, **first_call(estimator))
        expected = progressive(
            [score for score, _ in steps], y, model.loss, share, tau=model.tau, epsilon=getattr(model, "epsilon", 0.0)
        )
        assert_allclose(model.progressive_loss_, expected, rtol=1e-9)


@cases
def test_exactly_k_are_in_use_after_any_number_of_rows(estimator, options):
    """Once so many can be: before, all that can."""
    X, y = stream(estimator)
    model = learner(estimator, **options)
    sizes = []
    for i in range(len(y)):
        model.partial_fit(X[[i]], y[[i]], **(first_call(estimator) if i == 0 else {}))
        sizes.append(model.support_.size)
    begin = sizes.index(5)
    assert begin < 60
    assert set(sizes[begin:]) == {5}
    assert max(sizes[:begin], default=0) < 5


@cases
def test_a_look_changes_nothing(estimator, options):
    X, y = stream(estimator)
    model = fed(learner(estimator, **options), X[:150], y[:150], [150])
    before = bits(model.state_)
    model.predict(X)
    assert len(model.support_) == 5
    assert_array_equal(model.coef_, model.coef_)
    assert bits(model.state_) == before


@cases
def test_chunks_leave_no_trace_in_a_selection(estimator, options):
    X, y = stream(estimator)
    one = fed(learner(estimator, **options), X, y, [300])
    for sizes in ([1], [64], [63, 1, 2], [7, 57, 100]):
        other = fed(learner(estimator, **options), X, y, sizes)
        assert_same_bits(one.state_, other.state_)
        assert_array_equal(one.coef_, other.coef_)


@cases
def test_a_model_that_is_stored_merged_or_goes_on_keeps_to_k(tmp_path, estimator, options):
    X, y = stream(estimator)
    model = fed(learner(estimator, **options), X[:100], y[:100], [100])
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_array_equal(again.coef_, model.coef_)
    assert again.support_.size == 5
    shards = [copy.deepcopy(model) for _ in range(2)]
    shards[0].partial_fit(X[100:170], y[100:170])
    shards[1].partial_fit(X[170:240], y[170:240])
    merged = copy.deepcopy(model)
    merged.state_ = onepass.learner(model, 40).merge(model.state_, [s.state_ for s in shards], [70, 70])
    merged._weights_cache = None
    assert merged.support_.size == 5
    for going_on in (again, merged):
        for begin in range(240, 300, 20):
            going_on.partial_fit(X[begin : begin + 20], y[begin : begin + 20])
            assert going_on.support_.size == 5


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)
def test_the_training_penalty_is_the_next_order_at_64_128_256(estimator):
    X, y = stream(estimator)
    assert fed(learner(estimator), X[:63], y[:63], [63]).state_.view(0)["level"] == 0
    for end in (64, 128, 256):
        model = fed(learner(estimator), X[:end], y[:end], [50])
        level, view = float(model.state_.view(0)["level"][0]), model.state_.view(0)
        if "FTRL" in estimator.__name__:
            order = np.abs(view["z"][:-1])
        elif "Reweighted" in estimator.__name__:
            assert_array_equal(view["last_step"], end)
            order = np.abs(view["gradient_sum"][:-1]) / view["penalty_sum"][:-1]
        else:
            order = np.abs(view["gradient_sum"][:-1]) / end
        assert_allclose(level, np.sort(order)[::-1][5], rtol=1e-14)
        assert level > 0
        between = fed(learner(estimator), X[: end + 37], y[: end + 37], [50])
        assert between.state_.view(0)["level"] == level


@pytest.mark.parametrize("estimator", [L1RDAClassifier, AdaptiveL1RDAClassifier, ReweightedL1RDAClassifier])
def test_a_mini_batch_that_fit_closes_may_be_the_64th_step(estimator):
    X, y = stream(estimator)
    model = learner(estimator, batch_size=3).fit(X[:190], y[:190])
    assert model.state_.view(0)["n_steps"] == 64
    model.partial_fit(X[190:], y[190:])
    w = last(twin(model, X.toarray(), y, looks=[299], close_after=[189]))[1]
    assert_model(model, w, rtol=1e-9)


# --- ties, few features, many --------------------------------------------------------------------------------------


@classifiers
def test_ties_with_the_next_are_left_out(estimator):
    rng = np.random.default_rng(0)
    a, b = np.sign(rng.normal(size=(2, 90)))
    X = np.column_stack([b * 0.25, a, a, 0 * a])
    for k, support in ((1, []), (2, [1, 2]), (3, [0, 1, 2])):
        model = learner(estimator, k, fit_intercept=False)
        model.partial_fit(X, np.where(a > 0, 1, -1), classes=[-1, 1])
        assert_array_equal(model.support_, support)


@classifiers
@pytest.mark.parametrize("k", [40, 41, 10**6])
def test_as_many_as_there_are_is_no_penalty(estimator, k):
    X, y = stream(estimator)
    none = {"alpha": 0.0}
    plain = fed(learner(estimator, None, **none), X, y, [300])
    model = fed(learner(estimator, k), X, y, [300])
    assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
    assert_array_equal(model.support_, np.flatnonzero(abs(X).sum(axis=0)))
    assert model.support_.size == 38
    few = fed(learner(estimator, 39), X, y, [300])  # one more than ever occur
    assert_array_equal(few.support_, model.support_)


@classifiers
def test_rows_of_weight_0_alone_select_nothing(estimator):
    model = learner(estimator, 1).partial_fit([[1.0, 2.0, 3.0]], [1], classes=[-1, 1], sample_weight=[0.0])
    assert model.support_.size == 0
    assert not model.intercept_.any()


@classifiers
@pytest.mark.parametrize("debias", [False, True])
def test_each_of_three_classes_has_its_own_k(estimator, debias):
    X, _ = stream(estimator)
    rng = np.random.default_rng(5)
    y = (X @ rng.normal(size=(40, 3)) + 0.2 * rng.normal(size=(300, 3))).argmax(axis=1)
    model = learner(estimator, debias=debias, n_jobs=2, selection="class").fit(X, y)
    assert_array_equal(np.count_nonzero(model.coef_, axis=1), [5, 5, 5])
    scores = []
    for k in range(3):
        steps = list(twin(model, X.toarray(), np.where(y == k, 1, -1), looks=[299]))
        assert_allclose(model.coef_[k], steps[-1][1][:-1], rtol=1e-9, atol=1e-12)
        assert_array_equal(model.coef_[k] == 0, steps[-1][1][:-1] == 0)
        scores.append([score for score, _ in steps])
    assert model.n_mistakes_ == np.count_nonzero(np.argmax(scores, axis=0) != y)


@classifiers
def test_another_number_counts_from_the_next_look(estimator):
    X, y = stream(estimator)
    model = fed(learner(estimator, 9), X, y, [300])
    nine = set(model.support_)
    model.set_params(n_features_to_select=4)
    assert model.support_.size == 4
    assert set(model.support_) < nine
    assert model.partial_fit(X[:5], y[:5]).support_.size == 4


# --- long streams ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, ReweightedL1RDARegressor], ids=lambda e: e.__name__)
@pytest.mark.parametrize("options", [{}, {"debias": True}], ids=["plain", "debiased"])
def test_a_long_stream_in_chunks_of_100_stays_sparse(estimator, options):
    X, scores = gappy_stream()
    y = np.where(scores > 0, 1, -1) if estimator in CLASSIFIERS else scores
    one = fed(learner(estimator, 30, **options), X, y, [3000])
    model = learner(estimator, 30, **options)
    for begin in range(0, 3000, 100):
        batch = slice(begin, begin + 100)
        model.partial_fit(X[batch], y[batch], **(first_call(estimator) if begin == 0 else {}))
        assert model.support_.size == 30
    assert_array_equal(model.support_, one.support_)
    assert_array_equal(model.coef_, one.coef_)
    w = last(twin(model, X.toarray(), y, looks=[2999]))[1]
    rtol = 1e-9 if estimator.__name__.startswith("ReweightedL1") else 1e-10  # which catches up in strides
    assert_model(model, w, rtol=rtol, atol=1e-12 * max(1.0, np.abs(w).max()))


@classifiers
def test_a_penalty_of_its_own_stays_sparse_in_chunks_as_in_one_pass(estimator):
    X, scores = gappy_stream()
    y = np.where(scores > 0, 1, -1)
    penalty = {FTRLClassifier: {"alpha": 2.0}, ReweightedL1RDAClassifier: {"alpha": 2e-4}}
    given = penalty.get(estimator, {"alpha": 2e-3})
    one = fed(learner(estimator, None, **given), X, y, [3000])
    chunks = fed(learner(estimator, None, **given), X, y, [100])
    assert_array_equal(one.support_, chunks.support_)
    assert 10 < one.support_.size < 200
