"""Detection and rejection rates, counted by hand."""

import numpy as np
import pytest

from thresher.metrics import detection_rate, rejection_rate


def test_rates_are_shares_of_outliers_and_of_the_others():
    true = np.array([0, 0, 0, 1, 1, -1, -1, -1])
    predicted = np.array([0, -1, 1, 1, -1, -1, -1, 0])
    assert detection_rate(true, predicted) == 2 / 3
    assert rejection_rate(true, predicted) == 2 / 5


def test_outliers_may_have_any_label_and_text_is_text():
    true, predicted = ["a", "none", "b", "none"], ["none", "none", "b", "b"]
    assert detection_rate(true, predicted, outlier_label="none") == 0.5
    assert rejection_rate(true, predicted, outlier_label="none") == 0.5
    assert detection_rate(["a", "-1"], ["a", "-1"]) == 1.0
    assert detection_rate(np.array([1, 7]), np.array([7, 1]), outlier_label=7) == 0.0


def test_nothing_to_find_is_all_found():
    assert detection_rate([0, 1], [0, -1]) == 1.0
    assert rejection_rate([-1, -1], [-1, 0]) == 0.0


def test_labels_of_other_rows_are_refused():
    for rate in (detection_rate, rejection_rate):
        with pytest.raises(ValueError, match=rf"{rate.__name__}: y_true and y_pred must be labels of the same rows"):
            rate([0, 1], [0])
        with pytest.raises(ValueError, match=r"got shapes \(0,\) and \(0,\)"):
            rate([], [])
