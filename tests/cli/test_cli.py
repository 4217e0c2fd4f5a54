"""The command line, as a user's shell sees it."""

import contextlib
import csv
import gzip
import json
import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from thresher import registry
from thresher.cli import _WarningPrinter, main
from thresher.online import AROWClassifier
from thresher.persistence import load_model
from thresher.preprocessing import prepared
from thresher.stochastic import PegasosClassifier, PegasosRegressor
from thresher.streams import open_stream, write_svmlight
from thresher.training import Interrupted, read_all, train


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A sparse file, a compressed one of the same law, and a table with words; the working folder is theirs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.normal(size=30)
    for name, n in (("x.svm", 900), ("y.svm", 300)):
        X = rng.normal(size=(n, 30)) * (rng.random((n, 30)) < 0.3)
        write_svmlight(tmp_path / name, X, np.where(X @ truth > 0, 1, -1))
    with gzip.open("y.svm.gz", "wb") as file:
        file.write((tmp_path / "y.svm").read_bytes())
    with open("people.csv", "w") as file:
        file.write("age,job,rich\n")
        for _ in range(400):
            age, job = rng.normal(40, 10), rng.choice(["clerk", "cook", "judge"])
            file.write(f"{age:.2f},{job},{'yes' if age + 30 * (job == 'judge') > 50 else 'no'}\n")
    return tmp_path


def run(line):
    return main(line.split())


def said(capsys):
    captured = capsys.readouterr()
    return captured.out, captured.err


def refused(capsys, *args):
    assert main(args) == 2
    out, err = said(capsys)
    assert out == ""
    assert err.startswith("thresher: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_help_is_there_at_once():
    """The top-level help costs less than 0.15 s of CPU, because nothing heavy is imported."""
    best = np.inf
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-m", "thresher", "--help"], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert best < 0.15
    for command in ("train", "predict", "tune", "auto", "lab", "wizard", "inspect", "merge", "methods", "demo"):
        assert command in done.stdout
    heavy = "import sys; import thresher.cli; print([m for m in ('numpy', 'sklearn', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "command", ["train", "predict", "tune", "auto", "lab", "wizard", "inspect", "merge", "methods", "demo"]
)
def test_every_command_has_help(capsys, command):
    assert main([command, "--help"]) == 0
    assert "Usage: thresher " + command in said(capsys)[0]


def test_the_everyday_line(files, capsys):
    line = "train x.svm --method arow --classes 2 --test y.svm.gz --model m.thresher --report r.html"
    assert main(line.split()) == 0
    out, err = said(capsys)
    assert "is wrong on" in out
    assert "model written to m.thresher" in out
    assert "%" not in err  # no progress bar without a terminal
    page = (files / "r.html").read_text()
    assert len(page) < 1_000_000
    assert line in page
    model = load_model("m.thresher")
    trained = train(AROWClassifier(random_state=0), open_stream("x.svm", shuffle=900), classes=[-1, 1])
    assert_array_equal(model.coef_, trained.model.coef_)
    assert sorted(os.listdir()) == sorted(
        ["m.thresher", "people.csv", "r.html", "x.svm", "y.svm", "y.svm.gz"]
    )  # no checkpoint is left


def test_the_printed_python_makes_the_same_model(files, capsys):
    for line in (
        "train people.csv --target rich --method pegasos --loss hinge --max-iter 2 --random-state 3 --model m.thresher",
        "train x.svm y.svm --method l1rda --eta0 10 --shuffle 100 --random-state 1 --model m.thresher",
    ):
        assert main(line.split()) == 0
        said(capsys)
        model = load_model("m.thresher")
        found = {}
        exec(model.record_["python"], found)
        assert_array_equal(found["run"].model.coef_, model.coef_)


# Passes are the stream's affair.
PASSES = ("n_steps", "tol", "early_stopping", "n_iter_no_change", "warm_start", "n_jobs")


def test_options_come_from_the_signatures(files, capsys):
    for method in registry.methods():
        if method.task != "classification":
            continue
        assert main(["train", "--method", method.name, "--help"]) == 0
        shown = said(capsys)[0]
        for name in method.cls().get_params():
            hidden = method.streams and name in PASSES
            assert ("--" + name.replace("_", "-") in shown) != hidden
    assert run("train x.svm --method pegasos --loss log_loss --alpha 0.01 --no-projection --model m.thresher") == 0
    model = load_model("m.thresher")
    assert (model.loss, model.alpha, model.projection) == ("log_loss", 0.01, False)


