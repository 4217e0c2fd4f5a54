"""``--groups`` and ``--task-column``, as a user's shell sees them."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher.cli import main
from thresher.dual_averaging import GroupRDAClassifier, MultiTaskRDARegressor
from thresher.persistence import load_model
from thresher.preprocessing import prepared
from thresher.streams import open_stream, write_svmlight
from thresher.training import read_all, train


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A table of pupils of three schools, new pupils, and sparse rows of which the first five columns count."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    slope = {"north": 2.0, "south": 1.5, "east": 3.0}
    with open("exam.csv", "w") as old, open("new.csv", "w") as new:
        old.write("hours,school,sleep,noise,town,score\n")
        new.write("town,noise,school,hours,sleep\n")
        for i in range(300):
            (h, s, n), school, town = rng.normal(size=3), rng.choice(list(slope)), rng.choice(["A", "B", "C"])
            old.write(f"{h:.3f},{school},{s:.3f},{n:.3f},{town},{slope[school] * h + s + 2 * (town == 'B'):.4f}\n")
            if i < 20:
                new.write(f"{town},{n:.3f},{school},{h:.3f},{s:.3f}\n")
    X = rng.normal(size=(600, 30)) * (rng.random((600, 30)) < 0.4)
    write_svmlight(tmp_path / "x.svm", X, np.where(X[:, :5].sum(axis=1) > 0, 1, -1))
    return tmp_path


def run(*words):
    return main(list(words))


def refused(capsys, *words):
    capsys.readouterr()
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("thresher: ")
    assert "Traceback" not in captured.err
    return captured.err.splitlines()[-1]


def groups_of(path):
    """Every given group of a model by the names of its features."""
    model = load_model(path)
    learner = model[-1] if hasattr(model, "steps") else model
    width = range(learner.n_features_in_)
    names = model.get_feature_names_out() if hasattr(model, "steps") else np.array([f"x{j + 1}" for j in width])
    listed = learner.groups_
    return [sorted(names[group]) for group in listed[: len(listed) - len(listed.alone)]]


# --- groups -----------------------------------------------------------------------------------------------------------

GROUPS = {
    "names.json": '[["hours", "sleep"], ["town"]]',
    "object.json": '{"time": ["hours", 2], "place": [4]}',
    "labels.json": '["time", "", "time", null, "place"]',
    "lines.txt": "# two groups\nhours, sleep\n\n4\n",
    "blanks.txt": "0 2\ntown\n",
}


@pytest.mark.parametrize("value", [*GROUPS, '[["hours", "sleep"], ["town"]]'])
def test_groups_of_a_table_by_name_or_number(files, value, capsys):
    for name, content in GROUPS.items():
        (files / name).write_text(content)
    line = ["train", "exam.csv", "--method", "grouprda-regressor", "--groups", value, "--model", "m.thresher"]
    assert run(*line) == 0
    assert "Without --groups" not in capsys.readouterr().err
    assert sorted(groups_of("m.thresher")) == [["hours", "sleep"], ["town=A", "town=B", "town=C"]]
    found = {}
    exec(load_model("m.thresher").record_["python"], found)  # what is printed makes the same model
    assert_array_equal(found["run"].model.coef_, load_model("m.thresher").coef_)


def test_words_are_the_usual_groups_and_plain_numbers_have_none(capsys):
    assert run("train", "exam.csv", "--method", "grouprda-regressor", "--alpha", "0.3", "--model", "m.thresher") == 0
    said = capsys.readouterr()
    assert "The words of each text column form a group: school, town" in said.err
    assert load_model("m.thresher")[-1].groups == "encoder"
    assert len(groups_of("m.thresher")) == 2
    assert "0 of 2 groups are in use" in said.out
    assert run("train", "x.svm", "--method", "grouprda") == 0
    assert "Without --groups, every column is a group of its own." in capsys.readouterr().err
    assert run("train", "x.svm", "--method", "arow") == 0
    assert "group" not in capsys.readouterr().err


def test_sparse_rows_are_read_as_wide_as_the_groups_speak(files, capsys):
    value = '[[0, 1, 2, 3, 4], ["x6", "x41"]]'
    line = ["train", "x.svm", "--method", "grouprda", "--alpha", "0.1", "--groups", value, "--batch-size", "50"]
    assert run(*line, "--model", "m.thresher", "--report", "r.json") == 0
    assert groups_of("m.thresher") == [["x1", "x2", "x3", "x4", "x5"], ["x41", "x6"]]
    section = json.loads((files / "r.json").read_text())["sections"]["groups"]
    assert (section["n_groups"], section["n_used"], section["n_alone_used"]) == (2, 1, 0)
    assert section["groups"][0]["features"] == ["x1", "x2", "x3", "x4", "x5"]
    stream = open_stream("x.svm", n_features=41, shuffle=600, max_iter=5, batch_size=50)
    learner = GroupRDAClassifier([[0, 1, 2, 3, 4], [5, 40]], 0.1, random_state=0)
    assert_array_equal(load_model("m.thresher").coef_, train(learner, stream, classes=[-1, 1]).model.coef_)
    assert run("predict", "m.thresher", "x.svm", "-o", "p.csv") == 0
    capsys.readouterr()
    assert run("inspect", "m.thresher", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["n_groups"], facts["groups_in_use"]) == (2, ["group 1"])
    (files / "labels.json").write_text(json.dumps([0] * 5 + [1] * 25 + [-1]))
    assert run("train", "x.svm", "--method", "grouprda", "--groups", "labels.json", "--model", "m.thresher") == 0
    assert [len(group) for group in groups_of("m.thresher")] == [5, 25]


def test_words_that_come_too_late_are_said(files, capsys):
    lines = [f"{i % 3},{'a' if i < 200 else 'bc'[i % 2]},{'yes' if i % 3 else 'no'}\n" for i in range(400)]
    (files / "late.csv").write_text("n,w,y\n" + "".join(lines))
    line = ["train", "late.csv", "--method", "grouprda", "--max-iter", "1", "--shuffle", "0", "--batch-size"]
    assert run(*line, "100") == 0
    assert "2 words were not in the first batch and belong to no group" in capsys.readouterr().err
    assert run(*line, "400") == 0
    assert "stand alone" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("nothing.txt", 'must be "prefix:" and a separator, "encoder", JSON lists, or a file of groups'),
        ("[[1,", "--groups: not JSON"),
        ('[["hours", "score"]]', "'score' is the target"),
        ('[["hours", 17]]', "--groups must be below the 6 columns, got 17"),
        ('[["hour"]]', "groups must name columns of X, got 'hour'"),
        ("[[]]", "--groups must hold lists of columns, got []"),
        ("[[1.5]]", "--groups must hold columns by number or name, got 1.5"),
        ("[1, 2]", "one label for each of the 5 columns beside the target, got 2"),
    ],
)
def test_wrong_groups_get_one_sentence(value, sentence, capsys):
    assert sentence in refused(capsys, "train", "exam.csv", "--method", "grouprda-regressor", "--groups", value)


def test_wrong_groups_of_sparse_rows_get_one_sentence(capsys):
    line = ["train", "x.svm", "--method", "grouprda", "--groups"]
    assert "x.svm: --groups encoder needs a table" in refused(capsys, *line, "encoder")
    assert "numbers from 0, or x1, x2" in refused(capsys, *line, '[["hours"]]')


def test_methods_without_groups_or_tasks_name_those_that_take_them(capsys):
    said = refused(capsys, "train", "x.svm", "--method", "arow", "--groups", "[[1,2]]")
    assert "arow takes no --groups; these methods do: groupfobos, groupfobos-regressor, grouprda," in said
    said = refused(capsys, "tune", "exam.csv", "--method", "arow", "--task-column", "school")
    assert "arow takes no --task-column; these methods do: multitaskfobos," in said
    said = refused(capsys, "auto", "exam.csv", "--method", "multitaskrda-regressor")
    assert "needs the task of each row; name its column with --task-column" in said


# --- tasks ------------------------------------------------------------------------------------------------------------

TRAIN = [
    "train",
    "exam.csv",
    "--target",
    "score",
    "--method",
    "multitaskrda-regressor",
    "--alpha",
    "0.01",
    "--max-iter",
    "5",
]


@pytest.mark.parametrize("column", ["school", "1"])
def test_tasks_from_a_column(files, column, capsys):
    assert run(*TRAIN, "--task-column", column, "--model", "m.thresher", "--report", "r.json") == 0
    out = capsys.readouterr().out
    assert "3 tasks were learned together, by the column 'school'." in out
    model = load_model("m.thresher")
    assert model.task_column == "school"
    assert "school" not in " ".join(model.get_feature_names_out())
    stream = open_stream("exam.csv", target="score", shuffle=300, max_iter=5)
    blank = prepared(MultiTaskRDARegressor(alpha=0.01, random_state=0), next(iter(stream)).X, task_column="school")
    assert_array_equal(model.coef_, train(blank, stream).model.coef_)
    found = {}
    exec(model.record_["python"], found)
    assert_array_equal(found["run"].model.coef_, model.coef_)
    report = json.loads((files / "r.json").read_text())["sections"]
    used = model.coef_ != 0
    assert report["tasks"]["n_tasks"] == 3
    assert report["tasks"]["n_shared"] == used.all(axis=0).sum()
    assert report["data"]["figures"]["features"] == 4
    assert run("inspect", "m.thresher", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert sorted(facts["tasks"]) == ["east", "north", "south"]
    assert facts["task_column"] == "school"


def test_new_rows_are_predicted_by_the_weights_of_their_task(files, capsys):
    assert run(*TRAIN, "--task-column", "school", "--model", "m.thresher") == 0
    capsys.readouterr()
    assert run("predict", "m.thresher", "new.csv") == 0
    predicted = np.array(capsys.readouterr().out.split()[1:], dtype=float)
    X, _ = read_all(open_stream("exam.csv", target="score"))
    assert_allclose(predicted, load_model("m.thresher").predict(X[:20]))
    assert run("train", *TRAIN[1:], "--task-column", "school", "--test", "exam.csv") == 0
    (files / "mars.csv").write_text((files / "new.csv").read_text().replace("north", "mars"))
    assert "tasks must be among those of training, got 'mars'" in refused(capsys, "predict", "m.thresher", "mars.csv")
    (files / "none.csv").write_text("town,noise,hours,sleep\nA,1,1,1\n")
    assert "school" in refused(capsys, "predict", "m.thresher", "none.csv")


def test_parquet_with_tasks_as_numbers(files, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y = read_all(open_stream("exam.csv", target="score"))
    schools = np.unique(X["school"].to_list(), return_inverse=True)[1]
    columns = {"hours": X["hours"], "school": schools, "sleep": X["sleep"], "score": y}
    parquet.write_table(pyarrow.table(columns), "exam.parquet")
    line = ["train", "exam.parquet", *TRAIN[2:], "--task-column", "school", "--model", "m.thresher"]
    assert run(*line) == 0
    assert sorted(load_model("m.thresher")[-1].tasks_.tolist()) == [0, 1, 2]


def test_a_rare_task_spoils_no_measure(files, capsys):
    with open("exam.csv", "a") as file:
        file.write("1.0,west,1.0,1.0,A,1.0\n")
    assert run(*TRAIN, "--task-column", "school") == 0
    assert "Measured on 300 rows: cross-validation" in capsys.readouterr().out
    assert run(*TRAIN, "--task-column", "school", "--batch-size", "40", "--shuffle", "0") == 0
    line = ["auto", "exam.csv", "--target", "score", "--task-column", "school", "--n-evaluations", "2"]
    assert run(*line) == 0


def test_rows_of_a_new_task_are_learned_but_not_predicted_first(capsys):
    with open("exam.csv", "a") as file:
        file.write("1.0,west,1.0,1.0,A,1.0\n")
    stream = open_stream("exam.csv", target="score", batch_size=40)
    blank = prepared(MultiTaskRDARegressor(alpha=0.01), next(iter(stream)).X, task_column="school")
    done = train(blank, stream, predict_first=True)
    assert done.held_out.n_rows == 301 - 40 - 1
    assert "all rows but 41, the first ones and those of tasks that were new" in done.held_out.name
    assert done.model[-1].tasks_[-1] == "west"
    assert done.model[-1].n_samples_seen_ == 301


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["exam.csv", "--task-column", "class"], "there is no column 'class'; the columns are hours, school, sleep"),
        (["exam.csv", "--task-column", "score"], "'score' is the target"),
        (["exam.csv", "--task-column", "17"], "--task-column must be below the 6 columns, got 17"),
        (["exam.csv", "--task-column", "school", "--drop", "school"], "'school' is dropped"),
        (["exam.csv", "--task-column", "hours"], "tasks must be text or whole numbers, but column 'hours' holds"),
        (["x.svm", "--task-column", "0"], "x.svm: --task-column needs a table"),
        (["exam.csv"], "multitaskrda-regressor needs the task of each row; name its column with --task-column"),
    ],
)
def test_wrong_task_columns_get_one_sentence(words, sentence, capsys):
    assert sentence in refused(capsys, "train", *words, "--method", "multitaskrda-regressor")


@pytest.mark.parametrize(
    ("method", "structure", "other"),
    [
        ("multitaskrda-regressor", ["--task-column", "school"], ["--task-column", "town"]),
        ("grouprda-regressor", ["--groups", '[["hours", "town"]]'], ["--groups", '[["hours", "sleep"]]']),
    ],
)
def test_a_killed_run_goes_on_and_ends_in_the_same_model(files, method, structure, other, capsys):
    """A real process, killed; resumed with other groups or tasks it is refused."""
    head, *body = (files / "exam.csv").read_text().splitlines(keepends=True)
    (files / "long.csv").write_text(head + "".join(body * 10))
    line = ["train", "long.csv", "--target", "score", "--method", method, "--max-iter", "10", "--batch-size", "50"]
    line += ["--checkpoint-seconds", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", *line, *structure, "--model", "m.thresher", "--quiet"],
        stdout=subprocess.DEVNULL,
    )
    until = time.monotonic() + 30
    while not os.path.exists("m.thresher.checkpoint") and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert os.path.exists("m.thresher.checkpoint")
    again = ["--model", "m.thresher", "--resume"]
    assert "this checkpoint was made with model" in refused(capsys, *line, *other, *again)
    line[line.index("0", line.index("--checkpoint-seconds"))] = "30"
    assert run(*line, *structure, *again) == 0
    assert run(*line, *structure, "--model", "whole.thresher") == 0
    resumed, whole = load_model("m.thresher"), load_model("whole.thresher")
    assert resumed[-1].n_samples_seen_ == whole[-1].n_samples_seen_ == 300 * 10 * 10
    assert_array_equal(resumed.coef_, whole.coef_)


# --- searching, listing -----------------------------------------------------------------------------------------------


def test_tune_and_auto_take_both(files, capsys):
    line = ["--target", "score", "--task-column", "school", "--n-evaluations", "3", "--model", "m.thresher"]
    assert run("tune", "exam.csv", "--method", "multitaskrda-regressor", "--space", "eta0=0.01:1", *line) == 0
    model = load_model("m.thresher")
    assert model.task_column == "school"
    found = {}
    exec(model.record_["python"], found)
    assert_array_equal(found["search"].best_estimator_.coef_, model.coef_)
    assert run("auto", "exam.csv", *line) == 0
    said = capsys.readouterr().err
    assert "Method: multitaskrda-regressor, because the rows belong to several tasks" in said
    model = load_model("m.thresher")
    exec(model.record_["python"], found)
    assert_array_equal(found["model"].coef_, model.coef_)
    line = ["--groups", "[[0, 1, 2, 3, 4], [40, 5]]", "--n-evaluations", "3", "--model", "m.thresher"]
    for words in (["tune", "x.svm", "--method", "grouprda"], ["auto", "x.svm"]):
        assert run(*words, *line) == 0
        assert groups_of("m.thresher") == [["x1", "x2", "x3", "x4", "x5"], ["x41", "x6"]]
        assert load_model("m.thresher").n_features_in_ == 41


def test_methods_and_help_tell_what_is_needed(capsys):
    assert run("methods") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  grouprda ") and line.endswith("[--groups]") for line in lines)
    assert any(line.startswith("  multitaskrda ") and line.endswith("[--task-column]") for line in lines)
    assert not any(line.startswith("  arow ") and line.endswith("]") for line in lines)
    for command in ("train", "tune", "auto"):
        assert run(command, "--help") == 0
        shown = capsys.readouterr().out
        assert "--groups" in shown
        assert "--task-column" in shown


@pytest.mark.parametrize(("method", "option"), [("l1rda", "alpha"), ("ftrl", "alpha"), ("adaptivel1rda", "alpha")])
def test_a_penalty_that_chooses_itself_is_told(files, method, option, capsys):
    line = ["train", "x.svm", "--method", method, f"--{option}", "auto", "--model", "m.thresher", "--report", "r.json"]
    assert run(*line) == 0
    model = load_model("m.thresher")
    assert getattr(model, option) == "auto"
    assert f"smallest progressive loss is {option} = {model.penalty_:.4g}." in capsys.readouterr().err
    section = json.loads((files / "r.json").read_text())["sections"]["model"]
    assert section["figures"]["penalty"] == model.penalty_
    assert f"Its penalty is {option} = " in section["says"]
    assert run("inspect", "m.thresher", "--json") == 0
    assert json.loads(capsys.readouterr().out)["penalty"] == model.penalty_


def test_a_number_of_features_can_be_asked_for(files, capsys):
    assert run("train", "x.svm", "--method", "l1rda", "--n-features-to-select", "4", "--model", "m.thresher",
               "--report", "r.txt") == 0  # fmt: skip
    assert len(load_model("m.thresher").support_) == 4
    assert "At most 4 features may be in use" in " ".join((files / "r.txt").read_text().split())
    said = refused(capsys, "train", "x.svm", "--method", "l1rda", "--n-features-to-select", "0")
    assert "--n-features-to-select must be" in said
