"""L1RDAClassifier and L1RDARegressor against their twin, and against the problem that their weights say they solve."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import dual_averaging as reference
from reference.agreement import assert_weights, assert_weights_after_every_row, last, progressive, row_by_row
from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.training import merge_models

CASES = [(L1RDAClassifier, loss) for loss in FOR_CLASSES] + [(L1RDARegressor, loss) for loss in FOR_VALUES]
OPTIONS = {
    "plain": {},
    "no-constant": {"fit_intercept": False},
    "penalised-constant": {"penalize_intercept": True, "intercept_scaling": 0.7},
    "rho": {"rho": 0.05},
    "l2": {"l2_weight": 0.3},
    "all-penalties": {"rho": 0.02, "l2_weight": 0.1, "penalize_intercept": True, "eta0": 0.5},
    "no-l1": {"alpha": 0.0},
    "batches": {"batch_size": 7},
    "batches-all": {"batch_size": 4, "rho": 0.02, "l2_weight": 0.1, "intercept_scaling": 0.5, "tau": 0.2},
}
cases = pytest.mark.parametrize("estimator, loss", CASES, ids=[f"{e.__name__[5:]}-{loss}" for e, loss in CASES])
options = pytest.mark.parametrize("option", OPTIONS)


@pytest.fixture
def data(request, estimator):
    """The problem that fits the estimator."""
    return request.getfixturevalue("problem" if estimator is L1RDAClassifier else "regression")


def learner(estimator, loss, **params):
    given = {"alpha": 0.05, "eta0": 0.3, "loss": loss, "max_iter": 1, "shuffle": False, "tau": 0.3}
    return estimator(**(given | {"intercept_scaling": 0.3} | params))


def twin(model, X, y, weight=None, close_after=()):
    """The same parameters, on dense float64 data."""
    return reference.l1_rda(
        X.astype(float),
        y,
        loss=model.loss,
        alpha=model.alpha,
        eta0=model.eta0,
        rho=model.rho,
        l2_weight=model.l2_weight,
        tau=model.tau,
        epsilon=getattr(model, "epsilon", 0.0),
        batch_size=model.batch_size,
        penalize_intercept=model.penalize_intercept,
        intercept=model.intercept_scaling if model.fit_intercept else 0.0,
        weight=weight,
        close_after=close_after,
        average=getattr(model, "average", False) is True,
    )


def first_call(estimator):
    return {"classes": [-1, 1]} if estimator is L1RDAClassifier else {}


def assert_agrees(model, w, **tolerance):
    assert_weights(model, w, **tolerance)
    assert_array_equal(model.support_, np.flatnonzero(w[:-1]))


def assert_agrees_row_by_row(model, X, y, layout, weight=None):
    steps = twin(model, X, y, weight)
    seen, expected = assert_weights_after_every_row(model, X, y, layout, steps, weight, **first_call(type(model)))
    assert_array_equal(seen[:, :-1] == 0, expected[:, :-1] == 0)


@cases
def test_l1_rda_agrees_with_the_paper_step_by_step(data, layout, dtype, estimator, loss):
    X, y = data
    assert_agrees_row_by_row(learner(estimator, loss), X.astype(dtype), y, layout)


@cases
@options
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_option_agrees_with_the_paper_step_by_step(data, form, estimator, loss, option):
    assert_agrees_row_by_row(learner(estimator, loss, **OPTIONS[option]), *data, form)


@cases
@options
def test_a_row_weight_multiplies_the_slope(data, row_weights, estimator, loss, option):
    assert_agrees_row_by_row(learner(estimator, loss, **OPTIONS[option]), *data, sparse.csr_array, row_weights)


@cases
@pytest.mark.parametrize("option", ["plain", "batches", "batches-all"])
def test_l1_rda_agrees_with_the_paper_after_a_fit(data, layout, dtype, estimator, loss, option):
    X, y = data
    model = learner(estimator, loss, max_iter=2, **OPTIONS[option]).fit(layout(X.astype(dtype)), y)
    assert_agrees(model, last(twin(model, np.tile(X.astype(dtype), (2, 1)), np.tile(y, 2), close_after=[119]))[1])


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 8, 58])
def test_fit_closes_the_last_mini_batch_with_the_rows_it_has(regression, n_rows):
    X, y = (part[1 : 1 + n_rows] for part in regression)
    model = learner(L1RDARegressor, "squared", batch_size=4, alpha=1e-3).fit(X, y)
    assert_agrees(model, last(twin(model, X, y, close_after=[n_rows - 1]))[1])
    assert model.coef_.any()


def test_partial_fit_goes_on_where_a_fit_closed(problem):
    X, y = problem
    model = learner(L1RDAClassifier, "squared_hinge", batch_size=7).fit(X[:25], y[:25])
    model.partial_fit(X[25:40], y[25:40]).partial_fit(X[40:], y[40:])
    assert_agrees(model, last(twin(model, X, y, close_after=[24]))[1])


def test_the_small_problem_has_weights_that_come_and_go(problem):
    X, y = problem
    sizes = [np.count_nonzero(w[:-1]) for _, w in twin(learner(L1RDAClassifier, "hinge"), X, y)]
    assert 0 < sizes[-1] < max(sizes)
    assert min(np.diff(sizes)) < 0 < max(np.diff(sizes))


# --- the problem it solves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("rho", [0.0, 0.03])
@pytest.mark.parametrize("l2_weight", [0.0, 0.5])
def test_weights_minimise_the_objective_they_state(problem, loss, alpha, rho, l2_weight):
    """min g.w + alpha |w|_1 + l2_weight |w|^2 / 2 + (|w|^2 / 2 + rho |w|_1) / (eta0 sqrt t),  g the mean gradient"""
    X, y = problem
    slope = find_loss(loss).slope
    model = L1RDAClassifier(alpha, eta0=0.3, rho=rho, l2_weight=l2_weight, loss=loss, fit_intercept=False)
    total = np.zeros(X.shape[1])
    score = 0.0
    for i, _ in enumerate(row_by_row(model, X, y, np.asarray, classes=[-1, 1])):
        t = i + 1
        total += slope(score, y[i]) * X[i]
        score = model.decision_function(X[(i + 1) % len(X)][None])[0]
        # The conditions of optimality, at every t: they decide the support exactly.
        w, g, curve = model.coef_[0], total / t, 1 / (0.3 * np.sqrt(t))
        used = w != 0
        force = g + (l2_weight + curve) * w
        assert_allclose(force[used], -(alpha + rho * curve) * np.sign(w[used]), rtol=1e-10, atol=1e-12)
        assert (np.abs(g[~used]) <= (alpha + rho * curve) * (1 + 1e-12) + 1e-15).all()
        if t in (2, 10, 60):
            v = cp.Variable(X.shape[1])
            solve(
                g @ v
                + alpha * cp.norm1(v)
                + l2_weight / 2 * cp.sum_squares(v)
                + curve * (cp.sum_squares(v) / 2 + rho * cp.norm1(v))
            )
            assert_allclose(w, v.value, atol=1e-6)
            assert_array_equal(used, np.abs(v.value) > 1e-6)


def test_a_free_constant_is_not_penalised_at_all(problem):
    X, y = problem
    model = learner(L1RDAClassifier, "hinge", alpha=10.0, rho=1.0, l2_weight=5.0).fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ != 0
    assert not learner(L1RDAClassifier, "hinge", alpha=10.0, penalize_intercept=True).fit(X, y).intercept_.any()


# --- a mean over all steps -------------------------------------------------------------------------------------------

WITH_MEAN = [name for name in OPTIONS if "batches" not in name]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("option", WITH_MEAN)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_mean_of_all_steps_counts_step_s_so_often_and_has_exact_zeros(
    problem, row_weights, form, dtype, loss, option
):
    X, y = problem
    model = learner(L1RDAClassifier, loss, average=True, **OPTIONS[option])
    assert_agrees_row_by_row(model, X.astype(dtype), y, form, row_weights)
    last_step = learner(L1RDAClassifier, loss, **OPTIONS[option]).fit(X.astype(dtype), y, sample_weight=row_weights)
    assert not np.allclose(model.coef_, last_step.coef_)


def test_mistakes_are_those_of_the_mean(problem, row_weights):
    X, y = problem
    model = learner(L1RDAClassifier, "hinge", average=True).fit(X, y, sample_weight=row_weights)
    scores = np.array([p for p, _ in twin(model, X, y, row_weights)])
    assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[row_weights > 0])


def test_a_mean_uses_exactly_as_many_features_as_are_asked_for(problem):
    X, y = problem
    model = learner(L1RDAClassifier, "hinge", average=True, n_features_to_select=4, max_iter=3).fit(X, y)
    assert len(model.support_) == 4
    kept = np.argsort(-np.abs(learner(L1RDAClassifier, "hinge", average=True, alpha=0.0).fit(X, y).coef_[0]))[:4]
    assert len(np.intersect1d(kept, model.support_)) >= 2


def test_merged_shards_are_read_as_if_their_steps_had_been_side_by_side(problem):
    X, y = problem
    halves = [learner(L1RDAClassifier, "hinge", average=True).fit(X[k::2], y[k::2]) for k in (0, 1)]
    merged = merge_models(halves)
    sums = np.zeros((30, X.shape[1] + 1))
    for k in (0, 1):
        plain = learner(L1RDAClassifier, "hinge")
        for s, _ in enumerate(row_by_row(plain, X[k::2], y[k::2], np.asarray, classes=[-1, 1])):
            sums[s] += plain.state_.arrays["gradient_sum"][0]
    times = np.arange(1.0, 31.0)
    mean, t = np.average(sums, axis=0, weights=times), 2 * np.average(times, weights=times)
    expected = -0.3 / np.sqrt(t) * reference.soft(mean, 0.05 * t)
    expected[-1] = -0.3 / np.sqrt(t) * mean[-1]
    assert_agrees(merged, expected)


def test_a_number_mini_batches_or_a_second_learner_read_the_last_step(problem):
    X, y = problem
    assert "offset" in L1RDAClassifier().fit(X, y).state_.arrays
    for given in ({"eta0": 1.0}, {"batch_size": 4}, {"debias": True}, {"average": False}):
        assert "offset" not in L1RDAClassifier(**given).fit(X, y).state_.arrays
    for given, why in (({"batch_size": 4}, "batch_size above 1"), ({"debias": True}, "debias=True")):
        with pytest.raises(ValueError, match=f'average must be False or "auto" with {why}, got True'):
            L1RDAClassifier(average=True, **given).fit(X, y)


def test_the_mean_is_steadier_than_the_last_step():
    """Columns of uneven sizes and rare classes, on which the last step of the hinge loss swings."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(3000, 8))
    y = np.where(X @ rng.normal(size=8) + 2 * rng.normal(size=3000) > 6, 1, -1)
    scores = {}
    for average in (False, True):
        model = L1RDAClassifier(eta0=1.0, average=average).partial_fit(X[:2000], y[:2000], classes=[-1, 1])
        scores[average] = []
        for i in range(2000, 2200):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            scores[average].append(model.score(X[2200:], y[2200:]))
    assert np.std(scores[True]) < 0.2 * np.std(scores[False])
    assert np.mean(scores[True]) > np.mean(scores[False])


