"""What BCWClassifier says of itself, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import norm

from reference import batches as reference
from reference.online import with_constant
from thresher.confidence import BCWClassifier
from thresher.persistence import load_model
from unsound import save_unsound

constants = pytest.mark.parametrize("scaling", [0.0, 0.7], ids="constant={}".format)


def learner(scaling=0.0, **params):
    """A scaling of 0 means no constant."""
    given = {"C": 0.6, "scale": False, "shuffle": False} | params
    return BCWClassifier(fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


@constants
def test_probabilities_are_those_of_a_score_above_zero(problem, layout, dtype, scaling):
    X, y = problem
    X = X.astype(dtype)
    model = learner(scaling=scaling).fit(layout(X), y)
    known = reference.bcw(reference.start(X.shape[1] + 1), with_constant(X.astype(float), scaling), y, C=0.6)
    Z = with_constant(X.astype(float), scaling)
    spread = np.sqrt(np.einsum("ij,jk,ik->i", Z, known.sigma, Z))
    chance = np.where(spread > 0, norm.cdf(Z @ known.mu / np.where(spread > 0, spread, 1)), 0.5)
    assert_allclose(model.predict_confidence(layout(X)), np.stack([1 - chance, chance], axis=1), rtol=1e-8, atol=1e-12)
    assert_array_equal(model.predict_confidence(layout(X)).argmax(axis=1), model.predict(layout(X)) > 0)


def test_probabilities_of_several_classes_are_divided_by_their_sum(three_classes):
    X, y = three_classes
    model = learner(scaling=0.7).fit(X, y)
    Z = with_constant(X, 0.7)
    spread = np.sqrt(np.einsum("ij,jk,ik->i", Z, np.linalg.inv(model.state_.arrays["precision"][0]), Z))
    above = norm.cdf(model.decision_function(X) / spread[:, None])
    chances = model.predict_confidence(X)
    assert_allclose(chances, above / above.sum(axis=1, keepdims=True), rtol=1e-7, atol=1e-12)
    assert_allclose(chances.sum(axis=1), 1, rtol=1e-14)
    assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))


def test_probabilities_of_a_sure_model_are_numbers():
    X = np.vstack([np.eye(3)] * 4000)
    model = learner(C=10.0).fit(X, np.tile(["a", "b", "c"], 4000))
    chances = model.predict_confidence(np.vstack([np.eye(3), -np.eye(3), 1e9 * np.eye(3)]))
    assert np.isfinite(chances).all()
    assert_array_equal(chances[:3].argmax(axis=1), [0, 1, 2])


def test_what_is_read_follows_what_is_learned(problem):
    """The root of the precision is kept between calls, but not beyond the next batch, a merge, or a copy."""
    X, y = problem
    model = learner(scaling=0.7).partial_fit(X[:30], y[:30], classes=[-1, 1])
    model.predict_confidence(X)
    later = learner(scaling=0.7).partial_fit(X[:30], y[:30], classes=[-1, 1]).partial_fit(X[30:], y[30:])
    model.partial_fit(X[30:], y[30:])
    assert_array_equal(model.predict_confidence(X), later.predict_confidence(X))
    assert_array_equal(model.variance_, later.variance_)
    assert (model.variance_ <= 1).all()


# --- doors ----------------------------------------------------------------------------------------------------------


def test_too_many_features_are_refused_with_advice():
    X = sparse.csr_array((np.ones(2), [0, 20_000], [0, 1, 2]), shape=(2, 20_001))
    with pytest.raises(ValueError, match=r"at most 20,000 features.*got 20,001; AROWClassifier.*SBCWClassifier"):
        BCWClassifier().fit(X, [0, 1])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"C": 0}, "BCWClassifier: C must be a number above 0, got 0."),
        ({"centre": "mean"}, "centre must be one of 'previous', 'kl', 'zero', got 'mean'"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1 or None, got 0"),
        ({"max_inner_iter": 0}, "max_inner_iter must be an integer of at least 1, got 0"),
        ({"gap_tol": -1.0}, "gap_tol must be a number of at least 0, got -1.0"),
    ],
)
def test_parameters_are_refused_in_one_sentence(params, said):
    with pytest.raises(ValueError, match=said):
        BCWClassifier(**params).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda P: P.__setitem__((0, 1), 1e6), "must be symmetric"),
        (lambda P: P.__setitem__((slice(2), slice(2)), [[1.0, 2.0], [2.0, 1.0]]), "must be positive definite"),
        (lambda P: P.__setitem__((0, 0), -1.0), "above 0"),
        (lambda P: P.__setitem__((0, 0), np.nan), "finite"),
    ],
    ids=["not symmetric", "not definite", "negative", "nan"],
)
def test_a_precision_that_no_rows_made_is_refused_at_the_door(problem, tmp_path, change, said):
    X, y = problem
    model = learner().fit(X, y)
    change(model.state_.arrays["precision"][0])
    save_unsound(model, tmp_path / "bad.thresher")
    with pytest.raises(ValueError, match=f"^bad.thresher: .*{said}") as refusal:
        load_model(tmp_path / "bad.thresher")
    assert "\n" not in str(refusal.value)
