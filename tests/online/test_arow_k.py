"""AROWClassifier with few features: against its twin, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import ndtr

from reference.arow_k import arow_k
from thresher.online import AROWClassifier
from thresher.training import merge_models

N_ROWS, N_FEATURES = 400, 60


@pytest.fixture
def stream():
    """Sparse rows with gaps, five features that matter and twins of two of them."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < 0.15)
    X[:, 10:12] = X[:, :2] + 0.1 * rng.normal(size=(N_ROWS, 2)) * (X[:, :2] != 0)
    w = np.zeros(N_FEATURES)
    w[:5] = [2, -2, 1.5, 1, -1]
    return X, np.where(X @ w + 0.2 * rng.normal(size=N_ROWS) > 0, 1, -1)


def learner(**params):
    return AROWClassifier(**{"r": 0.7, "max_iter": 1, "shuffle": False} | params)


@pytest.mark.parametrize("k", [1, 5, 20, 100])
def test_agrees_with_the_page_step_by_step(stream, layout, dtype, k):
    X, y = stream
    X = X.astype(dtype)
    model = learner(n_features_to_select=k)
    rows = layout(X)
    for i, (_, weights, scout, second) in enumerate(arow_k(X.astype(float), y, k=k, r=0.7)):
        model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=[-1, 1])
        if i % 7 == 0 or i > N_ROWS - 3:
            assert_allclose(np.append(model.coef_[0], model.intercept_), weights, rtol=1e-9, atol=1e-12)
            assert_allclose(model.state_.arrays["scout_coef"][0], scout.mu, rtol=1e-9, atol=1e-12)
            assert_allclose(model.state_.arrays["variance"][0], second.s, rtol=1e-9)
            assert_array_equal(model.support_, np.flatnonzero(weights[:-1]))


@pytest.mark.parametrize("relative", [False, True])
def test_row_weights_and_the_running_size_of_rows(stream, relative):
    X, y = stream
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    k, r = (10, 0.3) if relative else (7, 0.7)
    steps = list(arow_k(X, y, k=k, r=r, relative=relative, weight=weight))
    if relative:  # the first of the models that "auto" learns
        model = AROWClassifier(r="auto", scale=None, n_features_to_select="auto", max_iter=1, shuffle=False)
    else:
        model = learner(n_features_to_select=7)
    model.fit(X, y, sample_weight=weight)
    _, weights, scout, second = steps[-1]
    assert_allclose(model.state_.arrays["scout_coef"][0], scout.mu, rtol=1e-9, atol=1e-12)
    assert_allclose(model.state_.arrays["coef"][0], second.mu, rtol=1e-9, atol=1e-12)
    assert_allclose(model._learner_now().weights(model.state_, 0)[0], weights, rtol=1e-9, atol=1e-12)
    present = weight > 0
    scores = np.array([s[0] for s in steps])
    assert model.state_.arrays["n_mistakes"][0, 0] == np.count_nonzero(((scores > 0) != (y > 0))[present])


@pytest.mark.parametrize("k", [1, 3, 10])
def test_exactly_so_many_features_however_one_looks(stream, k):
    X, y = stream
    model = learner(n_features_to_select=k)
    for i in range(0, N_ROWS, 25):
        model.partial_fit(X[i : i + 25], y[i : i + 25], classes=[-1, 1])
        assert len(model.support_) <= k
        if i > 100:
            assert len(model.support_) == k
        assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_, rtol=1e-12, atol=1e-13)
    parts = [learner(n_features_to_select=k).fit(X[j::2], y[j::2]) for j in range(2)]
    assert len(merge_models(parts).support_) == k


def test_looking_changes_nothing_that_is_learned(stream):
    X, y = stream
    seen, unseen = learner(n_features_to_select=4), learner(n_features_to_select=4)
    for i in range(0, N_ROWS, 10):
        for model in (seen, unseen):
            model.partial_fit(X[i : i + 10], y[i : i + 10], classes=[-1, 1])
        assert len(seen.support_) <= 4
        seen.predict(X)
    for name, array in seen.state_.arrays.items():
        assert_array_equal(array, unseen.state_.arrays[name])


