"""Rounds on Spark itself: in one Java process, and on a standalone cluster of two workers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import spark_cluster
from spark_cluster import Deadly, Struck, kill, kill_executor, standalone
from thresher import distributed
from thresher.confidence import PoolCWClassifier
from thresher.distributed import ShardError
from thresher.distributed._engines import SerialEngine
from thresher.distributed._inputs import as_shards
from thresher.distributed._spark import SparkEngine, _told, spark_engine
from thresher.distributed._tasks import Ask, Look
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.streams import write_svmlight

pyspark = pytest.importorskip("pyspark")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

N_SHARDS, N_ROWS, N_FEATURES = 4, 150, 8
EVERYWHERE = pytest.mark.parametrize("spark", ["local[2,4]", "standalone"], indirect=True)
ON_ONE_MACHINE = pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session as the engine itself would make it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(spark_cluster)  # workers cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # a Java that lives for seconds
        if request.param == "standalone":
            with standalone(tmp_path_factory.mktemp("spark")) as address:
                yield from _session(address)
        else:
            yield from _session(request.param)


def _session(master: str) -> Iterator[Any]:
    engine = spark_engine(master)
    assert isinstance(engine, SparkEngine)
    try:
        yield engine.session
    finally:
        engine.close()


@pytest.fixture(scope="module")
def blocks() -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and words for each shard."""
    rng = np.random.default_rng(5)
    w = rng.normal(size=N_FEATURES)
    found = []
    for _ in range(N_SHARDS):
        X = rng.normal(size=(N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < 0.6)
        found.append((X, np.where(X @ w + 0.3 * rng.normal(size=N_ROWS) > 0, "yes", "no")))
    return found


@pytest.fixture(scope="module")
def files(blocks: list[Any], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    for i, (X, y) in enumerate(blocks):
        write_svmlight(folder / f"part-{i}.svm", sparse.csr_array(X), np.where(y == "yes", 1, -1))
    return sorted(folder.iterdir())


def frame_of(spark: Any, blocks: list[Any]) -> Any:
    """One partition for each shard: the features, the target, and the number of the row."""
    rows = [(*map(float, x), str(label)) for X, y in blocks for x, label in zip(X, y, strict=True)]
    names = [f"f{j}" for j in range(N_FEATURES)]
    return spark.createDataFrame(
        spark.sparkContext.parallelize(rows, N_SHARDS), ", ".join(f"{n} double" for n in names) + ", label string"
    )


def same(a: Any, b: Any) -> bool:
    """To the bit, in everything that was learned."""
    return pickle.dumps({k: v.copy() for k, v in a.state_.arrays.items()}) == pickle.dumps(
        {k: v.copy() for k, v in b.state_.arrays.items()}
    )


@dataclass(frozen=True)
class Moments:
    """A question with sums of many sizes, so that another order would show in the last bits."""

    power: float

    def answer(self, X: Any, y: Any, weight: Any) -> dict[str, np.ndarray]:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return {"sum": np.sum(np.abs(dense) ** self.power, axis=0), "product": dense.T @ dense, "n": np.asarray(len(y))}


# --- the same answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spark", "learner"),
    [("local[2,4]", AROWClassifier()), ("local[2,4]", L1RDAClassifier(alpha=1e-3)), ("standalone", AROWClassifier())],
    indirect=["spark"],
    ids=["local-AROW", "local-L1RDA", "standalone-AROW"],
)
def test_files_give_the_bits_of_one_process(spark, files, learner):
    here = distributed.fit(learner, files, n_rounds=2, shuffle=64)
    there = distributed.fit(learner, files, n_rounds=2, shuffle=64, engine=spark)
    assert same(here, there)
    assert here.n_samples_seen_ == there.n_samples_seen_ == 2 * N_SHARDS * N_ROWS


@pytest.mark.parametrize(
    ("spark", "layout"),
    [("local[2,4]", sparse.csr_array), ("standalone", np.asarray)],
    indirect=["spark"],
    ids=["local-csr", "standalone-dense"],
)
def test_arrays_with_weights_give_the_bits_of_one_process(spark, blocks, layout):
    rng = np.random.default_rng(1)
    shards = [(layout(X), y, rng.integers(0, 3, size=len(y)).astype(float)) for X, y in blocks]
    here = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    assert same(here, distributed.fit(AROWClassifier(), shards, n_rounds=2, engine="spark"))


@EVERYWHERE
def test_sums_give_the_bits_of_one_process(spark, files):
    shards, engine = as_shards(files), SparkEngine(spark)
    import sys

    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    here, there = (list(each.run(Ask(Moments(1.7)), shards, lambda n: None)) for each in (SerialEngine(), engine))
    assert [{k: v.tobytes() for k, v in each.items()} for each in here] == [
        {k: v.tobytes() for k, v in each.items()} for each in there
    ]
    engine.close()
    assert spark.range(3).count() == 3  # a session that was given stays open


@ON_ONE_MACHINE
def test_a_frame_gives_the_bits_of_its_partitions_as_arrays(spark, blocks):
    frame = frame_of(spark, blocks)
    here = distributed.fit(AROWClassifier(), blocks, n_rounds=2)
    there = distributed.fit(AROWClassifier(), frame, "label", n_rounds=2, engine=spark)
    assert same(here, there)
    assert there.feature_names_in_.tolist() == frame.columns[:-1]


@ON_ONE_MACHINE
def test_chunks_of_a_frame_do_not_matter(spark, blocks):
    frame = frame_of(spark, blocks)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 7)
    try:
        there = distributed.fit(AROWClassifier(), frame, "label", engine=spark)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert same(distributed.fit(AROWClassifier(), blocks), there)


