"""Scores over several regression tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gate import checked, one_of


@checked(baseline=one_of("all", "task"))
def explained_variance_over_tasks(y: Any, prediction: Any, tasks: Any, *, baseline: str = "all") -> float:
    r"""One minus the squared error of all tasks, as a share of the variance of their targets.

    .. math:: 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - m_i)^2}

    What a prediction is compared with, m, is the mean of all targets (``"all"``) or of the targets of the row's own
    task (``"task"``). The second is harder, and lower: the differences between tasks are no merit. The words of
    [1]_ ("total variance of the data (computed within each task)") allow both; its figures in Table 4.1 are nearer to
    the first.

    Parameters
    ----------
    y, prediction : array-like of shape (n_samples,)
        Targets of rows that were not learned from, and what was predicted for them.
    tasks : array-like of shape (n_samples,)
        The task of each row, by any names.
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
