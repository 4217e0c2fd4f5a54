"""``thresher explain``, and ``train --splines``, as a user's shell sees them."""

import json
from pathlib import Path

import numpy as np
import pytest

from thresher.cli import main
from thresher.persistence import load_model


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Who buys: people of middle age, nurses above all; what they pay; and the same in svmlight."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, hours = rng.integers(18, 80, 600), np.round(rng.normal(40, 10, 600), 1)
    job = rng.choice(["cook", "clerk", "nurse"], 600)
    score = 1 - ((age - 48) / 14) ** 2 + 0.05 * (hours - 40) + (job == "nurse")
    buys, pays = np.where(score > 0.2, "yes", "no"), np.round(score, 3)
    rows = list(zip(age, hours, job, strict=True))
    for name, target in (("people", buys), ("amounts", pays)):
        lines = ["age,hours,job,target", *(f"{a},{h},{j},{y}" for (a, h, j), y in zip(rows, target, strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    lines = [f"{1 if y == 'yes' else -1} 1:{a} 3:{h}" for (a, h, _), y in zip(rows, buys, strict=True)]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def trained(capsys, data="people.csv", *more):
    assert main(["train", data, "--model", "m.thresher", "--quiet", *more]) == 0
    capsys.readouterr()
    return load_model("m.thresher")


def output(capsys, *words):
    assert main(["explain", "m.thresher", *words]) == 0
    return capsys.readouterr().out


def test_splines_make_a_better_model_of_a_curve(capsys):
    linear = trained(capsys)
    model = trained(capsys, "people.csv", "--splines")
    assert [name for name, _ in model.steps] == ["splines", "scale", "encode", "learn"]
    errors = []
    for each in (linear, model):
        each = each[-1]
        errors.append(each.n_mistakes_ / each.n_samples_seen_)
    assert errors[1] < 0.8 * errors[0]


def test_sparse_rows_have_no_splines(capsys):
    assert main(["train", "rows.svm", "--splines"]) == 2
    assert "--splines needs a table, but these rows are sparse." in capsys.readouterr().err


def test_the_parts_add_up_and_the_change_changes_the_answer(capsys):
    model = trained(capsys, "people.csv", "--splines")
    found = json.loads(output(capsys, "people.csv", "--row", "7", "--row", "2", "--json"))["rows"]
    assert [each["row"] for each in found] == [7, 2]
    for each in found:
        line = Path("people.csv").read_text().splitlines()[each["row"]].split(",")
        values = {part["column"]: part["value"] for part in each["parts"]}
        assert values == {"age": float(line[0]), "hours": float(line[1]), "job": line[2]}
        assert each["target"] == line[3]
        assert each["baseline"] + sum(part["part"] for part in each["parts"]) == pytest.approx(each["score"], abs=1e-9)
        assert each["score"] >= 0
        assert 0.5 <= each["probability"] <= 1
        assert each["change"]["answer"] != each["answer"]
        assert each["change"]["columns"].keys() <= {"age", "hours", "job"}
    assert model.classes_.tolist() == ["no", "yes"]


def test_the_text_is_for_people_and_fits_80_columns(capsys):
    trained(capsys, "people.csv", "--splines")
    out = output(capsys, "people.csv", "--row", "2", "--n-parts", "2")
    assert out.startswith("Row 2: the model answers '")
    assert "+ speaks for the answer" in out
    assert "  1 other " in out
    assert "\nIf '" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert output(capsys, "people.csv").startswith("Row 1: ")  # the first, if none is named


def test_columns_that_nobody_can_change_stay(capsys):
    trained(capsys, "people.csv", "--splines")
    rows = [word for row in range(1, 9) for word in ("--row", str(row))]
    found = json.loads(output(capsys, "people.csv", *rows, "--keep", "age", "--json"))["rows"]
    assert all("age" not in each.get("change", {"columns": {}})["columns"] for each in found)


def test_values_and_sparse_rows_have_parts_and_no_change(capsys):
    trained(capsys, "amounts.csv", "--method", "ftrl-regressor", "--splines")
    out = output(capsys, "amounts.csv", "--row", "3")
    assert "+ raises the value" in out
    assert "If '" not in out
    trained(capsys, "rows.svm")
    found = json.loads(output(capsys, "rows.svm", "--row", "600", "--json"))["rows"][0]
    assert {part["column"] for part in found["parts"]} <= {"x1", "x3"}
    assert "change" not in found


def test_a_kernel_model_is_explained_by_columns(capsys):
    trained(capsys, "people.csv", "--method", "lssvc")
    found = json.loads(output(capsys, "people.csv", "--row", "2", "--json"))["rows"][0]
    age, hours, job, _ = Path("people.csv").read_text().splitlines()[2].split(",")
    values = {part["column"]: part["value"] for part in found["parts"]}
    assert values == {"age": float(age), "hours": float(hours), "job": job}
    assert found["baseline"] + sum(part["part"] for part in found["parts"]) == pytest.approx(found["score"], abs=1e-9)
    text = " ".join(output(capsys, "people.csv", "--row", "2").split())
    assert "this row's values replace those of 64 training rows" in text


def test_a_kernel_machine_of_wide_sparse_rows_names_rows_it_has_learned_from(capsys):
    rng = np.random.default_rng(0)
    places = [2 * np.sort(rng.choice(400, 5, replace=False)) + 1 + k % 2 for k in range(200)]
    lines = [f"{k % 2} " + " ".join(f"{j}:1" for j in each) for k, each in enumerate(places)]
    Path("wide.svm").write_text("\n".join(lines) + "\n")
    trained(capsys, "wide.svm", "--method", "lssvc")
    text = output(capsys, "wide.svm", "--row", "2")
    assert "training row " in text
    assert "For parts of columns, use thresher auto --kernel linear" in " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--row", "601"], "--row must be a row of the file, which has 600 rows, got 601."),
        (["--keep", "shoes"], "smallest_change: --keep must name columns of the row, got 'shoes'; the columns are "),
        (["--row", "two"], "Invalid value for '--row': 'two' is not a valid integer."),
    ],
)
def test_what_is_refused(capsys, words, says):
    trained(capsys)
    assert main(["explain", "m.thresher", "people.csv", *words]) == 2
    assert says in capsys.readouterr().err
