"""The columns of a batch: turned from rows, and the best of them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._core import Columns, ColumnSearch, Rows, add_products, take_sparse
from thresher.confidence._chosen_columns import ChosenColumns
from thresher.confidence._group_search import BatchColumns, best_columns


def some_rows(n_features, dtype=np.float64, index=np.int32):
    X = sparse.random_array((30, n_features), density=min(1.0, 40 / n_features), rng=0, format="csr", dtype=dtype)
    X.data[::7] = 0  # stored, and no value
    rows = Rows.csr(X.data, X.indices.astype(index), X.indptr.astype(np.int64), n_features)
    return X.toarray().astype(np.float64), rows


@pytest.mark.parametrize("n_features", [50, 100_000])  # a table of all features, and one of those that occur
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_are_those_of_the_rows(n_features, dtype, index):
    X, rows = some_rows(n_features, dtype, index)
    columns = BatchColumns.of(rows)
    assert_array_equal(columns.ids, np.unique(rows.columns))
    assert_array_equal(columns.matrix.toarray(), X[:, columns.ids])
    assert_allclose(columns.squares, (X[:, columns.ids] ** 2).sum(axis=0), rtol=1e-14)
    places = np.array([len(columns.ids) - 1, 0, 3])
    some = X[:, columns.ids[places]]
    there, taken = columns.take(places)
    assert_array_equal(taken, some[there])
    assert not np.delete(some, there, axis=0).any()
    for constant in (0.0, 0.5):
        chosen = columns.chosen(places, constant)
        whole = np.hstack([np.full((30, 1), constant), some])[:, int(not constant) :]
        assert_array_equal(chosen.X.toarray(), whole)
        assert_allclose(chosen.gram(np.arange(30.0)), (whole.T * np.arange(30.0)) @ whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_features", [50, 100_000])
@pytest.mark.parametrize("change", [0.0, 1e-3, 0.3])
def test_a_search_that_remembers_sums_finds_what_all_sums_find(n_features, change):
    """Coefficients that change a little from question to question, and one that is not a number in the end."""
    X, rows = some_rows(n_features)
    rng, columns = np.random.default_rng(1), BatchColumns.of(rows)
    n = len(columns.ids)
    share, mean, precision = rng.normal(size=30) * (rng.random(30) < 0.7), 0.1 * rng.normal(size=n), 1 + rng.random(n)
    left, places = rng.random(n) < 0.9, np.empty(5, np.int64)
    search = ColumnSearch(columns.stored, precision, mean)
    for _ in range(6):
        s = X[:, columns.ids].T @ share
        assert search.best(share, left, places) == 5
        assert_array_equal(places, best_columns(s * (s / precision + 2 * mean), left, 5))
        left[places] = False
        share = share + change * rng.normal(size=30)
    share[3] = np.nan
    found = places[: search.best(share, left, places)]
    assert len(found)
    assert not np.isin(columns.ids[found], rows.columns[rows.starts[3] : rows.starts[4]]).any()


def test_a_search_refuses_what_does_not_fit():
    columns = BatchColumns.of(some_rows(50)[1]).stored
    n = len(columns.ids)
    with pytest.raises(ValueError, match="a precision and a mean"):
        ColumnSearch(columns, np.ones(n), np.ones(n - 1))
    search, places = ColumnSearch(columns, np.ones(n), np.zeros(n)), np.empty(3, np.int64)
    with pytest.raises(ValueError, match="a coefficient for every row"):
        search.best(np.ones(29), np.ones(n, dtype=bool), places)
    with pytest.raises(ValueError, match="must be left or not"):
        search.best(np.ones(30), np.ones(n + 1, dtype=bool), places)


def test_columns_that_are_taken_stay_sparse():
    X, rows = some_rows(50)
    chosen = ChosenColumns.of(rows, 0.3, np.array([7, 50, 0, 49]))
    whole = np.hstack([X, np.full((30, 1), 0.3)])[:, [7, 50, 0, 49]]
    assert_array_equal(chosen.X.toarray(), whole)
    share = np.arange(30.0) % 3
    assert_allclose(chosen.gram(share), (whole.T * share) @ whole, rtol=1e-12, atol=1e-14)
    dense = ChosenColumns.of(Rows.dense(X), 0.3, np.array([7, 50, 0, 49]))
    assert_allclose(dense.gram(share), chosen.gram(share), rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="columns must be those of the rows"):
        take_sparse(rows, 0.3, np.array([51]))
    with pytest.raises(ValueError, match="only sparse rows"):
        take_sparse(Rows.dense(X), 0.3, np.array([1]))
    with pytest.raises(ValueError, match="a place for every pair"):
        add_products(chosen.rows, share, np.zeros((3, 4)))
    with pytest.raises(ValueError, match="a weight for every row"):
        add_products(chosen.rows, share[1:], np.zeros((4, 4)))
    with pytest.raises(ValueError, match="left to BLAS"):
        add_products(Rows.dense(X), share, np.zeros((50, 50)))


def test_only_sparse_rows_are_turned():
    with pytest.raises(ValueError, match="only sparse rows"):
        Columns.of(Rows.dense(np.ones((3, 2))))


@pytest.mark.parametrize("n", [1, 2, 5, 40, 200])
def test_the_best_columns_are_the_first_of_a_stable_sort(n):
    rng = np.random.default_rng(n)
    scores = rng.integers(0, 12, size=100).astype(float)  # many are equal
    left = rng.random(100) < 0.7
    order = np.argsort(-scores, kind="stable")
    assert_array_equal(best_columns(scores, left, n), order[left[order]][:n])


def test_columns_without_a_score_are_never_the_best():
    assert_array_equal(best_columns(np.array([np.nan, 1.0, np.inf, np.nan]), np.ones(4, dtype=bool), 3), [2, 1])
