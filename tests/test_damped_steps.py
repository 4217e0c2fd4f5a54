"""Steps that do not overshoot: those of regressors whose step size is automatic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge

from thresher import registry
from thresher.dual_averaging import (
    GroupFOBOSRegressor,
    GroupRDARegressor,
    L1RDARegressor,
    MultiTaskFOBOSRegressor,
    MultiTaskRDARegressor,
    ReweightedL1RDARegressor,
    ReweightedL2RDARegressor,
)
from thresher.stochastic import PegasosRegressor

APART, SHARED = [[0, 1], [2, 3]], [[0, 1, 2], [2, 3], [1, 2]]
ETA, ALPHA = 0.4, 0.01
STREAMING = [m.cls for m in registry.methods("regression") if m.streams]


def damped(model):
    """The same learner with damped steps, whatever its step size."""

    def with_intercept(self, learner):
        learner = super(cls, self)._with_intercept(learner)
        return replace(learner, params={**learner.params, "damping": 1.0})

    cls = type(type(model).__name__, (type(model),), {"_with_intercept": with_intercept})
    return cls(**model.get_params())


def length(model, t):
    """Of step t, how far a unit of slope moves the score of a row of length 1."""
    return {
        L1RDARegressor: lambda: 1 / (getattr(model, "l2_weight", 0) * t + np.sqrt(t) / ETA),
        PegasosRegressor: lambda: 1 / (ALPHA * t),
    }.get(type(model), lambda: ETA / np.sqrt(t))()


MODELS = {
    "l1": L1RDARegressor(ALPHA, eta0=ETA),
    "elastic-net": L1RDARegressor(ALPHA, eta0=ETA, l2_weight=0.3, rho=0.1),
    "huber": L1RDARegressor(ALPHA, eta0=ETA, loss="huber", epsilon=0.5),
    "selected": L1RDARegressor(eta0=ETA, n_features_to_select=3),
    "reweighted": ReweightedL1RDARegressor(ALPHA, eta0=ETA),
    "group-lasso": GroupRDARegressor(APART, ALPHA, eta0=ETA),
    "shared-groups": GroupRDARegressor(SHARED, ALPHA, eta0=ETA),
    "sparse-groups": GroupRDARegressor(SHARED, ALPHA, eta0=ETA, l1_weight=0.3, norm="inf"),
    "fobos": GroupFOBOSRegressor(APART, ALPHA, eta0=ETA),
    "pegasos": PegasosRegressor(ALPHA, projection=False),
}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", MODELS)
def test_a_damped_step_is_that_of_a_lighter_row(regression, row_weights, name, layout):
    X, y = regression
    model, weight = MODELS[name], row_weights[: len(y)]
    n_groups = np.ones(X.shape[1] + 1)  # a weight moves once for each of its groups
    groups = getattr(model, "groups", None) or []
    n_groups[:-1] = np.maximum([sum(j in group for group in groups) for j in range(X.shape[1])], 1)
    lighter = np.zeros(len(y))
    for t, i in enumerate(np.flatnonzero(weight > 0), start=1):
        reach = length(model, t) * (n_groups * np.append(X[i], 1.0) ** 2).sum()
        lighter[i] = weight[i] / (1 + weight[i] * reach)
    one = damped(model).partial_fit(layout(X), y, sample_weight=weight)
    other = type(model)(**model.get_params()).partial_fit(layout(X), y, sample_weight=lighter)
    assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(one.intercept_, other.intercept_, rtol=1e-9)


@pytest.mark.parametrize("cls", [MultiTaskRDARegressor, MultiTaskFOBOSRegressor])
def test_damped_steps_of_tasks_are_those_of_lighter_rows(regression, cls):
    X, y = regression
    tasks = np.random.default_rng(0).integers(3, size=len(y))
    model, n, t, held, lighter = cls(alpha=ALPHA, eta0=ETA), np.zeros(3), 1, set(), np.empty(len(y))
    for i, q in enumerate(tasks):
        if q in held:  # a new round
            t, held = t + 1, set()
        held.add(q)
        n[q] += 1
        often = ETA * np.sqrt(t) / n[q] if cls is MultiTaskRDARegressor else ETA / np.sqrt(t) * min(t / n[q], 16)
        lighter[i] = 1 / (1 + often * (X[i] @ X[i] + 1))
    one = damped(model).partial_fit(X, y, tasks)
    other = cls(**model.get_params()).partial_fit(X, y, tasks, sample_weight=lighter)
    assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)


def test_damped_steps_with_a_reweighted_l2_penalty_are_those_of_lighter_rows(regression):
    X, y = regression
    one = ReweightedL2RDARegressor(0.05, smoothing=2.0, threshold=0.0)
    other = damped(one)
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        pulled = np.ones(X.shape[1] + 1)
        if t:
            w = np.append(one.coef_, one.intercept_)
            now = one.state_.copy()
            one._learner_now().settle(now)
            pulled = now.arrays["denominator"][0] + 1 / (w**2 + 2.0)
        share = 1 / (1 + (np.append(x, 1.0) ** 2 / (pulled + 0.05)).sum())
        one.partial_fit([x], [target], sample_weight=[share])
        other.partial_fit([x], [target])
        assert_allclose(other.coef_, one.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", STREAMING)
def test_regressors_are_right_at_their_defaults_on_rows_as_they_come(cls):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 20))
    Z[:400][rng.random((400, 20)) < 1e-3] = 50.0  # a few values far out
    y = 1e3 * (Z @ rng.normal(size=20) + rng.normal(size=600)) + 5e4
    X = Z * np.logspace(-3, 3, 20) + 10 * rng.normal(size=20)
    best = Ridge().fit(Z[:400], y[:400]).score(Z[400:], y[400:])
    model = cls(random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > best - 0.02
    assert model.n_iter_ == 200
    assert getattr(model, f"{model._raced.name}_") in model.race_["value"]


@pytest.mark.parametrize("cls", STREAMING)
def test_a_number_for_the_step_size_gives_the_published_learner(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ rng.normal(size=4)
    model = cls(random_state=0)
    model.set_params(**{model._raced.name: 0.1}).fit(X, y)
    learner = model._learner_now()
    assert learner.tuning is None
    assert "damping" not in learner.params
    assert model.n_iter_ == (20 if cls is PegasosRegressor else 5)
