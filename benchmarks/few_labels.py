"""What ``thresher.auto`` makes of 10 and 100 labels among rows without, beside models of the labels alone,
``LabelSpreading`` and ``SelfTrainingClassifier``; and the time that it takes among many rows.

BCI and g241c come with the 12 splits of the book on semi-supervised learning. Of optdigits and usps, 1,500 rows are
drawn for each split, with as many labels of each class. Sets are real where THRESHER_DATA names their folder, and
generated rows in their place otherwise.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

import thresher

from ._auto_sets import FEW_LABELS, few_labels
from ._report import Table

N_SPLITS, N_BOOK_SPLITS, N_LABELS = 4, 12, (10, 100)
AUTO, ALONE, SPREADING, TRAINING = "thresher.auto", "LogisticRegression of the labels", "LabelSpreading", "SelfTraining"
ALPHAS = (0.2, 0.99)
MOST_BEHIND, MOST_SECONDS = 1.0, 120


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    sets = {name: N_SPLITS if number is None else N_BOOK_SPLITS for name, number in FEW_LABELS.items()}
    errors = _error_table(dict.fromkeys(list(sets)[:1], 1) if quick else sets)
    return [errors, _claims(errors), _many_rows(1_000 if quick else 18_820)]


def _error(model: Any, X: Any, y: Any) -> float:
    return 100 * float(np.mean(model.predict(X) != y))


def _peers() -> dict[str, tuple[Callable[[], Any], bool]]:
    """Each with whether it learns from the labelled rows alone."""
    spreading: dict[str, tuple[Callable[[], Any], bool]] = {
        f"{SPREADING}, {alpha}": (lambda alpha=alpha: LabelSpreading(kernel="knn", alpha=alpha), False)  # type: ignore[misc]
        for alpha in ALPHAS
    }
    return {
        ALONE: (lambda: LogisticRegression(max_iter=300), True),
        "SVC of the labels": (SVC, True),
        **spreading,
        TRAINING: (lambda: SelfTrainingClassifier(LogisticRegression(max_iter=300)), False),
    }


def _error_table(sets: dict[str, int]) -> Table:
    """The errors on sets, as means of so many splits each."""
    table = Table(
        "Error on rows without a label, %, means over splits",
        ["set, splits", "labels", AUTO, *_peers(), "answers of auto", "CPU s of auto"],
        notes=["Rows as they come for all; LabelSpreading by neighbours, with two alpha."],
    )
    means = []
    for name, n_splits in sets.items():
        for n_labels in N_LABELS:
            found, answers, seconds = [], set(), 0.0
            for seed in range(n_splits):
                X, y, known = few_labels(name, n_labels, seed)
                target, rest = np.where(known, y, -1), (X[~known], y[~known])
                begin = time.process_time()
                model = thresher.auto(X, target, unlabelled_label=-1)
                seconds += (time.process_time() - begin) / n_splits
                answers.add(_answer(model))
                errors = [_error(model, *rest)]
                for make, alone in _peers().values():
                    errors.append(_error(make().fit(*((X[known], y[known]) if alone else (X, target))), *rest))
                found.append(errors)
            means.append(np.mean(found, axis=0))
            shown = [f"{value:.1f}" for value in means[-1]]
            table.rows.append(
                [f"{name}, {n_splits}", str(n_labels), *shown, "; ".join(sorted(answers)), f"{seconds:.1f}"]
            )
    table.rows.append(["mean", "", *(f"{value:.1f}" for value in np.mean(means, axis=0)), "", ""])
    return table


def _answer(model: Any) -> str:
    made = model.record_["auto"]
    alone = any(reason.startswith("Labelled rows alone") for reason in made["reasons"])
    return "labelled rows alone" if alone else made["method"]


def _claims(errors: Table) -> Table:
    """What auto must show, from the table above."""
    figures = {
        column: [float(row[at]) for row in errors.rows[:-1]]
        for at, column in enumerate(errors.columns)
        if at in range(2, 8)
    }
    ours = np.array(figures[AUTO])
    behind = {
        f"{row[0].partition(',')[0]}, {row[1]} labels": gap
        for row, gap in zip(errors.rows, ours - np.array(figures[ALONE]), strict=False)
    }
    worst = max(behind, key=lambda name: behind[name])
    spreading = np.minimum(*(figures[f"{SPREADING}, {alpha}"] for alpha in ALPHAS)).mean()
    training = np.mean(figures[TRAINING])
    table = Table("What auto must show with few labels", ["claim", "figure", "verdict"])
    for claim, figure, holds in (
        (
            f"at most {MOST_BEHIND:g} point behind the labels alone on any set",
            f"{worst} {behind[worst]:+.1f}",
            behind[worst] <= MOST_BEHIND,
        ),
        (
            "mean below LabelSpreading's, the better alpha",
            f"{ours.mean():.1f} against {spreading:.1f}",
            ours.mean() < spreading,
        ),
        ("mean below SelfTraining's", f"{ours.mean():.1f} against {training:.1f}", ours.mean() < training),
    ):
        table.rows.append([claim, figure, "PASS" if holds else "FAIL"])
    return table


def _many_rows(n_rows: int) -> Table:
    """200 labels among many rows of two classes in ten columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    X = rng.normal(size=(n_rows, 10)) + 0.8 * np.outer(2 * y - 1, np.arange(10) < 3)
    target = np.where(np.arange(n_rows) < 200, y, -1)
    begin = time.process_time()
    model = thresher.auto(X, target, unlabelled_label=-1)
    seconds = time.process_time() - begin
    error = _error(model, X[200:], y[200:])
    table = Table(f"200 labels among {n_rows:,} rows of 10 columns", ["answer", "error, %", "CPU s", "at most"])
    table.rows.append([_answer(model), f"{error:.1f}", f"{seconds:.0f}", str(MOST_SECONDS)])
    return table
