"""Searches on a cluster through joblib: the bits of one process, whoever dies on the way."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV

from thresher import distributed
from thresher.compare import selection_frequency
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier
from thresher.tuning import CoupledAnnealingSearchCV, Log, coupled_annealing


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40))
    return X, np.where(X @ rng.normal(size=40) + rng.normal(size=3000) > 0, 1, -1)


def search(n_evaluations=16, history=None):
    """A candidate takes about a tenth of a second."""
    model = PegasosClassifier(max_iter=20, random_state=0)
    return CoupledAnnealingSearchCV(model, n_evaluations=n_evaluations, cv=3, random_state=4, history=history)


@pytest.fixture(scope="module")
def alone(data):
    return search().fit(*data)


def assert_same(found, alone):
    times = ("seconds",)
    told, expected = ([{k: v for k, v in t.items() if k not in times} for t in s.history_] for s in (found, alone))
    assert told == expected
    assert found.best_params_ == alone.best_params_
    for name in (name for name in alone.cv_results_ if "test_score" in name):
        assert found.cv_results_[name].tobytes() == alone.cv_results_[name].tobytes()
    assert found.best_estimator_.coef_.tobytes() == alone.best_estimator_.coef_.tobytes()


def lines_in(path):
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


def when(condition, act):
    """Does something in a thread as soon as a condition holds."""

    def watch():
        deadline = time.monotonic() + 60
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.002)
        done.append(act())

    done: list = []
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, done


def test_a_search_on_a_cluster_is_that_of_one_process(cluster, data, alone):
    with distributed.backend(cluster, share=data):
        found = search().fit(*data)
    assert_same(found, alone)
    pids = cluster.run(os.getpid)
    assert os.getpid() not in pids.values()


def test_work_is_done_on_the_cluster_and_nowhere_else(cluster):
    with distributed.backend(cluster):
        pids = set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(20)))
    assert pids <= set(cluster.run(os.getpid).values())
    assert set(joblib.Parallel(n_jobs=1)(joblib.delayed(os.getpid)() for _ in range(2))) == {os.getpid()}


def test_other_searches_use_it_too(cluster, data):
    X, y = data
    grid = GridSearchCV(AROWClassifier(random_state=0), {"r": [0.1, 1.0, 10.0]}, cv=3)
    alone, often = (
        grid.fit(X, y).cv_results_,
        selection_frequency(L1RDAClassifier(alpha=0.05), X, y, n_runs=4, random_state=0),
    )
    bowl = {
        "objective": lambda p: -(np.log(p["a"]) ** 2),
        "space": {"a": Log(1e-3, 1e3)},
        "n_evaluations": 15,
        "random_state": 0,
    }
    best = coupled_annealing(**bowl)
    with distributed.backend(cluster, share=[X, y]):
        assert_array_equal(grid.fit(X, y).cv_results_["mean_test_score"], alone["mean_test_score"])
        again = selection_frequency(L1RDAClassifier(alpha=0.05), X, y, n_runs=4, random_state=0)
        assert coupled_annealing(**bowl).params == best.params
    assert_array_equal(again.frequency, often.frequency)


def test_what_is_shared_travels_once(cluster, data, monkeypatch):
    X, y = data
    sent = []
    submit = cluster.submit

    def noted(function, *args, **how):
        tasks = [each for _, args, options in how.get("tasks", ()) for each in (*args, *options.values())]
        sent.extend(id(each) for each in (*args, *tasks))
        return submit(function, *args, **how)

    monkeypatch.setattr(cluster, "submit", noted)
    with distributed.backend(cluster, share=[X, y]):
        search(8).fit(X, y)
    assert sent.count(id(X)) == sent.count(id(y)) == 1
    with distributed.backend(cluster):
        search(8).fit(X, y)
    assert sent.count(id(X)) > 2  # with each step


def test_what_is_shared_is_forgotten_at_the_end(cluster, data):
    def held():
        return [
            key
            for key in cluster.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
            if "thresher-shared" in str(key)
        ]

    gc.disable()  # at once, and not when Python collects what it does not need
    try:
        with distributed.backend(cluster, share=data):
            search(3).fit(*data)
            assert len(held()) == 2
        end = time.monotonic() + 5
        while held() and time.monotonic() < end:
            time.sleep(0.02)
        assert held() == []
    finally:
        gc.enable()


@pytest.mark.parametrize("share", [3, "X", None])
def test_share_is_a_list(share):
    with (
        pytest.raises(ValueError, match=r"^backend: share must be a list of arrays, such as \[X, y\], got"),
        distributed.backend(share=share),
    ):
        pass


def test_a_worker_killed_in_the_middle_changes_nothing(mortal_cluster, data, alone, tmp_path):
    history = tmp_path / "h.jsonl"

    def kill():
        pid = min(mortal_cluster.run(os.getpid).values())
        os.kill(pid, signal.SIGKILL)
        return lines_in(history)

    thread, killed = when(lambda: lines_in(history) >= 6, kill)
    with distributed.backend(mortal_cluster, share=data):
        found = search(history=history).fit(*data)
    thread.join()
    assert 6 <= killed[0] < 16  # in the middle
    assert_same(found, alone)


def test_a_search_goes_on_from_its_history_when_its_driver_was_killed(cluster, data, alone, tmp_path):
    history = tmp_path / "h.jsonl"
    np.savez(tmp_path / "data.npz", X=data[0], y=data[1])
    (tmp_path / "driver.py").write_text(f"""
