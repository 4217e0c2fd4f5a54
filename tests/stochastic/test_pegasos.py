"""PegasosClassifier and PegasosRegressor against their twin, and against the optimum of their objective."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import stochastic as reference
from reference.agreement import assert_weights, assert_weights_after_every_row, last, progressive, row_by_row
from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.losses import loss as find_loss
from reference.objectives import mean_loss, solve
from thresher._engine import LOSSES
from thresher.stochastic import PegasosClassifier, PegasosRegressor
from thresher.training import merge_models

ALPHAS = np.geomspace(0.02, 2.0, 12)  # one for each feature of the problems
CASES = [(PegasosClassifier, loss) for loss in FOR_CLASSES] + [(PegasosRegressor, loss) for loss in FOR_VALUES]
OPTIONS = {
    "plain": {},
    "no-constant": {"fit_intercept": False},
    "scaled-constant": {"intercept_scaling": 0.3},
    "free-constant": {"penalize_intercept": False, "intercept_scaling": 0.3},
    "no-projection": {"projection": False},
    "average": {"average": True},
    "late": {"average": "late", "intercept_scaling": 0.3},
    "late-free": {"average": "late", "penalize_intercept": False, "projection": False},
    "batches-late": {"batch_size": 7, "average": "late"},
    "alphas": {"alpha": ALPHAS, "average": True},
    "batches": {"batch_size": 7},
    "batches-average": {"batch_size": 7, "average": True, "intercept_scaling": 0.3},
    "batches-free": {"batch_size": 4, "penalize_intercept": False, "alpha": ALPHAS, "average": True},
    "free-no-projection": {"penalize_intercept": False, "projection": False, "average": True, "intercept_scaling": 2.0},
    "other-shape": {"tau": 0.2},
    "mean": {"intercept": "mean"},
    "mean-alphas": {"intercept": "mean", "alpha": ALPHAS, "projection": False},
    "mean-average": {"intercept": "mean", "average": True, "penalize_intercept": False},
    "mean-late": {"intercept": "mean", "average": "late"},
    "mean-batches": {"intercept": "mean", "batch_size": 7},
    "mean-batches-average": {"intercept": "mean", "batch_size": 4, "average": True, "alpha": ALPHAS},
    "batch-mean": {"intercept": "batch_mean", "batch_size": 7},
    "batch-mean-late": {"intercept": "batch_mean", "batch_size": 4, "average": "late"},
}
cases = pytest.mark.parametrize("estimator, loss", CASES, ids=[f"{e.__name__[7:]}-{loss}" for e, loss in CASES])
options = pytest.mark.parametrize("option", OPTIONS)


@pytest.fixture
def data(request, estimator):
    """The problem that fits the estimator."""
    return request.getfixturevalue("problem" if estimator is PegasosClassifier else "regression")


def learner(estimator, loss, **params):
    given = {"alpha": 0.1, "loss": loss, "max_iter": 1, "shuffle": False, "tau": 0.3, "intercept_scaling": 1.0}
    return estimator(**(given | params))


def twin(model, X, y, weight=None, close_after=(), calls=()):
    """The same parameters, on dense float64 data."""
    return reference.pegasos(
        X.astype(float),
        y,
        loss=model.loss,
        alpha=model.alpha,
        tau=model.tau,
        epsilon=getattr(model, "epsilon", 0.0),
        batch_size=model.batch_size,
        projection=model.projection,
        average=model.average,
        penalize_intercept=model.penalize_intercept,
        intercept=model.intercept_scaling if model.fit_intercept else 0.0,
        constant=model.intercept,
        weight=weight,
        close_after=close_after,
        calls=calls,
    )


def first_call(estimator):
    return {"classes": [-1, 1]} if estimator is PegasosClassifier else {}


def assert_agrees_row_by_row(model, X, y, layout, weight=None):
    steps = twin(model, X, y, weight, calls=range(1, len(y)))
    assert_weights_after_every_row(model, X, y, layout, steps, weight, **first_call(type(model)))


@cases
def test_pegasos_agrees_with_the_paper_step_by_step(data, layout, dtype, estimator, loss):
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
@pytest.mark.parametrize("option", ["plain", "batches-average", "batches-free", "mean", "batch-mean"])
def test_pegasos_agrees_with_the_paper_after_a_fit(data, layout, dtype, estimator, loss, option):
    X, y = data
    model = learner(estimator, loss, max_iter=2, **OPTIONS[option]).fit(layout(X.astype(dtype)), y)
    twice = np.tile(X.astype(dtype), (2, 1)), np.tile(y, 2)
    assert_weights(model, last(twin(model, *twice, close_after=[119], calls=[60]))[1])


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 8, 58])
def test_fit_closes_the_last_mini_batch_with_the_rows_it_has(problem, n_rows):
    X, y = problem[0][1 : 1 + n_rows], problem[1][1 : 1 + n_rows].copy()
    y[0] = -y[-1] if n_rows > 1 else y[0]
    model = learner(PegasosRegressor, "squared", batch_size=4).fit(X, y)
    assert_weights(model, last(twin(model, X, y, close_after=[n_rows - 1]))[1])
    assert model.coef_.any()


@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_goes_on_where_a_fit_closed(problem, average):
    X, y = problem
    model = learner(PegasosClassifier, "squared_hinge", batch_size=7, average=average).fit(X[:25], y[:25])
    model.partial_fit(X[25:40], y[25:40]).partial_fit(X[40:], y[40:])
    assert_weights(model, last(twin(model, X, y, close_after=[24]))[1])


@cases
@pytest.mark.parametrize("size", [7, 14, 10, 60])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_mini_batches_go_by_the_mean_of_their_rows_in_a_call(data, row_weights, form, estimator, loss, size):
    X, y = data
    present = np.flatnonzero(row_weights > 0)[:28]  # four mini-batches, and rows of weight 0 between them
    X, y, weight = X[: present[-1] + 1], y[: present[-1] + 1], row_weights[: present[-1] + 1]
    model = learner(estimator, loss, intercept="batch_mean", batch_size=7)
    calls = [0, *(present[k] for k in range(size, 28, size))]
    ends = [*calls[1:], len(y)]
    steps = list(twin(model, X, y, weight, calls=calls[1:]))
    for begin, end in zip(calls, ends, strict=True):
        first = first_call(estimator) if begin == 0 else {}
        model.partial_fit(form(X[begin:end]), y[begin:end], sample_weight=weight[begin:end], **first)
        assert_weights(model, steps[end - 1][1])
    expected = progressive([p for p, _ in steps], y, loss, weight, tau=0.3, epsilon=getattr(model, "epsilon", 0.0))
    assert_allclose(model.progressive_loss_, expected, rtol=1e-10)


@pytest.mark.parametrize("average", [False, True])
def test_a_feature_of_an_unfinished_mini_batch_is_not_yet_in_use(average):
    rng = np.random.default_rng(0)
    X, y = np.zeros((40, 40)), rng.normal(size=40)
    for i in range(40):
        X[i, : i + 1] = rng.normal(size=i + 1)  # row i brings feature i
    model = learner(PegasosRegressor, "squared", batch_size=7, average=average)
    for i, _ in enumerate(row_by_row(model, X, y, sparse.csr_array)):
        assert_array_equal(model.support_, np.arange((i + 1) // 7 * 7))


@cases
def test_the_small_problem_meets_the_ball_and_stays_inside_it(data, estimator, loss):
    """Both branches of the projection are exercised, in the loss's own radius."""
    X, y = data
    model = learner(estimator, loss)
    pull = find_loss(loss, 0.3, getattr(model, "epsilon", 0.0)).pull
    touching = 0
    for i, (_, w) in enumerate(twin(model, X, y)):
        radius = np.sqrt(np.mean([pull(target) for target in y[: i + 1]]) / 0.1)
        assert np.linalg.norm(w) <= radius * (1 + 1e-12)
        touching += np.linalg.norm(w) > radius * (1 - 1e-12)
    assert 0 < touching < len(y)


