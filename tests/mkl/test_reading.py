"""Kernels in use, as functions, reports and the command line tell them."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from thresher.cli import main
from thresher.datasets import make_additive
from thresher.inspection import kernels_in_use
from thresher.kernels import RBF, Linear
from thresher.mkl import GMKLClassifier, GMKLRegressor
from thresher.online import PAClassifier
from thresher.persistence import load_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.report import Report

KERNELS = [Linear(features=j) for j in range(4)] + [RBF(0.5)]


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, np.where(X[:, 2] + 0.3 * X[:, 0] > 0, "yes", "no")


def test_kernels_in_use_come_by_weight(rows):
    X, y = rows
    model = GMKLClassifier(KERNELS, C=10.0).fit(X, y)
    found = kernels_in_use(model)
    assert found[0].name == "linear on x3"
    assert [kernel.index for kernel in found] == sorted(
        np.flatnonzero(model.weights_[0]), key=lambda q: -model.weights_[0, q]
    )
    assert_allclose([kernel.weights["yes"] for kernel in found], [model.weights_[0, kernel.index] for kernel in found])
    assert [kernel.strength for kernel in found] == sorted((k.strength for k in found), reverse=True)


def test_outputs_are_classes_or_the_value(rows):
    X, y = rows
    several = GMKLClassifier(KERNELS).fit(X, np.digitize(X[:, 1], [-0.5, 0.5]))
    assert list(kernels_in_use(several)[0].weights) == [0, 1, 2]
    assert list(kernels_in_use(GMKLRegressor(KERNELS).fit(X, X[:, 1]))[0].weights) == ["value"]
    with pytest.raises(ValueError, match=r"^kernels_in_use: model must choose kernels, got PAClassifier"):
        kernels_in_use(PAClassifier().fit(X, y))


def test_names_of_columns_come_through_a_pipeline(rows):
    import pandas as pd

    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", GMKLClassifier(KERNELS, C=10.0))]).fit(frame, y)
    assert kernels_in_use(model)[0].name == "linear on c"


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_reports_show_the_kernels_and_how_sure_the_optimum_is(tmp_path, rows, n_classes):
    X, _ = rows
    y = np.digitize(X[:, 2], np.linspace(-1, 1, n_classes - 1))
    model = GMKLClassifier(KERNELS, tol=1e-2).fit(X, y)
    report = Report(model, sample=(X, y))
    section = report.to_dict()["sections"]["kernels"]
    assert section["n_used"] == len(section["kernels"]) == np.count_nonzero(model.weights_.any(axis=0))
    assert section["n_kernels"] == 5
    text = report.to_text()
    assert "linear on x3" in text
    assert "kernels are in use" in text.replace("\n", " ")
    report.save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "Weights of the kernels in use" in page
    assert page.count("linear on x3") >= 2  # in words and in the figure
    assert "features in use" not in text.lower()


def test_a_file_becomes_a_machine_and_predictions_from_the_shell(tmp_path, capsys):
    X, y = make_additive(120, 3, random_state=0)
    lines = [",".join([*(f"{v:.3f}" for v in row), "yes" if t else "no"]) for row, t in zip(X, y, strict=True)]
    data, model = tmp_path / "data.csv", tmp_path / "m.thresher"
    data.write_text("\n".join(["width,height,age,label", *lines]))
    assert main(["train", str(data), "--target", "label", "--method", "gmkl", "--model", str(model)]) == 0
    assert load_model(model).steps[-1][1].weights_.shape == (1, 52)
    capsys.readouterr()
    assert main(["inspect", str(model), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_kernels"] == 52
    assert any(name.endswith(("on width", "on height", "on age")) for name in facts["kernels_in_use"])
    assert main(["predict", str(model), str(data)]) == 0
    assert capsys.readouterr().out.count("yes") > 20


def test_auto_puts_no_map_before_many_kernels(rows):
    from thresher import auto, explain

    model = auto(*rows, method="uniformmkl", n_evaluations=4, cv=2)
    assert "map" not in dict(model.steps)
    assert "map" not in explain(model)
