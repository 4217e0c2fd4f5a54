"""Spark data frames: partitions as shards, Arrow record batches as rows, and predictions as a column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Table, Text, sparse
from ..streams import tables_of
from ._dask import frame_columns, named_features
from ._shard_predictions import predict_rows
from ._shards import Shard, ShardBatch, shuffled_rows

_ROWS = 4096  # in a batch, whatever the size of those that come
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean")
_LOOKED_AT = 100  # vectors, to tell dense from sparse ones
_DENSE = 0.3  # share of values that are not 0, above which rows of numbers are faster than lists of places


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of a data frame that are features, targets and weights."""

    features: tuple[str, ...]
    kind: str  # numbers; table, of numbers and text; vector, of pyspark.ml; or array
    y: str | None
    weight: str | None
    texts: tuple[str, ...]  # features that are text
    dense: bool  # whether vectors become a dense matrix
    width: int  # of vectors, 0 if it is not known

    @property
    def used(self) -> tuple[str, ...]:
        """All columns in use, in the order in which they travel."""
        return (*self.features, *(name for name in (self.y, self.weight) if name is not None))


def batches_of(arrived: Iterator[Any], columns: ColumnRoles, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
    """Rows in batches of equal size, whatever the size of those that arrived; or in mixed runs of `shuffle`."""
    begin = 0
    for table in tables_of(arrived, shuffle or _ROWS):
        y = None if columns.y is None else _labels(table.column(columns.y), columns.y)
        weight = None if columns.weight is None else _labels(table.column(columns.weight), columns.weight)
        batch = ShardBatch(rows_of(table, columns), y, None if weight is None else weight.astype(np.float64))
        yield batch.take(shuffled_rows(begin, len(table), seed) - begin) if shuffle else batch
        begin += len(table)


def rows_of(table: Any, columns: ColumnRoles) -> Any:
    """The features: a data frame of numbers, a Table if there is text, or a matrix made of vectors."""
    first = table.column(columns.features[0])
    if columns.kind == "vector":
        return _vectors(first.combine_chunks(), columns)
    if columns.kind == "array":
        return _arrays(first.combine_chunks(), columns.features[0])
    rows = table.select(columns.features)
    return Table.from_frame(rows) if columns.kind == "table" else rows.to_pandas()


def blank_row(columns: ColumnRoles, width: int) -> Any:
    """One row of zeros and empty words."""
    if columns.kind == "vector" and not columns.dense:
        return sparse.csr_array((1, width))
    if columns.kind in ("vector", "array"):
        return np.zeros((1, width))
    numbers = np.zeros((1, len(columns.features) - len(columns.texts)))
    if columns.kind == "table":
        return Table(columns.features, numbers, {name: Text.from_list([""]) for name in columns.texts})
    import pandas as pd

    return pd.DataFrame(numbers, columns=list(columns.features))


def _labels(column: Any, name: str) -> NDArray[Any]:
    """Targets as they are: whole numbers, numbers, truth values or words."""
    _check_filled(column, name)
    values = column.to_pylist() if str(column.type).startswith(("string", "large_string")) else None
    return np.asarray(column.to_numpy()) if values is None else np.array(values, dtype=object)


def _lists(column: Any, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Lengths of lists, and all their values."""
    _check_filled(column, name)
    values = column.flatten()
    return np.asarray(column.value_lengths()).astype(np.int64), np.asarray(values.to_numpy(zero_copy_only=False))


def _arrays(column: Any, name: str) -> NDArray[Any]:
    lengths, values = _lists(column, name)
    _check_equal(lengths, name)
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64).reshape(len(lengths), -1)


def _check_equal(lengths: NDArray[np.int64], name: str) -> None:
    if lengths.min() != lengths.max():
        raise ValueError(f"column {name!r} must hold rows of one length, got {lengths.min()} and {lengths.max()}.")


def _check_filled(column: Any, name: str) -> None:
    if column.null_count:
        raise ValueError(f"column {name!r} is empty in some rows.")


def _vectors(column: Any, columns: ColumnRoles) -> Any:
    """Vectors of pyspark.ml as a matrix: structures of kind (0 sparse, 1 dense), size, places and values."""
    import pyarrow

    name = columns.features[0]
    _check_filled(column, name)
    kinds, sizes, places, values = column.flatten()
    full = np.asarray(kinds) == 1
    lengths, data = _lists(values, name)
    sizes = np.where(full, lengths, np.asarray(sizes.fill_null(0)))
    _check_equal(sizes, name)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)  # as if all were dense
    empty = pyarrow.scalar([], places.type)
    indices[np.repeat(~full, lengths)] = np.asarray(places.fill_null(empty).flatten())
    X = sparse.csr_array((data.copy(), indices, starts), shape=(len(lengths), int(sizes[0])))
    X.eliminate_zeros()
    return X.toarray() if columns.dense else X


@dataclass(frozen=True, eq=False)
class FramePartition:
    """A partition of a Spark data frame, on the driver. Only Spark can read it."""

    frame: Any
    columns: ColumnRoles
    number: int
    name: str
    read_by_spark = True
    identity = None  # Spark has no name for rows that another process would find again

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        raise NotImplementedError


class ArrowShard:
    """A partition of a Spark data frame, where Spark reads it; its rows pass by once."""

    read_once = True

    def __init__(self, name: str, arriving: Iterator[Any], columns: ColumnRoles) -> None:
        self.name = name
        self._arriving: Iterator[Any] | None = arriving
        self._columns = columns

    def batches(self, shuffle: int = 0, seed: int = 0) -> Iterator[ShardBatch]:
        if self._arriving is None:
            raise RuntimeError("the rows of a Spark partition can be read once.")
        arriving, self._arriving = self._arriving, None
        return batches_of(arriving, self._columns, shuffle, seed)


def frame_shards(frame: Any, y: Any = None, weight: Any = None, features: Any = None) -> list[FramePartition]:
    """The partitions of a Spark data frame, in order.

    Spark makes them anew in every round, and again when a machine dies. After a shuffle, rows may come
    in another order, which changes the result: write the frame to Parquet and read it back, or sort within
    partitions. ``frame.persist()`` saves the time, and keeps the order as long as no machine dies.
    """
    if not hasattr(frame, "mapInArrow") or "connect" in type(frame).__module__:
        raise ValueError(
            f"fit: the data frame must be one of pyspark.sql, not of Spark Connect or pandas, got {type(frame)}."
        )
    check_runs(frame.sparkSession)
    columns = _column_roles(frame, y, weight, features)
    used = _selected(frame, columns)
    n = used.rdd.getNumPartitions()
    return [FramePartition(used, columns, i, f"partition {i + 1} of {n}") for i in range(n)]


def check_runs(session: Any) -> None:
    if getattr(session.sparkContext, "_jsc", session) is None:
        raise ValueError("fit: the Spark session has been stopped; create a new session, and the data frame again.")


def _column_roles(frame: Any, y: Any, weight: Any, features: Any) -> ColumnRoles:
    """The roles of columns; those of other types than numbers, text and vectors are refused."""
    kinds = {field.name: _kind(field.dataType) for field in frame.schema.fields}
    names = frame_columns(list(kinds), y, weight, features)
    for name in (*names, *(each for each in (y, weight) if each is not None)):
        _check_column(frame, name, kinds[name], name in names)
    if weight is not None and kinds[weight] != "number":
        raise ValueError(f"fit: weight must name a column of numbers, got {weight!r}.")
    texts = tuple(name for name in names if kinds[name] == "text")
    kind = "table" if texts else "numbers"
    for name in names:
        if kinds[name] in ("vector", "array"):
            kind = kinds[name]
            if len(names) > 1:
                raise ValueError(
                    f"fit: column {name!r} holds whole rows; pass features={name!r}, or names of columns of numbers."
                )
    dense, width = _look_at_vectors(frame, names[0]) if kind == "vector" else (True, 0)
    return ColumnRoles(tuple(names), kind, y, weight, texts, dense, width)


def _check_column(frame: Any, name: str, kind: str, is_feature: bool) -> None:
    n_of_name = frame.columns.count(name)
    if n_of_name > 1:
        raise ValueError(f"fit: {n_of_name} columns of the data frame are named {name!r}; rename them.")
    if kind not in ("number", "text") and not (is_feature and kind in ("vector", "array")):
        raise ValueError(f"fit: column {name!r} holds neither numbers nor text, but {kind}.")


def _kind(dtype: Any) -> str:
    name = dtype.typeName()
    if name in _NUMBERS or name.startswith("decimal"):
        return "number"
    if name in ("string", "varchar", "char"):
        return "text"
    if name == "array" and _kind(dtype.elementType) == "number":
        return "array"
    return "vector" if type(dtype).__name__ == "VectorUDT" else str(dtype.simpleString())


def _look_at_vectors(frame: Any, name: str) -> tuple[bool, int]:
    """Whether the first ones hold mostly values other than 0, and how long they are."""
    some = [row[0] for row in _by_place(frame).select(_places(frame)[name]).head(_LOOKED_AT) if row[0] is not None]
    width = max((len(vector) for vector in some), default=0)
    return sum(vector.numNonzeros() for vector in some) > _DENSE * sum(len(vector) for vector in some), width


def _by_place(frame: Any) -> Any:
    """The frame with columns c0, c1, ...: Spark reads a dot in a name as access to a field, and ignores case."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def _places(frame: Any) -> dict[str, str]:
    """The names of columns in the frame by place."""
    return {name: f"c{place}" for place, name in enumerate(frame.columns)}


def _selected(frame: Any, columns: ColumnRoles) -> Any:
    """The columns in use, in order and by place, decimals as numbers."""
    from pyspark.sql.functions import col

    types = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    places = _places(frame)
    found = [
        col(places[name]).cast("double") if types[name].startswith("decimal") else col(places[name])
        for name in columns.used
    ]
    return _by_place(frame).select(*(each.alias(f"c{place}") for place, each in enumerate(found)))


def _named(batch: Any, names: Sequence[str]) -> Any:
    """A batch of columns by place, with their names."""
    import pyarrow

    return pyarrow.RecordBatch.from_arrays(batch.columns, names=list(names))


# --- rounds -----------------------------------------------------------------------------------------------------------


def ask_partitions(shards: Sequence[Shard], work: Callable[[Shard], bytes]) -> Callable[[], list[bytes]] | None:
    """A function that collects the work on partitions of a data frame; None if the shards are of another kind."""
    names = {shard.number: shard.name for shard in shards if isinstance(shard, FramePartition)}
    first = shards[0]
    if not isinstance(first, FramePartition):
        return None
    columns = first.columns

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        """Work on the partition that this process was given, if it is one of those that are asked."""
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        if number in names:
            named = (_named(batch, columns.used) for batch in batches)
            result = work(ArrowShard(names[number], named, columns))
            made = [pyarrow.array([number], pyarrow.int32()), pyarrow.array([result], pyarrow.binary())]
            yield pyarrow.RecordBatch.from_arrays(made, names=["number", "result"])
        for _ in batches:  # a process that leaves rows unread is not used again
            pass

    with _no_advice():
        asked = first.frame.mapInArrow(on_partition, "number int, result binary")

    def collect() -> list[bytes]:
        rows = asked.collect()
        if [row[0] for row in rows] != list(names):
            raise RuntimeError("the partitions of the data frame have changed; write it to Parquet and read it back.")
        return [bytes(row[1]) for row in rows]

    return collect


def _no_advice() -> Any:
    """Spark warns of each version of pandas that is newer than itself; pandas is not used here."""
    return warnings.catch_warnings(action="ignore", category=FutureWarning)


# --- predictions ------------------------------------------------------------------------------------------------------


def predict_frame(model: Any, frame: Any, method: str = "predict", features: Any = None) -> Any:
    """The data frame with a column ``prediction`` at its end: numbers, words, or arrays of several numbers."""
    from pyspark.sql.types import StructField, StructType

    if "prediction" in frame.columns:
        raise ValueError("predict: the data frame already has a column 'prediction'; rename it first.")
    features = named_features(model, features)
    if features is None:
        whole = [each.name for each in frame.schema.fields if _kind(each.dataType) in ("vector", "array")]
        features = whole if len(whole) == 1 else None
    columns = _column_roles(frame, None, None, features)
    like = np.asarray(getattr(model, method)(blank_row(columns, columns.width or model.n_features_in_)))
    given, names = _by_place(frame), frame.columns
    spark_type, arrow_type = _prediction_types(like)

    def add_predictions(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            predictions: list[Any] = []
            if len(batch):
                rows = rows_of(pyarrow.Table.from_batches([_named(batch, names)]), columns)
                predictions = predict_rows(rows, model, method, like).tolist()
            yield batch.append_column("prediction", pyarrow.array(predictions, arrow_type))

    schema = StructType([*given.schema.fields, StructField("prediction", spark_type)])
    with _no_advice():
        return given.mapInArrow(add_predictions, schema).toDF(*names, "prediction")


def _prediction_types(like: NDArray[Any]) -> tuple[Any, Any]:
    """The type of predictions in Spark and in Arrow."""
    import pyarrow
    from pyspark.sql import types

    whole = (types.LongType(), pyarrow.int64())
    known = {"i": whole, "u": whole, "f": (types.DoubleType(), pyarrow.float64())}
    known["b"] = (types.BooleanType(), pyarrow.bool_())
    one = known.get(like.dtype.kind, (types.StringType(), pyarrow.string()))
    return one if like.ndim == 1 else (types.ArrayType(one[0]), pyarrow.list_(one[1]))
