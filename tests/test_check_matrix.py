"""The gate for work that belongs to matrix products."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher._gate._validation import check_matrix

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -3.0]])


@pytest.mark.parametrize(
    "given",
    [X, X.tolist(), X.astype(np.float32), np.asfortranarray(X), X.astype(">f8"), pd.DataFrame(X, columns=list("abc"))],
    ids=["array", "list", "float32", "fortran", "big-endian", "frame"],
)
def test_dense_rows_are_arrays_in_c_order(given):
    rows = check_matrix(SimpleNamespace(_takes_arrays=False), given, reset=True)
    assert type(rows) is np.ndarray
    assert rows.flags.c_contiguous
    assert rows.dtype in (np.float64, np.float32)
    assert_array_equal(rows, X)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix])
def test_sparse_rows_are_csr_arrays(make):
    rows = check_matrix(SimpleNamespace(_takes_arrays=False), make(X), reset=True)
    assert isinstance(rows, sparse.csr_array)
    assert_array_equal(rows.toarray(), X)


def test_frames_of_sparse_columns_stay_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X))
    assert_array_equal(check_matrix(SimpleNamespace(_takes_arrays=False), frame, reset=True).toarray(), X)


def test_columns_out_of_order_and_repeated_are_put_in_order_on_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    given = sparse.csr_array((data, indices, indptr), shape=(2, 3))
    given.has_sorted_indices = given.has_canonical_format = True  # though it is not
    rows = check_matrix(SimpleNamespace(_takes_arrays=False), given, reset=True)
    assert rows.has_canonical_format
    assert_array_equal(rows.indices, [0, 2, 1])
    assert_array_equal(rows.toarray(), [[2.0, 0.0, 4.0], [0.0, 4.0, 0.0]])
    assert_array_equal(given.indices, [2, 0, 2, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([[1.0, np.nan]]), r"SimpleNamespace: X must hold finite numbers, got NaN in row 0, column 1\."),
        (sparse.csr_array(np.array([[0.0, np.inf]])), r"X must hold finite numbers, got infinity in row 0, column 1\."),
        (pd.DataFrame({"a": [1.0], "b": [np.nan]}), r"got NaN in row 0, column 'b'\."),
        ([["x", "y"]], r"X must hold numbers"),
        ([1.0, 2.0], r"Expected 2D array"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.eye(2), r"X has 2 features, but SimpleNamespace is expecting 3 features as input\."),
    ],
)
def test_what_is_wrong_is_told(given, message):
    with pytest.raises(ValueError, match=message):
        check_matrix(SimpleNamespace(n_features_in_=3), given, reset=message.startswith("X has") is False)


def test_columns_named_by_words_and_numbers_are_refused():
    with pytest.raises(TypeError, match=r"SimpleNamespace: either all columns of X must be named by text, or none"):
        check_matrix(SimpleNamespace(_takes_arrays=False), pd.DataFrame(X, columns=["a", "b", 1]), reset=True)
