"""CoupledAnnealingSearchCV: scikit-learn's face, common random numbers, the same result for the same seed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.stochastic import PegasosClassifier
from thresher.tuning import Choice, CoupledAnnealingSearchCV, Log, Uniform, criterion, search_space, sparsity_scorer

pytestmark = pytest.mark.filterwarnings("ignore:L1RDAClassifier. all weights are 0, so no feature is in use")


@pytest.fixture(scope="module")
def data():
    return make_classification(160, 12, n_informative=4, flip_y=0.1, random_state=0)


def search(estimator=None, **options):
    return CoupledAnnealingSearchCV(estimator or L1RDAClassifier(), **({"n_evaluations": 12, "cv": 3} | options))


def without_times(history):
    return [{k: v for k, v in h.items() if k != "seconds"} for h in history]


# --- scikit-learn's face ----------------------------------------------------------------------------------------------


def test_the_table_of_results_is_that_of_a_grid_over_the_same_candidates(data):
    """An independent truth: scikit-learn scores the very candidates again."""
    X, y = data
    ours = search(n_evaluations=9, return_train_score=True).fit(X, y)
    candidates = [{k: [v] for k, v in p.items()} for p in ours.cv_results_["params"]]
    grid = GridSearchCV(ours.best_estimator_, candidates, cv=3, return_train_score=True).fit(X, y)
    assert set(ours.cv_results_) == set(grid.cv_results_)
    for name, column in grid.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(ours.cv_results_[name], column, err_msg=name)
    for name in ("best_params_", "best_score_", "best_index_", "n_splits_", "multimetric_"):
        assert getattr(ours, name) == getattr(grid, name), name
    np.testing.assert_array_equal(ours.predict(X), grid.predict(X))
    np.testing.assert_array_equal(ours.decision_function(X), grid.decision_function(X))
    assert ours.score(X, y) == grid.score(X, y)
    assert ours.n_features_in_ == 12
    np.testing.assert_array_equal(ours.classes_, [0, 1])


def test_history_and_results_tell_the_same(data):
    found = search(scoring="roc_auc").fit(*data)
    assert [h["score"] for h in found.history_] == list(found.cv_results_["mean_test_score"])
    assert [h["params"] for h in found.history_] == found.cv_results_["params"]
    assert [h["evaluation"] for h in found.history_] == list(range(12))
    assert {h["stage"] for h in found.history_} == {"annealing", "simplex"}
    assert found.best_score_ == max(h["score"] for h in found.history_)
    assert found.stopped_ == "evaluations"
    assert all(h["seconds"] > 0 and h["error"] is None for h in found.history_)


def test_the_number_of_weights_in_use_is_the_mean_over_folds(data):
    X, y = data
    found = search().fit(X, y)
    for trial in (found.history_[0], found.history_[-1]):
        model = clone(found.best_estimator_).set_params(**trial["params"])
        fitted = cross_validate(model, X, y, cv=3, return_estimator=True)["estimator"]
        assert trial["n_used"] == pytest.approx(np.mean([np.count_nonzero(m.coef_) for m in fitted]))
    assert len({h["n_used"] for h in found.history_}) > 2
    no_weights = search(SVC(), space={"C": Log(0.1, 10)}, n_evaluations=6).fit(X, y)
    assert all(h["n_used"] is None for h in no_weights.history_)
    assert type(no_weights.scorer_) is type(GridSearchCV(SVC(), {}).fit(X, y).scorer_)


def test_the_untuned_estimator_is_the_first_candidate(data):
    for method in ("annealing", "directed", "random"):
        found = search(L1RDAClassifier(alpha=0.003, eta0=2.0), search=method, n_evaluations=6).fit(*data)
        assert found.history_[0]["params"] == {"alpha": 0.003, "eta0": 2.0}
        assert found.best_score_ >= found.history_[0]["score"]
        stages = {h["stage"] for h in found.history_}
        assert stages <= {"annealing", "simplex"} if method == "annealing" else stages == {method}


def test_a_start_whose_score_is_known_is_searched_around_and_not_evaluated_again(data):
    given = L1RDAClassifier(alpha=0.003, eta0=2.0)
    first = search(given, n_evaluations=1).fit(*data).history_[0]
    later = search(given, n_evaluations=8)
    later._known_score = first["score"]
    history = later.fit(*data).history_
    space = search_space(given)
    assert len(history) == 8
    assert {h["stage"] for h in history} == {"simplex"}
    assert all(h["params"] != first["params"] for h in history)
    for name, other in (("alpha", "eta0"), ("eta0", "alpha")):  # the first points differ from it in one parameter each
        moved = [h["params"] for h in history[:2] if h["params"][other] == first["params"][other]]
        far = [abs(space[name].place(p[name]) - space[name].place(first["params"][name])) for p in moved]
        assert far == [pytest.approx(0.25, abs=1e-4)]


def test_clone_params_and_pickle(data):
    X, y = data
    model = search(space={"alpha": Log(1e-5, 1e-2)}, scoring=sparsity_scorer("error", 0.1))
    twin = clone(model)
    assert set(twin.get_params(deep=False)) == {
        *("estimator", "space", "search", "n_evaluations", "max_seconds", "n_starts", "simplex", "scoring", "cv"),
        *("n_jobs", "refit", "random_state", "error_score", "progress", "history", "return_train_score"),
    }
    before = {k: id(v) for k, v in model.get_params(deep=False).items()}
    model.fit(X, y)
    assert {k: id(v) for k, v in model.get_params(deep=False).items()} == before
    assert model.estimator.random_state is None
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    twin.set_params(estimator__eta0=0.5).fit(X, y)
    assert twin.best_estimator_.eta0 == 0.5


def test_nothing_is_changed_by_a_fit_that_fails(data):
    X, y = data
    model = search(n_evaluations=6).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(X, y[:5])
    assert vars(model) == before


def test_without_a_refit_there_is_a_table_and_no_model(data):
    X, y = data
    model = search(n_evaluations=6).fit(X, y)
    model.set_params(refit=False).fit(X, y)
    assert not hasattr(model, "best_estimator_")  # not even that of the fit before
    assert not hasattr(model, "predict")
    assert model.best_params_ in model.cv_results_["params"]
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


def test_the_table_lists_several_scores_and_the_search_follows_one(data):
    X, y = data
    scoring = {"auc": "roc_auc", "sparse": sparsity_scorer("error", 0.9)}
    by_auc = search(scoring=scoring, refit="auc", n_evaluations=25).fit(X, y)
    by_sparsity = search(scoring=scoring, refit="sparse", n_evaluations=25).fit(X, y)
    assert by_auc.multimetric_
    assert by_auc.best_score_ == by_auc.cv_results_["mean_test_auc"].max()
    assert [h["score"] for h in by_auc.history_] == list(by_auc.cv_results_["mean_test_auc"])
    assert [h["score"] for h in by_sparsity.history_] == list(by_sparsity.cv_results_["mean_test_sparse"])
    assert by_sparsity.best_params_ != by_auc.best_params_
    assert by_auc.history_[0]["n_used"] > 0
    assert by_auc.score(X, y) == by_auc.scorer_["auc"](by_auc.best_estimator_, X, y)
    unguided = search(scoring=["f1", "accuracy"], refit=False, n_evaluations=6).fit(X, y)
    assert [h["score"] for h in unguided.history_] == list(unguided.cv_results_["mean_test_f1"])
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(scoring=["f1", "accuracy"]).fit(X, y)


def test_scores_from_one_function(data):
    X, y = data

    def both(estimator, X, y):
        return {"right": np.mean(estimator.predict(X) == y), "used": -np.mean(estimator.coef_ != 0)}

    found = search(scoring=both, refit="used", n_evaluations=8).fit(X, y)
    assert [h["score"] for h in found.history_] == list(found.cv_results_["mean_test_used"])
    assert found.history_[0]["n_used"] is not None
    assert found.scorer_ is both


def test_refit_by_a_rule(data):
    found = search(refit=lambda results: len(results["params"]) - 1, n_evaluations=7).fit(*data)
    assert found.best_index_ == 6
    assert not hasattr(found, "best_score_")


def test_groups_and_weights_are_passed_on(data):
    X, y = data
    groups = np.arange(len(y)) % 4
    weight = np.where(y == 1, 5.0, 0.1)
    found = search(cv=GroupKFold(4), n_evaluations=6).fit(X, y, groups=groups, sample_weight=weight)
    assert found.n_splits_ == 4
    grid = GridSearchCV(
        found.best_estimator_, [{k: [v] for k, v in p.items()} for p in found.cv_results_["params"]], cv=GroupKFold(4)
    ).fit(X, y, groups=groups, sample_weight=weight)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.predict(X), grid.predict(X))
    unweighted = search(cv=GroupKFold(4), n_evaluations=6).fit(X, y, groups=groups)
    assert not np.array_equal(unweighted.best_estimator_.coef_, found.best_estimator_.coef_)


def test_metadata_routing(data):
    import sklearn

    X, y = data
    groups = np.arange(len(y)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = search(model, space={"C": Log(0.01, 1)}, cv=GroupKFold(3), n_evaluations=5)
        found.fit(X, y, groups=groups, sample_weight=np.arange(len(y)) + 1.0)
    plain = search(LogisticRegression(), space={"C": Log(0.01, 1)}, cv=GroupKFold(3), n_evaluations=5)
    plain.fit(X, y, groups=groups)
    assert found.n_splits_ == 3
    assert not np.array_equal(found.best_estimator_.coef_, plain.best_estimator_.coef_)


@pytest.mark.parametrize(
    "estimator, space",
    [
        (SVC(), {"C": Log(0.01, 100), "gamma": Log(1e-3, 1), "kernel": ["rbf", "poly"]}),
        (SVC(), {"C": stats.loguniform(0.01, 100), "degree": stats.randint(1, 4)}),
        (
            SGDClassifier(),
            {"alpha": Log(1e-6, 0.1), "l1_ratio": Uniform(0, 1), "penalty": Choice(["l1", "elasticnet"])},
        ),
        (make_pipeline(StandardScaler(), AROWClassifier()), None),
        (make_pipeline(FunctionTransformer(), PegasosClassifier(loss="pinball")), None),
    ],
)
def test_any_estimator(estimator, space, data):
    found = search(estimator, space=space, n_evaluations=8).fit(*data)
    assert len(found.history_) == 8
    assert set(found.best_params_) == set(found.history_[0]["params"])


def test_regressors_and_clusterers(regression):
    X, y = regression
    found = search(Ridge(), space={"alpha": Log(1e-3, 1e3)}, scoring=criterion("mse"), n_evaluations=20).fit(X, y)
    alphas = np.logspace(-3, 3, 61)
    grid = GridSearchCV(Ridge(), {"alpha": alphas}, scoring="neg_mean_squared_error", cv=3).fit(X, y)
    assert found.best_score_ >= grid.best_score_ - 1e-4 * abs(grid.best_score_)
    clusters = search(KMeans(n_init=2), space={"n_clusters": [2, 3, 4]}, scoring=criterion("silhouette")).fit(X)
    assert clusters.stopped_ == "exhausted"
    assert len(clusters.history_) == 3
    assert clusters.history_[0]["n_used"] > 0


# --- common random numbers --------------------------------------------------------------------------------------------


def test_the_seed_decides_whatever_the_number_of_processes(data):
    for method in ("annealing", "directed", "random"):
        one, two = (search(search=method, n_evaluations=10, n_jobs=n).fit(*data) for n in (1, 2))
        assert without_times(one.history_) == without_times(two.history_)
        assert one.best_params_ == two.best_params_
        np.testing.assert_array_equal(one.best_estimator_.coef_, two.best_estimator_.coef_)
    other = search(n_evaluations=10, random_state=1).fit(*data)
    assert without_times(other.history_) != without_times(search(n_evaluations=10).fit(*data).history_)


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes what it was given."""

    seen: list = []

    def __init__(self, alpha=1.0, random_state=None, inner=None):
        self.alpha = alpha
        self.random_state = random_state
        self.inner = inner

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append(
            (self.random_state, None if self.inner is None else self.inner.random_state, X[:, 0].tobytes())
        )
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("cv", [None, 4, KFold(3, shuffle=True), ShuffleSplit(2), StratifiedKFold(2, shuffle=True)])
def test_every_candidate_meets_the_same_folds_and_seeds(cv, data):
    X, y = data
    Recorder.seen.clear()
    state = np.random.get_state()[1].tobytes()  # noqa: NPY002
    model = search(Recorder(inner=SGDClassifier()), space={"alpha": Log(0.1, 10)}, cv=cv, n_evaluations=7).fit(X, y)
    folds = [rows for _, _, rows in Recorder.seen[:-1]]
    n = model.n_splits_
    assert len(folds) == 7 * n
    assert folds == folds[:n] * 7
    assert len(set(folds)) == n
    seeds = {(own, inner) for own, inner, _ in Recorder.seen}
    assert len(seeds) == 1
    assert all(isinstance(s, int) for s in seeds.pop())
    assert np.random.get_state()[1].tobytes() == state  # noqa: NPY002, nobody's generator was used
    first = list(Recorder.seen)
    Recorder.seen.clear()
    clone(model).fit(X, y)
    assert Recorder.seen == first  # a splitter without a seed has ours


