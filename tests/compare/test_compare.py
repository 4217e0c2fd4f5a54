"""Runs of several learners on the same rows."""

from __future__ import annotations

import time

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from thresher.compare import compare
from thresher.datasets import make_recovery
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier


class Recording(BaseEstimator):
    """Writes down the rows it learns from and is tested on, whose first column is their number, and its seed."""

    seen: dict = {}

    def __init__(self, name="", random_state=None):
        self.name = name
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rows_ = np.asarray(X)[:, 0].astype(int).tolist()
        assert (np.asarray(X)[:, 1] == y).all()
        return self

    def score(self, X, y):
        assert (np.asarray(X)[:, 1] == y).all()
        rows = np.asarray(X)[:, 0].astype(int).tolist()
        self.seen.setdefault(self.name, []).append((self.rows_, rows, self.random_state))
        return len(self.seen[self.name]) % 3


class Recorder(ClassifierMixin, Recording):
    score = Recording.score


class RecordingRegressor(RegressorMixin, Recording):
    score = Recording.score


class Fails(ClassifierMixin, BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        raise KeyError("no\nsuch thing")


class Sleeper(ClassifierMixin, BaseEstimator):
    """Waits, and works, for a while."""

    def __init__(self, working=0.0):
        self.working = working

    def fit(self, X, y):
        time.sleep(0.05)
        end = time.thread_time() + self.working
        while time.thread_time() < end:
            pass
        return self

    def score(self, X, y):
        return 0.0


def _recorded(n=40, kind=Recorder, names="ab", **change):
    Recording.seen = {}
    y = np.repeat([0, 1], [n - n // 4, n // 4])
    X = np.column_stack([np.arange(n), y])
    found = compare({name: kind(name) for name in names}, X, y, **{"random_state": 0} | change)
    return Recording.seen, y, found


@pytest.fixture(scope="module")
def problem():
    return make_recovery(400, 12, n_relevant=4, random_state=0)


# --- which rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{}, {"vary": "orders"}, {"cv": 4}, {"vary": "orders", "repeats": 3}])
def test_all_learners_are_given_the_same_rows_order_and_seed(change):
    seen, _, found = _recorded(**change)
    assert seen["a"] == seen["b"]
    assert len(seen["a"]) == found.n_runs == (4 if "cv" in change else change.get("repeats", 10))
    assert len({seed for _, _, seed in seen["a"]}) == found.n_runs
    for train, test, _ in seen["a"]:
        assert not set(train) & set(test)
        assert sorted(train + test) == list(range(40))


def test_splits_differ_and_keep_the_shares_of_the_classes():
    seen, y, found = _recorded(repeats=6, test_size=0.3)
    assert len({tuple(sorted(test)) for _, test, _ in seen["a"]}) == 6
    for train, test, _ in seen["a"]:
        assert (len(test), y[test].sum(), y[train].sum()) == (12, 3, 7)
    assert found.test_ratio == pytest.approx(12 / 28)
    assert found.about == "6 splits, 28 rows to learn from and 12 to test on"
    loose, y, _ = _recorded(kind=RecordingRegressor, repeats=8)
    assert len({int(y[test].sum()) for _, test, _ in loose["a"]}) > 1


def test_orders_are_other_permutations_of_the_same_rows_tested_on_the_same():
    seen, y, found = _recorded(vary="orders", repeats=5, test_size=0.3)
    assert len({tuple(train) for train, _, _ in seen["a"]}) == 5
    assert len({tuple(sorted(train)) for train, _, _ in seen["a"]}) == 1
    assert len({tuple(test) for _, test, _ in seen["a"]}) == 1
    assert y[seen["a"][0][1]].sum() == 3
    assert found.test_ratio is None
    assert found.about == "5 orders of 28 rows to learn from, 12 to test on"


def test_orders_may_be_tested_on_rows_that_are_given():
    test = np.column_stack([np.arange(100, 107), np.zeros(7)])
    seen, _, found = _recorded(vary="orders", repeats=3, X_test=test, y_test=np.zeros(7))
    for train, tested, _ in seen["b"]:
        assert sorted(train) == list(range(40))
        assert tested == list(range(100, 107))
    assert found.about == "3 orders of 40 rows to learn from, 7 to test on"


def test_splitters_of_ones_own_and_groups():
    groups = np.arange(40) // 4
    seen, _, found = _recorded(cv=GroupKFold(5), groups=groups)
    expected = [(a.tolist(), b.tolist()) for a, b in GroupKFold(5).split(np.zeros((40, 1)), groups=groups)]
    assert [(a, b) for a, b, _ in seen["a"]] == expected
    assert found.test_ratio == pytest.approx(0.25)
    given = [(np.array([0, 39]), np.array([1, 38])), (np.array([5, 35]), np.array([1]))]
    seen, _, found = _recorded(cv=given)
    assert [(a, b) for a, b, _ in seen["a"]] == [([0, 39], [1, 38]), ([5, 35], [1])]
    assert found.test_ratio == pytest.approx((1 + 0.5) / 2)


@pytest.mark.parametrize("vary", ["splits", "orders"])
def test_more_runs_begin_with_the_same_ones_and_other_seeds_do_not(vary):
    few, many, other = (_recorded(vary=vary, repeats=n, random_state=s)[0]["a"] for n, s in ((3, 0), (5, 0), (3, 1)))
    assert few == many[:3]
    assert few != other


def test_a_plain_loop_gives_the_same_scores(problem):
    X, y = problem
    learners = {"l1rda": L1RDAClassifier(alpha=0.02), "pegasos": PegasosClassifier()}
    found = compare(learners, X, y, cv=KFold(4), scoring=["accuracy", "f1", "error"], random_state=5)
    seeds = np.random.default_rng(5).integers(2**31, size=4)
    for name, learner in learners.items():
        for run, (train, test) in enumerate(KFold(4).split(X)):
            model = learner.set_params(random_state=int(seeds[run])).fit(X[train], y[train])
            assert found.scores["accuracy"][name][run] == model.score(X[test], y[test])
            assert_allclose(found.scores["error"][name][run], 1 - model.score(X[test], y[test]), rtol=1e-12)
            assert found.scores["f1"][name][run] == f1_score(y[test], model.predict(X[test]))
            assert found.scores["features"][name][run] == len(model.support_)
    assert found.measures == ["accuracy", "f1", "error", "seconds", "features"]
    assert found.lower_is_better == {"error", "seconds", "features"}


@pytest.mark.parametrize("vary", ["splits", "orders"])
def test_threads_processes_and_layouts_leave_no_trace(problem, vary):
    X, y = problem
    learners = {"l1rda": L1RDAClassifier(alpha=0.03, eta0=1.0), "weak": L1RDAClassifier(alpha=0.01, eta0=1.0)}
    given = {"y": y, "vary": vary, "repeats": 4, "random_state": 1, "scoring": "roc_auc"}
    one = compare(learners, X, **given)
    others = [compare(learners, X, **given, n_jobs=2), compare(learners, sparse.coo_array(X), **given)]
    with joblib.parallel_config(backend="loky"):
        others.append(compare(learners, X, **given, n_jobs=2))
    others.append(compare(learners, X, **given | {"y": y.tolist()}))
    for other in others:
        for name in learners:
            for measure in ("roc_auc", "features"):
                assert_array_equal(one.scores[measure][name], other.scores[measure][name])


# --- what is measured ------------------------------------------------------------------------------------------------


def test_seconds_are_those_of_the_cpu(problem):
    X, y = problem
    for n_jobs in (None, 2):
        found = compare({"lazy": Sleeper(), "busy": Sleeper(0.1)}, X, y, repeats=2, n_jobs=n_jobs)
        assert found.scores["seconds"]["lazy"].max() < 0.045
        assert 0.1 <= found.scores["seconds"]["busy"].min() < 0.145


def test_features_are_counted_where_there_are_any(problem):
    X, y = problem
    models = {"svc": SVC(), "line": make_pipeline(StandardScaler(), LogisticRegression()), "arow": AROWClassifier()}
    found = compare(models, X, y, repeats=2, random_state=0)
    assert set(found.scores["features"]) == {"line", "arow"}
    assert found.mean("features")["line"] == 12
    assert "features" not in compare({"svc": SVC()}, X, y, repeats=2).scores


def test_scorers_of_all_kinds(problem):
    X, y = problem
    arow = {"arow": AROWClassifier()}
    f1 = make_scorer(f1_score)

    def own(model, X, y):
        return 7.0

    given = {"repeats": 2, "random_state": 0}
    assert compare(arow, X, y, **given).measures[0] == "score"
    assert compare(arow, X, y, scoring=own, **given).mean("own") == {"arow": 7.0}
    both = compare(arow, X, y, scoring={"a": f1, "loss": "error", "c": own}, **given)
    assert both.measures[:3] == ["a", "loss", "c"]
    assert both.lower_is_better == {"loss", "seconds", "features"}
    assert both.mean("loss")["arow"] > 0
    assert_array_equal(both.scores["a"]["arow"], compare(arow, X, y, scoring="f1", **given).scores["f1"]["arow"])


def test_frames_regressors_and_clusters_are_compared_alike(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    assert compare({"arow": "arow"}, frame, y, repeats=2).n_runs == 2
    found = compare({"ridge": Ridge(1e-6), "pegasos": "pegasos-regressor"}, X, X[:, 0], scoring="mse", repeats=3)
    assert found.best() == "ridge"
    assert compare({"two": KMeans(2, n_init=1), "three": KMeans(3, n_init=1)}, X, repeats=2, vary="orders").n_runs == 2


def test_short_names_stand_for_learners(problem):
    X, y = problem
    found = compare(["arow", "pegasos"], X, y, repeats=2, random_state=0)
    same = compare({"arow": AROWClassifier(), "pegasos": PegasosClassifier()}, X, y, repeats=2, random_state=0)
    for name in ("arow", "pegasos"):
        assert_array_equal(found.scores["score"][name], same.scores["score"][name])


def test_estimators_are_left_as_they_were(problem):
    X, y = problem
    model = L1RDAClassifier(random_state=7)
    compare({"a": model}, X, y, repeats=2)
    assert model.random_state == 7
    assert not hasattr(model, "coef_")


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_learner_that_fails_is_named(problem):
    X, y = problem
    with pytest.raises(ValueError, match=r"^compare: broken failed in run 0: 'no\\nsuch thing'$") as refused:
        compare({"arow": "arow", "broken": Fails()}, X, y)
    assert isinstance(refused.value.__cause__, KeyError)
    with pytest.raises(ValueError, match=r"^compare: arow failed in run 0: its odd is nan\.$"):
        compare({"arow": "arow"}, X, y, scoring={"odd": lambda model, X, y: np.nan})


@pytest.mark.parametrize(
    "change, words",
    [
        ({"repeats": 0}, "compare: repeats must be an integer of at least 1, got 0."),
        ({"vary": "rows"}, "compare: vary must be one of 'splits', 'orders', got 'rows'."),
        ({"test_size": 1.0}, "compare: test_size must be a number above 0 and below 1, got 1.0."),
        ({"n_jobs": 0}, "compare: n_jobs must be None or an integer other than 0, got 0."),
        ({"estimators": {}}, "compare: estimators must be a dict of name to estimator, or a list of short names."),
        ({"estimators": AROWClassifier()}, "compare: estimators must be a dict of name to estimator"),
        ({"estimators": {"a": 3}}, "compare: a must be an estimator, got 3."),
        ({"estimators": {"a": AROWClassifier}}, "compare: a must be an estimator, got <class"),
        ({"estimators": ["arwo"]}, "compare: there is no method 'arwo'; the methods are adaptivel1rda"),
        ({"scoring": "accurate"}, "compare: scoring must be a name of scikit-learn's scorers, one of 'error'"),
        ({"scoring": {"seconds": "f1"}}, "compare: scoring must name measures other than seconds and features"),
        ({"scoring": []}, "compare: scoring must name measures"),
        ({"vary": "orders", "cv": 3}, 'compare: cv is for vary="splits"'),
        ({"X_test": np.eye(12)}, 'compare: X_test and y_test are for vary="orders"'),
        ({"vary": "orders", "X_test": np.eye(12)}, "compare: X_test and y_test must be given together"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"y": [1] + 399 * [0]}, "compare: the rows cannot be split: The least populated class"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(problem, change, words):
    X, y = problem
    with pytest.raises(ValueError) as refused:
        compare(**{"estimators": {"arow": AROWClassifier()}, "X": X, "y": y} | change)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_bar_is_for_terminals_only(problem, capfd):
    X, y = problem
    compare({"arow": "arow"}, X, y, repeats=2, progress=True)
    assert capfd.readouterr() == ("", "")