def test_methods_say_which_values_their_options_take(capsys):
    assert run("methods arow") == 0
    shown, _ = said(capsys)
    assert "  --r  [a number above 0 or auto; default: auto; tuned in Log(0.001, 1000.0)]\n" in shown
    assert "  --shuffle, --no-shuffle  [default: True]\n" in shown


def test_results_as_json(files, capsys):
    assert run("train x.svm --test y.svm --json --model m.thresher") == 0
    found = json.loads(said(capsys)[0])
    assert found["written"] == {"model": "m.thresher"}
    assert found["seconds"] > 0
    for args in ("inspect m.thresher", "methods", "methods arow", "predict m.thresher y.svm -o p.csv"):
        assert main([*args.split(), "--json"]) == 0
        assert json.loads(said(capsys)[0])


def test_predictions_stream_and_are_those_of_the_model(files, capsys):
    assert run("train people.csv --target rich --model m.thresher") == 0
    said(capsys)
    assert run("predict m.thresher people.csv --scores --batch-size 64") == 0
    out, err = said(capsys)
    rows = list(csv.reader(out.splitlines()))
    assert rows[0] == ["prediction", "score"]
    model = load_model("m.thresher")
    X, y = read_all(open_stream("people.csv", target="rich"))
    assert [row[0] for row in rows[1:]] == model.predict(X).tolist()
    assert_allclose([float(row[1]) for row in rows[1:]], model.decision_function(X))
    assert f"{100 * np.mean(model.predict(X) != y):.2f} % of the predictions" in err


def test_probabilities_are_written_for_each_class(files, capsys):
    assert run("train people.csv --target rich --method pa --threshold cost --cost 3 --model m.thresher") == 0
    said(capsys)
    assert run("predict m.thresher people.csv --probabilities --scores") == 0
    rows = list(csv.reader(said(capsys)[0].splitlines()))
    assert rows[0] == ["prediction", "score", "probability no", "probability yes"]
    model = load_model("m.thresher")
    X, _ = read_all(open_stream("people.csv", target="rich"))
    assert_allclose([[float(p) for p in row[2:]] for row in rows[1:]], model.predict_proba(X))
    assert (model[-1].threshold, model[-1].cost) == ("cost", 3)
    assert run("train people.csv --target rich --probability none --model plain.thresher") == 0
    assert load_model("plain.thresher")[-1].probability == "none"
    said(capsys)
    assert "was trained without probabilities" in refused(
        capsys, "predict", "plain.thresher", "people.csv", "--probabilities"
    )
    assert run("train people.csv --target age --method ftrl-regressor --model amounts.thresher") == 0
    said(capsys)
    assert "the model has no classes" in refused(capsys, "predict", "amounts.thresher", "people.csv", "--probabilities")


def test_a_file_without_target_or_with_other_columns_is_predicted_by_names(files, capsys):
    assert run("train people.csv --target rich --model m.thresher") == 0
    lines = [line.split(",") for line in (files / "people.csv").read_text().split()]
    with open("new.csv", "w") as file:
        file.write("".join(f"{job},extra,{age}\n" for age, job, _ in lines))
    said(capsys)
    assert run("predict m.thresher people.csv -o a.csv") == 0
    assert run("predict m.thresher new.csv -o b.csv") == 0
    assert (files / "a.csv").read_text() == (files / "b.csv").read_text()
    (files / "bad.csv").write_text("age,nothing\n1,2\n")
    said(capsys)
    assert "'job'" in refused(capsys, "predict", "m.thresher", "bad.csv")


def test_several_files_are_reported_one_by_one(files, capsys):
    for k, day in enumerate(("day-2.svm", "day-10.svm")):
        (files / day).write_bytes((files / "x.svm").read_bytes() * (k + 1))
    assert main(["train", "day-*.svm", "--model", "m.thresher"]) == 0
    assert said(capsys)[0].count("day-") >= 2
    history = load_model("m.thresher").record_["history"]["files"]
    assert [(f["name"], f["rows"]) for f in history] == [("day-2.svm", 900), ("day-10.svm", 1800)]


