"""SOFSClassifier against its twin, and its heap against all variances sorted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import budget as reference
from reference.agreement import gappy_stream, last, row_by_row
from thresher import onepass
from thresher.online import AROWClassifier, SOFSClassifier

constants = pytest.mark.parametrize("scaling", [0.0, 0.3], ids="constant={}".format)


def learner(B: int, scaling: float = 0.3, **params):
    given = {"r": 0.7, "max_iter": 1, "shuffle": False} | params
    return SOFSClassifier(B, fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def assert_agrees(model, mu, s, **tolerance):
    given = {"rtol": 1e-10, "atol": 1e-13} | tolerance
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    assert_allclose(model.coef_[0], mu[:-1], **given)
    assert_array_equal(model.coef_[0] != 0, mu[:-1] != 0)
    assert_allclose(model.intercept_[0], mu[-1] * scaling, **given)
    assert_allclose(model.variance_[0], s[:-1], **given)


@constants
@pytest.mark.parametrize("B", [1, 3, 50], ids="B={}".format)
def test_sofs_agrees_with_the_paper_step_by_step(problem, layout, dtype, scaling, B):
    X, y = problem
    X = X.astype(dtype)
    model = learner(B, scaling)
    steps = reference.sofs(X.astype(float), y, B=B, r=0.7, intercept=scaling)
    for _, (_, mu, s) in zip(row_by_row(model, X, y, layout, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, s)


@pytest.mark.parametrize("advantage", [1.3, 2.0, 10.0])
def test_a_feature_needs_an_advantage_to_take_a_place(problem, layout, advantage):
    X, y = problem
    model = learner(3, advantage=advantage)
    steps = reference.sofs(X, y, B=3, r=0.7, intercept=0.3, advantage=advantage)
    for _, (_, mu, s) in zip(row_by_row(model, X, y, layout, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, s)


def test_an_automatic_step_asks_for_an_advantage(problem):
    X, y = sparse.csr_array(problem[0]), problem[1]
    same = [SOFSClassifier(2, advantage=a, random_state=0).fit(X, y).coef_ for a in ("auto", 1.25)]
    assert_array_equal(*same)
    assert_array_equal(learner(2).fit(X, y).coef_, learner(2, advantage=1.0).fit(X, y).coef_)
    with pytest.raises(
        ValueError, match=r'SOFSClassifier: advantage must be a number of at least 1 or "auto", got 0.5.'
    ):
        SOFSClassifier(advantage=0.5).fit(X, y)


def test_a_row_weight_divides_r(problem, row_weights, layout):
    X, y = problem
    model = learner(3)
    steps = reference.sofs(X, y, B=3, r=0.7, intercept=0.3, weight=row_weights)
    for _, (_, mu, s) in zip(row_by_row(model, X, y, layout, row_weights, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, s)


@pytest.mark.parametrize("binary", [False, True], ids=["numbers", "ties"])
def test_a_long_stream_with_gaps_agrees_with_the_paper(binary):
    """Features of 0 and 1 have equal variances as often as they were met equally often."""
    X, scores = gappy_stream(1500, 200)
    if binary:
        X.data[:] = 1.0
    y = np.where(scores > 0, 1, -1)
    model = learner(20, r=1.0)
    steps = list(reference.sofs(X.toarray(), y, B=20, r=1.0, intercept=0.3))
    for begin in range(0, 1500, 50):
        model.partial_fit(X[begin : begin + 50], y[begin : begin + 50], classes=[-1, 1])
        assert_agrees(model, *steps[begin + 49][1:], rtol=1e-8, atol=1e-12)
    assert len(model.support_) == 20


@pytest.mark.parametrize("binary", [False, True], ids=["numbers", "ties"])
@pytest.mark.parametrize("B", [1, 7, 60])
def test_the_heap_holds_the_smallest_variances_of_all_features_met(binary, B):
    rng = np.random.default_rng(B)
    chance = 10 ** rng.uniform(-2, 0, 120)
    model, met = learner(B, r=1.0), np.zeros(120, bool)
    left = 0
    inside: set[int] = set()
    for step in range(400):
        row = (rng.random(120) < chance) * (1.0 if binary else rng.normal(size=120))
        y = rng.choice([-1, 1])
        updates = getattr(model, "n_updates_", 0) if step else 0
        model.partial_fit(sparse.csr_array(row[None]), [y], classes=[-1, 1])
        if model.n_updates_ > updates:
            met |= row != 0
        names = model.state_.arrays["selected"][0]
        used = names[names > 0].astype(int) - 1
        left += len(inside - set(used))
        inside = set(used)
        assert len(inside) == len(used) == min(B, met.sum())
        assert_array_equal(np.sort(model.variance_[0, used]), np.sort(model.variance_[0, met])[: len(used)])
        assert not model.coef_[0, np.setdiff1d(np.arange(120), used)].any()
        model._check_loaded()  # a heap, and places that are those of the heap
    assert left > 3 or B == 60


def test_with_room_for_all_features_it_is_arow(problem):
    X, y = problem
    arow = AROWClassifier(0.7, diagonal="precision", max_iter=2, shuffle=False).fit(X, y)
    sofs = SOFSClassifier(12, r=0.7, max_iter=2, shuffle=False).fit(X, y)
    assert_allclose(sofs.coef_, arow.coef_, rtol=1e-12)
    assert_allclose(sofs.variance_, arow.variance_, rtol=1e-12)


def test_it_selects_frequent_features_whatever_the_labels():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 6)) < [0.9, 0.1, 0.8, 0.1, 0.7, 0.1]).astype(float)
    for y in (np.where(X[:, 1] > 0, 1, -1), rng.choice([-1, 1], 400)):
        assert set(learner(3, 0.0).fit(X, y).support_) <= {0, 2, 4}


def test_merged_shards_add_precisions_and_keep_the_surest(problem):
    X, y = problem
    start = learner(3).partial_fit(X[:10], y[:10], classes=[-1, 1])
    core = onepass.learner(start, X.shape[1])
    states = []
    for rows in (slice(10, 30), slice(30, 60)):
        state = start.state_.copy()
        core.learn(onepass.Lesson(onepass.rows(X[rows]), onepass.Target(y[rows].astype(float))), state)
        states.append(state)
    mu, s = (np.array([z.arrays[name][0] for z in (start.state_, *states)]) for name in ("coef", "variance"))
    precision = 1 / s[1] + 1 / s[2] - 1 / s[0]
    mean = (mu[1] / s[1] + mu[2] / s[2] - mu[0] / s[0]) / precision
    kept = np.argsort(-precision[:-1], kind="stable")[:3]
    mean[np.setdiff1d(np.arange(12), kept)] = 0
    merged = core.merge(start.state_, states, [20, 30])
    assert_allclose(merged.arrays["variance"][0], 1 / precision, rtol=1e-12)
    assert_allclose(merged.arrays["coef"][0], mean, rtol=1e-10, atol=1e-14)
    assert_array_equal(np.sort(merged.arrays["selected"][0] - 1), np.sort(kept))
    start.state_ = merged
    start._check_loaded()
    for _ in row_by_row(start, X, y, np.asarray):
        assert np.count_nonzero(start.coef_) <= 3


def test_of_equal_variances_a_merge_keeps_those_with_a_weight_then_the_first():
    model = learner(1, 0.0)
    model.partial_fit([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [1, 1, 1], classes=[-1, 1])
    assert_array_equal(model.support_, [2])  # met as often, and first inside
    core = onepass.learner(model, 3)
    core.rebuild(model.state_)
    assert_array_equal(core.weights(model.state_)[0, :-1] != 0, [False, False, True])
    model.state_.arrays["coef"][...] = 0
    core.rebuild(model.state_)
    assert model.state_.arrays["selected"][0, 0] == 1


def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout):
    X, y = three_classes
    model = learner(3).fit(layout(X), y, sample_weight=row_weights)
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        _, mu, s = last(reference.sofs(X, sign, B=3, r=0.7, intercept=0.3, weight=row_weights))
        assert_allclose(model.coef_[k], mu[:-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.variance_[k], s[:-1], rtol=1e-10, atol=1e-13)
