"""What a report says of kernel machines, of rows of no class and of rows without a label."""

import json
import re

import numpy as np
import pytest

from thresher.datasets import make_novelty, make_tri_class
from thresher.kernels import LSSVC, FixedSizeNystroem, LeastSquaresRegressor
from thresher.metrics import detection_rate, rejection_rate
from thresher.novelty import LSSNDClassifier, PegasosSNDClassifier, SNDClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import StreamingPipeline
from thresher.report import Report
from thresher.semi_supervised import TriClassSVC, UniversumSVC
from thresher.training._records import HeldOut

NAMES = np.array(["one", "two", "unknown"], dtype=object)


def moons(n=200, seed=0):
    X, y = make_novelty(n, kind="moons", random_state=seed)
    return X, NAMES[y]


def sections(*args, **options):
    report = Report(*args, **options)
    json.dumps(report.to_dict(), allow_nan=False)
    assert report.to_text()
    return report.to_dict()["sections"]


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear", "cosine"])
def test_a_kernel_machine_shows_its_rows_and_its_kernel_and_no_features(kernel):
    X, y = moons()
    model = UniversumSVC(kernel=kernel, gamma=0.25).fit(X, y == "one")
    found = sections(model, sample=(X, y == "one"), data={"n_rows": 200})
    figures = found["model"]["figures"]
    assert figures["support vectors"] == len(model.support_)
    assert figures["kernel"] == kernel
    assert figures.get("kernel width") == (0.25 if kernel in ("rbf", "polynomial") else None)
    assert f"keeps {len(model.support_)} rows of 200, its support vectors" in found["model"]["says"]
    assert not {"features in use", "passes"} & figures.keys()
    assert "features" not in found


def test_a_precomputed_kernel_has_no_name():
    X, y = moons(60)
    K = X @ X.T + 1
    found = sections(LSSVC(kernel="precomputed").fit(K, y == "one"), sample=(K, y == "one"))
    assert found["model"]["figures"]["support vectors"] == 60
    assert "kernel" not in found["model"]["figures"]


def test_linear_models_keep_their_figures():
    X, y = moons(60)
    figures = sections(AROWClassifier(random_state=0).fit(X, y), sample=(X, y))["model"]["figures"]
    assert figures["features in use"] == 2
    assert "support vectors" not in figures


@pytest.mark.parametrize("cls", [SNDClassifier, LSSNDClassifier, PegasosSNDClassifier])
def test_rows_of_no_class_are_counted(cls):
    X, y = moons()
    model = cls(outlier_label="unknown").fit(X, y)
    fresh, truth = moons(300, seed=1)
    predicted = model.predict(fresh)
    held_out = HeldOut("new rows", truth, predicted, model.decision_function(fresh), 300)
    report = Report(model, held_out=held_out, data={"classes": {"one": 85, "two": 85, "unknown": 30}})
    found = report.to_dict()["sections"]["no_class"]
    assert found["rejected"] == np.mean(predicted == "unknown")
    assert found["detection rate"] == detection_rate(truth, predicted, outlier_label="unknown")
    assert found["classes rejected"] == rejection_rate(truth, predicted, outlier_label="unknown")
    assert found["outliers"] == np.sum(truth == "unknown")
    data = report.to_dict()["sections"]["data"]
    assert data["classes"] == {"one": 85, "two": 85}
    assert data["figures"]["rows of no class"] == 30
    assert "30 rows are of no class." in data["says"]
    assert "rows of none of them are 'unknown'" in " ".join(report.to_text().split())
    assert re.search(r"Rows of no class found +[\d.]+ %", report.to_text())


def test_without_outliers_the_share_of_rejected_rows_is_told():
    X, y = moons()
    known = y != "unknown"
    model = SNDClassifier(outlier_label="unknown", nu=0.2, gamma="scale").fit(X[known], y[known])
    found = sections(model, sample=(X[known], y[known]))["no_class"]
    assert found["rejected"] == found["classes rejected"] > 0
    assert "detection rate" not in found
    assert "none of them is labelled as belonging to no class" in found["says"]
    sections(
        SNDClassifier(outlier_label="unknown").fit(X[known], y[known]), sample=(X[known], y[known])
    )  # rejects none
    kept = SNDClassifier(outlier_label="unknown", reject=False).fit(X[known], y[known])
    assert "no_class" not in sections(kept, sample=(X[known], y[known]))


@pytest.mark.parametrize("label", ["?", -1])
def test_rows_without_a_label_are_counted_and_not_measured(label):
    X, y = make_tri_class(40, 60, 5, relevant=0.5, random_state=0)
    y = y if label == -1 else np.array(["no", "yes", "?"], dtype=object)[y]
    names = [str(c) for c in np.unique(y[y != label])]
    model = UniversumSVC(kernel="linear", unlabelled_label=label).fit(X, y)
    counts = {str(c): int(np.sum(y == c)) for c in np.unique(y)}
    held_out = HeldOut("all", y, model.predict(X), model.decision_function(X), 100)
    apart = {name: n for name, n in counts.items() if name != str(label)}  # whether or not they are counted
    for options, classes in (({"sample": (X, y)}, counts), ({"held_out": held_out}, apart)):
        found = sections(model, data={"n_rows": 100, "classes": classes}, **options)
        assert found["data"]["figures"]["rows unlabelled"] == 60
        assert found["data"]["figures"]["rows"] == 100
        assert list(found["data"]["classes"]) == names
        assert "60 rows are unlabelled." in found["data"]["says"]
        assert found["measures"]["rows"]["measured"] == 40
        assert [c["class"] for c in found["measures"]["classes"]] == names


def test_the_objective_of_a_series_of_convex_problems_is_drawn():
    X, y = make_tri_class(40, 60, 5, relevant=0.5, random_state=0)
    model = TriClassSVC(kernel="linear").fit(X, y)
    assert len(model.objectives_) > 1
    found = sections(model, sample=(X, y))["objective"]
    np.testing.assert_allclose(found["objective"], model.objectives_)
    three = np.where(y == -1, -1, np.arange(len(y)) % 3)
    assert "objective" not in sections(TriClassSVC(kernel="linear").fit(X, three), sample=(X, three))


def test_the_page_shows_it_all():
    pytest.importorskip("jinja2")
    X, y = moons()
    model = SNDClassifier(outlier_label="unknown").fit(X, y)
    page = Report(model, sample=(X, y), data={"n_rows": 200, "classes": {"one": 85, "unknown": 30}}).to_html()
    for words in ("Rows of no class", "support vectors", "kernel width", "are predicted as", "30 rows are of no class"):
        assert words in page


def test_weights_of_kernel_features_are_not_shown_as_those_of_columns():
    """They belong to the rows that the map compares with; what explains them are the explained rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    steps = [("map", FixedSizeNystroem(n_components=20, random_state=0)), ("learn", LeastSquaresRegressor())]
    report = Report(StreamingPipeline(steps).fit(X, y), sample=(X, y)).to_dict()
    assert not {"features", "sparsity"} & set(report["sections"])
    assert "features in use" not in report["sections"]["model"]["figures"]
    assert "Features in use" not in [tile["label"] for tile in report["summary"]["tiles"]]
    plain = Report(LeastSquaresRegressor().fit(X, y), sample=(X, y)).to_dict()
    assert "features" in plain["sections"]
    assert "Features in use" in [tile["label"] for tile in plain["summary"]["tiles"]]