def test_a_splitter_that_never_splits_the_same_way_twice_splits_once(data):
    Recorder.seen.clear()
    cv = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    search(Recorder(), space={"alpha": Log(0.1, 10)}, cv=cv, n_evaluations=8, refit=False).fit(*data)
    folds = [rows for _, _, rows in Recorder.seen]
    assert folds == folds[:3] * 8


def test_seeds_that_are_given_are_kept(data):
    X, y = data
    Recorder.seen.clear()
    search(
        Recorder(random_state=7, inner=SGDClassifier(random_state=8)), space={"alpha": Log(0.1, 10)}, n_evaluations=5
    ).fit(X, y)
    assert {(own, inner) for own, inner, _ in Recorder.seen} == {(7, 8)}
    folds = KFold(3, shuffle=True, random_state=5)
    Recorder.seen.clear()
    search(Recorder(), space={"alpha": Log(0.1, 10)}, cv=folds, n_evaluations=2, refit=False).fit(X, y)
    assert [rows for _, _, rows in Recorder.seen[:3]] == [X[train, 0].tobytes() for train, _ in folds.split(X)]


# --- budgets and failures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 3, 8])
def test_the_budget_is_kept(budget, data):
    found = search(n_evaluations=budget).fit(*data)
    assert len(found.history_) == len(found.cv_results_["params"]) == budget


