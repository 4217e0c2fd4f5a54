"""``--engine``, as a user's shell sees it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import distributed as dask_distributed
from thresher import distributed
from thresher.cli import main
from thresher.distributed._jobs import AddUp
from thresher.online import AROWClassifier
from thresher.persistence import load_model
from thresher.streams import write_svmlight


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Four parts and a file to test on; the working folder is theirs. The first rows are all of one class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.normal(size=30)
    for name in ("part-1.svm", "part-2.svm", "part-10.svm", "part-11.svm", "test.svm"):
        X = rng.normal(size=(300, 30)) * (rng.random((300, 30)) < 0.3)
        y = np.where(X @ truth > 0, 1, -1)
        order = np.argsort(y, kind="stable") if name == "part-1.svm" else np.arange(300)
        write_svmlight(tmp_path / name, X[order], y[order])
    return tmp_path


@pytest.fixture(scope="module")
def address():
    """A scheduler with two workers, each a process."""
    with dask_distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def run(line):
    return main(line.split())


def refused(capsys, line):
    assert run(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("thresher: ")
    assert err.count("\n") == 1
    return err


TRAIN = "train part-*.svm --method arow --quiet"


def test_it_is_distributed_fit(parts, capsys):
    assert run(f"{TRAIN} --engine serial --n-rounds 3 --test test.svm --model m.thresher --report r.html") == 0
    assert "Round by round" in capsys.readouterr().out
    page = (parts / "r.html").read_text()
    assert "3 rounds over 4 shards" in page
    assert "--n-rounds 3" in page
    model = load_model("m.thresher")
    files = [f"part-{n}.svm" for n in (1, 2, 10, 11)]
    expected = distributed.fit(AROWClassifier(random_state=0), files, n_rounds=3)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.record_["distributed"]["shards"] == files
    assert not (parts / "m.thresher.checkpoint").exists()


@pytest.mark.parametrize("engine", ["--engine serial", ""])
def test_each_of_several_arguments_may_be_a_pattern(parts, capsys, engine):
    assert run(f"train part-2.svm part-1?.svm file://{parts}/part-1.svm {engine} --quiet --model a.thresher") == 0
    assert run(f"train part-2.svm part-10.svm part-11.svm part-1.svm {engine} --quiet --model b.thresher") == 0
    a, b = load_model("a.thresher"), load_model("b.thresher")
    assert a.coef_.tobytes() == b.coef_.tobytes()
    found = {"__name__": "__main__"}
    exec(a.record_["python"], found)
    assert (found["model"] if engine else found["run"].model).coef_.tobytes() == a.coef_.tobytes()


def test_json_has_the_rounds(parts, capsys):
    assert run(f"{TRAIN} --engine serial --n-rounds 2 --n-shards 2 --json") == 0
    told = json.loads(capsys.readouterr().out)
    rounds = told["sections"]["rounds"]
    assert rounds["n_shards"] == 2
    assert [each["rows"] for each in rounds["rounds"]] == [1200, 1200]
    assert all(each["seconds"] > 0 for each in rounds["rounds"])
    assert "1,200 rows" in told["sections"]["data"]["says"]


def test_sums_have_questions_instead_of_errors(parts, capsys):
    assert run("train part-*.svm --engine serial --method sparsekmeans --n-clusters 3 --quiet --report r.html") == 0
    out = capsys.readouterr().out
    assert "questions" in out.split("Round by round")[1]
    assert "questions" in (parts / "r.html").read_text()
    assert run("train part-*.svm --engine serial --method bcw --mode sums --quiet --json") == 0
    assert json.loads(capsys.readouterr().out)["sections"]["rounds"]["mode"] == "sums"


def test_tables_with_words_are_prepared_from_all_shards(parts, capsys):
    rng = np.random.default_rng(1)
    for n in range(3):
        jobs = rng.choice(["clerk", "judge"] if n else ["clerk", "cook"], 200)
        ages = rng.normal(40, 10, 200)
        rows = [
            f"{a:.1f},{j},{'yes' if a + 30 * (j == 'judge') > 50 else 'no'}" for a, j in zip(ages, jobs, strict=True)
        ]
        (parts / f"t-{n}.csv").write_text("\n".join(["age,job,rich", *rows]) + "\n")
    assert run("train t-*.csv --target rich --engine serial --n-rounds 2 --quiet --model m.thresher") == 0
    model = load_model("m.thresher")
    assert sorted(model[-2].get_feature_names_out()) == ["age", "job=clerk", "job=cook", "job=judge"]
    assert run("predict m.thresher t-2.csv --quiet") == 0


def test_the_printed_python_makes_the_same_model(parts, capsys):
    more = "--n-rounds 2 --n-shards 3 --shuffle 50 --random-state 5 --classes -1,1 --model m.thresher"
    line = f"{TRAIN} --r 0.3 --engine serial {more}"
    assert run(line) == 0
    model = load_model("m.thresher")
    found = {"__name__": "__main__"}
    exec(model.record_["python"], found)
    assert found["model"].coef_.tobytes() == model.coef_.tobytes()


def test_a_cluster_gives_the_same_model(parts, address, capsys):
    assert run(f"{TRAIN} --engine serial --n-rounds 2 --model a.thresher") == 0
    assert run(f"{TRAIN} --engine {address} --n-rounds 2 --model b.thresher") == 0
    assert run(f"train file://{parts}/part-*.svm --quiet --engine {address} --n-rounds 2 --model c.thresher") == 0
    a, b, c = (load_model(f"{name}.thresher") for name in "abc")
    for name, array in a.state_.arrays.items():
        assert array.tobytes() == b.state_.arrays[name].tobytes() == c.state_.arrays[name].tobytes()


def test_tuning_on_a_cluster_gives_the_same_model(parts, address, capsys):
    line = "tune part-2.svm --method arow --n-evaluations 6 --cv 3 --quiet --json"
    assert run(f"{line} --model a.thresher") == 0
    assert run(f"{line} --model b.thresher --engine {address}") == 0
    a, b = load_model("a.thresher"), load_model("b.thresher")
    assert a.record_["tuning"] == b.record_["tuning"]
    assert a.coef_.tobytes() == b.coef_.tobytes()


def test_numbers_are_predicted_too(parts, capsys):
    assert run("train part-*.svm --method pegasos-regressor --engine serial --n-rounds 2 --test test.svm --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert "loss" in told["sections"]["rounds"]["rounds"][0]


def test_weights_of_classes_are_by_label(parts, capsys):
    command = ["train", "part-*.svm", "--engine", "serial", "--quiet", "--model", "m.thresher"]
    assert main([*command, "--class-weight", '{"1": 3, "-1": 1}']) == 0
    assert load_model("m.thresher").class_weight == {1: 3, -1: 1}
    assert main([*command, "--class-weight", "balanced"]) == 2
    assert "--class-weight balanced needs all rows to be counted" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "line, sentence",
    [
        (
            "train part-*.svm --n-rounds 3",
            "--n-rounds is for rounds over shards and needs --engine, such as --engine serial.",
        ),
        ("train part-*.svm --n-shards 3", "--n-shards is for rounds over shards"),
        ("train part-*.svm --mode sums", "--mode is for rounds over shards"),
        (
            "train part-*.svm --engine serial --max-iter 2",
            "--max-iter is for one machine; with --engine, --n-rounds says",
        ),
        ("train part-*.svm --engine nowhere", "engine must be"),
        ("train part-*.svm --engine serial --method lssvc", "lssvc needs all rows at once, so --engine cannot"),
        ("train none-*.svm --engine serial", "No file matches 'none-*.svm'."),
        ("train part-*.svm --engine serial --mode sums --method arow", "choose --mode passes"),
        ("train part-*.svm --engine serial --n-rounds 0", "--n-rounds"),
        ("train part-*.svm --engine serial --resume", "--resume continues from the checkpoint beside a model; name it"),
        ("train part-*.svm --resume", "--resume continues from the checkpoint beside a model; name it"),
        ("train part-1.svm none-*.svm --engine serial", "No file matches 'none-*.svm'."),
        ("train part-1.svm none-*.svm", "No file matches 'none-*.svm'."),
    ],
)
def test_mistakes_are_one_sentence(parts, capsys, line, sentence):
    assert sentence in refused(capsys, line)


def test_an_address_where_nobody_answers_is_one_sentence(parts, capsys, monkeypatch):
    monkeypatch.setattr("thresher.distributed._dask._PATIENCE", 1)  # seconds, rather than 10
    assert "no Dask scheduler answers there" in refused(capsys, "train part-*.svm --engine dask://127.0.0.1:1")
    assert "no Dask scheduler answers there" in refused(capsys, "tune part-2.svm --method arow --engine dask://[::1]:1")
    pytest.importorskip("pyspark")
    assert "no Spark master answers there" in refused(capsys, "train part-*.svm --engine spark://127.0.0.1:1")


def test_a_lost_shard_is_named(parts, address, capsys):
    (parts / "part-10.svm").write_text("1 1:1\n1 oh\n")
    err = refused(capsys, f"{TRAIN} --engine {address} --n-rounds 2")
    assert "the shard 'part-10.svm' was lost: part-10.svm, line 2" in err


# -------------------------------------------------------------------------------------------------- stopped and resumed


def _n_rounds(checkpoint):
    """The rounds that are whole; the first checkpoint is written before any is."""
    return len(load_model(checkpoint).record_["distributed"]["rounds"]) if checkpoint.exists() else 0


def test_ctrl_c_keeps_whole_rounds_and_says_how_to_go_on(parts, capsys):
    args = ["train", "part-*.svm", "--engine", "serial", "--model", "m.thresher"]
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", *args, "--n-rounds", "100000"], stderr=subprocess.PIPE, text=True
    )
    checkpoint, deadline = parts / "m.thresher.checkpoint", time.monotonic() + 60
    while not _n_rounds(checkpoint) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopping after this round; press Ctrl-C again to stop at once." in said
    assert (
        "continue with:\n  thresher train 'part-*.svm' --engine serial --model m.thresher --n-rounds 100000 --resume"
        in said
    )
    assert "Traceback" not in said
    n_done = _n_rounds(checkpoint)
    assert n_done >= 1
    assert main([*args, "--quiet", "--n-rounds", str(n_done + 2), "--resume"]) == 0
    assert main([*args[:-1], "whole.thresher", "--quiet", "--n-rounds", str(n_done + 2)]) == 0
    assert load_model("m.thresher").coef_.tobytes() == load_model("whole.thresher").coef_.tobytes()
    assert not checkpoint.exists()
    assert len(load_model("m.thresher").record_["distributed"]["rounds"]) == n_done + 2


def test_a_model_that_cannot_be_written_costs_no_rounds(parts, capsys, monkeypatch):
    def full(*_):
        raise OSError("no space left.")

    line = f"{TRAIN} --engine serial --n-rounds 3 --model m.thresher"
    with monkeypatch.context() as patch:
        patch.setattr("thresher.persistence.save_model", full)  # checkpoints have it by another name
        assert "no space left" in refused(capsys, line)
    assert len(load_model("m.thresher.checkpoint").record_["distributed"]["rounds"]) == 3
    with monkeypatch.context() as patch:
        patch.setattr("thresher.distributed._jobs.LearnPass.work", None)  # nothing is left to learn
        assert run(f"{line} --resume") == 0
    assert run(f"{TRAIN} --engine serial --n-rounds 3 --model whole.thresher") == 0
    assert load_model("m.thresher").coef_.tobytes() == load_model("whole.thresher").coef_.tobytes()
    assert not list(parts.glob("*.checkpoint*"))


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError("the disk is gone.")])
@pytest.mark.parametrize("method", ["bcw", "sparsekmeans --n-clusters 3"])
def test_answers_of_a_first_round_are_not_denied(parts, capsys, monkeypatch, problem, method):
    """Sums ask several questions in a round; clusters are no model yet when the first ones are answered."""
    line = f"train part-*.svm --engine serial --mode sums --n-rounds 1 --model m.thresher --method {method}"
    asked = []
    answer = AddUp.work

    def fails_later(self, shard):
        asked.append(shard.name)
        if len(asked) == 4 + 1:  # in the second question
            raise problem
        return answer(self, shard)

    monkeypatch.setattr("thresher.distributed._engines._ATTEMPTS", 1)
    with monkeypatch.context() as patch:
        patch.setattr(AddUp, "work", fails_later)
        assert run(line) == (130 if problem is KeyboardInterrupt else 2)
    err = capsys.readouterr().err
    assert list(parts.glob("m.thresher.checkpoint.*"))  # answers
    assert (parts / "m.thresher.checkpoint").exists() == (method == "bcw")
    assert "--resume" in err
    assert "saved in" in err or "The model so far is saved" in err
    n_asked = len(asked)
    with monkeypatch.context() as patch:
        patch.setattr(AddUp, "work", lambda self, shard: [asked.append(shard.name), answer(self, shard)][1])
        assert run(f"{line} --resume") == 0
        n_more = len(asked) - n_asked
        assert run(line.replace("m.thresher", "whole.thresher")) == 0
    assert "There is no checkpoint" not in capsys.readouterr().err
    assert n_more == len(asked) - n_asked - n_more - 4
    name = "coef_" if method == "bcw" else "cluster_centers_"
    whole, again = (np.asarray(getattr(load_model(f"{each}.thresher"), name)) for each in ("whole", "m"))
    assert whole.tobytes() == again.tobytes()
    assert not list(parts.glob("*.checkpoint*"))


def test_without_a_checkpoint_a_run_begins_anew_and_says_so(parts, capsys):
    assert run("train part-*.svm --engine serial --model m.thresher --resume") == 0
    assert "There is no checkpoint, so the run starts from the beginning." in capsys.readouterr().err


@pytest.mark.slow
def test_progress_on_a_terminal_and_ctrl_c_there_is_not_for_the_workers(parts):
    """A terminal sends Ctrl-C to all processes that it started; workers that died of it would never answer."""
    pexpect = pytest.importorskip("pexpect")
    args = [
        "-m",
        "thresher",
        "train",
        "part-*.svm",
        "--engine",
        "dask",
        "--n-rounds",
        "100000",
        "--model",
        "m.thresher",
    ]
    shell = pexpect.spawn(sys.executable, args, encoding="utf-8", dimensions=(40, 110), timeout=60)
    shell.expect("looking")
    shell.expect(r"round (?:[2-9]|\d\d+)/100000, learning")
    shell.expect("/4 shards")
    shell.sendintr()
    shell.expect("Stopping after this round")
    shell.expect("continue with:")
    shell.expect(pexpect.EOF)
    assert "KeyboardInterrupt" not in shell.before
    shell.close()
    assert shell.exitstatus == 130