@ON_ONE_MACHINE
@pytest.mark.parametrize("column", ["sparse", "array"])
def test_vectors_weights_and_empty_partitions(spark, blocks, column):
    from pyspark.ml.linalg import Vectors

    rng = np.random.default_rng(2)
    weights = [rng.integers(0, 3, size=N_ROWS) for _ in blocks]
    pairs = [(x, y, w) for (X, ys), ws in zip(blocks, weights, strict=True) for x, y, w in zip(X, ys, ws, strict=True)]
    made = [
        (
            Vectors.sparse(40, np.flatnonzero(x), x[x != 0])
            if i % 3
            else Vectors.dense(np.concatenate([x, np.zeros(32)])),
            [float(v) for v in x],
            int(y == "yes"),
            float(w),
        )
        for i, (x, y, w) in enumerate(pairs)
    ]
    parts = spark.sparkContext.parallelize(made, N_SHARDS).union(spark.sparkContext.parallelize([], 1))
    frame = spark.createDataFrame(parts, spark.createDataFrame(made[:1], ["sparse", "array", "label", "weight"]).schema)
    wide = [sparse.csr_array(np.column_stack([X, np.zeros((N_ROWS, 32))])) for X, _ in blocks]
    shards = [
        (S if column == "sparse" else X, (y == "yes").astype(int), w)
        for S, (X, y), w in zip(wide, blocks, weights, strict=True)
    ]
    here = distributed.fit(AROWClassifier(), shards)
    there = distributed.fit(AROWClassifier(), frame, "label", weight="weight", features=column, engine=spark)
    assert same(here, there)
    assert there.classes_.dtype.kind == "i"
    said = distributed.predict(there, frame, features=column)
    assert said.columns == [*frame.columns, "prediction"]
    assert [row["prediction"] for row in said.collect()] == [int(v) for s in shards for v in here.predict(s[0])]


@ON_ONE_MACHINE
def test_predictions_of_a_frame_stand_beside_its_rows(spark, blocks):
    frame = frame_of(spark, blocks).selectExpr("label", "*", "named_struct('a', f0) AS other").drop("label")
    frame = frame.withColumn("other", frame["other"])
    model = distributed.fit(AROWClassifier(), frame_of(spark, blocks), "label", engine=spark)
    rows = distributed.predict(model, frame).collect()
    X = np.concatenate([X for X, _ in blocks])
    assert [row["f1"] for row in rows] == X[:, 1].tolist()
    plain = distributed.fit(AROWClassifier(), blocks)
    assert [row["prediction"] for row in rows] == plain.predict(X).tolist()
    scores = distributed.predict(model, frame, method="decision_function").collect()
    assert [row["prediction"] for row in scores] == plain.decision_function(X).tolist()
    assert rows[0]["other"]["a"] == X[0, 0]


@ON_ONE_MACHINE
def test_pool_in_rounds_gives_the_bits_of_one_process(spark, files):
    learner = PoolCWClassifier(n_features_to_select=3)
    here = distributed.fit(learner, files, n_rounds=2)
    assert same(here, distributed.fit(learner, files, n_rounds=2, engine=spark))


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spark", "kind", "killed"),
    [
        ("local[2,4]", "files", kill),
        ("local[2,4]", "frame", kill),
        ("standalone", "files", kill),
        ("standalone", "frame", kill_executor),
    ],
    indirect=["spark"],
    ids=["local-files", "local-frame", "standalone-files", "executor-frame"],
)
def test_a_killed_process_costs_time_and_not_the_answer(spark, files, blocks, tmp_path, kind, killed):
    shards, y = (files, None) if kind == "files" else (frame_of(spark, blocks), "label")
    victim = files[2].name if kind == "files" else "partition 3 of 4"
    struck = Struck(SparkEngine(spark), tmp_path, victim, 2, killed)
    there = distributed.fit(AROWClassifier(), shards, y, n_rounds=2, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), files if kind == "files" else blocks, n_rounds=2), there)