class Slow(Recorder):
    def fit(self, X, y):
        time.sleep(0.02)
        return super().fit(X, y)


def test_a_budget_of_seconds(data):
    begin = time.monotonic()
    found = search(Slow(), space={"alpha": Log(0.1, 10)}, n_evaluations=1000, max_seconds=0.4).fit(*data)
    assert found.stopped_ == "seconds"
    assert 1 <= len(found.history_) <= 20  # it may stop within a step
    assert time.monotonic() - begin < 2


class Fragile(Recorder):
    """Cannot be fitted beyond 1, scores higher the nearer it is to it."""

    def fit(self, X, y):
        if self.alpha > 1:
            raise ArithmeticError("alpha is too large\nfor me")
        return super().fit(X, y)

    def score(self, X, y):
        return np.log10(self.alpha)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("error_score", [np.nan, -50.0])
def test_candidates_that_fail_are_noted_and_the_search_goes_on(error_score, data):
    X, y = data
    model = search(Fragile(0.01), space={"alpha": Log(1e-3, 1e3)}, n_evaluations=40, error_score=error_score)
    with pytest.warns(FitFailedWarning) as said:
        model.fit(X, y)
    failed = [h for h in model.history_ if h["params"]["alpha"] > 1]
    assert len(failed) >= 3
    assert any(h["stage"] == "simplex" for h in failed)
    np.testing.assert_array_equal([h["score"] for h in failed], error_score)
    assert all("ArithmeticError" in h["error"] or h["error"] == "for me" for h in failed)
    assert all(h["error"] is None for h in model.history_ if h["params"]["alpha"] <= 1)
    assert 0.8 < model.best_params_["alpha"] <= 1
    said = [w for w in said if w.category is FitFailedWarning]
    assert len(said) == 1
    assert f"{len(failed)} of 40 candidates failed" in str(said[0].message)


