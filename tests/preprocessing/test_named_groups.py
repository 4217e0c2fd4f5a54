"""Groups by name behind an encoder: a column of words stands for the features that are made of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher._gate._table import Table, Text
from thresher.dual_averaging import GroupFOBOSRegressor, GroupRDAClassifier
from thresher.inspection import groups_in_use
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline, prepared


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    job, town = rng.choice(["cook", "clerk", "judge"], 300), rng.choice(["A", "B"], 300)
    words = {"job": Text.from_list(job.tolist()), "town": Text.from_list(town.tolist())}
    return Table(["a", "job", "b", "c", "town"], X, words), X[:, 0] + 2 * (job == "judge") > 0.5


def members(model):
    """Every given group as the names of its features, in alphabetical order."""
    groups, names = model[-1].groups_, model.get_feature_names_out()
    return [sorted(names[group]) for group in groups[: len(groups) - len(groups.alone)]]


JOBS, TOWNS = ["job=clerk", "job=cook", "job=judge"], ["town=A", "town=B"]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ("encoder", [JOBS, TOWNS]),
        ("prefix:=", [JOBS, TOWNS]),
        ([["a", "b"], ["job"]], [["a", "b"], JOBS]),
        ({"first": ["a", "job"], "second": ["job", "town"]}, [["a", *JOBS], [*JOBS, *TOWNS]]),
        ([["job=cook", "c"]], [["c", "job=cook"]]),
        ([[0, 2]], [["a", "c"]]),
    ],
)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_names_mean_features(table, groups, expected, how):
    X, y = table
    model = prepared(GroupRDAClassifier(groups, alpha=1e-3, random_state=0), X)
    model = model.fit(X, y) if how == "fit" else model.partial_fit(X, y, classes=[False, True])
    found = members(model)
    if isinstance(groups, str):  # in the order in which words appear
        found, expected = sorted(found), sorted(expected)
    assert found == expected


def test_words_that_come_later_stand_alone_and_the_model_goes_on_from_its_file(table, tmp_path):
    X, y = table
    text = {"job": Text.from_list(["nurse"] * 300), "town": X.text["town"]}
    later = Table(X.columns, X.numbers, text)
    model = prepared(GroupRDAClassifier({"work": ["job"]}, alpha=1e-3), X).partial_fit(X, y, classes=[False, True])
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    for each in (model, again):
        each.partial_fit(later, y)
        assert members(each) == [JOBS]
    assert_array_equal(again.coef_, model.coef_)


def test_groups_are_read_anew_in_a_new_fit(table):
    X, y = table
    model = prepared(GroupRDAClassifier([["job"]], random_state=0), X).fit(X, y)
    fewer = Table(X.columns, X.numbers, {**X.text, "job": Text.from_list(["cook", "clerk"] * 150)})
    assert members(model.fit(fewer, y)) == [["job=clerk", "job=cook"]]


def test_names_pass_through_other_steps(table):
    X, y = table
    numbers = X.select(["a", "b", "c"])
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", GroupFOBOSRegressor([["a", "c"]]))])
    assert members(model.fit(numbers, y.astype(float))) == [["a", "c"]]


def test_unknown_names_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="GroupRDAClassifier: groups must name columns of X, got 'jobs'"):
        prepared(GroupRDAClassifier([["jobs"]]), X).fit(X, y)


def test_groups_in_use_are_named_and_the_strongest_first(table):
    X, y = table
    model = prepared(GroupRDAClassifier({"work": ["job"], "place": ["town"]}, alpha=0.02, random_state=0), X).fit(X, y)
    found = groups_in_use(model)
    assert [group.name for group in found] == ["work"]
    assert sorted(found[0].features) == JOBS
    assert found[0].n_used == 3
    places = [list(model.get_feature_names_out()).index(name) for name in found[0].features]
    assert found[0].strength == pytest.approx(np.linalg.norm(model.coef_[:, places]))
    loose = prepared(GroupRDAClassifier([["town"], ["job"]], alpha=1e-6, random_state=0), X).fit(X, y)
    assert [group.name for group in groups_in_use(loose)] == ["group 2", "group 1"]
    with pytest.raises(ValueError, match="groups_in_use: model must have groups"):
        groups_in_use(AROWClassifier().fit(X.numbers, y))
