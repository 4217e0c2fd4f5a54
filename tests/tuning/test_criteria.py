"""Criteria against hand computation, and the sparsity-aware one."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer, silhouette_samples
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher.cluster import SparseKMeans
from thresher.dual_averaging import L1RDAClassifier
from thresher.metrics import sampled_silhouette
from thresher.tuning import CRITERIA, _scorers, criterion, sparsity_scorer
from thresher.tuning._scorers import weights_of

NAMES = ["error", "balanced_error", "f1", "roc_auc", "average_precision", "mse", "silhouette", "line_fit"]


class Says(ClassifierMixin, BaseEstimator):
    """A model that says what it is told."""

    def __init__(self, predictions, scores=None, classes=None):
        self.predictions, self.scores = np.asarray(predictions), scores
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def predict(self, X):
        return self.predictions

    def decision_function(self, X):
        return np.asarray(self.scores)


X = np.zeros((6, 1))
Y = np.array(["ham", "ham", "ham", "ham", "spam", "spam"])
TWO = Says(["ham", "ham", "ham", "spam", "spam", "ham"], [-2, -1, -3, 1, 2, -1.5], ["ham", "spam"])


def test_errors_are_shares_of_wrong_labels():
    assert criterion("error")(TWO, X, Y) == pytest.approx(-2 / 6)
    assert criterion("balanced_error")(TWO, X, Y) == pytest.approx(-(1 / 4 + 1 / 2) / 2)


def test_f1_is_that_of_the_second_class():
    precision, recall = 1 / 2, 1 / 2
    assert criterion("f1")(TWO, X, Y) == pytest.approx(2 * precision * recall / (precision + recall))
    everything_ham = Says(["ham"] * 6, classes=["ham", "spam"])
    assert criterion("f1")(everything_ham, X, Y) == 0
    assert criterion("f1")(everything_ham, X, ["ham"] * 6) == 0  # not 1: ham is not what is looked for


def test_f1_of_several_classes_is_their_mean():
    y, p = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 0])
    each = [f1_score(y == k, p == k) for k in range(3)]
    assert criterion("f1")(Says(p, classes=[0, 1, 2]), X, y) == pytest.approx(np.mean(each))


def ranked_pairs(truth, scores):
    """The share of pairs that are in the right order; ties count half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[truth] for b in scores[~truth]]
    return np.mean(pairs)


def precision_at_each_hit(truth, scores):
    hits = truth[np.argsort(-scores)]
    return np.mean([hits[: i + 1].mean() for i in np.flatnonzero(hits)])


@pytest.mark.parametrize("name, area", [("roc_auc", ranked_pairs), ("average_precision", precision_at_each_hit)])
def test_areas_of_two_and_of_several_classes(name, area):
    scores = np.array(TWO.scores)
    assert criterion(name)(TWO, X, Y) == pytest.approx(area(Y == "spam", scores))
    rng = np.random.default_rng(0)
    y, table = rng.integers(0, 3, 40), rng.normal(size=(40, 3))
    table[np.arange(40), y] += 1
    several = Says(y, table, classes=[0, 1, 2])
    expected = np.mean([area(y == k, table[:, k]) for k in range(3)])
    assert criterion(name)(several, np.zeros((40, 1)), y) == pytest.approx(expected)
    two_left = y < 2  # class 2 does not occur among the rows: it cannot be told from the rest and does not count
    expected = np.mean([area(y[two_left] == k, table[two_left, k]) for k in range(2)])
    fewer = Says(y[two_left], table[two_left], classes=[0, 1, 2])
    assert criterion(name)(fewer, X, y[two_left]) == pytest.approx(expected)
    assert np.isnan(criterion(name)(TWO, X, ["ham"] * 6))


def test_constant_scores_have_an_area_of_one_half():
    """SALSA.jl said 0."""
    assert criterion("roc_auc")(Says(Y, np.zeros(6), ["ham", "spam"]), X, Y) == 0.5


def test_areas_by_probabilities_where_there_are_no_scores(three_classes):
    Z, y = three_classes
    model = GaussianNB(var_smoothing=0.1).fit(Z, y)
    expected = np.mean([ranked_pairs(y == c, model.predict_proba(Z)[:, k]) for k, c in enumerate("abc")])
    assert criterion("roc_auc")(model, Z, y) == pytest.approx(expected)
    two = y != "c"
    model = GaussianNB(var_smoothing=0.1).fit(Z[two], y[two])
    expected = ranked_pairs(y[two] == "b", model.predict_proba(Z[two])[:, 1])
    assert criterion("roc_auc")(model, Z[two], y[two]) == pytest.approx(expected)


def test_mse(regression):
    Z, y = regression
    model = Ridge().fit(Z, y)
    assert criterion("mse")(model, Z, y) == pytest.approx(-np.mean((y - model.predict(Z)) ** 2))


