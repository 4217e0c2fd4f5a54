"""Visiting orders: every row once per pass, seeded, in blocks where that does no harm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher._engine import _order
from thresher.online import PAClassifier


def orders(n_rows, n_visits, shuffle=True, mixed=True, seed=0):
    """The order of each pass, whole; pieces are copied because the next one overwrites them."""
    found = []
    for pieces in _order.passes(n_rows, n_visits, shuffle, mixed, seed):
        whole = [np.arange(n_rows) if piece is None else piece.copy() for piece in pieces]
        found.append(np.concatenate(whole))
    return found


@pytest.mark.parametrize("n_rows", [1, 5, 63, 64, 65, 4096, 4097, 70_001, 65_536 * 2])
@pytest.mark.parametrize("mixed", [True, False])
def test_every_row_is_visited_once_per_pass(n_rows, mixed):
    first, second = orders(n_rows, 2 * n_rows, mixed=mixed)
    for order in (first, second):
        assert_array_equal(np.sort(order), np.arange(n_rows))
    assert n_rows < 5 or not np.array_equal(first, second)


def test_blocks_keep_neighbours_together_and_single_rows_do_not():
    blocks, single = orders(10_000, 10_000)[0], orders(10_000, 10_000, mixed=False)[0]
    assert np.mean(np.diff(blocks) == 1) > 0.95
    assert np.mean(np.diff(single) == 1) < 0.01


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_budget_ends_in_the_middle_of_a_pass(shuffle):
    found = orders(10_000, 23_456, shuffle=shuffle)
    assert [len(order) for order in found] == [10_000, 10_000, 3_456]
    assert len(np.unique(found[-1])) == 3_456
    assert shuffle or all(np.array_equal(order, np.arange(len(order))) for order in found)


@pytest.mark.parametrize("seed", [3, np.random.RandomState, np.random.default_rng])
def test_the_same_seed_gives_the_same_orders(seed):
    make = seed if callable(seed) else lambda _: seed
    for a, b in zip(orders(9_000, 20_000, seed=make(7)), orders(9_000, 20_000, seed=make(7)), strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize(("shares", "n_classes"), [((0.5, 0.5), 2), ((0.01, 0.99), 2), ((0.2, 0.3, 0.5), 3)])
def test_rows_in_random_order_are_mixed_and_sorted_ones_are_not(shares, n_classes):
    codes = np.random.default_rng(0).choice(n_classes, size=20_000, p=shares).astype(float)
    assert _order.are_mixed(codes)
    assert not _order.are_mixed(np.sort(codes))
    assert _order.are_mixed(np.array([1.0]))


def test_labels_that_come_sorted_cost_no_accuracy():
    """Blocks of one class each would leave the last class seen in charge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X @ rng.normal(size=10) + 0.5 > 0
    order = np.argsort(y, kind="stable")
    scores = {}
    for name, rows in (("as drawn", np.arange(20_000)), ("sorted", order)):
        fits = (
            PAClassifier(max_iter=1, random_state=seed).fit(X[rows], y[rows])
            for seed in itertools.islice(itertools.count(), 5)
        )
        scores[name] = np.mean([model.score(X, y) for model in fits])
    assert scores["sorted"] > scores["as drawn"] - 0.01
