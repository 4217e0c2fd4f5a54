"""From a file to outliers in predictions, and what a report says of them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher.cli import main
from thresher.datasets import make_novelty
from thresher.novelty import PegasosSNDClassifier, SNDClassifier
from thresher.persistence import load_model
from thresher.report import Report
from thresher.streams import open_stream
from thresher.training import is_known_label, predict_in_folds, predict_with_scores

NAMES = np.array(["left", "right", "-1"])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Moons with outliers in train.csv, 150 more of their kind in new.csv; in words and in numbers."""
    monkeypatch.chdir(tmp_path)
    X, y = make_novelty(450, kind="moons", random_state=0)
    for name, rows, labels in (
        ("train.csv", slice(0, 300), NAMES[y]),
        ("new.csv", slice(300, 450), NAMES[y]),
        ("numbers.csv", slice(0, 300), y),
        ("binary.csv", slice(0, 300), np.where(y == 0, -1, 1)),
    ):
        lines = [f"{a},{b},{label}" for (a, b), label in zip(X[rows], labels[rows], strict=True)]
        (tmp_path / name).write_text("\n".join(["a,b,kind", *lines]) + "\n", encoding="utf-8")
    return X[300:], NAMES[y][300:]


@pytest.mark.parametrize("method", ["snd", "lssnd", "pegasossnd"])
def test_train_predict_and_report(files, method, capsys):
    _, y = files
    line = f"train train.csv --method {method} --model m --report r.html --json".split()
    assert main(line) == 0
    facts = json.loads(capsys.readouterr().out)
    table = facts["sections"]["measures"]["classes"]
    assert {row["class"] for row in table} == {"left", "right", "-1"}
    assert main(["predict", "m", "new.csv", "--output", "p.csv"]) == 0
    with open("p.csv", encoding="utf-8") as file:
        predicted = np.array([row["prediction"] for row in csv.DictReader(file)])
    model = load_model("m")
    rows = np.vstack([np.asarray(batch.X) for batch in open_stream("new.csv")])
    assert_array_equal(predicted, model.predict(rows))
    error = float(capsys.readouterr().err.split("; ")[1].split("%")[0])
    assert error == pytest.approx(100 * np.mean(predicted != y), abs=0.01)  # outliers are answers, too
    assert "-1" in predicted


def test_a_class_that_looks_like_the_label_of_outliers_is_refused_with_a_way_out(files, capsys):
    assert main(["train", "binary.csv", "--method", "snd"]) == 2
    said_so = capsys.readouterr().err
    assert "got the one class 1.0 besides -1; if that label is a class, give another --outlier-label" in said_so
    assert main(["train", "binary.csv", "--method", "snd", "--outlier-label", "9"]) == 0


def test_reports_know_outliers_that_only_predictions_have():
    X, y = make_novelty(300, kind="moons", random_state=0)
    known = y[:200] != -1
    model = SNDClassifier(0.2, gamma=15.0).fit(X[:200][known], y[:200][known])
    report = Report(model, sample=(X[200:][y[200:] != -1], y[200:][y[200:] != -1]))
    text = report.to_text()
    assert "-1" in text
    facts = json.dumps(report.to_dict(), default=str)
    assert '"support vectors"' in facts
    assert '"features in use"' not in facts


def test_what_a_run_asks_of_a_model_that_rejects():
    X, y = make_novelty(200, kind="moons", random_state=0)
    for model in (SNDClassifier(gamma=15.0), PegasosSNDClassifier(random_state=0)):
        model.fit(X, y)
        predicted, scores = predict_with_scores(model, X)
        assert_array_equal(predicted, model.predict(X))
        assert_array_equal(scores, model.decision_function(X))
        assert_array_equal(is_known_label(model, np.array([0, 1, -1, 2])), [True, True, True, False])
        held_out = predict_in_folds(model, X, y)
        assert held_out.scores is not None
        assert set(held_out.predicted) <= {0, 1, -1}
