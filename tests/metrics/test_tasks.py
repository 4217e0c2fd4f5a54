from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score

from thresher.metrics import explained_variance_over_tasks


@pytest.fixture
def predicted():
    rng = np.random.default_rng(0)
    tasks = rng.integers(0, 4, 300)
    y = rng.normal(size=300) + 2.0 * tasks
    return y, y + 0.7 * rng.normal(size=300), tasks


def test_against_all_targets_it_is_r2(predicted):
    y, prediction, tasks = predicted
    assert_allclose(explained_variance_over_tasks(y, prediction, tasks), r2_score(y, prediction))


def test_within_tasks_it_is_r2_of_what_tasks_do_not_explain(predicted):
    y, prediction, tasks = predicted
    errors = sum(np.sum((y[tasks == q] - prediction[tasks == q]) ** 2) for q in range(4))
    spread = sum(np.var(y[tasks == q]) * np.count_nonzero(tasks == q) for q in range(4))
    within = explained_variance_over_tasks(y, prediction, np.array(list("abcd"))[tasks], baseline="task")
    assert_allclose(within, 1 - errors / spread)
    assert within < explained_variance_over_tasks(y, prediction, tasks)
    one = explained_variance_over_tasks(y, prediction, np.zeros(300), baseline="task")
    assert_allclose(one, r2_score(y, prediction))


def test_means_explain_nothing_and_the_truth_explains_all(predicted):
    y, _, tasks = predicted
    means = np.array([y[tasks == q].mean() for q in range(4)])[tasks]
    assert_allclose(explained_variance_over_tasks(y, means, tasks, baseline="task"), 0, atol=1e-12)
    assert_allclose(explained_variance_over_tasks(y, np.full(300, y.mean()), tasks), 0, atol=1e-12)
    assert explained_variance_over_tasks(y, y, tasks) == 1


@pytest.mark.parametrize(
    "change, words",
    [
        ({"baseline": "both"}, "explained_variance_over_tasks: baseline must be one of 'all', 'task', got 'both'."),
        ({"y": np.zeros(300)}, "explained_variance_over_tasks: y must vary somewhere, got constant values."),
        ({"tasks": np.arange(300), "baseline": "task"}, "y must vary within one of the 300 tasks"),
        ({"tasks": np.zeros(299)}, "inconsistent numbers of samples"),
        ({"prediction": np.full(300, np.nan)}, "prediction contains NaN"),
    ],
)
def test_what_cannot_be_measured_is_refused(predicted, change, words):
    given = dict(zip(("y", "prediction", "tasks"), predicted, strict=True)) | change
    with pytest.raises(ValueError) as refused:
        explained_variance_over_tasks(**given)
    assert words in str(refused.value)