def test_silhouette_of_clusters_and_of_one(problem):
    Z, _ = problem
    model = KMeans(3, n_init=2, random_state=0).fit(Z)
    expected = silhouette_samples(Z, model.predict(Z)).mean()
    assert criterion("silhouette")(model, Z) == pytest.approx(expected)
    assert criterion("silhouette")(model, sparse.csr_array(Z), y="not looked at") == pytest.approx(expected)
    assert criterion("silhouette")(Says(np.zeros(6)), X) == -1
    assert criterion("silhouette")(Says(np.arange(6)), X) == -1


def test_silhouette_of_many_rows_looks_at_some(monkeypatch):
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.normal(size=(6000, 2)), rng.normal(size=(6000, 2)) + 8])
    model = KMeans(2, n_init=1, random_state=0).fit(Z)
    seen = []
    monkeypatch.setattr(_scorers, "sampled_silhouette", lambda *a, **k: seen.append(k) or sampled_silhouette(*a, **k))
    found = criterion("silhouette")(model, Z)
    assert seen == [{"n_samples": 2000, "n_others": 2000, "metric": "euclidean"}]
    assert found == pytest.approx(sampled_silhouette(Z, model.predict(Z), n_samples=5000).mean, abs=0.01)
    assert found == criterion("silhouette")(model, Z)


def test_clusters_of_directions_are_measured_by_direction():
    rng = np.random.default_rng(0)
    Z = rng.exponential(size=(40, 1)) * np.repeat([[1.0, 0.1], [0.1, 1.0]], 20, axis=0)
    model = SparseKMeans(2, metric="cosine", random_state=0).fit(Z)
    assert criterion("silhouette")(model, Z) == pytest.approx(1.0)


def test_clusters_of_a_pipeline_are_measured_where_they_were_found():
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.repeat([0.0, 1.0], 30) + 0.05 * rng.normal(size=60), 1e4 * rng.normal(size=60)])
    only_first = ColumnTransformer([("scale", StandardScaler(), [0])])
    model = make_pipeline("passthrough", only_first, KMeans(2, n_init=1, random_state=0)).fit(Z)
    scaled = StandardScaler().fit_transform(Z[:, :1])
    expected = silhouette_samples(scaled, model.predict(Z)).mean()
    assert criterion("silhouette")(model, Z) == pytest.approx(expected)
    assert expected > 0.8
    lines = SimpleNamespace(steps=[("s", model[1]), ("k", SimpleNamespace(line_fit=lambda rows: rows.shape[1]))])
    assert criterion("line_fit")(lines, Z) == 1.0


def test_line_fits_are_those_of_the_estimator():
    assert criterion("line_fit")(SimpleNamespace(line_fit=lambda X: len(X) / 10), X) == 0.6
    with pytest.raises(ValueError, match=r"^line_fit: the estimator must have scores that line up, got KMeans\.$"):
        criterion("line_fit")(KMeans(), X)


def test_rows_may_have_weights():
    weight = [1, 1, 1, 3, 1, 2]
    assert criterion("error")(TWO, X, Y, sample_weight=weight) == pytest.approx(-5 / 9)
    assert criterion("mse")(Says([1.0, 1.0]), X[:2], [0.0, 3.0], sample_weight=[3, 1]) == pytest.approx(-(3 + 4) / 4)
    assert criterion("silhouette")(Says(np.zeros(6)), X, sample_weight=weight) == -1  # does not know weights


@pytest.mark.parametrize("name", NAMES)
def test_criteria_are_scorers_that_travel_and_have_words(name):
    c = criterion(name)
    assert repr(c) == f"criterion({name!r})"
    assert pickle.loads(pickle.dumps(c)) == c
    assert CRITERIA[name] is c
    assert c.task in ("classification", "regression", "clustering")
    assert c.about
    assert criterion(name) == c != criterion(NAMES[NAMES.index(name) - 1])


def test_they_agree_with_scikit_learn_where_it_has_them(problem):
    Z, y = problem
    theirs = {"error": "accuracy", "balanced_error": "balanced_accuracy", "f1": "f1", "roc_auc": "roc_auc"}
    for ours, name in theirs.items():
        shift = 1 if "error" in ours else 0
        a = cross_val_score(LogisticRegression(), Z, y, scoring=criterion(ours))
        assert a + shift == pytest.approx(cross_val_score(LogisticRegression(), Z, y, scoring=name))
    both = cross_validate(LogisticRegression(), Z, y, scoring={"a": criterion("error"), "b": "accuracy"})
    assert both["test_a"] + 1 == pytest.approx(both["test_b"])


def test_an_unknown_criterion_is_refused():
    with pytest.raises(ValueError, match=r"^criterion: name must be one of 'error', .*'line_fit', got 'auc'\.$"):
        criterion("auc")


# --- sparsity ---------------------------------------------------------------------------------------------------------


