"""Decisions by a named criterion: read from counted scores, without learning again."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, f1_score

from thresher import registry
from thresher.confidence import PoolCWClassifier, SBCWClassifier
from thresher.dual_averaging import FTRLClassifier, ReweightedL2RDAClassifier
from thresher.kernels import LSSVC
from thresher.novelty import SNDClassifier
from thresher.online import AROWClassifier, CSOALClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.stochastic import PegasosClassifier, SparseSDCAClassifier
from variants import assert_same_bits, name_of


def rare(n_rows=6_000, n_classes=2, seed=0):
    """About one row in eight is of the second class, and no score tells for sure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    if n_classes == 2:
        return X, (rng.random(n_rows) < expit(1.5 * X[:, 0] + X[:, 1] - 2.8)).astype(int)
    logits = np.stack([1.5 * X[:, k] - b for k, b in enumerate((0.0, 1.5, 3.0))], axis=1)
    return X, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def cost_of(y, predicted, ratio):
    return ratio * np.mean((y == 1) & (predicted == 0)) + np.mean((y == 0) & (predicted == 1))


MEASURES = {
    "error": lambda y, p: -np.mean(y != p),
    "balanced_error": balanced_accuracy_score,
    "f1": f1_score,
    "cost": lambda y, p: -cost_of(y, p, 5.0),
}
MODELS = [AROWClassifier(), FTRLClassifier(), PegasosClassifier(), LSSVC(kernel="linear"), SparseSDCAClassifier()]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@pytest.mark.parametrize("criterion", MEASURES)
def test_no_other_threshold_would_do_much_better_on_new_rows(model, criterion):
    X, y = rare()
    n = 1_500 if isinstance(model, LSSVC) else 3_000
    model = clone(model).set_params(threshold=criterion, cost=5.0).fit(X[:n], y[:n])
    measure = MEASURES[criterion]
    scores = model.decision_function(X[3_000:])
    best = max(measure(y[3_000:], (scores > at).astype(int)) for at in np.quantile(scores, np.linspace(0, 1, 200)))
    found = measure(y[3_000:], model.predict(X[3_000:]))
    assert found > best - 0.025 * max(1.0, 5.0 * (criterion == "cost"))
    assert_array_equal(model.predict(X), (model.decision_function(X) > model.threshold_).astype(int))


def test_nothing_is_learned_again():
    X, y = rare(1_500)
    model = AROWClassifier(random_state=0).fit(X, y)
    before, state = model.predict(X), model.state_.copy()
    assert_array_equal(model.set_params(threshold=0.0).predict(X), before)
    for threshold in ("error", "balanced_error", "f1", 0.3):
        model.set_params(threshold=threshold).predict(X)
    model.set_params(threshold="cost", cost=20.0)
    assert model.predict(X).mean() > before.mean() + 0.1
    assert_same_bits(model.state_, state)
    assert_array_equal(model.set_params(threshold=None).predict(X), before)


def test_auto_is_by_cost_where_there_is_one():
    X, y = rare(1_500)
    model = PAClassifier(threshold="auto", random_state=0).fit(X, y)
    automatic = model.threshold_
    assert model.set_params(threshold="error").threshold_ == automatic
    automatic = model.set_params(threshold="auto", cost=3.0).threshold_
    assert model.set_params(threshold="cost").threshold_ == automatic
    by_class = model.set_params(cost={0: 2.0, 1: 6.0}).threshold_
    assert by_class == pytest.approx(automatic)


def test_several_classes_weigh_their_probabilities():
    X, y = rare(4_000, n_classes=3)
    model = AROWClassifier(random_state=0).fit(X[:2_000], y[:2_000])
    plain = balanced_accuracy_score(y[2_000:], model.predict(X[2_000:]))
    model.set_params(threshold="balanced_error")
    assert balanced_accuracy_score(y[2_000:], model.predict(X[2_000:])) > plain + 0.03
    model.set_params(threshold="cost", cost={2: 50.0})
    assert (model.predict(X) == 2).mean() > 0.5
    model.set_params(threshold="error")
    assert np.mean(model.predict(X[2_000:]) == y[2_000:]) > 0.6


@pytest.mark.parametrize("model", [SBCWClassifier(3), PoolCWClassifier(3), CSOALClassifier()], ids=name_of)
def test_learners_with_a_cost_of_their_own_tell_frequencies(model):
    """Their score of 0 is where costs are even, not the classes."""
    X, y = rare(3_000)
    model = clone(model).set_params(random_state=0).fit(X[:2_000], y[:2_000])
    p = model.predict_proba(X[2_000:])[:, 1]
    assert p.mean() == pytest.approx(y[2_000:].mean(), abs=0.04)
    by_cost, by_error = (model.set_params(threshold=each).predict(X).mean() for each in ("cost", "error"))
    assert by_error < y.mean() < by_cost + 0.03


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "best"}, 'threshold must be None or a number or "auto" or one of'),
        ({"cost": 0.0}, "cost must be a number above 0 or a dict of class to a number above 0 or None, got 0.0"),
        ({"cost": {"no": -1}}, "cost must be a number above 0 or a dict"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AROWClassifier(**options).fit([[0.0], [1.0]], ["no", "yes"])


@pytest.mark.parametrize(
    ("options", "n_classes", "message"),
    [
        ({"threshold": "cost"}, 2, 'cost must be given with threshold="cost", got None'),
        ({"threshold": "cost", "cost": {7: 2.0}}, 2, "cost must name classes among \\[0, 1\\], got 7"),
        ({"threshold": "cost", "cost": 2.0}, 3, 'cost must be a dict of class to cost with threshold="cost", got 2.0'),
        ({"threshold": "f1"}, 3, "with more than two classes, threshold must be None"),
        ({"threshold": 0.3}, 3, "with more than two classes, threshold must be None"),
        ({"threshold": "error", "probability": "none"}, 2, "threshold='error' needs probability=\"calibrated\""),
    ],
)
def test_predictions_that_cannot_be_are_refused(options, n_classes, message):
    X, y = rare(300, n_classes)
    model = AROWClassifier(**options).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


def test_machines_with_functions_of_their_own_have_no_threshold():
    X, y = rare(200)
    with pytest.raises(ValueError, match="threshold must be None, got 'error'"):
        SNDClassifier(threshold="error").fit(X, y)


def test_the_threshold_of_weights_stays_that_of_the_paper():
    X, y = rare(500)
    model = ReweightedL2RDAClassifier(threshold=0.05, random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_files_keep_the_decision(tmp_path):
    X, y = rare(500)
    model = AROWClassifier(threshold="f1", cost={0: 1.0, 1: 3.0}).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.threshold == "f1"
    assert loaded.cost == {0: 1.0, 1: 3.0}
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_every_classifier_knows_the_words():
    for method in registry.methods("classification"):
        assert {"probability", "threshold", "cost"} <= set(method.defaults), method.name
