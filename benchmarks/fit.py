"""A whole ``fit`` of one pass, validation and shuffling included, against SGDClassifier; LinearSVC for reference.

``max_iter=1`` and the libraries' own defaults otherwise, so each has its own ``alpha``. Every repetition has a seed
of its own; the accuracies are those of the models that were timed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier

from ._data import Problem, dense_problem, text_classes, text_problem
from ._front import FrontLine, cell, number
from ._learners import learners
from ._linear_data import linear_tasks
from ._measure import REPEATS, Case, Timing, take_turns
from ._report import Table
from ._selection_data import DATA
from ._wide_rows import wide_batch

PEER = "SGDClassifier"
REFERENCE = "LinearSVC"
AT_DEFAULTS = "AROW at its defaults"
FEW = ("PA", "Pegasos", "l1-RDA", "AROW, drop")  # where the others would only take longer to measure


def run(quick: bool) -> list[Table]:
    n_test = 5_000 if quick else 20_000
    text = text_problem(10_000 if quick else 100_000, 75, n_test)
    dense = dense_problem(50_000 if quick else 500_000, n_test)
    tables = [_compare("CSR, text-like", text, 3), _compare("dense", dense, 4), *_long_rows(quick)]
    n_rows, width = (2_000, 10**5) if quick else (20_000, 10**7)
    for n_classes in (20, 200):
        several = text_classes(n_rows, n_classes, n_rows // 4)
        tables.append(_compare(f"CSR, text-like, {n_classes} classes", several, 1.2, FEW, with_reference=False))
    wide = Problem(*wide_batch(n_rows, width, 0), *wide_batch(n_rows, width, 1))
    return [*tables, _compare("CSR, many features", wide, 1.2, FEW, with_reference=False)]


def _long_rows(quick: bool) -> Iterator[Table]:
    """Fewer rows of more words, as reviews and messages have them: generated, and real where they are."""
    few = (*FEW, AT_DEFAULTS)
    generated = text_problem(5_000 if quick else 25_000, 140, 5_000)
    yield _compare("CSR, text-like, 140 words a row", generated, 3, few, with_reference=False)
    if os.environ.get(DATA) and not quick:
        news = next(task for task in linear_tasks(quick) if task.key == "news")
        yield _compare(f"CSR, {news.title}", news.problem, 3, few, with_reference=False)


def _compare(
    what: str, problem: Problem, target: float, names: Sequence[str] = (), *, with_reference: bool = True
) -> Table:
    ours = learners() | {
        "Pegasos, average=True": PegasosClassifier(alpha=1e-4, average=True),
        AT_DEFAULTS: AROWClassifier(),
    }
    ours = {name: model for name, model in ours.items() if not names or name in names}
    models = {PEER: SGDClassifier(tol=None)} | ours
    cases = {name: _fit(model.set_params(max_iter=1), problem) for name, model in models.items()}

    def accuracy(model: Any) -> float:
        return float(model.score(problem.X_test, problem.y_test))

    timings = take_turns(cases, keep=accuracy)
    if with_reference:
        timings |= take_turns({REFERENCE: _fit(LinearSVC(), problem)}, repeats=1, keep=accuracy)

    table = Table(
        f"One-pass fit, {what}, {problem.X.shape[0]:,} x {problem.X.shape[1]:,}",
        ["estimator", "CPU ms", f"{PEER} / it", "target", "held-out accuracy", "std over seeds"],
        notes=[
            f"Best CPU time and mean accuracy of {REPEATS} fits in turn, each with its own seed, on "
            f"{len(problem.y_test):,} rows held out. A model is freed before the next fit."
            + with_reference
            * f" {REFERENCE} (many passes, its own defaults) is fitted once."
        ],
    )
    for name, timing in timings.items():
        accuracy, spread = _accuracy(timing)
        milliseconds, ratio = f"{1e3 * timing.best:.1f}", f"{timings[PEER].best / timing.best:.2f}"
        table.rows.append([name, milliseconds, ratio, f"{target:g}" if name in ours else "", accuracy, spread])
    return table


def front(tables: list[Table]) -> list[FrontLine]:
    """The same method on text; on dense rows the one that needs no tuning; then the slowest of ours in each table."""
    slowest = [max((row[0] for row in table.rows if row[3]), key=lambda ours: _cost(table, ours)) for table in tables]
    return [_line(table, ours) for table, ours in zip(tables, ["Pegasos", "AROW, drop", *slowest[2:]], strict=True)]


def _cost(table: Table, name: str) -> float:
    return number(table, name, "CPU ms")


def _line(table: Table, ours: str) -> FrontLine:
    costs = (_cost(table, name) for name in (PEER, ours))
    qualities = (cell(table, name, "held-out accuracy") for name in (PEER, ours))
    return FrontLine(table.title, f"scikit-learn {PEER}", ours, *costs, "held-out accuracy", *qualities)


def _fit(model: Any, problem: Problem) -> Case:
    seeds = iter(range(REPEATS))
    return Case(
        lambda fresh: fresh.fit(problem.X, problem.y), setup=lambda: clone(model).set_params(random_state=next(seeds))
    )


def _accuracy(timing: Timing) -> tuple[str, str]:
    scores = timing.results
    return f"{np.mean(scores):.4f}", f"{np.std(scores):.4f}" if len(scores) > 1 else ""
