"""Tan et al. (2016), Table 2: one pass of online learners and of BCW over covtype, errors on rows held out.

Class 2 against the rest, columns brought to 0 to 1, a constant column, full covariances. Parameters are chosen by the
error on a part of the training rows that was left out (the paper: by five folds; neither grids nor choices are
published). BCW takes all rows as one batch, as in the paper. DCD is scikit-learn's LinearSVC with the hinge loss.
epsilon is not at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from thresher.compare import Comparison, compare
from thresher.confidence import BCWClassifier
from thresher.online import AROWClassifier, CWClassifier, NAROWClassifier, PAClassifier, SCWClassifier, SOPClassifier

from .._data import load
from .._report import Options, show, spent

MINUTES = 3
N_TRAIN = 450_000
_FULL = {"covariance": "full", "shuffle": False}
_PENALTIES = {"C": (0.01, 0.1, 1.0, 10.0)}
_SURE = {"confidence": (0.55, 0.7, 0.9)}

# learner, values to choose from, published error, its deviation, published seconds
METHODS: dict[str, tuple[Any, dict[str, tuple[float, ...]], float, float | None, float]] = {
    "AROW": (AROWClassifier(**_FULL), {"r": (0.1, 1.0, 10.0, 100.0)}, 0.2461, 0.0000, 21.72),
    "CW": (CWClassifier(**_FULL), _SURE, 0.4330, 0.0335, 19.13),
    "NAROW": (NAROWClassifier(**_FULL), {"b": (0.1, 1.0, 10.0)}, 0.3703, 0.0352, 22.05),
    "PA": (PAClassifier(max_iter=1, shuffle=False, intercept_scaling=1.0), _PENALTIES, 0.3443, 0.0433, 13.87),
    "SCW": (SCWClassifier(**_FULL), _PENALTIES | _SURE, 0.2382, 0.0003, 20.75),
    "SCW2": (SCWClassifier(variant="II", **_FULL), _PENALTIES | _SURE, 0.2964, 0.0159, 20.40),
    "SOP": (SOPClassifier(**_FULL), {"a": (0.1, 1.0, 10.0)}, 0.4653, 0.0298, 20.77),
    "DCD": (LinearSVC(loss="hinge", max_iter=50, tol=0.01), _PENALTIES, 0.2460, None, 29.85),
    "BCWL1": (BCWClassifier(loss="hinge", shuffle=False, scale=False), _PENALTIES, 0.2402, 0.0003, 0.41),
    "BCWL2": (BCWClassifier(shuffle=False, scale=False), _PENALTIES, 0.2462, 0.0005, 0.47),
}


def problem(n_train: int) -> tuple[Any, ...]:
    """Title, note, rows to learn from and to test on, drawn as the paper says."""
    held = load("covtype")
    y = (np.asarray(held.y) == 2).astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    split = len(y) * N_TRAIN // 581_012
    learn, test = order[: min(split, n_train)], order[split:]
    scaler = MinMaxScaler().fit(held.X[learn])
    return held.title, held.note, scaler.transform(held.X[learn]), y[learn], scaler.transform(held.X[test]), y[test]


def chosen(learner: Any, grid: dict[str, tuple[float, ...]], X: Any, y: Any) -> Any:
    """The learner with the values that do best, one parameter after the other, on rows it has not learned from."""
    half = len(y) // 2
    for name, values in grid.items():
        tries = [clone(learner).set_params(**{name: value}) for value in values]
        learner = max(tries, key=lambda model: clone(model).fit(X[:half], y[:half]).score(X[half:], y[half:]))
    return clone(learner)


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--rows", type=int, default=N_TRAIN, help="rows to learn from (default: 450,000, as published)")
    parser.add_argument("--orders", type=int, default=10, help="orders of the rows (default: 10, as published)")
    given = parser.parse_args()
    title, note, X, y, X_test, y_test = problem(given.rows)
    few = slice(20_000)
    learners = {name: chosen(learner, grid, X[few], y[few]) for name, (learner, grid, *_) in METHODS.items()}
    runs = compare(
        learners,
        X,
        y,
        scoring="error",
        vary="orders",
        X_test=X_test,
        y_test=y_test,
        repeats=given.orders,
        random_state=0,
    )
    rows = [_row(name, learner, runs) for name, learner in learners.items()]
    columns = ("method", "chosen", "error", "published", "seconds", "published")
    best = ", ".join(runs.among_the_best("error"))
    show(
        f"{title}: {runs.about}, errors +- standard deviation",
        columns,
        rows,
        f"Best, or not told apart from the best at 5 % (paired t-test over orders, Holm): {best}.",
        f"Nearest to the published errors: {_by_gap(runs)}.",
        "Seconds are of CPU here, and those of another machine in the paper.",
        note,
        spent(),
    )
    if given.picture is not None:
        runs.plot(given.picture, measure="error")


def _by_gap(runs: Comparison) -> str:
    """Methods by the distance of their error from the published one."""
    gaps = {name: runs.mean("error")[name] - told[2] for name, told in METHODS.items()}
    return ", ".join(f"{name} {gaps[name]:+.4f}" for name in sorted(gaps, key=lambda name: abs(gaps[name])))


def _row(name: str, learner: Any, runs: Comparison) -> list[str]:
    _, grid, error, deviation, seconds = METHODS[name]
    told = f"{error:.4f}" if deviation is None else f"{error:.4f} +- {deviation:.4f}"
    return [
        name,
        " ".join(f"{key}={getattr(learner, key):g}" for key in grid),
        f"{runs.mean('error')[name]:.4f} +- {runs.std('error')[name]:.4f}",
        told,
        f"{runs.mean('seconds')[name]:.2f}",
        f"{seconds:.2f}",
    ]


if __name__ == "__main__":
    main()
