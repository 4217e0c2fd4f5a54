"""DropoutPegasosClassifier against its twin to the coin, and against the law of a fresh coin in every step."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, optimize, sparse, stats

from reference import dropout as reference
from reference.agreement import assert_weights, assert_weights_after_every_row, last, progressive
from reference.losses import FOR_CLASSES
from thresher import onepass
from thresher.persistence import load_model, save_model
from thresher.stochastic import DropoutPegasosClassifier
from unsound import save_unsound

ALPHAS = np.geomspace(0.02, 2.0, 12)  # one for each feature of the problems
OPTIONS = {
    "plain": {},
    "small-alpha": {"alpha": 3.1e-3},
    "no-constant": {"fit_intercept": False},
    "scaled-constant": {"intercept_scaling": 0.3},
    "free-constant": {"penalize_intercept": False},
    "alphas": {"alpha": ALPHAS},
}


def learner(loss="hinge", **params):
    given = {"alpha": 0.1, "loss": loss, "max_iter": 1, "shuffle": False, "tau": 0.3, "intercept_scaling": 1.0}
    return DropoutPegasosClassifier(**(given | {"random_state": 3} | params))


def seeds(model, n_outputs=1):
    """What a fresh model draws."""
    return np.random.default_rng(model.random_state).integers(2**40, size=n_outputs).astype(float)


def twin(model, X, y, weight=None, seed=None, read_from=0):
    return reference.dropout_pegasos(
        X.astype(float),
        y,
        loss=model.loss,
        alpha=model.alpha,
        tau=model.tau,
        seed=seeds(model)[0] if seed is None else seed,
        penalize_intercept=model.penalize_intercept,
        intercept=model.intercept_scaling if model.fit_intercept else 0.0,
        weight=weight,
        read_from=read_from,
    )


def gappy_stream(n_rows, n_features=40, seed=0):
    """Features that come often, and features that come once in a hundred rows."""
    rng = np.random.default_rng(seed)
    often = rng.random((n_rows, n_features)) < np.geomspace(0.3, 0.005, n_features)
    X = rng.normal(size=(n_rows, n_features)) * often
    y = np.where(X @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0, 1, -1)
    return X, y


# --- to the coin ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_it_agrees_with_the_eager_twin_step_by_step(problem, layout, dtype, loss):
    X, y = problem
    model = learner(loss)
    X = X.astype(dtype)
    assert_weights_after_every_row(model, X, y, layout, twin(model, X, y), classes=[-1, 1])


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_option_agrees_with_the_eager_twin(problem, row_weights, form, option, weighted):
    weight = row_weights if weighted else None
    model = learner(**OPTIONS[option])
    assert_weights_after_every_row(model, *problem, form, twin(model, *problem, weight), weight, classes=[-1, 1])


@pytest.mark.parametrize("alpha", [1e-3, 0.05])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_strides_over_long_gaps_are_those_of_the_twin(alpha, form):
    X, y = gappy_stream(2400)
    X[1500:, -5:] = 0
    model = learner(alpha=alpha).fit(form(X), y)
    assert_weights(model, last(twin(model, X, y, read_from=2399))[1])
    away = model.state_.arrays["n_steps"] - model.state_.arrays["last_step"]
    assert (away[0, -6:-1] > 900).all()  # several strides


def test_chunks_leave_no_trace_in_long_gaps():
    X, y = gappy_stream(4000)
    model = learner(alpha=0.01).fit(sparse.csr_array(X), y)
    chunked = learner(alpha=0.01)
    for begin in range(0, 4000, 700):
        part = slice(begin, begin + 700)
        chunked.partial_fit(X[part], y[part], classes=[-1, 1])
        assert np.isfinite(chunked.coef_).all()  # reading moves nothing
    for name in ("coef", "last_step", "n_steps", "seed", "tally"):
        assert_array_equal(chunked.state_.arrays[name], model.state_.arrays[name], err_msg=name)


def test_progressive_loss_and_mistakes_are_those_of_the_twin(problem, row_weights):
    X, y = problem
    model = learner("logistic").fit(X, y, sample_weight=row_weights)
    scores = np.array([p for p, _ in twin(model, X, y, row_weights)])
    assert_allclose(model.progressive_loss_, progressive(scores, y, "logistic", row_weights), rtol=1e-10)
    assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[row_weights > 0])


def test_classes_are_learned_one_against_the_rest_with_coins_of_their_own(three_classes, layout):
    X, y = three_classes
    model = learner().fit(layout(X), y)
    own = seeds(model, 3)
    assert len(set(own)) == 3
    for k, label in enumerate("abc"):
        w = last(twin(model, X, np.where(y == label, 1, -1), seed=own[k]))[1]
        assert_allclose(np.append(model.coef_[k], model.intercept_[k]), w, rtol=1e-10, atol=1e-13)


def test_class_weight_is_the_same_weight_on_each_row(problem):
    X, y = problem
    by_class = learner(class_weight={-1: 0.5, 1: 3.0}).fit(X, y)
    by_row = learner().fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)


# --- the law ----------------------------------------------------------------------------------------------------------


def test_draws_are_uniform_and_unrelated():
    draws = np.array([
        [[reference.uniform_draw(seed, column, step) for step in range(1, 31)] for column in range(-1, 20)]
        for seed in range(20)
    ])  # fmt: skip
    assert stats.kstest(draws.ravel(), "uniform").pvalue > 1e-3
    for axis in range(3):
        a, b = np.moveaxis(draws, axis, 0)[:-1].ravel(), np.moveaxis(draws, axis, 0)[1:].ravel()
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(len(a))


def weights_of_many(x, y, n_models, **params):
    """One weight of many models that differ in their seed."""
    model = learner(fit_intercept=False, **params)
    rule = onepass.learner(model, 1)
    state = rule.new_state(1, n_models)
    state.arrays["seed"][:, 0] = np.random.default_rng(0).integers(2**53, size=n_models)
    rows = onepass.rows(sparse.csr_array(x[:, None]))
    for k in range(n_models):
        rule.learn(onepass.Lesson(rows, onepass.Target(y), output=k), state)
    return rule.weights(state)[:, 0]


STREAMS = {
    "left-alone": np.r_[2.0, np.zeros(60)],
    "touched-now-and-then": np.where(np.arange(80) % 9 == 0, 1.5, 0.0),
    "touched-always": np.linspace(0.5, 1.5, 40),
    "large-at-first": np.r_[40.0, np.zeros(100), 1.0, np.zeros(50)],
    "touched-for-long": np.where(np.arange(900) % 3 == 0, 1.0, 0.0),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_law_is_that_of_a_fresh_coin_in_every_step(stream, loss):
    x = STREAMS[stream]
    y = np.where(np.arange(len(x)) % 4 == 3, -1.0, 1.0)
    n_models = 4000
    ours = weights_of_many(x, y, n_models, alpha=0.5, loss=loss)

    def slope(p, target):
        return -target * (target * p < 1) if loss == "hinge" else -target / (1 + np.exp(target * p))

    coins = reference.coin_pegasos(np.random.default_rng(1), x, y, n_models, alpha=0.5, slope=slope)
    assert np.unique(coins).size > 20
    assert stats.ks_2samp(ours, coins).pvalue > 1e-3
    error = np.sqrt((ours.var() + coins.var()) / n_models)
    assert abs(ours.mean() - coins.mean()) < 4 * error
    assert abs(np.log(ours.var() / coins.var())) < 6 * np.sqrt(2 * (stats.kurtosis(coins) + 2) / n_models)


@pytest.mark.parametrize("w", [0.02, 0.3, 1.0, 4.0, 90.0])
@pytest.mark.parametrize("begin, end", [(70, 90), (300, 1000), (4000, 9000)])
def test_the_law_of_long_gaps_is_that_of_a_coin_in_every_step(w, begin, end):
    n_models = 4000
    rule = onepass.learner(learner(fit_intercept=False), 1)
    state = rule.new_state(1, n_models)
    state.arrays["seed"][:, 0] = np.random.default_rng(0).integers(2**53, size=n_models)
    state.arrays["coef"][...] = w
    state.arrays["n_steps"][...] = end
    state.arrays["last_step"][...] = begin
    ours = np.log(rule.weights(state)[:, 0])
    coins = np.log(reference.coin_shrinks(np.random.default_rng(1), w, n_models, begin + 1, end))
    if coins.std() > 1e-9:
        jitter = np.random.default_rng(2).normal(scale=1 / end, size=(2, n_models))  # laws of a few values, in reals
        assert stats.ks_2samp(ours + jitter[0], coins + jitter[1]).pvalue > 1e-3
    error = np.sqrt((ours.var() + coins.var()) / n_models)
    assert abs(ours.mean() - coins.mean()) <= 4 * error + 1e-9
    spread = 4 * np.sqrt(2 * (stats.kurtosis(np.r_[ours, coins]) + 2) / n_models) if coins.std() > 1e-9 else 0
    assert abs(ours.var() - coins.var()) <= (spread + 0.04) * coins.var() + 1e-9


@pytest.mark.parametrize("p", [1e-4, 0.01, 0.2, 0.5])
@pytest.mark.parametrize("variance", [0.3, 9.9, 10.1, 40.0])
def test_counts_are_binomial(p, variance):
    n = np.ceil(variance / (p * (1 - p)))
    u = (np.arange(20000) + 0.5) / 20000
    counts = np.array([reference.count(each, n, p) for each in u])
    k = np.arange(counts.max() + 1)
    below = (counts[:, None] <= k).mean(axis=0)
    assert_allclose(below, stats.binom.cdf(k, n, p), atol=2e-4)


@pytest.mark.parametrize("w", [-3.0, -0.4, 0.05, 0.8, 2.0])
def test_the_expected_shrink_is_the_gradient_of_the_documented_penalty(w):
    """alpha E[w r] = alpha w^3 / (1 + w^2), the slope of (alpha / 2) (w^2 - log(1 + w^2))"""
    alpha, h = 0.7, 1e-5

    def penalty(v):
        return alpha / 2 * (v**2 - np.log1p(v**2))

    slope = (penalty(w + h) - penalty(w - h)) / (2 * h)
    assert_allclose(slope, alpha * w**3 / (1 + w**2), atol=1e-9)
    area, _ = integrate.quad(lambda v: alpha * v**3 / (1 + v**2), 0, w)
    assert_allclose(area, penalty(w), atol=1e-10)
    # The step of a weight that nothing pulls, measured: w moves by -E[w r] / t at step t = 50.
    model = learner(fit_intercept=False)
    rule = onepass.learner(model, 1)
    n_models = 20000
    state = rule.new_state(1, n_models)
    state.arrays["seed"][:, 0] = np.arange(n_models)
    state.arrays["coef"][...], state.arrays["n_steps"][...], state.arrays["last_step"][...] = w, 49.0, 49.0
    row = onepass.rows(np.array([[0.0]]))
    for k in range(n_models):
        rule.learn(onepass.Lesson(row, onepass.Target(np.array([1.0])), output=k), state)
    moved = alpha * 50 * (w - rule.weights(state)[:, 0])
    assert abs(moved.mean() - slope) < 4 * moved.std() / np.sqrt(n_models)


def test_the_mean_model_settles_where_the_documented_objective_is_least():
    """No guarantee, but on a small, well-behaved problem it does."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.where(X @ [1.5, -0.5] + rng.normal(size=60) > 0, 1, -1)
    alpha = 0.5

    def objective(w):
        return np.logaddexp(0, -y * (X @ w)).mean() + alpha / 2 * np.sum(w**2 - np.log1p(w**2))

    optimum = optimize.minimize(objective, np.zeros(2)).x
    models = [
        learner("logistic", alpha=alpha, fit_intercept=False, shuffle=True, max_iter=200, random_state=seed).fit(X, y)
        for seed in range(20)
    ]
    found = np.mean([m.coef_[0] for m in models], axis=0)
    assert_allclose(found, optimum, atol=0.03)
    ridge = optimize.minimize(lambda w: np.logaddexp(0, -y * (X @ w)).mean() + alpha / 2 * w @ w, np.zeros(2)).x
    assert np.abs(ridge - optimum).max() > 0.2  # the penalty of plain Pegasos leads elsewhere


