"""Shards on a Dask cluster; blocks of Dask arrays and data frames as shards, and predictions block by block."""

from __future__ import annotations

import pickle
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._dataclasses import dataclass
from .._gate import as_csr, sparse
from ._engines import Done, Engine, ShardError, ShardTask, packed
from ._shard_predictions import predict_rows
from ._shards import ArrayShard, Shard, ShardBatch

_PATIENCE = 10  # seconds for a scheduler to answer
_DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"  # Ctrl-C on a terminal is for the driver alone


def dask_engine(engine: Any) -> Engine:
    """The engine of a client, a cluster, an address, or ``"dask"``: the client in use, or else this machine's cores."""
    try:
        import distributed
    except ImportError:
        raise ImportError('engine="dask" needs dask.distributed: pip install "thresher[dask]".') from None
    if isinstance(engine, distributed.Client):
        return DaskEngine(engine)
    if isinstance(engine, str) and engine == "dask":
        try:
            return DaskEngine(distributed.get_client())
        except ValueError:
            cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=None, preload=[_DEAF])
            return DaskEngine(client := distributed.Client(cluster), client, cluster)
    address = engine.replace("dask://", "tcp://", 1) if isinstance(engine, str) else engine
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise OSError(f"{engine}: no Dask scheduler answers there ({type(problem).__name__}).") from None
    return DaskEngine(client, client)


class DaskEngine(Engine):
    """Tasks as a graph, so that data lost with a worker are computed again; `opened` is closed at the end."""

    def __init__(self, client: Any, *opened: Any) -> None:
        self.client = client
        self._opened = opened
        self._checked = False
        self._held: dict[int, tuple[ArrayShard, Any]] = {}  # shards in memory travel once

    def run(self, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        import cloudpickle
        from dask import delayed

        from distributed import as_completed

        self._check_workers()
        run = uuid.uuid4().hex
        # The task is a node of the graph: sent once, handed from worker to worker, and never lost with one of them.
        held = delayed(packed(task, cloudpickle.dumps), name=f"thresher-task-{run}", traverse=False)
        nodes = [
            delayed(_work, pure=False)(held, self._node(shard), dask_key_name=f"thresher-shard-{i}-{run}")
            for i, shard in enumerate(shards)
        ]
        with large_graphs():
            futures = self.client.compute(nodes, optimize_graph=False)
        del nodes, held
        places = {future.key: i for i, future in enumerate(futures)}
        results: dict[int, Any] = {}
        n_given, n_done = 0, 0
        try:
            for future in self._as_they_come(as_completed(futures, loop=self.client.loop)):
                i = places[future.key]
                results[i] = self._result(future, shards[i].name)
                futures[i] = None  # the cluster need not keep results that have arrived
                n_done += 1
                on_done(n_done)
                while n_given in results:
                    yield results.pop(n_given)
                    n_given += 1
        finally:
            left = [future for future in futures if future is not None]
            if left:
                self.client.cancel(left, force=True)

    def _as_they_come(self, coming: Any) -> Iterator[Any]:
        """Yield futures that are done. If a cluster has no workers, wait for them and say so: some clusters grow only
        on demand."""
        waits, last = False, time.monotonic()
        while not coming.is_empty():
            if coming.has_ready():
                yield next(coming)
                last = time.monotonic()
                continue
            with coming.thread_condition:
                coming.thread_condition.wait(timeout=0.1)
            if not waits and time.monotonic() - last > _PATIENCE:
                last = time.monotonic()
                waits = not self.client.scheduler_info()["workers"]
                if waits:
                    warnings.warn("fit: the Dask cluster has no workers; waiting for some.", stacklevel=2)

    def _node(self, shard: Shard) -> Any:
        """A shard as part of a graph; Dask finds its own collections inside of it."""
        import cloudpickle
        from dask import delayed

        if not isinstance(shard, ArrayShard):
            ours = type(shard).__module__.startswith("thresher.")
            return shard if ours else packed(shard, cloudpickle.dumps)  # a task that cannot be unpacked fails
        if id(shard) not in self._held:
            node = delayed(shard, name=f"thresher-rows-{uuid.uuid4().hex}", traverse=False)
            with large_graphs():
                self._held[id(shard)] = (shard, self.client.persist(node, optimize_graph=False))
        return self._held[id(shard)][1]

    def _check_workers(self) -> None:
        """Refuse workers without this library, or with another version of it: their results could differ."""
        if self._checked:
            return
        if self.client.status != "running":
            raise OSError(f"fit: the Dask client is {self.client.status}; its scheduler may have stopped.")
        versions = self.client.run(lambda: __import__("thresher").__version__, on_error="return")
        for worker, version in versions.items():
            if isinstance(version, ImportError) or (isinstance(version, str) and version != __version__):
                has = f"thresher {version}" if isinstance(version, str) else "no thresher"
                raise ValueError(f"fit: the Dask worker at {worker} has {has}, but thresher {__version__} is needed.")
        self._checked = any(isinstance(version, str) for version in versions.values())  # some may just have died

    @staticmethod
    def _result(future: Any, name: str) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as killed:
            return ShardError(name, f"every worker that read it died ({killed.allowed_failures + 1} of them).")
        except Exception as error:
            if "Cancelled" in type(error).__name__:
                raise ShardError(name, "the connection to the cluster was lost.") from None
            return ShardError(name, f"{type(error).__name__}: {error}")  # rows could not be made

    def close(self) -> None:
        self._held.clear()
        for each in self._opened:
            each.close()


def large_graphs() -> Any:
    """Let graphs hold data without a warning."""
    from dask import config

    return config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})


