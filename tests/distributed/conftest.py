"""A real cluster of two processes, started once for all files that use it."""

from __future__ import annotations

import dask
import pytest

import distributed


@pytest.fixture(scope="session")
def local_cluster():
    given_up = {"distributed.scheduler.allowed-failures": 1}  # a task that two workers died of, sooner than usual
    with (
        dask.config.set(given_up),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        yield cluster


@pytest.fixture
def cluster(local_cluster):
    """A client of the cluster, with both workers there."""
    with distributed.Client(local_cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="session")
def blocks():
    """Rows in shards, for Spark."""
    from spark_cluster import some_blocks

    return some_blocks()


@pytest.fixture(scope="session")
def block_files(blocks, tmp_path_factory):
    """The same rows in files."""
    from spark_cluster import files_of

    return files_of(blocks, tmp_path_factory.mktemp("files"))
