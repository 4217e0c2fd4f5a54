"""Rounds on a standalone Spark cluster: a master and two workers, of one core each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from spark_cluster import (
    Moments,
    Struck,
    frame_of,
    kill,
    kill_executor,
    same,
    session_at,
    standalone,
)
from thresher import distributed
from thresher.distributed._engines import SerialEngine
from thresher.distributed._inputs import ShardSource
from thresher.distributed._jobs import AddUp
from thresher.distributed._spark import SparkEngine
from thresher.online import AROWClassifier

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with standalone(tmp_path_factory.mktemp("spark")) as address, session_at(address) as session:
        yield session


def test_files_and_arrays_give_the_bits_of_one_process(spark, block_files, blocks):
    for shards in (block_files, blocks):
        here = distributed.fit(AROWClassifier(), shards, n_rounds=2)
        assert same(here, distributed.fit(AROWClassifier(), shards, n_rounds=2, engine=spark))


def test_sums_give_the_bits_of_one_process(spark, block_files):
    engines = SerialEngine(), SparkEngine(spark)
    here, there = (
        list(engine.run(AddUp(Moments(1.7)), ShardSource(block_files).shards(), lambda n: None)) for engine in engines
    )
    for a, b in zip(here, there, strict=True):
        assert {name: values.tobytes() for name, values in a.items()} == {k: v.tobytes() for k, v in b.items()}


def test_a_killed_process_costs_time_and_not_the_answer(spark, block_files, tmp_path):
    struck = Struck(SparkEngine(spark), tmp_path, block_files[2].name, 2, kill)
    there = distributed.fit(AROWClassifier(), block_files, n_rounds=2, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), block_files, n_rounds=2), there)


@pytest.mark.parametrize("kind", ["files", "frame"])
def test_a_killed_executor_costs_time_and_not_the_answer(spark, block_files, blocks, tmp_path, kind):
    shards, y, plain = (
        (block_files, None, block_files) if kind == "files" else (frame_of(spark, blocks), "label", blocks)
    )
    victim = block_files[2].name if kind == "files" else "partition 3 of 4"
    struck = Struck(SparkEngine(spark), tmp_path, victim, 2, kill_executor)
    there = distributed.fit(AROWClassifier(), shards, y, n_rounds=3, engine=struck)
    assert struck.struck
    assert same(distributed.fit(AROWClassifier(), plain, n_rounds=3), there)
