"""Weighted sums of models: scores, probabilities, files, and parts of a score."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors
import safetensors.numpy
from numpy.testing import assert_allclose, assert_array_equal

from thresher._ensembles import ModelSumClassifier, ModelSumRegressor
from thresher._estimators import clone
from thresher._gate import Table
from thresher.inspection import column_curves, contributions, smallest_change
from thresher.kernels import LSSVC, LeastSquaresRegressor
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import prepared
from thresher.report import Report


def rows(n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(word=rng.choice(["x", "y"], size=n))
    return X, (X["a"] + X["b"] ** 2 + (X["word"] == "x") + 0.3 * rng.normal(size=n)).to_numpy()


def classifier(X: Any) -> ModelSumClassifier:
    curves = prepared(AROWClassifier(probability="none", random_state=0), X, splines=True)
    return ModelSumClassifier([("curves", curves), ("lssvc", prepared(LSSVC(probability="none"), X))], [0.7, 0.4])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_weighted_sums_and_classes_are_read_from_them(n_classes):
    X, y = rows()
    y = np.array(["low", "mid", "top"])[np.digitize(y, [0.5, 2][: n_classes - 1])]
    model = classifier(X).fit(X, y)
    own = [clone(one).fit(X, y).decision_function(X) for _, one in model.models]
    assert_allclose(model.decision_function(X), 0.7 * own[0] + 0.4 * own[1], rtol=1e-12)
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(model.classes_, np.unique(y))
    assert model.n_features_in_ == 3


def test_values_are_weighted_sums():
    X, y = rows()
    models = [
        ("plain", prepared(LeastSquaresRegressor(), X)),
        ("curves", prepared(LeastSquaresRegressor(), X, splines=True)),
    ]
    model = ModelSumRegressor(models, [0.25, 0.75]).fit(X, y)
    own = [clone(one).fit(X, y).predict(X) for _, one in models]
    assert_allclose(model.predict(X), 0.25 * own[0] + 0.75 * own[1], rtol=1e-12)
    found = contributions(model, X[:5])
    assert found.names == ["a", "b", "word"]
    assert_allclose(found.scores[:, 0], model.predict(X[:5]), rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_of_all_models_add_up_to_the_score(n_classes):
    X, y = rows()
    model = classifier(X).fit(X, np.digitize(y, [0.5, 2][: n_classes - 1]))
    found = contributions(model, X[:4], by="row")
    assert_allclose(found.scores, np.reshape(model.decision_function(X[:4]), (4, -1)), rtol=1e-9)
    columns = [name for name in found.names if not name.startswith("training row ")]
    assert columns == ["a", "b", "word"]
    assert all(name.endswith(" (lssvc)") for name in found.names if name not in columns)
    is_row = ~np.isnan(found.similarities).any(axis=0)
    assert_array_equal(is_row, [name not in columns for name in found.names])
    curves = contributions(model.models_[0], X[:4])
    for name in columns:
        here, there = found.names.index(name), curves.names.index(name)
        assert_allclose(found.parts[:, :, here], 0.7 * curves.parts[:, :, there], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_of_columns_are_the_weighted_sums_of_those_of_the_models(n_classes):
    X, y = rows()
    model = classifier(X).fit(X, np.digitize(y, [0.5, 2][: n_classes - 1]))
    found, curves, compared = (contributions(one, X[:4]) for one in (model, *model.models_))
    assert found.names == ["a", "b", "word"]
    assert (found.similarities, found.n_background) == (None, 64)
    assert_allclose(found.scores, np.reshape(model.decision_function(X[:4]), (4, -1)), rtol=1e-9)
    for k, name in enumerate(found.names):
        expected = 0.7 * curves.parts[:, :, curves.names.index(name)]
        expected = expected + 0.4 * compared.parts[:, :, compared.names.index(name)]
        assert_allclose(found.parts[:, :, k], expected, rtol=1e-12)


def test_the_smallest_change_is_found_and_curves_are_refused():
    X, y = rows()
    model = classifier(X).fit(X, y > 1)
    change = smallest_change(model, X[:1], X)
    assert model.predict(change.row)[0] == change.after != change.before
    with pytest.raises(ValueError, match="column_curves: model must have linear weights, got ModelSumClassifier"):
        column_curves(model)


@pytest.mark.parametrize(
    ("models", "weights", "message"),
    [
        ([], [], r"models must be a list of \(name, model\) with different names, got \[\]"),
        (
            [("a", LSSVC()), ("a", LSSVC())],
            [1.0, 1.0],
            r"models must be a list of \(name, model\) with different names",
        ),
        ([("a", LSSVC())], [-1.0], r"weights must be a list of numbers of at least 0, got \[-1.0\]"),
        ([("a", LSSVC())], [1.0, 1.0], "weights must hold one number for each model, got 2 for 1 models"),
    ],
)
def test_what_is_no_sum_is_refused(models, weights, message):
    with pytest.raises(ValueError, match=f"ModelSumClassifier: {message}"):
        ModelSumClassifier(models, weights).fit([[0.0], [1.0]], [0, 1])


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_sum_of_pipelines_is_saved_and_loaded(tmp_path):
    X, y = rows()
    model = classifier(X).fit(X, y > 1)
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(clone(again).fit(X, y > 1).decision_function(X), model.decision_function(X))
    assert [name for name, _ in again.models] == ["curves", "lssvc"]


def _without_last(described: dict[str, Any]) -> None:
    described["models"].pop()


def _nested(described: dict[str, Any]) -> None:
    described["models"][0] = json.loads(json.dumps(described))


def _sum_as_a_step(described: dict[str, Any]) -> None:
    described["models"][0]["steps"][-1] |= json.loads(json.dumps(described))


def _no_weights(described: dict[str, Any]) -> None:
    described["params"]["weights"] = {"text": [], "as": "list"}


def _only_a_scaler(described: dict[str, Any]) -> None:
    described["models"][0] = described["models"][0]["steps"][1]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_only_a_scaler, "models must be of the same task as their sum"),
        (_without_last, "models must have one name each"),
        (_nested, "the models of a sum must be a list, none a sum"),
        (_sum_as_a_step, "the models of a sum must be a list, none a sum"),
        (_no_weights, "weights must hold one number for each model, got 0 for 2 models"),
    ],
)
def test_a_file_that_holds_no_sum_is_refused(tmp_path, damage, message):
    X, y = rows(40)
    file = tmp_path / "m.thresher"
    save_model(classifier(X).fit(X, y > 1), file)
    with safetensors.safe_open(file, framework="numpy") as held:
        header = json.loads(held.metadata()["thresher"])
        tensors = {key: held.get_tensor(key) for key in held.keys()}  # noqa: SIM118
    damage(header["model"])
    file.write_bytes(safetensors.numpy.save(tensors, metadata={"thresher": json.dumps(header)}))
    with pytest.raises(ValueError, match=message):
        load_model(file)


def test_a_sum_that_reads_a_table_with_text_has_a_report():
    X, y = rows()
    table, labels = Table.from_frame(X), np.where(y > 0, "high", "low")
    page = Report(classifier(table).fit(table, labels), sample=(table, labels)).to_html()
    assert "</html>" in page
