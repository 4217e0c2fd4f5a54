"""Dialogues: the four questions and those on request, wrong answers, the way back, files of answers, a real terminal, a
notebook, and what is said at the end."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher import registry, wizard
from thresher._auto import run_auto
from thresher._engine import LOSSES
from thresher.persistence import load_model
from thresher.streams import open_stream
from thresher.wizard import _dialogue
from thresher.wizard._call import AutoCall, call_of
from thresher.wizard._data_file import DataFile
from thresher.wizard._dialogue import (
    AnswerSource,
    Dialogue,
    DialogueAnswers,
    InvalidAnswer,
    Option,
    WizardQuestion,
    fill_page,
)
from thresher.wizard._more_questions import MORE_QUESTIONS
from thresher.wizard._questions import QUESTIONS

ALL = (*QUESTIONS, *MORE_QUESTIONS)

ENTER = ""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(folder):
    """A table whose third column, of words, follows from the first."""
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{'high' if a + 0.4 * b > 0 else 'low'}" for a, b in rng.normal(size=(60, 2))]
    path = folder / "data.csv"
    path.write_text("\n".join(["size,noise,kind", *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def amounts(folder):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{3 * a + b:.4f}" for a, b in rng.normal(size=(60, 2))]
    path = folder / "amounts.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


class Talk:
    """A scripted person, and everything that was said."""

    def __init__(self, *answers: str) -> None:
        self._left = list(answers)
        self.said: list[str] = []
        self.asked: list[str] = []

    def ask(self, question: WizardQuestion, prompt: str) -> str:
        self.asked.append(question.id)
        self.said.append(prompt)
        if not self._left:
            raise EOFError
        return self._left.pop(0)

    def say(self, line: str) -> None:
        self.said.append(line)

    @property
    def text(self) -> str:
        return "\n".join(self.said)

    def answers(self, path: str | None) -> DialogueAnswers:
        given = {} if path is None else {"file": path}
        return Dialogue(ALL, AnswerSource(self.ask), self.say, DialogueAnswers(DataFile), given).run()

    def model(self, path: str | None, **options: Any) -> Any:
        return wizard.wizard(path, ask=self.ask, say=self.say, **options)


def said_command(text: str) -> str:
    lines = text.split("The same on the command line\n")[1].split("\n\n")[0]
    return shlex.join(shlex.split(lines.replace("\\\n", " ")))


def said_python(text: str) -> str:
    code = text.split("The same in Python\n")[1].split("Predictions for new rows")[0]
    return "\n".join(line[3:] for line in code.splitlines() if line.startswith("   "))


# --- the questions ----------------------------------------------------------------------------------------------------


def test_four_questions_and_no_more(table):
    talk = Talk(*[ENTER] * 4)
    answers = talk.answers(table)
    assert talk.asked == ["drop", "target", "cost", "max_seconds"]
    assert [line[:2] for line in talk.text.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3.", "4."]
    assert call_of(answers).arguments == {"target": "kind"}
    assert max(map(len, talk.text.splitlines())) <= 80


def test_the_first_question_shows_the_table_of_a_look(table, capsys):
    from thresher.cli import main

    talk = Talk(*[ENTER] * 4)
    talk.answers(table)
    assert main(["look", table]) == 0
    for line in capsys.readouterr().out.split("\n\n")[1].splitlines()[2:]:  # below names and a rule
        name, kind = line.split()[:2]
        assert any(shown.split()[:2] == [name, kind] for shown in talk.text.splitlines())


def test_amounts_have_no_cost_of_mistakes(amounts):
    talk = Talk(*[ENTER] * 3)
    talk.answers(amounts)
    assert talk.asked == ["drop", "target", "max_seconds"]


def test_without_a_target_groups_are_found(table):
    talk = Talk("kind", "none", "3", ENTER)
    call = call_of(talk.answers(table))
    assert talk.asked == ["drop", "target", "n_clusters", "max_seconds"]
    assert call.arguments == {"target": None, "drop": ["kind"], "task": "clustering", "n_clusters": 3}


def test_more_asks_for_everything_else(table):
    talk = Talk("more", *[ENTER] * 30)
    answers = talk.answers(table)
    assert talk.asked[:5] == ["drop", "drop", "target", "cost", "max_seconds"]
    assert talk.asked[5:] == [
        "outlier_label", "loss", "criterion", "kernel", "method", "search", "n_evaluations", "model", "report",
    ]  # fmt: skip
    assert call_of(answers).arguments == {"target": "kind"}
    assert max(map(len, talk.text.splitlines())) <= 80


def test_regression_on_request(amounts):
    talk = Talk(ENTER, ENTER, "more", *[ENTER] * 20)
    talk.answers(amounts)
    assert "pegasos-regressor" in talk.text
    for loss in LOSSES.values():
        assert (f"{loss.name} " in talk.text) == loss.for_values


def test_clusters_on_request(table):
    talk = Talk("more", ENTER, "none", "3", ENTER, ENTER, "cosine", "7", *[ENTER] * 9)
    answers = talk.answers(table)
    assert talk.asked[5:9] == ["shape", "metric", "max_iter", "kernel"]
    arguments = call_of(answers).arguments
    assert arguments["params"] == {"metric": "cosine", "max_iter": 7}
    assert arguments["method"] == "sparsekmeans"


def test_one_column_can_be_clustered(folder):
    path = folder / "one.csv"
    path.write_text("a\n" + "1\n9\n" * 20)
    answers = Talk(ENTER, ENTER, "2", ENTER).answers(str(path))
    assert call_of(answers).arguments == {"target": None, "task": "clustering", "n_clusters": 2}


def test_sparse_rows_have_their_target_in_its_place(folder):
    path = folder / "data.svm"
    path.write_text("1 1:1\n-1 2:1\n" * 20)
    talk = Talk(*[ENTER] * 3)
    answers = talk.answers(str(path))
    assert talk.asked == ["target", "cost", "max_seconds"]
    assert call_of(answers).arguments == {}
    assert call_of(Talk("none", "2", ENTER).answers(str(path))).arguments == {"task": "clustering", "n_clusters": 2}


def test_documents_have_their_folder_as_target(folder):
    for name in ("spam", "ham"):
        (folder / "texts" / name).mkdir(parents=True)
        for i in range(20):
            (folder / "texts" / name / f"{i}.txt").write_text(f"{name} word {i}")
    talk = Talk(*[ENTER] * 3)
    answers = talk.answers("texts")
    assert talk.asked == ["target", "cost", "max_seconds"]
    assert call_of(answers).arguments == {}


def test_the_file_is_asked_for_if_none_is_given(table):
    talk = Talk("nothing.csv", ENTER, table, *[ENTER] * 4)
    assert talk.answers(None)["file"] == table
    assert "This file cannot be read: nothing.csv: no such file." in talk.text
    assert "Please name a file." in talk.text


@pytest.mark.parametrize(
    ("answer", "expected"), [("2", "noise"), ("noise", "noise"), ("NOISE", "noise"), ("noi", "noise"), (ENTER, "kind")]
)
def test_answers_by_number_name_or_the_begin_of_it(table, answer, expected):
    assert Talk(ENTER, answer, *[ENTER] * 2).answers(table)["target"] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("none", []), ("no", []), ("size", ["size"]), ("1, noise", ["size", "noise"]), ("NOISE,noise", ["noise"]),
    ],
)  # fmt: skip
def test_columns_to_leave_out_are_named_in_full(table, answer, expected):
    answers = Talk(answer, *[ENTER] * 3).answers(table)
    assert answers["drop"] == expected
    assert call_of(answers).arguments.get("drop", []) == expected


def test_names_may_hold_commas(folder):
    path = folder / "t.csv"
    path.write_text('"a, b",b,"c,d",y\n' + "".join(f"{i},{i * i % 7},{i % 3},{i * i % 5}.5\n" for i in range(50)))
    answers = Talk("c,d, a, b,b", "none", *[ENTER] * 2).answers(str(path))
    assert answers["drop"] == ["c,d", "a, b", "b"]
    drop = QUESTIONS[1]
    assert drop.read(drop.write(answers["drop"], answers), answers) == answers["drop"]


def test_wide_tables_are_cut(folder):
    path = folder / "wide.csv"
    rows = ("\n".join(",".join(str((i * 7 + j * i) % 11) for j in range(99)) for i in range(40))) + "\n"
    path.write_text(",".join(f"c{j}" for j in range(99)) + "\n" + rows)
    talk = Talk("none", "c7", *[ENTER] * 2)
    assert talk.answers(str(path))["target"] == "c7"
    assert "c80" not in talk.text


@pytest.mark.parametrize(
    ("place", "wrong", "sentence"),
    [
        (0, "colour", "There is no column 'colour'; please answer with names between commas, or none."),
        (0, "size, noise, kind", "No column would be left; please leave out fewer of them."),
        (1, "9", "Please answer with the name of a column or with its number from 1 to 3."),
        (2, "cheap", "Please answer with a number, or costs by class, such as"),
        (2, "-1", "a cost is above 0."),
        (2, "mid=3", "There is no class 'mid'; the classes are high, low."),
        (3, "soon", "Please answer with a time such as 30 s, 5 min or 1 h."),
        (3, "0 s", "Please answer with a time such as 30 s, 5 min or 1 h."),
    ],
)
def test_wrong_answers_are_asked_again(table, place, wrong, sentence):
    answers = [ENTER] * 4
    talk = Talk(*answers[:place], wrong, *answers[place:])
    talk.answers(table)
    assert sentence in " ".join(talk.text.split())
    assert talk.asked[place] == talk.asked[place + 1]


@pytest.mark.parametrize(
    ("typed", "seconds"), [("30", 30), ("30 s", 30), ("1.5 min", 90), ("2 minutes", 120), ("1 h", 3600), (ENTER, None)]
)
def test_times_are_read_as_people_write_them(table, typed, seconds):
    assert Talk(*[ENTER] * 3, typed).answers(table)["max_seconds"] == seconds


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (ENTER, {}),
        ("same", {"criterion": "error"}),
        ("classes", {"criterion": "balanced_error"}),
        ("10", {"cost": {"rare": 10}}),
        ("0.5", {"cost": {"rare": 0.5}}),
        ("rare=3, common=2", {"cost": {"rare": 3, "common": 2}}),
    ],
)
def test_costs_are_of_the_rarer_class_or_by_class(folder, typed, expected):
    path = folder / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{'common' if i % 3 else 'rare'}\n" for i in range(60)))
    talk = Talk(ENTER, ENTER, typed, ENTER)
    answers = talk.answers(str(path))
    arguments = call_of(answers).arguments
    assert arguments == {"target": "y", **expected}
    assert "33.3 % of the rows are 'rare'." in talk.text
    cost = next(question for question in QUESTIONS if question.id == "cost")
    assert cost.read(cost.write(answers["cost"], answers), answers) == answers["cost"]


def test_a_question_is_explained_on_request(table):
    talk = Talk(ENTER, "?", *[ENTER] * 3)
    talk.answers(table)
    assert talk.asked[1:3] == ["target", "target"]
    assert "A model learns from rows where the answer is known" in talk.text


def test_back_forgets_the_answer_and_what_followed(table):
    talk = Talk("back", ENTER, "size", "back", "kind", "back", "back", ENTER, "none", *[ENTER] * 2)
    answers = talk.answers(table)
    assert talk.asked == [
        "drop", "drop", "target", "max_seconds", "target", "cost", "target", "drop", "target", "n_clusters",
        "max_seconds",
    ]  # fmt: skip
    assert "This is the first question." in talk.text
    assert "cost" not in answers


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (lambda i: f"w{i}x", "y is different in nearly every row"),
        (lambda i: "same", "y is the same in every row"),
    ],
)
def test_a_target_that_cannot_be_learned_is_refused_at_once(folder, cells, sentence):
    path = folder / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{cells(i)}\n" for i in range(90)))
    talk = Talk("none", "y", "b", *[ENTER] * 2)
    assert talk.answers(str(path))["target"] == "b"
    assert sentence in " ".join(talk.text.split())


# --- what is in doubt -------------------------------------------------------------------------------------------------


def test_a_number_that_may_be_read_in_two_ways_is_asked_for(folder):
    path = folder / "t.csv"
    lines = [f'"{1 + i % 8},{100 + i}","{2 + i % 3},{900 - i}",{i % 7},{i % 2}' for i in range(60)]
    path.write_text("\n".join(["price,cost,a,y", *lines]) + "\n")
    asked = ["drop", "decimal", "target", "cost", "max_seconds"]
    for typed, reading in ((ENTER, {}), ("1100", {}), ("1.1", {"decimal": ","}), ("2", {"decimal": ","})):
        talk = Talk(ENTER, typed, *[ENTER] * 3)
        answers = talk.answers(str(path))
        assert talk.asked == asked
        assert "1b. What is 1,100 in the column 'price'?" in talk.text
        assert "The answer holds for 'cost', too." in " ".join(talk.text.split())
        arguments = call_of(answers).arguments
        assert arguments == {"target": "y", **reading}
        first = next(open_stream(path, **arguments).batches()).X.numbers[0, 0]
        assert first == (1.1 if reading else 1100)
    assert Talk("price, cost", "y", *[ENTER] * 2).answers(str(path))["target"] == "y"  # no doubt is left


def test_a_date_that_may_be_read_in_two_ways_is_asked_for(folder):
    path = folder / "t.csv"
    path.write_text("day,a,y\n" + "".join(f"{1 + i % 12:02}/{1 + i * 5 % 12:02}/2024,{i},{i % 2}\n" for i in range(60)))
    talk = Talk(ENTER, "2", *[ENTER] * 3)
    answers = talk.answers(str(path))
    assert talk.asked[1] == "date"
    assert "1) 1 January 2024" in talk.text
    assert call_of(answers).arguments["date"] == "M/D/Y"
    path.write_text(path.read_text().replace("01/01/2024", "03/04/2024"))
    talk = Talk(ENTER, "4 March 2024", *[ENTER] * 3)
    assert call_of(talk.answers(str(path))).arguments["date"] == "M/D/Y"
    assert "1) 3 April 2024" in talk.text


def test_words_in_columns_of_numbers_are_asked_for(folder):
    path = folder / "t.csv"
    path.write_text(
        "age,b,y\n" + "".join(f"{'unknown' if i % 9 == 0 else 20 + i},{i % 5},{i % 2}\n" for i in range(80))
    )
    for typed, words in ((ENTER, None), ("none", None), ("age", ["age"])):
        talk = Talk(ENTER, typed, *[ENTER] * 3)
        arguments = call_of(talk.answers(str(path))).arguments
        assert talk.asked[1] == "text_columns"
        assert "'unknown' in column 'age' counts as missing." in talk.text
        assert arguments.get("text_columns") == words


def test_lines_that_cannot_be_read_are_asked_for(folder):
    path = folder / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(60)) + "1,2,3,4\n")
    for typed, expected in ((ENTER, {"skip_malformed": True}), ("stop", {})):
        talk = Talk(ENTER, typed, *[ENTER] * 3)
        answers = talk.answers(str(path))
        assert talk.asked[1] == "skip_malformed"
        assert "1 line could not be read. The first: t.csv, line 62: expected 3 fields, got 4." in " ".join(
            talk.text.split()
        )
        assert call_of(answers).arguments == {"target": "y", **expected}
    assert ("--skip-malformed" in call_of(Talk(*[ENTER] * 5).answers(str(path))).command()) is True


def test_a_column_that_gives_the_target_away_is_asked_for(folder):
    path = folder / "t.csv"
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 200)
    lines = [f"{rng.normal():.3f},{'2025-03-04' if k else ''},{'yes' if k else 'no'}" for k in kinds]
    path.write_text("\n".join(["a,closed,left", *lines]) + "\n")
    talk = Talk(ENTER, ENTER, ENTER, "no", *[ENTER] * 2)
    answers = talk.answers(str(path))
    assert talk.asked == ["drop", "target", "leaks", "leaks", "cost", "max_seconds"]  # ENTER is no answer
    assert "2b. Will this be known when you predict?" in talk.text
    assert call_of(answers).arguments == {"target": "left", "drop": ["closed"]}
    assert call_of(Talk(ENTER, ENTER, "yes", *[ENTER] * 2).answers(str(path))).arguments == {"target": "left"}
    assert "leaks" not in Talk("closed", *[ENTER] * 3).answers(str(path))


def test_columns_that_tell_nothing_are_left_out_by_default(folder):
    path = folder / "t.csv"
    path.write_text("a,shop,empty,again,y\n" + "".join(f"{i * 7 % 31},A,,{i * 7 % 31},{i % 2}\n" for i in range(60)))
    talk = Talk(*[ENTER] * 4)
    assert talk.answers(str(path))["drop"] == ["shop", "empty", "again"]
    assert "   [shop, empty, again] > " in talk.text


def test_methods_follow_the_loss_and_the_registry(table, monkeypatch):
    talk = Talk("more", *[ENTER] * 5, "logistic", *[ENTER] * 9)
    talk.answers(table)
    shown = talk.text.split("Which method?")[1]
    assert "pegasos" in shown
    assert "arow" not in shown
    new = next(m for m in registry.methods() if m.name == "arow")
    more = [*registry.methods(), new._replace(name="fresh"), new._replace(name="groupish", needs=("groups",))]
    monkeypatch.setattr(registry, "_all_methods", lambda: more)
    talk = Talk("more", *[ENTER] * 8, "fresh", *[ENTER] * 5)
    assert talk.answers(table)["method"] == "fresh"
    assert "groupish" not in talk.text


def test_every_question_can_be_shown_by_a_page(table):
    answers = Talk("more", *[ENTER] * 20).answers(table)
    answers |= {"n_clusters": None, "metric": "euclidean", "max_iter": 20, "kernel": "rbf"}
    for question in ALL:
        if question.id in ("decimal", "date", "leaks"):  # which this file leaves in no doubt
            continue
        shown = json.loads(json.dumps(question.describe(answers)))
        assert shown["text"].endswith("?")
        assert shown["explanation"].endswith(".")
        assert shown["kind"] in ("choice", "column", "columns", "words")
        assert shown["step"] in ("file", "columns", "target", "mistakes", "time", "more")
        default = question.get("default", answers)
        assert default is None or question.read(shown["default"], answers) == default


def test_a_page_has_all_questions_at_once_and_what_was_typed(table):
    answers = DialogueAnswers(DataFile)
    page = fill_page(QUESTIONS, {"target": "size", "drop": "noise"}, answers, {"file": table})
    assert [entry["id"] for entry in page] == ["drop", "target", "max_seconds"]
    assert call_of(answers).arguments == {"target": "size", "drop": ["noise"]}
    page = fill_page(QUESTIONS, {"target": "colour"}, DialogueAnswers(DataFile), {"file": table})
    assert [entry["id"] for entry in page] == ["drop", "target"]  # what follows may depend on it
    assert "name of a column" in page[-1]["refusal"]


def test_commands_name_columns_as_the_command_line_reads_them():
    arguments = {"target": "3", "drop": ["none", "-5", "a b"], "cost": {"yes": 5}, "skip_malformed": True}
    call = AutoCall("t.csv", arguments, columns=("a b", "none", "3", "-5", "x"), model="m.thresher")
    words = shlex.split(call.command())
    assert words[:5] == ["thresher", "auto", "t.csv", "--target", "2"]
    assert words[5:11] == ["--drop", "1", "--drop", "3", "--drop", "a b"]
    assert words[11:] == ["--cost", '{"yes": 5}', "--skip-malformed", "--model", "m.thresher"]
    long = AutoCall("t.csv", {"drop": [f"column {i}" for i in range(30)]})
    assert max(map(len, long.command_lines().splitlines())) <= 76
    assert max(map(len, long.python().splitlines())) <= 76
    assert shlex.split(long.command_lines().replace("\\\n", " ")) == shlex.split(long.command())


# --- the dialogue itself ----------------------------------------------------------------------------------------------


def yes_or(text: str, answers: Any) -> str:
    raise InvalidAnswer("Say yes.")


SIMPLE = WizardQuestion(
    "simple", "one", "choice", "Really?", lambda answers: "Help.", "More.", options=(Option("yes", 1),), parse=yes_or
)


def asked(talk: Talk, *questions: WizardQuestion, strict: bool = False) -> DialogueAnswers:
    return Dialogue(questions, AnswerSource(talk.ask, strict=strict), talk.say, DialogueAnswers()).run()


def test_questions_without_a_default_insist():
    talk = Talk(ENTER, "yes")
    assert asked(talk, SIMPLE) == {"simple": 1}
    assert "Say yes." in talk.text


def test_a_name_goes_before_a_number():
    years = replace(SIMPLE, options=(Option("2", "second"), Option("1", "first"), Option("x", "third")))
    assert [years.read(text, DialogueAnswers()) for text in ("2", "1", "3")] == ["second", "first", "third"]


def test_a_label_of_the_file_is_no_command():
    words = replace(SIMPLE, options=(Option("back", "b"), Option("more", "m"), Option("?", "q")))
    for typed, meant in (("back", "b"), ("more", "m"), ("?", "q")):
        assert asked(Talk(typed), words) == {"simple": meant}


def test_strict_dialogues_do_not_ask_twice():
    with pytest.raises(ValueError, match=r"question 'simple', answer 'no': Say yes\."):
        asked(Talk("no", "yes"), SIMPLE, strict=True)
    with pytest.raises(ValueError, match=r"question 'simple', answer '\?': Say yes\."):  # nobody to read help
        asked(Talk("?", "yes"), SIMPLE, strict=True)


def test_questions_of_one_step_share_a_number():
    others = [replace(SIMPLE, id=f"q{k}", step=step) for k, step in enumerate(["one", "two", "two", "more", "more"])]
    talk = Talk("more", *["yes"] * 6)
    asked(talk, SIMPLE, *others)
    numbers = [line.split()[0] for line in talk.text.splitlines() if "Really?" in line]
    assert numbers == ["1.", "1b.", "2.", "2b.", "3.", "4."]


def test_paragraphs_fit_narrow_screens(monkeypatch):
    monkeypatch.setattr(_dialogue.shutil, "get_terminal_size", lambda usual: os.terminal_size((50, 20)))
    assert max(map(len, _dialogue.paragraph("word " * 60).splitlines())) <= 50


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_whole_dialogue_and_what_it_prints(table, folder):
    talk = Talk("more", *[ENTER] * 10, "3", "m.thresher", "r.json")
    model = talk.model(table)
    for words in ("What was chosen, and why", "The model is wrong on", "Features that matter", "size"):
        assert words in talk.text
    assert max(len(line) for line in talk.text.splitlines() if table not in line) <= 80
    assert_array_equal(load_model("m.thresher").coef_, model.coef_)
    report = json.loads(Path("r.json").read_text())
    assert report["sections"]["measures"]["measures"]["error"]["value"] < 0.3
    assert report["sections"]["reproduce"]["command"] == said_command(talk.text)
    assert report["sections"]["data"]["profile"]["columns"][0]["name"] == "size"
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv", "m.thresher", "r.json"]


DIALOGUES = {
    "classification": {"method": "arow", "n_evaluations": 2, "drop": "noise"},
    "costs": {"cost": "high=4", "method": "pegasos", "kernel": "linear", "n_evaluations": 2},
    "regression": {"target": "size", "drop": "none", "loss": "quantile", "kernel": "linear",
                   "method": "pegasos-regressor", "search": "directed", "n_evaluations": 2},
    "clusters": {"target": "none", "n_clusters": 2, "metric": "cosine", "max_iter": 5, "search": "random",
                 "n_evaluations": 2},
    "Nystroem": {"kernel": "rbf", "method": "pegasos", "n_evaluations": 2},
}  # fmt: skip


def finished(table: str, name: str) -> tuple[Any, str]:
    said: list[str] = []
    answers = {**DIALOGUES[name], "model": "m.thresher"}
    return wizard.wizard(table, answers=answers, say=said.append), "\n".join(said)


def same_model(one: Any, other: Any) -> None:
    for attribute in ("coef_", "cluster_centers_"):
        if hasattr(one[-1], attribute):
            assert_array_equal(getattr(one[-1], attribute), getattr(other[-1], attribute))
    assert one.record_["auto"]["params"] == other.record_["auto"]["params"]
    assert one.record_["layout"] == other.record_["layout"]


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_command_and_the_python_it_prints_make_the_same_model(table, name, capsys):
    from thresher.cli import main

    model, text = finished(table, name)
    Path("m.thresher").unlink()
    scope: dict[str, Any] = {}
    exec(said_python(text), scope)
    same_model(model, scope["model"])
    same_model(model, load_model("m.thresher"))  # which the snippet saved as well
    Path("m.thresher").unlink()
    assert main(shlex.split(said_command(text))[1:]) == 0
    capsys.readouterr()
    same_model(model, load_model("m.thresher"))


def test_a_table_in_doubt_is_read_as_answered_by_the_command_too(folder, capsys):
    """Decimal commas, a day behind the month, words among numbers, and a line that is too long."""
    from thresher.cli import main

    rng = np.random.default_rng(0)
    rows = ["price,when,age,shop,left"]
    for i in range(80):
        price, age = f'"{rng.integers(1, 9)},{rng.integers(100, 999)}"', "unknown" if i % 9 == 0 else str(20 + i)
        rows.append(f"{price},{1 + i % 12:02}/{1 + i * 5 % 12:02}/2024,{age},A,{'yes' if rng.random() < 0.4 else 'no'}")
    Path("t.csv").write_text("\n".join([*rows, "1,2,3,4,5,6"]) + "\n")
    answers = {"decimal": "2", "date": "2", "text_columns": "age", "method": "arow", "n_evaluations": 1}
    said: list[str] = []
    model = wizard.wizard("t.csv", answers={**answers, "model": "m.thresher"}, say=said.append)
    layout = model.record_["layout"]
    readings = layout["readings"]
    assert readings["price"]["decimal"] == ","
    assert readings["when"]["pattern"] == "M/D/Y"
    assert layout["kinds"][layout["columns"].index("age")] == "t"
    assert "shop" not in layout["columns"]
    Path("m.thresher").unlink()
    assert main(shlex.split(said_command("\n".join(said)))[1:]) == 0
    capsys.readouterr()
    same_model(model, load_model("m.thresher"))


def test_the_runner_can_be_replaced(table):
    calls = []

    def run(path: str, **arguments: Any) -> Any:
        calls.append((path, arguments))
        return run_auto(path, **arguments)

    wizard.wizard(table, answers={"method": "pa", "n_evaluations": 1}, say=lambda line: None, run=run)
    ((path, arguments),) = calls
    assert path == table
    assert arguments["method"] == "pa"
    assert arguments["n_evaluations"] == 1


def test_names_of_files_are_checked(table, folder):
    talk = Talk("more", *[ENTER] * 8, "pa", ENTER, "1", "nowhere/m", str(folder), "m.thresher", "r.pdf", "r.txt")
    talk.model(table)
    assert "The folder of nowhere/m does not exist" in talk.text
    assert "is a folder" in " ".join(talk.text.split())
    assert "The name must end in .html, .txt, .md, .json" in talk.text
    assert Path("m.thresher").exists()
    assert Path("r.txt").exists()


# --- answers from files -----------------------------------------------------------------------------------------------


def test_answers_as_json(table):
    Path("a.json").write_text(json.dumps({"target": 3, "drop": ["noise"], "method": "pa", "n_evaluations": 1}))
    assert wizard.main(table, answers="a.json", model="m.thresher") == 0
    record = load_model("m.thresher").record_
    assert record["auto"]["method"] == "pa"
    assert "noise" not in record["layout"]["columns"]


def test_answers_as_lines(table, folder):
    lines = [
        "# a comment",
        "none",
        "",
        "more",
        "",
        "# time",
        "",
        *[""] * 4,
        "  pa",
        "annealing",
        "1",
        "m.thresher",
        "no",
    ]
    Path("a.txt").write_text("\n".join(lines) + "\n")
    assert wizard.main(table, answers="a.txt") == 0
    assert load_model("m.thresher").record_["auto"]["method"] == "pa"
    assert sorted(file.name for file in folder.iterdir()) == ["a.txt", "data.csv", "m.thresher"]


def test_saved_answers_give_the_same_model(table, capsys):
    Path("a.json").write_text(
        json.dumps({"target": "size", "method": "pegasos-regressor", "kernel": "linear", "n_evaluations": 2})
    )
    assert wizard.main(table, answers="a.json", model="one.thresher", save_answers="b.json") == 0
    kept = json.loads(Path("b.json").read_text())
    assert kept["target"] == "size"
    assert kept["drop"] == "none"
    assert kept["max_seconds"] == "automatic"
    assert kept["file"] == table
    del kept["model"]
    Path("b.json").write_text(json.dumps(kept))
    assert wizard.main(None, answers="b.json", model="two.thresher") == 0
    assert_array_equal(load_model("one.thresher").coef_, load_model("two.thresher").coef_)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ('{"colour": "red"}', "a.json: there is no question 'colour'; the questions are file, drop,"),
        ('{"n_evaluations": -1}', "question 'n_evaluations', answer '-1': Please answer with the number of tries"),
        ('{"n_evaluations": ', "a.json: not JSON"),
        ("none\nunknown\n", "question 'target', answer 'unknown': Please answer with the name of a column"),
    ],
)
def test_wrong_answers_in_a_file_are_refused(table, folder, answers, sentence, capsys):
    Path("a.json").write_text(answers)
    assert wizard.main(table, answers="a.json", model="m.thresher") == 2
    assert f"thresher: {sentence}" in capsys.readouterr().err
    assert not Path("m.thresher").exists()


def test_results_as_json(table, capsys):
    Path("a.json").write_text(json.dumps({"method": "pa", "n_evaluations": 1}))
    assert wizard.main(table, answers="a.json", as_json=True) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["answers"]["method"] == "pa"
    assert result["command"].startswith("thresher auto ")
    assert result["task"] == "classification"
    assert "A few questions" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"path": "nothing.csv"}, "nothing.csv: no such file."),
        ({"path": None, "model": "nowhere/m"}, "nowhere/m: the folder does not exist."),
        ({"path": None, "answers": "nothing.json"}, "nothing.json"),
    ],
)
def test_mistakes_are_one_line(options, sentence, capsys):
    assert wizard.main(**options) == 2
    err = capsys.readouterr().err
    assert err.startswith("thresher: ")
    assert sentence in err
    assert err.count("\n") == 1


# --- without and with a terminal --------------------------------------------------------------------------------------


def test_lines_of_standard_input_are_answers(table, folder, monkeypatch, capsys):
    Path("data.thresher").write_text("another model")
    monkeypatch.setattr(sys, "stdin", io.StringIO("what\n\n\nmore\n\n\n\n\n\n\npa\n\n1\n\n\n"))
    assert wizard.main(table) == 0
    out = capsys.readouterr().out
    assert "There is no column 'what'" in out
    assert "thresher explain data-2.thresher NEW.csv --row 1" in out
    assert load_model("data-2.thresher").record_["auto"]["method"] == "pa"  # and nothing is written over
    assert "</html>" in Path("data-2.html").read_text(encoding="utf-8")


def test_input_that_ends_early_is_said_and_nothing_written(table, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\n"))
    assert wizard.main(table, model="m.thresher", save_answers="a.json") == 2
    assert "the answers ended before the questions did; nothing was written." in capsys.readouterr().err
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv"]


def start(path: str) -> Any:
    """``thresher wizard`` on a terminal of its own."""
    pexpect = pytest.importorskip("pexpect")
    arguments = ["-m", "thresher", "wizard", path]

    def as_in_a_shell() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # of tests in the background it may be ignored, and so inherited

    options: dict[str, Any] = {"encoding": "utf-8", "timeout": 60, "dimensions": (40, 80)}
    return pexpect, pexpect.spawn(sys.executable, arguments, preexec_fn=as_in_a_shell, **options)


def test_a_person_at_a_terminal(table):
    pexpect, talk = start(table)
    talk.logfile_read = io.StringIO()
    for expected, answer in [
        ("Which columns should be left out.*> ", "none"),
        ("Which column should be predicted.*> ", "colour"),
        ("Please answer with the name of a column.*> ", "3"),
        ("What does a mistake cost.*> ", "?"),
        ("The model weighs rows.*> ", "2"),
        ("How long may it take.*> ", "back"),
        ("What does a mistake cost.*> ", "more"),
        ("come after these questions.*> ", "5"),
        ("How long may it take.*> ", ""),
        ("Which loss.*> ", ""),
        ("May boundaries be curved.*> ", "linear"),
        ("Which method.*> ", "pegasos"),
        ("parameters be searched.*> ", "random"),
        ("How many models.*> ", "2"),
        ("Where should the model be saved.*> ", ""),
        ("Where should the report be saved.*> ", "no"),
    ]:
        talk.expect(expected)
        talk.sendline(answer)
    talk.expect("The same on the command line")
    talk.expect(pexpect.EOF)
    talk.close()
    assert talk.exitstatus == 0
    model = load_model("data.thresher")
    assert type(model[-1]).__name__ == "PegasosClassifier"
    assert model[-1].class_weight == {"high": 5.0, "low": 1.0} or model[-1].class_weight == {"high": 1.0, "low": 5.0}
    assert list(model.classes_) == ["high", "low"]
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", talk.logfile_read.getvalue())  # without colours of the bar
    shown = [line for line in plain.splitlines() if table not in line]
    assert not [line for line in shown if len(line) > 80]


@pytest.mark.parametrize(("key", "status"), [("c", 130), pytest.param("d", 2, marks=pytest.mark.slow)])
def test_leaving_with_the_keyboard(table, folder, key, status):
    pexpect, talk = start(table)
    talk.expect("> ")
    talk.sendline("none")
    talk.expect("Which column should be predicted.*> ")
    talk.sendcontrol(key)
    talk.expect("othing was written")
    talk.expect(pexpect.EOF)
    talk.close()
    assert talk.exitstatus == status
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv"]


# --- in a notebook ----------------------------------------------------------------------------------------------------


def test_a_form_asks_the_same_and_makes_the_same_model(table):
    pytest.importorskip("ipywidgets")
    from thresher.wizard._widgets import FormWidgets

    form = wizard.WizardForm(table)
    shown = FormWidgets(form, QUESTIONS, MORE_QUESTIONS)
    assert list(shown.inputs) == ["drop", "target", "cost", "max_seconds"]
    shown.inputs["drop"].value = ("noise",)
    shown.inputs["cost"].value = "free"
    assert shown.button.disabled
    assert list(shown.inputs) == ["drop", "target", "cost"]
    shown.inputs["cost"].value = "high=4"
    shown.wants_more.value = True
    shown.inputs["kernel"].value = "linear"
    shown.inputs["method"].value = "arow"
    shown.inputs["n_evaluations"].value = "2"
    assert not shown.button.disabled
    shown.button.click()
    answers = {"drop": "noise", "cost": "high=4", "kernel": "linear", "method": "arow", "n_evaluations": 2}
    same_model(form.model, wizard.wizard(table, answers=answers, say=lambda line: None))
    assert form.command.endswith("--drop noise --method arow --kernel linear --cost '{\"high\": 4}' --n-evaluations 2")
    assert "model = thresher.auto(" in form.python


def test_a_form_without_widgets_asks_by_prompts(table, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("builtins.__IPYTHON__", True, raising=False)
    typed = iter(["noise", "", "more", "", "", "", "", "", "linear", "arow", "", "2"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed, ""))
    form = wizard.form(table)
    assert type(form.model[-1]).__name__ == "AROWClassifier"
    assert "The same in Python" in capsys.readouterr().out
