"""PoolCWClassifier against its definition in NumPy, batch by batch, and its steps against general solvers."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

from reference.pool import Pool
from thresher import onepass
from thresher.confidence import PoolCWClassifier
from thresher.persistence import load_model
from unsound import save_unsound
from variants import assert_same_bits

layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def stream(n_rows=240, d=40, seed=0, rate=0.25):
    """Rows with gaps, some empty; a few features matter, more of them later; three of ten rows are positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < rate)
    X[: n_rows // 3, d // 2 :] = 0
    X[[0, 5, n_rows // 2]] = 0
    w = rng.normal(size=d) * (np.arange(d) % 4 == 0) * 3
    y = np.where(X @ w + 0.5 * rng.normal(size=n_rows) > 1.0, 1, -1)
    return X, y


def with_constant(X, value):
    return np.hstack([X, np.full((len(X), 1), value)])


def compare(model, twin, state_too=True):
    weights = twin.coef()
    assert_allclose(np.append(model.coef_[0], model._all_weights()[0, -1]), weights, rtol=1e-9, atol=1e-11)
    assert_array_equal(model.support_, np.flatnonzero(weights[:-1]))
    assert_array_equal(model.pool_[0], np.sort(twin.features()))
    if state_too:
        state = model.state_.view(0)
        if twin.scout:
            assert_allclose(state["scout"], twin.arow_mean, rtol=1e-9, atol=1e-11)
            assert_allclose(state["scout_variance"], twin.arow_var, rtol=1e-9)
        else:
            assert_allclose(state["scale"] * state["pull"][:-1], twin.g, rtol=1e-9, atol=1e-11)
            assert_allclose(state["scale"] * state["curvature"][:-1], twin.h, rtol=1e-9, atol=1e-11)


OPTIONS = [
    {},
    {"C": 0.3, "forgetting": 0.5, "cost": 0.8, "max_inner_iter": 1},
    {"fit_intercept": True, "intercept_scaling": 0.7},
    {"scout": True},
    {"scout": True, "fit_intercept": True, "cost": 0.3, "C": 2.0},
    {"forgetting": 1.0},
    {"pool": 1.2, "max_inner_iter": 2},
    {"pool": 1.5, "forgetting": 1e-60},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@layouts
def test_it_agrees_with_the_definition_batch_by_batch(options, weighted, layout, dtype):
    X, y = stream()
    X = X.astype(dtype)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::7] = 0
    model = PoolCWClassifier(6, batch_size=None, **{"cost": 0.5, "scale": False, **options})
    constant = model.intercept_scaling if model.fit_intercept else 0.0
    twin = Pool(
        X.shape[1],
        6,
        model.C,
        model.forgetting,
        model.cost,
        model.pool,
        model.max_inner_iter,
        model.fit_intercept,
        model.scout,
    )
    pools = set()
    for begin in range(0, len(y), 24):
        some = slice(begin, begin + 24)
        w = weight[some] if weighted else None
        model.partial_fit(layout(X[some]), y[some], classes=[-1, 1], sample_weight=w)
        twin.learn(with_constant(X[some].astype(float), constant), y[some], w)
        compare(model, twin)
        pools.add(tuple(model.pool_[0]))
    assert len(pools) > 3  # features came and went
    assert len(model.support_) == 6


@pytest.mark.parametrize("scout", [False, True])
def test_a_pool_that_never_fills_agrees_with_the_definition(scout):
    X, y = stream(d=12)
    model = PoolCWClassifier(8, cost=0.5, scout=scout, batch_size=24, fit_intercept=False)
    twin = Pool(12, 8, scout=scout)
    for begin in range(0, len(y), 24):
        some = slice(begin, begin + 24)
        model.partial_fit(sparse.csr_array(X[some]), y[some], classes=[-1, 1])
        twin.learn(with_constant(X[some], 0.0), y[some])
        compare(model, twin)


def test_long_streams_forget_as_their_definition_does():
    """The unit of the sums changes now and then; 0.2^300 has no place in floating point."""
    X, y = stream(n_rows=1200, d=25)
    model = PoolCWClassifier(3, cost=0.5, forgetting=0.2, batch_size=4, fit_intercept=False)
    twin = Pool(25, 3, forgetting=0.2)
    changes = 0
    for begin in range(0, len(y), 4):
        some = slice(begin, begin + 4)
        before = model.state_.view(0)["scale"][0] if begin else 1.0
        model.partial_fit(sparse.csr_array(X[some]), y[some], classes=[-1, 1])
        changes += model.state_.view(0)["scale"][0] > before
        twin.learn(with_constant(X[some], 0.0), y[some])
    compare(model, twin)
    assert changes >= 1


# --- its steps against their problems -------------------------------------------------------------------------------


def small_pool(seed=0, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.8, 1, -1)


def test_newtons_method_gives_the_mean_that_a_general_solver_finds():
    """Step 5, with the prior that the batches before left."""
    cp = pytest.importorskip("cvxpy")
    X, y = small_pool()
    model = PoolCWClassifier(8, cost=0.5, C=0.7, pool=1, fit_intercept=False, scale=False)
    model.partial_fit(X[:30], y[:30], classes=[-1, 1])
    before = model.state_.copy()
    model.partial_fit(X[30:], y[30:])
    n = before.sizes["selected"] - 1
    mean0, cov0 = before.arrays["mean"][0, 1:], before.arrays["covariance"][0, 1:, 1:]
    counts = {1: 1 + (y == 1).sum(), -1: 1 + (y == -1).sum()}
    D = np.array([0.5 * sum(counts.values()) / counts[t] for t in y[30:]])
    mu = cp.Variable(n)
    loss = cp.sum(cp.multiply(D, cp.square(cp.pos(1 - cp.multiply(y[30:], X[30:] @ mu)))))
    prior = cp.quad_form(mu - mean0, cp.psd_wrap(np.linalg.inv(cov0)))
    cp.Problem(cp.Minimize(0.5 * prior + 0.5 * 0.7 * loss)).solve(solver="CLARABEL")
    mean = model.state_.arrays["mean"][0, 1:]
    assert_allclose(mean, mu.value, rtol=1e-5, atol=1e-6)
    active = y[30:] * (X[30:] @ mean) < 1
    added = 0.7 * (X[30:][active].T * D[active]) @ X[30:][active]
    precision = np.linalg.inv(model.state_.arrays["covariance"][0, 1:, 1:])
    assert_allclose(precision, np.linalg.inv(cov0) + added, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("constant", [False, True])
def test_the_weights_in_use_are_those_of_the_pool_given_that_the_others_are_0(constant):
    """The Gaussian over the pool, conditioned on zeros by its formula in one step."""
    X, y = stream()
    model = PoolCWClassifier(4, cost=0.5, batch_size=40, fit_intercept=constant, scale=False).fit(X, y)
    pool, state = model.pool_[0], model.state_
    slots = np.arange(1 - constant, 1 + len(pool))
    ids = np.concatenate([[-1] * constant, pool]).astype(int)
    mean, cov = state.arrays["mean"][0, slots], state.arrays["covariance"][0][np.ix_(slots, slots)]
    used = np.isin(ids, [-1, *model.support_])
    assert used.sum() == 4 + constant
    K = cov[np.ix_(used, ~used)] @ np.linalg.inv(cov[np.ix_(~used, ~used)])
    truth = mean[used] - K @ mean[~used]
    spread = cov[np.ix_(used, used)] - K @ cov[np.ix_(~used, used)]
    assert_allclose(model._all_weights()[0, ids[used]], truth, rtol=1e-9)
    assert_allclose(model.variance_[0, model.support_], np.diag(spread)[int(constant) :], rtol=1e-9)
    assert not model.variance_[0, np.setdiff1d(np.arange(40), model.support_)].any()
    x = np.hstack([np.full((len(X), 1), 0.1), X[:, model.support_]])[:, 1 - constant :]
    z = x @ truth / np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", x, spread, x), 1e-300))
    assert_allclose(model.predict_confidence(X)[:, 1], ndtr(z), rtol=1e-9, atol=1e-12)


def test_conditional_pruning_sees_through_copies():
    """Two copies of a strong feature: by rankings of single features both come before a weaker one of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = np.where(X[:, 0] + 0.6 * X[:, 3] > 0, 1, -1)
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=600)
    model = PoolCWClassifier(2, cost=0.5, batch_size=100, shuffle=False).fit(X, y)
    assert model.support_[1] == 3
    assert model.support_[0] in (0, 1)


# --- the model ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"scout": True}, {"fit_intercept": False}], ids=str)
def test_there_are_never_more_features_than_asked_for(options):
    X, y = stream(d=60)
    for p in (1, 2, 7):
        model = PoolCWClassifier(p, cost=0.5, batch_size=16, **options)
        for begin in range(0, 240, 48):
            model.partial_fit(X[begin : begin + 48], y[begin : begin + 48], classes=[-1, 1])
            assert 0 < len(model.support_) <= p
            assert len(model.pool_[0]) <= 3 * p
            assert set(model.support_) <= set(model.pool_[0])
        assert (model.intercept_ != 0).all() == model.fit_intercept


def test_a_row_without_a_known_feature_is_not_positive_and_even():
    X, y = stream()
    model = PoolCWClassifier(3, cost=0.5, batch_size=40, fit_intercept=False).fit(X, y)
    empty = np.zeros((1, 40))
    assert model.predict(empty) == [-1]
    assert_array_equal(model.predict_confidence(empty), [[0.5, 0.5]])


def test_each_class_has_a_pool_of_its_own(three_classes):
    X, y = three_classes
    model = PoolCWClassifier(2, cost=0.5, batch_size=20, selection="class").fit(X, y)
    assert len(model.pool_) == 3
    for row, label in zip(model.coef_, model.classes_, strict=True):
        alone = PoolCWClassifier(2, cost=0.5, batch_size=20, random_state=0)
        both = PoolCWClassifier(2, cost=0.5, batch_size=20, random_state=0, selection="class").fit(X, y)
        assert_array_equal(alone.fit(X, y == label).coef_[0], both.coef_[list(model.classes_).index(label)])
        assert np.count_nonzero(row) <= 2
    shares = model.predict_confidence(X)
    assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_adaptive_costs_are_models_side_by_side_of_which_the_measure_chooses():
    X, y = stream(n_rows=480)
    model = PoolCWClassifier(4, cost="adaptive", batch_size=60, shuffle=False).fit(X, y)
    alone = [PoolCWClassifier(4, cost=c, batch_size=60, shuffle=False).fit(X, y) for c in model.costs_]
    assert sorted(model.costs_) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert_array_equal(model.measures_, [m.measures_[0] for m in alone])
    best = int(np.argmax(model.measures_))
    assert model.cost_ == model.costs_[best]
    assert_array_equal(model.coef_, alone[best].coef_)
    assert len(model.cost_history_) == 8
    assert len({tuple(m.coef_[0]) for m in alone}) == 9


def test_a_batch_that_is_refused_changes_nothing_when_the_sums_change_their_unit():
    """Sums of features that the batch does not touch are rescaled, too."""
    X, y = stream()
    model = PoolCWClassifier(3, C=1e15, cost=0.5, forgetting=1e-40, batch_size=8)
    model.partial_fit(sparse.csr_array(X[:16]), y[:16], classes=[-1, 1])
    X[16:, 10:] = 0
    bad, weight = X[16:40].copy(), np.ones(24)
    bad[-1, :10] = weight[-1] = 1e99
    before = model.state_.copy()
    assert before.view(0)["scale"][0] < 1e-60
    assert before.view(0)["pull"][10:20].any()
    with pytest.raises(FloatingPointError, match="PoolCWClassifier: the weights overflowed at row 16"):
        model.partial_fit(sparse.csr_array(bad), y[16:40], sample_weight=weight)
    assert_same_bits(model.state_, before)
    model.partial_fit(sparse.csr_array(X[16:40]), y[16:40])
    assert model.state_.view(0)["scale"][0] > 1e-100  # not 1e-200


@pytest.mark.parametrize("name", ["n_features_to_select", "pool", "scout", "cost"])
def test_parameters_that_shape_the_pool_cannot_change_under_way(name):
    X, y = stream()
    model = PoolCWClassifier(3, cost=0.5, batch_size=40).fit(X, y)
    model.set_params(**{name: {"n_features_to_select": 4, "pool": 2, "scout": True, "cost": 0.4}[name]})
    with pytest.raises(ValueError, match="has changed since the last fit"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select must be an integer of at least 1, got 0"),
        ({"forgetting": 0.0}, "forgetting must be a number above 0 and at most 1, got 0.0"),
        ({"cost": 1.0}, 'cost must be "adaptive" or a number above 0 and below 1, got 1.0'),
        ({"cost": "best"}, "cost must be .* got 'best'"),
        ({"pool": 0.5}, "pool must be a number of at least 1, got 0.5"),
        ({"measure": "accuracy"}, "measure must be one of 'f1', 'roc_auc', 'average_precision', got 'accuracy'"),
    ],
)
def test_parameters_are_refused_in_one_sentence(params, words):
    X, y = stream()
    with pytest.raises(ValueError, match=f"^PoolCWClassifier: {words}\\.$"):
        PoolCWClassifier(**params).fit(X, y)


def test_steps_are_batches_and_need_a_size():
    X, y = stream()
    assert PoolCWClassifier(3, cost=0.5, batch_size=16, n_steps=4).fit(X, y).n_samples_seen_ == 64
    assert PoolCWClassifier(3, cost=0.5, batch_size=1024, n_steps=4).fit(X, y).n_samples_seen_ == 4 * len(y)
    assert PoolCWClassifier(3, cost=0.5, batch_size=16, n_steps=3).fit(X[:20], y[:20]).n_samples_seen_ == 20 + 16
    with pytest.raises(ValueError, match=r"^PoolCWClassifier: batch_size must be an integer when n_steps is given"):
        PoolCWClassifier(3, cost=0.5, batch_size=None, n_steps=4).fit(X, y)


def test_a_fit_without_any_value_says_so():
    with pytest.warns(ConvergenceWarning, match=r"PoolCWClassifier: all weights are 0, so no feature is in use\.$"):
        PoolCWClassifier(3, cost=0.5).fit(np.zeros((4, 3)), [0, 1, 0, 1])


# --- merging --------------------------------------------------------------------------------------------------------


def shards(**options):
    """A start and two shards of a pool that takes all features in, with their learner."""
    X, y = stream(d=10)
    start = PoolCWClassifier(4, cost=0.5, batch_size=20, fit_intercept=False, **options)
    start.partial_fit(X[80:140], y[80:140], classes=[-1, 1])
    both = [copy.deepcopy(start).partial_fit(X[a : a + 50], y[a : a + 50]) for a in (140, 190)]
    return onepass.learner(start, 10), start, both


def test_precisions_of_shards_add_up_and_their_own_sums_too():
    learner, start, both = shards()
    merged = learner.merge(start.state_, [m.state_ for m in both], [1.0, 1.0]).view(0)

    def precision(view):
        n = 1 + np.count_nonzero(view["ids"] >= 0)
        P = np.linalg.inv(view["covariance"].reshape(13, 13)[1:n, 1:n])
        return P, P @ view["mean"][1:n]

    views = [m.state_.view(0) for m in (start, *both)]
    assert all((v["ids"] == views[0]["ids"]).all() for v in views)
    (P0, b0), (P1, b1), (P2, b2) = map(precision, views)
    P, b = precision(merged)
    assert_allclose(P, P1 + P2 - P0, rtol=1e-8, atol=1e-9)
    assert_allclose(b, b1 + b2 - b0, rtol=1e-8, atol=1e-9)
    fade = 0.9**3  # three batches each
    for name in ("pull", "curvature"):
        first, one, two = (v["scale"] * v[name] for v in views)
        truth = fade**2 * first + (one - fade * first) + (two - fade * first)
        assert_allclose(merged[name], truth, rtol=1e-9, atol=1e-12)
        assert merged["scale"] == 1
    assert merged["n_positive"] == sum(v["n_positive"] for v in views[1:]) - views[0]["n_positive"]
    assert np.count_nonzero(merged["coef"]) == 4


def test_shards_with_pools_of_their_own_merge_into_one_of_the_right_size():
    X, y = stream(d=40)
    start = PoolCWClassifier(2, cost=0.5, batch_size=20)
    start.partial_fit(X[:80], y[:80], classes=[-1, 1])
    both = [copy.deepcopy(start).partial_fit(X[a : a + 80], y[a : a + 80]) for a in (80, 160)]
    known = [set(m.pool_[0]) for m in (start, *both)]
    assert known[1] != known[2]
    merged = copy.deepcopy(start)
    merged.state_ = onepass.learner(start, 40).merge(start.state_, [m.state_ for m in both], [1, 1])
    merged._weights_cache = None
    assert merged.state_.sizes["selected"] == 7
    pool = set(merged.pool_[0])
    assert len(pool) == 6
    assert pool <= (known[0] & known[1] & known[2]) | (known[1] - known[0]) | (known[2] - known[0])
    assert len(merged.support_) == 2
    merged._check_loaded()
    assert np.linalg.eigvalsh(merged.state_.arrays["covariance"][0])[-1] <= 1 + 1e-9


def test_a_feature_that_one_shard_dropped_is_dropped():
    """That shard no longer has what the start knew of it, which the others' precisions would add to."""
    X, y = stream(d=40)
    start = PoolCWClassifier(2, cost=0.5, batch_size=20)
    start.partial_fit(X[:80], y[:80], classes=[-1, 1])
    states = [start.state_.copy() for _ in range(3)]
    ids = states[0].arrays["ids"][0, 1:].astype(int)
    assert len(set(ids)) == 6
    states[1].arrays["ids"][0, 1:] = np.sort([*ids[1:], 39])
    states[2].arrays["ids"][0, 1:] = np.sort([*ids[:-1], 38])
    learner = onepass.learner(start, 40)
    learner.rule.settle(states, learner.params)
    for state in states:
        assert_array_equal(state.arrays["ids"][0, 1:], [*ids[1:-1], 38, 39])
    assert_allclose(states[0].arrays["covariance"][0, 5:, 5:], np.eye(2))


def test_a_merge_never_doubts_more_than_before_the_first_row():
    """Two shards that both forgot what the start knew of a feature would leave less than nothing of its precision."""
    learner, start, both = shards()
    states = [m.state_.copy() for m in (start, *both)]
    for state, variance in zip(states, (0.1, 1.0, 1.0), strict=True):
        state.arrays["covariance"][0, 1:, 1:] = variance * np.eye(12)
    merged = learner.merge(states[0], states[1:], [1.0, 1.0])
    assert_allclose(np.diagonal(merged.arrays["covariance"][0]), 1.0)


# --- files of strangers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "at", "value", "words"),
    [
        ("ids", 1, 40.0, "in their order"),
        ("ids", 1, 3.5, "in their order"),
        ("ids", 0, 0.0, "in their order"),
        ("ids", 2, -1.0, "in their order"),
        ("ids", 3, 0.0, "in their order"),
        ("coef", slice(None), 1.0, "at most n_features_to_select"),
        ("covariance", 12, 5.0, "symmetric and positive definite"),
        ("covariance", [12, 21], 5.0, "symmetric and positive definite"),
        ("scale", 0, 2.0, "scale of at most 1"),
        ("curvature", 0, -1.0, "scale of at most 1"),
        ("choices", 0, 3.0, "choices"),
    ],
)
def test_files_that_no_run_can_have_left_are_refused(tmp_path, name, at, value, words):
    X, y = stream()
    model = PoolCWClassifier(3, cost=0.5, batch_size=40).fit(X, y)
    save_unsound(model, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").coef_, model.coef_)
    model.state_.view(0)[name][at] = value
    save_unsound(model, tmp_path / "m.thresher")
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "m.thresher")


@pytest.mark.parametrize("variance", [5e-324, 1e-308])
def test_variances_of_a_file_that_vanish_when_multiplied_are_refused(variance):
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = PoolCWClassifier(2, cost=0.5, batch_size=20, random_state=0).fit(X, X[:, 0] > 0)
    covariance = model.state_.arrays["covariance"][0]
    covariance[1, 1] = covariance[2, 2] = variance
    with pytest.raises(ValueError, match="symmetric and positive definite"):
        model._check_loaded()
