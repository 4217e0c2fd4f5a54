"""The command line on files with gaps in their target, and advice that can be followed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from thresher.cli import main
from thresher.cli._option_words import in_options
from thresher.persistence import load_model
from thresher.report import Report
from thresher.training import HeldOut

N_ROWS = 240


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
    y[::4] = ""
    table("gaps.csv", ["No client", "a", "b", "c", "left"], range(N_ROWS), *X.T, y)
    table("amounts.csv", ["a", "b", "pay"], *X.T[:2], np.where(y == "", "", (10 * X[:, 2] + 3).astype(str)))
    table("noise.csv", ["a", "b", "c", "pay"], *X.T, rng.normal(size=N_ROWS))
    table("blank.csv", ["a", "b", "left"], *X.T[:2], [""] * N_ROWS)
    table("names.csv", ["a", "name", "left"], X[:, 0], [f"n{i}" for i in range(N_ROWS)], y)
    return tmp_path


def table(name, header, *columns):
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    with open(name, "w") as file:
        file.write("\n".join([",".join(header), *lines]) + "\n")


def run(line: str) -> int:
    return main(line.split())


def said(capsys) -> str:
    return capsys.readouterr().err


LEFT_OUT = "60 of 240 rows have no target and were left out."


@pytest.mark.parametrize(
    "line",
    [
        "train gaps.csv --report r.json",
        "train gaps.csv --method lssvc --report r.json",
        "tune gaps.csv --method arow --n-evaluations 2 --cv 2 --report r.json",
        "auto gaps.csv --n-evaluations 2 --cv 2 --method arow --report r.json",
        "train amounts.csv --method l1rda-regressor --report r.json",
        "train gaps.csv --engine serial --report r.json",
    ],
)
def test_rows_without_a_target_are_left_out_and_counted_once(files, capsys, line):
    assert run(line) == 0
    assert said(capsys).count(LEFT_OUT) == 1
    with open("r.json") as file:
        data = json.load(file)["sections"]["data"]
    assert data["figures"]["rows"] == N_ROWS
    assert data["figures"]["rows without a target"] == 60
    assert LEFT_OUT in data["says"]
    assert sum(data["classes"].values()) in (0, 180)


@pytest.mark.parametrize(
    "line", ["train gaps.csv --method lssvc", "tune gaps.csv --method arow --n-evaluations 2 --cv 2", "train gaps.csv"]
)
def test_the_python_of_a_report_does_the_same(files, capsys, line):
    assert run(f"{line} --model m.thresher") == 0
    namespace: dict[str, Any] = {}
    exec(load_model("m.thresher").record_["python"], namespace)
    made = namespace["search"].best_estimator_ if "search" in namespace else namespace["model"]
    assert made.classes_.tolist() == ["no", "yes"]


def test_compare_leaves_them_out(files, capsys):
    assert run("compare gaps.csv --methods arow --repeats 1") == 0
    out, err = capsys.readouterr()
    assert LEFT_OUT in err
    assert "135 rows to learn from and 45 to test on" in out


def test_every_row_is_predicted_and_those_with_a_target_are_compared(files, capsys):
    assert run("train gaps.csv --model m.thresher") == 0
    capsys.readouterr()
    assert run("predict m.thresher gaps.csv --output p.csv --json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_rows"], summary["n_known"]) == (N_ROWS, 180)
    assert summary["error"] < 0.1
    with open("p.csv") as file:
        assert len(file.readlines()) == N_ROWS + 1
    assert run("train amounts.csv --method pegasos-regressor --model r.thresher") == 0
    capsys.readouterr()
    assert run("predict r.thresher amounts.csv --output p.csv --json") == 0
    assert json.loads(capsys.readouterr().out)["n_known"] == 180


def test_methods_for_unlabelled_rows_learn_from_them(files, capsys):
    assert run("train gaps.csv --method triclass --report r.json") == 0
    assert LEFT_OUT not in said(capsys)
    with open("r.json") as file:
        assert json.load(file)["sections"]["data"]["figures"]["rows unlabelled"] == 60
    assert run("auto gaps.csv --unlabelled-label= --n-evaluations 1 --cv 2 --model m.thresher") == 0
    assert "60 of 240 rows have no target and are used as unlabelled rows." in said(capsys)
    assert load_model("m.thresher")[-1].unlabelled_label == ""


@pytest.mark.parametrize("command", ["train", "auto", "tune --method arow", "compare --methods arow"])
def test_what_is_no_target_is_refused_with_advice_in_options(files, capsys, command):
    assert run(f"{command} blank.csv") == 2
    assert said(capsys) == (
        "thresher: blank.csv: the target 'left' is missing in every row; choose another column with --target.\n"
    )
    assert run(f"{command} names.csv --target name") == 2
    sentence = said(capsys)
    assert "--target" in sentence
    assert "target=" not in sentence


# --- advice -----------------------------------------------------------------------------------------------------------

OPTIONS = {
    name: "--" + name.replace("_", "-") for name in ("drop", "text_columns", "target", "sparsity", "header", "cv")
}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("leave it out (drop=['No client', 'id']).", "leave it out (--drop 'No client' --drop id)."),
        ("a.csv: target='x y', but no", "a.csv: --target 'x y', but no"),
        ("sparsity=0 turns this off.", "--sparsity 0 turns this off."),
        ("name another column with target=.", "name another column with --target."),
        ("name it in text_columns or drop.", "name it in --text-columns or --drop."),
        ("a.csv: drop must not hold the target 'left'.", "a.csv: --drop must not hold the target 'left'."),
        ("auto: cv must be at least 2.", "auto: --cv must be at least 2."),
        ("header=False is needed", "--no-header is needed"),
        ("the column 'text_columns' is missing", "the column 'text_columns' is missing"),
        ("no row has a target; --drop x", "no row has a target; --drop x"),
        ("made with model Learner(cv=3, drop=None), now", "made with model Learner(cv=3, drop=None), now"),
        ("open_stream: random_state must be", "open_stream: random_state must be"),
    ],
)
def test_parameters_become_options(sentence, expected):
    assert in_options(sentence, OPTIONS) == expected
    assert in_options(sentence, {}) == sentence


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("train gaps.csv --target lef", "--target lef, but no column has this name; similar names: left"),
        ("train gaps.csv --drop left", "--drop must not hold the target 'left'"),
        ("auto gaps.csv --cv 500", "--cv must be at least 2"),
        (
            "auto gaps.csv --cost {no:10}",
            """--cost must be a number, or costs by class such as '{"yes": 10}', got {no:10}.""",
        ),
        ("look", "DATA is missing; name a file, - for standard input, or give a query with --sql."),
        (
            "auto names.csv --keep-identifiers --task-column name --groups prefix:_",
            "--groups and --task-column cannot both be given",
        ),
    ],
)
def test_refusals_of_the_library_name_options(files, capsys, line, words):
    assert run(line) == 2
    assert words in said(capsys)


def test_columns_that_name_rows_are_left_out_by_an_option_that_can_be_pasted(files, capsys):
    assert (
        run("auto gaps.csv --keep-identifiers --method arow --n-evaluations 1 --cv 2 --report r.txt --model m.thresher")
        == 0
    )
    advice = "'No client' only identifies rows: leave it out (--drop 'No client')."
    assert advice in said(capsys)
    with open("r.txt") as file:
        assert advice in " ".join(file.read().split())
    assert "(drop=['No client'])" in " ".join(load_model("m.thresher").record_["auto"]["reasons"])
    assert (
        main(["auto", "gaps.csv", "--drop", "No client", "--method", "arow", "--n-evaluations", "1", "--cv", "2"]) == 0
    )
    assert "only identifies" not in said(capsys)
    assert run("auto gaps.csv --method arow --n-evaluations 1 --cv 2") == 0
    assert "Left out: No client (it counts the rows)" in said(capsys)


def test_a_number_that_is_a_word_is_advised_on_where_a_choice_is_left(files, capsys):
    table("late.csv", ["a", "y"], [*range(1200), "x"], [*([0, 1] * 600), 1])
    assert run("train late.csv") == 2
    sentence = said(capsys)
    assert "if this word stands for a missing value, name it in --missing; " in sentence
    assert "if this column holds text, name it in --text." in sentence
    table("good.csv", ["a", "y"], range(1200), [0, 1] * 600)
    assert run("train good.csv --model m.thresher") == 0
    capsys.readouterr()
    assert run("predict m.thresher late.csv --output p.csv") == 2
    assert "text" not in said(capsys)


def test_rows_that_are_scaled_are_not_to_be_scaled(files, capsys):
    assert run("train noise.csv --method l1rda-regressor --eta0 10000") in (0, 2)
    sentence = said(capsys)
    assert "steps" in sentence
    assert "scale" not in sentence
    assert run("train noise.csv --method l1rda-regressor --eta0 10000 --no-scale") in (0, 2)
    assert "scale" not in said(capsys)  # they are of size 1 without a scaler, too
    table("large.csv", ["a", "y"], 1e4 * np.linspace(-1, 1, 100), np.linspace(-1, 1, 100))
    assert run("train large.csv --method l1rda-regressor --eta0 100 --no-scale") in (0, 2)
    assert "scale" in said(capsys)


def test_a_model_that_is_worse_than_a_guess_says_so_on_the_screen_and_at_the_top_of_its_report(files, capsys):
    rng = np.random.default_rng(1)
    table("wide.csv", [*(f"x{j}" for j in range(30)), "y"], *rng.normal(size=(30, 40)), rng.normal(size=40))
    assert run("train wide.csv --method l1rda-regressor --alpha 1e-6 --report r.txt") == 0
    assert said(capsys).count("The model does worse than the mean on held-out rows") == 1
    with open("r.txt") as file:
        assert "The model does worse than the mean of the targets." in " ".join(file.read().split())[:200]
    assert run("auto wide.csv --method l1rda-regressor --alpha 1e-6 --n-evaluations 1") == 0
    assert said(capsys).count("does worse than") == 1


def test_reports_of_classifiers_that_are_worse_than_a_guess_begin_with_it():
    from thresher.online import AROWClassifier

    X, y = np.array([[-1.0], [1.0]] * 20), np.array([0, 1] * 20)
    model = AROWClassifier().fit(X, y)
    for predicted, worse in ((y, False), (1 - y, True)):
        says = Report(model, held_out=HeldOut("rows", y, predicted, None, 40)).to_dict()["summary"]["says"]
        assert says.startswith("The model does worse than always predicting the most frequent class.") == worse
