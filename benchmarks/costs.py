"""Do costs that are chosen while learning reach what the best fixed cost reaches?

All costs of the grid learn side by side in one model, and each says its scores before it learns a batch; so one run has
the measure of every fixed cost and that of the cost which was chosen from the batches before. The first tenth of the
rows is not counted.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from thresher import metrics, onepass

from ._imbalance_data import TEN, Task, a9a, generated, newsgroups, real_data, reuters
from ._imbalance_runs import N_ORDERS, shown
from ._report import Table

LEARNERS = {"POOL": "PoolCWClassifier", "ASCW": "ASCWClassifier"}
MEASURES = {
    "f1": metrics.ProgressiveF1,
    "roc_auc": metrics.ProgressiveROCAUC,
    "average_precision": metrics.ProgressiveAveragePrecision,
}
BATCH = 256
WITHIN = 0.05
_FIRST = 0.1


class Chosen(NamedTuple):
    """The measure of every fixed cost and of the chosen ones, and where the choice ended."""

    costs: Any
    fixed: Any
    adaptive: float
    last: int

    @property
    def best(self) -> int:
        return int(np.argmax(self.fixed))

    @property
    def top(self) -> float:
        return float(self.fixed[self.best])

    @property
    def at_last(self) -> float:
        return float(self.fixed[self.last])


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    table = Table(
        "Costs chosen while learning against each fixed cost; rows after the first tenth",
        [
            "data",
            "learner",
            "measure",
            "best fixed cost",
            "its measure",
            "chosen costs",
            "behind by",
            "cost chosen last",
            "its measure, fixed",
            "behind by ",
            "target",
        ],
        notes=[
            f"Progressive measures of scores made before a batch of {BATCH} rows was learned from, mean and deviation "
            f"over {1 if quick else N_ORDERS} orders; of costs, the median. The measure named is the one that chooses. "
            "At most 50 features.",
        ],
    )
    for task in _tasks(quick):
        for name, kind in LEARNERS.items():
            estimator = getattr(import_module("thresher.confidence"), kind, None)
            if estimator is None:
                table.notes.append(f"Skipped: {kind} is not there.")
                continue
            for measure in MEASURES:
                runs = [_learned(task, estimator, measure, seed) for seed in range(1 if quick else N_ORDERS)]
                table.rows.append([task.title, name, measure, *_cells(runs)])
    return [table]


def _tasks(quick: bool) -> list[Task]:
    folder = real_data()
    if folder is None or quick:
        return [generated(5_000, 2_000)]
    return [newsgroups(folder, 1, TEN), reuters(folder), a9a(folder)]


def _learned(task: Task, kind: Any, measure: str, seed: int) -> Chosen:
    order = np.random.default_rng(seed).permutation(len(task.y))
    model = kind(measure=measure, batch_size=BATCH)
    scorers: list[Any] = []
    for begin in range(0, len(order), BATCH):
        some = order[begin : begin + BATCH]
        X, y = task.X[some], task.y[some]
        if begin >= _FIRST * len(order):
            scores, now = _scores_of_all(model, X)
            if not scorers:
                scorers = [MEASURES[measure]() for _ in range(len(scores) + 1)]
            for scorer, said in zip(scorers, [*scores, scores[now]], strict=True):
                scorer.update(y, said)
        model.partial_fit(X, y, classes=[0, 1])
    *fixed, adaptive = (scorer.value for scorer in scorers)
    return Chosen(model.costs_, np.array(fixed), adaptive, int(np.argmax(model.costs_ == model.cost_)))


def _scores_of_all(model: Any, X: Any) -> tuple[Any, int]:
    """The scores of every model of the grid, and which of them is read now."""
    learner = onepass.learner(model, X.shape[1])
    state = model.state_
    return learner.all_scores(onepass.rows(X), state, range(state.n_outputs)), learner.chosen(state)


def _cells(runs: list[Chosen]) -> list[str]:
    best = np.median([r.costs[r.best] for r in runs])
    last = np.median([r.costs[r.last] for r in runs])
    top, adaptive, at_last = ([getattr(r, name) for r in runs] for name in ("top", "adaptive", "at_last"))
    return [
        f"{best:g}",
        shown(top),
        shown(adaptive),
        f"{np.mean(top) - np.mean(adaptive):.3f}",
        f"{last:g}",
        shown(at_last),
        f"{np.mean(top) - np.mean(at_last):.3f}",
        f"{WITHIN:g}",
    ]
