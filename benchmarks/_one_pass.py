"""CPU seconds of one pass, alone in its process, imports excluded: ``python -m benchmarks._one_pass JSON``.

``rows``: our learner, from CSR rows in memory. ``text``: ours, from svmlight text. ``vw``: Vowpal Wabbit, from the
file its options name. All make a new model and stop when the last row is learned; before, each has learned from a
file of two rows, so that nothing is loaded for the first time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def _rows(job: dict[str, Any]) -> Any:
    model = _model(job)
    with np.load(job["file"]) as a:
        X, y = sparse.csr_array((a["data"], a["indices"], a["indptr"]), shape=a["shape"]), a["y"]
    few = np.unique(y, return_index=True)[1]
    _model(job).fit(X[few], y[few])
    return lambda: model.fit(X, y)


def _text(job: dict[str, Any]) -> Any:
    from thresher.streams import open_stream

    model = _model(job)

    def learn(path: str, model: Any) -> None:
        for batch in open_stream(path, n_features=job["n_features"]):
            model.partial_fit(batch.X, batch.y, classes=job["classes"])

    with _two_rows("1 1:0.5\n-1 2:0.5\n" if job["classes"][0] == -1 else "1 1:0.5\n2 2:0.5\n") as path:
        learn(path, _model(job))
    return lambda: learn(job["file"], model)


def _vw(job: dict[str, Any]) -> Any:
    from vowpalwabbit import Workspace

    with _two_rows("1 | 1:0.5\n2 | 2:0.5\n") as path:
        Workspace(f"--quiet -d {path}").finish()
    return lambda: Workspace(job["options"])  # learns from the whole file


@contextmanager
def _two_rows(text: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "two.svm")
        path.write_text(text)
        yield str(path)


def _model(job: dict[str, Any]) -> Any:
    from thresher import dual_averaging

    return getattr(dual_averaging, job["kind"])(**job["params"])


def main() -> None:
    job = json.loads(sys.argv[1])
    work = {"rows": _rows, "text": _text, "vw": _vw}[job["how"]](job)
    begin = time.process_time()
    kept = work()
    seconds = time.process_time() - begin
    del kept
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