def _work(task: bytes, shard: Any) -> Any:
    return pickle.loads(task)(pickle.loads(shard) if isinstance(shard, bytes) else shard)


@dataclass(frozen=True, eq=False)
class DaskBlock:
    """A block of rows that Dask computes on demand.

    On a Dask cluster, lazy fields are data by the time a worker reads them: Dask looks into data classes among the
    arguments of a task.
    """

    X: Any
    y: Any
    """Lazy or data, or the name of a column of `X`."""
    weight: Any
    features: list[str] | None
    """Columns of `X`, if that is a data frame."""
    name: str
    identity: list[Any]
    """Dask's names of the rows, targets and weights, which change with them, and the number of the block."""
    on_cluster: bool
    """Whether workers of a cluster hold the data it is made from."""

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        if self.on_cluster and any(map(_is_lazy, (self.X, self.y, self.weight))):
            raise ValueError(
                'its rows are on a Dask cluster, because of persist(); choose engine="dask", or the client.'
            )
        X, y, weight = _made(self.X), _made(self.y), _made(self.weight)
        y, weight = (_column(X, each) if isinstance(each, str) else each for each in (y, weight))
        X = X if self.features is None else X[self.features]
        X = as_csr(X, self.name) if sparse.issparse(X) else X
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        rows = ArrayShard(X, y, weight, self.name)
        rows.check_lengths("it")
        return rows.batches(shuffle, seed)


def _is_lazy(thing: Any) -> bool:
    return hasattr(thing, "__dask_graph__")


def _made(thing: Any) -> Any:
    return thing.compute(scheduler="sync") if _is_lazy(thing) else thing


def _on_cluster(graph: Any) -> bool:
    """Whether something in it is a future, and so on the workers of some client."""
    return any(type(each).__module__.partition(".")[0] == "distributed" for each in dict(graph).values())


def _column(frame: Any, name: str) -> NDArray[Any]:
    if frame[name].isna().any():
        raise ValueError(f"column {name!r} is empty in some rows.")
    return np.asarray(frame[name])


def dask_shards(data: Any, y: Any = None, weight: Any = None, features: Any = None) -> list[DaskBlock]:
    """The blocks of a Dask array, with those of `y` and `weight`, or the partitions of a data frame, in order.

    Rows are made anew in every round, unless the collection is persisted (``data.persist()``).
    """
    if _is_frame(data):
        return _partitions(data, y, weight, features)
    _check_array(data)
    if features is not None:
        raise ValueError("fit: features must be left out, because a Dask array has no column names.")
    collections = data, _beside(data, y, "y"), _beside(data, weight, "weight")
    names = [None if each is None else each.name for each in collections]
    held = any(_on_cluster(each.__dask_graph__()) for each in collections if each is not None)
    n = data.numblocks[0]
    X, ys, weights = ([None] * n if each is None else list(each.to_delayed().ravel()) for each in collections)
    return [DaskBlock(X[i], ys[i], weights[i], None, f"block {i + 1} of {n}", [*names, i], held) for i in range(n)]


def _is_frame(data: Any) -> bool:
    return hasattr(type(data), "map_partitions") and hasattr(type(data), "columns")


def _check_array(data: Any) -> None:
    if not hasattr(type(data), "map_blocks") or data.ndim != 2:
        raise ValueError(f"fit: a Dask array of two dimensions or a data frame is needed, got {data!r}.")
    if data.numblocks[1] > 1:
        raise ValueError(
            f"fit: blocks must hold whole rows, but the columns are in {data.numblocks[1]} blocks; rechunk({{1: -1}})."
        )


