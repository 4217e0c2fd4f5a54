"""The race of candidates in a report: what was chosen while learning, and from what."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from report import examples
from thresher.cli import main
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.online import AROWClassifier, CWClassifier, PETrunClassifier
from thresher.persistence import save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.report import Report
from thresher.training._records import History


def rows(n_classes=3, n=5000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    latent = X @ rng.normal(size=(6, n_classes)) + rng.normal(size=(n, n_classes))
    return X, latent.argmax(axis=1) if n_classes > 1 else latent[:, 0]


def race_of(model, **more):
    return Report(model, **more).to_dict()["sections"]["race"]


def assert_same_race(section, model, judged="error"):
    race, candidates = model.race_, section["candidates"]
    figures = race["n_mistakes"] / race["n_rows"] if judged == "error" else race["loss"]
    assert_allclose([c[judged] for c in candidates], figures)
    assert [c["rows"] for c in candidates] == race["n_rows"].tolist()
    assert [c["running"] for c in candidates] == race["running"].tolist()
    assert [c["params"][model._raced.name] for c in candidates] == race["value"].tolist()
    (chosen,) = (c for c in candidates if c["chosen"])
    return chosen["params"]


def test_steps_and_forms_are_listed_with_the_one_in_use():
    X, y = rows()
    model = AROWClassifier(random_state=0).fit(X, y)
    section = race_of(model)
    assert assert_same_race(section, model) == {"r": model.r_, "multi_class": model.multi_class_}
    says = section["says"]
    assert says.startswith(
        "AROWClassifier chose r (inertia) while it learned: 4 values learned side by side, each with"
    )
    assert f'use AROWClassifier(r={model.r_:.3g}, multi_class="{model.multi_class_}", scale=True).' in says
    dropped = [c for c in section["candidates"] if not c["running"]]
    assert f"{len(dropped)} candidates were dropped" in says
    assert all(c["best"] <= c["error"] for c in dropped)
    text = Report(model).to_text(["race"])
    assert len([line for line in text.splitlines() if line.endswith("dropped")]) == len(dropped)
    assert len([line for line in text.splitlines() if line.endswith("in use")]) == 1


def test_a_second_parameter_has_a_picture_of_its_own():
    X, y = rows(2)
    model = L1RDAClassifier("auto", random_state=0).fit(X, y)
    section = race_of(model)
    assert assert_same_race(section, model) == {"eta0": model.eta0_, "alpha": model.penalty_}
    assert "Then 13 values of alpha went on from the step that led." in section["says"]
    page = Report(model).to_html()
    for name in ("eta0", "alpha"):
        assert f"Error of rows before they were learned, by {name}" in page
    one = L1RDAClassifier(random_state=0).fit(X, y)
    assert "alpha" not in race_of(one)["candidates"][0]["params"]
    assert Report(one).to_html().count("Error of rows before they were learned, by") == 2  # a caption and its label


def test_regressors_are_judged_by_their_loss():
    X, y = rows(1)
    model = L1RDARegressor(random_state=0).fit(X, y)
    section = race_of(model)
    assert assert_same_race(section, model, "loss") == {"eta0": model.eta0_}
    assert "its steps are not damped" in section["says"]


@pytest.mark.parametrize("pipeline", [make_pipeline, lambda *steps: StreamingPipeline([(str(s), s) for s in steps])])
def test_the_learner_of_a_pipeline_is_asked(pipeline):
    X, y = rows()
    scaler = StandardScaler() if pipeline is make_pipeline else RunningScaler()
    model = pipeline(scaler, AROWClassifier(random_state=0)).fit(X, y)
    assert_same_race(race_of(model), model.steps[-1][1])


def test_without_candidates_there_is_no_race():
    X, y = rows(2)
    for model in (AROWClassifier(r=1.0), PETrunClassifier(), CWClassifier(0.9)):
        assert "race" not in Report(model.fit(X, y)).to_dict()["sections"]


def test_rows_that_were_read_again_are_said_to_be():
    X, y = rows(2)
    model = AROWClassifier().partial_fit(X, y, classes=[0, 1])
    files = [{"name": "a", "pass": k, "rows": 10, "mistakes": 1, "loss": 1.0} for k in (1, 2)]
    history = History([10, 20], [1, 2], [1.0, 2.0], [6, 6], files)
    assert "rows were read 2 times" in race_of(model, history=history)["says"]
    assert "times" not in race_of(model)["says"]


def test_candidates_that_never_learned_are_left_out():
    X, y = rows(2, 40)
    model = L1RDAClassifier("auto").partial_fit(X[:10], y[:10], classes=[0, 1])  # no penalty has begun
    assert len(race_of(model)["candidates"]) == len(model._raced.candidates)
    assert "Then" not in race_of(model)["says"]
    assert "by alpha" not in Report(model).to_html()


def test_inspect_tells_what_was_chosen(tmp_path, capsys):
    X, y = rows()
    model = AROWClassifier(random_state=0).fit(X, y)
    save_model(model, tmp_path / "m.thresher")
    assert main(["inspect", str(tmp_path / "m.thresher"), "--json"]) == 0
    chosen = json.loads(capsys.readouterr().out)["chosen"]
    assert chosen == {"r": model.r_, "multi_class": model.multi_class_, "scale": True, "candidates": 8}
    save_model(examples.binary()["model"], tmp_path / "m.thresher")
    assert main(["inspect", str(tmp_path / "m.thresher")]) == 0
    assert "chosen             eta0=" in capsys.readouterr().out
    save_model(AROWClassifier(r=1.0).fit(X, y), tmp_path / "m.thresher")
    assert main(["inspect", str(tmp_path / "m.thresher")]) == 0
    assert "chosen" not in capsys.readouterr().out
