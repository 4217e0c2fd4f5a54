"""The rows on which models are compared: folds, even parts of many rows, and the score that is maximised."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import carrying
from ..preprocessing import split_tasks
from ._plan import Folds, Plan
from ._task import has_stand_ins, stand_ins

_MANY_ROWS = 5_000  # from which on three folds are enough
_FEW_ROWS, _MOST_REPEATS = 2_000, 3  # small data are divided into folds several times, as chance weighs more there


def make_folds(plan: Plan) -> Folds:
    """The same parts of the rows for all models: each is measured on rows that it has not learned from.

    Unlabelled rows are in every part to learn from and in none to score, as with ``LabelledKFold``; rows of no class in
    none to learn from and in every one to score, as with ``NoveltyKFold``. Rows to score belong to tasks that are
    learned from.
    """
    data, cv = plan.data, plan.options.cv
    y = data.y if plan.task != "clustering" else None
    apart = np.zeros(data.X.shape[0], dtype=bool) if y is None else carrying(y, data.no_class)
    is_unlabelled = plan.options.unlabelled_label is not None
    if cv is not None and not isinstance(cv, Integral):
        from sklearn.model_selection import check_cv

        rows = np.zeros((len(apart), 1))  # splitters only count them
        folds = list(check_cv(cv, y, classifier=plan.task == "classification").split(rows, y))
        folds = [(learn, test[~apart[test]]) for learn, test in folds] if is_unlabelled else folds
    else:
        known, others = np.flatnonzero(~apart), np.flatnonzero(apart)
        parts = _parts(len(known), None if y is None else y[known], plan)
        folds = [(known[learn], known[test]) for learn, test in parts]
        if is_unlabelled:
            folds = [(np.union1d(learn, others), test) for learn, test in folds]
        else:
            folds = [(learn, np.union1d(test, others)) for learn, test in folds]
    if plan.options.task_column is None:
        return folds
    tasks = split_tasks(data.X, plan.options.task_column, "auto").tasks
    return [(learn, test[np.isin(tasks[test], tasks[learn])]) for learn, test in folds]


def _parts(n_rows: int, y: NDArray[Any] | None, plan: Plan) -> Folds:
    """Folds of rows that all have a class, or of any where there are none."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    if n_rows < 4 and plan.options.unlabelled_label is None:
        raise ValueError(f"auto: at least 4 rows are needed to compare models, got {n_rows}.")
    cv, seed = plan.options.cv, plan.options.random_state
    n_folds = int(cv) if cv is not None else 3 if n_rows > _MANY_ROWS else max(2, min(5, n_rows // 2))
    n_learned = plan.data.X.shape[0]  # with rows that have no label, which take their time
    n_repeats = max(1, min(_MOST_REPEATS, _FEW_ROWS // n_learned)) if cv is None else 1
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"auto: cv must be at least 2 and at most the number of rows ({n_rows}), got {n_folds}.")
    rows = np.zeros((n_rows, 1))
    if plan.task != "classification":
        return list(RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed).split(rows))
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    second = int(np.sort(np.bincount(codes))[-2])  # every part must hold two classes
    least = 2 if cv is None else max(2, n_folds)
    if second < 2 and cv is None and plan.options.unlabelled_label is not None:
        return []  # one label of each class: nothing is left to score
    if second < least:
        raise ValueError(
            f"auto: at least two classes must have {least} rows each, but the second largest has {second}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is rarer than there are folds
        split = RepeatedStratifiedKFold(n_splits=min(n_folds, second), n_repeats=n_repeats, random_state=seed)
        return list(split.split(rows, codes))


def make_scoring(plan: Plan) -> Any:
    """The scorer that the search maximises."""
    from ..tuning import criterion, sparsity_scorer

    data, options = plan.data, plan.options
    if plan.criterion == "balanced_error" and has_stand_ins(data, options):
        made = stand_ins(data, options.random_state)
        return partial(_score_with_stand_ins, rows=made, label=options.outlier_label)
    measure: Any = partial(_score_by_cost, costs=plan.costs) if plan.costs else criterion(plan.criterion)
    if not options.sparsity:
        return measure
    if plan.criterion == "mse" and data.y is not None:
        unit = float(np.var(data.y)) or 1.0  # so that it compares with a share of features
        measure = partial(_score_in_units, scorer=measure, unit=unit)
    return sparsity_scorer(measure, options.sparsity)


def _score_with_stand_ins(model: Any, X: Any, y: Any, rows: Any, label: Any) -> float:
    """The balanced error of the classes and, as one more of them, of rows that stand in for outliers."""
    predicted = model.predict(X)
    errors = [np.mean(predicted[y == value] != value) for value in np.unique(y)]
    return -float(np.mean([*errors, np.mean(model.predict(rows) != label)]))


def _score_by_cost(model: Any, X: Any, y: Any, costs: dict[Any, float]) -> float:
    """Minus the mean cost of a row: that of its class if it is taken for another."""
    of_rows = np.array([costs.get(label, 0.0) for label in y.tolist()])  # rows of no known class have none
    return -float(np.mean(of_rows * (model.predict(X) != y)))


def _score_in_units(model: Any, X: Any, y: Any, scorer: Any, unit: float) -> float:
    return float(scorer(model, X, y)) / unit


# --- parts of many rows -----------------------------------------------------------------------------------------------

_LEAST_OF_A_CLASS = 10  # rows of a rare class that a part keeps, as far as there are so many


def sampled(plan: Plan, n_rows: int) -> Plan:
    """The same plan for about `n_rows` of the rows, drawn evenly: all rows if they are no more, or if their structure
    does not allow to leave any out. Labelled rows come before others."""
    data, options = plan.data, plan.options
    is_given = options.cv is not None and not isinstance(options.cv, Integral)
    if data.X.shape[0] <= n_rows or plan.task == "clustering" or is_given or options.needs & _WHOLE:
        return plan
    y = np.asarray(data.y)
    order = np.random.default_rng(options.random_state).permutation(len(y))
    if options.unlabelled_label is not None:
        order = order[np.argsort(carrying(y[order], data.no_class), kind="stable")]
    kept = [order[:n_rows]]
    if plan.task == "classification":
        kept += [order[y[order] == label][:_LEAST_OF_A_CLASS] for label in np.unique(y)]
    rows = np.unique(np.concatenate(kept))
    weight = None if data.weight is None else data.weight[rows]
    part = replace(plan, data=replace(data, X=data.X[rows], y=y[rows], weight=weight))
    return replace(part, folds=make_folds(part))


_WHOLE = frozenset({"tasks", "outliers"})
