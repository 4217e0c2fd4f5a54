"""Parts of scores: they add up to what the model answers, and belong to the user's columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher._gate import Table, Text
from thresher.cluster import SparseKMeans
from thresher.dual_averaging import FTRLClassifier, GroupRDAClassifier, L1RDARegressor
from thresher.inspection import contributions, reasons
from thresher.kernels import LSSVC, FixedSizeNystroem
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder, prepared

N = 300


def table(n=N, seed=0):
    """Numbers with gaps, words and prose, and three classes that depend on all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1, 100] + [0, 500]
    job, note = rng.integers(0, 3, size=n), rng.integers(0, 2, size=n)
    score = X[:, 0] ** 2 + job - note
    X[rng.random(n) < 0.1, 1] = np.nan
    jobs = Text.from_list(np.array(["cook", "clerk", "smith"])[job].tolist())
    notes = Text.from_list([f"a {'good' if k else 'bad'} note number {i} of mine" for i, k in enumerate(note)])
    return Table(["age", "pay", "job", "note"], X, {"job": jobs, "note": notes}), score


def classes(score, n):
    return np.array(list("abcdef"))[np.searchsorted(np.quantile(score, np.arange(1, n) / n), score)]


def scores_of(model, X):
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return scores[:, None] if scores.ndim == 1 else scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("splines", [False, True, ColumnSplines(5, pairs="all")])
@pytest.mark.parametrize("missing", ["zero", "indicator"])
def test_parts_of_columns_add_up_to_scores_of_tables(n_classes, splines, missing):
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=splines, missing=missing, n_buckets=256)
    model.fit(X, classes(score, n_classes))
    found = contributions(model, X[:50])
    assert_allclose(found.scores, scores_of(model, X[:50]), rtol=0, atol=1e-9)
    pairs = ["age:pay"] if isinstance(splines, ColumnSplines) else []
    assert sorted(found.names) == sorted(["age", "pay", "job", "note", *pairs])
    assert found.outputs == (["b"] if n_classes == 2 else ["a", "b", "c"])


def test_parts_of_features_add_up_to_those_of_their_column():
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=True, n_buckets=256).fit(X, score > 0.5)
    by_column, by_feature = (contributions(model, X[:20], by=by) for by in ("column", "feature"))
    ages = [k for k, name in enumerate(by_feature.names) if name == "age" or name.startswith("age spline")]
    assert len(ages) == 10
    expected = by_feature.parts[:, :, ages].sum(axis=2)
    assert_allclose(by_column.parts[:, :, by_column.names.index("age")], expected, rtol=0, atol=1e-12)
    jobs = [k for k, name in enumerate(by_feature.names) if name.startswith("job=")]
    expected = by_feature.parts[:, :, jobs].sum(axis=2)
    assert_allclose(by_column.parts[:, :, by_column.names.index("job")], expected, rtol=0, atol=1e-12)


