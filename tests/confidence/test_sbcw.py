"""SBCW against the papers in NumPy, batch by batch, and what it promises of its features."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import groups_of_features as reference
from thresher import onepass
from thresher.confidence import BCWClassifier, SBCWClassifier
from thresher.confidence._known import read
from thresher.persistence import load_model, save_model
from unsound import save_unsound

P, R = 5, 2  # three groups, the last of one feature
OPTIONS = [
    {},
    {"sigma": 0.2},
    {"loss": "hinge", "C": 0.5},
    {"sigma": 0.2, "step": "safe", "max_inner_iter": 3},
    {"ranking": "identity", "C": 1.0},
    {"ranking": "full", "C": 1.0, "max_inner_iter": 2},
    {"fit_intercept": True, "intercept_scaling": 0.7},
    {"cost": 0.3, "C": 0.5},
    {"cost": "auto", "fit_intercept": True},
]


def model_of(**options):
    """As the papers write it, but for what the options say."""
    return SBCWClassifier(
        P, n_groups=3, shuffle=False, **{"scale": False, "cost": None, "fit_intercept": False} | options
    )


def twin_of(d, **options):
    squared = options.pop("loss", "squared_hinge") == "squared_hinge"
    constant = options.pop("intercept_scaling", 1.0) if options.pop("fit_intercept", False) else 0.0
    cost = {"auto": 0.5}.get(given := options.pop("cost", None), given)
    options |= {"positive_cost": cost, "balanced": cost is not None}
    step = options.pop("step", "exact" if options.get("sigma", 1.0) < 1 else "corrected")
    return reference.Sbcw(d, P, R, squared=squared, constant=constant, step=step, **options)


def batches(n_batches=4, d=14, n=25):
    """Not every batch has every feature."""
    rng = np.random.default_rng(8)
    truth = rng.normal(size=d)
    for k in range(n_batches):
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
        X[:, [2, 5 + k]] = 0
        X[3] = 0
        yield X, np.where(X @ truth + 0.3 * rng.normal(size=n) > 0.2, 1, -1), rng.exponential(size=n) + 0.05


def dense_covariance(blocks, d):
    covariance = np.eye(d)
    covariance[np.ix_(blocks.ids, blocks.ids)] = blocks.marginal(blocks.ids)
    return covariance


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batch_by_batch_as_in_the_papers(options, layout, dtype):
    model, twin = model_of(**options), twin_of(14, **options)
    for X, y, weight in batches():
        X = X.astype(dtype)
        model.partial_fit(layout(X), y, classes=[-1, 1], sample_weight=weight)
        twin.learn(X.astype(float), y, weight)
        for got, wanted in zip(model.groups_, twin.groups, strict=True):
            assert_array_equal(got, wanted)
        assert_allclose(np.append(model.coef_[0], model._all_weights()[0, -1]), twin.coef, rtol=1e-7, atol=1e-9)
        assert_allclose(model.objectives_, twin.objectives, rtol=1e-8)
        view = model.state_.views[0]
        prior = read(view, model._learner_now().params)
        assert_allclose(prior.mean(np.arange(14)), twin.mean[:-1], rtol=1e-7, atol=1e-9)
        assert_allclose(dense_covariance(prior.blocks, 14), twin.covariance[:-1, :-1], rtol=1e-8, atol=1e-10)
        assert_allclose(model.variance_[0], np.diag(twin.covariance)[:-1], rtol=1e-8)
        assert_allclose(view["constant_variance"][0], twin.covariance[-1, -1], rtol=1e-10)
    assert len(prior.blocks.ids) > P  # some were chosen once and are not now
    assert np.count_nonzero(dense_covariance(prior.blocks, 14) - np.diag(np.diag(twin.covariance)[:-1]))


def test_without_a_refit_the_means_of_the_groups_predict():
    model, twin = model_of(refit=False, C=0.5), twin_of(14, C=0.5)
    for X, y, _ in batches():
        model.partial_fit(X, y, classes=[-1, 1])
        twin.learn(X, y)
        assert_allclose(model.coef_[0], twin.mean[:-1], rtol=1e-7, atol=1e-9)


def test_one_group_of_all_features_with_a_large_batch_is_bcw_after_the_refit(problem):
    X, y = problem
    sparse_one = SBCWClassifier(X.shape[1], n_groups=1, C=0.8, cost=None, shuffle=False).fit(X, y)
    full = BCWClassifier(C=0.8, shuffle=False, batch_size=len(y)).fit(X, y)
    assert_allclose(sparse_one.coef_, full.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(sparse_one.intercept_, full.intercept_, rtol=1e-8, atol=1e-10)


def test_a_rare_class_has_half_of_the_loss_unless_classes_have_weights():
    """In one batch, which knows all rows, that is scikit-learn's "balanced" but for one row of each class."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 30))
    y = X[:, 3] + X[:, 8] + rng.normal(size=4000) > 3.6
    assert y.mean() < 0.03
    model = SBCWClassifier(2, n_groups=2, shuffle=False).fit(X, y)
    even = SBCWClassifier(2, n_groups=2, shuffle=False, class_weight="balanced").fit(X, y)
    plain = SBCWClassifier(2, n_groups=2, cost=None).fit(X, y)
    assert_allclose(model.coef_, even.coef_, rtol=0.05)
    assert model.predict(X)[y].mean() > 0.8 > 0.1 > plain.predict(X)[y].mean()
    weights = {False: 1.0, True: 1.0}
    assert_array_equal(
        SBCWClassifier(2, class_weight=weights, shuffle=False).fit(X, y).coef_,
        SBCWClassifier(2, cost=None, shuffle=False).fit(X, y).coef_,
    )


