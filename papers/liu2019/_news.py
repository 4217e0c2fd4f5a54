"""20 newsgroups with a rare class: the first group against the next 5, 10 or 19; the rare class is 1, the others 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.compare import Comparison
from thresher.confidence import ASCWClassifier, SBCWClassifier
from thresher.online import CSOALClassifier, MBPAClassifier, OFSClassifier

from .._data import Rows, load

RATIOS = {"1:5": range(1, 7), "1:10": range(1, 12), "1:19": range(1, 21)}  # the groups that take part
N_FEATURES = 50
BATCHES: dict[str, Any] = {"batch_size": 256, "refit": False, "shuffle": False, "cost": None, "fit_intercept": False}
ONE_PASS: dict[str, Any] = {"max_iter": 1, "shuffle": False, "fit_intercept": False}
MEASURES = {"F": "f1", "AUROC": "roc_auc", "AUPRC": "average_precision"}


def news(ratio: str) -> Rows:
    held = load("newsgroups20")
    some, some_test = (np.isin(part, RATIOS[ratio]) for part in (held.y, held.y_test))
    y, y_test = ((part == 1).astype(int) for part in (held.y[some], held.y_test[some_test]))
    return Rows(held.X[some], y, held.X_test[some_test], y_test, name=held.name, real=held.real)


def online_learners(n_rows: int) -> dict[str, Any]:
    """The learners of the paper that take rows as they come, for a stream of so many rows."""
    return {
        "OFS": OFSClassifier(N_FEATURES, eta0=0.2, **ONE_PASS),
        "MBPA": MBPAClassifier(N_FEATURES, C=1.0, **ONE_PASS),
        "CSOAL": CSOALClassifier(query_budget=n_rows // 100, C=1.0, **ONE_PASS),
        "SBCW1": SBCWClassifier(N_FEATURES, C=10.0, loss="hinge", **BATCHES),
        "SBCW2": SBCWClassifier(N_FEATURES, C=10.0, **BATCHES),
        "ASCW1": ASCWClassifier(N_FEATURES, loss="hinge", **BATCHES),
        "ASCW2": ASCWClassifier(N_FEATURES, **BATCHES),
    }


def cell(runs: Comparison, measure: str, name: str) -> str:
    """Mean and, of several orders, standard deviation."""
    spread = f" +- {runs.std(measure)[name]:.3f}" if runs.n_runs > 1 else ""
    return f"{runs.mean(measure)[name]:.3f}{spread}"