def test_candidates_on_rows_of_length_one_are_plain_arow(stream):
    """In units of rows of length 1, the candidates of r="auto" are AROW with these numbers."""
    X, y = stream
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    X = X[np.linalg.norm(X, axis=1) > 0.5]
    y = y[: len(X)]
    automatic = AROWClassifier(r="auto", scale=False, max_iter=1, shuffle=False).fit(X, y)
    for k, r in enumerate(automatic.race_["value"]):
        plain = learner(r=r).fit(X, y)
        assert_allclose(automatic.state_.arrays["coef"][k], plain.state_.arrays["coef"][0], rtol=1e-7, atol=1e-10)
    assert automatic.r_ in automatic.race_["value"]
    assert automatic.n_features_to_select_ is None


def test_auto_reads_the_model_with_the_fewest_mistakes(stream):
    X, y = stream
    model = AROWClassifier(r=0.5, n_features_to_select="auto", max_iter=1, shuffle=False).fit(X, y)
    mistakes = model.state_.arrays["n_mistakes"][:, 0]
    alone = [learner(r=0.5, n_features_to_select=k).fit(X, y) for k in (10, 30, 100)]
    assert_array_equal(mistakes[:3], [m.n_mistakes_ for m in alone])
    chosen = model._learner_now().chosen(model.state_)
    assert mistakes[chosen] == mistakes.min()
    best = alone[[10, 30, 100].index(min(model.n_features_to_select_, 100))]
    assert_array_equal(model.coef_, best.coef_)
    assert model._learner_now().progressive_losses(model.state_)[chosen] == best.progressive_loss_


def test_numbers_of_features_race_at_the_step_that_led(stream):
    X, y = (np.concatenate([each] * 20) for each in stream)
    assert len(X) > 2048
    model = AROWClassifier(n_features_to_select="auto").partial_fit(X, y, classes=[-1, 1])
    steps = model.race_["value"]
    leader = model._learner_now().tuning.leader(model._learner_now(), model.state_)
    assert leader > 0  # the first one would lead by default
    assert_array_equal(steps[4:], steps[leader])


def test_features_that_matter_are_found(stream):
    X, y = stream
    assert set(learner(n_features_to_select=7).fit(X, y).support_) >= {0, 1, 2}


def test_a_csr_stream_of_many_features_is_the_dense_one(stream):
    X, y = stream
    dense, csr = (learner(n_features_to_select=6).fit(form(X), y) for form in (np.asarray, sparse.csr_array))
    assert_allclose(dense.coef_, csr.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{"covariance": "full"}, {"diagonal": "precision"}])
def test_other_covariances_are_refused(options):
    with pytest.raises(ValueError, match=r'AROWClassifier: with n_features_to_select, covariance must be "diagonal"'):
        AROWClassifier(n_features_to_select=3, **options).fit([[1.0], [0.0]], [0, 1])


def test_a_feature_that_only_the_scout_has_met_takes_nobodys_place():
    """It comes once, with a large value: the scout is sure of it, the second learner has not seen it in use."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(130, 6)), np.zeros((130, 1))])
    y = np.where(X[:, 0] - X[:, 1] > 0, 1, -1)
    X[129, 6], y[129] = 50.0, -1
    model = learner(n_features_to_select=3).fit(X, y)
    order = model.state_.arrays["scout_coef"][0] ** 2 / model.state_.arrays["scout_variance"][0]
    assert order[6] > np.sort(order[:6])[-3]
    assert len(model.support_) == 3
    assert 6 not in model.support_


def test_a_merged_model_has_the_level_of_its_own_scout(stream):
    X, y = stream
    parts = [learner(n_features_to_select=5).fit(X[j::2], y[j::2]) for j in range(2)]
    state = merge_models(parts).state_
    order = np.sort((state.arrays["scout_coef"][0] ** 2 / state.arrays["scout_variance"][0])[:-1])[::-1]
    assert_allclose(state.arrays["level"][0, 0], (order[4] + order[5]) / 2, rtol=1e-12)


def test_probabilities_are_those_of_the_features_in_use(stream):
    X, y = stream
    model = learner(n_features_to_select=5).fit(X, y)
    used = np.append(model.support_, N_FEATURES)
    rows = np.hstack([X, np.ones((N_ROWS, 1))])[:, used]
    spread = rows**2 @ model.state_.arrays["variance"][0, used]
    assert_allclose(model.predict_confidence(X)[:, 1], ndtr(model.decision_function(X) / np.sqrt(spread)), rtol=1e-9)
