"""Measures of a rare class along a stream, kept in checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import ProgressiveAveragePrecision, ProgressiveF1, ProgressiveROCAUC
from ._predictions import plain_label
from ._records import History

_Measure = ProgressiveF1 | ProgressiveROCAUC | ProgressiveAveragePrecision
_KINDS: dict[str, type[_Measure]] = {
    "f1": ProgressiveF1,
    "roc_auc": ProgressiveROCAUC,
    "average_precision": ProgressiveAveragePrecision,
}


class RareClassMeasures:
    """F1, AUROC and average precision of one of two classes, over rows scored before their batch was learned."""

    def __init__(self, positive: Any, classes: Any) -> None:
        if len(classes) != 2 or positive not in list(classes):
            raise ValueError(f"train: positive must be one of two classes, {list(classes)}, got {positive!r}.")
        self.positive = positive
        self.name = str(plain_label(positive))
        self.measures = {name: kind() for name, kind in _KINDS.items()}

    def add(self, classes: NDArray[Any], y: NDArray[Any], scores: NDArray[np.float64] | None) -> None:
        """Take in scores, which are high for the second class."""
        if scores is None:
            raise ValueError("train: positive needs a model with decision_function.")
        there = y == self.positive
        second = bool(classes[1] == self.positive)
        answered = (scores > 0) == second  # a score of exactly 0 is an answer for the first class
        self.measures["f1"].update(there, answered)
        for name in ("roc_auc", "average_precision"):
            self.measures[name].update(there, scores if second else -scores)

    def note(self, history: History, rows: int) -> None:
        """Add a point to the history, once rows of both classes were seen in one batch."""
        if self.measures["roc_auc"].cells[1]:
            history.add_measures(rows, {name: measure.value for name, measure in self.measures.items()})

    def to_dict(self) -> dict[str, Any]:
        cells = {name: measure.cells.tolist() for name, measure in self.measures.items()}
        return {"positive": self.name, "cells": cells}

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        cells = {name: kept["cells"][name] for name in _KINDS}
        if not all(isinstance(cell, float) for each in cells.values() for cell in each):
            raise TypeError("cells are numbers")
        self.measures = {name: kind(cells=np.array(cells[name])) for name, kind in _KINDS.items()}