import numpy as np
from thresher import distributed
from thresher.stochastic import PegasosClassifier
from thresher.tuning import CoupledAnnealingSearchCV
kept = np.load({str(tmp_path / "data.npz")!r})
X, y = kept["X"], kept["y"]
model = PegasosClassifier(max_iter=20, random_state=0)
with distributed.backend({cluster.scheduler.address.replace("tcp", "dask")!r}, share=[X, y]):
    CoupledAnnealingSearchCV(model, n_evaluations=16, cv=3, random_state=4, history={str(history)!r}).fit(X, y)
""")
    driver = subprocess.Popen([sys.executable, str(tmp_path / "driver.py")])
    thread, _ = when(lambda: lines_in(history) >= 6, driver.kill)
    assert driver.wait(60) == -signal.SIGKILL
    thread.join()
    kept = [json.loads(line)["seconds"] for line in history.read_text().splitlines()[1:]]
    assert 6 <= len(kept) < 16
    with distributed.backend(cluster, share=data):
        found = search(history=history).fit(*data)
    assert_same(found, alone)
    same = [trial["seconds"] == before for trial, before in zip(found.history_, kept, strict=False)]
    assert sum(same) >= len(kept) - 1  # one is evaluated again, as a check


def test_serial_leaves_joblib_as_it_is(data, alone):
    with distributed.backend("serial", share=data):
        assert set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(2))) == {os.getpid()}
        assert_same(search().fit(*data), alone)


def test_what_is_no_engine_is_refused():
    with pytest.raises(ValueError, match="engine must be"), distributed.backend("nowhere"):
        pass


class Unreadable:
    """What no worker can read."""

    def __reduce__(self):
        return _fail, ()


def _fail():
    raise OSError("lost on the way")


def test_a_task_that_no_worker_can_read_is_an_error_and_not_a_wait(cluster):
    with distributed.backend(cluster), pytest.raises(RuntimeError, match="backend: the cluster lost a task"):
        joblib.Parallel()(joblib.delayed(id)(Unreadable()) for _ in range(2))


@pytest.mark.slow
def test_a_search_on_spark_is_that_of_one_process(data, alone):
    pytest.importorskip("joblibspark")
    with distributed.backend("local[2,4]", share=data):
        found = search().fit(*data)
    assert_same(found, alone)
