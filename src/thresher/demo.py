"""The main job on an embedded default: ``python -m thresher.demo``.

Writes a generated stream of 200,000 rows and 100,000 features to a file, one row in twenty of the class that counts,
then reads it back batch by batch through three learners, each predicting every row before it learns from it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier
from thresher.streams import open_stream, write_svmlight

N_ROWS, N_FEATURES, N_RELEVANT = 200_000, 100_000, 200


@dataclass
class Runner:
    """A learner with what the table says of it."""

    name: str
    model: Any
    seconds: float = 0.0
    scores: list[NDArray[np.float64]] = field(default_factory=list)

    def learn(self, X: Any, y: NDArray[np.float64]) -> None:
        begin = time.perf_counter()
        if hasattr(self.model, "state_"):
            self.scores.append(self.model.decision_function(X))
        else:
            self.scores.append(np.zeros(len(y)))
        self.model.partial_fit(X, y, classes=[0.0, 1.0])
        self.seconds += time.perf_counter() - begin


def write(path: Path, progress: Progress) -> NDArray[np.intp]:
    """Generate the file; returns the features that truly matter."""
    stream = make_sparse_stream(N_ROWS, N_FEATURES, n_relevant=N_RELEVANT, random_state=0)
    task = progress.add_task("writing the stream", total=N_ROWS)
    with path.open("wb") as file:
        for X, y in stream.batches:
            X.data = X.data.round(4)
            write_svmlight(file, X, y)
            progress.advance(task, len(y))
    return stream.relevant


def train(path: Path, runners: list[Runner], progress: Progress) -> NDArray[np.float64]:
    """One pass over the file; returns the labels as they came."""
    stream = open_stream(path, batch_size=2_000, n_features=N_FEATURES)
    task = progress.add_task("learning from it ", total=stream.n_bytes)
    labels = []
    for batch in stream:
        for runner in runners:
            runner.learn(batch.X, batch.y)
        labels.append(batch.y)
        progress.update(task, completed=stream.bytes_read)
    return np.concatenate(labels)


def report(runners: list[Runner], labels: NDArray[np.float64], relevant: NDArray[np.intp]) -> Table:
    from sklearn.metrics import average_precision_score

    table = Table(title=f"One pass over {len(labels):,} rows, {N_FEATURES:,} features, {labels.mean():.1%} positive")
    for heading in ("learner", "error", "avg. precision", "rows / s", "weights ≠ 0", "relevant found"):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for r in runners:
        weights = np.abs(r.model.coef_[0])
        confidence = np.sqrt(getattr(r.model, "variance_", np.ones((1, N_FEATURES)))[0])
        top = np.argsort(-weights / confidence, kind="stable")[:N_RELEVANT]
        found = np.intersect1d(top[weights[top] > 0], relevant)
        table.add_row(
            r.name,
            f"{r.model.n_mistakes_ / r.model.n_samples_seen_:.2%}",
            f"{average_precision_score(labels, np.concatenate(r.scores)):.3f}",
            f"{len(labels) / r.seconds:,.0f}",
            f"{len(r.model.support_):,}",
            f"{len(found)} of {len(relevant)}",
        )
    return table


def main() -> int:
    console = Console()
    runners = [
        Runner("AROW", AROWClassifier()),
        Runner("Pegasos", PegasosClassifier(alpha=1e-5, loss="logistic")),
        Runner("l1-RDA", L1RDAClassifier(alpha=3e-5, eta0=300.0)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.svm"
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as progress:
            relevant = write(path, progress)
            size = path.stat().st_size
            labels = train(path, runners, progress)
    console.print(
        f"A file of {size / 1e6:.0f} MB, read in batches of 2,000 rows. Errors and precision are progressive:"
    )
    console.print("every row was predicted before it was learned from.")
    console.print(report(runners, labels, relevant))
    console.print(f"Relevant found: among the {len(relevant)} largest weights (over their doubt, where it is known).")
    console.print(f"Always answering 'negative' errs on {labels.mean():.2%} of the rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
