"""A real cluster of two processes, started once for all files that use it."""

from __future__ import annotations

import dask
import pytest

import distributed


def two_workers():
    given_up = {"distributed.scheduler.allowed-failures": 1}  # a task that two workers died of, sooner than usual
    with (
        dask.config.set(given_up),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        yield cluster


def client_of(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


local_cluster = pytest.fixture(two_workers, scope="session")
mortal_workers = pytest.fixture(two_workers)


@pytest.fixture
def cluster(local_cluster):
    """A client of the cluster, with both workers there."""
    yield from client_of(local_cluster)


@pytest.fixture
def mortal_cluster(mortal_workers):
    """A client of a cluster of its own, for tests that kill workers: Dask does not always start others."""
    yield from client_of(mortal_workers)


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
