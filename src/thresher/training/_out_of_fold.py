"""Predictions of rows by models that had not seen them: cross-validation, where data fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from ..tuning import LabelledKFold, NoveltyKFold
from ._predictions import answerable, known_to, labelled, learner_of, said, without_class
from ._records import Collector, HeldOut


def predict_in_folds(
    model: Any, X: Any, y: NDArray[Any] | None, folds: Any = None, *, random_state: int = 0
) -> HeldOut | None:
    """What models like this one say of each row, after learning from the other folds.

    Parameters
    ----------
    model : classifier, regressor or StreamingPipeline
        Copied, not changed.
    X, y : rows and targets
    folds : iterable of (rows to learn from, rows to predict), optional
        By default five, as far as every class has so many rows. A row that several folds would predict is predicted in
        the first of them.
    random_state : int
        Seed of the folds.

    Returns
    -------
    HeldOut or None
        None if there are too few rows, or too few of a class.
    """
    if y is None:
        return None
    divisions = list(_folds(model, y, random_state) if folds is None else folds)
    answers = []
    seen = np.zeros(len(y), dtype=bool)
    classes = np.unique(y[labelled(model, y)]) if is_classifier(model) else np.empty(0)
    alike = True  # unless a class is so rare that a fold lacks it: then scores do not fit together
    for learn, test in divisions:
        test = test[~seen[test]]
        if not len(test):  # small data are divided several times
            break
        seen[test] = True
        fitted = clone(model).fit(X[learn], y[learn])
        rows, truth = answerable(fitted, X[test], y[test])
        if len(truth):
            answers.append((truth, *said(fitted, rows)))
        alike = alike and (not len(classes) or bool(known_to(fitted, classes).all()))
    these = "every row" if labelled(model, y).all() else "every row with a label"
    collector = Collector(f"cross-validation: {these}, predicted by a model that had not seen it")
    for truth, predicted, scores in answers:
        collector.add(truth, predicted, scores if alike else None)
    return collector.held_out()


def _folds(model: Any, y: NDArray[Any], random_state: int) -> Any:
    """Five folds. Rows without a label are always learned from, and rows of no class are new to every model."""
    known, learner = labelled(model, y), learner_of(model)
    outside = without_class(model, y, "outlier_label")
    most = len(y)
    if is_classifier(model):
        most = int(np.unique(y[known & ~outside], return_counts=True)[1].min(initial=len(y)))
    if min(5, most) < 2:
        return []
    usual: dict[str, Any] = {"shuffle": True, "random_state": random_state}
    if not known.all():
        return LabelledKFold(min(5, most), unlabelled_label=learner.unlabelled_label, **usual).split(None, y)
    if outside.any():
        return NoveltyKFold(min(5, most), outlier_label=learner.outlier_label, **usual).split(None, y)
    folds = (StratifiedKFold if is_classifier(model) else KFold)(min(5, most), **usual)
    return folds.split(np.zeros(len(y)), y)
