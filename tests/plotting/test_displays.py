"""Displays draw what was measured."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

from thresher.compare import selection_frequency
from thresher.dual_averaging import L1RDAClassifier
from thresher.inspection import column_curves, features_that_matter, kernels_in_use
from thresher.kernels import RBF
from thresher.mkl import GMKLClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.paths import penalty_path
from thresher.plotting import (
    ColumnCurveDisplay,
    FeatureWeightsDisplay,
    KernelWeightsDisplay,
    PenaltyPathDisplay,
    ProgressiveCalibrationDisplay,
    ProgressiveDisplay,
    SelectionFrequencyDisplay,
    ThresholdDisplay,
)
from thresher.plotting._display import Display
from thresher.preprocessing import prepared
from thresher.streams import Table, Text
from thresher.training import History

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


RNG = np.random.default_rng(0)
NUMBERS, JOBS = RNG.normal(size=(1500, 2)), RNG.choice(["cook", "clerk"], 1500)
ROWS = Table(["age", "job", "size"], NUMBERS, {"job": Text.from_list(JOBS.tolist())})
SCORE = NUMBERS[:, 0] ** 2 + (JOBS == "cook") + RNG.normal(size=1500) / 2
TWO, THREE = np.where(SCORE > 1, "yes", "no"), np.digitize(SCORE, [0.5, 1.5])


def model(y):
    return prepared(AROWClassifier(random_state=0), ROWS, splines=True).fit(ROWS, y)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("column", [None, "age", "job"])
def test_a_curve_is_that_of_the_column(y, column):
    fitted = model(y)
    curve = next(each for each in column_curves(fitted) if column in (None, each.name))
    _, axes = plt.subplots()
    axes.plot([0, 1], [0, 1])  # what is there before is not taken for a curve
    assert ColumnCurveDisplay.from_estimator(fitted, column, ax=axes).ax_ is axes
    if isinstance(curve.values, list):
        drawn = [[bar.get_width() for bar in bars] for bars in axes.containers]
    else:
        drawn = [line.get_ydata() for line in axes.lines[2 : 2 + len(curve.outputs)]]
    np.testing.assert_array_equal(drawn, curve.parts)
    legend = axes.get_legend()
    assert (legend is None) == (len(curve.outputs) == 1)
    if legend is not None:
        assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2"]


def test_a_column_that_is_not_used_is_refused():
    with pytest.raises(ValueError, match=r"column must be one that the model uses \('age'.*got 'height'"):
        ColumnCurveDisplay.from_estimator(model(TWO), "height")


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_bars_are_the_weights_of_the_features_that_matter(y):
    fitted = model(y)
    features = features_that_matter(fitted, 5)
    axes = FeatureWeightsDisplay.from_estimator(fitted, 5).ax_
    n_outputs = len(features[0].weights)
    np.testing.assert_array_equal(bars(axes, n_outputs), [list(each.weights.values()) for each in features])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [each.name for each in features]


def bars(axes, n):
    return np.transpose([[bar.get_width() for bar in bars] for bars in axes.containers[:n]])


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_bars_are_the_weights_of_the_kernels_in_use(y):
    fitted = GMKLClassifier([RBF(0.5, features=j) for j in range(2)]).fit(NUMBERS[:80], y[:80])
    kernels = kernels_in_use(fitted)
    axes = KernelWeightsDisplay.from_estimator(fitted, 1).ax_
    np.testing.assert_array_equal(bars(axes, len(kernels[0].weights)), [list(kernels[0].weights.values())])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [kernels[0].name]
    with pytest.raises(ValueError, match="must choose kernels, got PAClassifier"):
        KernelWeightsDisplay.from_estimator(PAClassifier().fit(NUMBERS, TWO))


def test_frequencies_are_those_of_the_runs():
    X, y = RNG.normal(size=(300, 12)), RNG.normal(size=300)
    y = X[:, 3] - X[:, 7] + y > 0
    options = {"n_runs": 6, "random_state": 0}
    counted = selection_frequency(L1RDAClassifier(alpha=0.1), X, y, **options)
    axes = SelectionFrequencyDisplay.from_result(counted, n=4, threshold=0.5).ax_
    shown = counted.most_frequent(4)
    np.testing.assert_array_equal([bars[0].get_width() for bars in axes.containers], counted.frequency[shown])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [counted.name(j) for j in shown]
    assert axes.lines[-1].get_xdata()[0] == 0.5
    drawn = SelectionFrequencyDisplay.from_estimator(L1RDAClassifier(alpha=0.1), X, y, ax=axes, **options)
    np.testing.assert_array_equal(drawn.result.frequency, counted.frequency)
    assert drawn.ax_ is axes


def test_displays_describe_what_they_all_have():
    assert all(display.__doc__.count("ax_, figure_") == 1 for display in Display.__subclasses__())


def test_thresholds_have_the_recall_and_precision_of_scikit_learn():
    fitted = PAClassifier(random_state=0, threshold="f1").fit(NUMBERS[:1000], TWO[:1000])
    X, y = NUMBERS[1000:], TWO[1000:]
    display = ThresholdDisplay.from_estimator(fitted, X, y)
    assert display.in_use == fitted.threshold_
    scores = fitted.decision_function(X)
    for place in range(0, 200, 23):
        called = np.where(scores > display.thresholds[place], "yes", "no")
        assert display.recall[place] == pytest.approx(recall_score(y, called, pos_label="yes"))
        if (called == "yes").any():
            assert display.precision[place] == pytest.approx(precision_score(y, called, pos_label="yes"))
    with pytest.raises(ValueError, match="two classes"):
        ThresholdDisplay.from_estimator(PAClassifier().fit(NUMBERS, THREE), X, y)
    with pytest.raises(ValueError, match="y_true must hold rows of class 'maybe' and others"):
        ThresholdDisplay.from_predictions(y, scores, pos_label="maybe")


@pytest.mark.parametrize("pos_label", ["yes", "no"])
def test_calibration_shows_what_predict_proba_says_and_the_rows_behind_it(pos_label):
    fitted = AROWClassifier(random_state=0).fit(NUMBERS**2, TWO)
    display = ProgressiveCalibrationDisplay.from_estimator(fitted, pos_label)
    place = fitted.classes_.tolist().index(pos_label)
    scores, told = fitted.decision_function(NUMBERS**2), fitted.predict_proba(NUMBERS**2)[:, place]
    inside = (scores > display.scores[0]) & (scores < display.scores[-1])
    read = np.interp(scores, display.scores, display.probabilities)
    assert np.abs(read - told)[inside].mean() < 0.01  # lines between bins are straight in log-odds
    rows, at = fitted._score_counts().rows()
    groups = {}  # twin: twenty groups of bins, by the place of a bin's middle among all rows
    before = 0.0
    for x, n, own in zip(at, rows[0].sum(axis=0), rows[0, place], strict=True):
        if n:
            group = min(int((before + n / 2) / rows[0].sum() * 20), 19)
            groups.setdefault(group, []).append((x, n, own))
        before += n
    sums = [np.array(each) for _, each in sorted(groups.items())]
    np.testing.assert_allclose(display.mean_scores, [each[:, 0] @ each[:, 1] / each[:, 1].sum() for each in sums])
    np.testing.assert_allclose(display.shares, [each[:, 2].sum() / each[:, 1].sum() for each in sums])


def test_calibration_of_several_classes_and_of_none():
    fitted = AROWClassifier(random_state=0).fit(NUMBERS**2, THREE)
    display = ProgressiveCalibrationDisplay.from_estimator(fitted, 1)
    assert display.ax_.get_xlabel() == "lead of 1 over the best other class"
    with pytest.raises(ValueError, match=r"pos_label must be one of \[0, 1, 2\], got 7"):
        ProgressiveCalibrationDisplay.from_estimator(fitted, 7)
    with pytest.raises(ValueError, match="that has predict_proba"):
        ProgressiveCalibrationDisplay.from_estimator(PAClassifier(probability="none").fit(NUMBERS, TWO))


def test_a_course_is_that_of_the_history():
    history = History(rows=[100, 200, 1000], mistakes=[50, 80, 160], loss=[10.0, 15.0, 40.0])
    display = ProgressiveDisplay.from_history(history)
    np.testing.assert_allclose(display.so_far, [0.5, 0.4, 0.16])
    np.testing.assert_allclose(display.recently, [0.5, 0.3, 0.1])
    assert [line.get_ydata()[-1] for line in display.ax_.lines] == [display.recently[-1], display.so_far[-1]]
    np.testing.assert_allclose(ProgressiveDisplay.from_history(history, "loss").so_far, [0.1, 0.075, 0.04])
    with pytest.raises(ValueError, match="measure must be"):
        ProgressiveDisplay.from_history(history, "luck")
    with pytest.raises(ValueError, match="history must have a point"):
        ProgressiveDisplay.from_history(History())


def test_a_path_marks_the_best_and_the_smallest_model():
    X = RNG.normal(size=(600, 15))
    path = penalty_path(L1RDAClassifier(), [0.3, 0.1, 0.03, 0.01], [(X, X[:, 0] > 0)])
    _, best, smaller = PenaltyPathDisplay.from_path(path, tolerance=0.2).ax_.lines
    assert best.get_ydata()[0] == path.progressive_loss.min()
    good = path.progressive_loss <= 1.2 * path.progressive_loss.min()
    assert smaller.get_xdata()[0] == path.n_features[good].min()


def test_matplotlib_is_needed_when_something_is_drawn(monkeypatch):
    features = features_that_matter(model(TWO), 5)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = FeatureWeightsDisplay(features)
    with pytest.raises(ImportError, match="FeatureWeightsDisplay needs matplotlib: pip install"):
        display.plot()