def test_dominant_weights_shrink_more_often():
    """The sentence after Algorithm 11 says the reverse (E20)."""
    x = np.r_[1.0, np.zeros(400)]
    y = np.ones(401)
    large = weights_of_many(4 * x, y, 200, alpha=1.0)
    small = weights_of_many(0.2 * x, y, 200, alpha=1.0)
    assert (large / 4).mean() < 0.3 * (small / 0.2).mean()


def test_steps_go_down_the_loss():
    """Printed, Algorithm 11 goes up (E20): from w = 0 the first step is y x / alpha."""
    model = learner(alpha=0.5, fit_intercept=False)
    model.partial_fit([[3.0, -1.0]], [1], classes=[-1, 1])
    assert_allclose(model.coef_, [[6.0, -2.0]])


# --- seeds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("random_state", [None, 7, np.random.default_rng(1), np.random.RandomState(1)], ids=str)
def test_coins_go_on_after_a_file_whatever_the_random_state(tmp_path, random_state):
    X, y = gappy_stream(300)
    model = learner(random_state=random_state)
    model.partial_fit(X[:150], y[:150], classes=[-1, 1])
    seed = model.state_.arrays["seed"].copy()
    assert seed > 0
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for one in (model, loaded):
        one.partial_fit(X[150:], y[150:])
        assert_array_equal(one.state_.arrays["seed"], seed)
    assert_array_equal(loaded.coef_, model.coef_)
    assert_weights(model, last(twin(model, X, y, seed=seed[0, 0], read_from=299))[1])


