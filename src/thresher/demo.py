"""``thresher demo``: an example on generated data.

Writes a generated stream of 200,000 rows and 100,000 features to a file, with one positive row in twenty. Four learners
read it in one pass each and predict every row before they learn from it. A report describes the best of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ._estimators import clone
from ._output import write_whole
from .datasets import make_sparse_stream
from .dual_averaging import L1RDAClassifier
from .inspection import features_that_matter
from .online import AROWClassifier
from .stochastic import PegasosClassifier
from .streams import open_stream, write_svmlight
from .training import Run, train

N_ROWS, N_FEATURES, N_RELEVANT = 200_000, 100_000, 200

LEARNERS: dict[str, Any] = {
    "AROW": AROWClassifier(),
    "AROW-K": AROWClassifier(n_features_to_select=N_RELEVANT),
    "Pegasos": PegasosClassifier(alpha=1e-5, loss="logistic"),
    "l1-RDA": L1RDAClassifier(alpha=3e-5, eta0=300.0),
}


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


def learn(name: str, path: Path, progress: Progress) -> tuple[Run, float]:
    """One pass over the file; returns what came of it, and the seconds it took."""
    stream = open_stream(path, batch_size=2_000, n_features=N_FEATURES)
    task = progress.add_task(f"learning: {name:9}", total=stream.n_bytes)
    begin = time.perf_counter()
    run = train(
        clone(LEARNERS[name]),
        stream,
        classes=[0, 1],
        predict_first=True,
        on_batch=lambda history, stream: progress.update(task, completed=stream.bytes_read),
    )
    return run, time.perf_counter() - begin


def compare(runs: dict[str, tuple[Run, float]], relevant: NDArray[np.intp]) -> Table:
    from sklearn.metrics import average_precision_score

    table = Table(title=f"One pass over {N_ROWS:,} rows of {N_FEATURES:,} features")
    for heading in ("learner", "error", "avg. precision", "rows / s", "weights ≠ 0", "relevant found"):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for name, (run, seconds) in runs.items():
        held_out = run.held_out
        assert held_out is not None
        top = [feature.index for feature in features_that_matter(run.model, N_RELEVANT)]
        table.add_row(
            name,
            f"{100 * run.model.n_mistakes_ / run.model.n_samples_seen_:.2f} %",
            f"{average_precision_score(held_out.y, held_out.scores):.3f}",
            f"{N_ROWS / seconds:,.0f}",
            f"{len(run.model.support_):,}",
            f"{len(np.intersect1d(top, relevant))} of {len(relevant)}",
        )
    return table


def write_report(run: Run, size: int, path: Path) -> None:
    from .report import report_of

    report_of(
        run,
        [{"name": "stream.svm (generated)", "rows": run.facts.n_rows, "bytes": size}],
        title="thresher demo: a sparse stream, one row in twenty positive",
        asked={
            "command": "thresher demo",
            "question": "Which of 100,000 features tell the rare class from the rest, learned in one pass?",
        },
    ).save(path)


def write_customers(path: Path, n_rows: int = 1000) -> None:
    """Write a table as people have them: customers, some of whom left, with dates, decimal commas and empty fields."""
    rng = np.random.default_rng(0)
    age, income, calls = rng.integers(18, 80, n_rows), rng.normal(3000, 800, n_rows), rng.poisson(1.2, n_rows)
    plan, town = rng.choice(["basic", "plus", "pro"], n_rows), rng.choice(["Gent", "Köln", "Oslo"], n_rows)
    joined = np.datetime64("2016-01-01") + rng.integers(0, 3000, n_rows).astype("timedelta64[D]")
    left = (45 - age) / 14 + 1.3 * (plan == "basic") + 0.7 * calls - (income - 3000) / 1200 + rng.normal(
        0, 1, n_rows
    ) > 2
    lines = ["id;joined;age;income;town;plan;complaints;left"]
    for i in range(n_rows):
        day = joined[i].item()
        amount = "" if rng.random() < 0.06 else f"{income[i]:.2f}".replace(".", ",")
        years = "?" if rng.random() < 0.03 else str(age[i])
        answer = "yes" if left[i] else "no"
        lines.append(f"{1000 + i};{day:%d.%m.%Y};{years};{amount};{town[i]};{plan[i]};{calls[i]};{answer}")
    write_whole(path, ("\n".join(lines) + "\n").encode())


def main(report: Path | None = None) -> int:
    """Run it; with `report`, write the page there."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.svm"
        with Progress(console=Console(stderr=True)) as progress:
            relevant = write(path, progress)
            size = path.stat().st_size
            runs = {name: learn(name, path, progress) for name in LEARNERS}
    positive = runs["AROW"][0].facts.classes["1"] / N_ROWS
    console.print(
        f"A file of {size / 1e6:.0f} MB, read in batches of 2,000 rows. Errors and precision are progressive:"
    )
    console.print("every row was predicted before it was learned from.")
    console.print(compare(runs, relevant))
    console.print(f"Relevant found: among the {len(relevant)} that matter most to the model.")
    console.print(f"Always predicting 'negative' is wrong on {100 * positive:.2f} % of the rows.")
    if report is not None:
        write_report(runs["AROW-K"][0], size, report)
        console.print(f"The report is in {report}; open it in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path("thresher-demo.html")))
