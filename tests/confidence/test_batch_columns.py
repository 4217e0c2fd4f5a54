"""The columns of a batch: turned from rows, and the best of them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._core import Rows, by_columns
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
    assert_array_equal(columns.transposed.toarray(), X[:, columns.ids].T)
    assert_allclose(columns.squares, (X[:, columns.ids] ** 2).sum(axis=0), rtol=1e-14)
    places = np.array([len(columns.ids) - 1, 0, 3])
    assert_array_equal(columns.take(places), X[:, columns.ids[places]])


def test_only_sparse_rows_with_room_for_all_are_turned():
    X, rows = some_rows(50)
    n, d = len(rows.values), 50
    arrays = [np.zeros(d + 1, np.int64), np.empty(n, np.int32), np.empty(n), np.zeros(d)]
    with pytest.raises(ValueError, match="only sparse rows"):
        by_columns(Rows.dense(X), *arrays)
    for k, array in enumerate(arrays):
        with pytest.raises(ValueError, match="a place for every"):
            by_columns(rows, *arrays[:k], array[:-1], *arrays[k + 1 :])


@pytest.mark.parametrize("n", [1, 2, 5, 40, 200])
def test_the_best_columns_are_the_first_of_a_stable_sort(n):
    rng = np.random.default_rng(n)
    scores = rng.integers(0, 12, size=100).astype(float)  # many are equal
    left = rng.random(100) < 0.7
    order = np.argsort(-scores, kind="stable")
    assert_array_equal(best_columns(scores, left, n), order[left[order]][:n])


def test_columns_without_a_score_are_never_the_best():
    assert_array_equal(best_columns(np.array([np.nan, 1.0, np.inf, np.nan]), np.ones(4, dtype=bool), 3), [2, 1])
