"""CPU time of AROW-K, of plain AROW's."""

from __future__ import annotations

from typing import Any

from thresher.online import AROWClassifier

from ._measure import Case, take_turns
from ._report import Table
from ._selection_data import Task
from ._selection_learners import Stream

REPEATS = 3
TARGET = 3.0


def arow_times(task: Task, stream: Stream) -> list[list[str]]:
    """A row of the table for each size: milliseconds of plain AROW, and how many times as long AROW-K takes."""
    plain = {"max_iter": 1, "shuffle": False, "selection": "class"}
    shares = [k // stream.n_outputs for k in task.sizes]
    models = {"plain": AROWClassifier(**plain)}
    models |= {f"{k}": AROWClassifier(n_features_to_select=k, **plain) for k in shares}
    models |= {f"{k}, auto": AROWClassifier(r="auto", n_features_to_select=k, **plain) for k in shares}

    def learn(model: Any) -> Any:
        return model.fit(*stream.rows)

    timings = take_turns({name: Case(learn, lambda m=model: m) for name, model in models.items()}, REPEATS)
    base = timings["plain"].best
    ratios = [[f"{timings[name].best / base:.2f}" for name in (f"{k}", f"{k}, auto")] for k in shares]
    return [
        [task.title, f"{k:,}", f"{1000 * base:.1f}", fixed, f"{TARGET:g}", auto]
        for k, (fixed, auto) in zip(task.sizes, ratios, strict=True)
    ]


def arow_table(rows: list[list[str]]) -> Table:
    return Table(
        "CPU time of AROW-K in one pass, of plain AROW's",
        ["data", "weights", "plain AROW, ms", "AROW-K, times", "target", "r auto, times"],
        rows,
        notes=[f"A whole `fit` with r = 1, best of {REPEATS} in turn. With r auto two models learn side by side."],
    )
