"""Dask arrays and data frames: blocks of rows as shards, and predictions block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._shard_predictions import predict_rows
from ._shards import ArrayShard, ShardBatch


@dataclass(frozen=True, eq=False)
class DaskBlock:
    """A block of rows that Dask makes when they are asked for.

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
            raise ValueError('a Dask cluster holds its rows, since persist(); choose engine="dask", or the client.')
        X, y, weight = _made(self.X), _made(self.y), _made(self.weight)
        y, weight = (_column(X, each) if isinstance(each, str) else each for each in (y, weight))
        X = X if self.features is None else X[self.features]
        X = X.tocsr() if sparse.issparse(X) else X
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
        raise ValueError("fit: features is about data frames; a Dask array has no names of columns.")
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
        raise ValueError(f"fit: {name} must be an array of one dimension beside a Dask array, got {beside!r}.")
    known = not np.isnan([*X.chunks[0], *getattr(beside, "chunks", [[0]])[0]]).any()
    if known and len(beside) != X.shape[0]:
        raise ValueError(f"fit: X has {X.shape[0]} rows, but {name} has {len(beside)}.")
    if not hasattr(beside, "rechunk"):
        from dask.array import from_array

        if not known:
            raise ValueError(
                f"fit: the rows of X are not counted yet; compute_chunk_sizes(), or a Dask array as {name}."
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
