"""The loop over a stream: what it counts, merges, resumes and refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher import _estimators, registry
from thresher._estimators import task_of
from thresher.cluster import ProximalPlaneClustering
from thresher.dual_averaging import L1RDARegressor
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.streams import open_stream, write_svmlight
from thresher.training import Interrupted, evaluate, look, merge_models, predict_in_folds, read_all, train
from thresher.training._out_of_fold import split
from thresher.training._records import Collector


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    write_svmlight(tmp_path / "a.svm", X, np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 0, 1, -1))
    return tmp_path / "a.svm"


def test_what_is_predicted_first_is_what_the_learner_counts(path):
    run = train(AROWClassifier(1.0), open_stream(path, batch_size=1), predict_first=True)
    held_out = run.held_out
    assert held_out.n_rows == 399  # the first row meets an empty model
    assert run.model.n_mistakes_ - np.sum(held_out.y != held_out.predicted) in (0, 1)
    assert run.history.rows[-1] == 400
    assert run.history.mistakes[-1] == run.model.n_mistakes_
    assert run.facts.classes == {"-1": run.facts.n_rows - run.facts.classes["1"], "1": run.facts.classes["1"]}


def test_folds_predict_rows_by_models_that_had_not_seen_them(path):
    (batch,) = open_stream(path)
    X, y = batch.X.toarray(), batch.y
    folds = [(np.arange(200, 400), np.arange(200)), (np.arange(200), np.arange(200, 400))]
    held_out = predict_in_folds(AROWClassifier(random_state=0), X, y, folds)
    by_hand = [clone(AROWClassifier(random_state=0)).fit(X[a], y[a]).predict(X[b]) for a, b in folds]
    assert_array_equal(held_out.predicted, np.concatenate(by_hand))
    twice = predict_in_folds(AROWClassifier(random_state=0), X, y, folds * 2)
    assert len(twice.y) == 400
    y[0] = 7  # a class that one fold lacks
    assert predict_in_folds(AROWClassifier(), X, y, folds).scores is None
    assert predict_in_folds(AROWClassifier(), X, y) is None


def test_a_damaged_checkpoint_is_refused(path, tmp_path):
    place = tmp_path / "c"
    with pytest.raises(Interrupted):
        train(AROWClassifier(), open_stream(path, batch_size=50), checkpoint=place, should_stop=lambda: True)
    model = load_model(place)
    good = model.record_["training"]
    for changes in (
        {"position": None},
        {"position": [0, 0]},
        {"history": []},
        {"facts": {"x": 1}},
        {"fingerprint": []},
    ):
        model.record_ = {"training": good | changes}
        save_model(model, place)
        with pytest.raises(ValueError, match=r"^(c|Stream): "):
            train(AROWClassifier(), open_stream(path, batch_size=50), checkpoint=place, resume=True)


def test_models_that_cannot_be_merged_are_refused(path):
    a = train(PAClassifier(), open_stream(path)).model
    with pytest.raises(ValueError, match="more rows than the start"):
        merge_models([a, a], start=a)
    clusters = ProximalPlaneClustering(n_clusters=2, C_others=0.0, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match="cannot be merged"):
        merge_models([clusters, clusters])
    with pytest.raises(ValueError, match="has no partial_fit"):
        train(ProximalPlaneClustering(), open_stream(path))
    for call in (lambda: train(PAClassifier(), [[1.0]]), lambda: evaluate(a, [[1.0]])):
        with pytest.raises(TypeError, match=r"stream must come from thresher\.streams\.open_stream, got list\.$"):
            call()


def test_a_look_tells_sorted_rows_and_the_task(tmp_path):
    X = np.ones((300, 1))
    write_svmlight(tmp_path / "sorted.svm", X, np.repeat([1, 2, 3], 100))
    write_svmlight(tmp_path / "mixed.svm", X, np.tile([1, 2, 3], 100))
    write_svmlight(tmp_path / "values.svm", X, np.linspace(0, 1, 300))
    seen = {name: look(open_stream(tmp_path / f"{name}.svm")) for name in ("sorted", "mixed", "values")}
    assert [seen[name].mixed for name in ("sorted", "mixed")] == [False, True]
    assert [s.task for s in seen.values()] == ["classification", "classification", "regression"]
    assert seen["sorted"].labels == [1, 2, 3]
    assert seen["values"].labels is not None


def test_a_few_words_among_numbers_are_mistakes_and_many_are_words(tmp_path):
    numbers = "a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(99))
    (tmp_path / "few.csv").write_text(numbers + "oops,1\n")
    with pytest.raises(ValueError, match=r"few.csv, line 101, field 1"):
        list(open_stream(tmp_path / "few.csv"))
    stream = open_stream(tmp_path / "few.csv", skip_malformed=True)
    assert sum(len(batch) for batch in stream) == 99
    assert stream.n_skipped == 1
    (tmp_path / "many.csv").write_text(numbers + "".join(f"{word},1\n" for word in 9 * ["abcde"[0], "b", "c"]))
    (batch,) = open_stream(tmp_path / "many.csv")
    assert list(batch.X.text) == ["a"]


def test_held_out_rows_are_thinned_evenly(monkeypatch):
    monkeypatch.setattr("thresher.training._records._MOST_ROWS", 10)
    collector = Collector("rows")
    for begin in range(0, 98, 7):
        rows = np.arange(begin, begin + 7)
        collector.add_predictions(rows, -rows, probabilities=rows[:, None] / 2.0)
    held_out = collector.held_out()
    assert held_out.n_rows == 98
    assert len(set(np.diff(held_out.y))) == 1
    assert held_out.y[0] == 0
    assert_array_equal(held_out.predicted, -held_out.y)
    assert held_out.scores is None
    assert_array_equal(held_out.probabilities[:, 0], held_out.y / 2)


# --- a rare class -----------------------------------------------------------------------------------------------------


@pytest.fixture
def rare(tmp_path):
    """One row in ten is positive."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 6))
    latent = X[:, 0] + 0.5 * rng.normal(size=1000)
    write_svmlight(tmp_path / "rare.svm", X, np.where(latent > np.quantile(latent, 0.9), 1, -1))
    return tmp_path / "rare.svm"


