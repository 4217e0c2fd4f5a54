"""The nearest centre: against NumPy, for every number of centres, width, layout and precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._core import Rows, assign, centre_costs
from thresher.cluster._sweep import as_rows


def padded(W, offsets):
    table = np.zeros((W.shape[1], -(-len(W) // 4) * 4))
    table[:, : len(W)] = W.T
    out = np.full(table.shape[1], np.inf)
    out[: len(W)] = offsets
    return table, out


@pytest.mark.parametrize("n_centres", [*range(1, 37), 67])
@pytest.mark.parametrize("width", [1, 5, 28])
def test_labels_costs_and_sums(layout, dtype, n_centres, width):
    rng = np.random.default_rng(n_centres)
    n_rows = 261  # more than a tile, and no multiple of what is read at once
    X = (rng.integers(-3, 4, size=(n_rows, width)) * (rng.random((n_rows, width)) < 0.7)).astype(dtype)
    W, offsets = rng.integers(-3, 4, size=(n_centres, width)).astype(float), rng.integers(-5, 5, size=n_centres)
    weight = rng.integers(0, 3, size=n_rows).astype(float)
    expected = X.astype(float) @ W.T + offsets  # whole numbers: no rounding, and many ties
    rows, (table, padding) = as_rows(layout(X)), padded(W, offsets)
    labels, costs = np.full(n_rows, -1, dtype=np.int32), np.full(n_rows, np.nan)
    sums, weights = np.zeros((n_centres, width)), np.zeros(n_centres)
    assign(rows, 3, n_rows, table, padding, None, None, weight, labels, costs, sums, weights)
    assert_array_equal(labels[3:], expected.argmin(axis=1)[3:])  # the first of those that tie
    assert_array_equal(costs[3:], expected.min(axis=1)[3:])
    assert_array_equal(labels[:3], -1)
    assert np.isnan(costs[:3]).all()
    member = (labels[3:, None] == np.arange(n_centres)) * weight[3:, None]
    assert_array_equal(sums, member.T @ X[3:])
    assert_array_equal(weights, member.sum(axis=0))
    out = np.empty((200, len(padding)))
    centre_costs(rows, 10, table, padding, None, None, out)
    assert_array_equal(out[:, :n_centres], expected[10:210])
    assert np.isinf(out[:, n_centres:]).all()


@pytest.mark.parametrize("n_centres", [1, 6, 13, 20, 31])
def test_a_middle_is_subtracted_from_dense_rows(dtype, n_centres):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 7)).astype(dtype)
    W, middle = rng.normal(size=(n_centres, 7)), rng.normal(size=7)
    table, padding = padded(W, 0.0)
    labels, costs = np.empty(50, dtype=np.int32), np.empty(50)
    assign(Rows.dense(X), 0, 50, table, padding, None, middle, None, labels, costs)
    expected = (X - middle) @ W.T
    assert_array_equal(labels, expected.argmin(axis=1))
    assert_allclose(costs, expected.min(axis=1), rtol=1e-6 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("n_centres", [1, 3, 8, 13, 20, 28, 40])
def test_the_width_of_registers_leaves_no_trace(layout, dtype, n_centres):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 11)) * (rng.random((300, 11)) < 0.7)).astype(dtype)
    table, padding = padded(rng.normal(size=(n_centres, 11)), rng.normal(size=n_centres))
    found = []
    for wide in (True, False):
        labels, costs = np.empty(300, dtype=np.int32), np.empty(300)
        assign(as_rows(layout(X)), 0, 300, table, padding, None, None, None, labels, costs, wide=wide)
        found.append((labels, costs))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


def test_features_without_a_place_count_for_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    W = rng.normal(size=(5, 6)) * (np.arange(6) % 2)
    table, padding = padded(W[:, 1::2], 0.0)
    place = np.array([-1, 0, -1, 1, -1, 2], dtype=np.int32)
    labels, costs = np.empty(30, dtype=np.int32), np.empty(30)
    assign(as_rows(sparse.csr_array(X)), 0, 30, table, padding, place, None, None, labels, costs)
    assert_array_equal(labels, (X @ W.T).argmin(axis=1))
    assert_allclose(costs, (X @ W.T).min(axis=1), atol=1e-12)


def test_what_does_not_fit_is_refused():
    X = np.eye(3)
    rows, narrow = Rows.dense(X), as_rows(sparse.csr_array(X))
    table, padding = padded(np.eye(3), 0.0)
    labels, costs = np.empty(3, dtype=np.int32), np.empty(3)
    place = np.zeros(3, dtype=np.int32)
    good = {"rows": rows, "begin": 0, "end": 3, "table": table, "offsets": padding}
    good |= dict.fromkeys(["place", "middle", "weight"])
    assign(**good, labels=labels, costs=costs)
    for changes, said in [
        ({"end": 4}, "begin and end"),
        ({"begin": -1}, "begin and end"),
        ({"table": table[:, :3].copy(), "offsets": padding[:3]}, "padded"),
        ({"offsets": padding[:3]}, "padded"),
        ({"table": table[:2]}, "row for every feature"),
        ({"place": place}, "dense rows have all"),
        ({"rows": narrow, "place": place[:2]}, "place for every feature"),
        ({"rows": narrow, "place": place + 3}, "row of the table"),
        ({"rows": narrow, "place": place - 2}, "row of the table"),
        ({"rows": narrow, "middle": np.zeros(3)}, "only dense rows"),
        ({"middle": np.zeros(2)}, "only dense rows"),
        ({"weight": np.ones(2)}, "weights and rows"),
        ({"labels": labels[:2]}, "differ in length"),
        ({"costs": costs[:2]}, "differ in length"),
        ({"sums": np.zeros((3, 3))}, "sums come with weights"),
        ({"sums": np.zeros((2, 3)), "weights": np.zeros(2)}, "sum for every centre"),
        ({"sums": np.zeros((3, 2)), "weights": np.zeros(3)}, "sum for every centre"),
        ({"sums": np.zeros((3, 3)), "weights": np.zeros(2)}, "sum for every centre"),
    ]:
        with pytest.raises(ValueError, match=said):
            assign(**{**good, "labels": labels, "costs": costs, **changes})
    with pytest.raises(ValueError, match="out must have"):
        centre_costs(rows, 0, table, padding, None, None, np.empty((4, 4)))
    with pytest.raises(ValueError, match="out must have"):
        centre_costs(rows, 0, table, padding, None, None, np.empty((3, 3)))