def test_merged_models_are_the_merged_states(files, capsys):
    for name in "xy":
        assert main(f"train {name}.svm --r 1 --model {name}.thresher --n-features 30".split()) == 0
    assert run("merge x.thresher y.thresher --model both.thresher") == 0
    assert "1,200 rows" in said(capsys)[0]
    x, y, both = (load_model(f"{name}.thresher") for name in ("x", "y", "both"))
    precision = 1 / x.variance_ + 1 / y.variance_ - 1  # the prior counts once
    assert_allclose(both.variance_, 1 / precision)
    assert_allclose(both.coef_, (x.coef_ / x.variance_ + y.coef_ / y.variance_) / precision)
    assert run("train x.svm --method pa --model pa.thresher") == 0
    said(capsys)
    assert "same class" in refused(capsys, "merge", "x.thresher", "pa.thresher", "--model", "no.thresher")
    assert not (files / "no.thresher").exists()


def test_tune_writes_the_best_model(files, capsys):
    line = "tune x.svm --method pegasos --loss logistic --n-evaluations 8 --cv 3 --test y.svm --model m.thresher"
    assert main([*line.split(), "--space", "alpha=1e-5:1e-1"]) == 0
    _, err = said(capsys)
    assert "Best of 8: alpha=" in err
    model = load_model("m.thresher")
    assert 1e-5 <= model.alpha <= 1e-1
    assert model.loss == "logistic"
    found = {}
    exec(model.record_["python"], found)
    assert found["search"].best_params_["alpha"] == model.alpha


def test_auto_chooses_explains_and_keeps(files, capsys):
    assert run("auto people.csv --target rich --n-evaluations 10 --model m.thresher --report r.html") == 0
    _, err = said(capsys)
    assert "because" in err
    model = load_model("m.thresher")
    X, y = read_all(open_stream("people.csv", target="rich"))
    assert model.score(X, y) > 0.9
    assert "judge" in (files / "r.html").read_text()
    found = {}
    exec(model.record_["python"], found)
    assert_array_equal(found["model"].decision_function(X), model.decision_function(X))


def test_mistakes_get_one_sentence_and_exit_code_2(files, capsys):
    assert "no such file" in refused(capsys, "train", "nowhere.svm").lower()
    assert "there is no method 'arrow'; similar names: arow, narow; the methods are" in refused(
        capsys, "train", "x.svm", "--method", "arrow"
    )
    assert "there is no command 'trian'" in refused(capsys, "trian")
    assert "No such option '--alpha'; `thresher methods arow` lists the parameters of arow.\n" in refused(
        capsys, "train", "x.svm", "--method", "arow", "--alpha", "1"
    )
    assert "--alpha must be a number above 0" in refused(
        capsys, "train", "x.svm", "--method", "pegasos", "--alpha", "-1"
    )
    assert "rich" in refused(capsys, "train", "people.csv", "--target", "rihc")
    assert "--classes" in refused(capsys, "train", "x.svm", "--classes", "one")
    assert "folder" in refused(capsys, "train", "x.svm", "--model", "nowhere/m.thresher")
    assert "predicts numbers" in refused(capsys, "train", "people.csv", "--method", "pegasos-regressor")
    assert "regressor" in refused(capsys, "train", "people.csv", "--target", "age")
    (files / "bad.svm").write_text("1 1:2\n-1 2:x\n")
    assert "bad.svm, line 2, column" in refused(capsys, "train", "bad.svm")
    assert "not a model file" in refused(capsys, "inspect", "bad.svm")
    assert "--output" in refused(capsys, "predict", "m.thresher", "x.svm", "--json")
    assert sorted(os.listdir()) == ["bad.svm", "people.csv", "x.svm", "y.svm", "y.svm.gz"]


def test_malformed_lines_are_skipped_and_counted(files, capsys):
    (files / "bad.svm").write_text((files / "x.svm").read_text() + "nonsense\n1 2:x\n")
    assert run("train bad.svm --skip-malformed --model m.thresher") == 0
    assert "2 malformed lines were skipped" in said(capsys)[1]
    assert load_model("m.thresher").n_samples_seen_ == 900


def test_a_reader_that_goes_away_is_no_error(files):
    assert main(["train", "x.svm", "--model", "m.thresher", "--quiet"]) == 0
    (files / "big.svm").write_bytes((files / "x.svm").read_bytes() * 100)
    line = f"{sys.executable} -m thresher predict m.thresher big.svm --quiet | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
    assert done.stdout == "prediction\n"
    assert done.stderr == ""
    assert done.returncode == 0


