"""Learners behind river's interface: its own checks, and the same model as without it."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from thresher.dual_averaging import FTRLRegressor, L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from variants import assert_same_bits

pytest.importorskip("river")

from river import checks, datasets, metrics, preprocessing

from thresher.compat import river

SEGMENTS = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")
MODELS = [
    river.Classifier(AROWClassifier()),
    river.Classifier(PAClassifier(C=1.0, probability="none")),
    river.Regressor(FTRLRegressor()),
]


def the_checks():
    for model in MODELS:
        name = type(model.estimator).__name__
        seen: dict[str, int] = {}
        for check in checks.yield_checks(model):
            seen[check.__name__] = seen.get(check.__name__, 0) + 1
            yield pytest.param(model, check, id=f"{name}-{check.__name__}-{seen[check.__name__]}")


@pytest.mark.parametrize(("model", "check"), the_checks())
def test_rivers_own_checks_pass(model, check):
    check(model.clone())


def test_several_classes_are_learned():
    """River's checks show a model of several classes also two other classes, which ours must know before."""
    model = river.Classifier(L1RDAClassifier(), SEGMENTS)
    scaler, metric = preprocessing.StandardScaler(), metrics.Accuracy()
    assert model._multiclass
    for x, y in datasets.ImageSegments().take(300):
        scaler.learn_one(x)
        x = scaler.transform_one(x)
        metric.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert list(model.predict_proba_one(x)) == list(SEGMENTS)
    assert metric.get() > 0.5


def test_an_adapter_learns_what_its_estimator_would():
    model, plain = river.Classifier(AROWClassifier()), AROWClassifier()
    metric = metrics.Accuracy()
    scaler = preprocessing.StandardScaler()
    for x, y in datasets.Phishing().take(300):
        scaler.learn_one(x)
        x = scaler.transform_one(x)
        metric.update(y, model.predict_one(x))
        model.learn_one(x, y)
        plain.learn_one(x, y, classes=[False, True])
    assert_same_bits(model._model.state_, plain.state_)
    assert metric.get() > 0.8
    assert not hasattr(model.estimator, "state_")
    with pytest.raises(NotImplementedError, match="PAClassifier has no probabilities"):
        MODELS[1].clone().predict_proba_one(x)


def test_before_the_first_row_all_classes_are_alike():
    model = river.Classifier(AROWClassifier(), ("a", "b", "c"))
    assert model.predict_one({"x": 1.0}) == "a"
    np.testing.assert_allclose(list(model.predict_proba_one({"x": 1.0}).values()), 1 / 3)
    assert river.Regressor(FTRLRegressor()).predict_one({"x": 1.0}) == 0.0


def test_the_example_of_the_page_runs():
    found = doctest.testmod(river)
    assert (found.failed, found.attempted > 0) == (0, True)
