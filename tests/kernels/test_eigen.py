"""Leading eigenvectors by products, against all of them at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher._kernels._weighted_pca import at_once, by_products


def matrix(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return (Q * values) @ Q.T, Q


SPECTRA = {
    "falling": 0.97 ** np.arange(300.0),
    "with a gap": np.r_[1.0, 0.99, 0.98, np.linspace(0.5, 0.0, 297)],
    "of repeated values": np.r_[np.ones(4), np.linspace(0.9, 0.0, 296)],
    "below 0 too": np.r_[1.0, 0.8, 0.5, np.linspace(0.3, -2.0, 297)],
    "of few directions": np.r_[3.0, 2.0, np.zeros(298)],
    "all the same": np.ones(300),
}


@pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_products_find_what_is_found_at_once(values, k):
    A, _ = matrix(values)
    found = by_products(lambda U: A @ U, 300, k, 1e-13, 300)
    whole = at_once(A.copy(), k)
    assert found.has_settled
    assert_allclose(found.values, np.sort(values)[::-1][:k], atol=1e-12)
    assert_allclose(whole.values, found.values, atol=1e-12)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-12)
    assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-11)
    assert_allclose(A @ whole.vectors, whole.vectors * whole.values, atol=1e-11)


@pytest.mark.parametrize("name", ["with a gap", "of repeated values"])
def test_the_space_of_leading_directions_is_the_true_one(name):
    k = 4 if "repeated" in name else 3
    A, Q = matrix(SPECTRA[name])
    V = by_products(lambda U: A @ U, 300, k, 1e-13, 300).vectors
    assert_allclose(V @ V.T, Q[:, :k] @ Q[:, :k].T, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20])
def test_small_matrices_are_exhausted(n):
    A, _ = matrix(np.linspace(1.0, 0.2, n))
    found = by_products(lambda U: A @ U, n, min(n, 2), 1e-14, 100)
    assert found.has_settled
    assert_allclose(found.values, np.linspace(1.0, 0.2, n)[:2], atol=1e-12)


def test_there_are_few_products_and_they_stop():
    A, _ = matrix(0.99 ** np.arange(300.0))
    made = []

    def times(U):
        made.append(U.shape[1])
        return A @ U

    found = by_products(times, 300, 3, 1e-14, 5)
    assert not found.has_settled
    assert made == [5] * 5
    assert by_products(times, 300, 3, 1e-6, 300).has_settled
    assert len(made) < 60


def test_the_answer_is_always_the_same():
    A, _ = matrix(0.97 ** np.arange(300.0))
    first, second = (by_products(lambda U: A @ U, 300, 3, 1e-10, 300) for _ in range(2))
    assert_array_equal(first.vectors, second.vectors)


def test_a_loose_tolerance_is_met_and_saves_products():
    A, _ = matrix(0.99 ** np.arange(300.0))
    counts = {}
    for tol in (1e-3, 1e-10):
        made = []
        found = by_products(lambda U, made=made: made.append(1) or A @ U, 300, 3, tol, 300)
        errors = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
        assert errors.max() <= 1.01 * tol * found.values[0]
        counts[tol] = len(made)
    assert counts[1e-3] < counts[1e-10]
