"""Cross-validation of rows in memory: each is predicted by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import clone, task_of
from .._gate import distinct
from ._predictions import (
    is_known_label,
    is_no_class,
    learner_of,
    predict_with_scores,
    predictable_rows,
    probabilities_of,
    weighted_rows_to_learn,
)
from ._records import Collector, HeldOut
from ._worse_than_guess import warn_if_worse

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def predict_in_folds(
    model: Any,
    X: Any,
    y: NDArray[Any] | None,
    folds: Iterable[Fold] | None = None,
    *,
    random_state: int = 0,
    sample_weight: NDArray[np.float64] | None = None,
) -> HeldOut | None:
    """Predict each row with a copy of the model that was trained on the other folds.

    Parameters
    ----------
    model : classifier, regressor or StreamingPipeline
        Copied, not changed.
    X, y : rows and targets
        Rows without a target are left out, or used as unlabelled rows by a model that supports them.
    folds : iterable of (rows to learn from, rows to predict), optional
        By default five, or fewer if a class has fewer rows. A row that is in several test sets is predicted in the
        first of them. If you pass folds, every row must have a target.
    random_state : int
        Seed of the folds.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows in training.

    Returns
    -------
    HeldOut or None
        None if there are too few rows, or too few of a class.
    """
    if folds is None:
        X, y, sample_weight = weighted_rows_to_learn(model, X, y, sample_weight)
    if y is None:
        return None
    labelled = ~is_no_class(model, y, "unlabelled_label")
    classes = distinct(y[labelled]) if task_of(model) == "classification" else None
    answers = []
    seen = np.zeros(len(y), dtype=bool)
    complete = True  # unless a class is so rare that a fold lacks it: then scores do not fit together
    for learn, test in _folds(model, y, random_state) if folds is None else folds:
        test = test[~seen[test]]
        if not len(test):  # small data are divided several times
            break
        seen[test] = True
        weight = {} if sample_weight is None else {"sample_weight": sample_weight[learn]}
        fitted = clone(model).fit(X[learn], y[learn], **weight)
        rows, truth = predictable_rows(fitted, X[test], y[test])
        if len(truth):
            answers.append((truth, *predict_with_scores(fitted, rows), probabilities_of(fitted, rows)))
        complete = complete and (classes is None or bool(is_known_label(fitted, classes).all()))
    these = "each row" if labelled.all() else "each row with a label"  # of a part of the rows, where time was short
    collector = Collector(f"cross-validation: {these} predicted by a model that had not seen it")
    for truth, predicted, *more in answers:
        collector.add_predictions(truth, predicted, *(more if complete else ()))
    held_out = collector.held_out()
    if held_out is not None:
        warn_if_worse(held_out, model)
    return held_out


def _folds(model: Any, y: NDArray[Any], random_state: int) -> Iterable[Fold]:
    """Five folds. Rows without a label are always learned from, and rows of no class are new to every model."""
    unlabelled, outside = is_no_class(model, y, "unlabelled_label"), is_no_class(model, y, "outlier_label")
    learner, classification = learner_of(model), task_of(model) == "classification"
    n_splits = min(5, len(y))
    if classification:
        n_splits = min(5, int(np.unique(y[~unlabelled & ~outside], return_counts=True)[1].min(initial=len(y))))
    if n_splits < 2:
        return []
    if unlabelled.any() or outside.any():
        from ..tuning import LabelledKFold, NoveltyKFold

        usual: dict[str, Any] = {"shuffle": True, "random_state": random_state}
        if unlabelled.any():
            return LabelledKFold(n_splits, unlabelled_label=learner.unlabelled_label, **usual).split(None, y)
        return NoveltyKFold(n_splits, outlier_label=learner.outlier_label, **usual).split(None, y)
    return split(y if classification else None, len(y), n_splits, random_state)


def split(classes: NDArray[Any] | None, n_rows: int, n_splits: int, random_state: int) -> Iterator[Fold]:
    """Shuffled folds, each with its share of every class: those of scikit-learn's StratifiedKFold and KFold."""
    rng = np.random.RandomState(random_state)
    fold_of = np.empty(n_rows, dtype=np.intp)
    if classes is None:
        fold_of[rng.permutation(n_rows)] = np.sort(np.arange(n_rows) % n_splits)
    else:
        _, begins, codes = np.unique(classes, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(begins))[codes]  # in the order of their first rows
        ordered = np.sort(codes)
        for code in range(len(begins)):
            shares = [int((ordered[i::n_splits] == code).sum()) for i in range(n_splits)]
            folds = np.repeat(np.arange(n_splits), shares)
            rng.shuffle(folds)
            fold_of[codes == code] = folds
    for fold in range(n_splits):
        yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