def test_a_search_in_which_all_fails_or_that_shall_raise_says_so(data):
    X, y = data
    with pytest.raises(ValueError, match="All the 15 fits failed"):
        search(Fragile(), space={"alpha": Log(2, 3)}).fit(X, y)
    with pytest.raises(ArithmeticError, match="too large"):
        search(Fragile(), space={"alpha": Log(1e-3, 1e3)}, error_score="raise").fit(X, y)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"search": "grid"}, "search must be one of 'annealing', 'directed', 'random', got 'grid'."),
        ({"n_evaluations": 0}, "n_evaluations must be an integer of at least 1, got 0."),
        ({"n_starts": 1}, "n_starts must be an integer of at least 2, got 1."),
        ({"history": 3}, "history must be a path or None, got 3."),
        ({"progress": "yes"}, "progress must be True or False, got 'yes'."),
        ({"space": {"beta": Log(1, 2)}}, "space must name parameters of L1RDAClassifier, got 'beta'."),
        ({"space": {}}, "space must be a dict of parameter names to ranges, not empty, got {}."),
        ({"estimator": Ridge()}, "space must be given for Ridge, which declares none."),
        (
            {"history": "h.jsonl", "random_state": None},
            "random_state must be an integer when there is a history to resume from, got None.",
        ),
    ],
)
def test_refusals_name_the_rule_and_the_value(options, says, data):
    with pytest.raises(ValueError) as error:
        search(**options).fit(*data)
    assert str(error.value) == f"CoupledAnnealingSearchCV: {says}"


