"""Rows of no class, and rows whose class is not known: the label that says so, and what follows from it."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np

from .._gate import Table
from .._gate import label as label_rule
from ..registry import Method
from ..training import plain
from ._data import Material
from ._task import named
from ._wishes import Wishes

_LABELS = {"outliers": "outlier_label", "unlabelled": "unlabelled_label"}
_MOST_COLUMNS = 50  # up to which rows that are made up come near the others
_MOST_STAND_INS = 1000
_ROOM = 0.1  # of the range of a column, beyond either end


def settle_labels(wishes: Wishes, material: Material) -> Wishes:
    """The wishes with labels as the targets write them; a method that knows such rows brings a label of its own."""
    given = {name: getattr(wishes, name) for name in _LABELS.values()}
    asked = {name: label for name, label in given.items() if label is not None}
    if len(asked) == 2:
        raise ValueError(
            "auto: outlier_label and unlabelled_label cannot both be given; method='triclass' takes rows of no class "
            "beside unlabelled ones, with params={'irrelevant_label': ...}."
        )
    wanted = None if wishes.method is None else named(wishes.method)
    usual = {} if asked or wanted is None else _usual(wanted, wishes)
    if not asked and not usual:
        return wishes
    name, label = next(iter((asked or usual).items()))
    if asked and name in wishes.params:
        raise ValueError(f"auto: {name} must not be in params where it is given by itself.")
    material.no_class = _as_written(label, name, material, must_fit=bool(asked))
    if asked and name == "unlabelled_label" and not material.n_no_class:
        raise ValueError(f"auto: unlabelled_label must be a label of some rows, got {label!r}, which no row has.")
    if material.look.labels is not None and len(material.classes) < 2:
        held = f"only {next(iter(material.classes))!r}" if material.classes else "none"
        raise ValueError(
            f"auto: there must be at least two classes beside {name} {material.no_class!r}, got {held}; "
            f"if that is a class, give another {name}."
        )
    return replace(wishes, **{name: material.no_class})


def _usual(method: Method, wishes: Wishes) -> dict[str, Any]:
    """The label of a method that knows such rows, where the user has named none."""
    name = next((_LABELS[need] for need in method.needs if need in _LABELS), None)
    if name is None:
        return {}
    label = wishes.params.get(name, inspect.signature(method.cls).parameters[name].default)
    return {} if label is None else {name: label}


def _as_written(label: Any, name: str, material: Material, must_fit: bool) -> Any:
    """A label in the type of the targets: text among text, a number among numbers."""
    if not label_rule.holds(label):
        raise ValueError(f"auto: {name} must be {label_rule.says}, got {label!r}.")
    if material.y is None or material.look.is_text:
        return str(plain(label))
    try:
        number = plain(float(label))
    except ValueError:
        number = None
    if isinstance(number, int):
        return number
    if must_fit:
        raise ValueError(f"auto: {name} must be a whole number where labels are numbers, got {label!r}.")
    return label


def say_no_class(material: Material, wishes: Wishes) -> list[str]:
    """What becomes of these rows, in words."""
    n, total = material.n_no_class, material.facts.n_rows
    shown = f"{n:,} of {total:,} rows are {material.no_class!r}"
    if wishes.unlabelled_label is not None:
        if not n:
            return [f"No row is {material.no_class!r}, which would mean unlabelled."]
        return [f"{shown}, unlabelled: they are learned from in every fold, and none is scored."]
    if wishes.outlier_label is None:
        return []
    if n:
        return [
            f"{shown}, of no class. In cross-validation no model has met them before they are scored, because what is "
            "strange tomorrow will be new, too; the model that is kept has learned from them."
        ]
    said = f"No row is {material.no_class!r}: rows of no class are only to be known in predictions."
    if has_stand_ins(material, wishes):
        return [f"{said} Rows spread evenly over the range of the columns stand in for them where models are scored."]
    return [f"{said} Without any, nothing tells how close to draw the boundaries: nu and gamma are not tuned."]


def has_stand_ins(material: Material, wishes: Wishes) -> bool:
    """Whether rows that are made up stand in for outliers: none are given, and columns are few, dense and numbers."""
    return wishes.outlier_label is not None and not material.n_no_class and material.is_narrow(_MOST_COLUMNS)


def stand_ins(material: Material, seed: int) -> Any:
    """Rows in the form of the others, spread evenly over the range of each column and a little beyond."""
    X = material.X
    values = X.numbers if isinstance(X, Table) else X
    low, high = (np.nan_to_num(end.reduce(values, axis=0)) for end in (np.fmin, np.fmax))  # missing ones are NaN
    room = _ROOM * (high - low)
    n_rows = min(_MOST_STAND_INS, values.shape[0])
    made = np.random.default_rng(seed).uniform(low - room, high + room, size=(n_rows, values.shape[1]))
    return Table(X.columns, made) if isinstance(X, Table) else made
