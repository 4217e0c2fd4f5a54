"""Rounds on Spark in one Java process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from spark_cluster import (
    N_ROWS,
    N_SHARDS,
    Deadly,
    Struck,
    Unreadable,
    Unsendable,
    frame_of,
    kill,
    same,
    session_at,
)
from thresher import distributed
from thresher.cluster import SparseKMeans
from thresher.confidence import PoolCWClassifier
from thresher.distributed import ShardError
from thresher.distributed._engines import engine_of
from thresher.distributed._inputs import ShardSource
from thresher.distributed._jobs import ScanShard
from thresher.distributed._spark import SparkEngine
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import StreamingPipeline, TableEncoder
from thresher.streams import Table, Text

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session_at("local[2,4]") as session:
        yield session


# --- the same answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [AROWClassifier(), L1RDAClassifier(alpha=1e-3)], ids=["AROW", "L1RDA"])
def test_files_give_the_bits_of_one_process(spark, block_files, learner):
    here = distributed.fit(learner, block_files, n_rounds=2, shuffle=64)
    there = distributed.fit(learner, block_files, n_rounds=2, shuffle=64, engine=spark)
    assert same(here, there)
    assert here.n_samples_seen_ == there.n_samples_seen_ == 2 * N_SHARDS * N_ROWS


def test_arrays_with_weights_give_the_bits_of_one_process(spark, blocks):
    rng = np.random.default_rng(1)
    shards = [(sparse.csr_array(X), y, rng.integers(0, 3, size=len(y)).astype(float)) for X, y in blocks]
    here = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    assert same(here, distributed.fit(AROWClassifier(), shards, n_rounds=2, engine="spark"))


def test_sums_over_files_give_the_bits_of_one_process(spark, block_files):
    learner = PoolCWClassifier(n_features_to_select=3)
    here = distributed.fit(learner, block_files, n_rounds=1)
    there = distributed.fit(learner, block_files, n_rounds=1, engine=spark)
    assert there.record_["distributed"]["mode"] == "sums"
    assert same(here, there)


def test_sums_over_a_frame_give_the_bits_of_one_process(spark, blocks):
    learner = SparseKMeans(3, alpha=0.01, random_state=0)
    here = distributed.fit(learner, [X for X, _ in blocks], n_rounds=2)
    there = distributed.fit(learner, frame_of(spark, blocks).drop("label"), n_rounds=2, engine=spark)
    assert np.array_equal(here.cluster_centers_, there.cluster_centers_)


def test_a_frame_gives_the_bits_of_its_partitions_as_arrays(spark, blocks):
    frame = frame_of(spark, blocks)
    here = distributed.fit(AROWClassifier(), blocks, n_rounds=2)
    there = distributed.fit(AROWClassifier(), frame, "label", n_rounds=2, engine=spark)
    assert same(here, there)
    assert there.feature_names_in_.tolist() == frame.columns[:-1]


def test_chunks_of_a_frame_do_not_matter(spark, blocks):
    frame = frame_of(spark, blocks)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 7)
    try:
        there = distributed.fit(AROWClassifier(), frame, "label", engine=spark)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert same(distributed.fit(AROWClassifier(), blocks), there)


def test_vectors_arrays_weights_and_empty_partitions(spark, blocks):
    from pyspark.ml.linalg import Vectors

    rng = np.random.default_rng(2)
    weights = [rng.integers(0, 3, size=N_ROWS).astype(float) for _ in blocks]
    whole = zip(*(np.concatenate(each) for each in (*zip(*blocks, strict=True), weights)), strict=True)
    rows = [
        (
            Vectors.sparse(40, np.flatnonzero(x), x[x != 0]) if i % 3 else Vectors.dense([*x, *np.zeros(32)]),
            [float(v) for v in x],
            int(y == "yes"),
            float(w),
        )
        for i, (x, y, w) in enumerate(whole)
    ]
    parts = spark.sparkContext.parallelize(rows, N_SHARDS).union(spark.sparkContext.parallelize([], 1))
    frame = spark.createDataFrame(parts, ["vector", "array", "label", "weight"]).persist()
    for column in ("vector", "array"):
        Xs = [sparse.csr_array(np.pad(X, ((0, 0), (0, 32)))) if column == "vector" else X for X, _ in blocks]
        ys = [(y == "yes").astype(int) for _, y in blocks]
        here = distributed.fit(AROWClassifier(), Xs, ys, weight=weights)
        there = distributed.fit(AROWClassifier(), frame, "label", weight="weight", features=column, engine=spark)
        assert same(here, there)
        assert there.classes_.dtype.kind == "i"
        said = distributed.predict(there, frame, features=column)
        assert said.columns == [*frame.columns, "prediction"]
        assert [row["prediction"] for row in said.collect()] == [int(v) for X in Xs for v in here.predict(X)]


def test_predictions_of_a_frame_stand_beside_its_rows(spark, blocks):
    given = frame_of(spark, blocks)
    model = distributed.fit(AROWClassifier(), given, "label", engine=spark)
    frame = given.selectExpr("named_struct('a', f0) AS other", "*").drop("label")
    rows = distributed.predict(model, frame).collect()
    X = np.concatenate([X for X, _ in blocks])
    assert [row["f1"] for row in rows] == X[:, 1].tolist()
    plain = distributed.fit(AROWClassifier(), blocks)
    assert [row["prediction"] for row in rows] == plain.predict(X).tolist()
    scores = distributed.predict(model, frame, method="decision_function").collect()
    assert [row["prediction"] for row in scores] == plain.decision_function(X).tolist()
    assert rows[0]["other"]["a"] == X[0, 0]


def test_columns_may_have_names_that_spark_would_read_otherwise(spark, blocks):
    frame = frame_of(spark, blocks)
    odd = ["b.c", "a`b", "f", "F", "f2.x.y", "g h", "1", "c0", "the.label"]
    model = distributed.fit(AROWClassifier(), frame.toDF(*odd), "the.label", n_rounds=2, engine=spark)
    assert same(distributed.fit(AROWClassifier(), frame, "label", n_rounds=2, engine=spark), model)
    assert model.feature_names_in_.tolist() == odd[:-1]
    said = distributed.predict(model, frame.toDF(*odd))  # the label is no feature, and has a dot
    assert said.columns == [*odd, "prediction"]
    rows = said.collect()
    X, labels = (np.concatenate(each) for each in zip(*blocks, strict=True))
    assert [row[0] for row in rows] == X[:, 0].tolist()
    assert [row["the.label"] for row in rows] == labels.tolist()
    assert [row[-1] for row in rows] == distributed.fit(AROWClassifier(), blocks, n_rounds=2).predict(X).tolist()


def test_vectors_and_decimals_in_columns_with_dots(spark, blocks):
    from pyspark.ml.linalg import Vectors

    rows = [(Vectors.dense(x), int(y == "yes")) for X, ys in blocks for x, y in zip(X, ys, strict=True)]
    whole = spark.createDataFrame(spark.sparkContext.parallelize(rows, N_SHARDS), ["my.rows", "my.label"])
    model = distributed.fit(AROWClassifier(), whole, "my.label", features="my.rows", engine=spark)
    X = np.concatenate([X for X, _ in blocks])
    assert [row[-1] for row in distributed.predict(model, whole).collect()] == model.predict(X).tolist()
    exact = frame_of(spark, blocks).selectExpr("CAST(f0 AS DECIMAL(9, 4)) AS `f.0`", "label")
    rounded = [(np.round(X[:, :1], 4), y) for X, y in blocks]
    there = distributed.fit(AROWClassifier(), exact, "label", engine=spark)
    assert same(distributed.fit(AROWClassifier(), rounded), there)


def test_some_partitions_of_a_frame(spark, blocks):
    shards = ShardSource(frame_of(spark, blocks), "label").shards()
    every, some = (
        list(SparkEngine(spark).run(ScanShard(8, True), each, lambda n: None)) for each in (shards, shards[1:3])
    )
    assert [seen.n_rows for seen in some] == [N_ROWS] * 2
    assert [seen.counts.tolist() for seen in some] == [seen.counts.tolist() for seen in every[1:3]]


def test_words_of_a_frame_are_encoded_as_all_partitions_know_them(spark, blocks):
    from pyspark.sql.functions import col, when

    frame = frame_of(spark, blocks).withColumn("town", when(col("f0") > 0.1, "Köln").when(col("f0") < 0, "Gent"))
    towns = [np.where(X[:, 0] > 0.1, "Köln", np.where(X[:, 0] < 0, "Gent", "")) for X, _ in blocks]
    names = frame.columns[:-2]
    tables = [
        (Table([*names, "town"], X, {"town": Text.from_list(list(each))}), y)
        for (X, y), each in zip(blocks, towns, strict=True)
    ]
    pipeline = StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier())])
    here = distributed.fit(pipeline, tables)
    there = distributed.fit(pipeline, frame, "label", engine=spark)
    assert same(here[-1], there[-1])
    said = distributed.predict(there, frame)
    assert [row["prediction"] for row in said.collect()] == [v for table, _ in tables for v in here.predict(table)]


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["files", "frame"])
def test_a_killed_process_costs_time_and_not_the_answer(spark, block_files, blocks, tmp_path, kind):
    shards, y = (block_files, None) if kind == "files" else (frame_of(spark, blocks), "label")
    victim = block_files[2].name if kind == "files" else "partition 3 of 4"
    struck = Struck(SparkEngine(spark), tmp_path, victim, 2, kill)
    there = distributed.fit(AROWClassifier(), shards, y, n_rounds=2, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), block_files if kind == "files" else blocks, n_rounds=2), there)


def test_a_shard_that_no_process_survives_is_named(spark, block_files, blocks):
    shards = ShardSource(block_files).shards()
    with pytest.raises(ShardError, match=r"'part-2.svm' was lost: Spark tried it 4 times, .*: Python worker exited"):
        list(SparkEngine(spark).run(Deadly(ScanShard(8, True), "part-2.svm"), shards, lambda n: None))
    partitions = ShardSource(frame_of(spark, blocks), "label").shards()
    with pytest.raises(ShardError, match=r"'partition 2 of 4' was lost: Spark tried it 4 times"):
        list(SparkEngine(spark).run(Deadly(ScanShard(8, True), "partition 2 of 4"), partitions, lambda n: None))


def test_a_file_that_is_gone_is_named(spark, block_files, tmp_path):
    copies = [tmp_path / path.name for path in block_files]
    for path, copy in zip(block_files, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    shards = ShardSource(copies).shards()
    copies[3].unlink()
    found = list(SparkEngine(spark).run(ScanShard(8, True), shards, lambda n: None))
    assert [type(each).__name__ for each in found] == ["ShardSummary", "ShardSummary", "ShardSummary", "ShardError"]
    assert found[3].shard == "part-3.svm"


def test_a_row_that_cannot_be_read_is_told_as_it_is(spark, blocks):
    """The rows of a frame pass by once, so that there is no second look."""
    found = list(
        SparkEngine(spark).run(Unreadable(), ShardSource(frame_of(spark, blocks), "label").shards(), lambda n: None)
    )
    assert [each.words for each in found] == ["the words for it are missing."] * N_SHARDS


# --- at the door ------------------------------------------------------------------------------------------------------


def test_progress_is_told_up_to_the_last_shard(spark, block_files):
    told: list[int] = []
    list(SparkEngine(spark).run(ScanShard(8, True), ShardSource(block_files).shards(), told.append))
    assert told == sorted(set(told))
    assert told[-1] == N_SHARDS


def test_a_session_that_others_made_stays_open(spark, block_files):
    with ThreadPoolExecutor(1) as pool:  # where no session is active
        for engine in ("spark", "local[2,4]", spark):
            pool.submit(lambda engine=engine: engine_of(engine).close()).result()
    assert spark.range(3).count() == 3


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
    with pytest.raises(ValueError, match=r"column 'whole' holds whole rows; pass features='whole'"):
        distributed.fit(AROWClassifier(), frame.withColumn("whole", array("f0", "f1")), "label", engine=spark)
    twice = frame.toDF(*["f"] * 2, *frame.columns[2:])
    with pytest.raises(ValueError, match=r"^fit: 2 columns of the data frame are named 'f'; rename them.$"):
        distributed.fit(AROWClassifier(), twice, "label", engine=spark)
    model = distributed.fit(AROWClassifier(), twice, "label", features=["f3"], engine=spark)  # where it does not matter
    assert distributed.predict(model, twice).columns == [*twice.columns, "prediction"]
    with pytest.raises(ValueError, match=r"^fit: Unsendable cannot be sent to workers, TypeError: .*lock"):
        distributed.fit(Unsendable(), blocks, classes=["no", "yes"], engine=spark)
    with pytest.raises(ValueError, match=r"already has a column 'prediction'"):
        distributed.predict(AROWClassifier(), frame.withColumnRenamed("f0", "prediction"))
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"Dask collections are read by Dask"):
        distributed.fit(AROWClassifier(), da.zeros((4, 2)), da.zeros(4), engine=spark)


def test_a_session_that_was_opened_here_leaves_no_settings_to_the_next_one(tmp_path):
    """In a process of its own: one Java serves all sessions of a process."""
    script = tmp_path / "sessions.py"
    script.write_text(_SESSIONS)
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    told = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=120, check=True)
    ours, left, refusals = map(json.loads, told.stdout.splitlines()[-3:])
    assert ours == ["thresher", "0", "FATAL", "FATAL"]
    assert left == ["pyspark-shell", None, None, "INFO"]
    assert refusals == ["fit: the Spark session has been stopped; create a new session, and the data frame again."] * 2


_SESSIONS = """
import json
from pyspark.sql import SparkSession
from thresher import distributed
from thresher.distributed._engines import engine_of
from thresher.online import AROWClassifier

def settings(session):
    context = session.sparkContext
    level = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
    asked = ("spark.app.name", "spark.driver.maxResultSize", "spark.log.level")
    return json.dumps([*(context.getConf().get(each) for each in asked), level])

def refusal(shards, y=None):
    try:
        distributed.fit(AROWClassifier(), shards, y, engine=session)
    except ValueError as problem:
        return str(problem)

engine = engine_of("local[1,4]")
said = [settings(engine.session)]
engine.close()
session = SparkSession.builder.getOrCreate()
said.append(settings(session))
frame = session.createDataFrame([(1.0, 0), (2.0, 1)], ["x", "y"])
session.stop()
said.append(json.dumps([refusal([([[0.0], [1.0]], [0, 1])]), refusal(frame, "y")]))
print(*said, sep="\\n")
"""