# --- what it converges to -------------------------------------------------------------------------------------------


def larger_problem(estimator):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(200, 5))
    values = X @ rng.normal(size=5) + rng.normal(size=200)
    return X, np.where(values > 0.3, 1, -1) if estimator is PegasosClassifier else 3 + 2 * values


@cases
@pytest.mark.parametrize("form", ["plain", "alphas", "free-constant"])
def test_the_averaged_iterate_approaches_the_optimum(estimator, loss, form):
    """Within 0.05 % of what there is to gain over w = 0, after 300 passes over 200 rows."""
    X, y = larger_problem(estimator)
    alpha = np.geomspace(0.05, 1.0, 5) if form == "alphas" else 0.2
    free = form == "free-constant"
    given = {"alpha": alpha, "average": True, "penalize_intercept": not free, "max_iter": 300}
    if LOSSES[loss].parameter == "epsilon" and LOSSES[loss].degree == 2:
        given["epsilon"] = 1.0  # with small slopes, a constant without a penalty takes long
    model = learner(estimator, loss, shuffle=True, random_state=0, **given).fit(X, y)
    epsilon = getattr(model, "epsilon", 0.0)
    A = np.append(np.broadcast_to(alpha, 5), 0 if free else np.mean(alpha))

    w = cp.Variable(6)
    objective = cp.sum(cp.multiply(A, cp.square(w))) / 2 + mean_loss(loss, X @ w[:5] + w[5], y, 0.3, epsilon)
    best = solve(objective)
    optimum = w.value.copy()
    w.value = np.zeros(6)
    start = objective.value
    w.value = np.append(model.coef_, model.intercept_)
    assert best - 1e-8 <= objective.value <= best + 5e-4 * (start - best)
    assert (A[:5] / 2 @ (w.value[:5] - optimum[:5]) ** 2) <= 5e-4 * (start - best) + 1e-8  # strong convexity


