"""20 newsgroups with a rare class: the first group against the next 5, 10 or 19; the rare class is 1, the others 0."""

from __future__ import annotations

import numpy as np

from thresher.compare import Comparison

from .._data import Rows, load

RATIOS = {"1:5": range(1, 7), "1:10": range(1, 12), "1:19": range(1, 21)}  # the groups that take part
MEASURES = {"F": "f1", "AUROC": "roc_auc", "AUPRC": "average_precision"}


def news(ratio: str) -> Rows:
    held = load("newsgroups20")
    some, some_test = (np.isin(part, RATIOS[ratio]) for part in (held.y, held.y_test))
    y, y_test = ((part == 1).astype(int) for part in (held.y[some], held.y_test[some_test]))
    return Rows(held.X[some], y, held.X_test[some_test], y_test, name=held.name, real=held.real)


def cell(runs: Comparison, measure: str, name: str) -> str:
    """Mean and, of several orders, standard deviation."""
    spread = f" +- {runs.std(measure)[name]:.3f}" if runs.n_runs > 1 else ""
    return f"{runs.mean(measure)[name]:.3f}{spread}"
