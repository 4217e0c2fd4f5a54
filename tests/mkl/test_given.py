"""Stacks of matrices that users bring: what is refused, blocks of rows at a time, is what whole matrices say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher import _core
from thresher.mkl import GMKLClassifier, UniformMKLClassifier
from thresher.mkl import _stack as _given
from thresher.mkl._stack import GivenMatrices

N = 37  # more than two squares of what the core compares at a time


def symmetric(dtype=np.float64, seed=0):
    A = np.random.default_rng(seed).normal(size=(N, N))
    return (A @ A.T).astype(dtype)


def look(K):
    """At one matrix: the largest size of an entry, and whether it is its transpose."""
    size, same, factor = np.empty(1), np.empty(1, dtype=bool), np.empty(1)
    diagonal, total = np.empty((1, N)), np.zeros((N, N))
    _core.look_at_squares(K[None], size, same, diagonal, factor, total)
    assert_array_equal(diagonal[0], K.diagonal())
    mean = 0.5 * (K + K.T.astype(float))
    assert_allclose(factor[0], 1 / np.trace(mean), rtol=1e-13)
    assert_array_equal(np.tril(total), np.tril(factor[0] * mean))
    return size[0], same[0]


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
    for i in range(0, N, 3):
        for j in range(0, N, 3):
            for step in (0.9e-5 * np.abs(K[i, j]), 1.1e-5 * np.abs(K[i, j]), 0.9e-8 * peak, 1.2e-8 * peak):
                moved = K.copy()
                moved[i, j] += dtype(step)
                good = said_by_whole_matrices(moved)
                n_refused += not good
                size, same = look(moved)
                assert size == np.abs(moved).max()
                assert same == (moved == moved.T).all()
                assert (same or _core.nearly_symmetric(moved, 1e-8 * size, 1e-5)) == good
    assert len(range(0, N, 3)) < n_refused < 3 * len(range(0, N, 3)) ** 2


def assert_taken(K, exact):
    taken = _given.take_square_matrices(K, "who")
    assert_array_equal(taken._exact, exact)
    assert taken.shape == K.shape
    assert taken._matrices is K or K.dtype not in (np.float32, np.float64)
    for q, matrix in enumerate(K):
        assert_array_equal(taken.matrix(q), 0.5 * (matrix + matrix.T.astype(float)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_do_not_matter(order):
    K = np.asarray(np.stack([symmetric(), symmetric(seed=1)]), order=order)
    assert_taken(K, [True, True])
    K[1, 10, 0] *= 1 + 1e-6
    assert_taken(K, [True, False])
    K[1, 10, 0] *= 2
    with pytest.raises(ValueError, match=r"^who: precomputed kernels must be symmetric in fit, but kernel 1 is not\.$"):
        _given.take_square_matrices(K, "who")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 2e100, -2e100])
def test_one_number_that_is_not_finite_or_huge_is_refused(wrong):
    K = np.stack([symmetric()] * 3)
    K[2, 7, 3] = wrong
    said = r"^who: precomputed kernels must hold finite numbers up to 1e100, but kernel 2 does not\.$"
    with pytest.raises(ValueError, match=said):
        _given.take_square_matrices(K, "who")
    with pytest.raises(ValueError, match=said):
        _given.take_matrices(K, "who", (3, N))


def test_integers_and_booleans_are_numbers():
    for dtype in (np.int8, np.uint16, np.bool_):
        assert_taken(np.stack([np.eye(N), np.ones((N, N))]).astype(dtype), [True, True])


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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_are_those_of_whole_matrices(dtype, order):
    K = np.asarray(np.stack([symmetric(dtype), symmetric(dtype, seed=1)]), order=order)
    some, rows, columns = np.array([1, 2, 30]), np.array([5, 3]), np.array([0, 36, 4, 4])
    part = _given.take_square_matrices(K, "who").part(some)
    assert_array_equal(part.matrix(1), K[1][np.ix_(some, some)])
    counts = np.array([1.0, 0.5, 2.0])
    traces = (K.diagonal(axis1=1, axis2=2).astype(float)[:, some] * counts).sum(axis=1)
    assert_allclose(part.factors(counts), 1 / traces, rtol=1e-13)
    half = np.empty(6)
    part.half(0, half)
    assert_array_equal(half, K[0][np.ix_(some, some)].astype(float)[np.tri(3, dtype=bool)])
    theta = np.array([0.5, 0.25])
    summed = part.summed(theta, 2.0)
    if summed is not None:
        assert_allclose(summed, part.matrix(0) + 0.5 * part.matrix(1), rtol=1e-15)
    between = _given.take_square_matrices(K, "who").part(rows, columns)
    assert between.shape == (2, 2, 4)
    expected = theta[0] * K[0].astype(float) + theta[1] * K[1].astype(float)
    assert_array_equal(between.between(theta, np.array([1, 2])), expected[np.ix_(rows, columns[1:3])])
    with pytest.raises(ValueError, match="inside the matrix"):
        GivenMatrices(K, np.array([0, N]), [True, True]).matrix(0)


def test_folds_learn_what_copies_of_their_rows_would():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    K = np.stack([X[:, [j]] @ X[:, [j]].T for j in range(3)]) + np.eye(60)
    given = _given.take_square_matrices(K, "who")
    rest, held = np.arange(40), np.arange(40, 60)
    for make in (GMKLClassifier, UniformMKLClassifier):
        model, other = (make("precomputed", probability="none") for _ in range(2))
        model.fit(given.part(rest), y[rest])
        other.fit(K[:, rest][:, :, rest], y[rest])
        assert_array_equal(model.dual_coef_, other.dual_coef_)
        expected = other.decision_function(K[:, held][:, :, rest])
        assert_array_equal(model.decision_function(given.part(held, rest)), expected)


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
