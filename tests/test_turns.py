"""Learning in one model from several threads: no row is lost, whichever thread brings it."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor

from thresher import registry
from thresher._engine._turns import _turns
from thresher.cluster import SparseKMeans
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler

N_THREADS, N_BATCHES, N_ROWS = 8, 25, 20


def teach(learn):
    """Call a function from several threads with rows of growing width."""

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(N_BATCHES):
            width = int(rng.integers(5, 400))
            learn(sparse.random_array((N_ROWS, width), density=0.2, format="csr", rng=rng), rng.integers(0, 2, N_ROWS))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_no_row_is_lost():
    model = AROWClassifier(1.0)
    teach(lambda X, y: model.partial_fit(X, y, classes=[0, 1], grow=True))
    assert model.n_samples_seen_ == N_THREADS * N_BATCHES * N_ROWS


def test_a_scaler_counts_every_row():
    scaler = RunningScaler()
    teach(lambda X, y: scaler.partial_fit(X[:, :5]))
    assert scaler.n_samples_seen_ == N_THREADS * N_BATCHES * N_ROWS


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), clone])
@pytest.mark.parametrize("model", [AROWClassifier(1.0), SparseKMeans(n_clusters=2), RunningScaler()], ids=repr)
def test_copies_learn_on(model, again):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    options = {"classes": [0, 1]} if isinstance(model, AROWClassifier) else {}
    model = clone(model).partial_fit(X, y, **options)
    again(model).partial_fit(X, y, **options)


@pytest.mark.parametrize("cls", registry.estimators().values(), ids=lambda cls: cls.__name__)
def test_several_threads_read_one_model_as_one_would(cls):
    """Whatever a model computes when it is first asked, all of them are told the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    model = cls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, X[:, 0] if is_regressor(model) else (X[:, 0] > 0).astype(int))
        except ValueError:
            pytest.skip("needs more than rows and targets")
    alone, told = copy.deepcopy(model).predict(X), []
    begin = threading.Barrier(N_THREADS)

    def ask():
        begin.wait()
        told.append(model.predict(X))

    threads = [threading.Thread(target=ask) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == N_THREADS
    assert all(np.array_equal(each, alone) for each in told)


def test_models_of_several_threads_do_not_disturb_each_other():
    X, y = np.random.default_rng(0).normal(size=(3000, 5)), np.arange(3000) % 2
    alone = AROWClassifier(1.0).partial_fit(X, y, classes=[0, 1])
    models = [AROWClassifier(1.0) for _ in range(N_THREADS)]
    threads = [threading.Thread(target=each.partial_fit, args=(X, y), kwargs={"classes": [0, 1]}) for each in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each.coef_.tobytes() == alone.coef_.tobytes() for each in models)


def test_a_lock_is_forgotten_with_its_model():
    before = len(_turns)
    for _ in range(100):
        RunningScaler().partial_fit(np.eye(2))
    gc.collect()
    assert len(_turns) <= before
