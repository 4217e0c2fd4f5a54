"""Probabilities beside what happened."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from report import examples
from thresher.online import AROWClassifier
from thresher.report import Report
from thresher.report._probabilities import Bins
from thresher.streams import open_stream
from thresher.training import evaluate, predict_in_folds, train
from thresher.training._records import HeldOut


def drawn(n=4000, seed=0, shape=lambda p: p):
    """A report of probabilities of which `shape` makes other ones; labels are drawn by them as they were."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 2, size=n)
    y = np.where(rng.random(n) < p, "yes", "no")
    X = np.log(p / (1 - p))[:, None]
    stated = shape(p)
    held_out = HeldOut(
        "x", y, np.where(stated > 0.5, "yes", "no"), X[:, 0], probabilities=np.stack([1 - stated, stated], axis=1)
    )
    return Report(LogisticRegression().fit(X, y), held_out=held_out), stated, y == "yes"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_losses_are_scikit_learns_beside_those_of_the_base_rates(n_classes):
    X, y = examples.several(n_classes)["sample"]
    model = LogisticRegression().fit(X, y)
    found = Report(model, sample=(X, y)).to_dict()["sections"]
    truth = y[:, None] == model.classes_
    rates = np.broadcast_to(truth.mean(axis=0), truth.shape)
    for chances, values in ((model.predict_proba(X), "measures"), (rates, "guesses")):
        read = {k: v["value"] if values == "measures" else v for k, v in found["measures"][values].items()}
        assert read["log loss"] == pytest.approx(metrics.log_loss(y, chances))
        halved = 2 if n_classes == 2 else 1
        assert read["Brier score"] == pytest.approx(((chances - truth) ** 2).sum(axis=1).mean() / halved)
    section = found["probabilities"]
    assert section["measures"]["log loss"] == found["measures"]["measures"]["log loss"]
    assert section["constants"]["Brier score"] == found["measures"]["guesses"]["Brier score"]
    assert "better than the" in section["says"]
    assert "may have learned from these rows" in section["says"]


def test_bins_hold_equal_numbers_of_rows_and_equal_predictions_together():
    rng = np.random.default_rng(0)
    predicted = rng.random(1003)
    bins = Bins.of(predicted, rng.random(1003) < predicted)
    assert len(bins.rows) == 10
    assert bins.rows.max() - bins.rows.min() <= 1
    assert bins.rows @ bins.predicted == pytest.approx(predicted.sum())
    tied = np.repeat([0.0, 0.25, 1.0], [700, 100, 203])
    bins = Bins.of(tied, tied > 0.5)
    assert_allclose(bins.predicted, [0.0, 0.25, 1.0])
    assert bins.rows.tolist() == [700, 100, 203]
    assert_allclose(bins.observed, [0, 0, 1])
    assert Bins.of(np.full(30, 0.2), np.arange(30) < 3).rows.tolist() == [30]


def test_the_calibration_error_is_the_mean_distance_of_the_bins():
    report, stated, came_true = drawn(shape=np.sqrt)
    section = report.to_dict()["sections"]["probabilities"]
    parts = np.array_split(np.argsort(stated), 10)
    expected = sum(len(rows) * abs(stated[rows].mean() - came_true[rows].mean()) for rows in parts) / len(stated)
    assert section["calibration error"] == pytest.approx(expected)
    observed = [each["observed"]["value"] for each in section["bins"]]
    assert_allclose(observed, [came_true[rows].mean() for rows in parts])
    assert sum(section["counts"]) == len(stated)
    assert sum(each["rows"] for each in section["bins"]) == len(stated)


def test_probabilities_that_are_right_are_doubted_1_time_in_20():
    sections = [drawn(500, seed)[0].to_dict()["sections"]["probabilities"] for seed in range(100)]
    doubted = [section["calibration error"] > section["by chance"] for section in sections]
    assert 0 < sum(doubted) < 15
    for section, is_doubted in zip(sections, doubted, strict=True):
        assert ("calibrate it before you use it as a probability" in section["says"]) == is_doubted
        assert ("no reason to doubt it" in section["says"]) != is_doubted


