"""Exported models predict what the model predicts: scores, probabilities and decisions."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thresher
from exporting.exported_models import (
    MODELS,
    Expected,
    by_c,
    by_onnx,
    by_sql,
    columns_of,
    people,
    several_classes,
    signal,
    two_classes,
    words,
)
from reference import scoring_reader
from thresher import registry
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier, PAClassifier
from thresher.preprocessing import (
    ColumnSplines,
    DateEncoder,
    InteractionGroups,
    RunningScaler,
    StreamingPipeline,
    TableEncoder,
    prepared,
)
from thresher.stochastic import PegasosRegressor

TARGETS = ("sqlite", "duckdb", "onnx", "c", "json")
HASHES = ("sqlite", "duckdb", "onnx")  # which cannot
made = cache(lambda name: (*MODELS[name](),))


def answers(target: str, model: Any, rows: Any) -> tuple[list[Any], Any, Any]:
    """Predictions, scores and probabilities."""
    n_scores = Expected(model, rows[:2]).scores.shape[1]
    if target == "onnx":
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        found = by_onnx(model, rows)
        return found["prediction"].tolist(), found.get("scores"), found.get("probabilities")
    if target == "json":
        read = json.loads(thresher.export(model, to="json"))
        columns = columns_of(rows)
        each = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        told = [scoring_reader.probabilities(read, row) for row in each] if "probabilities" in read else None
        predictions = [scoring_reader.predict(read, row) for row in each]
        return predictions, [scoring_reader.scores(read, row) for row in each], told
    if target == "c":
        if shutil.which("gcc") is None:
            pytest.skip("there is no gcc")
        with tempfile.TemporaryDirectory() as folder:
            table: list[Any] = by_c(model, rows, Path(folder))
    else:
        connect = sqlite3.connect if target == "sqlite" else pytest.importorskip("duckdb").connect
        table = by_sql(model, rows, connect(":memory:"))
        if not hasattr(model, "classes_"):
            table = [(value, value) for (value,) in table]
    scores = np.array([row[1 : 1 + n_scores] for row in table], dtype=float)
    return [row[0] for row in table], scores, np.array([row[1 + n_scores :] for row in table], dtype=float)


def check(target: str, model: Any, rows: Any) -> None:
    expected = Expected(model, rows)
    predictions, scores, probabilities = answers(target, model, rows)
    kind = type(expected.predictions[0])
    if hasattr(model, "classes_"):
        read = {"True": True, "False": False}.get if target == "c" and kind is bool else kind
        assert [read(each) for each in predictions] == expected.predictions
        np.testing.assert_allclose(np.array(scores, dtype=float), expected.scores, atol=1e-9, rtol=1e-9)
    else:
        np.testing.assert_allclose(np.array(predictions, dtype=float), expected.predictions, atol=1e-9, rtol=1e-9)
    if expected.probabilities is not None:
        np.testing.assert_allclose(probabilities, expected.probabilities, atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", MODELS)
def test_targets_say_what_the_model_says(name, target):
    model, rows = made(name)
    if name == "words" and target in HASHES:
        with pytest.raises(ValueError, match="column 'text', which hashes the words; export to c or json"):
            answers(target, model, rows)
    else:
        check(target, model, rows)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("make", [two_classes, several_classes])
def test_targets_decide_by_thresholds(make, target):
    model, rows = made(make.__name__)
    learner = model[-1]
    labels = learner.classes_.tolist()
    plain = model.predict(rows)
    try:
        learner.set_params(threshold="cost", cost=dict(zip(labels, [1.0, 7.0, 0.5, 2.0], strict=False)))
        assert (model.predict(rows) != plain).any()
        check(target, model, rows[:200])
    finally:
        learner.set_params(threshold=None, cost=None)


# --- pipelines of every order ---------------------------------------------------------------------------------------


def hashed() -> Any:
    train = people(800, 20)
    return prepared(PAClassifier(random_state=0), train, categories="hash", n_buckets=64).fit(train, signal(train) > 0)


def scaled_behind() -> Any:
    """A scaler behind the encoder scales one-hot features, and none is centred."""
    train = people(800, 21)
    steps = [("dates", DateEncoder()), ("encode", TableEncoder(missing="indicator")), ("scale", RunningScaler())]
    return StreamingPipeline([*steps, ("learn", PAClassifier(random_state=0))]).fit(train, signal(train) > 0)


def scaled_before_splines() -> Any:
    train = people(800, 22)
    steps = [
        ("dates", DateEncoder()),
        ("scale", RunningScaler()),
        ("splines", ColumnSplines(4, pairs=[("age", "sold")])),
    ]
    steps += [("encode", TableEncoder()), ("learn", AROWClassifier(random_state=0, probability="none"))]
    return StreamingPipeline(steps).fit(train, signal(train) > 0)


def scaled_twice() -> Any:
    train = people(800, 23)
    steps = [(f"scale {i}", RunningScaler(with_mean=i == 0, with_std=i == 1)) for i in range(2)]
    steps = [("dates", DateEncoder()), *steps, ("encode", TableEncoder()), ("learn", PegasosRegressor(random_state=0))]
    return StreamingPipeline(steps).fit(train, signal(train))


@pytest.mark.parametrize("make", [hashed, scaled_behind, scaled_before_splines, scaled_twice])
@pytest.mark.parametrize("target", ["json", "c"])
def test_steps_may_come_in_any_order(make, target):
    check(target, make(), people(200, 24, True))


def test_splines_of_an_array_are_known_by_their_places():
    X = np.random.default_rng(25).normal(size=(400, 3))
    X[::7, 1] = np.nan
    model = prepared(AROWClassifier(random_state=0), X, splines=ColumnSplines(4, pairs="all"), missing="indicator")
    model.fit(X, np.abs(X[:, 0]) > 1)
    rows = np.random.default_rng(26).normal(size=(100, 3)) * 3
    rows[::5, 1] = np.nan
    for target in ("json", "onnx"):
        check(target, model, rows)


def linear_methods() -> list[Any]:
    """All estimators whose scores are linear in the features."""
    found = []
    for method in registry.methods():
        model = method.cls()
        if method.task in ("classification", "regression") and not {"tasks", "outliers", "unlabelled"} & {
            *method.needs
        }:
            if method.needs:
                model.set_params(groups=[[0, 1], [2, 3], [4]])
            found.append(model)
    return found


@pytest.mark.parametrize("model", linear_methods(), ids=lambda model: type(model).__name__)
def test_every_linear_method_is_exported_or_refused(model):
    X = np.random.default_rng(27).normal(size=(150, 5))
    score = X[:, 0] - X[:, 3] + 0.3
    is_classifier = thresher._estimators.task_of(model) == "classification"
    model.fit(X, score > 0 if is_classifier else score)
    if hasattr(model, "coef_"):
        check("json", model, X[:50])
    else:
        with pytest.raises(ValueError, match="is not linear; only linear and additive models can be exported"):
            thresher.export(model, to="json")


# --- what is asked for, and what is refused -------------------------------------------------------------------------


def test_columns_without_weight_are_not_asked_for():
    X = np.random.default_rng(28).normal(size=(300, 6))
    model = thresher.dual_averaging.L1RDAClassifier(alpha=0.05, random_state=0).fit(X, X[:, 2] > 0)
    assert 0 < len(model.support_) < 6
    read = json.loads(thresher.export(model, to="json"))
    assert [each["place"] for each in read["inputs"]] == model.support_.tolist()


def test_a_missing_number_that_the_model_refuses_has_no_prediction():
    model = PAClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 1])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x1 DOUBLE, x2 DOUBLE)")
    connection.execute("INSERT INTO data VALUES (NULL, 1)")
    assert set(connection.execute(thresher.export(model, to="sql")).fetchone()) == {None}


def test_names_from_anywhere_cannot_leave_their_quotes(tmp_path):
    import pandas as pd

    name = 'a" FROM x; --\n*/ "\\'
    frame = pd.DataFrame({name: np.linspace(-1, 1, 50)})
    model = PAClassifier(random_state=0, probability="none").fit(frame, np.where(frame[name] > 0, "'; DROP", '*/ "?'))
    connection = sqlite3.connect(":memory:")
    quoted = name.replace('"', '""')
    connection.execute(f'CREATE TABLE data ("{quoted}" DOUBLE)')
    connection.executemany("INSERT INTO data VALUES (?)", frame.to_numpy().tolist())
    found = [row[0] for row in connection.execute(thresher.export(model, to="sql"))]
    assert found == model.predict(frame).tolist()
    if shutil.which("gcc") is not None:
        source = tmp_path / "odd.c"
        thresher.export(model, source, to="c", name="odd")
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source], check=True)


def test_a_query_over_dates_says_how_to_convert_them():
    query = thresher.export(made("two_classes")[0], to="sql")
    assert '"sold": a number of days since 1970-01-01' in query
    convert = "julianday(d) - 2440587.5"
    assert convert in query
    assert convert not in thresher.export(made("array_rows")[0], to="sql")
    (days,) = sqlite3.connect(":memory:").execute(f"SELECT {convert} FROM (SELECT '2024-05-03' AS d)").fetchone()
    assert days == (np.datetime64("2024-05-03") - np.datetime64("1970-01-01")).astype(int)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"to": "pmml"}, "to must be one of onnx, sql, json, c, got 'pmml'"),
        ({"to": "c", "table": "x"}, "table is for sql only"),
        ({"to": "sql", "name": "x"}, "name is for c only"),
        ({"to": "c", "name": "a b"}, "name must be a C identifier"),
    ],
)
def test_options_of_other_targets_are_refused(options, sentence):
    model = PAClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=sentence):
        thresher.export(model, **options)


def test_onnx_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ValueError, match=r"ONNX files need onnx: pip install \"thresher\[export\]\""):
        thresher.export(PAClassifier().fit([[0.0], [1.0]], [0, 1]), to="onnx")


def test_columns_may_have_any_name_but_those_of_outputs_in_onnx():
    import pandas as pd

    X, onnx = np.random.default_rng(0).normal(size=(60, 2)), pytest.importorskip("onnx")
    made = thresher.export(PAClassifier().fit(pd.DataFrame(X, columns=["v0", "k 1"]), X[:, 0] > 0), to="onnx")
    assert [each.name for each in onnx.load_from_string(made).graph.input] == ["v0", "k 1"]
    with pytest.raises(ValueError, match="the column name 'scores' is reserved"):
        thresher.export(PAClassifier().fit(pd.DataFrame(X, columns=["a", "scores"]), X[:, 0] > 0), to="onnx")


def test_columns_have_names_of_c_that_differ():
    import pandas as pd

    names = ["a b", "a_b", "int", "2nd", "é", "é!"]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 6)), columns=names)
    source = thresher.export(PAClassifier(random_state=0).fit(frame, frame.sum(axis=1) > 0), to="c")
    fields = [line.split(";")[0].split()[-1] for line in source.split("_row {")[1].split("}")[0].strip().splitlines()]
    assert fields == ["a_b", "a_b_2", "int_2", "_2nd", "column", "column_2"]


def test_other_models_are_refused():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(ValueError, match="LSSVC is not linear"):
        thresher.export(LSSVC().fit(X, y), to="c")
    grouped = StreamingPipeline([("groups", InteractionGroups(2)), ("learn", PAClassifier())]).fit(
        [["a"], ["b"]], [0, 1]
    )
    with pytest.raises(ValueError, match="InteractionGroups cannot be exported; the steps that can are"):
        thresher.export(grouped, to="c")
    unit = StreamingPipeline([("scale", RunningScaler(unit_rows=True)), ("learn", PAClassifier())]).fit(X, y)
    with pytest.raises(ValueError, match="unit_rows=True cannot be exported"):
        thresher.export(unit, to="c")
    with pytest.raises(ValueError, match="not fitted"):
        thresher.export(PAClassifier(), to="c")
    tasks = thresher.dual_averaging.MultiTaskRDARegressor().fit(X, y, tasks=y)
    with pytest.raises(ValueError, match="is a model of several tasks"):
        thresher.export(tasks, to="c")
    with pytest.raises(ValueError, match="object is not an estimator of thresher; build pipelines with"):
        thresher.export(object(), to="c")
    with pytest.raises(ValueError, match="to must be one of onnx, sql, json, c, got ''"):
        thresher.export(PAClassifier().fit(X, y))


def test_the_ending_of_the_file_says_what_to_write(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = PAClassifier().fit(X, X[:, 0] > 0)
    assert thresher.export(model, tmp_path / "m.sql") == thresher.export(model, to="sql")
    assert (tmp_path / "m.sql").read_text() == thresher.export(model, to="sql")


@pytest.mark.parametrize("target", ["json", "c"])
@pytest.mark.parametrize(
    "count, idf, normalized", [("count", False, False), ("binary", True, False), ("log", False, True)]
)
def test_prose_of_every_weighting_is_exported(count, idf, normalized, target):
    table = made(words.__name__)[1][:300]
    encoder = TableEncoder(n_buckets=300, words=count, idf=idf, normalize_text=normalized)
    model = StreamingPipeline([("encode", encoder), ("learn", PAClassifier(random_state=0))])
    model.fit(table, np.array(["free" in text for text in table["text"]]))
    check(target, model, table[:50])
