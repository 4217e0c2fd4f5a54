"""Learning in one model from several threads: no row is lost, whichever thread brings it."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

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


def test_a_lock_is_forgotten_with_its_model():
    before = len(_turns)
    for _ in range(100):
        RunningScaler().partial_fit(np.eye(2))
    gc.collect()
    assert len(_turns) <= before
