"""``thresher compare``, as a user's shell sees it."""

import json

import numpy as np
import pytest

from thresher.cli import main
from thresher.compare import compare
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import prepared
from thresher.streams import open_stream, write_svmlight
from thresher.training import read_all


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with open("people.csv", "w") as file:
        file.write("age,job,rich\n")
        for _ in range(200):
            age, job = rng.normal(40, 10), rng.choice(["clerk", "cook", "judge"])
            file.write(f"{age:.2f},{job},{'yes' if age + 30 * (job == 'judge') + rng.normal(0, 5) > 50 else 'no'}\n")
    X = rng.normal(size=(200, 10)) * (rng.random((200, 10)) < 0.5)
    write_svmlight(tmp_path / "x.svm", X, np.where(X[:, 0] > 0, 1, -1))
    with open("numbers.csv", "w") as file:
        file.write("a,b\n" + "".join(f"{x:.3f},{2 * x + e:.3f}\n" for x, e in rng.normal(size=(100, 2))))


def run(line):
    return main(line.split())


@pytest.mark.parametrize("orders", [False, True])
def test_the_numbers_are_those_of_python(capsys, orders):
    line = "compare people.csv --target rich --methods arow,l1rda:alpha=0.05 --repeats 3 --random-state 4 --json"
    assert run(line + " --scoring error --scoring f1_macro" + " --vary orders" * orders) == 0
    told = json.loads(capsys.readouterr().out)
    X, y = read_all(open_stream("people.csv", target="rich"))
    learners = {"arow": prepared(AROWClassifier(), X), "l1rda:alpha=0.05": prepared(L1RDAClassifier(alpha=0.05), X)}
    vary = "orders" if orders else "splits"
    same = compare(learners, X, y, scoring=["error", "f1_macro"], repeats=3, vary=vary, random_state=4).as_dict()
    assert list(told["measures"]) == ["error", "f1_macro", "seconds", "features"]
    for measure in ("error", "f1_macro", "features"):
        assert told["measures"][measure] == same["measures"][measure]
    assert told["about"] == same["about"]


def test_the_table_and_the_picture(capsys):
    assert run("compare x.svm --methods arow,pegasos,pa --repeats 4 --plot box.svg") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "4 splits, 150 rows to learn from and 50 to test on"
    assert lines[2].split() == ["error", "seconds", "features"]
    assert [line.split()[0] for line in lines[3:6]] == ["arow", "pegasos", "pa"]
    assert sum(" *" in line for line in lines[3:6]) == 1
    assert err == "Box plot of error written to box.svg.\n"
    with open("box.svg") as file:
        assert "pegasos" in file.read()


def test_numbers_are_predicted_by_regressors(capsys):
    assert run("compare numbers.csv --methods pegasos-regressor,l1rda-regressor --repeats 2 --quiet") == 0
    assert "mse" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line, words",
    [
        ("people.csv --methods arwo", "there is no method 'arwo'; similar names: arow"),
        ("people.csv --methods ,", "--methods must name methods for one task, got none."),
        (
            "people.csv --methods arow,pegasos-regressor",
            "arow for classification, pegasos-regressor for regr",
        ),
        ("people.csv --methods arow:q=1", "arow has the parameters"),
        ("people.csv --methods arow:r=-1", 'arow: r must be a number above 0 or "auto", got -1.'),
        ("people.csv --methods multitaskrda", "multitaskrda needs more than rows and targets"),
        ("people.csv --methods arow --scoring best", "compare: --scoring must be a name of scikit-learn's scorers"),
        ("people.csv --methods arow --plot box.txt", "--plot must end in .svg, .png, .pdf, got 'box.txt'."),
        ("people.csv --methods arow --plot no/box.svg", "no/box.svg: the folder does not exist."),
        (
            "people.csv --methods arow --target age",
            "has 195 different values in 200 rows, and cannot be a class; choose",
        ),
        ("people.csv --methods arow --repeats 0", "0 is not in the range"),
        ("nowhere.csv --methods arow", "nowhere.csv"),
    ],
)
def test_mistakes_get_one_sentence(capsys, line, words):
    assert run(f"compare {line}") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.startswith("thresher: ")
    assert err.count("\n") == 1
