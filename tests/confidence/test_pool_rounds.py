"""PoolCW in rounds over shards: the pool, the weights and the books of one batch of all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import rounds as reference
from thresher import distributed
from thresher.confidence import PoolCWClassifier
from thresher.confidence._pool import read
from thresher.persistence import load_model, save_model
from variants import assert_same_bits

CUTS = (60, 61, 170)
OPTIONS = [
    {"cost": 0.5},
    {"cost": 0.3, "fit_intercept": True},
    {"cost": 0.5, "forgetting": 0.5, "C": 3.0},
    {"n_features_to_select": 30, "cost": 0.7},  # the pool takes in all there are
    {"cost": 0.5, "pool": 1},
]


def planted(n_classes, n=260, d=40, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
    X /= np.maximum(1e-9, np.linalg.norm(X, axis=1, keepdims=True))
    X[3], X[:, 5] = 0, 0
    W = np.zeros((d, n_classes))
    for k in range(n_classes):
        W[rng.choice(d, 8, replace=False), k] = 2 * rng.normal(size=8)
    y = (X @ W + 0.3 * rng.normal(size=(n, n_classes))).argmax(axis=1)
    weight = rng.exponential(size=n) + 0.1
    weight[::5] = 0
    return X, y, weight


def learner(**options):
    return PoolCWClassifier(
        **{
            "n_features_to_select": 6,
            "scale": False,
            "max_inner_iter": 500,
            "batch_size": None,
            "probability": "none",
            **options,
        }
    )


@pytest.mark.parametrize(
    ("options", "n_classes"), [({}, 2), *((options, n_classes) for options in OPTIONS for n_classes in (2, 3))], ids=str
)
def test_two_rounds_are_two_batches_of_one_machine(options, n_classes):
    X, y, weight = planted(n_classes)
    one, model = learner(**options), learner(**options)
    for some, layout in ((slice(None), sparse.csr_array), (slice(None, None, -1), np.asarray)):
        one.partial_fit(X[some], y[some], np.arange(n_classes), weight)
        reference.play(model, layout(X[some]), y[some], weight, CUTS)
        assert model.state_.arrays.keys() == one.state_.arrays.keys()
        for name, expected in one.state_.arrays.items():
            assert_allclose(model.state_.arrays[name], expected, rtol=1e-6, atol=1e-6, err_msg=name)
        for name in ("ids", "choices", "n_mistakes"):
            assert_array_equal(model.state_.arrays[name], one.state_.arrays[name])
        assert_array_equal(model.support_, one.support_)
        assert model.cost_ == one.cost_


@pytest.mark.parametrize("scaling", [0.0, 0.3])
@pytest.mark.parametrize(("pool", "max_inner_iter"), [(20, 3), (39, 1)])  # some features, or all that have values
def test_means_meet_their_conditions_and_active_rows_make_the_covariance(scaling, pool, max_inner_iter):
    """Against the formulas alone, with few steps between looks, and nothing that is pruned."""
    X, y, weight = planted(2)
    size = {"pool": pool / 6} if pool < 39 else {"n_features_to_select": 30}
    model = learner(cost=0.4, max_inner_iter=max_inner_iter, fit_intercept=scaling > 0, C=2.0, **size)
    model.set_params(intercept_scaling=scaling or 1.0)
    reference.play(model, X, y, weight, CUTS)
    known = read(model.state_, 0, scaling > 0)
    assert len(known.ids) == pool
    there = weight > 0
    rows = np.hstack([np.full((there.sum(), int(scaling > 0)), scaling), X[there][:, known.ids]])
    sign = np.where(y[there] == 1, 1.0, -1.0)
    n_positive, n_negative = (1 + weight[there][sign == s].sum() for s in (1, -1))
    share = np.where(sign > 0, 0.4 / n_positive, 0.6 / n_negative) * (n_positive + n_negative)
    cost, eye = 2.0 * weight[there] * share, np.eye(rows.shape[1])
    assert_allclose(reference.slope_of_squares(known.mean, rows, sign, cost, eye, 0 * known.mean), 0, atol=1e-11)
    active = np.where(sign * (rows @ known.mean) < 1, cost, 0)
    assert_allclose(np.linalg.inv(known.covariance), eye + (rows.T * active) @ rows, rtol=1e-9, atol=1e-10)


def test_the_area_under_the_curve_counts_pairs_of_a_shard():
    X, y, weight = planted(2)
    given = {"measure": "roc_auc", "max_inner_iter": 3}
    model = reference.play(learner(**given), X, y, weight, CUTS)
    reference.play(model, X, y, weight, CUTS)
    whole = reference.play(learner(**given), X, y, weight)
    reference.play(whole, X, y, weight)
    assert_allclose(model.state_.arrays["mean"], whole.state_.arrays["mean"], atol=1e-9)
    assert (model.state_.arrays["cells"][:, 1] < whole.state_.arrays["cells"][:, 1]).all()
    assert_allclose(model.measures_, whole.measures_, atol=0.05)
    assert model.measures_.max() > 0.6


def test_the_first_round_reads_the_middle_cost_and_the_second_may_choose():
    X, y, _ = planted(2, seed=4)
    rare = np.flatnonzero((y == 0) | (np.arange(len(y)) % 6 == 0))
    model = reference.play(PoolCWClassifier(6), X[rare], y[rare], cuts=(20,))
    assert model.cost_ == 0.5
    assert not model.measures_.any()
    reference.play(model, X[rare], y[rare], cuts=(20,))
    assert model.measures_.min() > 0
    assert model.cost_ == model.costs_[model.measures_.argmax()]
    assert_array_equal(model.cost_history_, [0.5, model.cost_])
    assert (PoolCWClassifier()._n_rounds(), PoolCWClassifier(cost=0.5)._n_rounds()) == (2, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scout": True}, "scout must be False in rounds of sums"),
        ({"measure": "average_precision"}, 'measure must be "f1" or "roc_auc" in rounds of sums'),
    ],
    ids=str,
)
def test_what_does_not_add_up_is_refused_and_left_to_passes(options, said):
    X, y, _ = planted(2)
    model = reference.begun(learner(**options), X.shape[1], [0, 1])
    before = pickle.dumps(model.state_)
    with pytest.raises(ValueError, match=f'PoolCWClassifier: {said}, got .*; mode="passes" supports it'):
        reference.play(model, X, y)
    assert pickle.dumps(model.state_) == before
    assert not model._prefers_sums
    assert learner()._prefers_sums
    assert len(distributed.fit(learner(cost=0.5, **options), [(X[:130], y[:130]), (X[130:], y[130:])]).support_)


def test_nothing_changes_before_the_end(monkeypatch):
    monkeypatch.setattr("thresher._gate._rules.HUGE", 1e308)  # what the door would stop
    X, y, _ = planted(2)
    model = reference.begun(learner(cost=0.5), X.shape[1], [0, 1])
    before, steps, total = pickle.dumps(model.state_), model._round(None), None
    for _ in range(10):
        total = steps.send(total).answer(X, y, None)
    assert pickle.dumps(model.state_) == before
    steps.close()
    with pytest.raises(FloatingPointError, match="PoolCWClassifier: the weights overflowed in a round"):
        reference.play(model.set_params(C=1e200), 1e90 * X, y)
    assert pickle.dumps(model.state_) == before


def test_what_a_round_leaves_is_saved_and_gone_on_with(tmp_path):
    X, y, weight = planted(3)
    model = reference.play(learner(max_inner_iter=3, cost=0.5), X, y, weight, CUTS)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for one in (model, loaded):
        reference.play(one, X[::-1], y[::-1], weight, CUTS)
    assert_same_bits(model.state_, loaded.state_)
    model.partial_fit(X, y)


def test_through_the_front_door():
    X, y, _ = planted(3)
    shards = [(X[i::3], y[i::3]) for i in range(3)]
    found = distributed.fit(learner(max_inner_iter=3, cost=0.5), shards)
    rows, labels = (np.concatenate(parts) for parts in zip(*shards, strict=True))
    ends = np.cumsum([len(its) for _, its in shards])[:-1]
    assert_same_bits(found.state_, reference.play(learner(max_inner_iter=3, cost=0.5), rows, labels, cuts=ends).state_)
