"""Groups, tasks and chosen penalties in all three forms of a report."""

import json

import numpy as np
import pytest

from thresher._gate._table import Table, Text
from thresher.dual_averaging import (
    FTRLRegressor,
    GroupRDAClassifier,
    L1RDAClassifier,
    MultiTaskRDAClassifier,
    MultiTaskRDARegressor,
)
from thresher.online import AROWClassifier
from thresher.preprocessing import prepared
from thresher.report import Report


def rows(n=300):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 8)), rng.choice(["a<b", "c", "d"], n)


def shared(n=300):
    """Rows of three tasks as a table, and amounts."""
    X, tasks = rows(n)
    table = Table([f"x{j}" for j in range(8)] + ["of"], X, {"of": Text.from_list(tasks.tolist())})
    return table, X[:, 0] * np.where(tasks == "c", -2.0, 2.0) + X[:, 1]


def forms(report):
    json.dumps(report.to_dict(), allow_nan=False)
    return report.to_dict()["sections"], " ".join(report.to_text().split()), report.to_html()


def test_groups_in_use_are_listed():
    X, _ = rows()
    y = X[:, :2].sum(axis=1) + 0.5 * X[:, 2] > 0
    model = GroupRDAClassifier({"<first>": [0, 1], "second": [2, 3], "third": [4, 5]}, 0.05, random_state=0).fit(X, y)
    sections, text, page = forms(Report(model, sample=(X, y)))
    section = sections["groups"]
    assert [group["name"] for group in section["groups"]] == list(model.selected_groups_) == ["<first>", "second"]
    assert (section["n_groups"], section["n_used"], section["n_alone"], section["n_alone_used"]) == (3, 2, 2, 0)
    assert section["groups"][0]["features"] == ["x1", "x2"]
    assert "2 of 3 groups are in use: '<first>' and 'second'. Of 2 columns in no group, 0 are in use." in text
    assert "&lt;first&gt;" in page
    assert "<first>" not in page


def test_models_without_groups_have_no_such_section():
    X, _ = rows()
    y = X[:, 0] > 0
    for model in (AROWClassifier(), GroupRDAClassifier(), L1RDAClassifier(alpha=0.01)):
        sections, text, _ = forms(Report(model.fit(X, y), sample=(X, y)))
        assert not {"groups", "tasks"} & set(sections)
        assert "penalty is" not in text


def test_no_group_in_use_is_said():
    X, _ = rows()
    with pytest.warns(UserWarning, match="no feature is in use"):
        model = GroupRDAClassifier([[0, 1]], alpha=100.0).fit(X, X[:, 0] > 0)
    sections, text, _ = forms(Report(model))
    assert sections["groups"]["groups"] == []
    assert "0 of 1 group is in use." in text


@pytest.mark.parametrize("classes", [False, True])
def test_tasks_and_what_they_share(classes):
    table, y = shared()
    learner = (MultiTaskRDAClassifier if classes else MultiTaskRDARegressor)("l1", 0.05, eta0=0.1, random_state=0)
    y = np.where(y > 0, "yes", "no") if classes else y
    model = prepared(learner, table, task_column="of").fit(table, y)
    sections, text, page = forms(Report(model, sample=(table, y)))
    used = model.coef_ != 0
    assert 0 < used.all(axis=0).sum() < used.any(axis=0).sum()
    section = sections["tasks"]
    assert (section["n_tasks"], section["n_used"]) == (3, used.any(axis=0).sum())
    assert section["n_shared"] == used.all(axis=0).sum()
    assert [task["n_used"] for task in section["tasks"]] == used.sum(axis=1).tolist()
    assert "3 tasks were learned together, by the column 'of'." in text
    assert "feature by task" in page
    assert "a&lt;b" in page
    features = {feature["name"]: feature for feature in sections["features"]["features"]}
    up = "pushes towards 'yes'" if classes else "raises the value"
    assert features["x0"]["effect"] == f"{up} in 2 of 3 tasks, the opposite in 1"
    assert features["x1"]["effect"] == up
    measured = sections["measures"]["measures"]
    if classes:
        assert measured["accuracy"]["value"] == pytest.approx(model.score(table, y))
    else:
        assert measured["R²"]["value"] == pytest.approx(model.score(table, y))


def test_a_column_of_tasks_is_no_axis_of_a_plane():
    X, tasks = rows()
    codes = np.unique(tasks, return_inverse=True)[1].astype(float)
    table, y = Table(["x", "of"], np.column_stack([X[:, 0], codes])), X[:, 0] > 0
    model = prepared(MultiTaskRDAClassifier(random_state=0), table, task_column="of").fit(table, y)
    assert "regions" not in forms(Report(model, sample=(table, y)))[0]


def test_a_penalty_that_was_chosen_is_told():
    X, _ = rows()
    model = FTRLRegressor(alpha="auto", random_state=0).fit(X, X[:, 0])
    sections, text, page = forms(Report(model, sample=(X, X[:, 0])))
    assert sections["model"]["figures"]["penalty"] == model.penalty_
    assert "Its penalty is alpha = " in text
    assert "Its penalty is alpha = " in page
    model = L1RDAClassifier(n_features_to_select=3, random_state=0).fit(X, X[:, 0] > 0)
    assert "At most 3 features may be in use" in forms(Report(model))[1]
