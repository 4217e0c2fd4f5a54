"""Which Spark is meant, without a Spark that runs."""

from __future__ import annotations

import os
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from thresher import distributed
from thresher.distributed._engines import engine_of
from thresher.distributed._spark import SparkEngine, _half_of_memory, spark_engine
from thresher.online import AROWClassifier


def session(master: str) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(master=master), stop=lambda: pytest.fail("it is not ours"))


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]"])
def test_masters_that_give_up_at_once_are_remarked_on(master):
    with pytest.warns(UserWarning, match=r"stops when one process dies; local\[2,4\] retries failed tasks"):
        spark_engine(session(master))


@pytest.mark.parametrize("master", ["local[2,4]", "local[*,4]", "spark://host:7077", "yarn", "local-cluster[2,1,1024]"])
def test_other_masters_are_not(master):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = spark_engine(session(master))
    assert isinstance(engine, SparkEngine)
    engine.close()


def test_spark_is_the_session_that_is_active():
    with pytest.raises(ValueError, match=r'engine="spark" needs an active session, and there is none; start one, or'):
        engine_of("spark")


@pytest.mark.parametrize("engine", ["spark", "local[2,4]", "spark://host:7077"])
def test_without_pyspark_one_sentence_tells_what_to_install(monkeypatch, engine):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r'^engine="spark" needs pyspark: pip install "thresher\[spark\]".$'):
        distributed.fit(AROWClassifier(), [(np.eye(2), [0, 1])], engine=engine)


def test_a_session_of_spark_connect_is_refused():
    Remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    with pytest.raises(ValueError, match=r"the Spark session must be one on the driver, not one of Spark Connect"):
        distributed.fit(AROWClassifier(), [(np.eye(2), [0, 1])], engine=Remote())


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "spark://nowhere"])
def test_a_master_that_is_not_there_is_told_at_once(master):
    with pytest.raises(
        OSError, match=rf"^{master}: no Spark master answers there \((ConnectionRefused|Value)Error\).$"
    ):
        engine_of(master)


@pytest.mark.parametrize("given", [None, "PYSPARK_SUBMIT_ARGS", "SPARK_DRIVER_MEMORY"])
def test_a_new_java_may_use_half_of_the_memory_unless_it_is_told_otherwise(monkeypatch, given):
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_DRIVER_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    if given is not None:
        monkeypatch.setenv(given, "3g")
    before = dict(os.environ)
    with _half_of_memory():
        inside = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    assert dict(os.environ) == before
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**31
    assert inside == (
        f"--driver-memory {half}g pyspark-shell" if given is None else before.get("PYSPARK_SUBMIT_ARGS", "")
    )
