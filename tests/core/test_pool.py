"""The search for features outside of a pool, and conditional pruning, in NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher._core import best_outside, condition


def ranked(score, pool, n):
    """The n best above 0, ties to the smaller index."""
    order = [j for j in np.argsort(-score, kind="stable") if j not in set(pool) and score[j] > 0]
    return order[:n]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_the_best_outside_of_a_pool_are_those_of_a_sort(seed, c):
    rng = np.random.default_rng(seed)
    d, n, s = rng.integers(1, 80), rng.integers(0, 12), rng.choice([1.0, 0.3, 1e-90])
    both = np.empty((d, 2))  # side by side in memory, as the beliefs of AROW are
    both[:, 0] = rng.integers(-3, 4, size=d) / s  # many ties and zeros
    both[:, 1] = rng.integers(1, 3, size=d) / s
    pool = np.sort(rng.choice(d, size=rng.integers(0, d + 1), replace=False)).astype(np.int64)
    score = (s * both[:, 0]) ** 2 / (c + s * both[:, 1])
    out = np.full(n, -7, dtype=np.int64)
    found = best_outside(both[:, 0], both[:, 1], s, c, pool, out)
    truth = ranked(score, pool, n)
    assert found == len(truth)
    assert_array_equal(out[:found], truth)
    assert (out[found:] == -7).all()


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e200])
def test_scores_that_are_not_finite_are_reported(value):
    a, out = np.array([1.0, 2.0, value, 0.5]), np.empty(2, dtype=np.int64)
    none = np.empty(0, dtype=np.int64)
    assert best_outside(a, np.ones(4), 1.0, 1.0, none, out) == -1
    assert best_outside(a, np.ones(4), 1.0, 1.0, np.array([2]), out) == 2


@pytest.mark.parametrize("pool", [[-1], [4], [2, 2], [3, 1]])
def test_pools_that_are_none_are_refused(pool):
    with pytest.raises(ValueError, match="in their order"):
        best_outside(np.ones(4), np.ones(4), 1.0, 1.0, np.array(pool), np.empty(2, dtype=np.int64))


def test_sums_and_covariances_of_other_lengths_are_refused():
    none = np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="two sums for every feature"):
        best_outside(np.ones(4), np.ones(3), 1.0, 1.0, none, none)
    with pytest.raises(ValueError, match="a covariance for every pair"):
        condition(np.ones(3), np.eye(4), 0, 2)
    with pytest.raises(ValueError, match="each that stays"):
        condition(np.ones(3), np.eye(3), 4, 2)


def pruned(mean, cov, n_first, keep):
    """One weight after the other, by deleting it."""
    left = list(range(len(mean)))
    while len(left) - n_first > keep:
        score = [mean[k] ** 2 / cov[k, k] for k in range(n_first, len(left))]
        a = n_first + len(score) - 1 - int(np.argmin(score[::-1]))
        mean, cov = mean - cov[:, a] * mean[a] / cov[a, a], cov - np.outer(cov[:, a], cov[a]) / cov[a, a]
        mean, cov = np.delete(mean, a), np.delete(np.delete(cov, a, 0), a, 1)
        left.pop(a)
    return left, mean, cov


@pytest.mark.parametrize("n_first", [0, 1])
@pytest.mark.parametrize("keep", [0, 1, 4, 9, 30])
def test_conditional_pruning_is_deleting_one_after_the_other(n_first, keep):
    rng = np.random.default_rng(keep)
    A = rng.normal(size=(10, 14))
    mean, cov = rng.normal(size=10), A @ A.T
    left, less, smaller = pruned(mean, cov, n_first, keep)
    condition(mean, cov, n_first, keep)
    assert_array_equal(np.flatnonzero(np.diagonal(cov)), left)
    assert_allclose(mean[left], less, rtol=1e-10)
    assert_allclose(cov[np.ix_(left, left)], smaller, rtol=1e-9, atol=1e-12)
    gone = np.setdiff1d(np.arange(10), left)
    assert not mean[gone].any()
    assert not cov[gone].any()
    assert not cov[:, gone].any()


def test_of_equals_the_last_one_goes():
    mean, cov = np.array([1.0, 1.0, 2.0, 1.0]), np.eye(4)
    condition(mean, cov, 0, 2)
    assert_array_equal(mean, [1.0, 0.0, 2.0, 0.0])
