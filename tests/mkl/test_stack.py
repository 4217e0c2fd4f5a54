"""Kernel matrices in halves, in memory or made anew, against whole ones."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.mkl import unit_trace
from thresher.kernels import RBF, Linear, Polynomial
from thresher.mkl._stack import GivenMatrices, MadeMatrices, Mean, Stack, take_square_matrices

KERNELS = [RBF(0.3), Linear(features=0), Polynomial(2, 1.0), RBF(2.0, features=[1, 2]), Linear(features=3)]
N = 30
HALF = 8 * N * (N + 1) / 2 / 2**20  # megabytes of a matrix


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(N, 4))
    X[:, 3] = 0  # whose kernel is 0 everywhere
    return X


def stacks(rows, counts):
    made, given = (
        MadeMatrices(KERNELS, rows),
        GivenMatrices(np.array([k(rows) for k in KERNELS]), np.arange(N), [False] * len(KERNELS)),
    )
    for source in (made, given):
        for room in (0, 2, 5):
            yield Stack(source, counts, (room + 0.5) * HALF)


@pytest.mark.parametrize("n_used", [N, N // 3, 1, 0])
def test_sums_and_energies_are_those_of_whole_matrices(rows, n_used):
    rng = np.random.default_rng(1)
    counts = rng.exponential(size=N)
    K = unit_trace(KERNELS, rows, counts)
    x = rng.normal(size=N)
    x[rng.permutation(N)[n_used:]] = 0
    theta = np.array([0.5, 0.0, 2.0, 0.1, 3.0])
    for stack in stacks(rows, counts):
        assert_allclose(stack.combined(theta), np.einsum("q,qij->ij", theta, K), rtol=1e-12, atol=1e-15)
        expected = 0.5 * np.einsum("i,qij,j->q", x, K, x)
        assert_allclose(stack.energies(x, np.arange(5)), expected, rtol=1e-10, atol=1e-14)
        assert_allclose(stack.energies(x, np.array([1, 4])), expected * [0, 1, 0, 0, 1], rtol=1e-10, atol=1e-14)
        stack.keep(np.array([2, 4]))
        assert_allclose(stack.energies(x, np.arange(5)), expected, rtol=1e-10, atol=1e-14)
        assert_allclose(stack.combined(theta), np.einsum("q,qij->ij", theta, K), rtol=1e-12, atol=1e-15)


def test_a_mean_is_that_of_whole_matrices(rows):
    rng = np.random.default_rng(1)
    counts, x = rng.exponential(size=N), rng.normal(size=N)
    mean = unit_trace(KERNELS, rows, counts).mean(axis=0)
    for source in (MadeMatrices(KERNELS, rows), next(islice(stacks(rows, counts), 3, 4))._source):
        stack = Mean(source, counts)
        assert_allclose(stack.combined(np.full(5, 0.2)), mean, rtol=1e-12, atol=1e-15)
        assert_allclose(stack.energies(x, np.arange(5)), 0.5 * x @ mean @ x, rtol=1e-12)


def test_memory_is_what_the_cache_allows(rows):
    assert [stack._kept.nbytes for stack in stacks(rows, np.ones(N))][:3] == [0, 2 * HALF * 2**20, 5 * HALF * 2**20]


def test_kernels_to_keep_take_the_place_of_others(rows):
    for stack in islice(stacks(rows, np.ones(N)), 1, 2):
        stack.keep(np.array([1, 2, 3]))
        assert sorted(stack._at) == [1, 2]
        stack.keep(np.array([4]))
        assert sorted(stack._at) in ([1, 4], [2, 4])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 29])
def test_matrices_that_are_symmetric_stay_where_they_are(n, dtype):
    """Rows of every length, the last of which end where memory does"""
    rng = np.random.default_rng(n)
    A = rng.normal(size=(3, n, n)).astype(dtype)
    K = np.ascontiguousarray(A + A.transpose(0, 2, 1))
    K[:, np.arange(n), np.arange(n)] = 1 + np.abs(K[:, np.arange(n), np.arange(n)])
    given = take_square_matrices(K, "who")
    stack, copied = Stack(given, np.ones(n), 500), Stack(GivenMatrices(K, np.arange(n), [False] * 3), np.ones(n), 500)
    assert stack._kept is K
    unit = K / np.trace(K.astype(float), axis1=1, axis2=2)[:, None, None]
    for x in (rng.normal(size=n), rng.normal(size=n) * (rng.random(n) < 0.3)):
        expected = np.maximum(0.5 * np.einsum("i,qij,j->q", x, unit, x), 0)
        found = stack.energies(x, np.arange(3))
        assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-10, atol=1e-12)
        assert_array_equal(found, copied.energies(x, np.arange(3)))
    for theta in (np.ones(3), rng.random(3)):
        assert_array_equal(stack.combined(theta), copied.combined(theta))


def test_traces_are_1_and_kernels_of_nothing_stay_so(rows):
    for stack in stacks(rows, np.ones(N)):
        traces = [np.trace(stack.combined(one)) for one in np.eye(5)]
        assert_allclose(traces, [1, 1, 1, 1, 0], rtol=1e-12)
        assert stack.factors[4] == 0


def test_rows_that_are_absent_are_not_looked_at(rows):
    whole = np.array([k(rows) for k in KERNELS])
    present = np.array([1, 4, 5, 20])
    some = np.full_like(whole, np.nan)
    places = np.ix_(range(len(KERNELS)), present, present)
    some[places] = whole[places]
    a = Stack(GivenMatrices(some, present, [False] * len(some)), np.ones(4), 500)
    b = Stack(MadeMatrices(KERNELS, rows[present]), np.ones(4), 500)
    assert_allclose(a.combined(np.ones(5)), b.combined(np.ones(5)), rtol=1e-13)


def test_given_matrices_of_single_precision_are_taken_as_they_are(rows):
    whole = np.array([k(rows) for k in KERNELS], dtype=np.float32)
    stack = Stack(GivenMatrices(whole, np.arange(N), [False] * len(whole)), np.ones(N), 2.5 * HALF)
    K = np.array([0.5 * (k + k.T) for k in whole.astype(float)])
    K = np.array([k / np.trace(k) if np.trace(k) else k for k in K])
    assert_allclose(stack.combined(np.ones(5)), K.sum(axis=0), rtol=1e-13)
