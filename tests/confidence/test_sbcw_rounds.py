"""SBCW in rounds over shards: the groups and the weights of one batch of all rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import rounds as reference
from reference.online import with_constant
from thresher import distributed
from thresher.confidence import ASCWClassifier, FGMClassifier, SBCWClassifier
from thresher.persistence import load_model, save_model
from thresher.training import merge_models
from variants import assert_same_bits

CUTS = (60, 61, 170)
OPTIONS = [
    {},
    {"sigma": 0.2},
    {"ranking": "identity", "C": 1.0},
    {"fit_intercept": True, "intercept_scaling": 0.7},
    {"refit": False},
    {"group_tol": 0.02},
    {"n_groups": 1},
    {"class_weight": None},
    {"class_weight": None, "cost": 0.3, "fit_intercept": True},
]
options_ = pytest.mark.parametrize("options", OPTIONS, ids=str)


def planted(n_classes, n=260, d=40, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[3], X[:, 5] = 0, 0
    W = np.zeros((d, n_classes))
    for k in range(n_classes):
        W[rng.choice(d, 8, replace=False), k] = 2 * rng.normal(size=8)
    y = (X @ W + rng.normal(size=(n, n_classes))).argmax(axis=1)
    weight = rng.exponential(size=n) + 0.1
    weight[::5] = 0
    return X, y, weight


def learner(**options):
    given = {
        "n_groups": 3,
        "scale": False,
        "max_inner_iter": 500,
        "shuffle": False,
        "class_weight": {0: 1.5},
        "fit_intercept": False,
    }
    given |= options
    return SBCWClassifier(7, **given)


def groups_of(model):
    groups = model.groups_ if isinstance(model.groups_[0], list) else [model.groups_]
    return [[group.tolist() for group in each] for each in groups]


@options_
@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_rounds_are_two_batches_of_one_machine(options, n_classes):
    X, y, weight = planted(n_classes)
    one, model = learner(**options), learner(**options)
    for some, layout in ((slice(None), sparse.csr_array), (slice(None, None, -1), np.asarray)):
        one.partial_fit(X[some], y[some], np.arange(n_classes), weight)
        reference.play(model, layout(X[some]), y[some], weight, CUTS)
        assert groups_of(model) == groups_of(one)
        assert_allclose(model.coef_, one.coef_, atol=5e-6)  # as far as the gap of one machine, 1e-10, allows
        assert_allclose(model.intercept_, one.intercept_, atol=5e-6)
        assert_allclose(model.state_.arrays["mean"], one.state_.arrays["mean"], atol=5e-6)
        assert_allclose(model.state_.arrays["spread"], one.state_.arrays["spread"], atol=1e-12)
        assert_allclose(model.state_.arrays["constant_variance"], one.state_.arrays["constant_variance"], rtol=1e-12)
        assert_allclose(model.state_.arrays["objective"], one.state_.arrays["objective"], rtol=1e-9)
        assert_allclose(model.state_.arrays["tally"], one.state_.arrays["tally"], rtol=1e-5)
        assert_array_equal(model.state_.arrays["ids"], one.state_.arrays["ids"])
        assert model.n_mistakes_ == one.n_mistakes_
        assert model.gap_ <= 1e-8
        assert_allclose(model.variance_, one.variance_, rtol=1e-10)
        model.state_ = one.state_.copy()  # both begin the second with the same bits


@pytest.mark.parametrize("scaling", [0.0, 0.7])
def test_weights_that_predict_meet_the_conditions_of_the_refit(scaling):
    """Against the formulas alone: BCW on the chosen features, from what was known of them before."""
    X, y, weight = planted(2)
    model = learner(fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, class_weight=None, max_inner_iter=1)
    model.set_params(cost=None)
    reference.play(model, X, y, weight, CUTS)
    rows = with_constant(X[weight > 0][:, model.chosen_], scaling)
    precision = np.eye(rows.shape[1]) + 0.1 * rows.T @ rows
    coef = np.append(model.coef_[0][model.chosen_], model.state_.arrays["constant_coef"][0])
    sign = np.where(y[weight > 0] == 1, 1.0, -1.0)
    slope = reference.slope_of_squares(coef, rows, sign, 0.1 * weight[weight > 0], precision, 0 * coef)
    assert_allclose(slope, 0, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_hinge_chooses_the_same_groups_on_clear_data(n_classes):
    X, y, weight = planted(n_classes)
    one = learner(loss="hinge", C=0.5).partial_fit(X, y, np.arange(n_classes), weight)
    model = reference.play(learner(loss="hinge", C=0.5), sparse.csr_array(X), y, weight, CUTS)
    assert groups_of(model) == groups_of(one)
    assert_allclose(model.coef_, one.coef_, atol=1e-3)
    assert_allclose(model.state_.arrays["objective"], one.state_.arrays["objective"], rtol=1e-6)


def test_with_the_defaults_the_planted_features_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2000))
    y = np.where(X[:, 3] - X[:, 8] + X[:, 1000] > 0, "yes", "no")
    model = reference.play(SBCWClassifier(3, n_groups=3), X, y, cuts=(100, 350))
    assert_array_equal(model.support_, [3, 8, 1000])
    assert_allclose(model.coef_, SBCWClassifier(3, n_groups=3, max_inner_iter=500).fit(X, y).coef_, atol=1e-6)


def test_shards_without_a_column_or_a_class_do_not_matter():
    X, y, _ = planted(3)
    order = np.argsort(y, kind="stable")  # whole shards of one class
    X, y = X[order], y[order]
    X[:60, 20:] = 0
    whole, cut = (reference.play(learner(), sparse.csr_array(X), y, None, cuts) for cuts in ((), CUTS))
    assert_array_equal(whole.state_.arrays["ids"], cut.state_.arrays["ids"])
    assert_allclose(whole.coef_, cut.coef_, atol=1e-9)


def test_nothing_to_choose_from_leaves_the_constant():
    X, y = np.zeros((30, 4)), np.r_[np.zeros(10), np.ones(20)]
    model = reference.play(learner(fit_intercept=True), X, y, cuts=(9,))
    one = learner(fit_intercept=True).partial_fit(X, y, [0, 1])
    assert_allclose(model.intercept_, one.intercept_, atol=1e-6)
    assert not len(model.support_)
    assert_allclose(model.state_.arrays["objective"], one.state_.arrays["objective"], rtol=1e-8)


def test_the_ranking_that_needs_all_rows_is_refused():
    X, y, _ = planted(2)
    model = reference.begun(learner(ranking="full"), X.shape[1], [0, 1])
    before = pickle.dumps(model.state_)
    with pytest.raises(ValueError, match='SBCWClassifier: ranking must be "diagonal" or "identity" in rounds of sums'):
        reference.play(model, X, y)
    assert pickle.dumps(model.state_) == before
    assert not model._prefers_sums
    assert learner()._prefers_sums


def test_what_a_round_leaves_is_saved_merged_and_gone_on_with(tmp_path):
    X, y, weight = planted(3)
    model = reference.play(learner(), X, y, weight, CUTS)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for one in (model, loaded):
        reference.play(one, X[::-1], y[::-1], weight, CUTS)
    assert_same_bits(model.state_, loaded.state_)
    copy.deepcopy(model).partial_fit(X, y)


def test_through_the_front_door():
    X, y, _ = planted(3)
    shards = [(X[i::3], y[i::3]) for i in range(3)]
    found = distributed.fit(learner(), shards)
    rows, labels = (np.concatenate(parts) for parts in zip(*shards, strict=True))
    ends = np.cumsum([len(its) for _, its in shards])[:-1]
    assert_same_bits(found.state_, reference.play(learner(), rows, labels, cuts=ends).state_)


@pytest.mark.parametrize("make", [SBCWClassifier, ASCWClassifier, lambda p: ASCWClassifier(p, keep=True)])
def test_rounds_of_passes_keep_what_they_found(make):
    """Shards that agree on a feature do not take its weight away, nor do those that leave it out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 40))
    y = (X[:, 3] - X[:, 8] + 0.3 * rng.normal(size=800) > 0).astype(int)
    shards = [(X[i::4], y[i::4]) for i in range(4)]
    for n_rounds in (1, 2, 3):
        found = distributed.fit(make(4), shards, n_rounds=n_rounds, mode="passes")
        assert {3, 8} <= set(found.support_.tolist())
        assert found.coef_[0, 3] > 0.1
        assert found.coef_[0, 8] < -0.1


