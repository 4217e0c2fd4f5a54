"""Sums of models that ``auto`` has compared: weights, when a sum is taken, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import thresher
from thresher._auto import AutoOptions, explain, make_plan, run_auto
from thresher._auto._candidate_model import build
from thresher._auto._choice import other_kinds
from thresher._auto._combination import combine, score_weights, value_weights
from thresher._auto._evaluation import Clock, TunedCandidate, _FoldAnswers, _joined, gain_in_words, measure
from thresher._auto._plan import Plan
from thresher._ensembles import ModelSumClassifier, ModelSumRegressor
from thresher.persistence import load_model, save_model
from thresher.report import report_of


def test_weights_of_values_have_the_least_squared_error_of_all_means():
    rng = np.random.default_rng(0)
    y = 1000 + rng.normal(size=60)
    values = y + np.array([[0.5], [0.6], [2.0], [0.9]]) * rng.normal(size=(4, 60))
    count = rng.uniform(0.5, 2.0, size=60)
    w = cp.Variable(4)
    errors = cp.multiply(np.sqrt(count), values.T @ w - y)
    cp.Problem(cp.Minimize(cp.sum_squares(errors)), [w >= 0, cp.sum(w) == 1]).solve(solver=cp.CLARABEL)
    assert_allclose(value_weights(values, y, count), w.value, atol=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weights_of_scores_satisfy_the_optimality_conditions_of_the_logistic_loss(n_outputs):
    rng = np.random.default_rng(n_outputs)
    n, n_classes = 80, max(2, n_outputs)
    codes, count = rng.integers(0, n_classes, size=n), rng.uniform(0.5, 2.0, size=n)
    signal = (2.0 * codes - 1)[:, None] if n_outputs == 1 else np.eye(3)[codes]
    scores = np.stack([scale * (strength * signal + rng.normal(size=signal.shape))
                       for scale, strength in ((1.0, 1.0), (50.0, 0.7), (1.0, -1.0))])  # fmt: skip
    w = score_weights(scores, codes, count)
    sums = np.tensordot(w, scores, axes=1)
    sums = np.hstack([np.zeros((n, 1)), sums]) if n_outputs == 1 else sums
    both = np.concatenate([np.zeros_like(scores), scores], axis=2) if n_outputs == 1 else scores
    chances = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True)
    errors = count[:, None] * (chances - np.eye(n_classes)[codes]) / count.sum()
    slopes = np.array([np.sum(errors * each) for each in both]) / np.sqrt(np.mean(scores**2, axis=(1, 2)))
    assert w[2] == 0 < slopes[2]  # a model that is wrong more often than right is left out
    assert_allclose(slopes[:2], 0, atol=1e-4)


# --- when a sum is taken ----------------------------------------------------------------------------------------------


def waves_and_products(n: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """A column that acts in waves, which splines see, and a product of two, which a kernel sees."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 5))
    return X, 2.0 * np.sin(8 * X[:, 0]) + 4.0 * X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)


def contest(y_of: Any = lambda y: y, **options: Any) -> tuple[list[TunedCandidate], Plan]:
    """An additive model and one behind a map, measured on the same folds, the better one first."""
    X, y = waves_and_products()
    plan, _, _ = make_plan(X, y_of(y), AutoOptions(cv=4, **options), {})
    kinds = {(each.curves, each.kernel): each for each in other_kinds(plan)}
    chosen = [kinds["columns", None], kinds["", "rbf"]]
    found = [measure(each, build(each, plan), plan) for each in chosen]
    return sorted(found, key=lambda each: -each.score), plan


def test_models_that_know_different_things_are_added_up():
    (best, other), plan = contest()
    answer, (why,) = combine(best, [best, other], plan, Clock())
    assert isinstance(answer.model, ModelSumRegressor)
    assert {part.candidate.name for part in answer.parts} == {best.candidate.name, other.candidate.name}
    gain, error = answer.gain_over(best)
    assert gain > error
    assert why.startswith("The answer is a sum of models, because ")
    assert f"by {gain:.3g} (standard error {error:.2g})" in why
    assert f"is better than {best.name} by" in why


def test_a_loss_is_called_a_loss():
    assert gain_in_words("a", "b", 0.01, 0.005) == "a is better than b by 0.01 (standard error 0.005)"
    assert gain_in_words("a", "b", -0.01, 0.005) == "a is worse than b by 0.01 (standard error 0.005)"


def test_the_score_of_a_sum_is_that_of_weights_which_have_not_seen_the_rows():
    (best, other), plan = contest()
    answer, _ = combine(best, [other], plan, Clock())
    X, y = plan.data.X, plan.data.y
    values = np.empty((2, len(y)))
    for train, test in plan.folds:
        values[:, test] = [each.model.fit(X[train], y[train]).predict(X[test]) for each in (best, other)]
    errors = []
    for train, test in plan.folds:
        w = value_weights(values[:, train], y[train], np.ones(len(train)))
        errors.append(-np.mean((w @ values[:, test] - y[test]) ** 2))
    assert_allclose(answer.fold_scores, errors, rtol=1e-10)
    assert_allclose(answer.model.weights, value_weights(values, y, np.ones(len(y))), rtol=1e-10)