def test_files_that_know_no_cost_have_none(tmp_path):
    X, y, _ = next(batches())
    model = model_of().partial_fit(X, y, classes=[-1, 1])
    before = {"cost": None, "scale": False, "probability": "none"}
    assert SBCWClassifier._from_file({"C": 1.0}) == {"C": 1.0, **before}
    given = {"cost": 0.3, "scale": True, "probability": "calibrated"}
    assert SBCWClassifier._from_file(given) == given
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").cost is None


def test_exactly_p_features_are_chosen_and_groups_switch_some_of_them_off_without_a_refit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = X[:, 0] + 0.2 * X[:, 1:10].sum(axis=1) > 0
    chosen = SBCWClassifier(20, n_groups=10, sigma=0.01, refit=False, C=1.0).fit(X, y)
    assert len(chosen.chosen_) == 20
    assert len(chosen.support_) < 20
    refit = SBCWClassifier(20, n_groups=10, sigma=0.01, C=1.0).fit(X, y)
    assert_array_equal(refit.support_, refit.chosen_)
    assert len(refit.support_) == 20
    assert [len(g) for g in refit.groups_] == [2] * 10
    assert len(np.unique(np.concatenate(refit.groups_))) == 20


def test_never_more_than_p_features_and_none_that_the_batch_does_not_have():
    model = model_of()
    for X, y, _ in batches(6):
        model.partial_fit(sparse.csr_array(X), y, classes=[-1, 1])
        assert len(model.support_) == P
        assert X[:, model.support_].any(axis=0).all()
    narrow = np.zeros((10, 14))
    narrow[:, :3] = np.random.default_rng(0).normal(size=(10, 3))
    model.partial_fit(narrow, np.where(narrow[:, 0] > 0, 1, -1))
    assert_array_equal(model.support_, [0, 1, 2])


def test_a_batch_without_a_feature_leaves_a_model_without_any():
    model = model_of(fit_intercept=True)
    for X, y, _ in batches(1):
        model.partial_fit(X, y, classes=[-1, 1])
    known = len(read(model.state_.views[0], model._learner_now().params).blocks.ids)
    mean = model.state_.views[0]["constant_mean"][0]
    model.partial_fit(np.zeros((4, 14)), [1, 1, 1, -1])
    assert not model.support_.size
    assert model.intercept_[0] > mean
    assert len(read(model.state_.views[0], model._learner_now().params).blocks.ids) == known


