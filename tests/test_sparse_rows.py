"""Rows of sparse files without SciPy: the same rows as a csr_array holds."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher._gate import SparseRows, distinct
from thresher._gate import sparse as gate_sparse
from thresher.streams import open_stream
from thresher.training._column_summary import Columns


@pytest.fixture(params=[np.float64, np.float32])
def pair(request):
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 12), density=0.2, rng=rng, format="csr", dtype=request.param)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.sort_indices()
    assert (np.diff(X.indptr) == 0).any()  # an empty row
    return X, SparseRows(X.data, X.indices, X.indptr, X.shape)


def assert_same(rows, X):
    assert (rows.shape, rows.dtype, rows.nnz, rows.indptr.dtype) == (X.shape, X.dtype, X.nnz, X.indptr.dtype)
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(rows, name), getattr(X, name))


SOME = [
    slice(3, 17),
    slice(None, None, 4),
    slice(0, 0),
    slice(-5, None),
    np.array([4, 4, 0, 29]),
    np.array([], dtype=np.intp),
    np.array([-1, 2]),
    np.arange(30) % 3 == 0,
]


@pytest.mark.parametrize("some", SOME, ids=str)
@pytest.mark.parametrize("is_there", [False, True])
def test_some_rows_are_those_of_a_csr_array(pair, some, is_there, monkeypatch):
    X, rows = pair
    if not is_there:
        monkeypatch.delitem(__import__("sys").modules, "scipy.sparse")
    taken = rows[some]
    if not is_there and not isinstance(some, np.ndarray):
        assert type(taken) is SparseRows
    assert_same(taken, X[some])


def test_all_else_is_asked_of_the_csr_array(pair):
    X, rows = pair
    assert isinstance(rows.tocsr(), sparse.csr_array)
    assert np.shares_memory(rows.tocsr().data, rows.data)
    assert_array_equal(rows.toarray(), X.toarray())
    assert_array_equal(rows @ np.ones(12), X @ np.ones(12))
    assert_array_equal(rows[:, 2:5].toarray(), X[:, 2:5].toarray())
    assert rows.max() == X.max()
    for again in (copy.copy(rows), copy.deepcopy(rows), pickle.loads(pickle.dumps(rows))):
        assert_array_equal(again.toarray(), X.toarray())
    assert not hasattr(rows, "columns")
    assert not hasattr(rows, "__array__")
    assert [gate_sparse.issparse(each) for each in (rows, X, X.toarray())] == [True, True, False]


@pytest.mark.parametrize("wide", [False, True])
def test_figures_of_columns_are_those_of_a_csr_array(pair, wide, monkeypatch):
    X, rows = pair
    names = [f"x{j}" for j in range(12)]
    dense = X.toarray().astype(np.float64)
    if wide:
        monkeypatch.setattr("thresher.training._column_summary._CELLS", 60)
    blocks = dict(zip(names, dense.T, strict=True))
    for each in (X, rows):
        columns = Columns(each, names)
        for found, values in columns.blocks():
            assert_array_equal(values, [blocks[name] for name in found])


def test_a_stream_yields_csr_arrays_unless_it_is_for_the_library(tmp_path):
    path = tmp_path / "x.svm"
    path.write_text("".join(f"{i % 2} {1 + i % 3}:{i + 1} 7:1\n" for i in range(20)))
    batches = list(open_stream(path, batch_size=8))
    own = list(open_stream(path, batch_size=8).without_scipy().replace(batch_size=8))
    assert [type(batch.X) for batch in batches] == 3 * [sparse.csr_array]
    assert [type(batch.X) for batch in own] == 3 * [SparseRows]
    for ours, theirs in zip(own, batches, strict=True):
        assert_same(ours.X, theirs.X)
        assert theirs.X.has_canonical_format


def test_distinct_values_are_those_of_numpy():
    for values in (np.array([3.0, 1.0, 3.0]), np.array(["b", "a", "b"]), np.array(["b", "a"], dtype=object)):
        assert_array_equal(distinct(values), np.unique(values))
