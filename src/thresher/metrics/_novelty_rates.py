"""Rates at which outliers are found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import carrying


def detection_rate(y_true: Any, y_pred: Any, *, outlier_label: Any = -1) -> float:
    """The share of outliers that were predicted to be outliers.

    One number is only half of the story: rejecting everything detects everything. See :func:`rejection_rate` for the
    other half, or the accuracy for both.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels, and predictions of for instance :class:`~thresher.novelty.SNDClassifier`.
    outlier_label : int or str, default=-1
        The label of rows that belong to no class.

    Returns
    -------
    float
        1.0 where there are no outliers.

    Examples
    --------
    >>> from thresher.metrics import detection_rate, rejection_rate
    >>> y_true, y_pred = [0, 0, 1, 1, -1, -1], [0, -1, 1, 0, -1, -1]
    >>> detection_rate(y_true, y_pred), rejection_rate(y_true, y_pred)
    (1.0, 0.25)
    """
    outside, rejected = _outliers("detection_rate", y_true, y_pred, outlier_label)
    return float(rejected[outside].mean()) if outside.any() else 1.0


def rejection_rate(y_true: Any, y_pred: Any, *, outlier_label: Any = -1) -> float:
    """The share of rows of the classes that were predicted to be outliers.

    Parameters
    ----------
    y_true, y_pred, outlier_label
        As in :func:`detection_rate`.

    Returns
    -------
    float
        0.0 where all rows are outliers.
    """
    outside, rejected = _outliers("rejection_rate", y_true, y_pred, outlier_label)
    return float(rejected[~outside].mean()) if not outside.all() else 0.0


def _outliers(who: str, y_true: Any, y_pred: Any, label: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the rows that are outliers, and of those that are taken for outliers."""
    columns = [np.asarray(y) for y in (y_true, y_pred)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape or not len(columns[0]):
        raise ValueError(
            f"{who}: y_true and y_pred must be labels of the same rows, one at least, got shapes {columns[0].shape} "
            f"and {columns[1].shape}."
        )
    return carrying(columns[0], label), carrying(columns[1], label)
