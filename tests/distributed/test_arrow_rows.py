"""Arrow batches as rows, without Spark around them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from thresher.distributed import ShardError
from thresher.distributed._shards import ArrayShard
from thresher.distributed._spark import _as_shard_error
from thresher.distributed._spark_frames import ArrowShard, ColumnRoles, batches_of, blank_row

VECTOR = pa.struct(
    [
        pa.field("type", pa.int8(), nullable=False),
        pa.field("size", pa.int32()),
        pa.field("indices", pa.list_(pa.int32())),
        pa.field("values", pa.list_(pa.float64())),
    ]
)


def dense(*values: float) -> dict[str, Any]:
    return {"type": 1, "size": None, "indices": None, "values": list(values)}


def places(size: int, **values: float) -> dict[str, Any]:
    return {"type": 0, "size": size, "indices": [int(k[1:]) for k in values], "values": list(values.values())}


def columns(*features: str, kind: str = "numbers", **rest: Any) -> ColumnRoles:
    return ColumnRoles(features, kind, *(rest.get(k, v) for k, v in _REST.items()))


_REST: dict[str, Any] = {"y": None, "weight": None, "texts": (), "dense": True, "width": 0}


def batch(**values: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(v) for v in values.values()], names=list(values))


@pytest.mark.parametrize("cut", [0, 2])
@pytest.mark.parametrize("full", [True, False])
def test_vectors_become_a_matrix(cut, full):
    rows = [
        dense(1, 0, 3, 0),
        places(4),
        places(4, _1=5.0, _3=6.0),
        dense(0, 0, 0, 0),
        places(4, _0=-2.0),
        dense(7, 8, 9, 1),
    ]
    expected = np.array([[1, 0, 3, 0], [0] * 4, [0, 5, 0, 6], [0] * 4, [-2, 0, 0, 0], [7, 8, 9, 1]], dtype=float)
    given = pa.RecordBatch.from_arrays([pa.array(rows, VECTOR)], names=["v"]).slice(cut)  # slices share what they hold
    ((X, y, weight),) = batches_of(iter([given]), columns("v", kind="vector", dense=full))
    assert sparse.issparse(X) != full
    assert y is None
    assert weight is None
    matrix = X if full else X.toarray()
    assert np.array_equal(matrix, expected[cut:])
    if not full:
        assert X.nnz == np.count_nonzero(expected[cut:])
        assert X.has_canonical_format


def test_arrays_become_a_matrix():
    given = pa.RecordBatch.from_arrays([pa.array([[1.0, 2.0], [3.0, None], [5.0, 6.0]])], names=["a"])
    ((X, _, _),) = batches_of(iter([given.slice(1)]), columns("a", kind="array"))
    assert np.array_equal(X, [[3.0, np.nan], [5.0, 6.0]], equal_nan=True)


def test_numbers_keep_their_names_and_words_make_a_table():
    given = batch(a=[1, 2], b=[0.5, None], town=["Köln", None], label=[3, 4], w=[1, 0])
    ((X, y, weight),) = batches_of(iter([given]), columns("b", "a", y="label", weight="w"))
    assert list(X.columns) == ["b", "a"]
    assert np.array_equal(X.to_numpy(), [[0.5, 1], [np.nan, 2]], equal_nan=True)
    assert (y.tolist(), y.dtype.kind) == ([3, 4], "i")
    assert (weight.tolist(), weight.dtype) == ([1.0, 0.0], np.float64)
    ((X, _, _),) = batches_of(iter([given]), columns("town", "a", kind="table", texts=("town",)))
    assert X["town"].to_list() == ["Köln", ""]
    assert X["a"].tolist() == [1.0, 2.0]
    ((_, y, _),) = batches_of(iter([given.slice(0, 1)]), columns("a", y="town"))
    assert (y.tolist(), y.dtype) == (["Köln"], object)


def test_pieces_do_not_depend_on_batches():
    values = np.arange(10_000.0)

    def pieces(size: int) -> list[list[float]]:
        batches = (batch(a=values[i : i + size]) for i in range(0, len(values), size))
        return [piece.X["a"].tolist() for piece in batches_of(batches, columns("a"))]

    assert pieces(10_000) == pieces(7) == pieces(4096)
    assert [len(piece) for piece in pieces(7)] == [4096, 4096, 1808]


@pytest.mark.parametrize("shuffle", [1, 64, 250, 1000])
def test_rows_are_mixed_as_those_of_arrays(shuffle):
    X, y = np.arange(600.0)[:, None], np.arange(600)
    batches = (batch(a=X[i : i + 40, 0], y=y[i : i + 40], w=X[i : i + 40, 0]) for i in range(0, 600, 40))
    mixed = list(ArrowShard("a", batches, columns("a", y="y", weight="w")).batches(shuffle, 9))
    expected = next(ArrayShard(X, y, X[:, 0], "a").batches(shuffle, 9))
    assert np.array_equal(np.concatenate([piece.X.to_numpy() for piece in mixed]), expected.X)
    assert np.array_equal(np.concatenate([piece.y for piece in mixed]), expected.y)
    assert np.array_equal(np.concatenate([piece.weight for piece in mixed]), expected.weight)


def test_rows_that_have_passed_by_are_not_taken_for_none():
    shard = ArrowShard("a", iter([batch(a=[1.0])]), columns("a"))
    assert len(list(shard.batches())) == 1
    with pytest.raises(RuntimeError, match="can be read once"):
        shard.batches()


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        (pa.array([[1.0], [1.0, 2.0]]), "array", "column 'a' must hold rows of one length, got 1 and 2."),
        (pa.array([[1.0], None]), "array", "column 'a' is empty in some rows."),
        (
            pa.array([dense(1), places(3, _0=1.0)], VECTOR),
            "vector",
            "column 'a' must hold rows of one length, got 1 and 3.",
        ),
        (pa.array([dense(1), None], VECTOR), "vector", "column 'a' is empty in some rows."),
    ],
)
def test_rows_that_are_no_matrix_are_refused(values, kind, words):
    given = pa.RecordBatch.from_arrays([values], names=["a"])
    with pytest.raises(ValueError, match=re.escape(words)):
        list(batches_of(iter([given]), columns("a", kind=kind)))


def test_missing_targets_are_refused():
    for role in ("y", "weight"):
        with pytest.raises(ValueError, match=r"column 't' is empty in some rows"):
            list(batches_of(iter([batch(a=[1.0, 2.0], t=[1, None])]), columns("a", **{role: "t"})))


@pytest.mark.parametrize("kind", ["numbers", "table", "vector", "array"])
def test_a_blank_row_is_of_the_kind_of_the_others(kind):
    texts = ("b",) if kind == "table" else ()
    row = blank_row(columns("a", "b", kind=kind, texts=texts, dense=kind != "vector"), 5)
    assert row.shape == (1, 2 if kind in ("numbers", "table") else 5)
    assert sparse.issparse(row) == (kind == "vector")


def test_what_spark_says_becomes_a_line():
    java = "\n\tat org.apache.spark.Task.run(Task.scala:147)\n\nDriver stacktrace:"
    begin = (
        "Job aborted due to stage failure: Task 1 in stage 4.0 failed 4 times, most recent failure: Lost task 1.3 in "
    )
    words = "ExecutorLostFailure (executor 3 exited) Reason: Killed"
    told = _as_shard_error(
        Exception(f"{begin}stage 4.0 (TID 9) (10.0.0.7 executor 3): {words}{java}"), {0: "a", 1: "b"}
    )
    assert isinstance(told, ShardError)
    assert str(told) == f"the shard 'b' was lost: Spark tried it 4 times, at last: {words}"
    python = (
        "Traceback (most recent call last):\n  File 'x.py', line 3\nModuleNotFoundError: No module named 'thresher'\n"
    )
    told = _as_shard_error(Exception("An exception was thrown:\n" + python + java), {0: "a", 1: "b"})
    assert str(told) == "fit: Spark gave up: ModuleNotFoundError: No module named 'thresher'"
