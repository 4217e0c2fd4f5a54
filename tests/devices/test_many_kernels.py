"""Machines with many kernels: sums and quadratic forms of matrices where rows lie, and the optimum to its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from thresher._gate import is_foreign_array, on_host
from thresher.kernels import RBF, Linear, Polynomial
from thresher.mkl import GMKLClassifier, GMKLRegressor, LpMKLClassifier, UniformMKLClassifier
from thresher.mkl._stack import MadeMatrices, Stack, StackElsewhere, stacked
from thresher.persistence import load_model, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
SIDE = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
AMOUNT = X[:, 0] ** 2 + X[:, 1]
KERNELS = [Linear(features=0), RBF(0.5), RBF(2.0, features=1), Polynomial(2, gamma=1.0)]
MACHINES = {
    "uniform": (UniformMKLClassifier(KERNELS, tol=1e-8), SIDE),
    "elastic net": (GMKLClassifier(KERNELS, tol=1e-8), SIDE),
    "elastic net, rows as they are": (GMKLClassifier(KERNELS, tol=1e-8, standardise=False), SIDE + (X[:, 2] > 1)),
    "ball": (LpMKLClassifier(KERNELS, tol=1e-8), SIDE),
    "amounts": (GMKLRegressor(KERNELS, tol=1e-8), AMOUNT),
}


@pytest.mark.parametrize("n_kept", [0, 2, 4])
def test_sums_and_energies_are_those_of_numpy(n_kept, make):
    counts, x = np.ones(len(X)), RNG.normal(size=len(X)) * (np.arange(len(X)) % 3 > 0)
    cache_size = (n_kept + 0.5) * 8 * len(X) ** 2 / 2**20
    expected, found = (stacked(MadeMatrices(KERNELS, rows), counts, cache_size) for rows in (X, make(X)))
    assert (type(expected), type(found)) == (Stack, StackElsewhere)
    theta = np.array([0.5, 0.0, 1.5, 0.25])
    assert_allclose(found.factors, expected.factors, rtol=1e-12)
    assert_allclose(found.combined(theta), expected.combined(theta), rtol=1e-10, atol=1e-14)
    for some in (np.arange(4), np.array([1, 3])):
        assert_allclose(found.energies(x, some), expected.energies(x, some), rtol=1e-10)
    assert_array_equal(found.energies(np.zeros(len(X)), np.arange(4)), np.zeros(4))


@pytest.mark.parametrize("name", MACHINES)
def test_the_optimum_is_that_of_numpy(name, make, tmp_path):
    model, y = MACHINES[name]
    expected, found = clone(model).fit(X, y), clone(model).fit(make(X), y)
    assert_allclose(found.bounds_, expected.bounds_, rtol=1e-7)  # where the search ends depends on the last bits
    assert is_foreign_array(found.dual_coef_)
    assert is_foreign_array(found.support_vectors_)
    method = "predict" if name == "amounts" else "decision_function"
    scores = getattr(found, method)(make(X))
    assert is_foreign_array(scores)
    assert_allclose(on_host(scores), getattr(expected, method)(X), rtol=1e-3, atol=1e-3)
    save_model(found, tmp_path / "model.thresher")
    loaded = load_model(tmp_path / "model.thresher")
    assert_allclose(getattr(loaded, method)(X), on_host(scores), rtol=1e-10, atol=1e-12)


def test_matrices_at_hand_are_copied(make):
    K = np.stack([kernel(X) for kernel in KERNELS])
    expected = UniformMKLClassifier("precomputed").fit(K, SIDE)
    found = UniformMKLClassifier("precomputed").fit(make(K), SIDE)
    assert_array_equal(found.dual_coef_, expected.dual_coef_)
    assert_array_equal(found.predict_proba(make(K)), expected.predict_proba(K))
