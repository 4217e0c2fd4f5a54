"""Model cards: what is known of a model, as Markdown."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from thresher.cli import main
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.report import Report


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ages = np.random.default_rng(0).normal(size=200)
    frame = pd.DataFrame({"age": ages, "job": list("xy" * 100), "buys": np.where(ages > 0.3, "yes", "no")})
    frame.to_csv("people.csv", index=False)
    given = ["--method", "arow", "--target", "buys", "--model", "m.thresher", "--report", "card.md", "--quiet"]
    assert main(["train", "people.csv", *given]) == 0


def test_a_card_tells_what_the_model_file_knows(trained, tmp_path, capsys):
    capsys.readouterr()
    assert main(["card", "m.thresher"]) == 0
    card = capsys.readouterr().out
    assert card.startswith("# AROWClassifier\n")
    assert "200 rows of 2 features" in card
    assert "column 'buys'" in card
    assert "    thresher train people.csv" in card
    mistakes = load_model("m.thresher").record_["history"]["mistakes"][-1]
    assert f"{mistakes / 2:.1f} %" in card
    assert main(["card", "m.thresher", "-o", "own.md", "--quiet"]) == 0
    assert (tmp_path / "own.md").read_text() == card
    capsys.readouterr()
    assert main(["card", "m.thresher", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "classification"
    assert (tmp_path / "card.md").read_text().startswith("# people.csv: AROWClassifier\n")
    assert main(["card", "m.thresher", "-o", "m.thresher"]) == 2
    assert load_model("m.thresher").predict(pd.DataFrame({"age": [2.0], "job": ["x"]})).tolist() == ["yes"]


@pytest.mark.parametrize(
    "record",
    [
        {"data": 3, "layout": [], "history": "x", "command": 7},
        {"data": {"n_rows": -1, "classes": {"a": "b"}}, "history": {"rows": [0], "mistakes": [1]}},
        {"history": {"rows": [3, 4], "mistakes": [1], "loss": [1.0], "n_used": [1]}},
        {"history": {"rows": [], "mistakes": [], "loss": [], "n_used": []}},
    ],
)
def test_a_record_of_another_form_is_passed_over(record, tmp_path, capsys):
    model = AROWClassifier(random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    model.record_ = record
    save_model(model, tmp_path / "m.thresher")
    assert main(["card", str(tmp_path / "m.thresher")]) == 0
    assert capsys.readouterr().out == Report(model).to_markdown()


def test_markdown_shows_names_as_they_are():
    X = np.random.default_rng(0).normal(size=(80, 2))
    frame = pd.DataFrame(X, columns=["[a](http://b) *c*", "<img>"])
    made = Report(AROWClassifier(random_state=0).fit(frame, X[:, 0] > 0)).to_markdown()
    prose = "\n".join(line for line in made.splitlines() if not line.startswith("    "))
    assert r"\[a](http://b) \*c\*" in prose
    assert r"\<img>" in prose
    assert "[a]" not in prose.replace(r"\[a]", "")
