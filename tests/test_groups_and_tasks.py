"""Groups of columns and a column of tasks in the black box and in the wizard."""

from __future__ import annotations

import functools
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher import auto, explain, wizard
from thresher.cli import main
from thresher.dual_averaging import GroupRDAClassifier, GroupRDARegressor, MultiTaskRDAClassifier, MultiTaskRDARegressor
from thresher.persistence import load_model
from thresher.wizard._call import call_of
from thresher.wizard._data_file import DataFile
from thresher.wizard._dialogue import AnswerSource, Dialogue, DialogueAnswers
from thresher.wizard._more_questions import MORE_QUESTIONS
from thresher.wizard._questions import QUESTIONS


@pytest.fixture
def frame() -> pd.DataFrame:
    """Pupils of three schools; each school has a slope of its own."""
    rng = np.random.default_rng(0)
    schools, towns = rng.choice(["north", "south", "east"], 240), rng.choice(["A", "B"], 240)
    X = rng.normal(size=(240, 3))
    slope = np.where(schools == "north", 2.0, np.where(schools == "south", 1.5, 3.0))
    score = slope * X[:, 0] + X[:, 1] + (towns == "B")
    columns = {"hours": X[:, 0], "school": schools, "sleep": X[:, 1], "noise": X[:, 2], "town": towns, "score": score}
    return pd.DataFrame(columns)