def _beside(X: Any, beside: Any, name: str) -> Any:
    """Targets or weights as a Dask array in blocks with the rows of the blocks of `X`, if there are any."""
    if beside is None:
        return None
    if hasattr(beside, "to_dask_array"):
        beside = beside.to_dask_array()
    if isinstance(beside, str) or getattr(beside, "ndim", 0) != 1:
        raise ValueError(f"fit: {name} must be an array of one dimension if X is a Dask array, got {beside!r}.")
    known = not np.isnan([*X.chunks[0], *getattr(beside, "chunks", [[0]])[0]]).any()
    if known and len(beside) != X.shape[0]:
        raise ValueError(f"fit: X has {X.shape[0]} rows, but {name} has {len(beside)}.")
    if not hasattr(beside, "rechunk"):
        from dask.array import from_array

        if not known:
            raise ValueError(
                f"fit: the rows of X are not counted yet; call X.compute_chunk_sizes(), or pass a Dask array as {name}."
            )
        beside = from_array(np.asarray(beside), chunks=(X.chunks[0],))
    elif known and beside.chunks[0] != X.chunks[0]:
        beside = beside.rechunk((X.chunks[0],))
    if beside.numblocks[0] != X.numblocks[0]:
        raise ValueError(f"fit: X has {X.numblocks[0]} blocks of rows, but {name} has {beside.numblocks[0]}.")
    return beside


def _partitions(frame: Any, y: Any, weight: Any, features: Any) -> list[DaskBlock]:
    names = frame_columns(list(frame.columns), y, weight, features)
    beside = [name for name in (y, weight) if name is not None]
    parts = list(frame[[*names, *beside]].to_delayed())
    identity = [str(parts[0].key[0]), y, weight]
    held = _on_cluster(parts[0].__dask_graph__())
    return [
        DaskBlock(part, y, weight, names, f"partition {i + 1} of {len(parts)}", [*identity, i], held)
        for i, part in enumerate(parts)
    ]


def frame_columns(columns: list[Any], y: Any, weight: Any, features: Any) -> list[str]:
    """The columns of a data frame that are features; y and weight are names of others."""
    _check_column(columns, "y", y)
    _check_column(columns, "weight", weight)
    others = [each for each in columns if each not in (y, weight)]
    names = [features] if isinstance(features, str) else others if features is None else list(features)
    wrong = [each for each in names if each not in others]
    if wrong or not names or len(set(names)) < len(names):
        raise ValueError(f"fit: features must name columns of the data frame, each once, got {wrong or names!r}.")
    return names


def _check_column(columns: list[Any], role: str, name: Any) -> None:
    if name is not None and (not isinstance(name, str) or name not in columns):
        shown = ", ".join(map(str, columns[:10])) + (", ..." if len(columns) > 10 else "")
        raise ValueError(f"fit: {role} must name a column of the data frame, got {name!r}; the columns are {shown}.")


def predict_dask(model: Any, data: Any, method: str = "predict", features: Any = None) -> Any:
    """A lazy Dask array of predictions, or a series for the rows of a data frame."""
    from dask import delayed

    held = delayed(
        model, name=f"thresher-model-{id(model)}-{np.random.default_rng().integers(1 << 62)}", traverse=False
    )
    if _is_frame(data):
        names = frame_columns(list(data.columns), None, None, named_features(model, features))
        row = data[names]._meta_nonempty.head(1)
        like = np.asarray(getattr(model, method)(row))
        meta = _as_series(like[:0], row.index[:0], model)
        return data[names].map_partitions(_predict_partition, held, method, like, meta=meta)
    _check_array(data)
    row = np.zeros((1, data.shape[1]), dtype=data.dtype)
    like = np.asarray(getattr(model, method)(sparse.csr_array(row) if sparse.issparse(data._meta) else row))
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (data.chunks[0], (like.shape[1],))}
    how = {"model": held, "method": method, "like": like}
    return data.map_blocks(predict_rows, **how, dtype=like.dtype, meta=like[:0], name="thresher", **shape)


def named_features(model: Any, features: Any) -> Any:
    """The columns that a model was fitted to, unless others are named."""
    if features is not None:
        return features
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _predict_partition(frame: Any, held: Any, method: str, like: NDArray[Any]) -> Any:
    return _as_series(predict_rows(frame, held, method, like), frame.index, held)


def _as_series(predictions: NDArray[Any], index: Any, model: Any) -> Any:
    import pandas as pd

    if predictions.ndim == 1:
        return pd.Series(predictions, index=index, name="prediction")
    classes = getattr(model, "classes_", ())
    return pd.DataFrame(predictions, index=index, columns=classes if len(classes) == predictions.shape[1] else None)
