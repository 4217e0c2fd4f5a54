"""How sure a model with variances is of a sign: closed forms, draws and edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from reference.confidence import beliefs
from thresher.online import AROWClassifier, CWClassifier, NAROWClassifier, NHERDClassifier, SCWClassifier, SOPClassifier

PROBABLE = [
    (cls, own | form)
    for cls, own in (
        (AROWClassifier, {"r": 1.0}),
        (CWClassifier, {"confidence": 0.9}),
        (CWClassifier, {"confidence": 0.9, "variant": "variance"}),
        (SCWClassifier, {"C": 1.0, "variant": "II"}),
        (NAROWClassifier, {"b": 1.7}),
        (NHERDClassifier, {"C": 1.0}),
        (SOPClassifier, {"a": 0.6}),
    )
    for form in ({}, {"covariance": "full"})
]
over_probable = pytest.mark.parametrize(("cls", "params"), PROBABLE)
over_layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


@over_probable
@over_layouts
def test_two_classes_have_the_probability_of_a_sign(problem, layout, dtype, cls, params):
    X, y = problem
    X = X.astype(dtype)
    model = cls(intercept_scaling=0.5, random_state=0, **params).fit(layout(X), y)
    ((mu, sigma),) = beliefs(model)
    Z = np.column_stack([X.astype(float), np.full(len(X), 0.5)])
    expected = stats.norm.cdf(Z @ mu / np.sqrt(np.einsum("ij,jk,ik->i", Z, sigma, Z)))
    shares = model.predict_confidence(layout(X))
    assert_allclose(shares[:, 1], expected, rtol=1e-10)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(layout(X)))


def test_the_probability_is_the_share_of_weights_drawn_from_the_belief(problem):
    X, y = problem
    model = CWClassifier(0.9, covariance="full", fit_intercept=False, random_state=0).fit(X, y)
    draws = np.random.default_rng(0).multivariate_normal(model.coef_[0], model.covariance_[0], size=200_000)
    some = X[X.any(axis=1)][:8]
    assert_allclose(model.predict_confidence(some)[:, 1], (draws @ some.T > 0).mean(axis=0), atol=5e-3)


@over_probable
def test_several_classes_share_the_doubt(three_classes, cls, params):
    X, y = three_classes
    model = cls(random_state=0, **params).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))])
    scores, spreads = zip(*((Z @ mu, np.einsum("ij,jk,ik->i", Z, s, Z)) for mu, s in beliefs(model)), strict=True)
    each = stats.norm.cdf(np.array(scores) / np.sqrt(np.mean(spreads, axis=0)))
    shares = model.predict_confidence(sparse.csr_array(X))
    assert_allclose(shares, (each / each.sum(axis=0)).T, rtol=1e-9)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_probabilities_at_the_edge(three_classes):
    X, y = three_classes
    empty = np.zeros((1, X.shape[1]))
    two = AROWClassifier(1.0, fit_intercept=False).fit(X, y == "a")
    assert_array_equal(two.predict_confidence(empty), [[0.5, 0.5]])
    many = AROWClassifier(1.0, fit_intercept=False).fit(X, y)
    assert_allclose(many.predict_confidence(empty), [[1 / 3] * 3])
    two.state_.arrays["variance"][...] = 1e-320  # no doubt is left
    assert_array_equal(two.predict_confidence(X[X.any(axis=1)]).max(axis=1), 1.0)
    many.state_.arrays["variance"][...] = 1e-30
    many.state_.arrays["coef"][:, :-1] -= 100 * np.sign(X[1])  # all scores far below 0, or far above
    for rows in (X[1:2], -X[1:2]):
        shares = many.predict_confidence(rows)
        assert_allclose(shares.sum(), 1)
        assert many.classes_[shares.argmax()] == many.predict(rows)[0]


def test_features_that_are_not_read_carry_no_doubt(problem):
    X, y = problem
    for form in ("diagonal", "full"):
        model = CWClassifier(0.9, covariance=form, n_features_to_select=3, random_state=0).fit(X, y)
        ((mu, sigma),) = beliefs(model)
        kept = np.append(model.support_, X.shape[1])
        Z = np.column_stack([X, np.ones(len(X))])[:, kept]
        deviation = np.sqrt(np.einsum("ij,jk,ik->i", Z, sigma[np.ix_(kept, kept)], Z))
        assert_allclose(model.predict_confidence(X)[:, 1], stats.norm.cdf(Z @ mu[kept] / deviation), rtol=1e-10)


def test_of_several_models_the_variances_are_those_of_the_one_in_use(three_classes):
    X, y = three_classes
    model = AROWClassifier(r="auto", scale=False, multi_class="one_vs_rest", random_state=0).fit(X, y)
    learner = model._learner_now()
    outputs = learner.outputs_of(model.state_, learner.chosen(model.state_))
    assert model.state_.n_outputs == 4 * len(outputs) == 12
    assert_array_equal(model.variance_, model.state_.arrays["variance"][outputs, :-1])
