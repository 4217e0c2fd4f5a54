"""Rows of no class and rows without a label in the black box; methods with a kernel of their own."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics import balanced_accuracy_score

import thresher
from thresher import registry
from thresher._auto import AutoOptions, has_kernel, run_auto
from thresher._auto._candidate_model import build, space_of
from thresher._auto._choice import choose_methods
from thresher._auto._compared_rows import make_folds, make_scoring
from thresher._auto._contest import line_up
from thresher._auto._data import gather
from thresher._auto._plan import Plan
from thresher._auto._task import settle_labels, stand_ins
from thresher._estimators import KernelMachine
from thresher.cli import main
from thresher.datasets import make_novelty, make_tri_class
from thresher.metrics import detection_rate
from thresher.persistence import load_model, save_model
from thresher.tuning import LabelledKFold, NoveltyKFold
from thresher.wizard import wizard
from thresher.wizard._call import call_of
from thresher.wizard._data_file import DataFile
from thresher.wizard._dialogue import AnswerSource, Dialogue, DialogueAnswers
from thresher.wizard._more_questions import MORE_QUESTIONS
from thresher.wizard._questions import QUESTIONS

auto, explain = thresher.auto, thresher.explain
MOONS = np.array(["one", "two", "unknown"], dtype=object)
FEW = np.array(["no", "yes", "?"], dtype=object)


def moons(n: int = 150, seed: int = 0, outliers: bool = True) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_novelty(n, kind="moons", random_state=seed)
    kept = np.ones(n, dtype=bool) if outliers else y != -1
    return X[kept], MOONS[y[kept]]


def few(n_unlabelled: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_tri_class(30, n_unlabelled, 5, relevant=0.5, random_state=seed)
    return X, FEW[y]


def learner(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def plan_for(X: Any, y: Any, n_rows: int | None = None, **options: Any) -> Plan:
    """The plan of a classification, as if there were so many rows."""
    given = AutoOptions(**options)
    data = gather(X, y, given, {})
    data.facts.n_rows = n_rows or data.facts.n_rows
    return Plan(data, settle_labels(given, data), "classification")


def contest(X: Any, y: Any, n_rows: int | None = None, **options: Any) -> list[str]:
    plan = plan_for(X, y, n_rows, **options)
    return [candidate.name for candidate in line_up(choose_methods(plan)[0], plan)]


def tuned(plan: Plan) -> list[set[str]]:
    """Names of the parameters that are tuned, of every candidate."""
    return [set(space_of(build(c, plan), c, plan)) for c in choose_methods(plan)[0]]


# --- rows of no class -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["words", "numbers", "numbers as text"])
def test_outliers_are_found_whatever_labels_are_made_of(kind):
    X, y = moons()
    label: Any = "unknown"
    if kind != "words":
        y = np.select([y == "one", y == "two"], [3, 7], -1)
        label = -1 if kind == "numbers" else "-1"
    fresh, truth = make_novelty(400, kind="moons", random_state=1)
    model = auto(X, y, outlier_label=label, n_evaluations=8, cv=2)
    assert learner(model).outlier_label == (label if kind == "words" else -1)
    assert len(model.classes_) == 2
    predicted = model.predict(fresh)
    assert predicted.dtype.kind == ("O" if kind == "words" else "i")
    assert np.mean(predicted[truth == -1] == learner(model).outlier_label) > 0.8
    assert np.mean(predicted[truth != -1] == learner(model).outlier_label) < 0.25
    said = explain(model)
    assert "rows are" in said
    assert "of no class" in said
    assert "Criterion: balanced_error, which weighs all classes equally" in said


def test_outliers_that_nobody_has_seen_are_stood_in_for():
    X, y = moons(outliers=False)
    fresh, truth = make_novelty(400, kind="moons", random_state=1)
    model = auto(X, y, outlier_label="unknown", n_evaluations=12, cv=2)
    assert detection_rate(MOONS[truth], model.predict(fresh), outlier_label="unknown") > 0.8
    assert "No row is 'unknown'" in explain(model)
    assert "stand in for outliers" in explain(model)
    assert set(model.record_["auto"]["params"]) >= {"learn__gamma", "learn__coupling"}


def test_stand_ins_are_spread_over_the_range_of_the_columns_and_count_as_one_more_class():
    X, y = moons(100, outliers=False)
    plan = replace(plan_for(X, y, outlier_label="unknown", random_state=3), criterion="balanced_error")
    made = stand_ins(plan.data, 3)
    room = 0.1 * np.ptp(X, axis=0)
    assert made.shape == X.shape
    assert (made >= X.min(axis=0) - room).all()
    assert (made <= X.max(axis=0) + room).all()
    assert (made.min(axis=0) < X.min(axis=0)).any()
    assert (made.max(axis=0) > X.max(axis=0)).any()
    assert_array_equal(made, stand_ins(plan.data, 3))

    class Guess:
        classes_ = np.array(["one", "two"])

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.where(rows[:, 0] > 0, "one", np.where(rows[:, 1] > 0, "two", "unknown")).astype(object)

    truth = np.concatenate([y, np.full(len(made), "unknown", dtype=object)])
    together = balanced_accuracy_score(truth, Guess().predict(np.vstack([X, made])))
    score = make_scoring(plan)(Guess(), X, y)
    np.testing.assert_allclose(score, together - 1, rtol=1e-12)


def test_where_rows_cannot_be_made_up_what_decides_on_outliers_is_not_tuned():
    X, y = moons(80, outliers=False)
    wide = sparse.csr_array(np.hstack([X, np.zeros((len(X), 60))]))
    assert tuned(plan_for(wide, y, outlier_label="unknown"))[0] == {"coupling"}
    model = auto(wide, y, outlier_label="unknown", n_evaluations=2, cv=2)
    assert "nu and gamma are not tuned" in explain(model)
    told = np.where(np.arange(len(y)) % 9, y, "unknown")
    assert tuned(plan_for(wide, told, outlier_label="unknown"))[0] == {"nu", "coupling", "gamma"}


def test_folds_are_those_of_novelty_and_of_labelled_rows():
    X, y = moons(120)
    known = set(np.flatnonzero(y != "unknown"))
    for cv in (None, 3, np.int64(3), NoveltyKFold(3, outlier_label="unknown", random_state=0)):
        for learn, test in make_folds(plan_for(X, y, outlier_label="unknown", cv=cv)):
            assert set(learn) <= known
            assert set(test) - known == set(range(120)) - known
            assert not set(learn) & set(test)
            assert set(learn) | set(test) == set(range(120))
    X, y = few()
    known = set(np.flatnonzero(y != "?"))
    for cv in (None, 3, np.int64(3), LabelledKFold(3, unlabelled_label="?")):
        for learn, test in make_folds(plan_for(X, y, unlabelled_label="?", cv=cv)):
            assert set(test) < known
            assert set(range(70)) - known <= set(learn)
            assert set(learn) | set(test) == set(range(70))
    plain = [(np.arange(35), np.arange(35, 70))]  # whatever splits the user gives: what has no label is not scored
    assert set(make_folds(plan_for(X, y, unlabelled_label="?", cv=plain))[0][1]) == set(range(35, 70)) & known


def test_no_error_at_all_is_said_without_a_sign():
    plan = replace(plan_for(*moons(), outlier_label="unknown"), criterion="error")
    assert [plan.score_text(score) for score in (0.0, -0.0, -0.25)] == ["error 0", "error 0", "error 0.25"]


def test_methods_for_outliers_follow_the_number_of_rows_and_the_kernel():
    X, y = moons(60)
    assert contest(X, y, outlier_label="unknown") == ["snd", "lssnd"]
    assert contest(X, y, outlier_label="new") == ["snd", "lssnd"]
    assert contest(X, y, outlier_label="unknown", kernel="nystroem") == ["pegasossnd with rbf features"]
    assert contest(X, y, outlier_label="unknown", kernel="linear") == ["pegasossnd"]
    assert contest(X, y, outlier_label="unknown", method="pegasossnd") == ["pegasossnd with rbf features"]
    assert contest(X, y, 2001, outlier_label="unknown") == ["snd"]
    assert contest(X, y, 5001, outlier_label="unknown") == ["pegasossnd with rbf features"]
    assert contest(np.hstack([X, np.zeros((60, 60))]), y, 5001, outlier_label="unknown") == ["pegasossnd"]


def test_rows_of_no_class_are_not_out_of_balance():
    X, y = moons(200)
    y[np.flatnonzero(y == "unknown")[2:]] = "one"
    model = auto(X, y, method="snd", outlier_label="unknown", n_evaluations=1, cv=2)
    assert "imbalanced" not in explain(model)
    assert learner(model).class_weight is None


def test_a_method_brings_its_own_label():
    X, y = make_novelty(120, kind="moons", random_state=0)
    model = auto(X, y, method="lssnd", n_evaluations=2, cv=2)
    assert "rows are -1, of no class" in explain(model)
    assert list(model.classes_) == [0, 1]
    own = auto(X, np.where(y == -1, 5, y), method="lssnd", params={"outlier_label": 5}, n_evaluations=2, cv=2)
    assert "rows are 5, of no class" in explain(own)
    assert own.record_["auto"]["score"] == model.record_["auto"]["score"]


def test_predictions_of_held_out_rows_are_one_for_each_and_reject(tmp_path):
    X, y = moons()
    run = run_auto(X, y, outlier_label="unknown", method="lssnd", n_evaluations=4, predict=True)
    assert len(run.held_out.y) == len(y)
    assert sorted(run.held_out.y) == sorted(y)
    assert "unknown" in run.held_out.predicted
    save_model(run.model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert_array_equal(again.predict(X), run.model.predict(X))
    assert explain(again) == explain(run.model)


# --- rows without a label ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_unlabelled_rows_teach_and_are_not_scored(kind):
    X, y = few()
    label: Any = "?"
    if kind == "numbers":
        y, label = np.select([y == "no", y == "yes"], [0, 1], -1), -1
    run = run_auto(X, y, unlabelled_label=label, n_evaluations=36, cv=2, predict=True)
    assert list(run.model.classes_) == (["no", "yes"] if kind == "words" else [0, 1])
    assert len(run.held_out.y) == 30
    said = explain(run.model)
    assert "40 of 70 rows are" in said
    assert "are scored on labelled rows only" in said
    for name in ("universum 0", "lapsvc of the labelled rows alone 0", "triclass 0"):
        assert name in said


def test_a_model_of_the_labelled_rows_stands_beside_the_others():
    X, y = few()
    alone, heaps = "lapsvc of the labelled rows alone", "semiksc of the two largest clusters"
    assert contest(X, y, unlabelled_label="?") == ["universum", alone, "triclass", "semiksc", "lapsvc", heaps]
    assert contest(X, y, unlabelled_label="?", method="triclass") == ["triclass"]
    assert contest(X, y, unlabelled_label="?", params={"C_unlabelled": 1.0}) == ["universum", "triclass"]
    assert contest(X, y, unlabelled_label="?", kernel="linear") == [
        "universum",
        alone,
        "triclass",
    ]  # clusters need degrees
    plan = plan_for(X, y, unlabelled_label="?")
    assert tuned(plan)[0] == {f"learn__{name}" for name in ("C", "C_unlabelled", "epsilon", "gamma")}


def test_clusters_of_unlabelled_rows_are_found():
    X, truth = make_moons(80, noise=0.05, random_state=0)
    y = np.array(["no", "yes"])[truth].astype(object)
    y[np.arange(80) % 5 != 0] = "?"
    run = run_auto(X, y, unlabelled_label="?", n_evaluations=48, cv=2)
    assert "semiksc 0" in explain(run.model)
    model = auto(X, y, unlabelled_label="?", method="semiksc", n_evaluations=12, cv=2)
    assert learner(model).unlabelled_label == "?"
    assert np.mean(model.predict(X) == np.array(["no", "yes"])[truth]) > 0.9


def test_more_rows_than_can_be_compared_are_for_landmarks(monkeypatch):
    monkeypatch.setattr(KernelMachine, "_max_rows", 40)
    monkeypatch.setattr("thresher._auto._choice._WHOLE_IN_SEARCH", 40)
    X, y = few()
    alone, heaps = "lapsvc of the labelled rows alone", "semiksc of the two largest clusters"
    assert contest(X, y, unlabelled_label="?") == ["semiksc", alone, "lapsvc", heaps]
    assert contest(X, y, unlabelled_label="?", params={"spread": 0.5}) == ["semiksc", heaps]
    model = auto(X, y, unlabelled_label="?", n_evaluations=24, cv=2)
    assert f", {alone} 0." in explain(model)


def test_a_rare_class_is_one_among_labelled_rows():
    X, y = few()
    y = y.copy()
    y[np.flatnonzero(y == "yes")[2:]] = "?"
    y[np.flatnonzero(y == "?")[:20]] = "no"
    model = auto(X, y, unlabelled_label="?", method="universum", n_evaluations=1, cv=2)
    assert "imbalanced: 'yes'" in explain(model)


REFUSED = [
    ({"unlabelled_label": "maybe"}, "unlabelled_label must be a label of some rows, got 'maybe', which no row has."),
    ({"unlabelled_label": "?", "outlier_label": "x"}, "outlier_label and unlabelled_label cannot both be given"),
    ({"unlabelled_label": "yes"}, None),
    ({"unlabelled_label": ["?"]}, "unlabelled_label must be a number or text, got ['?']."),
    ({"unlabelled_label": "?", "task": "clustering"}, "unlabelled_label is for classification, but the task is clust"),
    ({"unlabelled_label": "?", "method": "pegasos-regressor"}, "is for classification, but the task is regression"),
    ({"unlabelled_label": "?", "method": "arow"}, "'triclass', 'universum' with unlabelled_label, got"),
    ({"outlier_label": "?", "method": "lssvc"}, "must be one of 'lssnd', 'pegasossnd', 'snd' with outlier_label, got"),
    ({"unlabelled_label": "?", "kernel": "nystroem"}, "for 'universum', which needs no map, got 'nystroem'."),
    ({"unlabelled_label": "?", "params": {"unlabelled_label": "?"}}, "unlabelled_label is given twice"),
    ({"unlabelled_label": "?", "groups": [[0, 1]]}, "groups and unlabelled_label cannot both be given, because no"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(options, sentence):
    X, y = few()
    if sentence is None:  # two classes remain, '?' being one
        assert list(auto(X, y, **options, n_evaluations=1, cv=2).classes_) == ["?", "no"]
        return
    with pytest.raises(ValueError) as refusal:
        auto(X, y, n_evaluations=1, cv=2, **options)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_label_that_leaves_one_class_is_refused():
    X = few()[0]
    with pytest.raises(
        ValueError, match=r"two classes besides outlier_label -1, got only '1'; if that is a class, give"
    ):
        auto(X, np.where(X[:, 0] > 0, 1, -1), method="snd")
    with pytest.raises(ValueError, match=r"outlier_label must be a whole number if labels are numbers, got 'x'"):
        auto(X, np.where(X[:, 0] > 0, 1, -1), outlier_label="x")


# --- methods with a kernel of their own -------------------------------------------------------------------------------


def machines() -> list[str]:
    return [method.name for method in registry.methods() if has_kernel(method) and method.task == "classification"]


def test_kernel_machines_are_known_by_their_parameters():
    assert {"lssvc", "snd", "lssnd", "triclass", "universum", "s3vc"} <= set(machines())
    assert not {"arow", "pegasos", "pegasossnd", "l1rda"} & set(machines())


@pytest.mark.parametrize("kernel", [None, "linear", "rbf", "polynomial", "cosine"])
def test_kernel_machines_take_the_kernel_for_their_own_and_stand_behind_no_map(kernel):
    X, y = moons(80, outliers=False)
    model = auto(X, y, method="lssvc", kernel=kernel, n_evaluations=2, cv=2)
    assert [name for name, _ in model.steps] == ["scale", "encode", "learn"]
    assert learner(model).kernel == (kernel or "rbf")
    assert ("learn__gamma" in model.record_["auto"]["params"]) == (kernel in (None, "rbf"))


def test_widths_are_sought_around_what_suits_standardised_columns():
    X, y = moons(60)
    for label, high in ({}, 10.0), ({"outlier_label": "unknown"}, 50.0):
        method = "snd" if label else "lssvc"
        plan = plan_for(X, y, method=method, **label)
        (only,), _ = choose_methods(plan)
        space = space_of(build(only, plan), only, plan)["learn__gamma"]
        assert (space.low, space.high) == (0.025, high)
        assert dict(space.when) == {"kernel": "rbf"}


def test_what_a_kernel_machine_cannot_do_is_refused(monkeypatch):
    X, y = moons(60, outliers=False)
    with pytest.raises(ValueError, match=r"kernel must be one of .* for 'lssvc', which needs no map, got 'nystroem'"):
        auto(X, y, method="lssvc", kernel="nystroem")
    with pytest.raises(ValueError, match=r"sparsity needs a method with feature weights, but 'lssvc' compares rows"):
        auto(X, y, method="lssvc", sparsity=0.1)
    monkeypatch.setattr(KernelMachine, "_max_rows", 40)
    with pytest.raises(ValueError, match=r"at most 40, got \d\d; kernel='nystroem' has no such limit.* 'pegasos'\.$"):
        auto(X, y, method="lssvc")
    labels = np.where(np.arange(len(y)) % 2, y, "?")
    with pytest.raises(ValueError, match=r"at most 40, got \d\d; use only some of the unlabelled rows\.$"):
        auto(X, labels, unlabelled_label="?", method="universum")


def test_many_kernels_are_learned_where_they_are_asked_for():
    X, y = moons(60, outliers=False)
    if "gmkl" not in machines():
        pytest.skip("there is no multiple kernel learning")
    assert "gmkl" not in contest(X, y)
    model = auto(X, y, method="gmkl", n_evaluations=1, cv=2)
    assert model.record_["auto"]["method"] == "gmkl"
    with pytest.raises(ValueError, match=r"kernel must be None for 'gmkl', which has several, got 'rbf'"):
        auto(X, y, method="gmkl", kernel="rbf")


# --- the wizard -------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (X, y) in {"moons.csv": moons(80), "few.csv": few(20), "two.csv": moons(60, outliers=False)}.items():
        header = ",".join([*(f"c{j}" for j in range(X.shape[1])), "kind"])
        lines = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
        (tmp_path / name).write_text("\n".join([header, *lines]) + "\n")
    (tmp_path / "numbers.csv").write_text("a,b\n" + "1.5,1\n2.5,2\n3.5,-1\n" * 20)
    (tmp_path / "amounts.csv").write_text("a,b\n" + "\n".join(f"{i / 7},{i / 3}" for i in range(60)) + "\n")
    return tmp_path


def talk(path: str, **answers: str) -> tuple[dict[str, Any], list[str], str]:
    """Answers, the questions that were asked, and all that was said, of a person who otherwise presses ENTER."""
    asked, said = [], []

    def ask(question: Any, prompt: str) -> str:
        asked.append(question.id)
        return answers.get(question.id, "")

    source, found = AnswerSource(ask, strict=True), DialogueAnswers(functools.cache(DataFile))
    Dialogue((*QUESTIONS, *MORE_QUESTIONS), source, said.append, found, {"file": path}, wants_more=True).run()
    return found, asked, "\n".join(said)


def test_the_wizard_asks_for_labels_only_where_there_can_be_some(files):
    assert talk("moons.csv")[1][4:7] == ["unlabelled_label", "outlier_label", "loss"]
    assert talk("two.csv")[1][4:6] == ["outlier_label", "loss"]  # no class to spare for unlabelled rows
    assert not {"outlier_label", "unlabelled_label"} & {*talk("amounts.csv")[1], *talk("moons.csv", target="none")[1]}
    _, asked, said = talk("few.csv", unlabelled_label="?")
    assert not {"outlier_label", "loss", "kernel"} & set(asked)
    assert "triclass" in said.split("Which method?")[1]
    assert "arow" not in said.split("Which method?")[1]
    _, asked, said = talk("moons.csv", outlier_label="unknown")
    assert not {"loss", "kernel"} & set(asked)
    assert "lssnd" in said.split("Which method?")[1]


@pytest.mark.parametrize(
    ("path", "answer", "expected"),
    [
        ("moons.csv", {"outlier_label": "unknown"}, {"outlier_label": "unknown"}),
        ("moons.csv", {"outlier_label": "4"}, {"outlier_label": "unknown"}),
        ("moons.csv", {"outlier_label": "novel"}, {"outlier_label": "novel"}),
        ("moons.csv", {}, {}),
        ("few.csv", {"unlabelled_label": "?"}, {"unlabelled_label": ""}),  # no call for help here
        ("few.csv", {"unlabelled_label": "2"}, {"unlabelled_label": ""}),
        ("few.csv", {"unlabelled_label": "blank"}, {"unlabelled_label": ""}),
        ("few.csv", {"unlabelled_label": "no"}, {"unlabelled_label": "no"}),  # a label that is there
        ("few.csv", {"unlabelled_label": "no such rows"}, {}),
        ("numbers.csv", {"outlier_label": "-1"}, {"outlier_label": -1}),
        ("numbers.csv", {"outlier_label": "-7"}, {"outlier_label": -7}),
        ("numbers.csv", {"unlabelled_label": "-1"}, {"unlabelled_label": -1}),
    ],
)
def test_the_wizard_hands_labels_on(files, path, answer, expected):
    found, _, _ = talk(path, **answer)
    call = call_of(found)
    assert {k: v for k, v in call.arguments.items() if k.endswith("_label")} == expected
    for name, label in expected.items():
        assert f"--{name.replace('_', '-')} {label}" in call.command().replace("'", "")


@pytest.mark.parametrize(
    ("path", "answer", "sentence"),
    [
        (
            "few.csv",
            {"unlabelled_label": "maybe"},
            "No row has the label 'maybe'; please answer with one of blank, no, yes, or no",
        ),
        (
            "numbers.csv",
            {"outlier_label": "strange"},
            "The labels are numbers; please answer with a whole number, or no.",
        ),
    ],
)
def test_the_wizard_refuses_labels_that_cannot_be(files, path, answer, sentence):
    with pytest.raises(ValueError) as refusal:
        talk(path, **answer)
    assert sentence in str(refusal.value)


def test_methods_with_a_kernel_are_listed_unless_boundaries_are_settled(files):
    for answer, listed in (("automatic", True), ("rbf", False), ("linear", False)):
        shown = talk("two.csv", kernel=answer)[2].split("Which method?")[1]
        assert ("lssvc" in shown) is listed
        assert "pegasos" in shown
        assert "lssnd" not in shown


def test_a_wizard_run_finds_outliers_and_its_command_does_the_same(files, capsys):
    said: list[str] = []
    answers = {
        "outlier_label": "unknown",
        "method": "lssnd",
        "n_evaluations": 3,
        "model": "m.thresher",
        "report": "r.txt",
    }
    model = wizard("moons.csv", answers=answers, say=said.append)
    text = "\n".join(said)
    assert "Rows of no class found" in text
    assert "The model compares whole rows; single columns have no weights of their own." in text
    command = text.split("The same on the command line\n")[1].split("\n\n")[0].replace("\\\n", " ").split()
    assert main(command[1:]) == 0
    again = load_model("m.thresher")
    X = moons(300, seed=5)[0]
    assert_array_equal(again.predict(X), model.predict(X))
    assert "unknown" in again.predict(X)


def test_few_labels_leave_columns_of_one_range_as_they_are():
    X = np.random.default_rng(0).integers(0, 17, size=(80, 6)).astype(float)
    X[0], X[1] = 0, 16
    y = np.where(X[:, 0] > 8, "a", "b").astype(object)
    y[::2] = "?"
    model = auto(X, y, unlabelled_label="?", n_evaluations=4, cv=2)
    assert "scale" not in dict(model.steps)
    assert "seem to share a unit" in explain(model)
    assert "scale" in dict(auto(X * 10.0 ** np.arange(6), y, unlabelled_label="?", n_evaluations=4, cv=2).steps)


def test_one_label_of_each_class_is_enough_to_answer():
    X, truth = make_moons(60, noise=0.05, random_state=0)
    y = np.full(60, -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[0]] = label
    run = run_auto(X, y, unlabelled_label=-1, predict=True)
    model = run.model
    assert run.held_out is None
    assert "There are too few labels to compare models" in explain(model)
    assert model.record_["auto"]["score"] is None
    assert set(model.predict(X)) <= {0, 1}


def test_few_labels_choose_no_parameters():
    X, truth = make_moons(80, noise=0.05, random_state=0)
    y = np.where(np.arange(80) % 4 == 0, truth, -1)
    record = auto(X, y, unlabelled_label=-1, cv=2).record_["auto"]
    assert all(entry["params"] == {} for entry in record["search"])
    names = [entry["candidate"] for entry in record["search"]]
    assert "lapsvc of the labelled rows alone" in names
    assert len(names) == len(set(names))
    assert "logistic regression of the labelled rows" in [each["name"] for each in record["yardsticks"]]


def test_few_labels_leave_noise_as_small_as_it_is():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 30))
    X[:, :3] += 6 * np.eye(3)[truth]
    y = np.where(np.arange(200) < 12, truth, -1)
    model = auto(X, y, unlabelled_label=-1)
    assert "scale" not in dict(model.steps)
    assert np.mean(model.predict(X[12:]) == truth[12:]) > 0.95
