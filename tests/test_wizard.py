"""Dialogues: every branch, wrong answers, the way back, files of answers, a real terminal, what is said at the end."""

from __future__ import annotations

import io
import json
import os
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
from thresher.wizard import _dialogue
from thresher.wizard._call import call_of
from thresher.wizard._dialogue import DialogueAnswers, InvalidAnswer, Option, WizardQuestion, run_dialogue
from thresher.wizard._questions import LAST_QUESTIONS, QUESTIONS
from thresher.wizard._replies import DataFile

ENTER = ""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(folder):
    """A table whose third column, of words, follows from the first."""
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{'high' if a > 0 else 'low'}" for a, b in rng.normal(size=(60, 2))]
    path = folder / "data.csv"
    path.write_text("\n".join(["size,noise,kind", *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def amounts(folder):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{3 * a + 0.1 * b:.4f}" for a, b in rng.normal(size=(60, 2))]
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
        if question.by_name_only:  # as lines of answers do; tests/test_groups_and_tasks.py answers these
            return ENTER
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

    def answers(self, path: str | None) -> dict[str, Any]:
        given = {} if path is None else {"file": path}
        return run_dialogue(QUESTIONS, self.ask, self.say, DataFile, given)

    def model(self, path: str | None, **options: Any) -> Any:
        return wizard.wizard(path, ask=self.ask, say=self.say, **options)


def said_command(text: str) -> str:
    return text.split("The same on the command line\n")[1].split("\n")[0].strip()


def said_python(text: str) -> str:
    code = text.split("The same in Python\n")[1]
    return "\n".join(line[3:] for line in code.splitlines() if line.startswith("   "))


# --- the questions ----------------------------------------------------------------------------------------------------


def test_classification_in_the_order_of_the_catalogue(table):
    talk = Talk(*[ENTER] * 9)
    answers = talk.answers(table)
    assert talk.asked == [
        "has_target", "target", "classification", "loss", "criterion", "curved", "method", "search", "n_evaluations",
    ]  # fmt: skip
    assert answers["target"] == "kind"
    assert answers["classification"] is True
    assert answers["n_evaluations"] == 50


def test_regression_is_detected(amounts):
    talk = Talk(*[ENTER] * 9)
    assert talk.answers(amounts)["classification"] is False
    assert "pegasos-regressor" in talk.text
    for loss in LOSSES.values():
        assert (f"{loss.name} " in talk.text) == loss.for_values
        assert (loss.about in talk.text) == loss.for_values


def test_kernels_are_asked_for_if_boundaries_may_bend(table):
    talk = Talk(*[ENTER] * 5, "yes", "polynomial", *[ENTER] * 3)
    answers = talk.answers(table)
    assert talk.asked[5:8] == ["curved", "kernel", "method"]
    assert call_of(answers).arguments["kernel"] == "polynomial"


def test_clusters_in_the_order_of_the_catalogue(table):
    talk = Talk("no", "3", "cosine", "7", *[ENTER] * 4)
    answers = talk.answers(table)
    assert talk.asked == ["has_target", "n_clusters", "metric", "max_iter", "curved", "search", "n_evaluations"]
    call = call_of(answers)
    assert call.arguments["n_clusters"] == 3
    assert call.arguments["params"] == {"metric": "cosine", "max_iter": 7}
    assert call.arguments["target"] is None


def test_one_column_can_be_clustered(folder):
    path = folder / "one.csv"
    path.write_text("a\n" + "1\n9\n" * 20)
    talk = Talk("no", "2", *[ENTER] * 6)
    answers = talk.answers(str(path))
    assert call_of(answers).arguments["n_clusters"] == 2


def test_sparse_rows_have_their_target_in_its_place(folder):
    path = folder / "data.svm"
    path.write_text("1 1:1\n-1 2:1\n" * 20)
    talk = Talk(*[ENTER] * 8)
    answers = talk.answers(str(path))
    assert "target" not in talk.asked
    assert "target" not in call_of(answers).arguments


def test_the_file_is_asked_for_if_none_is_given(table):
    talk = Talk("nothing.csv", ENTER, table, *[ENTER] * 9)
    assert talk.answers(None)["file"] == table
    assert "This file cannot be read: nothing.csv: no such file." in talk.text
    assert "Please name a file." in talk.text


@pytest.mark.parametrize(
    ("answer", "expected"), [("2", "noise"), ("noise", "noise"), ("NOISE", "noise"), ("no", "noise"), (ENTER, "kind")]
)
def test_answers_by_number_name_or_the_begin_of_it(table, answer, expected):
    assert Talk(ENTER, answer, *[ENTER] * 7).answers(table)["target"] == expected


def test_wide_tables_are_not_listed(folder):
    path = folder / "wide.csv"
    path.write_text(",".join(f"c{j}" for j in range(50)) + "\n" + (",".join("1" * 50) + "\n") * 20)
    talk = Talk(ENTER, "c7", *[ENTER] * 7)
    assert talk.answers(str(path))["target"] == "c7"
    assert "c13" not in talk.text


@pytest.mark.parametrize(
    ("place", "wrong", "sentence"),
    [
        (0, "maybe", "Please answer with a number from 1 to 2 or with one of yes, no."),
        (1, "9", "Please answer with the name of a column or with its number from 1 to 3."),
        (3, "x", "Please answer with a number from 1 to 7 or with one of automatic, hinge,"),
        (3, "s", "Please answer with a number from 1 to 7 or with one of"),  # squared, or squared_hinge?
        (8, "0", "Please answer with the number of tries: a whole number of at least 1."),
        (8, "ten", "Please answer with the number of tries: a whole number of at least 1."),
    ],
)
def test_wrong_answers_are_asked_again(table, place, wrong, sentence):
    answers = [ENTER] * 9
    talk = Talk(*answers[:place], wrong, *answers[place:])
    talk.answers(table)
    assert sentence in " ".join(talk.text.split())
    assert talk.asked[place] == talk.asked[place + 1]


def test_more_is_explained_on_request(table):
    talk = Talk(ENTER, "?", *[ENTER] * 8)
    talk.answers(table)
    assert talk.asked[1:3] == ["target", "target"]
    assert "The prediction is made from all other columns." in talk.text


def test_back_forgets_the_answer_and_what_followed(table):
    talk = Talk("back", "yes", "size", "back", "kind", "back", "back", "no", *[ENTER] * 6)
    answers = talk.answers(table)
    assert talk.asked[:8] == [
        "has_target", "has_target", "target", "classification", "target", "classification", "target", "has_target",
    ]  # fmt: skip
    assert "This is the first question." in talk.text
    assert answers.keys() >= {"n_clusters", "metric"}
    assert not answers.keys() & {"target", "classification"}


def test_methods_follow_the_loss_and_the_registry(table, monkeypatch):
    talk = Talk(*[ENTER] * 3, "logistic", *[ENTER] * 5)
    talk.answers(table)
    shown = talk.text.split("Which method?")[1]
    assert "pegasos" in shown
    assert "arow" not in shown
    new = next(m for m in registry.methods() if m.name == "arow")
    more = [*registry.methods(), new._replace(name="fresh"), new._replace(name="groupish", needs=("groups",))]
    monkeypatch.setattr(registry, "_all_methods", lambda: more)
    talk = Talk(*[ENTER] * 6, "fresh", ENTER, ENTER)
    assert talk.answers(table)["method"] == "fresh"
    assert "groupish" not in talk.text


def test_every_question_has_its_words(table):
    answers = Talk(*[ENTER] * 9).answers(table)
    answers |= {"n_clusters": None, "metric": "euclidean", "max_iter": 20, "kernel": "rbf"}
    for question in (*QUESTIONS, *LAST_QUESTIONS):
        assert question.get("text", answers).endswith("?")
        assert question.get("help", answers).endswith(".")
        assert question.more.endswith(".")
        default = question.get("default", answers)
        typed = question.write(default, answers)
        assert default is None or question.read(typed, answers) == default


# --- the dialogue itself ----------------------------------------------------------------------------------------------


def yes_or(text: str, answers: Any) -> str:
    raise InvalidAnswer("Say yes.")


SIMPLE = WizardQuestion(
    "simple", "Really?", lambda answers: "Help.", "More.", options=(Option("yes", 1),), parse=yes_or
)


def test_questions_without_a_default_insist():
    talk = Talk(ENTER, "yes")
    assert run_dialogue([SIMPLE], talk.ask, talk.say, None) == {"simple": 1}
    assert "Say yes." in talk.text


def test_a_name_goes_before_a_number():
    years = replace(SIMPLE, options=(Option("2", "second"), Option("1", "first"), Option("x", "third")))
    assert [years.read(text, DialogueAnswers()) for text in ("2", "1", "3")] == ["second", "first", "third"]


def test_strict_dialogues_do_not_ask_twice():
    with pytest.raises(ValueError, match=r"question 'simple', answer 'no': Say yes\."):
        run_dialogue([SIMPLE], Talk("no", "yes").ask, print, None, strict=True)
    with pytest.raises(ValueError, match=r"question 'simple', answer '\?': Say yes\."):  # nobody to read help
        run_dialogue([SIMPLE], Talk("?", "yes").ask, print, None, strict=True)


def test_paragraphs_fit_narrow_screens(monkeypatch):
    monkeypatch.setattr(_dialogue.shutil, "get_terminal_size", lambda usual: os.terminal_size((50, 20)))
    assert max(map(len, _dialogue.paragraph("word " * 60).splitlines())) <= 50


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_whole_dialogue_and_what_it_prints(table, folder):
    talk = Talk(*[ENTER] * 8, "3", "m.thresher", "r.json")
    model = talk.model(table)
    for words in ("What was chosen, and why", "The model errs on", "Features that matter", "size"):
        assert words in talk.text
    assert_array_equal(load_model("m.thresher").coef_, model.coef_)
    report = json.loads(Path("r.json").read_text())
    assert report["sections"]["measures"]["measures"]["error"]["value"] < 0.3
    assert report["sections"]["reproduce"]["command"] == said_command(talk.text)
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv", "m.thresher", "r.json"]


DIALOGUES = {
    "classification": ["kind", [ENTER] * 6 + ["arow", ENTER, "2"]],
    "regression": ["size", [ENTER, "size", "no", "quantile", ENTER, "no", "pegasos-regressor", "directed", "2"]],
    "clusters": [None, ["no", "2", "cosine", "5", ENTER, "random", "2"]],
    "Nystroem": ["kind", [ENTER] * 5 + ["yes", "rbf", "pegasos", ENTER, "2"]],
    "clusters, Nystroem": [None, ["no", "2", ENTER, ENTER, "yes", ENTER, ENTER, "2"]],
}


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_python_it_prints_makes_the_same_model(table, name):
    talk = Talk(*DIALOGUES[name][1], "m.thresher", ENTER)
    model = talk.model(table)
    first = Path("m.thresher").read_bytes()
    scope: dict[str, Any] = {}
    exec(said_python(talk.text), scope)
    again = scope["model"]
    for attribute in ("coef_", "cluster_centers_"):
        if hasattr(model[-1], attribute):
            assert_array_equal(getattr(again[-1], attribute), getattr(model[-1], attribute))
    assert again.get_params().keys() == model.get_params().keys()
    assert again.record_["auto"]["params"] == model.record_["auto"]["params"]
    assert len(Path("m.thresher").read_bytes()) > 0.5 * len(first)  # the snippet saved it as well


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_command_it_prints_says_the_same(table, name):
    talk = Talk(*DIALOGUES[name][1], ENTER, ENTER)
    model = talk.model(table)
    words = shlex.split(said_command(talk.text))
    assert words[:3] == ["thresher", "auto", table]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    record = model.record_["auto"]
    assert options["--task"] == record["task"]
    assert options["--target"] == (DIALOGUES[name][0] or "none")
    assert options["--n-evaluations"] == "2"
    assert "--search" not in options or options["--search"] != "annealing"  # only what is not the default
    assert ("--kernel" in options) is (record["kernel"] is not None or record["task"] != "classification")


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_command_it_prints_runs(table, name, capsys):
    from thresher.cli import main

    talk = Talk(*DIALOGUES[name][1], "m.thresher", ENTER)
    talk.model(table)
    mine = load_model("m.thresher")
    assert main(shlex.split(said_command(talk.text))[1:]) == 0
    theirs = load_model("m.thresher")
    capsys.readouterr()
    for attribute in ("coef_", "cluster_centers_"):
        if hasattr(mine[-1], attribute):
            assert_array_equal(getattr(mine[-1], attribute), getattr(theirs[-1], attribute))


def test_the_runner_can_be_replaced(table):
    calls = []

    def run(path: str, **arguments: Any) -> Any:
        calls.append((path, arguments))
        return run_auto(path, **arguments)

    Talk(*[ENTER] * 6, "pa", ENTER, "1", ENTER, ENTER).model(table, run=run)
    ((path, arguments),) = calls
    assert path == table
    assert arguments["method"] == "pa"
    assert arguments["n_evaluations"] == 1


def test_names_of_files_are_checked(table, folder):
    talk = Talk(*[ENTER] * 6, "pa", ENTER, "1", "nowhere/m", str(folder), "yes", "r.pdf", "r.txt")
    talk.model(table)
    assert "The folder of nowhere/m does not exist" in talk.text
    assert "is a folder" in " ".join(talk.text.split())
    assert "The name must end in .html, .txt, .json" in talk.text
    assert Path("data.thresher").exists()
    assert Path("r.txt").exists()


# --- answers from files -----------------------------------------------------------------------------------------------


def test_answers_as_json(table):
    Path("a.json").write_text(json.dumps({"target": 3, "classification": True, "method": "pa", "n_evaluations": 1}))
    assert wizard.main(table, answers="a.json", model="m.thresher") == 0
    assert load_model("m.thresher").record_["auto"]["method"] == "pa"


def test_answers_as_lines(table):
    Path("a.txt").write_text("# a comment\nyes\n\n\n# loss\n\n\n\n  pa\nannealing\n1\nm.thresher\n")
    assert wizard.main(table, answers="a.txt") == 0
    assert load_model("m.thresher").record_["auto"]["method"] == "pa"


def test_saved_answers_give_the_same_model(table, capsys):
    Path("a.json").write_text(
        json.dumps({"target": "size", "method": "pegasos-regressor", "curved": "no", "n_evaluations": 2})
    )
    assert wizard.main(table, answers="a.json", model="one.thresher", save_answers="b.json") == 0
    kept = json.loads(Path("b.json").read_text())
    assert kept["target"] == "size"
    assert kept["classification"] == "no"
    assert kept["search"] == "annealing"
    assert kept["file"] == table
    del kept["model"]
    Path("b.json").write_text(json.dumps(kept))
    assert wizard.main(None, answers="b.json", model="two.thresher") == 0
    assert_array_equal(load_model("one.thresher").coef_, load_model("two.thresher").coef_)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ('{"colour": "red"}', "a.json: there is no question 'colour'; the questions are file, has_target,"),
        ('{"n_evaluations": -1}', "question 'n_evaluations', answer '-1': Please answer with the number of tries"),
        ('{"n_evaluations": ', "a.json: not JSON"),
        ("yes\nunknown\n", "question 'target', answer 'unknown': Please answer with the name of a column"),
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


def test_lines_of_standard_input_are_answers(table, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\nwhat\n\n\n\n\npa\n\n1\nm.thresher\n\n"))
    assert wizard.main(table) == 0
    assert "Please answer with a number from 1 to 2" in capsys.readouterr().out
    assert load_model("m.thresher").record_["auto"]["method"] == "pa"


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

    options: dict[str, Any] = {"encoding": "utf-8", "timeout": 60, "dimensions": (40, 100)}
    return pexpect, pexpect.spawn(sys.executable, arguments, preexec_fn=as_in_a_shell, **options)


def test_a_person_at_a_terminal(table):
    pexpect, talk = start(table)
    for expected, answer in [
        ("you would like to predict.*> ", "y"),
        ("Which column.*> ", "colour"),
        ("Please answer with the name of a column.*> ", "3"),
        ("Is it a class.*> ", "?"),
        ("Classes have no order.*> ", ""),
        ("none of the classes.*> ", "back"),
        ("Is it a class.*> ", "yes"),
        ("none of the classes.*> ", ""),
        ("Which loss.*> ", ""),
        ("By which measure.*> ", "error"),
        ("be curved.*> ", "no"),
        ("Which method.*> ", "pegasos"),
        ("parameters be searched.*> ", "random"),
        ("How many models.*> ", "2"),
        ("Where should the model be saved.*> ", "m.thresher"),
        ("Where should a report be saved.*> ", ""),
    ]:
        talk.expect(expected)
        talk.sendline(answer)
    talk.expect("The same on the command line")
    talk.expect(pexpect.EOF)
    talk.close()
    assert talk.exitstatus == 0
    model = load_model("m.thresher")
    assert type(model[-1]).__name__ == "PegasosClassifier"
    assert list(model.classes_) == ["high", "low"]
    assert model.record_["auto"]["n_evaluations"] == 2


@pytest.mark.parametrize(("key", "status"), [("c", 130), pytest.param("d", 2, marks=pytest.mark.slow)])
def test_leaving_with_the_keyboard(table, folder, key, status):
    pexpect, talk = start(table)
    talk.expect("> ")
    talk.sendline("yes")
    talk.expect("Which column.*> ")
    talk.sendcontrol(key)
    talk.expect("othing was written")
    talk.expect(pexpect.EOF)
    talk.close()
    assert talk.exitstatus == status
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv"]
