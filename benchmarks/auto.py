"""What ``thresher.auto`` answers at its defaults, beside tuned logistic regression, a tuned SVC and boosted trees.

Sets are real where THRESHER_DATA names their folder, and generated rows in their place otherwise. Every split draws at
most 4,000 rows to learn from and 5,000 others to test on. Peers get standardised rows and their grids, on three folds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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
AUTO, RIDGE = "thresher.auto", "ridge regression"
MOST_BEHIND, MOST_BEHIND_TEXT, MOST_TEXT_SECONDS, MOST_R2_BEHIND = 1.5, 0.5, 120, 0.03


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    found = {kind: list(_found(kind, quick)) for kind in KINDS}
    times = time_table(quick)
    return [claims(found, times), *(table(kind, found[kind]) for kind in KINDS), times]


def _found(kind: str, quick: bool) -> Iterator[Found]:
    of_kind = KINDS[kind]
    for name in list(of_kind.sets)[: 1 if quick else None]:
        for seed in range(1 if quick else of_kind.n_splits):
            rows = split(of_kind.sets[name](), seed, QUICK_ROWS if quick else None)
            yield Found(name, *by_auto(kind, rows, 14 if quick else 50), by_peers(kind, rows))


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
    return {RIDGE: ridge, TREES: HistGradientBoostingRegressor(random_state=0)}


def _text_peers() -> dict[str, Any]:
    return {"tf-idf, LinearSVC, tuned": GridSearchCV(LinearSVC(), {"C": [0.1, 0.3, 1, 3]}, cv=3)}


def _dense(X: Any, peer: Any) -> Any:
    return X.toarray() if sparse.issparse(X) and type(peer).__name__.startswith("Hist") else X


# --- one split --------------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """The sets of one table, what auto is compared with on them, and by which measure."""

    title: str
    sets: dict[str, Any]
    peers: Callable[[], dict[str, Any]]
    n_splits: int
    measure: Callable[[Any, Any, Any], float]


KINDS = {
    "classification": Kind("Error, %", CLASSES, _class_peers, N_SPLITS, _error),
    "text": Kind("Text, error, %", TEXTS, _text_peers, 1, _error),
    "regression": Kind("Amounts, R2", AMOUNTS, _value_peers, N_SPLITS, _r2),
}


class Found(NamedTuple):
    """What auto and its peers reach on one split of a set."""

    where: str
    figure: float  # of auto
    answer: str
    seconds: float
    peers: dict[str, float]


def by_auto(kind: str, rows: Rows, n_evaluations: int) -> tuple[float, str, float]:
    """The figure, the answer and the CPU seconds of auto."""
    begin = time.process_time()
    task = "regression" if kind == "regression" else "classification"  # amounts may be whole numbers
    model = thresher.auto(rows.X, rows.y, task, n_evaluations=n_evaluations)
    seconds = time.process_time() - begin
    return KINDS[kind].measure(model, rows.X_test, rows.y_test), _answer(model), seconds


def by_peers(kind: str, rows: Rows) -> dict[str, float]:
    X, X_test = (rows.X, rows.X_test) if rows.vectors is None else rows.vectors
    measure = KINDS[kind].measure
    return {
        name: measure(peer.fit(_dense(X, peer), rows.y), _dense(X_test, peer), rows.y_test)
        for name, peer in KINDS[kind].peers().items()
    }


def _answer(model: Any) -> str:
    made = model.record_["auto"]
    if made["sum"]:
        return " + ".join(each["name"] for each in made["sum"])
    return made["method"] + (f" behind a {made['kernel']} map" if made["kernel"] else "")


# --- tables -----------------------------------------------------------------------------------------------------------


class Mean(NamedTuple):
    """The means over the splits of a set."""

    figure: float
    peers: dict[str, float]
    seconds: float

    @property
    def best_peer(self) -> float:
        return min(self.peers.values())


def means(found: list[Found]) -> dict[str, Mean]:
    """The means of every set, in order."""
    made = {}
    for where in dict.fromkeys(each.where for each in found):
        here = [each for each in found if each.where == where]
        peers = {name: float(np.mean([each.peers[name] for each in here])) for name in here[0].peers}
        figure, seconds = (float(np.mean([getattr(each, name) for each in here])) for name in ("figure", "seconds"))
        made[where] = Mean(figure, peers, seconds)
    return made


def table(kind: str, found: list[Found]) -> Table:
    made, peers = means(found), list(KINDS[kind].peers())
    n_splits = len(found) // len(made)
    title = f"{KINDS[kind].title}, " + (f"means of {n_splits} splits" if n_splits > 1 else "one split")
    result = Table(title, ["set", AUTO, *peers, "answer of auto", "CPU s of auto"])
    figures = []
    for where, mean in made.items():
        figures.append([mean.figure, *(mean.peers[name] for name in peers)])
        answers = "; ".join(sorted({each.answer for each in found if each.where == where}))
        result.rows.append([where, *(f"{value:.2f}" for value in figures[-1]), answers, f"{mean.seconds:.0f}"])
    result.rows.append(["mean", *(f"{value:.2f}" for value in np.mean(figures, axis=0)), "", ""])
    return result


def claims(found: dict[str, list[Found]], times: Table) -> Table:
    """What auto must show; figures are those of the other tables."""
    classes, texts, amounts = (means(found[kind]) for kind in ("classification", "text", "regression"))
    ours = float(np.mean([each.figure for each in classes.values()]))
    of_peers = {name: float(np.mean([each.peers[name] for each in classes.values()])) for name in _class_peers()}
    best = min(of_peers, key=of_peers.__getitem__)
    result = Table("What auto must show", ["claim", "figure", "verdict"])

    def judge(claim: str, behind: dict[str, float], most: float, form: str = "+.2f") -> None:
        worst = max(behind, key=behind.__getitem__)
        failing = [name for name in sorted(behind, key=behind.__getitem__, reverse=True) if behind[name] > most]
        shown = "; ".join(f"{name} {behind[name]:{form}}".strip() for name in failing or [worst])
        result.rows.append([claim, shown, "FAIL" if failing else "PASS"])

    judge("mean error at most that of the best peer, points above", {f"{ours:.2f}, {best}": ours - of_peers[best]}, 0.0)
    judge(
        f"at most {MOST_BEHIND:g} points above the best peer on any set",
        {where: each.figure - each.best_peer for where, each in classes.items()},
        MOST_BEHIND,
    )
    judge(
        f"text: at most {MOST_BEHIND_TEXT:g} points above tf-idf and LinearSVC, tuned",
        {where: each.figure - each.best_peer for where, each in texts.items()},
        MOST_BEHIND_TEXT,
    )
    judge(
        f"text: at most {MOST_TEXT_SECONDS} CPU s",
        {where: each.seconds for where, each in texts.items()},
        MOST_TEXT_SECONDS,
        ".0f",
    )
    judge(
        "amounts: R2 at least ridge regression's, short by",
        {where: each.peers[RIDGE] - each.figure for where, each in amounts.items()},
        0.0,
        "+.3f",
    )
    judge(
        f"amounts: R2 at least HistGradientBoosting's less {MOST_R2_BEHIND:g}, short of it by",
        {where: each.peers[TREES] - each.figure for where, each in amounts.items()},
        MOST_R2_BEHIND,
        "+.3f",
    )
    for (budget, limit), row in zip(LIMITS.items(), times.rows, strict=True):
        at = times.columns.index(limit.column)
        claim = f"{times.title}, {budget}: at most {limit.most} {limit.column}"
        judge(claim, {"": float(row[at])}, limit.most, ".1f")
    return result


class Limit(NamedTuple):
    options: dict[str, Any]
    column: str
    most: float


LIMITS = {"default": Limit({}, "CPU s", 60), "max_seconds=10": Limit({"max_seconds": 10}, "wall s", 11)}


def time_table(quick: bool) -> Table:
    n_rows, n_columns = (500, 10) if quick else (10_000, 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n_rows) > 1).astype(int)
    result = Table(f"Time on {n_rows:,} x {n_columns}", ["budget", "CPU s", "wall s", "at most"])
    for budget, limit in LIMITS.items():
        cpu, wall = time.process_time(), time.monotonic()
        thresher.auto(X, y, **limit.options)
        cells = [f"{time.process_time() - cpu:.1f}", f"{time.monotonic() - wall:.1f}"]
        result.rows.append([budget, *cells, f"{limit.most} {limit.column}"])
    return result