# --- weights, classes, books ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["plain", "batches-all"])
def test_a_row_of_weight_zero_changes_nothing(problem, row_weights, layout, option):
    X, y = problem
    present = row_weights > 0
    model = learner(L1RDAClassifier, "hinge", max_iter=2, **OPTIONS[option])
    weighted = model.fit(layout(X), y, sample_weight=row_weights).state_
    without = model.fit(layout(X[present]), y[present], sample_weight=row_weights[present]).state_
    for name, array in without.arrays.items():
        assert_array_equal(weighted.arrays[name], array)


def test_class_weight_is_the_same_weight_on_each_row(problem, row_weights):
    X, y = problem
    by_class = learner(L1RDAClassifier, "logistic", class_weight={-1: 0.5, 1: 3.0})
    by_row = learner(L1RDAClassifier, "logistic")
    by_class.fit(X, y, sample_weight=row_weights)
    by_row.fit(X, y, sample_weight=row_weights * np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)


@cases
@pytest.mark.parametrize("option", ["plain", "batches-all"])
def test_progressive_loss_and_mistakes_are_those_of_the_twin(data, row_weights, estimator, loss, option):
    X, y = data
    for weight in (None, row_weights):
        model = learner(estimator, loss, **OPTIONS[option]).fit(X, y, sample_weight=weight)
        scores = np.array([p for p, _ in twin(model, X, y, weight)])
        present = np.ones(len(y), bool) if weight is None else weight > 0
        expected = progressive(scores, y, loss, weight, tau=model.tau, epsilon=getattr(model, "epsilon", 0.0))
        assert_allclose(model.progressive_loss_, expected, rtol=1e-10)
        assert model.n_samples_seen_ == present.sum()
        if estimator is L1RDAClassifier:
            assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])


