"""Average precision and CPU time over the number of features: one newsgroup against ten others."""

from __future__ import annotations

import warnings

import numpy as np

from ._imbalance_data import TEN, generated, newsgroups, real_data
from ._imbalance_learners import SLOW, learners
from ._imbalance_runs import N_ORDERS, runs, shown
from ._report import Table

CURVE = (10, 20, 50, 100, 200, 500)


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    folder = real_data()
    task = generated(5_000, 2_000) if folder is None or quick else newsgroups(folder, 1, TEN)
    tasks = [task] * (2 if quick else N_ORDERS)
    sizes = CURVE[:2] if quick else CURVE
    found = learners()
    columns = ["learner", *(f"p = {p}" for p in sizes)]
    title, note = task.title, f"Mean and deviation over {len(tasks)} orders."
    accuracy = Table(f"AUPRC over p: {title}", columns, notes=[note])
    seconds = Table(f"CPU s over p: {title}", columns, notes=["Mean of one fit, searches included."])
    for name, learner in found.items():
        if name in SLOW or name.endswith("all features"):
            continue
        done = [runs(tasks, learner, p) for p in sizes]
        accuracy.rows.append([name, *(shown([each.quality[0] for each in each_p]) for each_p in done)])
        seconds.rows.append([name, *(f"{np.mean([each.seconds for each in each_p]):.2f}" for each_p in done)])
    return [accuracy, seconds]