@ON_ONE_MACHINE
def test_a_shard_that_no_process_survives_is_named(spark, files, blocks):
    shards = as_shards(files)
    with pytest.raises(ShardError, match=r"'part-2.svm' was lost: Spark tried it 4 times, .*: Python worker exited"):
        list(SparkEngine(spark).run(Deadly(Look(8, True), "part-2.svm"), shards, lambda n: None))
    partitions = as_shards(frame_of(spark, blocks), "label")
    with pytest.raises(ShardError, match=r"'partition 2 of 4' was lost: Spark tried it 4 times"):
        list(SparkEngine(spark).run(Deadly(Look(8, True), "partition 2 of 4"), partitions, lambda n: None))


@ON_ONE_MACHINE
def test_a_file_that_is_gone_is_named(spark, files, tmp_path):
    copies = [tmp_path / path.name for path in files]
    for path, copy in zip(files, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    shards = as_shards(copies)
    copies[3].unlink()
    found = list(SparkEngine(spark).run(Look(8, True), shards, lambda n: None))
    assert [type(each).__name__ for each in found] == ["Seen", "Seen", "Seen", "Failure"]
    assert found[3].shard == "part-3.svm"


def test_what_spark_says_becomes_a_line():
    java = "\n\tat org.apache.spark.Task.run(Task.scala:147)\n\nDriver stacktrace:"
    begin = (
        "Job aborted due to stage failure: Task 1 in stage 4.0 failed 4 times, most recent failure: Lost task 1.3 in "
    )
    lost = (
        begin + "stage 4.0 (TID 9) (10.0.0.7 executor 3): ExecutorLostFailure (executor 3 exited) Reason: Killed" + java
    )
    told = _told(Exception(lost), ["a", "b"])
    assert isinstance(told, ShardError)
    assert (
        str(told)
        == "the shard 'b' was lost: Spark tried it 4 times, at last: " + lost.partition("3): ")[2][: -len(java)]
    )
    python = (
        "Traceback (most recent call last):\n  File 'x.py', line 3\nModuleNotFoundError: No module named 'thresher'\n"
    )
    told = _told(Exception("An exception was thrown:\n" + python + java), ["a", "b"])
    assert str(told) == "fit: Spark gave up: ModuleNotFoundError: No module named 'thresher'"


# --- at the door ------------------------------------------------------------------------------------------------------


@ON_ONE_MACHINE
def test_progress_is_told_up_to_the_last_shard(spark, files):
    told: list[int] = []
    list(SparkEngine(spark).run(Look(8, True), as_shards(files), told.append))
    assert told == sorted(set(told))
    assert told[-1] == N_SHARDS


@ON_ONE_MACHINE
def test_refusals_at_the_door(spark, blocks):
    from pyspark.sql.functions import array, current_timestamp

    frame = frame_of(spark, blocks)
    with pytest.raises(ValueError, match=r"Spark data frame is read by Spark"):
        distributed.fit(AROWClassifier(), frame, "label")
    with pytest.raises(ValueError, match=r"engine='local\[3,4\]', but a session of local\[2,4\] is active"):
        distributed.fit(AROWClassifier(), blocks, engine="local[3,4]")
    with pytest.raises(ValueError, match=r"y must name a column of the data frame, got 'target'"):
        distributed.fit(AROWClassifier(), frame, "target", engine=spark)
    with pytest.raises(ValueError, match=r"column 'when' holds neither numbers nor text, but timestamp"):
        distributed.fit(AROWClassifier(), frame.withColumn("when", current_timestamp()), "label", engine=spark)
    with pytest.raises(ValueError, match=r"column 'whole' holds whole rows; say features='whole'"):
        distributed.fit(AROWClassifier(), frame.withColumn("whole", array("f0", "f1")), "label", engine=spark)
    with pytest.raises(ValueError, match=r"has a column 'prediction' already"):
        distributed.predict(AROWClassifier(), frame.withColumnRenamed("f0", "prediction"))
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"Dask collections are read by Dask"):
        distributed.fit(AROWClassifier(), da.zeros((4, 2)), da.zeros(4), engine=spark)
