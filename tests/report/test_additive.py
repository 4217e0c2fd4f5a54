"""Sections on additive models: curves of columns, and rows that are explained."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from report import examples
from thresher._figures import label as examples_label
from thresher._gate import Table, Text
from thresher.dual_averaging import L1RDARegressor
from thresher.inspection import contributions
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier
from thresher.preprocessing import prepared
from thresher.report import Report


def additive(n_classes, n=500):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, n), rng.normal(50, 10, n)])
    job = rng.integers(0, 3, n)
    score = 4 * X[:, 0] ** 2 + 0.05 * (X[:, 1] - 50) + job + rng.normal(0, 0.3, n)
    jobs = Text.from_list(np.array(["cook", "clerk", examples.HOSTILE])[job].tolist())
    table = Table(["bend", "line", "job"], X, {"job": jobs})
    learner = AROWClassifier(random_state=0) if n_classes else L1RDARegressor(random_state=0)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    model = prepared(learner, table, splines=True).fit(table[::2], y[::2])
    return {"model": model, "sample": (table[1::2], y[1::2])}


@pytest.mark.parametrize("n_classes", [2, 3, 8, 0])
def test_every_column_has_a_curve(n_classes):
    given = additive(n_classes)
    report = Report(**given)
    section = report.to_dict()["sections"]["curves"]
    assert {column["name"] for column in section["columns"]} == {"bend", "line", "job"}
    bend = next(column for column in section["columns"] if column["name"] == "bend")
    assert len(bend["parts"]) == len(section["outputs"]) == {2: 1, 3: 3, 8: 6, 0: 1}[n_classes]
    assert all(len(parts) == len(bend["values"]) for parts in bend["parts"])
    if n_classes in (0, 2):
        low, middle, high = np.interp([-0.95, 0.0, 0.95], bend["values"], bend["parts"][0])
        assert min(low, high) > middle
        assert "'bend' adds most at" in section["says"]
    text = report.to_text(["curves"])
    assert "What each column does" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    page = report.to_html()
    assert page.count("<figure ", page.index('id="curves"'), page.index('id="explained_rows"')) == 3
    assert examples.HOSTILE not in page


@pytest.mark.parametrize("n_classes", [2, 3, 0])
def test_columns_matter_instead_of_pieces_of_their_curves(n_classes):
    given = additive(n_classes)
    model, (X, _) = given["model"], given["sample"]
    report = Report(**given)
    section = report.to_dict()["sections"]["features"]
    found = contributions(model, X)
    spread = dict(zip(found.names, found.parts.std(axis=0).max(axis=0), strict=True))
    names = sorted(spread, key=lambda name: -spread[name])
    assert [row["name"] for row in section["features"]] == [examples_label(name) for name in names]
    assert section["features"][1]["importance"] == pytest.approx(spread[names[1]] / spread[names[0]])
    effects = {row["name"]: row["effect"] for row in section["features"]}
    if n_classes == 0:
        assert effects["line"] == "more of it raises the value"
    if n_classes != 3:
        up = "raises the value" if n_classes == 0 else "pushes towards '1'"
        assert effects["bend"].startswith(f"{up} most near")
    assert "spline" not in report.to_text(["features"])
    assert "spline" not in report.to_html()[report.to_html().index('id="features"') :].partition("</section>")[0]


def test_columns_matter_without_a_sample():
    section = Report(additive(2)["model"]).to_dict()["sections"]["features"]
    assert {row["name"] for row in section["features"]} == {"bend", "line", "job"}
    assert "spline" not in section["says"]


def test_dates_are_written_as_dates():
    rng = np.random.default_rng(0)
    days = rng.integers(19_000, 20_000, 400).astype(float)
    table = Table(["day", "other"], np.column_stack([days, rng.normal(size=400)]), {}, ("day",))
    y = np.where(np.abs(days - 19_500) < 200, "in", "out")
    model = prepared(AROWClassifier(random_state=0), table, splines=True).fit(table, y)
    text = Report(model, sample=(table, y)).to_text(["features", "curves"])
    assert "near 2023-" in text
    assert "19,5" not in text


def test_a_linear_model_has_no_section_of_curves():
    assert "curves" not in Report(**examples.binary()).to_dict()["sections"]


def test_typical_rows_mistakes_and_border_cases_are_explained():
    given = additive(2)
    model, (X, y) = given["model"], given["sample"]
    report = Report(**given)
    section = report.to_dict()["sections"]["explained_rows"]
    scores, predicted = model.decision_function(X), model.predict(X)
    wrong = np.flatnonzero(predicted != y)
    kinds = [row["kind"] for row in section["rows"]]
    assert kinds == ["typical"] * 2 + ["most confident mistake"] * min(3, len(wrong)) + ["border case"] * 2
    surest = next(row for row in section["rows"] if row["kind"] == "most confident mistake")
    assert surest["row"] - 1 == wrong[np.argmax(np.abs(scores[wrong]))]
    for row in section["rows"]:
        i = row["row"] - 1
        assert (row["answer"], row["truth"]) == (str(predicted[i]), str(y[i]))
        assert row["baseline"] + sum(part["part"] for part in row["parts"]) == pytest.approx(abs(scores[i]))
        assert {part["name"] for part in row["parts"]} == {"bend", "line", "job"}
    border = [row["row"] - 1 for row in section["rows"] if row["kind"] == "border case"]
    assert np.abs(scores[border]).max() <= np.sort(np.abs(scores))[4]
    text = report.to_text(["explained_rows"])
    assert "Most confident mistake, row" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Most confident mistake, row" in report.to_html()


def test_values_that_are_farthest_off_are_explained():
    given = additive(0)
    predicted = given["model"].predict(given["sample"][0])
    section = Report(**given).to_dict()["sections"]["explained_rows"]
    worst = next(row for row in section["rows"] if row["kind"] == "largest error")
    assert worst["row"] - 1 == np.argmax(np.abs(predicted - given["sample"][1]))


def test_a_kernel_machine_is_explained_by_columns_and_says_what_their_parts_are():
    given = additive(2)
    X, y = given["sample"]
    model = prepared(LSSVC(), X).fit(X[:200], y[:200])
    report = Report(model, sample=(X[200:], y[200:]))
    section = report.to_dict()["sections"]["explained_rows"]
    assert {part["name"] for part in section["rows"][0]["parts"]} == {"bend", "line", "job"}
    assert "replace those of 64 training rows" in section["meaning"]
    assert "replace those of 64 training rows" in " ".join(report.to_text(["explained_rows"]).split())
    assert "replace those of 64 training rows" in report.to_html()
    assert not Report(**given).to_dict()["sections"]["explained_rows"]["meaning"]


def test_a_kernel_machine_of_wide_sparse_rows_is_explained_by_rows_it_has_learned_from():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 1000), density=0.02, rng=rng, format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() > 10
    section = Report(LSSVC().fit(X[:200], y[:200]), sample=(X[200:], y[200:])).to_dict()["sections"]["explained_rows"]
    assert section["meaning"].startswith("The model compares rows, so parts belong to training rows")
    assert section["rows"][0]["parts"][0]["name"].startswith("training row ")