@pytest.mark.parametrize("loss", FOR_CLASSES)
@pytest.mark.parametrize("option", ["plain", "batches-all"])
def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout, loss, option):
    X, y = three_classes
    model = learner(L1RDAClassifier, loss, **OPTIONS[option]).fit(layout(X), y, sample_weight=row_weights)
    scores, losses = [], []
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        steps = list(twin(model, X, sign, row_weights, close_after=[59]))
        assert_allclose(model.coef_[k], steps[-1][1][:-1], rtol=1e-10, atol=1e-13)
        assert_array_equal(model.coef_[k] == 0, steps[-1][1][:-1] == 0)
        assert_allclose(model.intercept_[k], steps[-1][1][-1] * model.intercept_scaling, rtol=1e-10, atol=1e-13)
        scores.append([p for p, _ in steps])
        losses.append(progressive(scores[k], sign, loss, row_weights, tau=model.tau))
    present = row_weights > 0
    assert model.n_mistakes_ == np.count_nonzero((np.array(list("abc"))[np.argmax(scores, axis=0)] != y)[present])
    assert_allclose(model.progressive_loss_, np.mean(losses), rtol=1e-10)
    assert_array_equal(model.predict(layout(X)), np.array(list("abc"))[model.decision_function(layout(X)).argmax(1)])


