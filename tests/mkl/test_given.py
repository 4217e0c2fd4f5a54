"""Stacks of matrices that users bring: what is refused, blocks of rows at a time, is what whole matrices say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher.mkl import GMKLClassifier, UniformMKLClassifier
from thresher.mkl import _stack as _given
from thresher.mkl._stack import GivenMatrices

N = 11


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch):
    monkeypatch.setattr(_given, "_AT_ONCE", 4)


def symmetric(dtype=np.float64, seed=0):
    A = np.random.default_rng(seed).normal(size=(N, N))
    return (A @ A.T).astype(dtype)


def said_by_whole_matrices(K):
    return np.allclose(K, K.T, rtol=1e-5, atol=1e-8 * float(np.abs(K).max()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-40, 1.0, 1e30])
def test_one_entry_anywhere_decides(dtype, size):
    """Each entry in turn moved by more or less than rounding, in a matrix with entries of 0 and of many sizes"""
    K = symmetric(dtype)
    K[2, 9] = K[9, 2] = 0
    K[6, 1] = K[1, 6] = 1e-7
    K *= dtype(size)
    peak = np.abs(K).max()
    n_refused = 0
    for i in range(N):
        for j in range(N):
            for step in (0.9e-5 * np.abs(K[i, j]), 1.1e-5 * np.abs(K[i, j]), 0.9e-8 * peak, 1.2e-8 * peak):
                moved = K.copy()
                moved[i, j] += dtype(step)
                good = said_by_whole_matrices(moved)
                n_refused += not good
                off = _given._asymmetry(moved, 1e-8 * float(np.abs(moved).max()))
                assert (off <= 1) == good
                assert (off == 0) == (moved == moved.T).all()
    assert N < n_refused < 3 * N**2


@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_do_not_matter(order):
    K = np.asarray(np.stack([symmetric(), symmetric(seed=1)]), order=order)
    taken, exact = _given.take_square_matrices(K, "who")
    assert taken is K
    assert exact == [True, True]
    K[1, 10, 0] *= 1 + 1e-6
    assert _given.take_square_matrices(K, "who")[1] == [True, False]
    K[1, 10, 0] *= 2
    with pytest.raises(ValueError, match=r"^who: precomputed kernels must be symmetric in fit, kernel 1 is not\.$"):
        _given.take_square_matrices(K, "who")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 2e100, -2e100])
def test_one_number_that_is_not_finite_or_huge_is_refused(wrong):
    K = np.stack([symmetric()] * 3)
    K[2, 7, 3] = wrong
    said = r"^who: precomputed kernels must hold finite numbers up to 1e100, kernel 2 does not\.$"
    with pytest.raises(ValueError, match=said):
        _given.take_square_matrices(K, "who")
    with pytest.raises(ValueError, match=said):
        _given.take_matrices(K, "who", (3, N))


def test_integers_and_booleans_are_numbers():
    for dtype in (np.int8, np.uint16, np.bool_):
        K, exact = _given.take_square_matrices(np.stack([np.eye(N), np.ones((N, N))]).astype(dtype), "who")
        assert K.dtype == np.float64
        assert exact == [True, True]


@pytest.mark.parametrize("present", [np.arange(N), np.array([0, 3, 4, 10])], ids=["all", "some"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_symmetric_to_the_last_bit_is_its_own_mean(present, dtype):
    K = np.stack([symmetric(dtype)])
    K = 0.5 * (K + K.transpose(0, 2, 1))
    as_it_is, mean = (GivenMatrices(K, present, [exact]) for exact in (True, False))
    assert as_it_is.matrix(0).dtype == np.float64
    assert_array_equal(as_it_is.matrix(0), mean.matrix(0))
    assert_array_equal(as_it_is.matrix(0), K[0][np.ix_(present, present)])
    assert_array_equal(as_it_is.block(0, np.array([0, 2])), mean.block(0, np.array([0, 2])))


@pytest.mark.parametrize("make", [GMKLClassifier, UniformMKLClassifier])
def test_matrices_with_rounding_are_taken_as_their_means_and_left_as_they_are(make):
    rng = np.random.default_rng(0)
    K = np.stack([symmetric(seed=seed) for seed in range(3)])
    K = 0.5 * (K + K.transpose(0, 2, 1))
    y = np.where(np.arange(N) % 2, 1, -1)
    rough = K * (1 + 1e-7 * rng.normal(size=K.shape))
    kept = rough.copy()
    model = make("precomputed").fit(rough, y)
    assert_array_equal(rough, kept)
    assert_array_equal(make("precomputed").fit(rough.transpose(0, 2, 1), y).dual_coef_, model.dual_coef_)
    mean = 0.5 * (rough + rough.transpose(0, 2, 1))
    kept = mean.copy()
    assert_array_equal(make("precomputed").fit(mean, y).dual_coef_, model.dual_coef_)
    assert_array_equal(mean, kept)
