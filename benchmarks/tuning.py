"""The score of the best candidate so far against the number of evaluations: annealing, directed and random search.

Every seed has its own split into rows to learn from and rows held out, its own folds and its own random numbers. All
searches begin with the estimator's defaults, so that what differs is where they look next. Real data when the
environment variable THRESHER_DATA names the folder that has it, generated data otherwise. With matplotlib, a picture of
the curves is left in build/bench-data/tuning.svg.
"""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier
from thresher.streams import read_svmlight
from thresher.tuning import CoupledAnnealingSearchCV, Log, sparsity_scorer

from ._data import FOLDER, dense_problem, text_problem
from ._measure import installed
from ._report import Table

SEARCHES = {"annealing, simplex": "annealing", "directed": "directed", "random": "random"}
N_EVALUATIONS = 100
SHOWN = (10, 25, 50, 100)
N_SEEDS = 10
N_ROWS = 4000  # to learn from, at most
_DATA = "THRESHER_DATA"


class Task(NamedTuple):
    title: str
    rows: Callable[[], tuple[Any, Any]]
    estimator: Any
    space: dict[str, Any] | None = None  # None: the estimator's own
    scoring: Any = "accuracy"


def run(quick: bool) -> list[Table]:
    tasks = _real_tasks(Path(os.environ[_DATA])) if _DATA in os.environ else _generated_tasks()
    n_seeds, budget = (3, 25) if quick else (N_SEEDS, N_EVALUATIONS)
    tables, curves = [], {}
    for task in tasks[: 1 if quick else None]:
        X, y = task.rows()
        jobs = [(search, seed) for seed in range(n_seeds) for search in SEARCHES.values()]
        found = joblib.Parallel(n_jobs=-1)(joblib.delayed(_curves)(task, X, y, *job, budget) for job in jobs)
        done = dict(zip(jobs, found, strict=True))
        curves[task.title] = {
            name: np.array([done[search, seed] for seed in range(n_seeds)]) for name, search in SEARCHES.items()
        }
        tables.append(_table(task, curves[task.title], n_seeds, budget))
    if installed("matplotlib"):
        _draw(curves)
    return tables