@pytest.mark.parametrize("option", ["plain", "batches-all"])
def test_threads_leave_no_trace(three_classes, option):
    X, y = three_classes
    one, two = (
        learner(L1RDAClassifier, "hinge", max_iter=3, shuffle=True, random_state=0, n_jobs=n, **OPTIONS[option])
        for n in (1, 2)
    )
    one.fit(X, y)
    two.fit(X, y)
    for name, array in one.state_.arrays.items():
        assert_array_equal(two.state_.arrays[name], array)


@options
def test_scores_are_those_of_the_weights(problem, three_classes, layout, dtype, option):
    for X, y in (problem, three_classes):
        data = X.astype(dtype)
        model = learner(L1RDAClassifier, "logistic", **OPTIONS[option]).fit(layout(data), y)
        expected = data.astype(float) @ model.coef_.T + model.intercept_
        assert_allclose(model.decision_function(layout(data)), expected.squeeze(), rtol=1e-12, atol=1e-14)


@options
def test_predicted_values_are_those_of_the_weights(regression, layout, option):
    X, y = regression
    model = learner(L1RDARegressor, "squared", **OPTIONS[option]).fit(layout(X), y)
    assert_allclose(model.predict(layout(X)), X @ model.coef_ + model.intercept_, rtol=1e-12, atol=1e-14)


