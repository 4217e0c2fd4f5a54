"""A user's program, read by ``mypy --strict``: what is right passes, and each mistake below is found.

A mistake that mypy no longer finds makes its ``type: ignore`` superfluous, which ``--strict`` calls an error.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import thresher
from thresher.cluster import SparseKMeans
from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.streams import open_stream, write_svmlight


def right(folder: Path) -> float:
    """Learn from a generated stream and from a file; save, load, predict."""
    stream = make_sparse_stream(2_000, 500, n_relevant=20, random_state=0)
    model = L1RDAClassifier(alpha=1e-4, eta0=100.0)
    for X, y in stream.batches:
        model = assert_type(model.partial_fit(X, y, classes=[0, 1]), L1RDAClassifier)
    with (folder / "rows.svm").open("wb") as file:
        write_svmlight(file, X, y)
    for batch in open_stream(folder / "rows.svm", n_features=500):
        model.partial_fit(batch.X, batch.y)
    save_model(model, folder / "m.thresher")
    predicted: NDArray[Any] = load_model(folder / "m.thresher").predict(X)
    assert_type(model.n_mistakes_, int)
    assert_type(AROWClassifier().fit(X, y), AROWClassifier)
    assert_type(thresher.__version__, str)
    return float(np.mean(predicted == y))


if TYPE_CHECKING:  # mistakes, for mypy alone
    AROWClassifier(r=[1.0])  # type: ignore[arg-type]
    AROWClassifier(R=1.0)  # type: ignore[call-arg]
    AROWClassifier(max_iter=2.5)  # type: ignore[arg-type]
    L1RDARegressor(rho="fast")  # type: ignore[arg-type]
    SparseKMeans(n_clusters="three")  # type: ignore[arg-type]
    AROWClassifier().fit(np.ones((2, 2)))  # type: ignore[call-arg]
    load_model(3)  # type: ignore[arg-type]
    save_model(AROWClassifier())  # type: ignore[call-arg]
    open_stream("rows.csv", batch_size="many")  # type: ignore[arg-type]
    thresher.auto("rows.csv", n_evaluations="many")  # type: ignore[arg-type]
    thresher.onlin  # type: ignore[attr-defined]  # noqa: B018
    n: str = AROWClassifier().n_mistakes_  # type: ignore[assignment]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(f"accuracy on the last rows: {right(Path(name)):.2f}")
