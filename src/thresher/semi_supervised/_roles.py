"""Roles of rows, by the labels of a partly labelled set."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._gate import non_negative
from .._kernels import Array


class Roles(NamedTuple):
    """Rows of classes, of none, and unlabelled ones: every row is of one kind.

    ``codes`` are the places of labels among ``classes``; of rows that have no class, they say nothing.
    """

    classes: NDArray[Any]
    codes: Array
    irrelevant: NDArray[np.bool_]
    unlabelled: NDArray[np.bool_]

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows of classes."""
        return ~(self.irrelevant | self.unlabelled)

    def of(self, rows: NDArray[np.bool_]) -> Roles:
        """Some of the rows."""
        return Roles(self.classes, self.codes[rows], self.irrelevant[rows], self.unlabelled[rows])

    def sides(self, positive: float) -> Array:
        """+1 for one class, -1 for the others, 0 for all other rows."""
        return np.where(self.labelled, np.where(self.codes == positive, 1.0, -1.0), 0.0)

    def outputs(self) -> list[Array]:
        """Sides of all rows, for every output: one with two classes, else one for each class against the others."""
        return [self.sides(k) for k in ([1] if len(self.classes) == 2 else range(len(self.classes)))]


def check_labels(who: str, irrelevant_label: Any, unlabelled_label: Any) -> None:
    """Refuse one label for two meanings."""
    if irrelevant_label is not None and irrelevant_label == unlabelled_label:
        raise ValueError(
            f"{who}: irrelevant_label must be another label than unlabelled_label, got {irrelevant_label!r} for both."
        )


def read_roles(labels: NDArray[Any], irrelevant_label: Any, unlabelled_label: Any, who: str) -> Roles:
    """The roles of all rows; fewer than two classes are refused."""
    unlabelled = _gate.carrying(labels, unlabelled_label)
    irrelevant = _gate.carrying(labels, irrelevant_label)
    if (unlabelled & irrelevant).any():  # the number and the word for it
        raise ValueError(
            f"{who}: irrelevant_label must be another label than unlabelled_label, got {irrelevant_label!r} and "
            f"{unlabelled_label!r}, which are the same as text."
        )
    relevant = ~(unlabelled | irrelevant)
    codes = np.full(len(labels), -1.0)
    classes, codes[relevant] = _gate.find_classes(labels[relevant], who)
    if len(classes) < 2:
        held = f"one class: {classes.tolist()[0]!r}" if len(classes) else "no class"
        kinds = {"unlabelled": (unlabelled, unlabelled_label), "irrelevant": (irrelevant, irrelevant_label)}
        meant = ", ".join(f"{label!r} means {kind}" for kind, (rows, label) in kinds.items() if rows.any())
        raise ValueError(f"{who}: y must hold at least two classes, got {held}{meant and f' ({meant})'}.")
    return Roles(classes, codes, irrelevant, unlabelled)


def class_factors(class_weight: Any, roles: Roles, irrelevant_label: Any, who: str) -> Array:
    """The factor that ``class_weight`` gives to each row; it may name the label of irrelevant rows, too."""
    factors = np.ones(len(roles.codes))
    if isinstance(class_weight, dict) and irrelevant_label in class_weight and irrelevant_label is not None:
        class_weight = dict(class_weight)
        factor = class_weight.pop(irrelevant_label)
        if not non_negative.holds(factor):
            raise ValueError(
                f"{who}: class_weight must hold numbers of at least 0, got {factor!r} for class {irrelevant_label!r}."
            )
        factors[roles.irrelevant] = factor
    codes = roles.codes[roles.labelled]
    by_class = _gate.class_factors(class_weight, roles.classes, codes, who)
    if by_class is not None:
        factors[roles.labelled] = by_class[codes.astype(np.int64)]
    return factors


def filled(labels: NDArray[Any], places: NDArray[np.intp], read: NDArray[Any]) -> NDArray[Any]:
    """Labels with those that were found in their places."""
    kinds = {labels.dtype.kind, read.dtype.kind}
    fits = len(kinds) == 1 or kinds <= set("iuf")
    filled = labels.astype(np.result_type(labels, read) if fits else object)
    filled[places] = read
    return filled
