"""What a mistake costs, as auto learns and compares by it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from thresher import auto, explain
from thresher.cli import main
from thresher.persistence import load_model


def rows(n, seed=0, labels=("no", "yes")):
    """Rows of two classes that overlap, and the probability of the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    chance = 1 / (1 + np.exp(-(1.5 * X[:, 0] + X[:, 1] - 1)))
    return X, np.where(rng.random(n) < chance, labels[1], labels[0]), chance


def mean_cost(answers, y, cost):
    return np.mean(np.where(y == "yes", cost, 1) * (answers != y))


def test_decisions_cost_nearly_as_little_as_those_by_the_true_probabilities():
    X, y, _ = rows(400)
    new, known, chance = rows(4000, seed=1)
    cost = 10
    model = auto(X, y, method="pegasos", kernel="linear", n_evaluations=1, cost={"yes": cost})
    found = mean_cost(model.predict(new), known, cost)
    best = mean_cost(np.where(cost * chance > 1 - chance, "yes", "no"), known, cost)
    plain = mean_cost(auto(X, y, method="pegasos", kernel="linear", n_evaluations=1).predict(new), known, cost)
    assert found < 1.1 * best < 0.6 * plain
    assert "Criterion: cost, the mean cost of a row; a mistake costs 1 on 'no', 10 on 'yes'." in explain(model)


def test_the_score_is_the_mean_cost_on_rows_that_were_left_out():
    X, y, _ = rows(300)
    halves = [(np.arange(150), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    model = auto(X, y, method="pegasos", kernel="linear", n_evaluations=1, cost=4, cv=halves)
    costs = []
    for train, test in halves:
        learner = type(model[-1])(**model[-1].get_params()).set_params(probability="none")
        scale = model[0]
        fitted = type(scale)(**scale.get_params()).fit(X[train])
        answers = learner.fit(fitted.transform(X[train]), y[train]).predict(fitted.transform(X[test]))
        costs.append(mean_cost(answers, y[test], 4))
    assert model.record_["auto"]["score"] == pytest.approx(-np.mean(costs))
    yardsticks = {each["name"]: -each["score"] for each in model.record_["auto"]["yardsticks"]}
    assert yardsticks["always 'yes'"] == pytest.approx(np.mean(y == "no"))


def test_the_command_takes_a_number_or_an_object(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, _ = rows(120, labels=(0, 1))
    np.savetxt("t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.4f")
    for cost in ("5", '{"1": 5}'):
        command = ["auto", "t.csv", "--method", "arow", "--kernel", "linear", "--n-evaluations", "1", "--json"]
        assert main([*command, "--cost", cost, "--model", "m.thresher"]) == 0
        assert json.loads(capsys.readouterr().out)["task"] == "classification"
        assert load_model("m.thresher")[-1].class_weight == {0: 1.0, 1: 5.0}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cost": {"maybe": 2}}, "cost must name classes among no, yes, got 'maybe'"),
        ({"cost": -1}, "cost must be a number above 0"),
        ({"cost": 2, "criterion": "f1"}, "cost and criterion cannot both be given"),
        ({"cost": 2, "task": "clustering"}, "cost is for classification, but the task is clustering"),
    ],
)
def test_what_is_refused(options, sentence):
    X, y, _ = rows(60)
    with pytest.raises(ValueError, match=sentence):
        auto(X, y, **options)


def test_three_classes_need_a_cost_for_each():
    X = np.arange(90.0)[:, None]
    y = np.repeat(["a", "b", "c"], 30)
    with pytest.raises(ValueError, match="cost must be a dict of class to cost with 3 classes, got 2"):
        auto(X, y, cost=2)
