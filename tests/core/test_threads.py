"""Loops over rows in several threads: the same bits as in one, and the same findings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher import _core
from thresher._core import Rows, linear_scores
from thresher._engine import allow_threads, n_threads

N_ROWS, N_FEATURES = 12_000, 100  # enough values for four threads


@pytest.fixture(autouse=True)
def as_many_threads_as_before():
    before = n_threads()
    yield
    allow_threads(before)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, N_FEATURES))


def rows_of(X, layout):
    if layout == "dense":
        return Rows.dense(np.ascontiguousarray(X))
    X = sparse.csr_array(X)
    return Rows.csr(X.data, X.indices, X.indptr.astype(np.int64), X.shape[1])


def scored(rows, weights, bias=0.5):
    out = np.empty((rows.n_rows, len(weights)))
    linear_scores(rows, bias, weights, out)
    return out


def in_threads(function):
    """What a function returns in one, two and five threads."""
    for n in (1, 2, 5):
        allow_threads(n)
        yield function()


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("n_outputs", [1, 2, 4, 21])
def test_scores_have_the_same_bits_in_any_number_of_threads(matrix, layout, n_outputs):
    weights = np.random.default_rng(1).normal(size=(n_outputs, N_FEATURES + 1))
    rows = rows_of(matrix, layout)
    one, *others = in_threads(lambda: scored(rows, weights))
    assert_allclose(one, matrix @ weights[:, :-1].T + 0.5 * weights[:, -1], rtol=1e-10, atol=1e-10)
    for other in others:
        assert_array_equal(one, other)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("n_outputs", [2, 3, 8, 21])
def test_scores_of_a_row_do_not_depend_on_the_rows_beside_it(matrix, layout, n_outputs):
    weights = np.random.default_rng(1).normal(size=(n_outputs, N_FEATURES + 1))
    some = matrix[:300] * (np.random.default_rng(2).random((300, N_FEATURES)) < 0.5)
    together = scored(rows_of(some, layout), weights)
    one_by_one = [scored(rows_of(some[i : i + 1], layout), weights)[0] for i in range(300)]
    assert_array_equal(together, one_by_one)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("place", [(0, 0), (7_001, 3), (N_ROWS - 1, N_FEATURES - 1)])
def test_a_value_that_is_not_finite_is_found_in_any_number_of_threads(matrix, layout, place):
    X = matrix.copy()
    X[place] = np.nan
    X[N_ROWS - 1, N_FEATURES - 1] = np.nan  # the first one counts
    for rows in in_threads(lambda: rows_of(X, layout)):
        assert rows.fault == "value"
        assert rows.fault_at[:2] == place


@pytest.mark.parametrize("wrong", [N_FEATURES, -1])
def test_a_column_out_of_range_is_found_in_any_number_of_threads(matrix, wrong):
    X = sparse.csr_array(matrix)
    X.indices[[700_003, 900_000]] = wrong
    starts = X.indptr.astype(np.int64)
    for rows in in_threads(lambda: Rows.csr(X.data, X.indices, starts, N_FEATURES)):
        assert rows.fault == "range"
        assert rows.fault_at[:2] == (7_000, wrong)


def test_columns_out_of_order_are_found_in_any_number_of_threads(matrix):
    X = sparse.csr_array(matrix)
    X.indices[[700_003, 700_004]] = X.indices[[700_004, 700_003]]
    starts = X.indptr.astype(np.int64)
    for rows in in_threads(lambda: Rows.csr(X.data, X.indices, starts, N_FEATURES)):
        assert rows.fault == "order"


def test_there_must_be_a_thread():
    with pytest.raises(ValueError, match="there must be a thread"):
        _core.set_n_threads(0)
