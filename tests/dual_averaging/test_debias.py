"""debias: a second learner without an l1 penalty weighs the features that the first one has in use."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from reference.agreement import assert_model, assert_same_course, gappy_stream, last, progressive
from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.sparse_learners import twin
from thresher import onepass
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    AdaptiveL1RDARegressor,
    FTRLClassifier,
    FTRLRegressor,
    L1RDAClassifier,
    L1RDARegressor,
    ReweightedL1RDAClassifier,
    ReweightedL1RDARegressor,
)

GIVEN = {
    "L1RDA": {"alpha": 0.03, "eta0": 0.5},
    "AdaptiveL1RDA": {"alpha": 0.03, "eta0": 0.4, "smoothing": 0.3},
    "FTRL": {"eta0": 0.3, "beta": 1.0, "alpha": 1.5},
    "ReweightedL1RDA": {"alpha": 0.004, "eta0": 0.4, "smoothing": 0.08},
}
CLASSIFIERS = [L1RDAClassifier, AdaptiveL1RDAClassifier, FTRLClassifier, ReweightedL1RDAClassifier]
REGRESSORS = [L1RDARegressor, AdaptiveL1RDARegressor, FTRLRegressor, ReweightedL1RDARegressor]
PENALISED = {"penalize_intercept": True, "intercept_scaling": 0.7}
CASES = [(e, {"loss": loss}) for e in CLASSIFIERS for loss in FOR_CLASSES]
CASES += [(e, {"loss": loss}) for e in REGRESSORS for loss in FOR_VALUES]
CASES += [(e, PENALISED) for e in CLASSIFIERS] + [(e, {"fit_intercept": False}) for e in CLASSIFIERS]
CASES += [
    (L1RDAClassifier, {"rho": 0.05, "l2_weight": 0.2}),
    (AdaptiveL1RDAClassifier, {"l2_weight": 0.2} | PENALISED),
    (FTRLClassifier, {"l2": 0.5, "beta": 0.0}),
    (ReweightedL1RDAClassifier, {"rho": 0.05}),
]
cases = pytest.mark.parametrize("estimator, options", CASES, ids=[f"{e.__name__}-{o}" for e, o in CASES])
classifiers = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)


def name(estimator):
    return estimator.__name__.removesuffix("Classifier").removesuffix("Regressor")


def learner(estimator, debias=True, **options):
    given = GIVEN[name(estimator)] | {"tau": 0.3, "max_iter": 1, "shuffle": False, "intercept_scaling": 0.3}
    return estimator(**(given | {"debias": debias} | options))


@pytest.fixture
def data(request, estimator):
    return request.getfixturevalue("problem" if estimator in CLASSIFIERS else "regression")


def first_call(estimator):
    return {"classes": [-1, 1]} if estimator in CLASSIFIERS else {}


@cases
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_debiased_weights_are_the_twins_after_every_row(data, row_weights, estimator, options, form):
    X, y = data
    for weight in (None, row_weights):
        model = learner(estimator, **options)
        assert_same_course(model, X, y, form, twin(model, X, y, weight), weight, **first_call(estimator))


@cases
def test_progressive_loss_and_mistakes_are_of_what_predicts(data, row_weights, estimator, options):
    X, y = data
    for weight in (None, row_weights):
        model = learner(estimator, **options)
        model.partial_fit(X, y, sample_weight=weight, **first_call(estimator))
        scores = np.array([score for score, _ in twin(model, X, y, weight)])
        expected = progressive(scores, y, model.loss, weight, tau=0.3, epsilon=getattr(model, "epsilon", 0.0))
        assert_allclose(model.progressive_loss_, expected, rtol=1e-10)
        if estimator in CLASSIFIERS:
            present = slice(None) if weight is None else weight > 0
            assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[present])


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=lambda e: e.__name__)
def test_the_first_learner_does_not_notice_the_second(data, estimator):
    """It is the learner without debias; its support is that of the model, as far as the second met it."""
    X, y = data
    plain, model = learner(estimator, debias=False), learner(estimator)
    for i in range(len(y)):
        for either in (plain, model):
            either.partial_fit(X[[i]], y[[i]], **(first_call(estimator) if i == 0 else {}))
        second = next(a for n, a in model.state_.arrays.items() if n.startswith("debiased"))[0, :-1]
        assert_array_equal(model.support_, plain.support_[second[plain.support_] != 0])
    for either in (plain, model):  # lazy sums may stand at different steps
        onepass.learner(either, 12).settle(either.state_)
    for field, array in plain.state_.arrays.items():
        if field not in ("tally", "n_mistakes", "score_bins", "score_clock", "score_drift"):
            assert_allclose(model.state_.arrays[field], array, rtol=1e-13)
    assert plain.support_.size > 0
    assert not np.allclose(plain.coef_, model.coef_)


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=lambda e: e.__name__)
def test_without_sparsity_the_second_learner_is_the_first(data, estimator):
    """From the same sums on: a feature is in use once the first learner knows it, so it starts one occurrence late."""
    X, y = data[0][:, [0, 1, 3, 4]], data[1]
    none = {"alpha": 0.0}
    model = learner(estimator, **none).partial_fit(X[:30], y[:30], **first_call(estimator))
    view = model.state_.view(0)
    pairs = {"debiased_" + field: field for field in view if "debiased_" + field in view}
    assert pairs
    for second, first in pairs.items():
        assert not np.array_equal(view[second], view[first])
        view[second][...] = view[first]
    model.partial_fit(X[30:], y[30:])
    for second, first in pairs.items():
        assert_allclose(view[second], view[first], rtol=1e-13)
    plain = learner(estimator, debias=False, **none).partial_fit(X, y, **first_call(estimator))
    assert_allclose(model.coef_, plain.coef_, rtol=1e-12)


@classifiers
def test_a_feature_is_weighed_from_the_row_on_that_finds_it_in_use(estimator):
    """Hinge, one feature: the first row puts it in use, the second is the first that the second learner counts."""
    model = learner(estimator, fit_intercept=False, loss="hinge")
    steps = []
    for _ in range(3):
        model.partial_fit([[2.0]], [1], classes=[-1, 1])
        steps.append(float(next(a for n, a in model.state_.arrays.items() if n.startswith("debiased"))[0, 0]))
    assert steps[0] == 0
    assert steps[1] != 0
    assert model.coef_[0, 0] != 0


@classifiers
def test_a_debiased_long_stream_leaves_no_drift(estimator):
    X, scores = gappy_stream(seed=3)
    y = np.where(scores > 0, 1, -1)
    alpha = {FTRLClassifier: 2.0, ReweightedL1RDAClassifier: 2e-4}.get(estimator, 2e-3)
    model = learner(estimator, alpha=alpha)
    for begin in range(0, 3000, 500):
        model.partial_fit(X[begin : begin + 500], y[begin : begin + 500], classes=[-1, 1])
    w = last(twin(model, X.toarray(), y, looks=[2999]))[1]
    assert_model(model, w, rtol=1e-11, atol=1e-12 * np.abs(w).max())
    assert 5 < np.count_nonzero(w[:-1]) < 250


def test_debiasing_undoes_the_shrinkage():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 20))
    y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=4000)
    plain = AdaptiveL1RDARegressor(0.3, max_iter=1, shuffle=False).fit(X, y)
    model = AdaptiveL1RDARegressor(0.3, max_iter=1, shuffle=False, debias=True).fit(X, y)
    assert_array_equal(model.support_, plain.support_)
    truth = np.array([2.0, -1.0])
    assert np.abs(model.coef_[[3, 7]] - truth).max() < 0.05
    assert np.abs(plain.coef_[[3, 7]] - truth).max() > 0.2


@pytest.mark.parametrize("debias", [False, True])
@pytest.mark.parametrize("kind", [L1RDAClassifier, AdaptiveL1RDAClassifier, FTRLClassifier, ReweightedL1RDAClassifier])
def test_merged_and_changed_models_learn_from_the_weights_they_predict_with(problem, kind, debias):
    X, y = problem
    model = kind(debias=debias, loss="logistic", max_iter=1, shuffle=False)
    shards = [onepass.learner(model, X.shape[1]).new_state(X.shape[1]) for _ in range(3)]
    learner, next_row = onepass.learner(model, X.shape[1]), onepass.rows(X[40:41])
    for part, state in zip((slice(0, 20), slice(20, 40)), shards[1:], strict=True):
        learner.learn(onepass.Lesson(onepass.rows(X[part]), onepass.Target(y[part].astype(float))), state)
    merged = learner.merge(shards[0], shards[1:], [1.0, 1.0])
    changed = shards[1].copy()
    other = onepass.learner(clone(model).set_params(alpha=1e-3), X.shape[1])
    learner.settle(changed)
    other.rebuild(changed)
    for rule, state in ((learner, merged), (other, changed)):
        predicted, margin = rule.scores(next_row, state)[0, 0], np.empty(1)
        rule.learn(onepass.Lesson(next_row, onepass.Target(y[40:41].astype(float)), margins=margin), state)
        assert predicted != 0
        assert_allclose(margin[0], predicted, rtol=1e-12)
