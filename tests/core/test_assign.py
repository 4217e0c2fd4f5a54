"""The nearest centre: against NumPy, for every number of centres, width, layout and precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._core import Rows, assign, centre_costs, row_squares
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
@pytest.mark.parametrize("exact", [True, False])
def test_the_width_of_registers_leaves_no_trace(layout, dtype, n_centres, exact):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 11)) * (rng.random((300, 11)) < 0.7)).astype(dtype)
    table, padding = padded(rng.normal(size=(n_centres, 11)), rng.normal(size=n_centres))
    found = []
    for n_bytes in (64, 32, 16):
        labels, costs = np.empty(300, dtype=np.int32), np.zeros(300)
        sums, weights = np.zeros((n_centres, 11)), np.zeros(n_centres)
        costs_out = costs if exact else None
        assign(as_rows(layout(X)), 0, 300, table, padding, None, None, None, labels, costs_out, sums, weights, n_bytes)
        found.append((labels, costs, sums, weights))
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            assert_array_equal(mine, theirs)


@pytest.mark.parametrize("width", [63, 64, 65, 300])
def test_many_columns_are_read_in_parts(dtype, width):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(70, width)).astype(dtype)
    W, middle = rng.integers(-3, 4, size=(6, width)).astype(float), rng.integers(-3, 4, size=width).astype(float)
    table, padding = padded(W, np.arange(6.0))
    expected = (X - middle) @ W.T + np.arange(6.0)
    labels, costs, alone = np.empty(70, dtype=np.int32), np.empty(70), np.empty(70, dtype=np.int32)
    assign(Rows.dense(X), 0, 70, table, padding, None, middle, None, labels, costs)
    assign(Rows.dense(X), 0, 70, table, padding, None, middle, None, alone, None)
    assert_array_equal(costs, expected.min(axis=1))
    assert_array_equal(labels, expected.argmin(axis=1))
    assert_array_equal(alone, labels)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 33, 36, 37])
def test_a_row_is_assigned_as_among_others(dtype, n_rows):
    rng = np.random.default_rng(0)
    X, W, middle = rng.normal(size=(64, 11)).astype(dtype), rng.normal(size=(6, 11)), np.full(11, 0.25)
    table, padding = padded(W, 0.0)
    found = []
    for rows in (X, X[:n_rows]):
        labels, costs = np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
        assign(Rows.dense(rows), 0, len(rows), table, padding, None, middle, None, labels, costs)
        alone = np.empty(len(rows), dtype=np.int32)
        assign(Rows.dense(rows), 0, len(rows), table, padding, None, middle, None, alone, None)
        found.append((labels[:n_rows], costs[:n_rows], alone[:n_rows]))
    for many, few in zip(*found, strict=True):
        assert_array_equal(many, few)


def _hard_for_float32(rng):
    """Rows, centres, a middle; differences of costs are near what float32 can tell, or beyond what it holds."""
    X = rng.normal(size=(2000, 28))
    near = np.repeat(X[:5], 3, axis=0) + 1e-6 * rng.normal(size=(15, 28))
    yield X, X[:20], None
    yield X, near, None  # all rows are near ties
    yield X, np.repeat(X[:7], 2, axis=0), None  # ties
    yield X[:, :1], near[:, :1], None
    yield X + 100, near + 100, np.full(28, 100.0)
    yield X + 100.1, near + 100.1, np.full(28, 100.1)  # no number of float32
    yield X + 1e5, X[:9] + 1e5, None  # which no middle brings near
    yield X * 10.0 ** rng.integers(-44, 0, size=(2000, 1)), near * 10.0 ** rng.integers(-44, 0, size=(15, 1)), None
    yield X * 10.0 ** rng.integers(0, 38, size=(2000, 1)), near * 10.0 ** rng.integers(0, 38, size=(15, 1)), None
    yield X * 1e-30, near * 1e40, None
    yield X * 1e30, near * 1e-40, None
    yield rng.normal(size=(600, 1100)), rng.normal(size=(4, 1100)), None


def _assigned(X, table, offsets, middle, n_bytes, *, exact):
    labels, costs = np.empty(len(X), dtype=np.int32), np.empty(len(X)) if exact else None
    sums, weights = np.zeros((table.shape[1], table.shape[0])), np.zeros(table.shape[1])
    assign(Rows.dense(X), 0, len(X), table, offsets, None, middle, None, labels, costs, sums, weights, n_bytes)
    return labels, sums, weights


def _check_float32(X, table, offsets, middle=None):
    X = X.astype(np.float32)
    for n_bytes in (64, 32, 16):
        expected = _assigned(X.astype(np.float64), table, offsets, middle, n_bytes, exact=True)
        for exact in (False, True):
            for mine, theirs in zip(_assigned(X, table, offsets, middle, n_bytes, exact=exact), expected, strict=True):
                assert_array_equal(mine, theirs)
    return expected[0]


@pytest.mark.parametrize("case", range(12))
def test_float32_rows_are_assigned_as_in_float64(case):
    X, W, middle = list(_hard_for_float32(np.random.default_rng(1)))[case]
    W = W if middle is None else W - middle
    _check_float32(X, *padded(-2 * W, (W * W).sum(axis=1)), middle)


@pytest.mark.parametrize(
    ("row", "weights"),
    [
        ([1e18, 1e18, 1e10], [[0, 0, 1e22], [-1e22, 1e22, 0]]),  # inf - inf on the way to 0
        ([1e-22, 1e-22, 1e-22], [[6.5e-24, 6.5e-24, 6.5e-24], [8e-24, 0, 0]]),  # products that round to 0
    ],
)
def test_costs_that_float32_cannot_hold(row, weights):
    labels = _check_float32(np.repeat([row], 40, axis=0), *padded(np.array(weights), 0.0))
    assert_array_equal(labels, 1)


def test_sums_do_not_depend_on_the_middle(dtype):
    X = np.random.default_rng(0).integers(0, 9, size=(50, 5)).astype(dtype)
    weight, middle = np.arange(50.0), np.array([4.0, 5.0, 3.0, 4.0, 2.5])
    table, padding = padded(X[:3] - middle, 0.0)
    labels, sums, weights = np.empty(50, dtype=np.int32), np.zeros((3, 5)), np.zeros(3)
    assign(Rows.dense(X), 0, 50, table, padding, None, middle, weight, labels, None, sums, weights)
    member = (labels[:, None] == np.arange(3)) * weight[:, None]
    assert_array_equal(sums, member.T @ X)
    assert_array_equal(weights, member.sum(axis=0))


def test_squares_of_distances_from_the_middle(dtype):
    X, middle = np.random.default_rng(0).normal(size=(50, 11)).astype(dtype), np.linspace(1, 2, 11)
    assert_allclose(row_squares(Rows.dense(X), 0.0, middle), ((X - middle) ** 2).sum(axis=1), rtol=1e-14)
    narrow = as_rows(sparse.csr_array(X))
    for rows, bias, wrong in ((narrow, 0.0, middle), (Rows.dense(X), 0.0, middle[1:]), (Rows.dense(X), 1.0, middle)):
        with pytest.raises(ValueError, match="middle"):
            row_squares(rows, bias, wrong)


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