MEANS = ["mean", "mean-average", "mean-batches", "batch-mean"]


@pytest.mark.parametrize("option", MEANS)
def test_the_constant_is_what_the_means_leave(data_of_both, row_weights, option):
    X, y, estimator = data_of_both
    model = learner(estimator, "squared", max_iter=3, **OPTIONS[option]).fit(X, y, sample_weight=row_weights)
    residuals = y - X @ np.ravel(model.coef_)
    assert_allclose(np.ravel(model.intercept_), [np.average(residuals, weights=row_weights)], rtol=1e-10)


@pytest.fixture(params=[PegasosClassifier, PegasosRegressor])
def data_of_both(request):
    return *request.getfixturevalue("problem" if request.param is PegasosClassifier else "regression"), request.param


@pytest.mark.parametrize("option", MEANS)
def test_least_squares_by_means_is_ridge_regression_with_a_free_constant(option):
    X, y = larger_problem(PegasosRegressor)
    X, y, alpha = X + np.arange(5), y + 20, 0.2
    given = OPTIONS[option] | {"average": True, "alpha": alpha, "max_iter": 300}
    model = learner(PegasosRegressor, "squared", shuffle=True, random_state=0, **given).fit(X, y)
    if option == "batch-mean":  # rows differ less from the mean of their own mini-batch, by (k - 1) / k
        alpha *= 7 / 6
    centred = X - X.mean(axis=0)
    w = np.linalg.solve(centred.T @ centred / 200 + alpha * np.eye(5), centred.T @ (y - y.mean()) / 200)
    assert_allclose(model.coef_, w, rtol=0, atol=2e-2 * np.abs(w).max())
    assert_allclose(model.intercept_, y.mean() - X.mean(axis=0) @ w, rtol=5e-3)


@pytest.mark.parametrize("option", MEANS)
def test_merged_means_are_those_of_all_rows(problem, option):
    X, y = problem
    shards = [learner(PegasosClassifier, "hinge", **OPTIONS[option]) for _ in range(2)]
    for shard, part in zip(shards, (slice(0, 25), slice(25, 60)), strict=True):
        shard.partial_fit(X[part], y[part], classes=[-1, 1])
    merged = merge_models(shards)
    assert_allclose(merged.intercept_, [y.mean() - X.mean(axis=0) @ merged.coef_[0]], rtol=1e-10)
    again = merged.partial_fit(X[:14], y[:14])
    X, y = np.r_[X, X[:14]], np.r_[y, y[:14]]
    assert_allclose(again.intercept_, [y.mean() - X.mean(axis=0) @ again.coef_[0]], rtol=1e-10)


