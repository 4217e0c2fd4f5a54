"""The Dask engine on a real cluster of two processes: the serial engine's bits, whoever dies."""

from __future__ import annotations

import os
import signal
import time
from threading import Lock, Timer

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import distributed as dask_distributed
from thresher import distributed
from thresher.distributed._dask import DaskEngine
from thresher.distributed._jobs import LearnPass
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


def test_a_worker_that_is_killed_in_the_middle_of_a_round_changes_nothing(mortal_cluster):
    shards = shards_of()
    here = distributed.fit(AROWClassifier(), shards, n_rounds=3)
    killed = []

    def kill(progress):
        if progress.round == 2 and progress.n_done == 1 and not killed:
            pid = next(iter(mortal_cluster.run(os.getpid).values()))
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    there = distributed.fit(AROWClassifier(), shards, n_rounds=3, engine=mortal_cluster, on_progress=kill)
    assert killed
    assert_same_bits(here.state_, there.state_)


def test_a_worker_that_dies_before_it_was_asked_for_its_version_changes_nothing(mortal_cluster):
    shards, killed = shards_of(n_rows=200), []

    def kill(progress):
        if not killed:
            killed.append(next(iter(mortal_cluster.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = distributed.fit(AROWClassifier(), shards, engine=mortal_cluster, on_progress=kill)
    assert_same_bits(distributed.fit(AROWClassifier(), shards).state_, there.state_)


def test_a_cluster_without_workers_is_waited_for_but_not_in_silence(files, monkeypatch):
    monkeypatch.setattr("thresher.distributed._dask._PATIENCE", 0.5)
    with (
        dask_distributed.LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None) as empty,
        dask_distributed.Client(empty, set_as_default=False) as client,
    ):
        Timer(1.5, lambda: empty.scale(1)).start()
        with pytest.warns(UserWarning, match="the Dask cluster has no workers; waiting for some"):
            model = distributed.fit(AROWClassifier(), files / "part-0.svm", engine=client)
        assert model.n_samples_seen_ == 500


def test_what_cannot_be_sent_is_told_in_a_sentence(cluster):
    model = AROWClassifier()
    model.lock = Lock()
    with pytest.raises(ValueError, match="fit: AROWClassifier cannot be sent to workers"):
        DaskEngine(cluster).run(LearnPass(model, None, 0, (0, 0)), [], print).__next__()


class Deadly:
    """A shard that kills whoever reads it."""

    name = "deadly.svm"

    def batches(self, shuffle=0, seed=0):
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
        yield


def test_a_shard_that_nobody_survives_is_named(mortal_cluster, monkeypatch):
    import sys

    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr("thresher.distributed._inputs.ShardSource.shards", lambda _: [Deadly()])
    with pytest.raises(distributed.ShardError, match=r"'deadly.svm' was lost: every worker that read it died") as lost:
        distributed.fit(AROWClassifier(), "anything", engine=mortal_cluster)
    assert lost.value.shard == "deadly.svm"


def test_rows_that_cannot_be_read_are_named_once(cluster, files, tmp_path):
    bad = tmp_path / "bad.svm"
    bad.write_text("1 1:1\n0 2:x\n")
    with pytest.raises(distributed.ShardError, match=r"'bad.svm' was lost: bad.svm, line 2"):
        distributed.fit(AROWClassifier(), [files / "part-0.svm", bad], engine=cluster)