def test_scikit_learns_own_rules_hold(data):
    with pytest.raises(ValueError, match="'scoring' parameter of CoupledAnnealingSearchCV must be"):
        search(scoring="nope").fit(*data)


# --- progress ---------------------------------------------------------------------------------------------------------

_SHOWN = """
import sys
from sklearn.datasets import load_iris
from thresher.online import AROWClassifier
from thresher.tuning import CoupledAnnealingSearchCV
CoupledAnnealingSearchCV(AROWClassifier(), n_evaluations=6, cv=2, progress=True).fit(*load_iris(return_X_y=True))
"""


def test_a_bar_is_shown_on_a_terminal_only():
    import pty

    quiet = subprocess.run([sys.executable, "-c", _SHOWN], capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")} | {"TERM": "xterm", "COLUMNS": "100"}
    done = subprocess.run([sys.executable, "-c", _SHOWN], stdout=subprocess.PIPE, stderr=slave, env=env, check=True)
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    os.close(master)
    assert done.stdout == b""
    assert "6/6" in shown
    assert "best 0." in shown


def test_callbacks_are_told_of_every_fit(data):
    pytest.importorskip("sklearn.callback")

    class Fits:
        max_propagation_depth = None

        def __init__(self):
            self.ended = []

        def setup(self, estimator, context):
            pass

        teardown = on_fit_task_begin = setup

        def on_fit_task_end(self, estimator, context):
            self.ended.append((type(estimator).__name__, context.task_name))

    X, y = data
    fits = Fits()
    found = CoupledAnnealingSearchCV(AROWClassifier(max_iter=1), {"r": Log(0.1, 10)}, n_evaluations=4, cv=3)
    found.set_callbacks(fits).fit(X, y)
    assert fits.ended.count(("AROWClassifier", "pass")) == 4 * 3 + 1
    assert fits.ended[-1] == ("CoupledAnnealingSearchCV", "fit")
