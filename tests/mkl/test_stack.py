"""Kernel matrices in halves, in memory or made anew, against whole ones."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.mkl import unit_trace
from thresher.kernels import RBF, Linear, Polynomial
from thresher.mkl._stack import GivenMatrices, MadeMatrices, Mean, Stack

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
        assert_allclose(stack.energies(x), 0.5 * np.einsum("i,qij,j->q", x, K, x), rtol=1e-10, atol=1e-14)


def test_a_mean_is_that_of_whole_matrices(rows):
    rng = np.random.default_rng(1)
    counts, x = rng.exponential(size=N), rng.normal(size=N)
    mean = unit_trace(KERNELS, rows, counts).mean(axis=0)
    for source in (MadeMatrices(KERNELS, rows), next(islice(stacks(rows, counts), 3, 4))._source):
        stack = Mean(source, counts)
        assert_allclose(stack.combined(np.full(5, 0.2)), mean, rtol=1e-12, atol=1e-15)
        assert_allclose(stack.energies(x), 0.5 * x @ mean @ x, rtol=1e-12)


def test_memory_is_what_the_cache_allows(rows):
    assert [stack._kept.nbytes for stack in stacks(rows, np.ones(N))][:3] == [0, 2 * HALF * 2**20, 5 * HALF * 2**20]


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