@pytest.mark.parametrize(
    "shape, said",
    [
        (lambda p: p**0.5, "it is mostly too high"),
        (lambda p: p**2, "it is mostly too low"),
        (lambda p: 1 / 3 + (p - 1 / 3) / 4, "it is mostly too far from 0 and 1"),
        (lambda p: np.clip(1 / 3 + 2 * (p - 1 / 3), 0, 1), "it is mostly too near 0 and 1"),
    ],
)
def test_the_sentence_says_which_way_probabilities_are_wrong(shape, said):
    assert said in drawn(shape=shape)[0].to_dict()["sections"]["probabilities"]["says"]


def test_a_constant_is_never_called_better_than_itself_and_certainty_that_fails_is_worse():
    rate = np.mean(drawn()[2])
    says = drawn(shape=lambda p: np.full(len(p), rate))[0].to_dict()["sections"]["probabilities"]["says"]
    assert "not clearly better than the" in says
    assert "no reason to doubt it" in says
    says = drawn(shape=lambda p: np.round(p))[0].to_dict()["sections"]["probabilities"]["says"]
    assert "worse than the" in says


def test_of_several_classes_the_likeliest_is_compared_with_the_right_answers():
    X, y = examples.several()["sample"]
    model = LogisticRegression().fit(X, y)
    section = Report(model, sample=(X, y)).to_dict()["sections"]["probabilities"]
    assert section["class"] is None
    rows = np.array([each["rows"] for each in section["bins"]])
    assert rows @ [each["predicted"] for each in section["bins"]] == pytest.approx(model.predict_proba(X).max(1).sum())
    right = rows @ [each["observed"]["value"] for each in section["bins"]]
    assert right == pytest.approx(np.sum(model.predict(X) == y))


def test_held_out_rows_bring_their_probabilities(tmp_path):
    X, y = examples.several()["sample"]
    model = make_pipeline(StandardScaler(), AROWClassifier(random_state=0)).fit(X, y)
    folds = predict_in_folds(model, X, y)
    assert folds.probabilities.shape == (len(y), 4)
    assert_allclose(folds.probabilities.sum(axis=1), 1)
    found = Report(model, held_out=folds).to_dict()["sections"]
    assert found["measures"]["measures"]["log loss"]["value"] == pytest.approx(
        metrics.log_loss(folds.y, folds.probabilities)
    )
    assert "may have learned" not in found["probabilities"]["says"]
    lines = [f"{k} 1:{a:.4f} 2:{b:.4f}\n" for k, a, b in zip(np.arange(300) % 2, X[:, 0], X[:, 1], strict=True)]
    (tmp_path / "x.svm").write_text("".join(lines))
    stream = open_stream(tmp_path / "x.svm", batch_size=100)
    run = train(AROWClassifier(random_state=0), stream, classes=[0, 1], predict_first=True)
    assert run.held_out.probabilities.shape == (200, 2)
    held_out, (rows, _) = evaluate(run.model, open_stream(tmp_path / "x.svm"))
    assert_allclose(held_out.probabilities, run.model.predict_proba(rows))


def test_without_probabilities_of_held_out_rows_those_of_the_sample_are_measured_and_named_so():
    given = examples.several()
    given["held_out"].probabilities = None
    found = Report(**given).to_dict()["sections"]
    assert "log loss (sample)" in found["measures"]["measures"]
    assert "log loss (sample)" in found["measures"]["guesses"]
    assert "may have learned from these rows" in found["probabilities"]["says"]
    assert "probabilities" not in Report(given["model"], held_out=given["held_out"]).to_dict()["sections"]


def test_labels_without_a_probability_are_not_compared():
    given = examples.several()
    given["held_out"].y = np.where(np.arange(300) == 0, "what", given["held_out"].y)
    assert "probabilities" not in Report(**given).to_dict()["sections"]


def test_the_diagram_and_the_table_show_every_bin():
    report, _, _ = drawn(500)
    text, page = report.to_text(["probabilities"]), report.to_html()
    assert text.count("50\n") == 10
    assert "Predicted probabilities and observed shares" in page
    assert "10 bins of about 50 rows" in page
    assert "more frequent than predicted" in page
    assert "predicted probability of yes" in page
