"""How models are measured: folds of the rows, and what is made of the answers."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

from .._gate import carrying
from ..tuning import criterion, sparsity_scorer
from ._data import Material
from ._no_class import has_stand_ins, stand_ins
from ._wishes import Wishes

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

_MANY_ROWS = 20_000  # from which on three folds are enough
_FEW_ROWS, _MOST_REPEATS = 2_000, 3  # small data are divided into folds several times, as chance weighs more there


def make_folds(material: Material, task: str, cv: Any, seed: int, wishes: Wishes) -> Folds:
    """The same parts of the rows for all models: each is measured on rows that it has not learned from.

    Unlabelled rows are in every part to learn from and in none to score, as with ``LabelledKFold``; rows of no class in
    none to learn from and in every one to score, as with ``NoveltyKFold``.
    """
    y = material.y if task != "clustering" else None
    apart = np.zeros(material.X.shape[0], dtype=bool) if y is None else carrying(y, material.no_class)
    if cv is not None and not isinstance(cv, Integral):
        rows = np.zeros((len(apart), 1))  # splitters only count them
        folds = list(check_cv(cv, y, classifier=task == "classification").split(rows, y))
        hidden = apart if wishes.unlabelled_label is not None else np.zeros_like(apart)
        return [(learn, test[~hidden[test]]) for learn, test in folds]
    known, others = np.flatnonzero(~apart), np.flatnonzero(apart)
    parts = _parts(len(known), None if y is None else y[known], task, None if cv is None else int(cv), seed)
    folds = [(known[learn], known[test]) for learn, test in parts]
    if wishes.unlabelled_label is not None:
        return [(np.union1d(learn, others), test) for learn, test in folds]
    return [(learn, np.union1d(test, others)) for learn, test in folds]


def _parts(n_rows: int, y: NDArray[Any] | None, task: str, cv: int | None, seed: int) -> Folds:
    """Folds of rows that all have a class, or of any where there are none."""
    if n_rows < 4:
        raise ValueError(f"auto: at least 4 rows are needed to compare models, got {n_rows}.")
    n_folds = 3 if n_rows > _MANY_ROWS else min(5, n_rows // 2)
    rows = np.zeros((n_rows, 1))
    n_repeats = max(1, min(_MOST_REPEATS, _FEW_ROWS // n_rows)) if cv is None else 1
    n_folds = n_folds if cv is None else cv
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"auto: cv must be at least 2 and at most the number of rows ({n_rows}), got {n_folds}.")
    if task != "classification":
        return list(RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed).split(rows))
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    second = int(np.sort(np.bincount(codes))[-2])  # every part must hold two classes
    if second < 2 or (cv is not None and second < n_folds):
        raise ValueError(f"auto: two classes must have at least {max(2, cv or 0)} rows each, got only {second} of one.")
    n_folds = min(n_folds, second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is rarer than there are folds
        split = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
        return list(split.split(rows, codes))


def of_known_tasks(folds: Folds, tasks: NDArray[Any]) -> Folds:
    """Folds without rows to predict whose task is in no row to learn from."""
    return [(learn, test[np.isin(tasks[test], tasks[learn])]) for learn, test in folds]


def make_scoring(name: str, wishes: Wishes, material: Material) -> Any:
    """What the search maximises, by the name of the criterion."""
    if name == "balanced_error" and has_stand_ins(material, wishes):
        return _WithStandIns(stand_ins(material, wishes.seed), wishes.outlier_label)
    measure: Any = criterion(name)
    if not wishes.sparsity:
        return measure
    if name == "mse" and material.y is not None:
        measure = _InUnits(measure, float(np.var(material.y)) or 1.0)  # so that it compares with a share of features
    return sparsity_scorer(measure, wishes.sparsity)


class _WithStandIns:
    """The balanced error of the classes and, as one more of them, of rows that stand in for outliers."""

    def __init__(self, rows: Any, label: Any) -> None:
        self.rows = rows
        self.label = label

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        predicted = model.predict(X)
        errors = [np.mean(predicted[y == label] != label) for label in np.unique(y)]
        return -float(np.mean([*errors, np.mean(model.predict(self.rows) != self.label)]))


class _InUnits:
    """A score divided by a number."""

    def __init__(self, scorer: Any, unit: float) -> None:
        self.scorer = scorer
        self.unit = unit

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return float(self.scorer(model, X, y)) / self.unit