@pytest.mark.parametrize("positive", [1, -1])
def test_a_rare_class_is_measured_before_each_batch_is_learned(rare, positive):
    run = train(AROWClassifier(), open_stream(rare, batch_size=64, max_iter=2), predict_first=True, positive=positive)
    alone = train(AROWClassifier(), open_stream(rare, batch_size=64, max_iter=2), positive=positive)
    held_out, history = run.held_out, run.history
    there, scores = held_out.y == positive, held_out.scores * positive
    expected = f1_score(there, held_out.predicted == positive)
    assert_allclose(history.measures["f1"][-1], expected, rtol=1e-12)
    in_order = pairs = 0.0
    for begin in range(0, len(scores), 64):
        batch = slice(begin, begin + 64)
        n = np.sum(there[batch]) * np.sum(~there[batch])
        in_order, pairs = in_order + n * (roc_auc_score(there[batch], scores[batch]) if n else 0), pairs + n
    assert_allclose(history.measures["roc_auc"][-1], in_order / pairs, rtol=1e-12)
    expected = average_precision_score(there, scores)
    assert_allclose(history.measures["average_precision"][-1], expected, atol=0.01)
    assert history.measures["rows"][0] == 128  # the first batch meets an empty model
    assert history.measures["rows"][-1] == 1000  # and the second pass is not measured
    assert history.positive == str(positive)
    assert alone.history == history
    assert alone.model.record_["history"]["measures"] == history.measures
    assert_array_equal(alone.model.coef_, train(AROWClassifier(), open_stream(rare, max_iter=2)).model.coef_)


def test_scores_of_exactly_zero_are_answers_for_the_first_class(tmp_path):
    (tmp_path / "zero.svm").write_text("0 1:1\n1 1:1\n" * 5 + "0 2:1\n0 2:1\n1 2:1\n1 2:1\n1 2:1\n")
    for positive, expected in ((0, 2 * 2 / (2 * 2 + 3)), (1, 0.0)):  # the last five rows score 0
        model = PAClassifier(fit_intercept=False)
        run = train(model, open_stream(tmp_path / "zero.svm", batch_size=10), positive=positive)
        assert_allclose(run.history.measures["f1"], [expected])
        assert run.history.measures["roc_auc"] == [0.5]