def test_chunks_of_a_pass_do_not_cut_mini_batches():
    """Several classes are learned 4,096 rows at a time, or a little more."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9_800, 3)), rng.integers(0, 3, 9_800)
    given = {"intercept": "batch_mean", "batch_size": 7}
    whole = learner(PegasosClassifier, "hinge", **given).partial_fit(X, y, classes=[0, 1, 2])
    parts = learner(PegasosClassifier, "hinge", **given)
    for begin in range(0, 9_800, 700):
        parts.partial_fit(X[begin : begin + 700], y[begin : begin + 700], classes=[0, 1, 2])
    assert_array_equal(whole.coef_, parts.coef_)
    assert_array_equal(whole.intercept_, parts.intercept_)


@pytest.mark.parametrize(
    "form, by_fit, unit",
    [(np.asarray, True, 1e6), (np.asarray, False, 1e6), (sparse.csr_array, True, 1e6), (sparse.csr_array, False, 1.0)],
    ids=str,
)
def test_means_follow_the_units_of_a_learner_that_chooses_its_penalty(form, by_fit, unit):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 5))
    y = unit * (X @ rng.normal(size=5) + 0.1 * rng.normal(size=3000) + 7)
    model = PegasosRegressor(intercept="mean", random_state=0)
    model.fit(form(X), y) if by_fit else model.partial_fit(form(X), y)
    assert model.score(form(X), y) > 0.95
    assert_allclose(model.intercept_, np.mean(y - X @ model.coef_), rtol=1e-9)
    labels = y > 7 * unit
    classifier = PegasosClassifier(intercept="mean", random_state=0)
    classifier.fit(form(X), labels) if by_fit else classifier.partial_fit(form(X), labels, classes=[False, True])
    assert classifier.score(form(X), labels) > 0.95


@pytest.mark.parametrize(
    "params, words",
    [
        ({"batch_size": 1}, 'batch_size must be at least 2 with intercept="batch_mean", got 1.'),
        ({"alpha": "auto"}, 'alpha must be a number with intercept="batch_mean", got "auto".'),
        ({"scale": True}, 'scale must be False with intercept="batch_mean", got True.'),
        ({"intercept": "mode"}, "intercept must be one of 'feature', 'mean', 'batch_mean', got 'mode'."),
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", [PegasosClassifier, PegasosRegressor])
def test_means_that_cannot_be_are_refused_in_one_sentence(problem, estimator, params, words):
    model = estimator(**({"alpha": 0.1, "batch_size": 7, "intercept": "batch_mean"} | params))
    with pytest.raises(ValueError) as refusal:
        model.fit(*problem)
    assert str(refusal.value) == f"{estimator.__name__}: {words}"


@cases
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("free", [False, True], ids=["penalised", "free"])
def test_the_ball_holds_the_optimum(estimator, loss, alpha, free):
    """|w*|_A^2 <= mean_i pull(y_i)"""
    X, y = larger_problem(estimator)
    A = alpha * np.append(np.geomspace(0.5, 2, 5), 0.0 if free else 1.0)
    w = cp.Variable(6)
    solve(cp.sum(cp.multiply(A, cp.square(w))) / 2 + mean_loss(loss, X @ w[:5] + w[5], y, 0.3, 0.1), 1e-7)
    assert A @ w.value**2 <= np.mean([find_loss(loss, 0.3, 0.1).pull(target) for target in y]) * (1 + 1e-4)


@pytest.mark.parametrize(
    "estimator, loss, y, p, slope",
    [
        (PegasosClassifier, "hinge", 1, 1.0, -1.0),
        (PegasosClassifier, "pinball", 1, 1.0, -1.0),
        (PegasosClassifier, "squared_hinge", 1, 0.5, -1.0),
        (PegasosClassifier, "modified_huber", 1, 0.5, -1.0),
        (PegasosClassifier, "logistic", 1, 1.2784645427610738, -0.21781170),
        (PegasosRegressor, "squared", 8.0, 4.0, -4.0),
        (PegasosRegressor, "epsilon_insensitive", -5.0, -4.9, 1.0),
        (PegasosRegressor, "quantile", 5.0, 5.0, -0.3),
        (PegasosRegressor, "quantile", -5.0, -5.0, 0.7),
    ],
)
def test_no_smaller_ball_would_do(estimator, loss, y, p, slope):
    """A row x with alpha p = -slope |x|^2, p the score of largest pull, has its optimum w = p / x on the sphere."""
    alpha = 0.1
    x = np.sqrt(-alpha * p / slope)
    pull = find_loss(loss, 0.3, 0.1).pull(y)
    assert_allclose(alpha * (p / x) ** 2, pull, rtol=1e-7)
    X, targets = np.full((3000, 1), x), np.full(3000, y)
    if estimator is PegasosClassifier:  # two classes: the same row, mirrored
        X[::2], targets[::2] = -x, -y
    model = learner(estimator, loss, alpha=alpha, fit_intercept=False, max_iter=5).fit(X, targets)
    assert_allclose(np.ravel(model.coef_), [p / x], rtol=2e-3)


# --- one alpha per feature ------------------------------------------------------------------------------------------


@cases
@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("average", [False, True])
def test_one_alpha_per_feature_is_plain_pegasos_on_rescaled_features(data, estimator, loss, batch_size, average):
    """w = A^(-1/2) w~ with w~ from alpha = 1 on x_j / sqrt(alpha_j), the constant with the mean of alpha"""
    X, y = data
    each = learner(estimator, loss, alpha=ALPHAS, batch_size=batch_size, average=average, max_iter=3)
    each.fit(sparse.csr_array(X), y)
    plain = learner(estimator, loss, alpha=1.0, batch_size=batch_size, average=average, max_iter=3)
    plain.set_params(intercept_scaling=1 / np.sqrt(ALPHAS.mean())).fit(sparse.csr_array(X / np.sqrt(ALPHAS)), y)
    assert_allclose(each.coef_, plain.coef_ / np.sqrt(ALPHAS), rtol=1e-12, atol=1e-14)
    assert_allclose(each.intercept_, plain.intercept_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_identity_holds_in_every_step_with_the_projection(problem, form):
    X, y = problem
    steps = {}
    for projection in (True, False):
        each = learner(PegasosClassifier, "hinge", alpha=ALPHAS, projection=projection, fit_intercept=False)
        plain = learner(PegasosClassifier, "hinge", alpha=1.0, projection=projection, fit_intercept=False)
        seen, truth = (
            np.array([model.coef_[0].copy() for _ in row_by_row(model, data, y, form, classes=[-1, 1])])
            for model, data in ((each, X), (plain, X / np.sqrt(ALPHAS)))
        )
        assert_allclose(np.sqrt(ALPHAS) * seen, truth, rtol=1e-12, atol=1e-13)
        steps[projection] = truth
    norms = np.linalg.norm(steps[True], axis=1)
    assert norms.max() <= 1 + 1e-12
    assert np.count_nonzero(norms > 1 - 1e-12) >= 3  # the ball was met,
    assert np.linalg.norm(steps[False], axis=1).max() > 1.5  # and would have been left without it


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_feature_of_infinite_alpha_is_left_out(problem, average, batch_size):
    X, y = problem
    kept = np.arange(12) % 3 != 1
    given = {"batch_size": batch_size, "average": average, "max_iter": 3}
    model = learner(PegasosClassifier, "hinge", alpha=np.where(kept, ALPHAS, np.inf), **given).fit(X, y)
    alone = learner(PegasosClassifier, "hinge", alpha=ALPHAS[kept], **given).fit(X[:, kept], y)
    assert_allclose(model.coef_[:, kept], alone.coef_, rtol=1e-10, atol=1e-13)
    assert_allclose(model.intercept_, alone.intercept_, rtol=1e-10, atol=1e-13)
    assert not model.coef_[:, ~kept].any()


@cases
@pytest.mark.parametrize("option", ["plain", "free-constant", "batches-average"])
def test_equal_alphas_are_one_alpha(data, estimator, loss, option):
    X, y = data
    one = learner(estimator, loss, **OPTIONS[option]).fit(X, y)
    each = learner(estimator, loss, **OPTIONS[option] | {"alpha": np.full(12, 0.1)}).fit(X, y)
    assert_allclose(each.coef_, one.coef_, rtol=1e-12, atol=1e-14)
    assert_allclose(each.intercept_, one.intercept_, rtol=1e-12, atol=1e-14)


# --- weights, classes, books ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["plain", "average", "alphas", "batches", "batches-free", "mean-late", "batch-mean"])
def test_a_row_of_weight_zero_changes_nothing(problem, row_weights, layout, option):
    X, y = problem
    present = row_weights > 0
    model = learner(PegasosClassifier, "hinge", max_iter=2, **OPTIONS[option])
    weighted = model.fit(layout(X), y, sample_weight=row_weights).state_
    without = model.fit(layout(X[present]), y[present], sample_weight=row_weights[present]).state_
    for name, array in without.arrays.items():
        assert_array_equal(weighted.arrays[name], array)


def test_class_weight_is_the_same_weight_on_each_row(problem, row_weights):
    X, y = problem
    by_class = learner(PegasosClassifier, "logistic", class_weight={-1: 0.5, 1: 3.0})
    by_row = learner(PegasosClassifier, "logistic")
    by_class.fit(X, y, sample_weight=row_weights)
    by_row.fit(X, y, sample_weight=row_weights * np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)


@cases
@pytest.mark.parametrize("option", ["plain", "batches", "free-constant"])
def test_progressive_loss_and_mistakes_are_those_of_the_twin(data, row_weights, estimator, loss, option):
    X, y = data
    for weight in (None, row_weights):
        model = learner(estimator, loss, **OPTIONS[option]).fit(X, y, sample_weight=weight)
        scores = np.array([p for p, _ in twin(model, X, y, weight)])
        present = np.ones(len(y), bool) if weight is None else weight > 0
        expected = progressive(scores, y, loss, weight, tau=0.3, epsilon=getattr(model, "epsilon", 0.0))
        assert_allclose(model.progressive_loss_, expected, rtol=1e-10)
        assert model.n_samples_seen_ == present.sum()
        if estimator is PegasosClassifier:
            assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])


@pytest.mark.parametrize("loss", FOR_CLASSES)
@pytest.mark.parametrize("option", ["plain", "batches-average"])
def test_several_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout, loss, option):
    X, y = three_classes
    model = learner(PegasosClassifier, loss, **OPTIONS[option]).fit(layout(X), y, sample_weight=row_weights)
    scores, losses = [], []
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        steps = list(twin(model, X, sign, row_weights, close_after=[59]))
        assert_allclose(model.coef_[k], steps[-1][1][:-1], rtol=1e-10, atol=1e-13)
        assert_allclose(model.intercept_[k], steps[-1][1][-1] * model.intercept_scaling, rtol=1e-10, atol=1e-13)
        scores.append([p for p, _ in steps])
        losses.append(progressive(scores[k], sign, loss, row_weights, tau=0.3))
    present = row_weights > 0
    if option == "plain":
        assert model.n_mistakes_ == np.count_nonzero((np.array(list("abc"))[np.argmax(scores, axis=0)] != y)[present])
        assert_allclose(model.progressive_loss_, np.mean(losses), rtol=1e-10)
    assert_array_equal(model.predict(layout(X)), np.array(list("abc"))[model.decision_function(layout(X)).argmax(1)])


@pytest.mark.parametrize("option", ["plain", "batches-free", "batch-mean"])
def test_threads_leave_no_trace(three_classes, option):
    X, y = three_classes
    one, two = (
        learner(PegasosClassifier, "hinge", max_iter=3, shuffle=True, random_state=0, n_jobs=n, **OPTIONS[option])
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
        model = learner(PegasosClassifier, "logistic", **OPTIONS[option]).fit(layout(data), y)
        expected = data.astype(float) @ model.coef_.T + model.intercept_
        assert_allclose(model.decision_function(layout(data)), expected.squeeze(), rtol=1e-12, atol=1e-14)


@options
def test_predicted_values_are_those_of_the_weights(regression, layout, option):
    X, y = regression
    model = learner(PegasosRegressor, "squared", **OPTIONS[option]).fit(layout(X), y)
    assert_allclose(model.predict(layout(X)), X @ model.coef_ + model.intercept_, rtol=1e-12, atol=1e-14)


# --- passes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size, n_steps, n_iter", [(1, 130, 3), (7, 5, 1), (7, 20, 3), (60, 2, 2), (100, 1, 2)])
def test_n_steps_counts_mini_batches(problem, batch_size, n_steps, n_iter):
    X, y = problem
    model = learner(PegasosClassifier, "hinge", n_steps=n_steps, batch_size=batch_size).fit(X, y)
    assert (model.n_samples_seen_, model.n_iter_) == (n_steps * batch_size, n_iter)
    rows = np.arange(n_steps * batch_size) % 60
    assert_weights(model, last(twin(model, X[rows], y[rows]))[1])


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("shuffle", [False, True])
def test_passes_are_steps_times_rows(problem, batch_size, shuffle):
    X, y = problem
    params = {"batch_size": batch_size, "shuffle": shuffle, "random_state": 5}
    by_passes = learner(PegasosClassifier, "hinge", max_iter=3, **params).fit(X, y)
    by_steps = learner(PegasosClassifier, "hinge", n_steps=180 // batch_size, **params).fit(X, y)
    assert_array_equal(by_steps.coef_, by_passes.coef_)
    assert by_steps.n_iter_ == by_passes.n_iter_ == 3


def test_every_pass_visits_every_row_once_in_a_new_order(problem):
    X, y = problem
    model = learner(PegasosClassifier, "squared", alpha=1.0, shuffle=True, random_state=0)
    once = model.fit(X, y).coef_
    assert np.abs(once - model.set_params(shuffle=False).fit(X, y).coef_).max() > 1e-6
    # Identical rows in any order are one pass of that row.
    same = np.ones((10, 1)), np.ones(10)
    one = learner(PegasosRegressor, "squared", shuffle=True, random_state=0, max_iter=3).fit(*same)
    assert_array_equal(one.coef_, one.set_params(shuffle=False).fit(*same).coef_)
    assert one.n_samples_seen_ == 30


def test_tol_stops_at_the_first_pass_that_moves_less(problem):
    X, y = problem
    model = learner(PegasosClassifier, "logistic", fit_intercept=False, max_iter=200, tol=3e-2).fit(X, y)
    assert 2 < model.n_iter_ < 200
    ends = [model.set_params(max_iter=k, tol=None).fit(X, y).coef_ for k in range(1, model.n_iter_ + 1)]
    moves = np.linalg.norm(np.diff(ends, axis=0), axis=(1, 2))
    assert moves[-1] <= 3e-2 < moves[:-1].min()


# --- laziness -------------------------------------------------------------------------------------------------------


def test_products_with_the_means_leave_no_drift():
    """The same stream in which nearly every row moves the means: 20,000 changes of a product are one product."""
    rng = np.random.default_rng(7)
    X = sparse.random_array((20_000, 300), density=0.02, rng=rng, format="csr", data_sampler=rng.normal)
    X.data += 1
    y = X @ rng.normal(size=300) + 50
    for option in MEANS[:-1]:
        model = learner(PegasosRegressor, "squared", **OPTIONS[option] | {"alpha": 0.1}).fit(X, y)
        assert_allclose(model.intercept_, np.mean(y - X @ model.coef_), rtol=1e-10)


@pytest.mark.parametrize("option", ["plain", "average", "free-constant", "batches-average", "alphas"])
@pytest.mark.parametrize("estimator, loss", [(PegasosClassifier, "logistic"), (PegasosRegressor, "squared")])
def test_a_long_sparse_stream_leaves_no_drift(estimator, loss, option):
    """20,000 rows in which a feature may be untouched for hundreds of steps: lazy weights are eager ones to 1e-12."""
    rng = np.random.default_rng(7)
    X = sparse.random_array((20_000, 300), density=0.005, rng=rng, format="csr", data_sampler=rng.normal)
    values = X @ rng.normal(size=300)
    y = np.where(values > 0, 1, -1) if estimator is PegasosClassifier else values + 0.1
    given = OPTIONS[option] | ({"alpha": np.geomspace(1e-3, 1, 300)} if option == "alphas" else {"alpha": 1e-2})
    model = learner(estimator, loss, **given).fit(X, y)
    w = last(twin(model, X.toarray(), y, close_after=[19_999]))[1]
    assert_weights(model, w, rtol=1e-12, atol=1e-12 * np.abs(w).max())


def test_steps_that_shrink_to_nothing_do_not_underflow():
    """One feature seen first and never again, beside 200,000 steps of another: its weight falls as 1 / t."""
    n = 200_000
    X = sparse.csr_array((np.ones(n), np.r_[0, np.ones(n - 1, int)], np.arange(n + 1)), shape=(n, 2))
    model = PegasosRegressor(
        1.0, loss="epsilon_insensitive", epsilon=0.0, fit_intercept=False, projection=False, max_iter=1, shuffle=False
    ).fit(X, np.full(n, 10.0))
    assert_allclose(model.coef_, [1 / n, (n - 1) / n], rtol=1e-9)
