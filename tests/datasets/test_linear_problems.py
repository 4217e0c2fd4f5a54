"""Problems whose classes are told by a linear score: groups, recovery, several tasks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher.datasets import make_multi_task, make_recovery, make_sparse_groups


def test_groups_have_the_weights_of_table_3_1():
    X, y, coef, groups = make_sparse_groups(50, return_coef=True, random_state=0)
    assert X.shape == (50, 100)
    assert set(y) == {0, 1}
    assert_array_equal(groups, np.arange(100) // 10)
    assert [np.count_nonzero(coef[groups == g]) for g in range(10)] == [10, 8, 6, 4, 2, 1, 0, 0, 0, 0]
    assert set(np.abs(coef)) == {0.0, 1.0}
    signs = np.concatenate([make_sparse_groups(1, return_coef=True, random_state=s)[2] for s in range(100)])
    assert abs(signs.sum()) < 4 * np.sqrt(3100)
    places = np.mean(
        [make_sparse_groups(1, return_coef=True, random_state=s)[2][50:60] != 0 for s in range(300)], axis=0
    )
    assert_allclose(places, 0.1, atol=0.07)  # the one weight of the sixth group is anywhere in it


def test_features_correlate_in_their_group_only():
    X, _ = make_sparse_groups(200_000, group_size=3, active=(1, 0), correlation=-0.5, random_state=1)
    block = np.array([[1, -0.5, 0.25], [-0.5, 1, -0.5], [0.25, -0.5, 1]])
    assert_allclose(np.cov(X.T), np.block([[block, np.zeros((3, 3))], [np.zeros((3, 3)), block]]), atol=0.012)
    assert_allclose(X.mean(axis=0), 0, atol=0.01)


def test_the_bayes_error_of_groups_is_what_the_docstring_says_about_a_fifth():
    place = np.arange(100)
    sigma = np.where(place[:, None] // 10 == place // 10, 0.2 ** np.abs(place[:, None] - place), 0)
    limits = []
    for seed in range(10):
        X, y, coef, _ = make_sparse_groups(20_000, return_coef=True, random_state=seed)
        limits.append(np.arctan(4 / np.sqrt(coef @ sigma @ coef)) / np.pi)
        assert_allclose(np.mean((X @ coef > 0) != y), limits[-1], atol=0.012)
    assert_allclose(np.mean(limits), 0.2, atol=0.01)


def test_recovery_is_the_sum_of_the_first_half_and_noise():
    X, y, coef = make_recovery(100_000, 101, return_coef=True, random_state=0)
    assert_array_equal(coef, np.arange(101) < 50)
    assert_allclose(np.mean((X @ coef > 0) != y), np.arctan(1 / np.sqrt(50)) / np.pi, atol=0.003)
    assert_allclose(y.mean(), 0.5, atol=0.006)
    assert_allclose(X.std(axis=0), 1, atol=0.012)
    X, y, coef = make_recovery(200, 7, n_relevant=2, noise=0.0, return_coef=True, random_state=0)
    assert_array_equal(y, X[:, 0] + X[:, 1] > 0)
    assert coef.sum() == 2


def test_tasks_share_the_features_that_matter():
    X, y, tasks, rounds, coef = make_multi_task(200, 30, 4, noise=0.0, return_coef=True, random_state=0)
    used = coef != 0
    assert (used == used[0]).all()
    assert used.sum(axis=1).tolist() == [5, 5, 5, 5]
    assert len({tuple(row) for row in coef}) == 4
    assert_allclose(y, np.sum(X * coef[tasks], axis=1))
    assert_array_equal(tasks, np.tile(np.arange(4), 200))
    assert_array_equal(rounds, np.repeat(np.arange(200), 4))


def test_without_spread_tasks_are_one():
    coef = make_multi_task(5, spread=0.0, return_coef=True, random_state=0)[-1]
    assert (coef == coef[0]).all()
    coef = make_multi_task(1, 4000, 2, n_relevant=4000, spread=2.0, return_coef=True, random_state=0)[-1]
    assert_allclose(np.cov(coef), [[5, 1], [1, 5]], atol=0.45)


def test_tasks_are_present_at_their_rates_in_the_order_of_rounds():
    rates = (1.0, 0.5, 0.15)
    _, y, tasks, rounds = make_multi_task(20_000, 3, 3, n_relevant=2, presence=rates, classes=True, random_state=0)
    assert_allclose(np.bincount(tasks) / 20_000, rates, atol=0.015)
    assert set(y) == {0, 1}
    order = rounds * 3 + tasks
    assert (np.diff(order) > 0).all()
    assert np.bincount(tasks)[0] == 20_000
    together = np.isin(np.arange(20_000), rounds[tasks == 1]) & np.isin(np.arange(20_000), rounds[tasks == 2])
    assert_allclose(together.mean(), 0.075, atol=0.008)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: make_sparse_groups(0), "make_sparse_groups: n_samples must be an integer of at least 1, got 0."),
        (lambda: make_sparse_groups(active=[11]), "active must be at most group_size = 10, got 11."),
        (lambda: make_sparse_groups(correlation=1.0), "correlation must be a number above -1 and below 1, got 1.0."),
        (lambda: make_sparse_groups(active=[]), "active must be one integer of at least 0 per group"),
        (lambda: make_recovery(n_features=3, n_relevant=4), "n_relevant must be at most n_features = 3, got 4."),
        (lambda: make_recovery(noise=-1), "make_recovery: noise must be a number of at least 0, got -1."),
        (lambda: make_multi_task(n_relevant=51), "n_relevant must be at most n_features = 50, got 51."),
        (lambda: make_multi_task(presence=[1, 1]), "presence must hold 6 rates, one per task, got 2."),
        (
            lambda: make_multi_task(presence=0),
            "presence must be a number above 0 and at most 1, or one per task, got 0.",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
