"""PoolCWClassifier against its definition in NumPy, batch by batch, and its steps against general solvers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.pool import Pool
from thresher.confidence import PoolCWClassifier

layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def stream(n_rows=240, d=40, seed=0, rate=0.25):
    """Rows with gaps, some empty; a few features matter, more of them later; three of ten rows are positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < rate)
    X[: n_rows // 3, d // 2 :] = 0
    X[[0, 5, n_rows // 2]] = 0
    w = rng.normal(size=d) * (np.arange(d) % 4 == 0) * 3
    y = np.where(X @ w + 0.5 * rng.normal(size=n_rows) > 1.0, 1, -1)
    return X, y


def with_constant(X, value):
    return np.hstack([X, np.full((len(X), 1), value)])


def compare(model, twin, state_too=True):
    weights = twin.coef()
    assert_allclose(np.append(model.coef_[0], model._all_weights()[0, -1]), weights, rtol=1e-9, atol=1e-11)
    assert_array_equal(model.support_, np.flatnonzero(weights[:-1]))
    assert_array_equal(model.pool_[0], np.sort(twin.features()))
    if state_too:
        state = model.state_.view(0)
        if twin.scout:
            assert_allclose(state["scout"], twin.arow_mean, rtol=1e-9, atol=1e-11)
            assert_allclose(state["scout_variance"], twin.arow_var, rtol=1e-9)
        else:
            assert_allclose(state["scale"] * state["pull"][:-1], twin.g, rtol=1e-9, atol=1e-11)
            assert_allclose(state["scale"] * state["curvature"][:-1], twin.h, rtol=1e-9, atol=1e-11)


OPTIONS = [
    {},
    {"C": 0.3, "forgetting": 0.5, "cost": 0.8, "n_passes": 1},
    {"fit_intercept": True, "intercept_scaling": 0.7},
    {"scout": True},
    {"scout": True, "fit_intercept": True, "cost": 0.3, "C": 2.0},
    {"forgetting": 1.0},
    {"pool": 1, "n_passes": 2},
    {"pool": 1.5, "forgetting": 1e-60},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@layouts
def test_it_agrees_with_the_definition_batch_by_batch(options, weighted, layout, dtype):
    X, y = stream()
    X = X.astype(dtype)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::7] = 0
    model = PoolCWClassifier(6, batch_size=None, **{"cost": 0.5, **options})
    constant = model.intercept_scaling if model.fit_intercept else 0.0
    twin = Pool(
        X.shape[1],
        6,
        model.C,
        model.forgetting,
        model.cost,
        model.pool,
        model.n_passes,
        model.fit_intercept,
        model.scout,
    )
    pools = set()
    for begin in range(0, len(y), 24):
        some = slice(begin, begin + 24)
        w = weight[some] if weighted else None
        model.partial_fit(layout(X[some]), y[some], classes=[-1, 1], sample_weight=w)
        twin.learn(with_constant(X[some].astype(float), constant), y[some], w)
        compare(model, twin)
        pools.add(tuple(model.pool_[0]))
    assert len(pools) > 3  # features came and went
    assert len(model.support_) == 6


@pytest.mark.parametrize("scout", [False, True])
def test_a_pool_that_never_fills_agrees_with_the_definition(scout):
    X, y = stream(d=12)
    model = PoolCWClassifier(8, cost=0.5, scout=scout, batch_size=24)
    twin = Pool(12, 8, scout=scout)
    for begin in range(0, len(y), 24):
        some = slice(begin, begin + 24)
        model.partial_fit(sparse.csr_array(X[some]), y[some], classes=[-1, 1])
        twin.learn(with_constant(X[some], 0.0), y[some])
        compare(model, twin)


def test_long_streams_forget_as_their_definition_does():
    """The unit of the sums changes now and then; 0.2^300 has no place in floating point."""
    X, y = stream(n_rows=1200, d=25)
    model, twin = PoolCWClassifier(3, cost=0.5, forgetting=0.2, batch_size=4), Pool(25, 3, forgetting=0.2)
    changes = 0
    for begin in range(0, len(y), 4):
        some = slice(begin, begin + 4)
        before = model.state_.view(0)["scale"][0] if begin else 1.0
        model.partial_fit(sparse.csr_array(X[some]), y[some], classes=[-1, 1])
        changes += model.state_.view(0)["scale"][0] > before
        twin.learn(with_constant(X[some], 0.0), y[some])
    compare(model, twin)
    assert changes >= 1