def _curves(task: Task, X: Any, y: Any, search: str, seed: int, budget: int) -> np.ndarray[Any, Any]:
    """Cross-validated and held-out score of the best candidate so far, after every evaluation; shape (2, budget)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        size = min(N_ROWS, int(0.7 * len(y)))
        X, X_test, y, y_test = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
        tuned = CoupledAnnealingSearchCV(
            task.estimator,
            task.space,
            search=search,
            n_evaluations=budget,
            scoring=task.scoring,
            cv=StratifiedKFold(3, shuffle=True, random_state=seed),
            random_state=seed,
        ).fit(X, y)
        scores = [trial["score"] for trial in tuned.history_]
        best = [int(np.nanargmax(scores[: k + 1])) for k in range(len(scores))]
        best += best[-1:] * (budget - len(best))  # what stopped early stays where it is
        held_out = {k: _held_out(tuned, tuned.history_[k]["params"], (X, y), (X_test, y_test)) for k in set(best)}
    return np.array([[scores[k] for k in best], [held_out[k] for k in best]])


def _held_out(tuned: CoupledAnnealingSearchCV, params: dict[str, Any], train: Any, test: Any) -> float:
    return float(tuned.scorer_(tuned.best_estimator_.set_params(**params).fit(*train), *test))


def _table(task: Task, curves: dict[str, Any], n_seeds: int, budget: int) -> Table:
    shown = [k for k in SHOWN if k <= budget]
    table = Table(
        f"{task.title}: best score so far, in %",
        ["search", *(f"CV, {k}" for k in shown), *(f"held out, {k}" for k in shown)],
        notes=[f"Mean over {n_seeds} seeds and its standard error, after so many evaluations of 3 folds each."],
    )
    for name, values in curves.items():
        table.rows.append([name, *_cells(values, shown)])
    table.rows.append(["annealing less random", *_cells(curves["annealing, simplex"] - curves["random"], shown)])
    return table


def _cells(values: Any, shown: list[int]) -> list[str]:
    """``mean ± standard error`` over seeds, of the cross-validated and then of the held-out score."""
    means = 100 * values.mean(axis=0)
    errors = 100 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return [f"{means[kind, k - 1]:.2f} ± {errors[kind, k - 1]:.2f}" for kind in (0, 1) for k in shown]


def _draw(curves: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(curves), figsize=(4 * len(curves), 6), squeeze=False, sharex=True)
    for column, (title, of_task) in enumerate(curves.items()):
        for kind, said in enumerate(("cross-validated", "held out")):
            axis = axes[kind, column]
            for name, values in of_task.items():
                mean = values[:, kind].mean(axis=0)
                error = values[:, kind].std(axis=0, ddof=1) / np.sqrt(len(values))
                at = 1 + np.arange(len(mean))
                axis.plot(at, mean, label=name)
                axis.fill_between(at, mean - error, mean + error, alpha=0.25)
            axis.set_ylabel(f"score, {said}")
            low = min(values[:, kind].mean(axis=0)[min(4, values.shape[2] - 1)] for values in of_task.values())
            axis.set_ylim(bottom=low)
        axes[0, column].set_title(title, fontsize="small")
        axes[1, column].set_xlabel("evaluations")
    axes[0, 0].legend()
    figure.tight_layout()
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / "tuning.svg")


# --- data -------------------------------------------------------------------------------------------------------------


def _generated_tasks() -> list[Task]:
    dense = PegasosClassifier(loss="pinball")
    return [
        Task("Generated dense rows, Pegasos (alpha, tau)", lambda: dense_problem(10_000, 10)[:2], dense),
        Task("Generated text, l1-RDA (alpha, eta0)", lambda: text_problem(10_000, 75, 10)[:2], L1RDAClassifier()),
    ]


def _real_tasks(folder: Path) -> list[Task]:
    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    sparse = L1RDAClassifier(loss="logistic", rho=1e-3, l2_weight=1e-4)
    wide = {"alpha": Log(1e-7, 1e-1), "eta0": Log(1e-3, 1e3), "rho": Log(1e-6, 1.0), "l2_weight": Log(1e-7, 1.0)}
    return [
        Task(
            "spambase, l1-RDA (alpha, eta0)",
            lambda: _table_of(folder / "spambase/spambase.data.gz"),
            scaled(L1RDAClassifier()),
        ),
        Task(
            "magic, Pegasos (alpha, tau)",
            lambda: _table_of(folder / "magic/magic04.data.gz"),
            scaled(PegasosClassifier(loss="pinball")),
        ),
        Task(
            "optdigits, AROW (r)",
            lambda: _table_of(folder / "optdigits/optdigits.train.data.gz"),
            scaled(AROWClassifier()),
        ),
        Task(
            "pima, SVM (C, gamma)",
            lambda: _table_of(folder / "pima/pima-indians-diabetes.data"),
            scaled(SVC()),
            {"svc__C": Log(1e-3, 1e4), "svc__gamma": Log(1e-5, 1e2)},
        ),
        Task(
            "a9a, l1-RDA (alpha, eta0, rho, l2_weight) less 0.2 of the weights in use",
            lambda: read_svmlight(folder / "a9a/adult.trn.bz2", zero_based=True),
            sparse,
            wide,
            sparsity_scorer("error", 0.2),
        ),
    ]


def _table_of(path: Path) -> tuple[Any, Any]:
    """Comma-separated numbers with the label last."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        cells = [line.strip().split(",") for line in file if line.strip()]
    return np.array([row[:-1] for row in cells], dtype=np.float64), np.array([row[-1] for row in cells])