def test_a_model_without_a_seed_draws_one_at_every_fit():
    X, y = gappy_stream(100)
    model = learner(random_state=None)
    first = model.fit(X, y).state_.arrays["seed"].copy()
    assert model.fit(X, y).state_.arrays["seed"] != first


def test_reading_changes_nothing(problem):
    X, y = gappy_stream(300)
    read, unread = learner(alpha=0.01), learner(alpha=0.01)
    for i in range(0, 300, 10):
        for model in (read, unread):
            model.partial_fit(X[i : i + 10], y[i : i + 10], classes=[-1, 1])
        assert_allclose(read.decision_function(X), X @ read.coef_[0] + read.intercept_, rtol=1e-10, atol=1e-10)
    for name, array in unread.state_.arrays.items():
        assert_array_equal(read.state_.arrays[name], array)


def test_a_score_does_not_depend_on_the_rows_beside_it():
    """Of many rows, weights are brought up to date before; of few, value by value."""
    X, y = gappy_stream(600)
    X = sparse.csr_array(X)
    model = learner(alpha=0.01).fit(X, y)
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(50)])
    assert_array_equal(model.decision_function(X[:50]), alone)
    assert X[:50].nnz > X.shape[1] + 1 > X[:1].nnz


def test_settling_moves_no_weight_and_learning_goes_on():
    X, y = gappy_stream(300)
    model = learner(alpha=0.01).fit(X, y)
    other = copy.deepcopy(model)
    rule = onepass.learner(model, X.shape[1])
    rule.settle(other.state_)
    assert_array_equal(rule.weights(other.state_), rule.weights(model.state_))
    before = other.coef_.copy()
    nothing = sparse.csr_array((500, X.shape[1]))
    other.partial_fit(nothing, np.ones(500))
    assert (np.abs(other.coef_) <= np.abs(before)).all()
    assert (np.abs(other.coef_) < np.abs(before)).sum() > 10  # coins go on from the settled step


