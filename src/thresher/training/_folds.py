"""Predictions of rows by models that had not seen them: cross-validation, where data fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from .._records import Collector, HeldOut
from ._model import said


def predict_in_folds(
    model: Any, X: Any, y: NDArray[Any] | None, *, n_folds: int = 5, random_state: int = 0
) -> HeldOut | None:
    """What models like this one say of each row, after learning from the other folds.

    Parameters
    ----------
    model : classifier, regressor or StreamingPipeline
        Copied, not changed.
    X, y : rows and targets
    n_folds : int
    random_state : int
        Seed of the folds.

    Returns
    -------
    HeldOut or None
        None if there are too few rows, or too few of a class.
    """
    if y is None:
        return None
    n_folds = min(n_folds, len(y))
    if is_classifier(model):
        n_folds = min(n_folds, int(np.unique(y, return_counts=True)[1].min()))
    if n_folds < 2:
        return None
    folds = (StratifiedKFold if is_classifier(model) else KFold)(n_folds, shuffle=True, random_state=random_state)
    collector = Collector(f"{n_folds} folds, each predicted by a model that learned from the others")
    for learn, test in folds.split(np.zeros(len(y)), y):
        fitted = clone(model).fit(X[learn], y[learn])
        collector.add(y[test], *said(fitted, X[test]))
    return collector.held_out()
