"""Scores of predictions: rates at which outliers are found, variance explained over tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import carrying, checked, one_of


def detection_rate(y_true: Any, y_pred: Any, *, outlier_label: Any = -1) -> float:
    """Compute the share of outliers that were predicted to be outliers.

    A model that rejects all rows has a detection rate of 1, so look at :func:`rejection_rate` as well.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels, and predictions, for instance of :class:`~thresher.novelty.SNDClassifier`.
    outlier_label : int or str, default=-1
        The label of rows that belong to no class.

    Returns
    -------
    float
        1.0 if there are no outliers.

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
    """Compute the share of rows of the classes that were predicted to be outliers.

    Parameters
    ----------
    y_true, y_pred, outlier_label
        As in :func:`detection_rate`.

    Returns
    -------
    float
        0.0 if all rows are outliers.
    """
    outside, rejected = _outliers("rejection_rate", y_true, y_pred, outlier_label)
    return float(rejected[~outside].mean()) if not outside.all() else 0.0


def _outliers(who: str, y_true: Any, y_pred: Any, label: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the rows that are outliers, and of those that are taken for outliers."""
    columns = [np.asarray(y) for y in (y_true, y_pred)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape or not len(columns[0]):
        raise ValueError(
            f"{who}: y_true and y_pred must be labels of the same rows, at least one, got shapes {columns[0].shape} "
            f"and {columns[1].shape}."
        )
    return carrying(columns[0], label), carrying(columns[1], label)


@checked(baseline=one_of("all", "task"))
def explained_variance_over_tasks(y: Any, prediction: Any, tasks: Any, *, baseline: str = "all") -> float:
    r"""Compute the explained variance over all tasks: one minus the squared error relative to the variance.

    .. math:: 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - m_i)^2}

    Predictions are compared with m, the mean of all targets (``"all"``) or of the targets of the row's own task
    (``"task"``). The second gives lower values, because it does not reward the differences between tasks. The words of
    [1]_ ("total variance of the data (computed within each task)") allow both; its figures in Table 4.1 are nearer to
    the first.

    Parameters
    ----------
    y, prediction : array-like of shape (n_samples,)
        Targets of rows that were not learned from, and predictions for them.
    tasks : array-like of shape (n_samples,)
        The task of each row, as labels of any kind.
    baseline : {"all", "task"}, default="all"
        The mean that predictions are compared with.

    Returns
    -------
    float
        1 for perfect predictions, 0 for predictions as good as the mean, below 0 for worse ones.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Section 4.7.1.

    Examples
    --------
    >>> from thresher.metrics import explained_variance_over_tasks
    >>> y, tasks = [1.0, 2.0, 11.0, 12.0], ["a", "a", "b", "b"]
    >>> explained_variance_over_tasks(y, [1.5, 1.5, 11.5, 11.5], tasks, baseline="task")
    0.0
    >>> round(explained_variance_over_tasks(y, [1.5, 1.5, 11.5, 11.5], tasks), 3)
    0.99
    """
    from sklearn.utils import check_array, check_consistent_length, column_or_1d

    y, prediction = (
        check_array(column_or_1d(values), dtype=np.float64, ensure_2d=False, input_name=name)
        for name, values in (("y", y), ("prediction", prediction))
    )
    tasks = column_or_1d(tasks)
    check_consistent_length(y, prediction, tasks)
    names, task = np.unique(tasks, return_inverse=True)
    groups = task if baseline == "task" else np.zeros(len(y), dtype=np.intp)
    means = np.bincount(groups, weights=y) / np.bincount(groups)
    spread = float(np.sum((y - means[groups]) ** 2))
    if spread == 0:
        where = f"within one of the {len(names)} tasks" if baseline == "task" else "somewhere"
        raise ValueError(f"explained_variance_over_tasks: y must vary {where}, got constant values.")
    return 1.0 - float(np.sum((y - prediction) ** 2)) / spread
