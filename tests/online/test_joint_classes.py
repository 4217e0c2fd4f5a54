"""Several classes that learn in one step: against a twin with one long vector of weights, and what it has to do with
two classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from reference import confidence as reference
from thresher import onepass
from thresher.online import (
    AROWClassifier,
    CWClassifier,
    NAROWClassifier,
    NHERDClassifier,
    PAClassifier,
    SCWClassifier,
)
from thresher.training import merge_models
from variants import assert_same_bits

PHI = float(stats.norm.ppf(0.85))
RULES = {
    "arow": (AROWClassifier, {"r": 0.7}, reference.arow(0.7)),
    "cw": (CWClassifier, {"confidence": 0.85}, reference.cw(PHI)),
    "cw-variance": (CWClassifier, {"confidence": 0.85, "variant": "variance"}, reference.cw_variance(PHI)),
    "scw-I": (SCWClassifier, {"confidence": 0.85, "C": 0.3}, reference.scw(0.3, PHI, "I")),
    "scw-II": (SCWClassifier, {"confidence": 0.85, "C": 0.3, "variant": "II"}, reference.scw(0.3, PHI, "II")),
    "narow": (NAROWClassifier, {"b": 1.7}, reference.narow(1.7)),
    "nherd": (NHERDClassifier, {"C": 0.6}, reference.nherd(0.6)),
    **{
        f"pa-{v}": (PAClassifier, {"C": 0.2, "variant": v}, reference.passive_aggressive(0.2, v))
        for v in ("hard", "I", "II")
    },
}
over_rules = pytest.mark.parametrize("rule", RULES)
over_layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
LABELS = np.array(["a", "b", "c", "d"])


def make(rule: str, **params):
    cls, own, _ = RULES[rule]
    return cls(**{"multi_class": "joint", "max_iter": 1, "shuffle": False, "intercept_scaling": 0.3} | own | params)


def stream(n_rows: int = 150, n_classes: int = 4, n_features: int = 11):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < np.geomspace(0.1, 0.9, n_features))
    X[::29] = 0
    codes = (X @ rng.normal(size=(n_features, n_classes)) + rng.normal(size=(n_rows, n_classes))).argmax(axis=1)
    return X, codes, rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.85)


@over_rules
@over_layouts
@pytest.mark.parametrize("form", ["drop", "precision"])
def test_it_agrees_with_the_twin_after_every_row(rule, layout, form, dtype):
    if rule.startswith("pa") and form == "precision":
        pytest.skip("it keeps no variances")
    X, codes, weight = stream()
    X = X.astype(dtype)
    model = make(rule, **({} if rule.startswith("pa") else {"diagonal": form}))
    steps = reference.run_jointly(RULES[rule][2], X.astype(float), codes, 4, form=form, intercept=0.3, weight=weight)
    mistakes, paid = 0, 0.0
    for i, (scores, mu, sigma) in enumerate(steps):
        model.partial_fit(layout(X[[i]]), LABELS[codes[[i]]], classes=LABELS, sample_weight=weight[[i]])
        mistakes += weight[i] > 0 and scores.argmax() != codes[i]
        paid += weight[i] * max(0.0, 1 - scores[codes[i]] + np.delete(scores, codes[i]).max())
        assert_allclose(model.coef_, mu[:, :-1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.intercept_, 0.3 * mu[:, -1], rtol=1e-9, atol=1e-12)
        if hasattr(model, "variance_"):
            assert_allclose(model.variance_, sigma[:, :-1], rtol=1e-9, atol=1e-12)
    assert model.n_mistakes_ == mistakes > 5
    assert_allclose(model.progressive_loss_, paid / weight.sum(), rtol=1e-9)
    assert_allclose(model.decision_function(X[:5]), np.c_[X[:5], [0.3] * 5] @ mu.T, rtol=1e-9, atol=1e-12)


@over_rules
def test_two_classes_are_learned_as_ever(problem, rule):
    X, y = problem
    joint, apart = make(rule).fit(X, y), make(rule, multi_class="one_vs_rest").fit(X, y)
    assert_same_bits(joint.state_, apart.state_)
    joint.fit(*stream()[:2])
    assert len(joint.coef_) == 4
    assert_same_bits(joint.fit(X, y).state_, apart.state_)  # whatever it was fitted to before
    assert_same_bits(joint.partial_fit(X, y).state_, apart.partial_fit(X, y).state_)


@pytest.mark.parametrize("rule", ["arow", "cw", "narow"])
def test_probabilities_do_not_change_when_all_scores_rise(rule):
    """Only differences between scores of joint classes mean something."""
    X, codes, _ = stream()
    model = make(rule).fit(X, codes)
    before = model.predict_confidence(X)
    assert_array_equal(model.classes_[before.argmax(axis=1)], model.predict(X))
    assert_allclose(before.sum(axis=1), 1)
    model.state_.arrays["coef"][0, -1] += 7.0
    assert_allclose(model.predict_confidence(X), before, atol=1e-9)


def test_spreads_are_the_variances_of_the_scores():
    X, codes, _ = stream()
    model = make("arow").fit(X, codes)
    variance = model.state_.arrays["variance"][0]
    for layout in (np.asarray, sparse.csr_array):
        spreads = model._variances_of(onepass.rows(layout(X)))
        assert_allclose(spreads, np.c_[X, np.full(len(X), 0.3)] ** 2 @ variance)


def test_shards_add_up_their_precisions():
    X, codes, _ = stream()
    start = make("arow").fit(X[:50], codes[:50])
    shards = [make("arow").fit(X[:50], codes[:50]).partial_fit(X[k : k + 50], codes[k : k + 50]) for k in (50, 100)]
    merged = merge_models(shards, start=start)
    precision = sum(1 / s.variance_ for s in shards) - 1 / start.variance_
    pulled = sum(s.coef_ / s.variance_ for s in shards) - start.coef_ / start.variance_
    assert_allclose(1 / merged.variance_, precision)
    assert_allclose(merged.coef_, pulled / precision, atol=1e-12)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            {"covariance": "full"},
            "AROWClassifier: with multi_class=.joint., covariance must be 'diagonal', got 'full'.",
        ),
        ({"n_features_to_select": 3}, 'with multi_class="joint", n_features_to_select must be None, got 3.'),
    ],
)
def test_what_has_no_joint_form_is_refused(option, message):
    with pytest.raises(ValueError, match=message):
        AROWClassifier(multi_class="joint", **option).fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith(("cw", "scw", "pa"))])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_joint_classes_have_a_mean_of_late_iterates(rule, layout):
    X, codes, weight = stream()
    model, total, mass, t = make(rule, average=True), 0.0, 0, 0
    for i, (_, mu, _) in enumerate(reference.run_jointly(RULES[rule][2], X, codes, 4, intercept=0.3, weight=weight)):
        model.partial_fit(layout(X[[i]]), LABELS[codes[[i]]], classes=LABELS, sample_weight=weight[[i]])
        if weight[i] > 0:
            t += 1
            total, mass = total + t * mu, mass + t
        if mass:
            assert_allclose(model.coef_, total[:, :-1] / mass, rtol=1e-9, atol=1e-12)
    assert_allclose(
        model.decision_function(layout(X[:5])), np.c_[X[:5], [0.3] * 5] @ total.T / mass, rtol=1e-9, atol=1e-12
    )


@over_rules
def test_with_a_number_for_its_step_auto_is_the_published_learner(rule):
    X, codes, weight = stream()
    auto, apart = (make(rule, multi_class=m).fit(X, codes, sample_weight=weight) for m in ("auto", "one_vs_rest"))
    assert_same_bits(auto.state_, apart.state_)
    assert auto.multi_class_ == "one_vs_rest"


def test_forms_and_steps_race_together():
    """On rows of length 2, each candidate is a plain learner with a quarter of its value."""
    X, codes, weight = (each[stream()[0].any(axis=1)] for each in stream())
    X = 2 * X / np.linalg.norm(X, axis=1)[:, None]
    options = {"shuffle": False, "max_iter": 1, "fit_intercept": False}
    race = PAClassifier("auto", scale=False, **options)
    race.partial_fit(X, codes, classes=range(4), sample_weight=weight)
    assert_allclose(race.race_["value"], np.tile([0.01, 0.1, 1.0, 10.0], 2) / 4)
    learner, mistakes = race._learner_now(), []
    for k, (form, C) in enumerate((form, C) for form in ("joint", "one_vs_rest") for C in (0.01, 0.1, 1.0, 10.0)):
        plain = PAClassifier(C / 4, multi_class=form, average=True, **options)
        plain.partial_fit(X, codes, classes=range(4), sample_weight=weight)
        assert_allclose(learner.weights(race.state_, k)[:, :-1], plain.coef_, rtol=1e-9, atol=1e-12)
        mistakes.append(plain.n_mistakes_)
    assert_array_equal(race.race_["n_mistakes"], mistakes)


def test_auto_is_one_against_the_rest_where_there_is_no_joint_form():
    X, codes, _ = stream()
    for option in ({"covariance": "full"}, {"n_features_to_select": 3}):
        auto, apart = (make("arow", multi_class=form, **option).fit(X, codes) for form in ("auto", "one_vs_rest"))
        assert_same_bits(auto.state_, apart.state_)
        assert auto.multi_class_ == "one_vs_rest"


def test_a_state_has_an_output_for_every_class():
    learner = onepass.learner(make("arow"), 11, n_outputs=3)
    X, codes, _ = stream()
    lesson = onepass.Lesson(onepass.rows(X), onepass.Target(codes.astype(float), np.arange(4)))
    with pytest.raises(ValueError, match="an output for every class"):
        learner.learn(lesson, learner.new_state(11, 3))
