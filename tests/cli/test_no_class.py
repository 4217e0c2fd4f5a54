"""``--outlier-label`` and ``--unlabelled-label``, and kernel machines, as a user's shell sees them."""

import json

import numpy as np
import pytest

from thresher import registry
from thresher._auto import has_kernel
from thresher.cli import main
from thresher.datasets import make_novelty, make_tri_class
from thresher.persistence import load_model


def write(path, X, y):
    lines = [",".join([*(f"{v:.4f}" for v in row), str(label)]) for row, label in zip(X, y, strict=True)]
    names = [f"c{j}" for j in range(X.shape[1])]
    path.write_text("\n".join([",".join([*names, "kind"]), *lines]) + "\n")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Two moons with rows of neither, called "none", or known.csv without; few labels, the rest "?"; two classes."""
    monkeypatch.chdir(tmp_path)
    X, y = make_novelty(120, kind="moons", random_state=0)
    labels = np.array(["one", "two", "none"])[y]
    write(tmp_path / "moons.csv", X, labels)
    write(tmp_path / "numbers.csv", X, y)
    write(tmp_path / "known.csv", X[y != -1], labels[y != -1])
    X, y = make_tri_class(24, 30, 4, relevant=0.5, random_state=0)
    write(tmp_path / "few.csv", X, np.array(["no", "yes", "?"])[y])
    X = np.random.default_rng(0).normal(size=(60, 2))
    write(tmp_path / "two.csv", X, np.where(X[:, 0] > X[:, 1] ** 2, "up", "down"))
    write(tmp_path / "amounts.csv", X, np.round(X[:, 0] ** 2 + 0.5, 3))
    return tmp_path


def run(*words):
    return main(list(words))


def refused(capsys, *words):
    capsys.readouterr()
    assert run(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.splitlines()[-1]


def data_for(method):
    if "outliers" in method.needs:
        return ["moons.csv", "--outlier-label", "none"]
    if "unlabelled" in method.needs:
        return ["few.csv", "--unlabelled-label", "?"]
    return ["two.csv" if method.task == "classification" else "amounts.csv"]


NEW = [m for m in registry.methods() if (has_kernel(m) and m.task != "clustering") or "outliers" in m.needs]


@pytest.mark.parametrize("verb", ["train", "tune", "auto"])
@pytest.mark.parametrize("method", NEW, ids=lambda m: m.name)
def test_every_kernel_machine_goes_from_a_file_to_predictions_and_a_report(files, method, verb, capsys):
    little = [] if verb == "train" else ["--n-evaluations", "2", "--cv", "2"]
    places = ["--model", "m.thresher", "--report", "r.txt", "--json", "--quiet"]
    file, *labels = data_for(method)
    assert run(verb, file, *labels, "--method", method.name, *little, *places) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == method.task
    assert "measures" in found["sections"]
    assert run("predict", "m.thresher", file, "--output", "p.csv", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    predicted = (files / "p.csv").read_text().splitlines()[1:]
    assert len(predicted) == summary["n_rows"]
    model = load_model("m.thresher")
    if method.task == "classification":
        assert set(predicted) <= {*map(str, model.classes_), "none"}
        assert "?" not in model.classes_
        assert "none" not in model.classes_
    if method.needs == ("outliers",):
        assert summary["n_of_no_class"] == predicted.count("none") > 0
        assert summary["n_known"] == 120  # whether a row is of no class is an answer, too
        assert "no_class" in found["sections"]
    if method.needs == ("unlabelled",):
        assert summary["n_known"] == 24
        assert sum(c["rows"] for c in found["sections"]["measures"]["classes"]) == 24


def test_auto_finds_outliers_and_says_how(files, capsys):
    line = ["auto", "moons.csv", "--outlier-label", "none", "--n-evaluations", "12", "--cv", "2"]
    assert run(*line, "--model", "m.thresher") == 0
    captured = capsys.readouterr()
    assert "rows are 'none', of no class" in captured.err
    assert "Rows of no class found" in captured.out
    record = load_model("m.thresher").record_
    assert "outlier_label='none'" in record["python"]
    code = {}
    exec(record["python"], code)  # what it says is what it did
    assert code["model"].record_["auto"]["score"] == record["auto"]["score"]


def test_outliers_may_be_met_later(files, capsys):
    assert (
        run(
            "auto",
            "known.csv",
            "--outlier-label",
            "none",
            "--n-evaluations",
            "12",
            "--cv",
            "2",
            "--model",
            "m.thresher",
        )
        == 0
    )
    assert "stand in for outliers" in capsys.readouterr().err
    assert run("predict", "m.thresher", "moons.csv", "--output", "p.csv") == 0
    assert (files / "p.csv").read_text().count("none") > 10
    assert "of them as belonging to no class" in capsys.readouterr().err


def test_tuning_meets_outliers_for_the_first_time_when_it_scores(files, capsys):
    line = [
        "tune",
        "moons.csv",
        "--method",
        "lssnd",
        "--outlier-label",
        "none",
        "--n-evaluations",
        "3",
        "--random-state",
        "1",
    ]
    assert run(*line, "--cv", "3", "--model", "m.thresher") == 0
    assert "cross-validated balanced_error" in capsys.readouterr().err
    python = load_model("m.thresher").record_["python"]
    assert "NoveltyKFold(n_splits=3, outlier_label='none', random_state=1" in python
    code = {}
    exec(python, code)
    assert code["search"].best_score_ == load_model("m.thresher").record_["tuning"]["score"]
    assert run("tune", "known.csv", "--method", "lssnd", "--n-evaluations", "2") == 0
    assert "No row is -1, so the data do not show how tight the boundaries should be" in capsys.readouterr().err
    assert run("tune", "few.csv", "--method", "s3vc", "--unlabelled-label", "?", "--n-evaluations", "2",
               "--model", "m.thresher") == 0  # fmt: skip
    assert "LabelledKFold(n_splits=5, random_state=0, shuffle=True" in load_model("m.thresher").record_["python"]


def test_labels_are_words_or_numbers_as_in_the_file(files, capsys):
    assert run("train", "moons.csv", "--method", "snd", "--outlier-label", "none", "--model", "m.thresher") == 0
    assert load_model("m.thresher")[-1].outlier_label == "none"
    assert run("train", "numbers.csv", "--method", "snd", "--model", "m.thresher") == 0
    assert list(load_model("m.thresher").classes_) == [0, 1]
    assert run("auto", "numbers.csv", "--outlier-label", "-1", "--n-evaluations", "2", "--model", "m.thresher") == 0
    assert load_model("m.thresher")[-1].outlier_label == -1
    capsys.readouterr()
    assert "no row has" in refused(capsys, "auto", "few.csv", "--unlabelled-label", "-1")
    wrong = refused(capsys, "auto", "few.csv", "--method", "arow", "--unlabelled-label", "?")
    assert "method must be one of '" in wrong
    assert "'triclass', 'universum' with --unlabelled-label, got" in wrong


def test_methods_say_which_labels_they_are_about(capsys):
    assert run("methods") == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("  snd ")).endswith("[--outlier-label]")
    assert next(line for line in lines if line.startswith("  triclass ")).endswith("[--unlabelled-label]")
