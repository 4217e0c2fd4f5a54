"""Adaptive, FTRL and reweighted learners against eager twins: every option, layout and loss, lazy over long gaps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.agreement import assert_model, assert_same_course, gappy_stream, last, progressive
from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.sparse_learners import twin
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    AdaptiveL1RDARegressor,
    FTRLClassifier,
    FTRLRegressor,
    L1RDAClassifier,
    L1RDARegressor,
    ReweightedL1RDAClassifier,
    ReweightedL1RDARegressor,
    ReweightedL2RDAClassifier,
    ReweightedL2RDARegressor,
)

CLASSIFIERS = [AdaptiveL1RDAClassifier, FTRLClassifier, ReweightedL1RDAClassifier, ReweightedL2RDAClassifier]
REGRESSORS = [AdaptiveL1RDARegressor, FTRLRegressor, ReweightedL1RDARegressor, ReweightedL2RDARegressor]
CASES = [(e, loss) for e in CLASSIFIERS for loss in FOR_CLASSES] + [
    (e, loss) for e in REGRESSORS for loss in FOR_VALUES
]
GIVEN = {
    "L1RDA": {"alpha": 0.03, "eta0": 0.5},
    "AdaptiveL1RDA": {"alpha": 0.03, "eta0": 0.4, "smoothing": 0.3},
    "FTRL": {"eta0": 0.3, "beta": 1.0, "alpha": 1.5},
    "ReweightedL1RDA": {"alpha": 0.004, "eta0": 0.4, "smoothing": 0.08},
    "ReweightedL2RDA": {"alpha": 0.05, "smoothing": 0.5, "threshold": 0.04},
}
PENALISED = {"penalize_intercept": True, "intercept_scaling": 0.7}
OPTIONS = {
    "AdaptiveL1RDA": [
        *(PENALISED, {"l2_weight": 0.2}, {"l2_weight": 0.2} | PENALISED, {"alpha": 0.0}),
        *({"batch_size": 7}, {"batch_size": 4, "l2_weight": 0.2} | PENALISED),
    ],
    "FTRL": [PENALISED, {"l2": 0.5}, {"l2": 0.5} | PENALISED, {"alpha": 0.0}, {"beta": 0.0, "l2": 1.0}],
    "ReweightedL1RDA": [
        *(PENALISED, {"rho": 0.05}, {"rho": 0.05} | PENALISED, {"alpha": 0.0}),
        *({"batch_size": 7}, {"batch_size": 4, "rho": 0.02} | PENALISED),
    ],
    "ReweightedL2RDA": [
        *({"threshold": 0.0}, {"alpha": 1e-9}, {"alpha": 20.0, "threshold": 1e-3}),
        *({"batch_size": 7}, {"batch_size": 4, "fit_intercept": False, "threshold": 0.0}),
    ],
}
OPTION_CASES = [
    (cls, option)
    for cls in (*CLASSIFIERS, *REGRESSORS)
    for option in (
        {"fit_intercept": False},
        *OPTIONS[cls.__name__.removesuffix("Classifier").removesuffix("Regressor")],
    )
]
estimators = pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=lambda e: e.__name__)
IN_BATCHES = [e for e in CLASSIFIERS + REGRESSORS if "batch_size" in e().get_params()]
in_batches = pytest.mark.parametrize("estimator", IN_BATCHES, ids=lambda e: e.__name__)


def learner(estimator, loss=None, **params):
    """Parameters with which weights of the small problems come and go."""
    name = estimator.__name__.removesuffix("Classifier").removesuffix("Regressor")
    loss = loss or ("logistic" if classifies(estimator) else "squared")
    given = GIVEN[name] | {"loss": loss, "tau": 0.3, "max_iter": 1, "shuffle": False, "intercept_scaling": 0.3}
    return estimator(**(given | params))


def classifies(estimator):
    return estimator.__name__.endswith("Classifier")


def first_call(estimator):
    return {"classes": [-1, 1]} if classifies(estimator) else {}


def tolerance(estimator, rtol=1e-10, atol=1e-12):
    """Jumps of the reweighted l2 learner are exact to 1e-8, strides of the reweighted l1 learner to 1e-9."""
    if "L2" in estimator.__name__:
        return {"rtol": 1e-8, "atol": 1e-9, "band": 1e-8}
    return {"rtol": max(rtol, 1e-9) if "ReweightedL1" in estimator.__name__ else rtol, "atol": atol}


@pytest.fixture
def data(request, estimator):
    return request.getfixturevalue("problem" if classifies(estimator) else "regression")


def assert_course(model, X, y, layout, weight=None):
    cls = type(model)
    assert_same_course(model, X, y, layout, twin(model, X, y, weight), weight, **tolerance(cls), **first_call(cls))


# --- step by step ---------------------------------------------------------------------------------------------------


@estimators
def test_weights_after_every_row_are_the_twins(data, layout, dtype, estimator):
    X, y = data
    assert_course(learner(estimator), X.astype(dtype), y, layout)


@pytest.mark.parametrize("estimator, loss", CASES, ids=[f"{e.__name__}-{loss}" for e, loss in CASES])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_loss_agrees_step_by_step(data, form, estimator, loss):
    assert_course(learner(estimator, loss), *data, form)


@pytest.mark.parametrize("estimator, option", OPTION_CASES, ids=[f"{e.__name__}-{o}" for e, o in OPTION_CASES])
def test_every_option_agrees_step_by_step(data, row_weights, estimator, option):
    assert_course(learner(estimator, **option), *data, np.asarray)
    assert_course(learner(estimator, **option), *data, sparse.csr_array, row_weights)


@estimators
def test_two_passes_of_a_fit_are_the_twins(data, estimator, row_weights):
    X, y = data
    model = learner(estimator, max_iter=2).fit(sparse.csr_array(X), y, sample_weight=row_weights)
    w = last(twin(model, np.tile(X, (2, 1)), np.tile(y, 2), np.tile(row_weights, 2)))[1]
    assert_model(model, w, **tolerance(estimator))


@in_batches
@pytest.mark.parametrize("batch_size", [3, 16])
def test_mini_batches_agree_step_by_step(data, layout, dtype, row_weights, estimator, batch_size):
    X, y = data
    assert_course(learner(estimator, batch_size=batch_size), X.astype(dtype), y, layout)
    assert_course(learner(estimator, batch_size=batch_size), X.astype(dtype), y, layout, row_weights)


@in_batches
@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 58])
def test_fit_closes_the_last_mini_batch_with_the_rows_it_has(data, estimator, n_rows):
    X, y = (part[1 : 1 + n_rows] for part in data)
    y = np.append(y[:-1], -y[0]) if classifies(estimator) and n_rows > 1 else y  # two classes at least
    if classifies(estimator) and n_rows == 1:
        pytest.skip("one row has one class")
    model = learner(estimator, batch_size=4, alpha=1e-4).fit(X, y)
    assert_model(model, last(twin(model, X, y, close_after=[n_rows - 1]))[1], **tolerance(estimator))
    assert model.coef_.any()


@in_batches
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_partial_fit_goes_on_where_a_fit_closed(data, form, estimator):
    X, y = data
    model = learner(estimator, batch_size=7, max_iter=2).fit(form(X[:25]), y[:25])  # the 8th mini-batch has one row
    model.partial_fit(form(X[25:40]), y[25:40]).partial_fit(form(X[40:]), y[40:])
    rows = np.r_[:25, :25, 25:60]
    assert_model(model, last(twin(model, X[rows], y[rows], close_after=[49]))[1], **tolerance(estimator))


@in_batches
def test_a_mini_batch_of_equal_rows_is_one_row(data, estimator):
    X, y = data
    one, five = learner(estimator), learner(estimator, batch_size=5)
    one.fit(X, y)
    five.fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    near = tolerance(estimator, rtol=1e-9)
    assert_allclose(five.coef_, one.coef_, rtol=near["rtol"], atol=near["atol"])
    assert_allclose(five.intercept_, one.intercept_, rtol=near["rtol"], atol=near["atol"])


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)
def test_the_small_problem_has_weights_that_come_and_go(problem, estimator):
    sizes = [np.count_nonzero(w[:-1]) for _, w in twin(learner(estimator), *problem)]
    assert 0 < sizes[-1] < 10  # of 12, two of which are empty
    assert min(np.diff(sizes)) < 0 < max(np.diff(sizes))


# --- books, classes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator, loss", CASES, ids=[f"{e.__name__}-{loss}" for e, loss in CASES])
def test_progressive_loss_and_mistakes_are_the_twins(data, row_weights, estimator, loss):
    X, y = data
    for weight in (None, row_weights):
        model = learner(estimator, loss).fit(X, y, sample_weight=weight)
        scores = np.array([score for score, _ in twin(model, X, y, weight)])
        present = np.ones(len(y), bool) if weight is None else weight > 0
        expected = progressive(scores, y, loss, weight, tau=model.tau, epsilon=getattr(model, "epsilon", 0.0))
        assert_allclose(model.progressive_loss_, expected, rtol=tolerance(estimator)["rtol"])
        assert model.n_samples_seen_ == present.sum()
        if classifies(estimator):
            assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)
def test_class_weight_is_the_same_weight_on_each_row(problem, row_weights, estimator):
    X, y = problem
    model = learner(estimator, class_weight={-1: 0.5, 1: 3.0}).fit(X, y, sample_weight=row_weights)
    weight = row_weights * np.where(y == 1, 3.0, 0.5)
    assert_model(model, last(twin(model, X, y, weight))[1], **tolerance(estimator))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)
def test_three_classes_are_learned_one_against_the_rest(three_classes, row_weights, layout, estimator):
    X, y = three_classes
    model = learner(estimator).fit(layout(X), y, sample_weight=row_weights)
    near = tolerance(estimator)
    scores, losses = [], []
    for k, label in enumerate("abc"):
        sign = np.where(y == label, 1, -1)
        steps = list(twin(model, X, sign, row_weights))
        assert_allclose(model.coef_[k], steps[-1][1][:-1], rtol=near["rtol"], atol=near["atol"])
        assert_array_equal(model.coef_[k] == 0, steps[-1][1][:-1] == 0)
        assert_allclose(model.intercept_[k], 0.3 * steps[-1][1][-1], rtol=near["rtol"], atol=near["atol"])
        scores.append([score for score, _ in steps])
        losses.append(progressive(scores[k], sign, model.loss, row_weights))
    present = row_weights > 0
    assert model.n_mistakes_ == np.count_nonzero((np.array(list("abc"))[np.argmax(scores, axis=0)] != y)[present])
    assert_allclose(model.progressive_loss_, np.mean(losses), rtol=near["rtol"])


# --- lazy = eager ---------------------------------------------------------------------------------------------------

STREAMED = {
    L1RDAClassifier: [{"alpha": 1e-3, "rho": 1e-3}],
    L1RDARegressor: [{"alpha": 2e-3, "l2_weight": 0.02}],
    AdaptiveL1RDAClassifier: [{"alpha": 1e-3}, {"alpha": 1e-3, "l2_weight": 1e-3} | PENALISED],
    AdaptiveL1RDARegressor: [{"alpha": 2e-3}, {"alpha": 2e-3, "batch_size": 5}],
    FTRLClassifier: [{"alpha": 1.5}, {"alpha": 1.5, "l2": 0.5} | PENALISED],
    FTRLRegressor: [{"alpha": 3.0}],
    ReweightedL1RDAClassifier: [
        {"alpha": 1e-4},
        {"alpha": 1e-4, "rho": 1e-3} | PENALISED,
        {"alpha": 1e-6, "smoothing": 1e-4},
        {"alpha": 1e-4, "batch_size": 5},
    ],
    ReweightedL1RDARegressor: [{"alpha": 3e-4, "eta0": 0.2}, {"alpha": 0.1, "smoothing": 100.0, "eta0": 0.2}],
    ReweightedL2RDAClassifier: [
        {"alpha": 1e-3, "smoothing": 10.0, "threshold": 0.2},
        {"alpha": 1e-3, "smoothing": 0.01, "threshold": 1e-4},
        {"alpha": 1e-12, "smoothing": 20.0, "threshold": 0.2},
        {"alpha": 1e-3, "smoothing": 10.0, "threshold": 0.2, "batch_size": 5},
    ],
    ReweightedL2RDARegressor: [{"alpha": 0.3, "threshold": 1e-3}, {"alpha": 0.1, "smoothing": 10.0, "threshold": 0.02}],
}
STREAM_CASES = [(e, option) for e, options in STREAMED.items() for option in options]


@pytest.mark.parametrize("estimator, option", STREAM_CASES, ids=[f"{e.__name__}-{o}" for e, o in STREAM_CASES])
def test_lazy_weights_are_eager_ones_over_long_gaps(estimator, option):
    X, scores = gappy_stream()
    X = 20 * X if estimator is ReweightedL2RDAClassifier else X  # weights for which the recursion bends
    y = np.where(scores > 0, 1, -1) if classifies(estimator) else scores
    model = learner(estimator, **option)
    ends = [1, 2, 40, 64, 65, 700, 1999, 2600, 3000]
    steps = list(twin(model, X.toarray(), y, looks=[end - 1 for end in ends]))
    sizes = []
    for begin, end in zip([0, *ends], ends, strict=False):
        model.partial_fit(X[begin:end], y[begin:end], **(first_call(estimator) if begin == 0 else {}))
        w = steps[end - 1][1]
        assert_model(model, w, **tolerance(estimator, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(w).max())))
        sizes.append(np.count_nonzero(w[:-1]))
    assert 10 < sizes[-1] < 270
    expected = progressive([score for score, _ in steps], y, model.loss)
    assert_allclose(model.progressive_loss_, expected, rtol=1e-8)


# --- limits ---------------------------------------------------------------------------------------------------------


OUTGROWN = [(e, {}) for e in REGRESSORS]
OUTGROWN += [(e, o) for e in REGRESSORS[:3] for o in ({"debias": True}, {"n_features_to_select": 2})]


@pytest.mark.parametrize("estimator, options", OUTGROWN, ids=[f"{e.__name__}-{o}" for e, o in OUTGROWN])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_batch_that_outgrows_floating_point_is_refused_and_leaves_no_trace(regression, estimator, form, options):
    X, y = regression
    model = learner(estimator, **options).partial_fit(form(X), y)
    before = {name: array.copy() for name, array in model.state_.arrays.items()}
    bad = np.zeros((70, 12))
    bad[:, 2] = 1e90
    bad[:, 5] = np.arange(70) - 3
    advice = rf"{estimator.__name__}: the weights overflowed .*scale the features.*{model._shorter_steps}"
    with pytest.raises(FloatingPointError, match=advice):
        model.partial_fit(form(bad), np.full(70, 1e90) * (-1.0) ** np.arange(70))
    for name, array in before.items():
        assert_array_equal(model.state_.arrays[name], array)
    again = learner(estimator, **options).partial_fit(form(X), y)
    assert_array_equal(model.partial_fit(form(X), y).coef_, again.partial_fit(form(X), y).coef_)


@pytest.mark.parametrize(
    "estimator, params, words",
    [
        (AdaptiveL1RDAClassifier, {"alpha": -1}, 'alpha must be a number of at least 0 or "auto", got -1.'),
        (AdaptiveL1RDARegressor, {"smoothing": 0.0}, "smoothing must be a number of at least 1e-100, got 0.0."),
        (AdaptiveL1RDAClassifier, {"eta0": 0}, 'eta0 must be a number above 0 or "auto", got 0.'),
        (AdaptiveL1RDARegressor, {"l2_weight": -0.5}, "l2_weight must be a number of at least 0, got -0.5."),
        (AdaptiveL1RDAClassifier, {"debias": 1}, "debias must be True or False, got 1."),
        (
            AdaptiveL1RDAClassifier,
            {"n_features_to_select": 0},
            "n_features_to_select must be an integer of at least 1 or None, got 0.",
        ),
        (
            AdaptiveL1RDARegressor,
            {"n_features_to_select": 2.5},
            "n_features_to_select must be an integer of at least 1 or None, got 2.5.",
        ),
        (FTRLClassifier, {"eta0": 0.0}, 'eta0 must be a number above 0 or "auto", got 0.0.'),
        (FTRLClassifier, {"beta": -1.0}, 'beta must be a number of at least 0 or "auto", got -1.0.'),
        (FTRLRegressor, {"beta": 0.0}, "beta must be a number above 0 when l2 is 0, got 0.0."),
        (FTRLRegressor, {"alpha": -1e-9}, 'alpha must be a number of at least 0 or "auto", got -1e-09.'),
        (FTRLClassifier, {"l2": float("nan")}, "l2 must be a number of at least 0, got nan."),
        (FTRLClassifier, {"penalize_intercept": None}, "penalize_intercept must be True or False, got None."),
        *(
            (cls, {"debias": True, "batch_size": 2}, "debias must be False with batch_size above 1, got True.")
            for cls in (L1RDAClassifier, AdaptiveL1RDARegressor, ReweightedL1RDAClassifier)
        ),
        (ReweightedL2RDAClassifier, {"batch_size": 0}, "batch_size must be an integer of at least 1, got 0."),
        (ReweightedL1RDAClassifier, {"alpha": -1e-3}, 'alpha must be a number of at least 0 or "auto", got -0.001.'),
        (ReweightedL1RDARegressor, {"rho": -1}, "rho must be a number of at least 0, got -1."),
        (ReweightedL1RDAClassifier, {"smoothing": -1}, "smoothing must be a number of at least 1e-100, got -1."),
        (ReweightedL2RDAClassifier, {"alpha": 0.0}, "alpha must be a number above 0, got 0.0."),
        (ReweightedL2RDARegressor, {"smoothing": 0}, 'smoothing must be a number of at least 1e-100 or "auto", got 0.'),
        (ReweightedL2RDAClassifier, {"threshold": -1}, "threshold must be a number of at least 0, got -1."),
    ],
    ids=str,
)
def test_parameters_are_refused_in_one_sentence(estimator, params, words):
    model = estimator(**params)
    for act in (model.fit, model.partial_fit):
        with pytest.raises(ValueError) as refusal:
            act(np.eye(3), [1, -1, 1])
        assert str(refusal.value) == f"{estimator.__name__}: {words}"
    assert not hasattr(model, "state_")
