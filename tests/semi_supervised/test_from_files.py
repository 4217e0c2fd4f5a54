"""Partly labelled files from the command line: learned from, measured on labelled rows only, predicted."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher.cli import main
from thresher.datasets import make_tri_class
from thresher.persistence import load_model
from thresher.semi_supervised import UniversumSVC
from thresher.streams import open_stream
from thresher.training import evaluate, predict_in_folds, read_all
from thresher.tuning import CoupledAnnealingSearchCV, LabelledKFold

WORDS = {"numbers": (0, 1, -1), "words": ("ham", "spam", "?"), "mixed": ("ham", "spam", -1)}
N_LABELLED, N_UNLABELLED = 40, 60


@pytest.fixture(params=list(WORDS))
def file(request, tmp_path, monkeypatch):
    """A table whose unlabelled rows carry -1 or a question mark."""
    monkeypatch.chdir(tmp_path)
    X, y = make_tri_class(N_LABELLED, N_UNLABELLED, 4, random_state=0)
    with open("rows.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["a", "b", "c", "d", "label"])
        writer.writerows(
            [*np.round(row, 4).tolist(), WORDS[request.param][code]] for row, code in zip(X, y, strict=True)
        )
    return {"words": WORDS[request.param], "y": y, "options": ["--unlabelled-label", str(WORDS[request.param][2])]}


def output(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("method", ["triclass", "universum", "s3vc", "semiksc", "bisemiksc"])
def test_train_predict_and_report(file, method, capsys, tmp_path):
    places = ["--model", "m.thresher", "--report", "r.html"]
    assert main(["train", "rows.csv", "--method", method, *file["options"], *places, "--json"]) == 0
    found = output(capsys)["sections"]
    assert found["data"]["figures"]["rows"] == N_LABELLED + N_UNLABELLED
    assert found["data"]["classes"] == {str(word): N_LABELLED // 2 for word in file["words"][:2]}
    assert found["measures"]["rows"]["measured"] == N_LABELLED
    assert "r.html" in {path.name for path in tmp_path.iterdir()}
    model = load_model("m.thresher")
    assert main(["predict", "m.thresher", "rows.csv", "-o", "p.csv", "--json"]) == 0
    summary = output(capsys)
    X, y = read_all(open_stream("rows.csv"))
    said = model.predict(X)
    with open("p.csv", newline="") as written:
        assert [row["prediction"] for row in csv.DictReader(written)] == [_word(label) for label in said]
    assert set(said) <= set(model.classes_)
    assert (summary["n_rows"], summary["n_known"]) == (N_LABELLED + N_UNLABELLED, N_LABELLED)
    assert summary["error"] == np.mean(said[file["y"] >= 0] != y[file["y"] >= 0])


def _word(label):
    return label if isinstance(label, str) else str(int(label))


def test_a_test_file_is_measured_on_its_labelled_rows(file, capsys):
    assert (
        main(["train", "rows.csv", "--method", "universum", *file["options"], "--model", "m", "--test", "rows.csv"])
        == 0
    )
    held_out, (X, y) = evaluate(load_model("m"), open_stream("rows.csv", batch_size=7))
    assert held_out.n_rows == len(y) == X.shape[0] == N_LABELLED
    assert file["words"][2] not in y.tolist()


def test_tuning_scores_labelled_rows(file, capsys):
    line = ["tune", "rows.csv", "--method", "universum", "--n-evaluations", "3", "--cv", "4", "--json"]
    assert main([*line, *file["options"]]) == 0
    found = output(capsys)["sections"]
    assert found["measures"]["rows"]["measured"] == N_LABELLED
    scores = [entry["score"] for entry in found["tuning"]["evaluations"]]
    assert all(abs(N_LABELLED * score - round(N_LABELLED * score)) < 1e-9 for score in scores)


def test_searches_and_folds_know_unlabelled_rows():
    X, y = make_tri_class(N_LABELLED, N_UNLABELLED, 4, random_state=1)
    search = CoupledAnnealingSearchCV(UniversumSVC(), n_evaluations=2, cv=4).fit(X, y)
    given = CoupledAnnealingSearchCV(UniversumSVC(), n_evaluations=2, cv=LabelledKFold(4)).fit(X, y)
    assert search.best_score_ == given.best_score_
    held_out = predict_in_folds(UniversumSVC(), X, y)
    assert held_out.n_rows == N_LABELLED
    assert held_out.scores is not None
    assert held_out.name.startswith("cross-validation: each row with a label")
    answers = np.empty(len(y))
    for train, test in LabelledKFold(5, shuffle=True, random_state=0).split(X, y):
        answers[test] = UniversumSVC().fit(X[train], y[train]).decision_function(X[test])
    assert_array_equal(np.sort(held_out.scores), np.sort(answers[y >= 0]))


def test_rows_of_no_class_have_an_answer(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, _, truth = make_tri_class(30, 90, 4, relevant=0.5, return_truth=True, random_state=0)
    words = np.array(["ham", "spam", "none", "?"])[np.where(np.arange(120) % 3 == 0, 3, truth)]
    lines = [",".join([*map(str, row.round(4).tolist()), word]) for row, word in zip(X, words, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    labels = ["--unlabelled-label", "?", "--irrelevant-label", "none", "--epsilon", "0.5"]
    assert (
        main(["train", "rows.csv", "--method", "triclass", *labels, "--model", "m", "--report", "r.html", "--json"])
        == 0
    )
    found = output(capsys)["sections"]
    assert {each["class"] for each in found["measures"]["classes"]} == {"ham", "spam", "none"}
    assert found["data"]["classes"] == {word: int((words == word).sum()) for word in ("ham", "spam")}
    assert found["data"]["figures"]["rows of no class"] == (words == "none").sum()
    assert main(["predict", "m", "rows.csv", "-o", "p.csv", "--json"]) == 0
    summary = output(capsys)
    said = np.array((tmp_path / "p.csv").read_text().split()[1:])
    assert set(said) == {"ham", "spam", "none"}
    assert summary["n_known"] == (words != "?").sum()
    assert summary["error"] == np.mean(said[words != "?"] != words[words != "?"])
