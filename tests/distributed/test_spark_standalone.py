"""Rounds on a standalone Spark cluster: a master and two workers, of one core each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_cluster import (
    Moments,
    Struck,
    files_of,
    frame_of,
    kill,
    kill_executor,
    same,
    session_at,
    some_blocks,
    standalone,
)
from thresher import distributed
from thresher.distributed._engines import SerialEngine
from thresher.distributed._inputs import as_shards
from thresher.distributed._spark import SparkEngine
from thresher.distributed._tasks import Ask
from thresher.online import AROWClassifier

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with standalone(tmp_path_factory.mktemp("spark")) as address, session_at(address) as session:
        yield session


@pytest.fixture(scope="module")
def blocks() -> list[Any]:
    return some_blocks()


@pytest.fixture(scope="module")
def files(blocks: list[Any], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return files_of(blocks, tmp_path_factory.mktemp("files"))


def test_files_and_arrays_give_the_bits_of_one_process(spark, files, blocks):
    for shards in (files, blocks):
        here = distributed.fit(AROWClassifier(), shards, n_rounds=2)
        assert same(here, distributed.fit(AROWClassifier(), shards, n_rounds=2, engine=spark))


def test_sums_give_the_bits_of_one_process(spark, files):
    engines = SerialEngine(), SparkEngine(spark)
    here, there = (list(engine.run(Ask(Moments(1.7)), as_shards(files), lambda n: None)) for engine in engines)
    for a, b in zip(here, there, strict=True):
        assert {name: values.tobytes() for name, values in a.items()} == {k: v.tobytes() for k, v in b.items()}


def test_a_killed_process_costs_time_and_not_the_answer(spark, files, tmp_path):
    struck = Struck(SparkEngine(spark), tmp_path, files[2].name, 2, kill)
    there = distributed.fit(AROWClassifier(), files, n_rounds=2, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), files, n_rounds=2), there)


@pytest.mark.parametrize("kind", ["files", "frame"])
def test_a_killed_executor_costs_time_and_not_the_answer(spark, files, blocks, tmp_path, kind):
    shards, y, plain = (files, None, files) if kind == "files" else (frame_of(spark, blocks), "label", blocks)
    victim = files[2].name if kind == "files" else "partition 3 of 4"
    struck = Struck(SparkEngine(spark), tmp_path, victim, 2, kill_executor)
    there = distributed.fit(AROWClassifier(), shards, y, n_rounds=3, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), plain, n_rounds=3), there)