class Linear(Says):
    def __init__(self, coef, *rest):
        super().__init__(*rest)
        self.coef_ = coef


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_weights_in_use_are_charged_and_constants_are_not(form):
    model = Linear(form([[0.0, 1.5, 0.0, -2.0, 0.0]]), Y, None, ["ham", "spam"])
    model.intercept_ = np.array([3.0])
    for kappa in (0.0, 0.2, 1.0):
        assert sparsity_scorer("error", kappa)(model, X, Y) == pytest.approx((1 - kappa) * 0 - kappa * 2 / 5)
        assert sparsity_scorer("accuracy", kappa)(model, X, Y) == pytest.approx(1 - kappa - kappa * 2 / 5)
    several = Linear(form([[0.0, 1.0], [0.0, 0.0], [3.0, 4.0]]), Y, None, ["ham", "spam"])
    assert sparsity_scorer("error", 0.5)(several, X, Y) == pytest.approx(-0.5 * 3 / 6)


def test_centres_of_clusters_without_rows_are_not_counted():
    model = Says(Y, None, ["ham", "spam"])
    model.cluster_centers_ = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0], [0.0, 0.0]])
    assert sparsity_scorer("error", 1.0)(model, X, Y) == pytest.approx(-3 / 4)
    model.cluster_centers_ = np.zeros((3, 2))
    assert sparsity_scorer("error", 1.0)(model, X, Y) == 0.0


def test_an_empty_model_can_win_and_balanced_error_prevents_it():
    y = np.array([1] + 9 * [0])
    empty = Linear(np.zeros((1, 10)), np.zeros(10, dtype=int), None, [0, 1])
    honest = Linear(np.r_[np.ones(5), np.zeros(5)][None], y, None, [0, 1])
    rows = np.zeros((10, 10))
    assert sparsity_scorer("error", 0.2)(empty, rows, y) > sparsity_scorer("error", 0.2)(honest, rows, y)
    assert sparsity_scorer("error", 0.2)(empty, rows, y) == pytest.approx(-0.8 * 0.1)
    assert sparsity_scorer("balanced_error", 0.2)(empty, rows, y) < sparsity_scorer("balanced_error", 0.2)(
        honest, rows, y
    )


def test_weights_are_found_in_pipelines_searches_and_centres(problem):
    Z, y = problem
    model = make_pipeline(StandardScaler(), L1RDAClassifier(alpha=0.1, random_state=0)).fit(Z, y)
    assert weights_of(model) is not None
    assert np.array_equal(weights_of(SimpleNamespace(best_estimator_=model)), model[-1].coef_)
    score = sparsity_scorer(None, 0.2)(model, Z, y)
    assert score == pytest.approx(0.8 * model.score(Z, y) - 0.2 * np.mean(model[-1].coef_ != 0))
    centres = SimpleNamespace(cluster_centers_=np.array([[0.0, 1.0]]))
    assert weights_of(centres).shape == (1, 2)
    assert weights_of(DummyClassifier()) is None
    with pytest.raises(ValueError, match="sparsity_scorer: the estimator must have coef_ or cluster_centers_, got Dum"):
        sparsity_scorer()(DummyClassifier().fit(Z, y), Z, y)


def test_any_scoring_can_be_charged(problem):
    Z, y = problem
    model = L1RDAClassifier(alpha=0.1, random_state=0).fit(Z, y)
    used = np.mean(model.coef_ != 0)
    for scoring in ("roc_auc", get_scorer("f1"), criterion("f1"), lambda e, X, y: 0.5):
        plain = scoring if callable(scoring) else get_scorer(scoring)
        assert sparsity_scorer(scoring, 0.1)(model, Z, y) == pytest.approx(0.9 * plain(model, Z, y) - 0.1 * used)
    weight = np.arange(60.0)
    expected = 0.9 * criterion("error")(model, Z, y, sample_weight=weight) - 0.1 * used
    assert sparsity_scorer("error", 0.1)(model, Z, y, sample_weight=weight) == pytest.approx(expected)


def test_it_travels_and_says_what_it_is():
    scorer = pickle.loads(pickle.dumps(sparsity_scorer("f1", 0.05)))
    assert repr(scorer) == "sparsity_scorer('f1', kappa=0.05)"
    assert clone(scorer, safe=False).kappa == 0.05
    for scoring, takes in (("error", True), ("silhouette", False), ("accuracy", True), (None, False)):
        assert sparsity_scorer(scoring)._accept_sample_weight() is takes


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("error", 1.2), "kappa must be a number between 0 and 1, got 1.2."),
        (("nope", 0.1), "scoring must be a name of criterion(), of scikit-learn's scorers, or a scorer, got 'nope'."),
        ((3, 0.1), "scoring must be a name of criterion(), of scikit-learn's scorers, or a scorer, got 3."),
    ],
)
def test_sparsity_scorer_refuses(arguments, says):
    with pytest.raises(ValueError) as error:
        sparsity_scorer(*arguments)
    assert str(error.value) == f"sparsity_scorer: {says}"
