"""What do splines of columns give a linear learner, and at which price, beside other additive models and trees?"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from thresher.dual_averaging import FTRLClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import ColumnSplines, prepared

from ._measure import installed
from ._newcomer_sets import Split, classification, is_there, splits
from ._report import Table
from ._selection_data import DATA

SETS = ("magic", "spambase", "pima")
N_SPLITS = 2
FEW_COLUMNS = 20  # up to which all pairs are tried
BATCH = 1000

Made = Callable[[Split], Any]


def _ours(learner: Callable[[], Any], splines: Any = False) -> Made:
    return lambda split: prepared(learner(), split.X, splines=splines).fit(split.X, split.y)


def _streamed(split: Split) -> Any:
    """One pass; the first batch decides the knots."""
    model = prepared(AROWClassifier(), split.X, splines=True)
    for begin in range(0, len(split.y), BATCH):
        some = slice(begin, begin + BATCH)
        model.partial_fit(split.X[some], split.y[some], classes=np.unique(split.y))
    return model


def _peer(*steps: Any) -> Made:
    return lambda split: make_pipeline(*steps, LogisticRegression(max_iter=1000)).fit(split.X, split.y)


def _boosted_curves(split: Split) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1).fit(split.X, split.y)


def _methods(n_columns: int, boosted: bool) -> dict[str, Made]:
    quadratic = SplineTransformer(8, degree=2, knots="quantile", extrapolation="linear")
    made: dict[str, Made] = {
        "AROW": _ours(lambda: AROWClassifier(random_state=0)),
        "AROW, splines": _ours(lambda: AROWClassifier(random_state=0), True),
        "AROW, splines, one pass of a stream": _streamed,
        "FTRL, splines": _ours(lambda: FTRLClassifier(random_state=0), True),
        "LogisticRegression": _peer(StandardScaler()),
        "LogisticRegression, SplineTransformer": _peer(quadratic, StandardScaler()),
        "HistGradientBoosting": lambda split: HistGradientBoostingClassifier(random_state=0).fit(split.X, split.y),
    }
    if n_columns <= FEW_COLUMNS:
        pairs = ColumnSplines(pairs="all")
        made["AROW, splines and all pairs"] = _ours(lambda: AROWClassifier(random_state=0), pairs)
    if boosted and installed("interpret"):
        made["interpret's EBM"] = _boosted_curves
    return made


def run(quick: bool) -> list[Table]:
    return _tables(quick, boosted=False)


def every(quick: bool) -> list[Table]:
    """The same, and explainable boosting machines, which take minutes: ``python -m benchmarks additive --all``."""
    return _tables(quick, boosted=True)


def _tables(quick: bool, *, boosted: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    kind = "" if is_there("") else f", generated rows (no {DATA})"
    table = Table(
        f"Additive models, test accuracy in % and CPU seconds to learn{kind}",
        ["method"],
        notes=["Means over the splits of each set, 30 % of the rows for the test; all methods at their defaults."],
    )
    found: dict[str, list[str]] = {}
    sets = [each for each in classification(quick) if each.name in SETS]
    for each in sets:
        table.columns += [each.name, "seconds"]
        rows = each.rows()
        measured = [_measured(split, boosted) for split in islice(splits(rows, quick), N_SPLITS)]
        for name in dict.fromkeys([*found, *measured[0]]):
            found.setdefault(name, ["–"] * (len(table.columns) - 3))
            cells = ["–", "–"]
            if name in measured[0]:
                accuracy, seconds = np.mean([of[name] for of in measured], axis=0)
                cells = [f"{100 * accuracy:.1f}", f"{seconds:.2f}"]
            found[name] += cells
    table.rows = [[name, *cells] for name, cells in found.items()]
    return [table]


def _measured(split: Split, boosted: bool) -> dict[str, tuple[float, float]]:
    """Accuracy and CPU seconds of each method on one split."""
    found = {}
    for name, make in _methods(split.X.shape[1], boosted).items():
        begin = time.process_time()
        model = make(split)
        seconds = time.process_time() - begin
        found[name] = float(np.mean(model.predict(split.X_test) == split.y_test)), seconds
    return found
