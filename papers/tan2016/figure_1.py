"""Tan et al. (2016), Figure 1: accuracy on rows held out, and time, over the number of selected features.

The figure has curves and no numbers; real-sim, rcv1, astro-ph and URL are not at hand, so two sets of text stand for
them. SBCW and FGM take all rows as one batch, in 15 groups. L1-SVM and sparDCA have a penalty and no number of
features: for each number the largest model of a path of penalties that has at most as many is shown, with its own
time. SOFS learns in one pass. No method has a constant. C is chosen by accuracy on the last fifth of the training
rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import LinearSVC

from thresher.confidence import FGMClassifier, SBCWClassifier
from thresher.online import AROWClassifier, SOFSClassifier
from thresher.stochastic import SparseSDCAClassifier

from .._data import Rows
from .._report import Options, show, spent
from ._sets import newsgroups, rcv1

MINUTES = 2
SIZES = (10, 30, 100, 300)
PENALTIES = np.geomspace(0.003, 30, 40)
_PRINTED = {"cost": None, "fit_intercept": False, "shuffle": False}
_CS = (0.1, 1.0, 10.0)


class Point(NamedTuple):
    """A model on the test rows."""

    n_features: int
    accuracy: float
    seconds: float


class Curve(NamedTuple):
    at: dict[int, list[Point]]  # number of features asked for: a model for each order of the rows
    chosen: str = ""


def fixed(make: Callable[..., Any], **grid: tuple[float, ...]) -> Callable[[Rows, int], Curve]:
    """A learner that is told how many features. The value of one parameter is chosen with 100 of them."""
    name, values = next(iter(grid.items()))

    def curve(rows: Rows, orders: int) -> Curve:
        first = mixed(rows, 0)
        n = 4 * len(first.y) // 5
        tries = {v: make(n_features_to_select=100, **{name: v}).fit(first.X[:n], first.y[:n]) for v in values}
        best = max(tries, key=lambda v: tries[v].score(first.X[n:], first.y[n:]))
        at = {
            p: [point(make(n_features_to_select=p, **{name: best}), mixed(rows, seed)) for seed in range(orders)]
            for p in SIZES
        }
        return Curve(at, f"{name}={best:g}")

    return curve


def path(make: Callable[[float], Any]) -> Callable[[Rows, int], Curve]:
    """A learner with a penalty, which decides how many features there are. The order of the rows does not matter."""

    def curve(rows: Rows, orders: int) -> Curve:
        models: list[Point] = []
        for penalty in PENALTIES:  # from the strongest on
            models.append(point(make(penalty), rows))
            if models[-1].n_features > SIZES[-1]:
                break
        fitting = {p: [model for model in models if model.n_features <= p] for p in SIZES}
        return Curve({p: [max(few)] for p, few in fitting.items() if few})

    return curve


METHODS: dict[str, Callable[[Rows, int], Curve]] = {
    "SBCW": fixed(partial(SBCWClassifier, refit=False, **_PRINTED), C=_CS),
    "SBCW, refitted": fixed(partial(SBCWClassifier, **_PRINTED), C=_CS),
    "FGM": fixed(partial(FGMClassifier, tol=1e-2, fit_intercept=False), C=_CS),
    "L1-SVM": path(lambda C: LinearSVC(penalty="l1", dual=False, C=C, fit_intercept=False, tol=1e-2, random_state=0)),
    "sparDCA": path(
        lambda C: SparseSDCAClassifier(0.03 / C, 0.9, loss="hinge", fit_intercept=False, tol=1e-2, random_state=0)
    ),
    "SOFS": fixed(partial(SOFSClassifier, fit_intercept=False, shuffle=False), r=(0.1, 1.0, 10.0)),
    "AROW-K": fixed(partial(AROWClassifier, fit_intercept=False, shuffle=False), r=(0.1, 1.0, 10.0)),
}


def mixed(rows: Rows, seed: int) -> Rows:
    """The training rows in another order."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    return Rows(rows.X[order], rows.y[order], rows.X_test, rows.y_test)


def point(model: Any, rows: Rows) -> Point:
    begin = time.process_time()
    model.fit(rows.X, rows.y)
    seconds = time.process_time() - begin
    return Point(np.count_nonzero(model.coef_), model.score(rows.X_test, rows.y_test), seconds)


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--orders", type=int, default=2, help="orders of the rows (default: 2)")
    given = parser.parse_args()
    panels = {}
    for rows in (newsgroups(), rcv1()):
        curves = {name: curve(rows, given.orders) for name, curve in METHODS.items()}
        panels[rows.title] = curves
        columns = ["", *(f"p = {p}" for p in SIZES), "chosen"]
        show(f"{rows.title}: accuracy in % (features in use)", columns, table(curves, _accuracy), rows.note)
        show("Seconds of CPU to fit", columns, table(curves, _seconds))
    print(f"Deviations are over {given.orders} orders of the rows.", spent())
    if given.picture is not None:
        draw(panels, given.picture)


def table(curves: dict[str, Curve], say: Callable[[list[Point]], str]) -> list[list[str]]:
    return [
        [name, *(say(curve.at[p]) if p in curve.at else "-" for p in SIZES), curve.chosen]
        for name, curve in curves.items()
    ]


def _accuracy(points: list[Point]) -> str:
    values = [100 * point.accuracy for point in points]
    spread = f" +- {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread} ({np.mean([point.n_features for point in points]):.0f})"


def _seconds(points: list[Point]) -> str:
    return f"{np.mean([point.seconds for point in points]):.2f}"


def draw(panels: dict[str, dict[str, Curve]], path: Path) -> None:
    """Accuracy above, time below, a column for each set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(panels), figsize=(9.5, 6.5), sharex=True, layout="constrained", squeeze=False)
    for (title, curves), (above, below) in zip(panels.items(), axes.T, strict=True):
        for name, curve in curves.items():
            sizes = list(curve.at)
            above.plot(sizes, [np.mean([p.accuracy for p in found]) for found in curve.at.values()], "o-", label=name)
            below.plot(sizes, [np.mean([p.seconds for p in found]) for found in curve.at.values()], "o-")
        above.set(title=title, xscale="log", ylabel="accuracy on rows held out")
        below.set(yscale="log", xlabel="selected features", ylabel="seconds of CPU to fit")
    names = axes[0, 0].get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
