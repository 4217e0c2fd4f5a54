"""Dask arrays and data frames as shards, in this process and on a cluster of two."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from thresher import distributed
from thresher.cluster import SparseKMeans
from thresher.distributed._dask import dask_shards
from thresher.online import AROWClassifier, PAClassifier

pytestmark = pytest.mark.xdist_group("dask")

CHUNKS = (50, 30, 41)


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(sum(CHUNKS), 6)) * (rng.random((sum(CHUNKS), 6)) < 0.7)
    y = np.where(X @ rng.normal(size=6) > 0, "yes", "no")
    return X, y, rng.integers(0, 3, size=len(y)).astype(float)


def blocks_of(*arrays: Any) -> list[tuple[Any, ...]]:
    edges = np.cumsum([0, *CHUNKS])
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(edges)]


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(values, b.state_.arrays[name]) for name, values in a.state_.arrays.items())


def as_sparse(X: Any) -> Any:
    return X.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))


@pytest.mark.parametrize("layout", [lambda X: X, as_sparse], ids=["dense", "csr"])
@pytest.mark.parametrize("engine", ["serial", "dask"])
def test_blocks_of_arrays_are_shards(request, rows, layout, engine):
    X, y, weight = rows
    where = request.getfixturevalue("cluster") if engine == "dask" else "serial"
    lazy = layout(da.from_array(X, chunks=(CHUNKS, -1)))
    of_blocks = blocks_of(X if layout is not as_sparse else sparse.csr_array(X), y, weight)
    here = distributed.fit(AROWClassifier(), of_blocks, n_rounds=2)
    # y in other blocks, weights in no blocks at all
    there = distributed.fit(
        AROWClassifier(), lazy, da.from_array(y, chunks=17), weight=weight, n_rounds=2, engine=where
    )
    assert same(here, there)
    assert there.record_["distributed"]["shards"] == ["block 1 of 3", "block 2 of 3", "block 3 of 3"]


@pytest.mark.parametrize("engine", ["serial", "dask"])
def test_partitions_of_data_frames_are_shards(request, rows, engine):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, weight = rows
    where = request.getfixturevalue("cluster") if engine == "dask" else "serial"
    frames = [pd.DataFrame(A, columns=list("abcdef")).assign(cured=t, w=v) for A, t, v in blocks_of(X, y, weight)]
    lazy = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    pandas_blocks = [(frame[list("abdf")], frame["cured"], frame["w"]) for frame in frames]
    here = distributed.fit(AROWClassifier(), pandas_blocks, n_rounds=2)
    there = distributed.fit(
        AROWClassifier(), lazy, "cured", weight="w", features=list("abdf"), n_rounds=2, engine=where
    )
    assert same(here, there)
    assert there.feature_names_in_.tolist() == list("abdf")


def test_sums_over_blocks(cluster, rows):
    X = rows[0]
    learner = SparseKMeans(3, alpha=0.01, random_state=0)
    here = distributed.fit(learner, [block for (block,) in blocks_of(X)], n_rounds=3)
    there = distributed.fit(learner, da.from_array(X, chunks=(CHUNKS, -1)), n_rounds=3, engine=cluster)
    assert np.array_equal(here.cluster_centers_, there.cluster_centers_)


def test_blocks_never_come_to_the_driver(cluster, rows):
    X, y, _ = rows

    def where(block: np.ndarray) -> np.ndarray:
        import distributed as dask_distributed

        dask_distributed.get_worker()  # or ValueError
        return block

    lazy = da.from_array(X, chunks=(CHUNKS, -1)).map_blocks(where, meta=X[:0])
    here = distributed.fit(AROWClassifier(), blocks_of(X, y))
    assert same(here, distributed.fit(AROWClassifier(), lazy, da.from_array(y, chunks=(CHUNKS,)), engine=cluster))


def test_serially_one_block_is_in_memory_at_a_time(rows):
    X, y, _ = rows
    alive: list[int] = []

    def count(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        alive.append(block_info[0]["chunk-location"][0])
        return block

    lazy = da.from_array(X, chunks=(CHUNKS, -1)).map_blocks(count, meta=X[:0])
    shards = dask_shards(lazy, da.from_array(y, chunks=(CHUNKS,)))
    assert alive == []
    for n, shard in enumerate(shards, start=1):
        assert next(shard.batches()).X.shape[0] == CHUNKS[n - 1]
        assert alive == list(range(n))


@pytest.mark.parametrize("layout", [lambda X: X, as_sparse], ids=["dense", "csr"])
@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_of_an_array_are_lazy_blocks(rows, layout, method, n_classes):
    X, y, _ = rows
    y = y if n_classes == 2 else np.where(X[:, 0] > 1, "perhaps so", y)
    model = PAClassifier().fit(X, y)
    said = distributed.predict(model, layout(da.from_array(X, chunks=(CHUNKS, -1))), method=method)
    expected = getattr(model, method)(sparse.csr_array(X) if layout is as_sparse else X)
    assert isinstance(said, da.Array)
    assert (said.chunks[0], said.shape, said.dtype) == (CHUNKS, expected.shape, expected.dtype)
    assert np.array_equal(said.compute(scheduler="sync"), expected)


def test_predictions_on_a_cluster(cluster, rows):
    X, y, _ = rows
    model = PAClassifier().fit(X, y)
    said = distributed.predict(model, da.from_array(X, chunks=(CHUNKS, -1)))
    assert np.array_equal(cluster.compute(said).result(), model.predict(X))


def test_predictions_of_a_data_frame_keep_its_index(rows):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X)) * 3)
    model = PAClassifier().fit(frame[list("bd")], y)
    lazy = dd.from_pandas(frame, npartitions=4)
    said = distributed.predict(model, lazy)
    computed = said.compute(scheduler="sync")
    assert computed.name == said.name == "prediction"
    assert computed.dtype == said.dtype
    assert computed.index.equals(frame.index)
    assert computed.tolist() == model.predict(frame[list("bd")]).tolist()
    scores = distributed.predict(model, lazy, method="decision_function").compute(scheduler="sync")
    assert np.array_equal(scores, model.decision_function(frame[list("bd")]))
    three = PAClassifier().fit(frame, np.where(X[:, 0] > 1, "perhaps", y))
    scores = distributed.predict(three, lazy, method="decision_function").compute(scheduler="sync")
    assert list(scores.columns) == ["no", "perhaps", "yes"]
    assert np.array_equal(scores, three.decision_function(frame))


def test_empty_blocks_are_no_rows(rows):
    X, y, _ = rows
    model = PAClassifier().fit(X, y)
    kept = X[:, 0] > 0.2
    lazy_kept = da.from_array(kept, chunks=(CHUNKS,))
    lazy, labels = da.from_array(X, chunks=(CHUNKS, -1))[lazy_kept], da.from_array(y, chunks=(CHUNKS,))[lazy_kept]
    lazy = da.concatenate([lazy, lazy[lazy[:, 0] > 1e9]])
    labels = da.concatenate([labels, labels[labels == "never"]])
    assert np.array_equal(distributed.predict(model, lazy).compute(scheduler="sync"), model.predict(X[kept]))
    some = [(A[A[:, 0] > 0.2], t[A[:, 0] > 0.2]) for A, t in blocks_of(X, y)]
    assert same(distributed.fit(AROWClassifier(), some), distributed.fit(AROWClassifier(), lazy, labels))


def test_a_block_that_cannot_be_made_is_named(cluster, rows):
    X, y, _ = rows

    def burst(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info[0]["chunk-location"][0] == 1:
            raise RuntimeError("no such tape")
        return block

    lazy = da.from_array(X, chunks=(CHUNKS, -1)).map_blocks(burst, meta=X[:0])
    for engine in ("serial", cluster):
        with pytest.raises(distributed.ShardError, match=r"'block 2 of 3' was lost: .*no such tape"):
            distributed.fit(AROWClassifier(), lazy, da.from_array(y, chunks=(CHUNKS,)), engine=engine)


def test_what_a_cluster_holds_is_read_there(cluster, rows):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, _ = rows
    blocks, labels = da.from_array(X, chunks=(CHUNKS, -1)), da.from_array(y, chunks=(CHUNKS,))
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")).assign(cured=y), npartitions=3)
    held = [(cluster.persist(blocks), labels), (cluster.persist(blocks) * 1, labels), (cluster.persist(frame), "cured")]
    for data, beside in (*held, (blocks, cluster.persist(labels))):
        with pytest.raises(
            distributed.ShardError, match=r"1 of 3' was lost: its rows are on a Dask cluster, .*\"dask\""
        ):
            distributed.fit(AROWClassifier(), data, beside)
    here = distributed.fit(AROWClassifier(), blocks_of(X, y))
    assert same(here, distributed.fit(AROWClassifier(), *held[0], engine=cluster))
    assert same(here, distributed.fit(AROWClassifier(), blocks.persist(scheduler="sync"), labels))  # held by none


def test_blocks_tell_whose_rows_they_are(rows):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, weight = rows

    def told(*given: Any, **more: Any) -> list[Any]:
        return [shard.identity for shard in dask_shards(*given, **more)]

    def lazy(values: np.ndarray) -> Any:
        return da.from_array(values, chunks=(CHUNKS, -1)[: values.ndim])

    def frame(values: np.ndarray) -> Any:
        return dd.from_pandas(pd.DataFrame(values, columns=list("abcdef")).assign(g=0.0), npartitions=3)

    first = told(lazy(X), y, weight)
    assert len({json.dumps(each) for each in first}) == 3
    assert told(lazy(X.copy()), lazy(y), weight) == first
    others = [(lazy(X + 1), y, weight), (lazy(X), y[::-1], weight), (lazy(X), y, weight + 1), (lazy(X), y, None)]
    assert all(told(*other)[0] != first[0] for other in others)
    second = told(frame(X), "a", "b")
    assert len({json.dumps(each) for each in second}) == 3
    assert told(frame(X.copy()), "a", "b") == second
    assert told(frame(X + 1), "a", "b")[0] != second[0] != told(frame(X), "b", "a")[0]


def test_refusals(rows):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, _ = rows
    lazy = da.from_array(X, chunks=(CHUNKS, -1))
    with pytest.raises(ValueError, match=r"the columns are in 2 blocks; rechunk\(\{1: -1\}\)"):
        distributed.fit(AROWClassifier(), lazy.rechunk({1: 3}), y)
    with pytest.raises(ValueError, match=r"X has 121 rows, but y has 120"):
        distributed.fit(AROWClassifier(), lazy, y[1:])
    with pytest.raises(ValueError, match=r"weight must be an array of one dimension"):
        distributed.fit(AROWClassifier(), lazy, y, weight="w")
    with pytest.raises(ValueError, match=r"features must be left out, because a Dask array"):
        distributed.fit(AROWClassifier(), lazy, y, features=["a"])
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")).assign(cured=[None, *y[1:]]), npartitions=3)
    with pytest.raises(ValueError, match=r"y must name a column of the data frame, got 'ill'; the columns are a, b"):
        distributed.fit(AROWClassifier(), frame, "ill")
    with pytest.raises(ValueError, match=r"features must name columns of the data frame, each once, got \['z'\]"):
        distributed.fit(AROWClassifier(), frame, "cured", features=["a", "z"])
    with pytest.raises(
        distributed.ShardError, match=r"'partition 1 of 3' was lost: column 'cured' is empty in some rows"
    ):
        distributed.fit(AROWClassifier(), frame, "cured")
    with pytest.raises(ValueError, match=r"two dimensions"):
        distributed.fit(AROWClassifier(), dask.delayed(X), y)
