from __future__ import annotations

from collections import Counter

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from thresher.compare import selection_frequency
from thresher.datasets import make_recovery
from thresher.dual_averaging import L1RDAClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder


class RowsAsFeatures(BaseEstimator):
    """Given an identity matrix, it "chooses" the features whose rows it was given."""

    def fit(self, X, y=None):
        assert (np.diff(np.argmax(X, axis=1)) > 0).all()  # rows keep their order, and none comes twice
        self.coef_ = X.sum(axis=0)
        return self


class RowsAsFeaturesClassifier(ClassifierMixin, RowsAsFeatures):
    pass


class SeedAsFeature(BaseEstimator):
    """Chooses the one feature, and the sign, that its seed names; and one more that is always the same."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        assert isinstance(self.random_state, int)
        self.coef_ = np.zeros((1, X.shape[1]))
        self.coef_[0, self.random_state % (X.shape[1] - 1)] = 1 if self.random_state % 2 else -1
        self.coef_[0, -1] = -3
        return self


class SupportOnly(BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.support_ = np.array([0, 2])
        return self


class GrowingWidth(BaseEstimator):
    """Has one feature more at every fit, all of one name if any."""

    def __init__(self, width, names):
        self.width = width
        self.names = names

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        self.coef_ = np.ones(self.width[0])
        if self.names:
            self.feature_names_in_ = np.array(["same"] * self.width[0], dtype=object)
        self.width[0] += 1
        return self


@pytest.fixture(scope="module")
def problem():
    return make_recovery(600, 12, n_relevant=4, random_state=0)


# --- the runs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction, drawn", [(0.5, 100), (0.3, 60), (0.001, 1), (1.0, 200)])
def test_each_run_is_given_so_many_rows_drawn_without_replacement(fraction, drawn):
    found = selection_frequency(RowsAsFeatures(), np.eye(200), n_runs=60, fraction=fraction, random_state=0)
    assert found.mean_size == drawn == found.n_drawn
    assert_allclose(found.frequency.mean(), drawn / 200)
    expected = np.sqrt(drawn / 200 * (1 - drawn / 200) / 60)
    assert_allclose(found.frequency.std(), expected, rtol=0.2)  # as runs that know nothing of each other


def test_classes_are_drawn_in_their_shares_if_asked():
    y = np.repeat(["a", "b", "c"], [150, 49, 1])  # of the last, a half is rounded to 0
    found = selection_frequency(RowsAsFeaturesClassifier(), np.eye(200), y, n_runs=40, random_state=0)
    assert found.n_drawn == 75 + 24 + 1
    assert_allclose([found.frequency[y == c].sum() for c in "abc"], [75, 24, 1])
    loose = selection_frequency(RowsAsFeaturesClassifier(), np.eye(200), y, n_runs=40, stratify=False, random_state=0)
    assert loose.n_drawn == 100
    assert abs(loose.frequency[y == "a"].sum() - 75) > 1e-9
    regressor = selection_frequency(RowsAsFeatures(), np.eye(200), np.arange(200.0), n_runs=2, random_state=0)
    assert regressor.n_drawn == 100


@pytest.mark.parametrize("own", [None, 7, np.random.RandomState(0)])
def test_every_run_has_a_seed_of_its_own_whatever_the_estimator_has(own):
    model = make_pipeline(StandardScaler(), SeedAsFeature(random_state=own))
    found = selection_frequency(model, np.random.default_rng(0).normal(size=(10, 2001)), n_runs=30, random_state=0)
    assert np.count_nonzero(found.frequency[:-1]) >= 28
    assert found.mean_size == 2
    assert found.frequency[-1] == 1
    assert found.sign[-1] == -1
    assert set(np.unique(found.sign)) <= {-1.0, 0.0, 1.0}
    assert model[-1].random_state is own
    assert not hasattr(model[-1], "coef_")


def test_the_sign_is_a_mean_over_the_runs_in_which_the_feature_was_chosen():
    found = selection_frequency(SeedAsFeature(), np.ones((4, 4)), n_runs=300, random_state=0)
    assert_allclose(found.sign[:3], 0, atol=0.35)  # a third of the runs each, of both signs
    assert (np.abs(found.sign[:3]) > 0).any()
    assert_allclose(found.frequency[:3], 1 / 3, atol=0.1)


def test_the_result_is_that_of_a_plain_loop(problem):
    X, y = problem
    found = selection_frequency(L1RDAClassifier(alpha=0.05), X, y, n_runs=8, fraction=1.0, random_state=3)
    seeds = np.random.default_rng(3).integers(2**31, size=(8, 2))[:, 1]
    weights = [L1RDAClassifier(alpha=0.05, random_state=int(s)).fit(X, y).coef_[0] for s in seeds]
    assert_allclose(found.frequency, np.mean(np.array(weights) != 0, axis=0))
    used = np.sum(np.array(weights) != 0, axis=0)
    assert_allclose(found.sign, np.sign(weights).sum(axis=0) / np.maximum(used, 1))
    assert_allclose(found.mean_size, used.sum() / 8)
    assert 4 <= found.mean_size < 12


def test_threads_processes_and_layouts_leave_no_trace(problem):
    X, y = problem
    model = L1RDAClassifier(alpha=0.03, eta0=1.0)
    one = selection_frequency(model, X, y, n_runs=12, random_state=1)
    two = selection_frequency(model, X, y, n_runs=12, random_state=1, n_jobs=2)
    csr = selection_frequency(model, sparse.coo_array(X), y, n_runs=12, random_state=1)
    with joblib.parallel_config(backend="loky"):
        apart = selection_frequency(model, X, y, n_runs=12, random_state=1, n_jobs=2)
    for other in (two, csr, apart):
        assert_array_equal(one.frequency, other.frequency)
        assert_array_equal(one.sign, other.sign)
    another = selection_frequency(model, X, y, n_runs=12, random_state=2)
    assert not np.array_equal(one.frequency, another.frequency)


def test_more_runs_begin_with_the_same_ones():
    few, many = (
        selection_frequency(RowsAsFeatures(), np.eye(50), n_runs=n, random_state=4).frequency * n for n in (3, 4)
    )
    more = many - few
    assert set(np.round(more, 9)) == {0.0, 1.0}


# --- what counts as chosen -------------------------------------------------------------------------------------------


def test_with_several_outputs_a_feature_is_chosen_if_any_uses_it(problem):
    X, y = problem
    three = y + 2 * (X[:, 5] > 1)
    found = selection_frequency(L1RDAClassifier(alpha=0.1), X, three, n_runs=5, random_state=0)
    assert found.sign is None
    assert found.frequency[5] == 1
    assert found.frequency[0] == 1


def test_selectors_searches_and_centres_are_understood(problem):
    X, y = problem
    best = selection_frequency(SelectKBest(k=4), X, y, n_runs=6, random_state=0)
    assert_array_equal(best.stable(), [0, 1, 2, 3])
    assert best.mean_size == 4
    assert best.sign is None
    indices = selection_frequency(SupportOnly(), X, y, n_runs=2, random_state=0)
    assert_array_equal(indices.frequency, np.isin(np.arange(12), [0, 2]))
    centres = selection_frequency(KMeans(2, n_init=1), X, n_runs=2, random_state=0)
    assert_array_equal(centres.frequency, 1)
    search = GridSearchCV(L1RDAClassifier(), {"alpha": [0.05, 0.06]}, cv=2)
    assert_array_equal(selection_frequency(search, X, y, n_runs=3, random_state=0).stable(1.0)[:4], [0, 1, 2, 3])
    l1 = LinearSVC(penalty="l1", C=0.05)
    assert_array_equal(selection_frequency(l1, X, y, n_runs=3, random_state=0).stable(1.0)[:4], [0, 1, 2, 3])


def test_support_vectors_are_not_features(problem):
    X, y = problem
    with pytest.raises(ValueError, match=r"selection_frequency: estimator must have weights .* got SVC, which does ne"):
        selection_frequency(SVC(), X, y, n_runs=2)


def test_names_are_those_of_the_last_steps_features(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(12)])
    for model in (L1RDAClassifier(alpha=0.05), make_pipeline(StandardScaler(), L1RDAClassifier(alpha=0.05))):
        found = selection_frequency(model, frame, y, n_runs=3, random_state=0)
        assert found.names.tolist() == frame.columns.tolist()
        assert found.name(3) == "column 3"
    found = selection_frequency(model, X, y, n_runs=3, random_state=0)
    assert found.name(3) == "x4"
    assert selection_frequency(L1RDAClassifier(), X, y, n_runs=2, random_state=0).names is None


@pytest.mark.parametrize("most", [None, 60])
def test_features_that_differ_from_run_to_run_are_matched_by_name(most):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{j}" for j in rng.integers(0, 200, 5)) for _ in range(60)]
    y = np.arange(60) % 2
    model = make_pipeline(TfidfVectorizer(max_features=most), L1RDAClassifier(alpha=0.01))
    found = selection_frequency(model, texts, y, n_runs=6, random_state=0)
    times = Counter()
    for rows, order in np.random.default_rng(0).integers(2**31, size=(6, 2)):
        draw = np.random.default_rng(rows)
        part = np.sort(np.concatenate([draw.choice(np.flatnonzero(y == c), 15, replace=False) for c in (0, 1)]))
        model.set_params(l1rdaclassifier__random_state=int(order)).fit([texts[i] for i in part], y[part])
        words = model[0].get_feature_names_out()
        times.update(dict.fromkeys(words, 0))
        times.update(words[model[-1].support_].tolist())
    assert dict(zip(found.names, found.frequency * 6, strict=True)) == pytest.approx(dict(times))
    assert list(found.names) == list(times)
    assert len(set(found.frequency)) > 2
    assert (np.abs(found.sign[found.frequency > 0]) > 0).any()


def test_our_own_pipeline_meets_words_in_another_order_each_time():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 10, 400), "job": rng.choice(["a", "b", "c"], 400)})
    model = StreamingPipeline(
        [("scale", RunningScaler()), ("encode", TableEncoder()), ("learn", L1RDAClassifier(0.05))]
    )
    found = selection_frequency(model, table, np.where(table["job"] == "a", "yes", "no"), n_runs=10, random_state=0)
    assert sorted(found.names) == ["age", "job=a", "job=b", "job=c"]
    place = found.names.tolist().index("job=a")
    assert found.frequency[place] == 1
    assert found.sign[place] == 1
    assert (np.delete(found.sign, place) < 1).all()


@pytest.mark.parametrize(
    "names, words",
    [
        (False, "must be given the same features in every run, or features with names, got 6 and 7 without names."),
        (True, "features that differ from run to run must have names of their own, got one name twice."),
    ],
)
def test_features_that_differ_and_cannot_be_matched_are_refused(names, words):
    with pytest.raises(ValueError) as refused:
        selection_frequency(GrowingWidth([6], names), np.ones((6, 2)), n_runs=2)
    assert str(refused.value).endswith(words)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"n_runs": 0}, "selection_frequency: n_runs must be an integer of at least 1, got 0."),
        ({"fraction": 0}, "selection_frequency: fraction must be a number above 0 and at most 1, got 0."),
        ({"stratify": "y"}, "selection_frequency: stratify must be True or False, got 'y'."),
        ({"n_jobs": 0}, "selection_frequency: n_jobs must be None or an integer other than 0, got 0."),
        ({"estimator": "arow"}, "selection_frequency: estimator must be an estimator, got 'arow'."),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(problem, change, words):
    X, y = problem
    with pytest.raises(ValueError) as refused:
        selection_frequency(**{"estimator": L1RDAClassifier(), "X": X, "y": y} | change)
    assert words in str(refused.value)


def test_the_bar_is_for_terminals_only(problem, capfd):
    X, y = problem
    selection_frequency(L1RDAClassifier(), X, y, n_runs=3, random_state=0, progress=True)
    assert capfd.readouterr() == ("", "")