@pytest.fixture
def file(frame, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    frame.round(4).to_csv("exam.csv", index=False)
    return "exam.csv"


# --- the black box ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [False, True])
def test_tasks_are_learned_together(frame, classes):
    y = np.where(frame["score"] > 0, "yes", "no") if classes else frame["score"]
    model = auto(frame.drop(columns="score"), y, task_column="school", n_evaluations=3)
    assert type(model[-1]) is (MultiTaskRDAClassifier if classes else MultiTaskRDARegressor)
    assert sorted(model[-1].tasks_) == ["east", "north", "south"]
    assert "school" not in " ".join(model.get_feature_names_out())
    reasons = explain(model)
    assert "the rows belong to several tasks, and it selects features for all of them together" in reasons
    assert "The column 'school' names the task of a row and is not a feature." in reasons
    assert "one-hot encoded: town." in reasons
    assert model.score(frame.drop(columns="score"), y) > 0.8


def test_a_column_of_an_array_may_name_tasks():
    rng = np.random.default_rng(0)
    X, tasks = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    model = auto(np.column_stack([tasks, X]), X[:, 0] * tasks + X[:, 1], task_column=0, n_evaluations=2)
    assert sorted(model[-1].tasks_) == [0, 1, 2]
    assert model.coef_.shape == (3, 4)


def test_groups_are_selected_together(frame):
    groups = {"time": ["hours", "sleep"], "place": ["town"]}
    X, y = frame.drop(columns="score"), frame["score"]
    model = auto(X, y, groups=groups, n_evaluations=3)
    assert type(model[-1]) is GroupRDARegressor
    assert model[-1].groups == groups
    assert model[-1].groups_.names[:2] == ["time", "place"]
    assert "grouprda-regressor, because some columns belong together" in explain(model)
    rows = sparse.random(200, 20, 0.3, "csr", random_state=0)
    model = auto(rows, rows[:, [0]].toarray().ravel() > 0.3, groups=[[0, 1], [2, 3]], n_evaluations=2)
    assert type(model) is GroupRDAClassifier
    assert [group.tolist() for group in model.groups_[:2]] == [[0, 1], [2, 3]]


def test_words_are_the_usual_groups_of_a_method_that_needs_some(frame):
    X, y = frame.drop(columns="score"), frame["score"]
    model = auto(X, y, method="grouprda-regressor", n_evaluations=1)
    assert model[-1].groups == "encoder"
    assert "The features of one text column form a group" in explain(model)
    assert auto(X, y, method="pegasos-regressor", n_evaluations=1)[-1].get_params().get("groups") is None


def test_the_unit_of_targets_does_not_matter_to_tasks_and_groups(frame):
    X, y = frame.drop(columns="score"), frame["score"].round(3)
    for structure in ({"task_column": "school"}, {"groups": "encoder"}):
        small, large = (auto(X, unit * y, **structure, n_evaluations=2, cv=3) for unit in (1.0, 1000.0))
        assert np.linalg.norm(1000 * small.coef_ - large.coef_) < 1e-2 * np.linalg.norm(large.coef_)


REFUSALS = [
    ({"groups": "encoder", "task_column": "school"}, "groups and task_column cannot both be given"),
    ({"task_column": "class"}, "auto: task_column must be a column of X, but there is no 'class'"),
    ({"task_column": "hours"}, "auto: tasks must be text or whole numbers, but column 'hours' holds"),
    ({"task_column": 1.5}, "auto: task_column must be None, or a column"),
    ({"task_column": "school", "kernel": "rbf"}, "kernel must be None or 'linear' with task_column, got 'rbf'"),
    ({"groups": "encoder", "kernel": "rbf"}, "kernel must be None or 'linear' with groups, got 'rbf'"),
    ({"groups": "encoder", "method": "pegasos-regressor"}, "method must be one of 'groupfobos-regressor'"),
    ({"task_column": "school", "method": "grouprda-regressor"}, "method must be one of 'multitaskfobos-regressor'"),
    ({"groups": "encoder", "task": "clustering"}, "groups is for classification and regression"),
    ({"groups": [["hour"]]}, "groups must name columns of X, got 'hour'"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSALS)
def test_refusals_are_one_sentence(frame, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        auto(frame.drop(columns="score"), frame["score"], n_evaluations=1, **options)


def test_tasks_have_two_classes(frame):
    y = pd.cut(frame["score"], 3, labels=["low", "mid", "high"]).astype(str)
    with pytest.raises(ValueError, match="auto: task_column needs two classes or a numeric target, got 3 classes"):
        auto(frame.drop(columns="score"), y, task_column="school")


# --- the wizard -------------------------------------------------------------------------------------------------------

ANSWERS = {
    "tasks": {"task_column": "school"},
    "tasks by number": {"task_column": "2"},  # of the options, of which the first is none
    "words": {"groups": "words"},
    "groups": {"groups": "hours, sleep; town"},
    "prefix": {"groups": "prefix:o"},
}


def said(path: str, answers: dict[str, object]) -> tuple[object, str]:
    lines: list[str] = []
    given = {"target": "score", "n_evaluations": 2, "model": "m.thresher", **answers}
    return wizard.wizard(path, answers=given, say=lines.append), "\n".join(lines)


@pytest.mark.parametrize("name", ANSWERS)
def test_what_it_prints_makes_the_same_model(file, name, capsys):
    model, text = said(file, ANSWERS[name])
    assert model.task_column == ("school" if "tasks" in name else None)
    code = text.split("The same in Python\n")[1].split("Predictions for new rows")[0]
    made: dict[str, object] = {}
    exec("\n".join(line[3:] for line in code.splitlines() if line.startswith("   ")), made)
    assert_array_equal(made["model"].coef_, model.coef_)
    command = shlex.split(text.split("The same on the command line\n")[1].split("\n\n")[0].replace("\\\n", " "))
    assert main(command[1:]) == 0
    assert_array_equal(load_model("m.thresher").coef_, model.coef_)
    assert load_model("m.thresher").task_column == model.task_column


@pytest.mark.parametrize("name", ANSWERS)
def test_saved_answers_give_the_same_model(file, name, capsys):
    with open("answers.json", "w") as out:
        json.dump({"target": "score", "n_evaluations": 2, **ANSWERS[name]}, out)
    for answers, place in (("answers.json", "a.thresher"), ("saved.json", "b.thresher")):
        assert main(["wizard", file, "--answers", answers, "--save-answers", "saved.json", "--model", place]) == 0
    assert_array_equal(load_model("a.thresher").coef_, load_model("b.thresher").coef_)


def asked(path: str, **answers: str) -> list[str]:
    """The questions that a person is asked who answers these and takes the default of all others."""
    names: list[str] = []

    def ask(question, prompt):
        names.append(question.id)
        return answers.get(question.id, "")

    talk(ask, {"file": path}, wants_more=True)
    return names


def talk(ask, given, wants_more=False):
    """The answers to the questions, with those on request if they are wanted."""
    answers = DialogueAnswers(functools.cache(DataFile))
    questions = (*QUESTIONS, *MORE_QUESTIONS)
    return Dialogue(questions, AnswerSource(ask), lambda line: None, answers, given, wants_more).run()


def test_it_asks_where_a_table_has_words(file, tmp_path):
    everything = asked(file)
    assert everything[3:6] == ["task", "task_column", "groups"]
    assert "groups" not in asked(file, task_column="school")
    assert "kernel" not in asked(file, task_column="school")
    assert "kernel" not in asked(file, groups="words")
    assert "task_column" not in asked(file, target="none")
    (tmp_path / "numbers.csv").write_text("a,b\n" + "1,2.5\n2,3.5\n" * 20)
    assert not {"task_column", "groups"} & set(asked("numbers.csv"))
    (tmp_path / "words.csv").write_text("a,b,c\n" + "1,x,yes\n2,y,no\n3,x,maybe\n" * 20)
    assert "task_column" not in asked("words.csv")  # of three classes
    assert "groups" in asked("words.csv")


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"task_column": "score"}, "score is the column to predict"),
        ({"task_column": "class"}, "name of a column or with its number"),
        ({"groups": "hours, score"}, "There is no column 'score' to learn from"),
        ({"groups": ";"}, "names of columns between commas"),
    ],
)
def test_wrong_answers_are_refused(file, answers, sentence):
    with pytest.raises(ValueError, match=sentence):
        said(file, answers)


def test_without_groups_and_tasks_the_call_is_as_it_was(file):
    answers = talk(lambda question, prompt: "", {"file": file, "target": "score"}, wants_more=True)
    assert set(call_of(answers).arguments) == {"target"}