def test_measures_of_a_run_that_was_stopped_are_those_of_one_that_was_not(rare, tmp_path):
    def start(**options):
        stream = open_stream(rare, batch_size=50, max_iter=2)
        return train(AROWClassifier(), stream, positive=1, checkpoint=tmp_path / "c", **options)

    whole = start().model
    save_model(whole, tmp_path / "whole")
    for n_batches in (1, 7, 20, 30):
        countdown = iter(range(n_batches))
        with pytest.raises(Interrupted):
            start(should_stop=lambda countdown=countdown: next(countdown, None) is None)
        save_model(start(resume=True).model, tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_checkpoint_with_other_or_damaged_measures_is_refused(rare, tmp_path):
    place = tmp_path / "c"

    def start(positive=1, **options):
        return train(AROWClassifier(), open_stream(rare, batch_size=50), checkpoint=place, positive=positive, **options)

    with pytest.raises(Interrupted):
        start(should_stop=iter([False, False, True]).__next__)
    for positive in (None, -1):
        with pytest.raises(ValueError, match=r"^c: this checkpoint was made with positive 1, now it is (None|-1)\.$"):
            start(positive, resume=True)
    model = load_model(place)
    good = model.record_["training"]
    cells, history = good["measured"]["cells"], good["history"]
    for changes in (
        {"measured": {"positive": "1"}},
        {"measured": {"positive": "1", "cells": cells | {"f1": ["a", "b", "c"]}}},
        {"measured": {"positive": "1", "cells": cells | {"roc_auc": [1.0]}}},
        {"measured": {"positive": "1", "cells": cells | {"roc_auc": [-1.0, 2.0]}}},
        {"history": history | {"measures": {"rows": []}}},
        {"history": history | {"measures": {"f1": [1.0]}}},
        {"history": history | {"measures": [1]}},
    ):
        model.record_ = {"training": good | changes}
        save_model(model, place)
        with pytest.raises(ValueError, match=r"^(c: the checkpoint is damaged|Progressive\w+: cells must be .*)\.$"):
            start(resume=True)


def test_only_one_of_two_classes_can_be_looked_for(rare, tmp_path):
    with pytest.raises(ValueError, match=r"^train: positive must be one of two classes, \[-1, 1\], got 2\.$"):
        train(AROWClassifier(), open_stream(rare), positive=2)
    (tmp_path / "three.svm").write_text("1 1:1\n2 1:1\n3 1:1\n")
    with pytest.raises(ValueError, match=r"^train: positive must be one of two classes"):
        train(AROWClassifier(), open_stream(tmp_path / "three.svm"), positive=1)
    with pytest.raises(ValueError, match=r"^train: positive must be one of two classes, \[\], got 1\.$"):
        train(L1RDARegressor(), open_stream(rare), positive=1)


def test_a_class_is_rare_below_a_fifth_of_the_rows(tmp_path):
    def seen(n_rare):
        (tmp_path / "d.svm").write_text("7 1:1\n" * n_rare + "3 1:1\n" * (100 - n_rare))
        return look(open_stream(tmp_path / "d.svm"))

    assert seen(19).rare_class([3, 7]) == 7
    assert seen(20).rare_class([3, 7]) is None
    assert seen(81).rare_class([3, 7]) == 3
    assert seen(100).rare_class([3, 7]) == 3  # known, but not met yet
    assert seen(5).rare_class([3, 7, 8]) is None
    assert seen(5).rare_class(None) is None


@pytest.mark.parametrize("labels", [None, "numbers", "words"])
@pytest.mark.parametrize(("n_rows", "n_splits"), [(23, 2), (50, 5), (101, 3)])
def test_folds_are_those_of_scikit_learn(labels, n_rows, n_splits):
    rng = np.random.default_rng(n_rows)
    codes = rng.permutation(np.arange(n_rows) % 3)
    y = {None: None, "numbers": 2.0 - codes, "words": np.array(["c", "a", "b"])[codes]}[labels]
    theirs = (KFold if y is None else StratifiedKFold)(n_splits, shuffle=True, random_state=4).split(codes, y)
    for ours, (learn, test) in zip(split(y, n_rows, n_splits, 4), theirs, strict=True):
        assert_array_equal(ours[0], learn)
        assert_array_equal(ours[1], test)


def test_a_look_keeps_few_rows(path):
    stream = open_stream(path, batch_size=150)
    X, y = look(stream, keep_rows=400).rows
    whole, targets = read_all(stream)
    assert_array_equal(X.toarray(), whole.toarray())
    assert_array_equal(y, targets)
    assert look(stream, keep_rows=399).rows is None
    assert look(stream, max_bytes=1, keep_rows=400).rows is None


def test_any_estimator_tells_its_task_and_can_be_copied():
    for method in registry.methods():
        estimator = method.cls()
        kinds = {"classification": is_classifier, "regression": is_regressor, "clustering": is_clusterer}
        assert kinds[method.task](estimator), method.name
        assert task_of(estimator) == task_of(method.cls) == method.task
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=3.0))
    assert (task_of(ridge), task_of(Ridge()), task_of(StandardScaler())) == ("regression", "regression", "transform")
    ours = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(r=2.0).fit([[0], [1]], [0, 1]))])
    assert task_of(ours) == "classification"
    for model in (ours, ridge):
        copy = _estimators.clone(model)
        assert copy is not model
        assert repr(copy) == repr(model)
        assert not hasattr(copy[-1], "n_features_in_")