def plain(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    y = X[:, 0] - 2 * X[:, 3]
    if kind == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    return (pd.DataFrame(X, columns=list("vwxyz")) if kind == "frame" else X), y


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
@pytest.mark.parametrize("learner", [FTRLClassifier(random_state=0), L1RDARegressor(random_state=0)], ids=["c", "r"])
def test_parts_of_learners_alone(kind, learner):
    X, y = plain(kind)
    model = learner.fit(X, y if "Regressor" in type(learner).__name__ else y > 0)
    found = contributions(model, X[:20])
    assert_allclose(found.scores, scores_of(model, X[:20]), rtol=0, atol=1e-9)
    assert set(found.names) <= set("vwxyz" if kind == "frame" else ["x1", "x2", "x3", "x4", "x5"])


def test_parts_behind_steps_of_scikit_learn():
    X, y = plain("frame")
    model = make_pipeline(StandardScaler(), AROWClassifier(random_state=0)).fit(X, y > 0)
    found = contributions(model, X[:20])
    assert found.names == list("vwxyz")
    assert_allclose(found.scores, scores_of(model, X[:20]), rtol=0, atol=1e-9)


def test_columns_of_an_array_behind_splines_are_counted_from_one():
    X, y = plain("array")
    model = prepared(GroupRDAClassifier("encoder", alpha=1e-3, random_state=0), X, splines=True, n_buckets=256).fit(
        X, y > 0
    )
    assert contributions(model, X[:20]).names == ["x1", "x2", "x3", "x4", "x5"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_of_a_kernel_machine_are_those_of_its_rows(n_classes):
    X, y = plain("array")
    model = LSSVC().fit(X, classes(y, n_classes))
    found = contributions(model, X[:10], by="row")
    assert_allclose(found.scores, scores_of(model, X[:10]), rtol=0, atol=1e-9)
    assert found.names[3] == "training row 4"
    assert found.similarities[3, 3] == pytest.approx(1)  # the row itself


def test_parts_behind_landmarks_are_those_of_the_landmarks():
    X, y = plain("array")
    steps = [("scale", RunningScaler()), ("map", FixedSizeNystroem(n_components=20, random_state=0))]
    model = StreamingPipeline([*steps, ("learn", AROWClassifier(random_state=0))]).fit(X, y > 0)
    found = contributions(model, X[:10], by="row")
    assert_allclose(found.scores, scores_of(model, X[:10]), rtol=0, atol=1e-9)
    assert found.names[0] == f"training row {model['map'].component_indices_[0] + 1}"


def test_models_without_such_parts_are_refused():
    X, y = plain("array")
    with pytest.raises(ValueError, match="model must have scores, got SparseKMeans"):
        contributions(SparseKMeans(3, random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="by must be one of 'column', 'feature', 'row', got 'rows'"):
        contributions(AROWClassifier().fit(X, y > 0), X, by="rows")

    class Squared(AROWClassifier):
        def decision_function(self, X):
            return super().decision_function(X) ** 2

    with pytest.raises(ValueError, match="the scores of Squared are not a sum of contributions"):
        contributions(Squared(random_state=0).fit(X, y > 0), X)


def test_parts_are_the_same_from_a_file(tmp_path):
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=True, missing="indicator", n_buckets=256).fit(
        X, score > 0.5
    )
    save_model(model, tmp_path / "m.thresher")
    a, b = (contributions(each, X[:9]) for each in (model, load_model(tmp_path / "m.thresher")))
    assert a.names == b.names
    assert_allclose(a.parts, b.parts, rtol=0, atol=0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reasons_speak_for_the_answer_against_the_next_best(n_classes):
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=True, n_buckets=256).fit(X, classes(score, n_classes))
    scores = model.decision_function(X[:30])
    for i, found in enumerate(reasons(model, X[:30])):
        lead = abs(scores[i]) if n_classes == 2 else np.diff(np.sort(scores[i])[-2:])[0]
        assert found.score == pytest.approx(lead, abs=1e-9)
        assert found.baseline + sum(part.part for part in found.parts) == pytest.approx(lead, abs=1e-9)
        assert found.answer == model.predict(X[i : i + 1])[0] != found.against
        values = {part.name: part.value for part in found.parts}
        assert values["job"] == X["job"][i]  # in the user's units
        assert values["age"] == X["age"][i]


def test_one_hashed_bucket_belongs_to_the_column_of_its_first_text():
    words = [Text.from_list([f"{c}{i % 4}" for i in range(40)]) for c in "ab"]
    X = Table(
        ["number", "first", "second"], np.arange(40.0)[:, None], dict(zip(["first", "second"], words, strict=True))
    )
    encoder = TableEncoder("hash", n_buckets=64).fit(X)
    names, origins = encoder.get_feature_names_out(), encoder.origins_
    assert origins[0] == "number"
    for name, origin in zip(names[1:], origins[1:], strict=True):
        assert name.startswith((origin + "=", "bucket"))
    assert set(origins) == {"number", "first", "second"}


# --- decisions that weigh mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "favours"), [(1, True), (0, False)])
def test_the_probability_from_which_a_class_is_predicted_is_told(answer, favours):
    """It is that of the border between two answers, whichever of them a row gets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (rng.random(2000) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))).astype(int)
    model = AROWClassifier(class_weight="balanced", probability="frequencies", random_state=0).fit(X, y)
    chances, said = model.predict_proba(X)[:, 1], model.predict(X)
    row = X[said == answer][:1]
    found = reasons(model, row)[0]
    assert found.answer == answer
    name, needed = found.favoured
    assert name == 1
    assert found.needed == pytest.approx(needed if favours else 1 - needed)
    assert chances[said == 0].max() <= needed + 1e-9
    assert needed <= chances[said == 1].min() + 1e-9
    assert needed < 0.3
    assert reasons(AROWClassifier(random_state=0).fit(X, y), row)[0].favoured is None
