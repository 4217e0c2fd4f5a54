"""What the page "Coming from Vowpal Wabbit" says of options, by running both."""

from __future__ import annotations

import numpy as np
import pytest

from thresher.dual_averaging import FTRLClassifier, L1RDAClassifier
from thresher.stochastic import PegasosClassifier, PegasosRegressor

vowpalwabbit = pytest.importorskip("vowpalwabbit")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)) * (RNG.random((300, 5)) > 0.4)
Y = np.where(X @ [1, -2, 0, 0.5, 0] + 0.3 * RNG.normal(size=300) > 0, 1, -1)
WEIGHTS = RNG.integers(1, 4, 300).astype(float)
FTRL = "--ftrl --ftrl_alpha .2 --ftrl_beta 1.5 --l1 .3 --l2 .7"
OURS = {"eta0": 0.2, "beta": 1.5, "alpha": 0.3, "l2": 0.7}


def line(x, label="", weight=""):
    return f"{label} {weight}".strip() + " | " + " ".join(f"f{j}:{value:.9g}" for j, value in enumerate(x) if value)


def theirs(options, rows=X, y=Y, weights=None, passes=1):
    """The scores of Vowpal Wabbit for its rows, which it would clip to the range of the labels."""
    machine = vowpalwabbit.Workspace(f"--quiet --min_prediction -100 --max_prediction 100 {options}")
    weights = [""] * len(rows) if weights is None else weights
    for x, label, weight in list(zip(rows, y, weights, strict=True)) * passes:
        machine.learn(line(x, label, weight))
    scores = np.array([machine.predict(line(x)) for x in rows])
    machine.finish()
    return scores


@pytest.mark.parametrize(
    "options, params, weights",
    [
        ("--loss_function logistic --noconstant", {"loss": "logistic", "fit_intercept": False}, None),
        ("--loss_function hinge --noconstant", {"loss": "hinge", "fit_intercept": False}, None),
        ("--loss_function logistic --noconstant", {"loss": "logistic", "fit_intercept": False}, WEIGHTS),
        ("--loss_function logistic", {"loss": "logistic", "penalize_intercept": True, "intercept_scaling": 1.0}, None),
        (
            "--loss_function squared --noconstant",  # whose gradient is twice ours
            {"loss": "squared", "fit_intercept": False, "beta": 0.75, "alpha": 0.15, "l2": 0.35},
            None,
        ),
    ],
    ids=["logistic", "hinge", "weights", "constant", "squared"],
)
def test_ftrl_computes_the_same_scores(options, params, weights):
    ours = FTRLClassifier(**{**OURS, **params}).partial_fit(X, Y, classes=[-1, 1], sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs(f"{FTRL} {options}", weights=weights), atol=1e-5)


@pytest.mark.parametrize(
    "option, model",
    [
        ("--l2", PegasosClassifier(alpha=0.1, average=True, loss="logistic", fit_intercept=False, max_iter=50)),
        ("--l1", L1RDAClassifier(alpha=0.1, eta0=1.0, loss="logistic", fit_intercept=False, max_iter=50)),
    ],
)
def test_penalties_without_ftrl_are_on_the_scale_of_the_mean_loss(option, model):
    model.set_params(random_state=0).fit(X, Y)
    options = f"--sgd {option} .1 --loss_function logistic --noconstant -l 1 --power_t 1 --initial_t 10"
    np.testing.assert_allclose(model.decision_function(X), theirs(options, passes=50), atol=0.15)  # of 2.5


@pytest.mark.parametrize("tau", [0.2, 0.8])
def test_quantiles_are_the_same(tau):
    values, rows = RNG.exponential(size=300), np.ones((300, 1))
    ours = PegasosRegressor(loss="quantile", tau=tau, random_state=0).fit(rows, values).predict(rows[:1])
    options = f"--loss_function quantile --quantile_tau {tau} --noconstant"
    np.testing.assert_allclose(ours, theirs(options, rows, values, passes=20)[:1], atol=0.1)


def test_a_word_that_touches_the_bar_is_a_tag():
    machine = vowpalwabbit.Workspace("--quiet")
    found = [machine.parse(text) for text in ("1|words good", "1 |words good", "1 2 'last|words good")]
    found = [example[0] if isinstance(example, list) else example for example in found]
    assert [example.get_simplelabel_label() == 1 for example in found] == [False, True, True]
    assert [example.get_tag() for example in found] == ["1", "", "last"]
    machine.finish()
