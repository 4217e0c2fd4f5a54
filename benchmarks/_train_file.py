"""One training run from a file, alone in its process: ``python -m benchmarks._train_file LIBRARY NAME TRAIN TEST``.

Prints CPU and wall seconds (all threads, imports excluded), peak memory up to the end of training, and accuracy on the
held-out file. Beside what it has when its libraries are loaded, a process gets ``BUDGET_MB`` of data and no more: one
that reads a larger file into memory fails.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ._measure import memory_mb

R_CHOSEN = (
    "AROW, r chosen"  # three values of r learn the first rows; the one with the fewest progressive mistakes goes on
)
CHOICE_ROWS = 50_000
BUDGET_MB = 512
BLOCK_ROWS = 10_000  # of a Dask partition
VW = {
    "squared": "--loss_function squared",
    "logistic": "--loss_function logistic",
    "hinge": "--loss_function hinge",
    "--ftrl": "--ftrl --loss_function logistic",
}
Scorer = Callable[[], float]  # accuracy of what was trained


def thresher_run(name: str, train: str, test: str) -> Callable[[], Scorer]:
    from thresher.online import AROWClassifier
    from thresher.streams import open_stream, read_svmlight

    from ._data import N_WORDS
    from ._learners import learners

    models = [AROWClassifier(r=r) for r in (1.0, 3.0, 10.0)] if name == R_CHOSEN else [learners()[name]]

    def work() -> Scorer:
        candidates = models
        for batch in open_stream(train, n_features=N_WORDS):
            for model in candidates:
                model.partial_fit(batch.X, batch.y, classes=[-1.0, 1.0])
            if model.n_samples_seen_ > CHOICE_ROWS:
                candidates = [min(candidates, key=lambda m: m.n_mistakes_)]
        return lambda: candidates[0].score(*read_svmlight(test, n_features=N_WORDS))

    return work


def vw_run(name: str, train: str, test: str) -> Callable[[], Scorer]:
    from vowpalwabbit import Workspace

    source = f"-d {train} --cache_file {train}" if train.endswith(".vw-cache") else f"-d {train}"

    def work() -> Scorer:
        workspace = Workspace(f"{source} {VW[name]} -b 18 --quiet")  # learns from the whole file
        return lambda: _vw_accuracy(workspace, test)

    def _vw_accuracy(workspace: Workspace, test: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            model, predictions = Path(folder, "model"), Path(folder, "predictions")
            workspace.save(str(model))
            Workspace(f"-d {test} -t -i {model} -p {predictions} --quiet").finish()
            scores = np.loadtxt(predictions)
        truth = np.array([line.startswith("1") for line in Path(test).read_text().splitlines()])
        return float(np.mean((scores > 0) == truth))

    return work


def river_run(name: str, train: str, test: str) -> Callable[[], Scorer]:
    from river import linear_model, optim, stream

    model: Any = {
        "PAClassifier": linear_model.PAClassifier,
        "LogisticRegression, SGD(1)": lambda: linear_model.LogisticRegression(optimizer=optim.SGD(1.0)),
    }[name]()

    def work() -> Scorer:
        for x, y in stream.iter_libsvm(train, target_type=_positive):
            model.learn_one(x, y)
        return lambda: float(
            np.mean([model.predict_one(x) == y for x, y in stream.iter_libsvm(test, target_type=_positive)])
        )

    return work


def _positive(label: str) -> bool:
    return float(label) > 0


def dask_run(name: str, train: str, test: str) -> Callable[[], Scorer]:
    """Partitions of some rows, parsed by scikit-learn when they are asked for, one after the other."""
    import dask
    import dask.array as da
    from dask_ml.wrappers import Incremental
    from scipy import sparse
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    from ._data import N_WORDS

    def read(begin: int, end: int, n_rows: int) -> tuple[Any, Any]:
        offset = max(begin - 1, 0)  # scikit-learn drops what is left of the line that it starts in
        X, y = load_svmlight_file(train, n_features=N_WORDS, zero_based=False, offset=offset, length=end - 1 - offset)
        if len(y) != n_rows:
            raise RuntimeError(f"{len(y)} rows were read, not {n_rows}")
        return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape), y

    def work() -> Scorer:
        parts = [(dask.delayed(read, nout=2)(begin, end, n), n) for begin, end, n in _blocks(train)]
        X = da.concatenate(
            [da.from_delayed(p[0], (n, N_WORDS), dtype=float, meta=sparse.csr_matrix((0, 0))) for p, n in parts]
        )
        y = da.concatenate([da.from_delayed(p[1], (n,), dtype=float) for p, n in parts])
        model = Incremental(SGDClassifier(random_state=0), shuffle_blocks=False)
        with dask.config.set(scheduler="synchronous"):
            model.fit(X, y, classes=[-1.0, 1.0])
        return lambda: float(model.estimator_.score(*load_svmlight_file(test, n_features=N_WORDS, zero_based=False)))

    return work


def _blocks(path: str) -> Iterator[tuple[int, int, int]]:
    """Where blocks of lines begin and end, and how many lines they have."""
    begin = end = n = 0
    with open(path, "rb") as file:
        for line in file:
            end, n = end + len(line), n + 1
            if n == BLOCK_ROWS:
                yield begin, end, n
                begin, n = end, 0
    if n:
        yield begin, end, n


def main() -> None:
    library, name, train, test = sys.argv[1:]
    runs = {"thresher": thresher_run, "vw": vw_run, "river": river_run, "dask-ml": dask_run}
    work = runs[library](name, train, test)
    budget = int((memory_mb("VmData") + BUDGET_MB) * 2**20)
    resource.setrlimit(resource.RLIMIT_DATA, (budget, resource.RLIM_INFINITY))
    start = memory_mb("VmRSS")
    begin, begin_wall = time.process_time(), time.perf_counter()
    scorer = work()
    figures = {
        "seconds": time.process_time() - begin,
        "wall": time.perf_counter() - begin_wall,
        "peak_mb": memory_mb("VmHWM"),
        "start_mb": start,
    }
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps(figures | {"accuracy": float(scorer())}))


if __name__ == "__main__":
    main()
