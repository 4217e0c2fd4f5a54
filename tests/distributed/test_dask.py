"""The Dask engine on a real cluster of two processes: the serial engine's bits, whoever dies."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher import distributed
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from variants import assert_same_bits


def shards_of(n=8, n_rows=6000, d=400, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n * n_rows, d), density=0.1, rng=rng, format="csr")
    y = X @ rng.normal(size=d) > 0
    return [(X[i::n], y[i::n]) for i in range(n)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    rng = np.random.default_rng(0)
    for i in range(4):
        values = rng.normal(size=(500, 3)).round(3).tolist()
        lines = (f"{int(a + b > c)} 1:{a} 3:{b} {4 + k % 5}:{c}\n" for k, (a, b, c) in enumerate(values))
        (folder / f"part-{i}.svm").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("model", [AROWClassifier(), PAClassifier(), L1RDAClassifier(alpha="auto")], ids=repr)
def test_the_same_bits_as_in_one_process(cluster, files, model):
    pattern = str(files / "*.svm")
    here = distributed.fit(model, pattern, n_rounds=3, shuffle=100)
    there = distributed.fit(model, pattern, n_rounds=3, shuffle=100, engine=cluster)
    assert_same_bits(here.state_, there.state_)
    for one, other in zip(
        distributed.predict(here, pattern), distributed.predict(here, pattern, engine=cluster), strict=True
    ):
        assert_array_equal(one, other)


def test_an_address_is_an_engine(cluster, files, monkeypatch):
    monkeypatch.setattr("thresher.distributed._dask._PATIENCE", 1)
    address = cluster.scheduler.address
    model = distributed.fit(AROWClassifier(), files / "part-0.svm", engine=address.replace("tcp://", "dask://"))
    assert model.n_samples_seen_ == 500
    with pytest.raises(OSError, match="no Dask scheduler answers"):
        distributed.fit(AROWClassifier(), files / "part-0.svm", engine="dask://127.0.0.1:1")


def test_a_worker_that_is_killed_in_the_middle_of_a_round_changes_nothing(cluster):
    shards = shards_of()
    here = distributed.fit(AROWClassifier(), shards, n_rounds=3)
    killed = []

    def kill(progress):
        if progress.round == 2 and progress.n_done == 1 and not killed:
            pid = next(iter(cluster.run(os.getpid).values()))
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    there = distributed.fit(AROWClassifier(), shards, n_rounds=3, engine=cluster, on_progress=kill)
    assert killed
    assert_same_bits(here.state_, there.state_)
    cluster.wait_for_workers(2)


class Deadly:
    """A shard that kills whoever reads it."""

    name = "deadly.svm"

    def pieces(self, shuffle=0, seed=0):
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
        yield


def test_a_shard_that_nobody_survives_is_named(cluster, monkeypatch):
    import sys

    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr("thresher.distributed._fit.as_shards", lambda *_: [Deadly()])
    with pytest.raises(distributed.ShardError, match=r"'deadly.svm' was lost: every worker that read it died") as lost:
        distributed.fit(AROWClassifier(), "anything", engine=cluster)
    assert lost.value.shard == "deadly.svm"
    cluster.wait_for_workers(2)


def test_rows_that_cannot_be_read_are_named_once(cluster, files, tmp_path):
    bad = tmp_path / "bad.svm"
    bad.write_text("1 1:1\n0 2:x\n")
    with pytest.raises(distributed.ShardError, match=r"'bad.svm' was lost: bad.svm, line 2"):
        distributed.fit(AROWClassifier(), [files / "part-0.svm", bad], engine=cluster)