def test_listing_1_1_the_target_first_and_no_header(files, capsys):
    """A file like HIGGS.csv: the target is the first column, there is no header; a logistic model in large steps."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 28))
    y = (X[:, 3] + 0.5 * rng.normal(size=2000) > 0).astype(int)
    np.savetxt("HIGGS.csv", np.column_stack([y, X]), delimiter=",", fmt="%.6e")
    line = "train HIGGS.csv --target 0 --no-header --method pegasos --loss logistic --alpha 0.1 --batch-size 500"
    assert main([*line.split(), "--max-iter", "5", "--model", "m.thresher"]) == 0
    model = load_model("m.thresher")
    stream = open_stream("HIGGS.csv", target=0, header=False, max_iter=5, shuffle=2000)
    assert stream.feature_names is None
    learner = PegasosClassifier(alpha=0.1, loss="logistic", batch_size=500, random_state=0)
    trained = train(prepared(learner, next(iter(stream)).X), stream)
    assert_array_equal(trained.model.coef_, model.coef_)
    assert trained.facts.n_features == 28
    values, targets = read_all(open_stream("HIGGS.csv", target=0, header=False))
    assert_array_equal(targets, y)
    assert_allclose(values, X, rtol=1e-6)
    assert model.score(values, targets) > 0.8


def test_a_wizard_without_answers_leaves_in_one_sentence(files):
    done = subprocess.run(
        [sys.executable, "-m", "thresher", "wizard", "people.csv"], input="", capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_checkpoint_of_another_run_is_refused(files, capsys):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(500, 2)), rng.normal(size=(500, 2))])
    np.savetxt("two.csv", table, delimiter=",", header="a,b,t1,t2", comments="", fmt="%.4f")
    base = "train two.csv --method pegasos-regressor --alpha 0.1 --checkpoint-seconds 0 --model m.thresher"
    learner = PegasosRegressor(alpha=0.1, random_state=0)

    def stopped():
        stream = open_stream("two.csv", target="t1", drop=["t2"], max_iter=20, shuffle=500)
        calls = iter(range(100))
        model = prepared(learner, next(iter(stream)).X)
        with pytest.raises(Interrupted):
            train(model, stream, checkpoint="m.thresher.checkpoint", should_stop=lambda: next(calls) > 2)

    stopped()
    for other, words in (
        ("--target t2 --drop t1", "columns"),
        ("--target t1 --drop t2 --skip-malformed", "reading"),
        ("--target t1 --drop t2 --max-iter 3", "--max-iter 20, now it is 3"),
        ("--target t1 --drop t2 --alpha 0.2", "alpha=0.1"),
        ("--target t1 --drop t2 --random-state 1", "random_state"),
    ):
        assert words in refused(capsys, *base.split(), *other.split(), "--resume")
    lines = (files / "two.csv").read_text()
    (files / "two.csv").write_text(lines[:5000] + ("1" if lines[5000] != "1" else "2") + lines[5001:])
    assert "files" in refused(capsys, *base.split(), *["--target", "t1", "--drop", "t2", "--resume"])
    (files / "two.csv").write_text(lines)
    assert run(base + " --target t1 --drop t2 --resume") == 0


def test_outputs_never_replace_what_is_in_use(files, capsys):
    before = (files / "x.svm").read_bytes()
    assert "is an input" in refused(capsys, "train", "x.svm", "--model", "x.svm")
    assert "is an input" in refused(capsys, "train", "x.svm", "--model", "m.txt", "--report", "m.txt")
    assert "is an input" in refused(capsys, "train", "x.svm", "--test", "y.svm", "--report", "y.svm")
    assert ".html" in refused(capsys, "train", "x.svm", "--report", "r.pdf")
    assert "nowhere.svm" in refused(capsys, "train", "x.svm", "--test", "nowhere.svm")
    assert (files / "x.svm").read_bytes() == before
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    assert run("train x.svm --model pipe") == 0
    assert len(reader.communicate()[0]) > 100
    assert (files / "pipe").is_fifo()


def test_clusters_need_no_target(files, capsys):
    rng = np.random.default_rng(0)
    np.savetxt(
        "c.csv", np.vstack([rng.normal(m, 0.1, (50, 2)) for m in (0, 5)]), delimiter=",", header="a,b", comments=""
    )
    assert run("train c.csv --method sparsekmeans --n-clusters 2 --model m.thresher") == 0
    model = load_model("m.thresher")
    assert model[-1].cluster_centers_.shape == (2, 2)
    assert "2 clusters of 50 rows" in capsys.readouterr().out
    assert model[-1].n_samples_seen_ == 100
    assert "model.fit(X, y)" in model.record_["python"]
    assert run("predict m.thresher c.csv -o p.csv") == 0
    assert len(set((files / "p.csv").read_text().split()[1:51])) == 1
    capsys.readouterr()
    said = refused(capsys, *["train", "c.csv", "--method", "sparsekmeans", "--n-clusters", "2", "--test", "c.csv"])
    assert "--test needs a target, by which clusters are measured, but there is none." in said


def test_a_classifier_that_needs_all_rows_reads_them(files, capsys):
    """In memory, with its own number of passes; files of another width can be read later."""
    rng = np.random.default_rng(0)
    lines = [f"{'+1' if a > b else '-1'} 1:{a:.4f} 2:{b:.4f} 5:{c:.4f}\n" for a, b, c in rng.normal(size=(200, 3))]
    (files / "wide.svm").write_text("".join(lines[:150]), encoding="utf-8")
    (files / "narrow.svm").write_text(
        "".join(line.partition(" 5:")[0] + "\n" for line in lines[150:]), encoding="utf-8"
    )
    command = "train wide.svm --method sparsesdca --alpha 0.05 --model m.thresher --report r.json --class-weight"
    assert main([*command.split(), '{"1": 2.0}']) == 0
    model = load_model("m.thresher")
    assert model.class_weight == {1: 2.0}
    assert model.dual_gap_ <= 1e-4
    assert 1 < model.n_iter_ < 1000
    assert model.max_iter == 1000
    python = model.record_["python"]
    assert "read_all(stream)" in python
    assert "model.fit(X, y)" in python
    scope = {}
    exec(python, scope)  # does the same
    assert_array_equal(scope["model"].coef_, model.coef_)
    assert run("predict m.thresher narrow.svm -o p.csv") == 0
    predicted = (files / "p.csv").read_text().split()[1:]
    assert np.mean([a == b.split()[0].removeprefix("+") for a, b in zip(predicted, lines[150:], strict=True)]) > 0.9
    assert run("tune wide.svm --method sparsesdca --n-evaluations 2 --test narrow.svm --quiet") == 0
    assert run("auto wide.svm --method sparsesdca --n-evaluations 2 --test narrow.svm --quiet --model a.thresher") == 0
    assert load_model("a.thresher").max_iter == 100  # enough for a comparison, and for the model it ends in
    capsys.readouterr()
    assert "below 1" in refused(capsys, "train", "wide.svm", "--method", "sparsesdca", "--l1-ratio", "1.0")


def test_criteria_that_do_not_suit_are_refused(files, capsys):
    assert "does not suit" in refused(capsys, "tune", "x.svm", "--method", "pa", "--criterion", "mse")
    assert "no parameters worked" in refused(
        capsys, "tune", "x.svm", "--method", "pa", "--space", "C=a,b", "--n-evaluations", "2", "--quiet"
    )


def test_names_in_files_do_not_command_the_terminal(files, capsys):
    (files / "evil.csv").write_text("a\x1b[31mb,y\n" + "1,\x1b]0;x\n2,no\n" * 30)
    assert run("train evil.csv --model m.thresher") == 0
    assert run("inspect m.thresher") == 0
    assert main(["train", "evil.csv", "--target", "z\x1b[31m"]) == 2
    out, err = said(capsys)
    assert "\x1b" not in out + err


def test_small_files_are_measured_on_rows_left_out(files, capsys):
    assert run("train people.csv --target rich --json") == 0
    section = json.loads(said(capsys)[0])["sections"]["measures"]
    assert "had not seen it" in json.dumps(section)
    (files / "many.csv").write_text("a,y\n" + "".join(f"{k % 7},c{k % 300}\n" for k in range(900)))
    assert run("train many.csv --quiet") == 0  # 300 classes are reported in little time


def test_a_rare_class_is_measured_along_the_stream(files, capsys, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 5))
    write_svmlight(files / "rare.svm", X, np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 1.5, 1, -1))
    lines = []
    show = lambda self, title, total: contextlib.nullcontext(lambda done, remark: lines.append(remark))  # noqa: E731
    monkeypatch.setattr("thresher.cli._screen.Screen.progress", show)
    assert run("train rare.svm --batch-size 100 --max-iter 1 --shuffle 0 --model m.thresher --report r.html") == 0
    out, _ = said(capsys)
    expected = train(AROWClassifier(), open_stream("rare.svm", batch_size=100), positive=1).history.measures
    f1, area, precision = (expected[name][-1] for name in ("f1", "roc_auc", "average_precision"))
    told = f"F1 {f1:.3f}, AUROC {area:.3f}, average precision {precision:.3f};"
    assert f"Of '1', the rarer class: {told}" in " ".join(out.split())
    assert load_model("m.thresher").record_["history"]["measures"] == expected
    assert "How well 1 is found, before rows were learned" in (files / "r.html").read_text()
    assert re.fullmatch(r"error so far \d+\.\d\d %, F1 0\.\d{3}, AUROC 0\.\d{3}, AUPRC 0\.\d{3}", lines[-1])
    assert lines[0].startswith("error so far ")
    assert "F1" not in lines[0]  # the first batch met an empty model


def test_the_error_so_far_is_that_of_predictions_made_so_far(files, capsys, monkeypatch):
    lines = []
    show = lambda self, title, total: contextlib.nullcontext(lambda done, remark: lines.append(remark))  # noqa: E731
    monkeypatch.setattr("thresher.cli._screen.Screen.progress", show)
    assert run("train x.svm --method ascw --batch-size 50 --max-iter 1 --shuffle 0 --model m.thresher") == 0
    trained = load_model("m.thresher")
    model, made = clone(trained), 0
    for batch in open_stream("x.svm", batch_size=50).batches():
        predicted = model.predict(batch.X) if hasattr(model, "state_") else np.full(len(batch.y), -1)
        made += np.count_nonzero(predicted != batch.y)
        model.partial_fit(batch.X, batch.y, classes=[-1, 1], grow=True)
        assert model.n_mistakes_ == made
    assert lines[-1].startswith(f"error so far {100 * made / 900:.2f} %")
    assert f"over 900 rows the error is {made / 900:.1%}".replace("%", " %") in " ".join(said(capsys)[0].split())
    assert trained.n_mistakes_ == made
    assert len(set(trained.cost_history_)) > 1  # another model took over on the way


@pytest.mark.parametrize("data", ["x.svm", "people.csv", "three.svm"])
def test_other_files_are_not_scored_on_the_way(files, capsys, monkeypatch, data):
    (files / "three.svm").write_text("1 1:1\n1 2:1\n" * 100 + "2 1:1\n3 2:1\n" * 5)
    asked = []
    monkeypatch.setattr("thresher.training._train.predict_with_scores", lambda model, X: asked.append(len(X)))
    assert run(f"train {data} --batch-size 50 --model m.thresher") == 0
    assert not asked
    assert load_model("m.thresher").record_["history"]["measures"] == {}


def test_class_weights_may_name_numbers(files, capsys):
    args = ["train", "x.svm", "--class-weight", '{"-1": 2, "1": 1}', "--model", "m.thresher"]
    assert main(args) == 0
    assert load_model("m.thresher").class_weight == {-1: 2, 1: 1}


def test_rows_of_unknown_classes_are_not_counted_as_wrong(files, capsys):
    assert run("train people.csv --target rich --model m.thresher --quiet") == 0
    said(capsys)
    (files / "new.csv").write_text("age,job,rich\n70,judge,yes\n20,cook,perhaps\n")
    assert run("predict m.thresher new.csv -o p.csv --json") == 0
    found = json.loads(said(capsys)[0])
    assert (found["n_rows"], found["n_known"], found["error"]) == (2, 1, 0.0)


def test_a_regressor_that_the_mean_beats_says_so_unless_quiet(files, capsys):
    rng = np.random.default_rng(0)
    np.savetxt("noise.csv", rng.normal(size=(300, 4)), delimiter=",", header="a,b,c,y", comments="")
    for quiet in (False, True):
        assert run("train noise.csv --method pegasos-regressor" + " --quiet" * quiet) == 0
        assert ("The model does worse than the mean on held-out rows" in said(capsys)[1]) != quiet
    np.savetxt("law.csv", np.outer(rng.normal(size=300), [1, 2]), delimiter=",", header="a,y", comments="")
    assert run("train law.csv --method pegasos-regressor --alpha 0.01") == 0
    assert "worse than the mean" not in said(capsys)[1]


def test_warnings_are_remarks_and_quiet_is_quiet(files, capsys):
    line = "tune people.csv --target age --method l1rda-regressor --space eta0=100:1000 --n-evaluations 2 --cv 2"
    main([*line.split(), "--quiet"])
    assert "Warning" not in said(capsys)[1]
    assert _WarningPrinter(False)("a\nb", None) is None
    assert said(capsys)[1] == "a b\n"
    assert _WarningPrinter(True)("a\nb", None) is None
    assert said(capsys)[1] == ""
