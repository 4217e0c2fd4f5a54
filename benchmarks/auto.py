"""What ``thresher.auto`` answers at its defaults, beside tuned logistic regression, a tuned SVC and boosted trees.

Sets are real where THRESHER_DATA names their folder, and generated rows in their place otherwise. Every split draws at
most 4,000 rows to learn from and 5,000 others to test on. Peers get standardised rows and their grids, on three folds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import thresher

from ._auto_sets import AMOUNTS, CLASSES, TEXTS, Rows, split
from ._report import Table

N_SPLITS, QUICK_ROWS = 3, 300
TREES, LOGISTIC, KERNEL = "HistGradientBoosting", "logistic regression, tuned", "SVC, tuned"
AUTO = "thresher.auto"


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    n_splits = 1 if quick else N_SPLITS
    return [
        _table("Error, %", CLASSES, _class_peers, n_splits, quick, _error),
        _table("Text, error, %", TEXTS, _text_peers, 1, quick, _error),
        _table("Amounts, R2", AMOUNTS, _value_peers, n_splits, quick, _r2),
        _time_table(quick),
    ]


def _error(model: Any, X: Any, y: Any) -> float:
    return 100 * float(np.mean(model.predict(X) != y))


def _r2(model: Any, X: Any, y: Any) -> float:
    return float(model.score(X, y))


# --- peers ------------------------------------------------------------------------------------------------------------


def _class_peers() -> dict[str, Any]:
    logistic = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=300))
    machine = make_pipeline(StandardScaler(with_mean=False), SVC())
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return {
        LOGISTIC: GridSearchCV(logistic, {"logisticregression__C": [0.01, 0.1, 1, 10]}, cv=folds),
        KERNEL: GridSearchCV(machine, {"svc__C": [1, 10, 100], "svc__gamma": ["scale", 0.01, 0.1]}, cv=folds),
        TREES: HistGradientBoostingClassifier(random_state=0),
    }


def _value_peers() -> dict[str, Any]:
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
    return {"ridge regression": ridge, TREES: HistGradientBoostingRegressor(random_state=0)}


def _text_peers() -> dict[str, Any]:
    return {"tf-idf, LinearSVC, tuned": GridSearchCV(LinearSVC(), {"C": [0.1, 0.3, 1, 3]}, cv=3)}


def _dense(X: Any, peer: Any) -> Any:
    return X.toarray() if sparse.issparse(X) and type(peer).__name__.startswith("Hist") else X


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(
    title: str, sets: dict[str, Any], peers: Callable[[], dict[str, Any]], n_splits: int, quick: bool, measure: Any
) -> Table:
    names = [AUTO, *peers()]
    table = Table(f"{title}, means of {n_splits} splits", ["set", *names, "answer of auto", "CPU s of auto"])
    means: list[list[float]] = []
    for name in list(sets)[: 1 if quick else None]:
        found, answers, seconds = [], set(), 0.0
        for seed in range(n_splits):
            rows = split(sets[name](), seed, QUICK_ROWS if quick else None)
            begin = time.process_time()
            task = "regression" if measure is _r2 else "classification"  # amounts may be whole numbers
            model = thresher.auto(rows.X, rows.y, task, n_evaluations=14 if quick else 50)
            seconds += (time.process_time() - begin) / n_splits
            answers.add(_answer(model))
            found.append([measure(model, rows.X_test, rows.y_test), *_peer_scores(peers(), rows, measure)])
        means.append(list(np.mean(found, axis=0)))
        shown = [f"{value:.2f}" for value in means[-1]]
        table.rows.append([name, *shown, "; ".join(sorted(answers)), f"{seconds:.0f}"])
    table.rows.append(["mean", *(f"{value:.2f}" for value in np.mean(means, axis=0)), "", ""])
    return table


def _answer(model: Any) -> str:
    made = model.record_["auto"]
    if made["sum"]:
        return " + ".join(each["name"] for each in made["sum"])
    return made["method"] + (f" behind a {made['kernel']} map" if made["kernel"] else "")


def _peer_scores(peers: dict[str, Any], rows: Rows, measure: Any) -> list[float]:
    X, X_test = (rows.X, rows.X_test) if rows.vectors is None else rows.vectors
    return [measure(peer.fit(_dense(X, peer), rows.y), _dense(X_test, peer), rows.y_test) for peer in peers.values()]


def _time_table(quick: bool) -> Table:
    n_rows, n_columns = (500, 10) if quick else (10_000, 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n_rows) > 1).astype(int)
    table = Table(f"Time on {n_rows:,} x {n_columns}", ["budget", "CPU s", "wall s", "at most"])
    for budget, limit in (({}, "60 CPU s"), ({"max_seconds": 10}, "11 wall s")):
        cpu, wall = time.process_time(), time.monotonic()
        thresher.auto(X, y, **budget)
        cells = [f"{time.process_time() - cpu:.1f}", f"{time.monotonic() - wall:.1f}"]
        table.rows.append(["max_seconds=10" if budget else "default", *cells, limit])
    return table
