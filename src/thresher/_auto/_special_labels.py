"""Labels that are no classes: of outliers, and of rows whose class is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import registry
from .._gate import Table
from .._gate import label as label_rule
from ..registry import Method
from ..training import plain_label
from ._auto_options import STRUCTURE, AutoOptions
from ._data import TrainingData
from ._plan import Plan, find_method

_LABELS = ("outlier_label", "unlabelled_label")
_MOST_COLUMNS = 50  # up to which rows that are made up come near the others
_MOST_STAND_INS = 1000
_ROOM = 0.1  # of the range of a column, beyond either end


def settle_labels(options: AutoOptions, data: TrainingData) -> AutoOptions:
    """Options with labels as the targets write them; a method that knows such rows brings a label of its own."""
    asked = {name: label for name in _LABELS if (label := getattr(options, name)) is not None}
    if len(asked) == 2:
        raise ValueError(f"auto: outlier_label and unlabelled_label cannot both be given{_takes_both()}.")
    usual = {} if asked or options.method is None else _default_label(find_method(options.method), options)
    if not asked and not usual:
        return options
    ((name, label),) = (asked or usual).items()
    if asked and name in options.fixed:
        raise ValueError(f"auto: {name} must not be in params where it is given by itself.")
    data.no_class = _as_written(label, name, data, must_fit=bool(asked))
    if asked and name == "unlabelled_label" and not data.n_no_class:
        raise ValueError(f"auto: unlabelled_label must be a label of some rows, got {label!r}, which no row has.")
    _check_classes(data, name)
    return replace(options, **{name: data.no_class})


def _takes_both() -> str:
    """A method that takes both kinds of rows, if there is one."""
    both = [m.name for m in registry.methods() if {"unlabelled_label", "irrelevant_label"} <= m.defaults.keys()]
    return f"; method={both[0]!r} takes both, with params={{'irrelevant_label': ...}}" if both else ""


def _check_classes(data: TrainingData, name: str) -> None:
    if data.look.labels is None or len(data.classes) >= 2:
        return
    held = f"only {next(iter(data.classes))!r}" if data.classes else "none"
    raise ValueError(
        f"auto: there must be at least two classes beside {name} {data.no_class!r}, got {held}; "
        f"if that is a class, give another {name}."
    )


def _default_label(method: Method, options: AutoOptions) -> dict[str, Any]:
    """The label of a method that knows such rows, where the user has named none."""
    names = [name for name in _LABELS if name in (STRUCTURE.get(need) for need in method.needs)]
    labels = {name: options.fixed.get(name, method.defaults[name]) for name in names}
    return {name: label for name, label in labels.items() if label is not None}


def _as_written(label: Any, name: str, data: TrainingData, must_fit: bool) -> Any:
    """A label in the type of the targets: text among text, a number among numbers."""
    if not label_rule.holds(label):
        raise ValueError(f"auto: {name} must be {label_rule.says}, got {label!r}.")
    if data.y is None or data.look.is_text:
        return str(plain_label(label))
    try:
        number = plain_label(float(label))
    except ValueError:
        number = None
    if isinstance(number, int):
        return number
    if must_fit:
        raise ValueError(f"auto: {name} must be a whole number where labels are numbers, got {label!r}.")
    return label


def describe_special_rows(plan: Plan) -> list[str]:
    """Sentences on the use of these rows."""
    data, options = plan.data, plan.options
    n, label = data.n_no_class, repr(data.no_class)
    shown = f"{n:,} of {data.facts.n_rows:,} rows are {label}"
    if options.unlabelled_label is not None:
        if not n:
            return [f"No row is {label}, which would mean unlabelled."]
        return [f"{shown}, unlabelled: every model learns from them, and none is scored."]
    if options.outlier_label is None:
        return []
    if n:
        return [
            f"{shown}, of no class. Cross-validation scores models on them that have not learned from them, because "
            "future outliers will be new, too; the final model learns from them."
        ]
    if has_stand_ins(data, options):
        rows = "Rows that are spread evenly over the range of the columns stand in for them where models are scored."
        return [f"No row is {label}: outliers appear in predictions only. {rows}"]
    return [f"No row is {label}: nothing tells how tight the boundaries should be, so nu and gamma are not tuned."]


def has_stand_ins(data: TrainingData, options: AutoOptions) -> bool:
    """Whether rows that are made up stand in for outliers: none are given, and columns are few, dense and numbers."""
    return options.outlier_label is not None and not data.n_no_class and data.is_narrow(_MOST_COLUMNS)


def stand_ins(data: TrainingData, seed: int) -> Any:
    """Rows in the form of the others, spread evenly over the range of each column and a little beyond."""
    X = data.X
    values = X.numbers if isinstance(X, Table) else X
    low, high = (np.nan_to_num(end.reduce(values, axis=0)) for end in (np.fmin, np.fmax))  # missing ones are NaN
    room = _ROOM * (high - low)
    n_rows = min(_MOST_STAND_INS, values.shape[0])
    made = np.random.default_rng(seed).uniform(low - room, high + room, size=(n_rows, values.shape[1]))
    return Table(X.columns, made) if isinstance(X, Table) else made
