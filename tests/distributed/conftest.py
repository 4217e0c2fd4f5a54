"""A real cluster of two processes, started once for all files that use it."""

from __future__ import annotations

import distributed
import pytest


@pytest.fixture(scope="session")
def local_cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def cluster(local_cluster):
    """A client of the cluster, with both workers there."""
    with distributed.Client(local_cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client