def test_precisions_add_up_and_means_are_of_those_that_chose_a_feature():
    """Groups of one feature each, so that every precision is a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12))
    y = (np.r_[X[:600, 3] - X[:600, 8], X[600:, 3] + X[600:, 5]] > 0).astype(int)
    start = SBCWClassifier(2, n_groups=2).partial_fit(X[:300], y[:300], [0, 1])
    shards = [copy.deepcopy(start).partial_fit(X[some], y[some]) for some in (slice(300, 600), slice(600, 900))]
    assert [model.chosen_.tolist() for model in (start, *shards)] == [[3, 8], [3, 8], [3, 5]]
    merged = merge_models(shards, start)
    assert_array_equal(merged.chosen_, [3, 8])  # a feature that was there before is surer

    def known(model, name):
        view = model.state_.views[0]
        return dict(zip(view["ids"].astype(int).tolist(), view[name].tolist(), strict=True))

    for j, choosers in ((3, shards), (8, shards[:1])):
        before = 1 / start.variance_[0, j]
        precisions = [1 / model.variance_[0, j] for model in choosers]
        after = before + sum(P - before for P in precisions)
        assert_allclose(1 / merged.variance_[0, j], after)
        for name in ("mean", "coef"):
            mu0 = known(start, "mean")[j]
            pulls = [P * known(m, name)[j] - before * mu0 for P, m in zip(precisions, choosers, strict=True)]
            assert_allclose(known(merged, name)[j], (before * mu0 + sum(pulls)) / after)


def test_a_shard_that_learned_nothing_leaves_no_trace():
    X, y, _ = planted(2)
    start = learner().partial_fit(X[:130], y[:130], [0, 1])
    idle, learned = copy.deepcopy(start), copy.deepcopy(start).partial_fit(X[130:], y[130:])
    merged = merge_models([idle, learned], start)
    assert_allclose(merged.coef_, learned.coef_, atol=1e-12)
    assert_allclose(merged.variance_, learned.variance_, rtol=1e-9)


def test_others_of_the_family_stay_with_passes():
    assert not hasattr(ASCWClassifier, "_round")
    assert not hasattr(FGMClassifier, "_round")
