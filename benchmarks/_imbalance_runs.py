"""A learner of few features on a task, order by order: its quality on rows held out, its size, its CPU time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from ._imbalance_data import Task
from ._imbalance_learners import Learner
from ._linear_models import Weights

N_ORDERS = 5
Tasks = Sequence[Task]  # one for each order; the same one, or another split


class Run(NamedTuple):
    quality: tuple[float, float, float]
    """AUPRC, F, AUROC."""
    n_features: int
    seconds: float


def runs(tasks: Tasks, learner: Learner, p: int) -> list[Run]:
    done = []
    for seed, task in enumerate(tasks):
        if seed and not learner.stream and task is tasks[0]:  # the same rows in another order
            break
        order = np.random.default_rng(seed).permutation(len(task.y))
        X, y = task.X[order], task.y[order]
        begin = time.process_time()
        weights = learner.fit(X, y, p)
        seconds = time.process_time() - begin
        done.append(Run(_quality(weights, task), weights.n_features, seconds))
    return done


def _quality(weights: Weights, task: Task) -> tuple[float, float, float]:
    scores, y = weights.scores(task.X_test)[:, 0], task.y_test
    f1 = f1_score(y, scores > 0, zero_division=0.0)
    return float(average_precision_score(y, scores)), float(f1), float(roc_auc_score(y, scores))


def shown(values: Sequence[float]) -> str:
    mean = f"{np.mean(values):.3f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.3f}"