@pytest.mark.parametrize("squared", ["squared_hinge", "hinge"])
def test_passes_that_go_on_reach_the_optimum_wherever_they_begin(squared):
    """Rounds begin where the last one ended; the end is that of a cold start, and the gap says so."""
    X, y, _ = next(batches(1, n=60))
    warm = model_of(loss=squared, max_inner_iter=3000, C=1.0).fit(X, y)
    assert 0 <= warm.gap_ + 1e-12 < 1e-8 * warm.objectives_[-1]
    twin = twin_of(14, loss=squared, max_inner_iter=1, C=1.0)
    _, problem = twin._problem(np.hstack([X, np.zeros((60, 1))]), y.astype(float), np.ones(60), warm.groups_)
    cold = np.zeros(60)
    problem.ascend(cold, "corrected", 60)
    assert_allclose(problem.primal(problem.weights(cold)), warm.objectives_[-1], rtol=1e-6)


def test_objectives_never_rise_when_rounds_are_solved():
    for X, y, _ in batches(3, n=60):
        falling = np.diff(
            SBCWClassifier(12, n_groups=6, max_inner_iter=2000, C=1.0, shuffle=False).fit(X, y).objectives_
        )
        assert (falling <= 1e-9).all()


def test_group_tol_stops_early_and_only_then():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    y = X[:, 3] > 0
    all_of_them = SBCWClassifier(20, n_groups=10, C=1.0, max_inner_iter=50).fit(X, y)
    assert len(all_of_them.chosen_) == 20
    some = SBCWClassifier(20, n_groups=10, C=1.0, max_inner_iter=50, group_tol=0.01).fit(X, y)
    assert 0 < len(some.chosen_) < 20
    n = len(some.objectives_)
    assert_array_equal(some.chosen_, np.sort(np.concatenate(all_of_them.groups_[:n])))
    worthless = SBCWClassifier(20, n_groups=10, C=1.0, max_inner_iter=500, sigma=0.01, group_tol=0.0).fit(X, y)
    assert len(worthless.chosen_) < 20  # the next group would stay at 0
    switched_off = SBCWClassifier(20, n_groups=10, C=1.0, max_inner_iter=500, sigma=0.01, refit=False, group_tol=None)
    used = switched_off.fit(X, y).support_
    assert np.isin(used, worthless.chosen_).all()


def test_a_small_rest_joins_the_last_batch():
    """27 rows by 8: three batches, the last of 11; 29 rows: four, the last of 5."""
    X, y, _ = next(batches(1, n=29))
    for n, cuts in ((27, [8, 16]), (29, [8, 16, 24]), (5, [])):
        whole = model_of(batch_size=8).fit(X[:n], y[:n])
        parts = model_of()
        for rows in np.split(np.arange(n), cuts):
            parts.partial_fit(X[rows], y[rows], classes=[-1, 1])
        assert_array_equal(whole.coef_, parts.coef_)


def test_features_of_equal_rank_are_taken_in_their_order():
    X = np.repeat(np.random.default_rng(0).integers(-4, 5, size=(30, 1)).astype(float), 6, axis=1)  # sums are exact
    X[:, 4] *= 2
    for rows in (X, sparse.csr_array(X)):
        model = SBCWClassifier(3, n_groups=1, C=0.5, ranking="identity", scale=False, shuffle=False)
        model.fit(rows, X[:, 0] > 0)
        assert_array_equal(np.concatenate(model.groups_), [4, 0, 1])


def test_classes_have_their_own_features(three_classes):
    X, y = three_classes
    together = SBCWClassifier(3, n_groups=3, shuffle=False, selection="class").fit(X, y)
    for k, name in enumerate("abc"):
        alone = SBCWClassifier(3, n_groups=3, shuffle=False).fit(X, y == name)
        assert_array_equal(np.concatenate(together.groups_[k]), np.concatenate(alone.groups_))
        assert_allclose(together.coef_[k], alone.coef_[0], rtol=1e-12)


# --- merging ---------------------------------------------------------------------------------------------------------


def shards(n=2, **options):
    parts = list(batches(n + 1))
    start = model_of(**options)
    start.partial_fit(*parts[0][:2], classes=[-1, 1])
    reached = [copy.deepcopy(start).partial_fit(X, y) for X, y, _ in parts[1:]]
    return start, reached, onepass.learner(start, 14)


