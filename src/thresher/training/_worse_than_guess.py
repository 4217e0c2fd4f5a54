"""A warning about models that do worse than a constant prediction: the mean, or the most frequent class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import task_of
from ._records import HeldOut

_SURE = 1.96  # standard errors: a gain in balanced accuracy that may be chance is none


def worse_than_guess(held_out: HeldOut, task: str) -> str:
    """A sentence, if predictions of held-out rows are worse than those of a constant; else nothing."""
    y, predicted = held_out.y, held_out.predicted
    if task == "regression":
        squared = float(np.mean((np.asarray(y, dtype=np.float64) - predicted) ** 2))
        if not squared > np.var(y) > 0:
            return ""
        error, guess = f"its squared error is {squared:.3g}", f"that of the mean of the targets is {np.var(y):.3g}"
        return f"The model does worse than the mean on held-out rows: {error}, {guess}."
    classes, counts = _distinct(y)
    wrong, least = np.count_nonzero(y != predicted), len(y) - counts.max()
    if len(classes) < 2 or wrong <= least or _finds_classes(y, predicted, classes, counts):
        return ""
    return (
        "The model does worse than the most frequent class on held-out rows: "
        f"it is wrong on {100 * wrong / len(y):.1f} %, and always predicting {classes[counts.argmax()]!r} "
        f"would be wrong on {100 * least / len(y):.1f} %."
    )


def warn_if_worse(held_out: HeldOut, model: Any) -> None:
    """Warn if a model does worse on held-out rows than a guess."""
    if sentence := worse_than_guess(held_out, task_of(model)):
        warnings.warn(sentence, UserWarning, stacklevel=3)


def _distinct(y: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    labels, counts = np.unique(y, return_counts=True)
    return labels.tolist(), counts


def _finds_classes(y: NDArray[Any], predicted: NDArray[Any], classes: list[Any], counts: NDArray[np.int64]) -> bool:
    """Whether rows of a class are found more often than by chance: a model that looks for rare classes is wrong more
    often than one that never predicts them."""
    recalls = np.array([np.mean(predicted[y == label] == label) for label in classes])
    error = np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / len(classes)
    return bool(recalls.mean() - _SURE * error > 1 / len(classes))