# --- passes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size, n_steps, n_iter", [(1, 130, 3), (7, 5, 1), (7, 20, 3), (60, 2, 2), (100, 1, 2)])
def test_n_steps_counts_mini_batches(problem, batch_size, n_steps, n_iter):
    X, y = problem
    model = learner(L1RDAClassifier, "hinge", alpha=1e-3, n_steps=n_steps, batch_size=batch_size).fit(X, y)
    assert (model.n_samples_seen_, model.n_iter_) == (n_steps * batch_size, n_iter)
    rows = np.arange(n_steps * batch_size) % 60
    assert_agrees(model, last(twin(model, X[rows], y[rows]))[1])


def test_tol_never_stops_while_all_weights_are_zero(problem):
    X, y = problem
    given = {"alpha": 100.0, "tol": 1.0, "penalize_intercept": True, "max_iter": 9}
    model = learner(L1RDAClassifier, "hinge", **given).fit(X, y)
    assert model.n_iter_ == 9
    assert model.n_samples_seen_ == 9 * 60
    assert not model.coef_.any()


def test_tol_stops_at_the_first_pass_that_moves_less(problem):
    X, y = problem
    given = {"fit_intercept": False, "l2_weight": 0.5, "max_iter": 200}
    model = learner(L1RDAClassifier, "logistic", tol=1e-3, **given).fit(X, y)
    assert 2 < model.n_iter_ < 200
    ends = [model.set_params(max_iter=k, tol=None).fit(X, y).coef_ for k in range(1, model.n_iter_ + 1)]
    moves = np.linalg.norm(np.diff(ends, axis=0), axis=(1, 2))
    assert moves[-1] <= 1e-3 < moves[:-1].min()


# --- laziness and limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["plain", "rho", "l2", "penalised-constant", "batches-all"])
@pytest.mark.parametrize("estimator, loss", [(L1RDAClassifier, "logistic"), (L1RDARegressor, "squared")])
def test_a_long_sparse_stream_leaves_no_drift(estimator, loss, option):
    """20,000 rows in which a feature may be untouched for hundreds of steps: lazy weights are eager ones to 1e-12."""
    rng = np.random.default_rng(7)
    X = sparse.random_array((20_000, 300), density=0.005, rng=rng, format="csr", data_sampler=rng.normal)
    values = X @ rng.normal(size=300)
    y = np.where(values > 0, 1, -1) if estimator is L1RDAClassifier else values + 0.1
    given = OPTIONS[option] | {"alpha": 1e-3 if estimator is L1RDAClassifier else 2e-3}
    given |= {"rho": 0.01} if "rho" in given else {}
    model = learner(estimator, loss, **given).fit(X, y)
    w = last(twin(model, X.toarray(), y, close_after=[19_999]))[1]
    assert 20 < np.count_nonzero(w) < 280
    assert_agrees(model, w, rtol=1e-12, atol=1e-12 * np.abs(w).max())


def far_out():
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(300, 5))
    return X, X @ np.ones(5)


def test_divergence_is_refused_with_advice():
    with pytest.raises(FloatingPointError, match=r"L1RDARegressor: .*scale the features.*eta0"):
        L1RDARegressor(eta0=0.1, random_state=0).fit(*far_out())


@pytest.mark.parametrize("batch_size", [1, 2])
def test_divergence_in_the_last_step_is_refused_too(batch_size):
    """No later row has a score to notice it by."""
    X, y = np.array([[1e99], [1e99], [1e99]]), np.array([1e99, 1e99, 1e99])
    with pytest.raises(FloatingPointError, match="scale the features"):
        L1RDARegressor(eta0=0.1, fit_intercept=False, max_iter=1, shuffle=False, batch_size=batch_size).fit(X, y)


def test_a_fit_that_diverges_leaves_the_earlier_model_as_it_was(regression):
    X, y = regression
    model = L1RDARegressor(eta0=0.1, random_state=0).fit(X, y)
    before = {name: array.copy() for name, array in model.state_.arrays.items()}
    coef, predicted = model.coef_.copy(), model.predict(X)
    with pytest.raises(FloatingPointError):
        model.fit(*far_out())
    assert model.n_features_in_ == 12
    assert_array_equal(model.coef_, coef)
    assert_array_equal(model.predict(X), predicted)
    for name, array in before.items():
        assert_array_equal(model.state_.arrays[name], array)
