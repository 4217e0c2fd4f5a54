"""One training run from a file, alone in its process: ``python -m benchmarks._train_file LIBRARY NAME TRAIN TEST``.

Prints CPU seconds (all threads, imports excluded), peak memory up to the end of training, and accuracy on the held-
out file.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ._measure import memory_mb

R_CHOSEN = (
    "AROW, r chosen"  # three values of r learn the first rows; the one with the fewest progressive mistakes goes on
)
CHOICE_ROWS = 50_000
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


def vw_run(loss: str, train: str, test: str) -> Callable[[], Scorer]:
    from vowpalwabbit import Workspace

    def work() -> Scorer:
        workspace = Workspace(f"-d {train} --loss_function {loss} -b 18 --quiet")  # learns from the whole file
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


def main() -> None:
    library, name, train, test = sys.argv[1:]
    work = {"thresher": thresher_run, "vw": vw_run}[library](name, train, test)
    start = memory_mb("VmRSS")
    begin = time.process_time()
    scorer = work()
    figures = {"seconds": time.process_time() - begin, "peak_mb": memory_mb("VmHWM"), "start_mb": start}
    print(json.dumps(figures | {"accuracy": float(scorer())}))


if __name__ == "__main__":
    main()
