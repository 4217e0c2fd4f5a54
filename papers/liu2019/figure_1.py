"""Liu et al. (2019), Figure 1, news20 at 1:10: measures of predictions made before the rows were learned from.

The learners of Table 3 that take rows as they come, with its settings, read batches of 256 rows. Each predicts a batch
and then learns from it; F, AUROC and AUPRC are over all predictions so far, without those of the first batch, for which
no learner has weights. The figure has curves and no numbers. real-sim and rcv1 are not at hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from .._data import Rows
from .._report import Options, cell, show, spent
from ._news import BATCHES, news, online_learners

MINUTES = 1
RATIO = "1:10"
SIZE = BATCHES["batch_size"]
SHOWN = (0.25, 0.5, 1.0)  # of the stream, in the tables
MEASURES = ("F", "AUROC", "AUPRC")


def course(model: Any, rows: Rows, seed: int) -> NDArray[np.float64]:
    """F, AUROC and AUPRC after every batch but the first, shape (n_batches - 1, 3)."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    X, y = rows.X[order], rows.y[order]
    scores, answers, found = np.empty(0), np.empty(0, dtype=int), []
    for start in range(0, len(y), SIZE):
        batch = X[start : start + SIZE]
        if start:
            scores = np.append(scores, model.decision_function(batch))
            answers = np.append(answers, model.predict(batch))
            so_far = y[SIZE : start + SIZE]
            f1 = f1_score(so_far, answers, zero_division=0.0)
            found.append([f1, roc_auc_score(so_far, scores), average_precision_score(so_far, scores)])
        model.partial_fit(batch, y[start : start + SIZE], classes=[0, 1])
    return np.array(found)


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--orders", type=int, default=3, help="orders of the rows (default: 3; the paper has 20)")
    given = parser.parse_args()
    rows = news(RATIO)
    names = list(online_learners(len(rows.y)))
    courses = {
        name: np.stack([course(online_learners(len(rows.y))[name], rows, seed) for seed in range(given.orders)])
        for name in names
    }
    n_batches = courses[names[0]].shape[1]
    places = [round(share * n_batches) - 1 for share in SHOWN]
    columns = ["", *(f"{min((place + 2) * SIZE, len(rows.y)):,} rows" for place in places)]
    for k, measure in enumerate(MEASURES):
        table = [[name, *(cell(courses[name][:, place, k], digits=3) for place in places)] for name in names]
        show(f"{rows.title}, {RATIO}: {measure} so far, {given.orders} orders", columns, table)
    print(rows.note or "", spent())
    if given.picture is not None:
        draw(courses, given.picture)


def draw(courses: dict[str, NDArray[np.float64]], path: Path) -> None:
    """A panel for each measure."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(MEASURES), figsize=(10, 3.8), layout="constrained")
    for k, (measure, panel) in enumerate(zip(MEASURES, panels, strict=True)):
        for name, values in courses.items():
            rows_seen = SIZE * np.arange(2, values.shape[1] + 2)
            panel.plot(rows_seen, values[:, :, k].mean(axis=0), label=name)
        panel.set(title=measure, xlabel="rows", ylim=(0, 1))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