def test_a_shard_that_learned_nothing_leaves_no_trace():
    start, (later, _), learner = shards(fit_intercept=True)
    merged = learner.merge(start.state_, [start.state_, later.state_], [1.0, 1.0])
    params = learner.params
    wanted, got = read(later.state_.views[0], params), read(merged.views[0], params)
    ids = np.union1d(start.chosen_, later.chosen_)
    everything = np.arange(14)
    assert_allclose(np.diag(dense_covariance(got.blocks, 14)), np.diag(dense_covariance(wanted.blocks, 14)), rtol=1e-8)
    kept = merged.views[0]["ids"][:P].astype(int)
    assert np.isin(kept, ids).all()
    both = np.isin(everything, kept)
    assert_allclose(learner.weights(merged)[0, :-1], np.where(both, later.coef_[0], 0), rtol=1e-8, atol=1e-10)
    assert_allclose(learner.weights(merged)[0, -1:], later.intercept_, rtol=1e-8)


def test_precisions_of_shards_add_up_and_p_features_are_left():
    start, (one, two), learner = shards()
    merged = learner.merge(start.state_, [one.state_, two.state_], [1.0, 1.0])
    priors = [read(s.views[0], learner.params) for s in (start.state_, one.state_, two.state_, merged)]
    blocks = priors[-1].blocks
    for k in np.unique(blocks.block):
        ids = blocks.ids[blocks.block == k]
        start_, first, second, both = (np.linalg.inv(prior.blocks.marginal(ids)) for prior in priors)
        assert_allclose(both, first + second - start_, rtol=1e-8, atol=1e-9)
    used = np.flatnonzero(learner.weights(merged)[0])
    assert len(used) == P
    assert np.isin(used, np.union1d(one.chosen_, two.chosen_)).all()
    assert blocks.refuse_nonsense(14) is None


# --- errors and files ------------------------------------------------------------------------------------------------


def test_parameters_that_shape_the_state_cannot_change_under_way():
    X, y, _ = next(batches(1))
    for change in ({"n_features_to_select": 4}, {"n_groups": 1}):
        model = model_of().partial_fit(X, y, classes=[-1, 1])
        with pytest.raises(ValueError, match="SBCWClassifier: a parameter that affects training has changed"):
            copy.deepcopy(model).set_params(**change).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"SBCWClassifier: sigma must be a number above 0, got 0\."):
        SBCWClassifier(sigma=0).fit(X, y)


def test_a_batch_that_is_refused_leaves_the_bits(monkeypatch):
    monkeypatch.setattr("thresher._gate._rules.HUGE", 1e308)  # what the door would stop
    X, y, _ = next(batches(1))
    model = model_of().partial_fit(X, y, classes=[-1, 1])
    before = {name: a.tobytes() for name, a in model.state_.arrays.items()}
    with pytest.raises(FloatingPointError, match="SBCWClassifier: the weights overflowed"):
        model.set_params(C=1e120).partial_fit(X * 1e99, y)
    assert {name: a.tobytes() for name, a in model.state_.arrays.items()} == before


@pytest.mark.parametrize("name, place, value, words", [
    ("ids", 0, 99.0, "ids must be those of features"), ("ids", 0, 0.5, "whole numbers"),
    ("ids", 1, -3.0, "whole numbers"), ("block", 0, -1.0, "must have a block"),
    ("block", 0, 7.0, "blocks must be in order"), ("spread", 0, -1.0, "positive definite"),
    ("spread", 1, 1e-3, "symmetric"),
])  # fmt: skip
def test_files_whose_blocks_are_none_are_refused(name, place, value, words, tmp_path):
    X, y, _ = next(batches(1))
    model = model_of().partial_fit(X, y, classes=[-1, 1])
    save_unsound(model, tmp_path / "good")
    assert_array_equal(load_model(tmp_path / "good").coef_, model.coef_)
    model.state_.views[0][name][place] = value
    save_unsound(model, tmp_path / "bad")
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "bad")
