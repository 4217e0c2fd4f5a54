"""BCW in rounds over shards: the batch of all rows, whose mean meets the conditions of the best one."""

from __future__ import annotations

import contextlib
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from reference import rounds as reference
from reference.online import with_constant
from thresher._engine import ShardFacts, add
from thresher.confidence import BCWClassifier
from thresher.confidence._batch_newton import Evaluate
from variants import assert_same_bits

CUTS = (11, 37, 40)
centres = pytest.mark.parametrize("centre", ["previous", "kl", "zero"])
losses = pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
constants = pytest.mark.parametrize("scaling", [0.0, 0.7], ids="constant={}".format)


def learner(scaling=0.0, **params):
    given = {
        "C": 0.6,
        "scale": False,
        "fit_intercept": scaling > 0,
        "intercept_scaling": scaling or 1.0,
        "gap_tol": 1e-7,
    } | params
    return BCWClassifier(**given)


def one_machine(model, X, y, weight):
    """The same rows as one batch, solved closely."""
    other = BCWClassifier(**model.get_params()).set_params(batch_size=len(y), max_inner_iter=2000, gap_tol=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return other.partial_fit(X, y, np.unique(y), weight)


def known(model):
    return model.state_.arrays["precision"][0].copy(), model.state_.arrays["coef"][0].T.copy()


def problems(model, X, y, weight, before):
    """Of every class: the rows that are there with their signs and costs, and what the mean is held to."""
    present = weight > 0
    rows = with_constant(X[present], model.intercept_scaling if model.fit_intercept else 0.0)
    precision = before[0] if model.centre == "kl" else known(model)[0]
    classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    for label, mean, start in zip(classes, known(model)[1], before[1], strict=True):
        sign = np.where(y[present] == label, 1.0, -1.0)
        yield mean, rows, sign, model.C * weight[present], precision, 0 * start if model.centre == "zero" else start


@centres
@constants
def test_two_rounds_meet_the_conditions_of_the_squared_hinge(
    three_classes, row_weights, layout, dtype, centre, scaling
):
    X, y = three_classes
    X = X.astype(dtype).astype(float)
    model = reference.begun(learner(scaling, centre=centre), X.shape[1], ["a", "b", "c"])
    for weight in (row_weights, row_weights[::-1]):
        before = known(model)
        reference.play(model, layout(X.astype(dtype)), y, weight, CUTS)
        rows = with_constant(X[weight > 0], scaling)
        assert_allclose(known(model)[0], before[0] + 0.6 * rows.T @ rows, rtol=1e-12, atol=1e-13)
        for problem in problems(model, X, y, weight, before):
            assert_allclose(reference.slope_of_squares(*problem), 0, atol=1e-11)
        assert model.gap_ <= 1e-18


@losses
@constants
def test_books_and_means_are_those_of_one_batch_of_all_rows(three_classes, row_weights, loss, scaling):
    X, y = three_classes
    y = y[::-1]  # the first rows are not all of one class
    model = learner(scaling, loss=loss)
    one = one_machine(model, X, y, row_weights)
    reference.play(model, sparse.csr_array(X), y, row_weights, CUTS)
    assert_allclose(model.coef_, one.coef_, atol=1e-7 if loss == "squared_hinge" else 1e-4)
    assert_allclose(model.intercept_, one.intercept_, atol=1e-7 if loss == "squared_hinge" else 1e-4)
    assert_allclose(model.state_.arrays["precision"], one.state_.arrays["precision"], rtol=1e-12, atol=1e-14)
    assert_allclose(model.state_.arrays["pull"], one.state_.arrays["pull"], atol=1e-7 if loss != "hinge" else 1e-3)
    assert_allclose(model.state_.arrays["tally"], one.state_.arrays["tally"], rtol=1e-12)
    for name in ("n_mistakes_", "n_samples_seen_", "n_updates_"):
        assert getattr(model, name) == getattr(one, name) > 0
    second = one_machine(model, X, y, row_weights).partial_fit(X, y, sample_weight=row_weights)
    reference.play(model, X, y, row_weights, CUTS)
    assert model.n_mistakes_ == second.n_mistakes_
    assert_allclose(model.progressive_loss_, second.progressive_loss_, rtol=1e-4)


@centres
@pytest.mark.parametrize("gap_tol", [1e-3, 1e-8])
def test_the_hinge_is_as_close_as_its_gap(problem, row_weights, centre, gap_tol):
    X, y = problem
    model = reference.begun(learner(0.7, loss="hinge", centre=centre, gap_tol=gap_tol), X.shape[1], [-1, 1])
    before = known(model)
    reference.play(model, X, y, row_weights, CUTS)
    exact = reference.begun(learner(0.7, loss="hinge", centre=centre, gap_tol=1e-10), X.shape[1], [-1, 1])
    reference.play(exact, X, y, row_weights, CUTS)
    (mean, *given), (best, *_) = (next(problems(m, X, y, row_weights, before)) for m in (model, exact))
    value, least = reference.hinge_value(mean, *given), reference.hinge_value(best, *given)
    assert -1e-9 <= value - least <= model.gap_ * value + 1e-9 <= gap_tol * value + 1e-9
    assert 0.5 * (mean - best) @ given[3] @ (mean - best) <= 2 * model.gap_ * value + 1e-9


@losses
def test_the_best_mean_is_that_of_a_general_solver(problem, row_weights, loss):
    import cvxpy as cp

    X, y = problem
    model = reference.begun(learner(0.7, loss=loss, gap_tol=1e-10), X.shape[1], [-1, 1])
    before = known(model)
    reference.play(model, X, y, row_weights, CUTS)
    mean, rows, sign, cost, precision, centre = next(problems(model, X, y, row_weights, before))
    m = cp.Variable(len(mean))
    slack = cp.pos(1 - cp.multiply(sign, rows @ m))
    paid = cost @ slack if loss == "hinge" else 0.5 * (cost @ slack**2)
    cp.Problem(cp.Minimize(0.5 * cp.quad_form(m - centre, precision) + paid)).solve(solver="CLARABEL")
    assert_allclose(mean, m.value, atol=1e-4)


@pytest.mark.parametrize("class_weight", [{"a": 3.0, "c": 0.0}, "balanced"])
def test_weights_of_classes_are_those_of_one_machine(three_classes, row_weights, class_weight):
    X, y = three_classes
    options = {"batch_size": 60, "max_inner_iter": 2000, "gap_tol": 1e-15, "shuffle": False}
    one = learner(1.0, class_weight=class_weight, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one.fit(X, y, row_weights)
    model = reference.begun(learner(1.0), X.shape[1], ["a", "b", "c"]).set_params(class_weight=class_weight)
    reference.play(model, X, y, row_weights, CUTS)
    assert_allclose(model.coef_, one.coef_, atol=1e-8)
    assert_allclose(model.precision_, one.precision_, rtol=1e-12, atol=1e-14)
    assert_allclose(model.state_.arrays["tally"], one.state_.arrays["tally"], rtol=1e-12)


def test_a_round_is_replayed_from_the_totals_it_was_sent(problem):
    X, y = problem
    models = [reference.begun(learner(0.7, loss="hinge"), X.shape[1], [-1, 1]) for _ in range(2)]
    reference.play(models[0], X, y)
    before = pickle.dumps(models[1])
    steps, totals, question = models[1]._round(ShardFacts(60, X.shape[1])), [None], None
    for _ in range(4):
        question = steps.send(totals[-1])
        totals.append(add(None, pickle.loads(pickle.dumps(question)).answer(X, y, None)))
    assert pickle.dumps(models[1]) == before  # nothing changes before the end
    again = models[1]._round(ShardFacts(60, X.shape[1]))
    for total in totals[:-1]:
        question = again.send(total)
    total = totals[-1]
    with contextlib.suppress(StopIteration):
        while True:
            total = again.send(total).answer(X, y, None)
    assert_same_bits(models[0].state_, models[1].state_)


def test_the_objective_never_rises_and_few_questions_suffice(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) * np.logspace(-2, 1, 30)
    y = np.where(X @ rng.normal(size=30) + 3 * rng.normal(size=400) > 0, 1, -1)
    asked = []
    answer = Evaluate.answer

    def listen(self, *batch):
        sums = answer(self, *batch)
        asked.append((self.places[0].coef + self.places[0].move, sums["paid 0"]))
        return sums

    monkeypatch.setattr(Evaluate, "answer", listen)
    model = reference.play(learner(1.0, C=10.0), X, y)
    precision = model.state_.arrays["precision"][0]
    along = [0.5 * m @ precision @ m + paid for m, paid in asked]
    assert len(asked) <= 8
    assert (np.diff(along) <= 1e-12 * along[0]).all()


def test_rows_of_weight_0_alone_change_nothing(problem):
    X, y = problem
    model = reference.begun(learner(), X.shape[1], [-1, 1])
    before = pickle.dumps(model.state_)
    reference.play(model, X, y, np.zeros(60))
    assert pickle.dumps(model.state_) == before


def test_what_cannot_be_asked_is_refused_and_changes_nothing(problem, monkeypatch):
    monkeypatch.setattr("thresher._gate._rules.HUGE", 1e308)  # what the door would stop
    X, y = problem
    model = reference.begun(learner(), X.shape[1], [-1, 1])
    before = pickle.dumps(model.state_)
    wrong = np.where(np.arange(60) == 3, np.nan, X[:, 0])[:, None] * X
    for rows, labels, said in ((X[:, :-1][:, [0] * 40], y, "features"), (X, y + 5, "among classes"), (wrong, y, "NaN")):
        with pytest.raises(ValueError, match=said):
            reference.play(model, rows, labels)
    with pytest.raises(FloatingPointError, match="BCWClassifier: the weights overflowed in a round"):
        reference.play(model.set_params(C=1e200), 1e60 * X, y)
    assert pickle.dumps(model.state_) == before


def test_a_gap_that_is_not_reached_is_said(problem, monkeypatch):
    monkeypatch.setattr("thresher.confidence._batch_newton.MOST_QUESTIONS", 3)
    with pytest.warns(ConvergenceWarning, match="left a duality gap of .* more than gap_tol=1e-07"):
        reference.play(learner(1.0, loss="hinge"), *problem)


def test_shards_do_not_matter(problem):
    X, y = problem
    whole, cut = (reference.play(learner(1.0), X, y, cuts=cuts) for cuts in ((), CUTS))
    assert_allclose(whole.coef_, cut.coef_, rtol=1e-10)
    assert_array_equal(whole.predict(X), cut.predict(X))
