"""The loop over a stream: what it counts, merges, resumes and refuses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from thresher._records import Collector
from thresher.cluster import SparseKMeans
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.streams import open_stream, write_svmlight
from thresher.training import Interrupted, look, merge_models, predict_in_folds, train


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    write_svmlight(tmp_path / "a.svm", X, np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 0, 1, -1))
    return tmp_path / "a.svm"


def test_what_is_predicted_first_is_what_the_learner_counts(path):
    run = train(AROWClassifier(), open_stream(path, batch_size=1), predict_first=True)
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
    with pytest.raises(ValueError, match="rows beyond"):
        merge_models([a, a], start=a)
    clusters = SparseKMeans(n_clusters=2, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match="cannot be merged"):
        merge_models([clusters, clusters])
    with pytest.raises(ValueError, match="has no partial_fit"):
        train(SparseKMeans(), open_stream(path))


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
    (tmp_path / "many.csv").write_text(numbers + "word,1\n" * 10)
    (batch,) = open_stream(tmp_path / "many.csv")
    assert list(batch.X.text) == ["a"]


def test_held_out_rows_are_thinned_evenly(monkeypatch):
    monkeypatch.setattr("thresher._records._MOST_ROWS", 10)
    collector = Collector("rows")
    for begin in range(0, 98, 7):
        rows = np.arange(begin, begin + 7)
        collector.add(rows, -rows, rows / 2.0)
    held_out = collector.held_out()
    assert held_out.n_rows == 98
    assert len(set(np.diff(held_out.y))) == 1
    assert held_out.y[0] == 0
    assert_array_equal(held_out.predicted, -held_out.y)