def test_the_score_of_a_sum_of_classifiers_is_found_in_the_same_way(monkeypatch):
    monkeypatch.setattr("thresher._auto._combination._CLEARLY", -np.inf)
    (best, other), plan = contest(lambda y: np.where(y > 0, "high", "low"))
    answer, _ = combine(best, [other], plan, Clock())
    X, y = plan.data.X, plan.data.y
    scores, truth = np.empty((2, len(y), 1)), (y == "low").astype(int)
    for train, test in plan.folds:
        scores[:, test, 0] = [each.model.fit(X[train], y[train]).decision_function(X[test]) for each in (best, other)]
    errors = []
    for train, test in plan.folds:
        w = score_weights(scores[:, train], truth[train], np.ones(len(train)))
        errors.append(-np.mean((np.tensordot(w, scores[:, test], axes=1)[:, 0] > 0) != truth[test]))
    assert_allclose(answer.fold_scores, errors)


def test_a_copy_of_the_best_model_adds_nothing():
    (best, _), plan = contest()
    copy = replace(best, candidate=replace(best.candidate, method=best.candidate.method._replace(name="copy")))
    answer, (why,) = combine(best, [copy], plan, Clock())
    assert answer is best
    assert why.startswith("The answer is one model, because ")


def test_the_user_may_ask_for_one_model():
    (best, other), plan = contest(one_model=True)
    assert combine(best, [other], plan, Clock()) == (best, ["The answer is one model, as requested."])
    X, y = waves_and_products(60)
    y = y + 9 * X[:, 3]
    assert "The answer is one model, as requested." in explain(
        thresher.auto(X, y, one_model=True, n_evaluations=8, cv=2)
    )
    with pytest.raises(ValueError, match=r"auto: one_model must be True or False, got 'yes'"):
        thresher.auto(X, y, one_model="yes")


def test_no_sum_is_made_where_something_else_was_asked_for_or_time_is_short():
    (best, other), plan = contest()
    for options in ({"sparsity": 0.1}, {"method": "arow"}, {"params": {"threshold": "f1"}}):
        asked = replace(plan, options=replace(plan.options, **options))
        assert combine(best, [other], asked, Clock()) == (best, [])
    assert combine(best, [other], plan, Clock(limit=1e-3)) == (best, [])


# --- the whole way ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The model does worse:UserWarning")  # two folds of so few rows tell little
@pytest.mark.parametrize("classes", [False, True], ids=["amounts", "classes"])
def test_a_sum_is_explained_saved_and_reported(tmp_path, monkeypatch, classes):
    monkeypatch.setattr("thresher._auto._combination._CLEARLY", -np.inf)
    X, y = waves_and_products(150)
    X, y = X[:, :3], np.digitize(y, [0, 1]) if classes else y
    run = run_auto(X, y, n_evaluations=12, cv=2, predict=True)
    model, record = run.model, run.model.record_["auto"]
    assert isinstance(model, ModelSumClassifier if classes else ModelSumRegressor)
    assert [each["name"] for each in record["sum"]] == [name for name, _ in model.models]
    assert_allclose([each["weight"] for each in record["sum"]], model.weights)
    assert record["yardsticks"]
    assert all(name in explain(model) for name, _ in model.models)
    assert type(model).__name__ in report_of(run, []).to_text()
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert_array_equal(again.predict(X), model.predict(X))
    assert explain(again) == explain(model)


def test_a_search_in_depth_leaves_time_for_the_predictions_of_a_report():
    (best, _), plan = contest()
    n_rows = plan.data.facts.n_rows
    last = best.seconds_to_finish(n_rows)
    assert best.seconds_after(n_rows, Clock(predicts=True)) == pytest.approx((1 + len(best.fold_scores)) * last)
    assert best.seconds_after(n_rows, Clock()) == last
    in_haste = Clock(limit=3 * last / 0.85, predicts=True)  # half of what is left goes to the search
    assert last < best.seconds_after(n_rows, in_haste) <= 2 * last


@pytest.mark.parametrize("labels", [np.arange(3), np.array(["a", "b", "c"])])
def test_a_class_that_the_model_of_a_fold_does_not_know_scores_lowest(labels):
    folds = [
        _FoldAnswers(np.array([[3.0, 1.0, 2.0]]), labels),
        _FoldAnswers(np.array([[0.5], [-2.0]]), labels[[0, 2]]),  # two classes have one score
        _FoldAnswers(np.array([[1.0, 4.0, 2.0]]), labels),
    ]
    assert_array_equal(_joined(folds), [[3, 1, 2], [-0.5, -1.5, 0.5], [2, -3, -2], [1, 4, 2]])