def test_models_that_are_merged_get_coins_of_their_own():
    X, y = gappy_stream(300)
    a, b = (learner(random_state=seed).fit(X[part], y[part]) for seed, part in ((1, slice(150)), (2, slice(150, 300))))
    rule = onepass.learner(a, X.shape[1])
    merged = rule.merge(rule.new_state(X.shape[1]), [a.state_, b.state_], [150, 150])
    assert_allclose(rule.weights(merged), (rule.weights(a.state_) + rule.weights(b.state_)) / 2, rtol=1e-12, atol=1e-14)
    assert merged.arrays["seed"] == a.state_.arrays["seed"] + b.state_.arrays["seed"]
    assert merged.arrays["n_steps"] == 300
    assert (merged.arrays["last_step"] == 300).all()
    later = a.state_.copy()
    rule.learn(onepass.Lesson(onepass.rows(X[:10]), onepass.Target(y[:10].astype(float))), later)
    again = rule.merge(a.state_, [later, later], [1, 1])  # from a common start: its seed
    assert again.arrays["seed"] == a.state_.arrays["seed"]


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_steps", -1.0),
        ("seed", 0.5),
        ("seed", 1e300),
        ("last_step", 7.5),
        ("last_step", 51.0),
    ],
)
def test_an_unsound_file_is_refused(tmp_path, name, value):
    X, y = gappy_stream(50)
    model = learner().fit(X, y)
    model.state_.arrays[name][...] = value
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"^m: .*(must hold|must be)"):
        load_model(tmp_path / "m")


def test_a_weight_that_was_left_alone_for_ages_is_read_at_once(tmp_path):
    X, y = gappy_stream(50)
    model = learner().fit(X, y)
    model.state_.arrays["n_steps"][...] = 1e15
    save_unsound(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert (np.abs(loaded.coef_) < 0.2).all()  # 1 / w^2 grows by about 2 log t
    assert_weights(
        loaded,
        [
            reference.after(w, s, 1e15, seeds(model)[0], j)
            for w, s, j in zip(
                model.state_.arrays["coef"][0], model.state_.arrays["last_step"][0], [*range(40), -1.0], strict=True
            )
        ],
    )


def test_the_first_long_steps_of_a_steep_loss_are_refused_with_advice(problem):
    X, y = problem
    with pytest.raises(FloatingPointError, match="DropoutPegasosClassifier: the weights overflowed"):
        learner("squared", alpha=1e-12, max_iter=300).fit(1e4 * X, y)


@pytest.mark.parametrize(
    "params, says",
    [
        ({"alpha": 0}, 'alpha must be a number above 0 or one number above 0 per feature or "auto", got 0'),
        ({"alpha": [0.1, 0.2]}, "alpha must have one entry per feature, got 2 for 12 features"),
        ({"alpha": np.r_[-1.0, np.ones(11)]}, "alpha must hold numbers above 0, got -1.0 for feature 0"),
        ({"loss": "quantile"}, "loss must be one of"),
        ({"penalize_intercept": 1}, "penalize_intercept must be True or False, got 1"),
    ],
)
def test_refusals(problem, params, says):
    with pytest.raises(ValueError, match=f"DropoutPegasosClassifier: {says}"):
        learner(**params).fit(*problem)
