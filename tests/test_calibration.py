"""Probabilities: what is counted, how it is read, and that every classifier has them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score

from core.test_score_bins import N, counted
from thresher import onepass, registry
from thresher._engine._calibration import ScoreCounts, _logistic, _rising, centres
from thresher._estimators._shares import adding_up
from thresher.confidence import SBCWClassifier
from thresher.dual_averaging import (
    FTRLClassifier,
    L1RDAClassifier,
    MultiTaskRDAClassifier,
    ReweightedL2RDAClassifier,
)
from thresher.kernels import LSSVC
from thresher.mkl import UniformMKLClassifier
from thresher.novelty import PegasosSNDClassifier
from thresher.online import AROWClassifier, PAClassifier, SCWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.semi_supervised import LapSVC
from thresher.stochastic import PegasosClassifier, SparseSDCAClassifier
from thresher.training import merge_models
from variants import first_batch, is_binary, models, name_of, regresses, rows_for, with_params

NOVELTY = "reject"  # a parameter of those that may predict no class


def method_of(name):
    method = registry.find(name)
    options = {"groups": [[0, 1], [2, 3, 4]]} if method.needs == ("groups",) else {}
    options |= {"random_state": 0} if "random_state" in method.defaults else {}
    return method.cls(**options)


def problem(n_classes=2, n_rows=150):
    return make_classification(
        n_rows, 5, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )


EVERY = [m.name for m in registry.methods("classification")]
every_classifier = pytest.mark.parametrize("name", EVERY)


# --- what is counted --------------------------------------------------------------------------------------------------


STREAMING = [(m, k) for m in models() if not regresses(m) for k in (2, 3) if k == 2 or not is_binary(m)]


@pytest.mark.parametrize(("model", "n_classes"), STREAMING, ids=[f"{name_of(m)}-{k}" for m, k in STREAMING])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_scores_are_counted_before_their_rows_are_learned_from(model, n_classes, layout):
    """Those of the model that is read at the end, row by row or batch by batch."""
    few = getattr(model, "n_features_to_select", None)
    if getattr(model, "batch_size", None) is None and hasattr(model, "max_inner_iter"):
        pytest.skip("all rows of a call are one batch")
    X, y = rows_for(model, n_rows=41, n_classes=n_classes, seed=3)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::7] = 0
    size = 8 if hasattr(model, "max_inner_iter") else 1
    model, rows = with_params(model), layout(X)
    first = first_batch(with_params(model), rows, y, sample_weight=weight)
    learner = onepass.learner(first, X.shape[1])
    reads_fewer = isinstance(model, ReweightedL2RDAClassifier) or (isinstance(few, int) and few < X.shape[1])
    if first.state_.sizes.get("model", 1) > 1 or reads_fewer:  # another candidate is read under way, or other weights
        counts = learner.score_counts(first.state_)
        assert counts.clock[0] == np.count_nonzero(weight)
        assert_allclose(counts.bins.sum(axis=1), counts.clock[1])
        return
    scores = []
    for begin in range(0, len(y), size):
        part = slice(begin, begin + size)
        before = model._score_table(rows[part]) if begin else 0.0
        first_batch(model, rows[part], y[part], y, sample_weight=weight[part])
        width = model._score_table(rows[part]).shape
        scores.append(np.broadcast_to(before, width))
    codes = np.searchsorted(model.classes_, y).astype(float)
    bins, clock, drift = counted(np.concatenate(scores).T, codes, weight)
    found = learner.score_counts(model.state_)
    assert_allclose(found.clock, clock, rtol=1e-12)
    assert_allclose(found.drift, drift, rtol=1e-9, atol=1e-9 * np.abs(drift).max())
    assert np.count_nonzero(~np.isclose(found.bins, bins)) <= 4  # of a score that lies between two bins


def test_rows_seen_before_do_not_count():
    X, y = rows_for(AROWClassifier(), n_rows=60)
    model = AROWClassifier(r=1.0, shuffle=False, max_iter=3).fit(X, y)
    one = AROWClassifier(r=1.0, shuffle=False).fit(X, y)
    assert_array_equal(model.state_.arrays["score_bins"], one.state_.arrays["score_bins"])
    assert model.n_samples_seen_ == 3 * one.n_samples_seen_


@pytest.mark.parametrize("model", [AROWClassifier(1.0), L1RDAClassifier(eta0=1.0), SCWClassifier()], ids=name_of)
def test_shards_add_their_scores(model):
    X, y = rows_for(model, n_rows=90)
    start = first_batch(with_params(model), X[:30], y[:30], y)
    reached = [
        first_batch(with_params(model), X[:30], y[:30], y).partial_fit(X[at], y[at])
        for at in (slice(30, 60), slice(60, 90))
    ]
    merged = merge_models(reached, start)
    for name in ("score_bins", "score_clock", "score_drift"):
        first, *each = (m.state_.arrays[name] for m in (start, *reached))
        assert_allclose(merged.state_.arrays[name], first + sum(a - first for a in each), rtol=1e-9, atol=1e-9)


# --- how it is read ---------------------------------------------------------------------------------------------------


def counts_of(scores, y, weight=None):
    found = ScoreCounts.empty(1)
    found.add(scores[None], y.astype(float), weight, ages=False)
    return found


def stream_of_scores(n_rows, offset, share=lambda t: 0.3, seed=0):
    """Normal scores, those of the class higher by 2; the offset and the share of the class change with the time."""
    rng, t = np.random.default_rng(seed), np.arange(1, n_rows + 1) / n_rows
    y = (rng.random(n_rows) < share(t)).astype(float)
    scores = rng.normal(2 * y + offset(t), 1)
    counts = ScoreCounts.empty(1)
    counts.add(scores[None], y)
    return counts, scores, y, t


def test_scores_are_read_where_they_have_gone():
    """By twins of the sums, and nearer to the truth than scores as they were counted."""
    counts, scores, y, t = stream_of_scores(3_000, lambda t: -2 / t**0.5)
    moved = error = 0.0
    for code in (0, 1):
        own, share = scores[y == code], (t[y == code] ** 2).sum() / (t**2).sum()
        late = np.average(own, weights=t[y == code] ** 16)
        moved += share * (late - np.average(own, weights=t[y == code] ** 2))
        deviation = np.sqrt(np.average((own - late) ** 2, weights=t[y == code] ** 16))
        n_late = share * (5 / 9 * len(y)) * (33 / 289) / (5 / 9)
        error += share**2 * deviation**2 / n_late
    assert moved**2 > 4 * error
    at = counts.rows()[1]
    assert_allclose(at - centres(), moved - error / moved, rtol=0.01)
    stays = counts._replace(drift=np.zeros(8))
    truth = lambda score: 2 * (score + 2) - 2 + np.log(0.3 / 0.7)  # noqa: E731
    some = np.linspace(-3, 1, 9)
    (now,), (then,) = counts.curves(), stays.curves()
    assert np.abs(now(some) - truth(some)).mean() < 0.8 * np.abs(then(some) - truth(some)).mean()


@pytest.mark.parametrize("share", [lambda t: 0.3, lambda t: 0.1 + 0.8 * t], ids=["steady", "more of the class"])
def test_scores_of_a_model_that_stays_are_read_as_they_are(share):
    """Other shares of classes move no scores of a class, and chance moves few."""
    moves = [stream_of_scores(1_000, lambda t: 0.0, share, seed)[0].rows()[1][0] - centres()[0] for seed in range(30)]
    assert np.median(np.abs(moves)) < 0.02
    assert np.max(np.abs(moves)) < 0.4


def test_values_that_never_fall_are_those_of_isotonic_regression():
    rng = np.random.default_rng(0)
    for n in (1, 2, 50):
        values, weights = rng.normal(size=n) + np.linspace(0, 2, n), rng.exponential(size=n)
        truth = IsotonicRegression().fit(np.arange(n), values, weights).predict(np.arange(n))
        assert_allclose(_rising(values, weights), truth, atol=1e-12)


def test_the_smooth_curve_has_the_largest_likelihood():
    """Of Platt's targets, by a general solver; none with classes in the wrong order falls."""
    rng = np.random.default_rng(0)
    for slope in (2.0, 0.3, -1.0):
        x = np.sort(rng.normal(size=40))
        rows = rng.poisson(20 / (1 + np.exp([slope * x, -slope * x]))).astype(float)
        n, (others, own) = rows.sum(axis=0), rows.sum(axis=1)
        t = rows[0] / (others + 2) + rows[1] * (own + 1) / (own + 2)

        def loss(ab, x=x, n=n, t=t):
            f = ab[0] * x + ab[1]
            return n @ np.logaddexp(0, f) - t @ f

        best = optimize.minimize(loss, [0.0, 0.0], bounds=[(0, None), (None, None)], tol=1e-14)
        found = _logistic(x, rows)
        a = (found[-1] - found[0]) / (x[-1] - x[0])
        assert a >= 0
        assert loss([a, found[0] - a * x[0]]) <= best.fun + (1e-6 if slope > 0 else 0.02) * abs(best.fun)


def test_shares_of_several_classes_are_raised_to_the_power_at_which_they_add_up():
    """By a general solver. Equal shares stay equal, and certain classes stay certain."""
    rng = np.random.default_rng(0)
    logs = -np.logaddexp(0.0, -rng.normal(-2, 4, size=(50, 6)))
    found = adding_up(logs)
    for row, shares in zip(logs, found, strict=True):
        power = optimize.brentq(lambda c, row=row: np.exp(c * row).sum() - 1, 0, 1e6, xtol=1e-12)
        assert_allclose(shares, np.exp(power * row), atol=1e-6)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(adding_up(np.log([[0.5, 0.5, 0.5], [1.0, 1.0, 1.0]])), 1 / 3)
    assert_allclose(adding_up(np.array([[0.0, -800.0, -900.0], [-1e-16, -40.0, -700.0]]))[:, 0], 1, atol=1e-6)


def test_many_rows_are_read_as_they_occurred():
    """Log-odds that no straight line describes, from 200,000 rows."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200_000) * 2
    truth = 1 / (1 + np.exp(-np.where(scores > 1, 3.0, scores**3 / 3)))
    (curve,) = counts_of(scores, rng.random(len(scores)) < truth).curves()
    at = np.array([-2.5, -1.5, -0.7, 0.7, 2.0, 4.0])
    expected = 1 / (1 + np.exp(-np.where(at > 1, 3.0, at**3 / 3)))
    assert_allclose(1 / (1 + np.exp(-curve(at))), expected, atol=0.03)


def test_few_rows_are_read_by_a_smooth_curve():
    (curve,) = counts_of(np.array([-1.0, 2.0]), np.array([0, 1])).curves()
    p = 1 / (1 + np.exp(-curve(np.array([-1e9, -1.0, 2.0, 1e9]))))
    assert (np.diff(p) > 0).all()
    assert 0.15 < p[0] < 0.5 < p[-1] < 0.85


def test_scores_that_differ_are_never_read_alike_and_zero_is_even():
    rng = np.random.default_rng(0)
    for n in (3, 30, 3_000):
        scores = rng.normal(size=n)
        (curve,) = counts_of(scores, rng.random(n) < 0.9).curves(is_free=False)  # scores say nothing
        at = np.unique(np.concatenate([-(10.0 ** np.arange(-9, 9)), [0.0], 10.0 ** np.arange(-9, 9), scores]))
        read = curve(at)
        assert (np.diff(read) > 0).all()
        assert read[at == 0] == 0
        assert ((read > 0) == (at > 0)).all()


def test_no_unit_of_scores_or_weights_matters():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=500), rng.random(500) < 0.5
    y |= scores > 0.5
    (one,) = counts_of(scores, y).curves()
    (other,) = counts_of(scores * 2, y, np.full(500, 7.0)).curves()
    assert_allclose(other(scores * 2), one(scores), atol=0.1)


def test_a_log_odds_is_found_again():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2_000)
    (curve,) = counts_of(scores, rng.random(2_000) < 1 / (1 + np.exp(-2 * scores))).curves()
    for score in (-1.3, 0.2, 2.0):
        assert curve.score_of(float(curve(np.array(score)))) == pytest.approx(score, abs=0.05)
    assert curve.score_of(99.0) == np.inf
    assert curve.score_of(-99.0) == -np.inf


# --- every classifier -------------------------------------------------------------------------------------------------


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_agree_with_scores_and_predictions(name, n_classes):
    model = method_of(name)
    if n_classes > 2 and is_binary(model):
        pytest.skip("two classes")
    X, y = problem(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:100], y[:100])
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert (p > 0).all()
    assert_allclose(model.predict_log_proba(X), np.log(p))
    scores = model.decision_function(X)
    even = not model._weighs_mistakes  # else a score of 0 is where costs are
    if n_classes == 2:
        order = np.argsort(scores)
        differ = np.diff(scores[order]) > 1e-9
        assert (np.diff(p[order, 1])[differ] > 0).all()
        assert not even or ((p[:, 1] > 0.5) == (scores > 0)).all()
    elif even:
        assert_array_equal(p.argmax(axis=1), scores.argmax(axis=1))
    if even and not getattr(model, NOVELTY, False):
        assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    guess = log_loss(y[100:], np.tile(np.bincount(y[:100]) / 100, (50, 1)))
    assert log_loss(y[100:], p[100:]) < 1.05 * guess


@every_classifier
def test_scikit_learn_takes_the_probabilities_of_every_classifier(name):
    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method_of(name)
        voting = VotingClassifier([("one", model), ("other", LogisticRegression())], voting="soft").fit(X, y)
        assert voting.score(X, y) > 0.7
        stacked = StackingClassifier([("one", model)], LogisticRegression(), stack_method="predict_proba", cv=2)
        assert stacked.fit(X, y).score(X, y) > 0.7
        tuned = TunedThresholdClassifierCV(model, cv=2, response_method="predict_proba").fit(X, y)
        assert 0 < tuned.best_threshold_ < 1
        for measure in ("neg_brier_score", "neg_log_loss"):
            assert np.isfinite(cross_val_score(model, X, y, cv=2, scoring=measure)).all()
        fitted = clone(model).fit(X, y)
        shown = CalibrationDisplay.from_estimator(fitted, X, y, n_bins=3)
    assert len(shown.prob_true) >= 1


@every_classifier
def test_without_probabilities_nothing_is_counted(name):
    X, y = problem()
    model = method_of(name).set_params(probability="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    for method in ("predict_proba", "predict_log_proba", "calibrate"):
        with pytest.raises(AttributeError, match=f"{method} needs probability=\"calibrated\", got 'none'"):
            getattr(model, method)
    assert not any("score" in key for key in vars(model))
    assert "score_bins" not in getattr(getattr(model, "state_", None), "arrays", {})


@pytest.mark.parametrize("probability", ["sigmoid", None, True])
def test_other_words_are_refused(probability):
    with pytest.raises(ValueError, match="probability must be one of 'calibrated', 'frequencies', 'none'"):
        AROWClassifier(probability=probability).fit([[0.0], [1.0]], [0, 1])


# --- fits of several passes, and of all rows at once ------------------------------------------------------------------


def noisy(n_rows=3_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20))
    p = 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1]))
    return X, (rng.random(n_rows) < p).astype(int), p


@pytest.mark.parametrize(
    "model",
    [
        PAClassifier(C=1.0, max_iter=5, random_state=0),
        PegasosClassifier(random_state=0),
        FTRLClassifier(random_state=0),
        AROWClassifier(random_state=0),
        SparseSDCAClassifier(alpha=1e-3),
        LSSVC(kernel="linear"),
    ],
    ids=name_of,
)
def test_probabilities_are_those_of_new_rows(model):
    """As good as those of scikit-learn's five folds, which take five times as long."""
    X, y, p = noisy()
    some = slice(0, 600)
    found = clone(model).fit(X[some], y[some]).predict_proba(X[600:])[:, 1]
    plain = clone(model).set_params(probability="none")
    by_folds = CalibratedClassifierCV(plain, cv=5, ensemble=False).fit(X[some], y[some])
    assert log_loss(y[600:], found) < 1.03 * log_loss(y[600:], by_folds.predict_proba(X[600:]))
    if not isinstance(model, PAClassifier):  # whose scores follow the noise of single rows
        assert np.abs(found - p[600:]).mean() < 0.09


def test_a_fold_is_scored_by_a_model_of_the_others():
    X, y, _ = noisy(50)
    model = PAClassifier(C=0.3, max_iter=3, random_state=0).fit(X, y)
    bins, clock = np.zeros(2 * N), np.zeros(4)
    for fold in range(5):
        held = np.arange(fold, 50, 5)
        rest = np.setdiff1d(np.arange(50), held)
        fresh = PAClassifier(C=0.3, max_iter=1, probability="none").partial_fit(X[:1], y[:1], [0, 1], [0.0])
        for orders in model._passes(onepass.Target(y.astype(float), model.classes_), 0):
            for order in orders:
                part = order[np.isin(order, rest)]
                fresh.partial_fit(X[part], y[part])
        more = counted(fresh.decision_function(X[held])[None], y[held], np.ones(10), ages=False)
        bins, clock = bins + more[0][0], clock + more[1]
    found = onepass.learner(model, 20).score_counts(model.state_)
    assert_allclose(found.rows()[0].ravel(), bins)
    assert_allclose(found.clock, clock * [1, 50**2 / 3, (50**2 / 3) ** 2, 1])


@pytest.mark.parametrize("model", [LSSVC(gamma=0.1), SparseSDCAClassifier(), UniformMKLClassifier()], ids=name_of)
def test_rows_in_another_order_or_repeated_have_the_same_probabilities(model):
    X, y, _ = noisy(60)
    order = np.random.default_rng(0).permutation(60)
    once = clone(model).fit(X, y).predict_proba(X)
    assert_allclose(clone(model).fit(X[order], y[order]).predict_proba(X), once, atol=0.01)


def test_unlabelled_rows_are_not_counted():
    X, y, _ = noisy(120)
    y[20:] = -1
    model = LapSVC().fit(X, y)
    assert model._score_clock[0] == 20
    assert model.predict_proba(X).shape == (120, 2)


def test_precomputed_kernels_have_probabilities():
    X, y, _ = noisy(80)
    K = X @ X.T
    given = LSSVC(kernel="precomputed").fit(K, y)
    assert given.predict_proba(K).shape == (80, 2)
    stack = UniformMKLClassifier("precomputed").fit(np.stack([K, K + 1]), y)
    assert stack.predict_proba(np.stack([K, K + 1])).shape == (80, 2)


def test_class_weights_move_probabilities_as_they_move_decisions():
    X, y, _ = noisy()
    for model in (AROWClassifier(), LSSVC(kernel="linear")):
        plain = clone(model).fit(X[:800], y[:800]).predict_proba(X[800:])[:, 1]
        heavy = clone(model).set_params(class_weight={0: 1.0, 1: 9.0}).fit(X[:800], y[:800])
        assert heavy.predict_proba(X[800:])[:, 1].mean() > plain.mean() + 0.2


# --- other rows, files, pipelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [AROWClassifier(), LSSVC(), PegasosSNDClassifier()], ids=name_of)
def test_other_rows_take_the_place_of_those_counted(model):
    X, y, _ = noisy()
    model.fit(X[:500], y[:500])
    rare = np.flatnonzero((y == 0) | (np.arange(len(y)) % 10 == 0))
    before = model.predict_proba(X[rare[600:]])[:, 1]
    model.calibrate(X[rare[:600]], y[rare[:600]], sample_weight=np.full(600, 2.0))
    after = model.predict_proba(X[rare[600:]])[:, 1]
    truth = y[rare[600:]].mean()
    assert abs(after.mean() - truth) < min(0.06, abs(before.mean() - truth))
    with pytest.raises(ValueError, match="y must have one entry per row"):
        model.calibrate(X[:3], y[:2])
    with pytest.raises(ValueError, match="sample_weight must hold a weight above 0, got only zeros"):
        model.calibrate(X[:2], y[:2], sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError, match="got 7"):
        model.calibrate(X[:2], [0, 7])


def test_rows_that_come_later_join_those_counted():
    X, y, _ = noisy()
    model = AROWClassifier(1.0, random_state=0).fit(X[:500], y[:500]).calibrate(X[500:1_500], y[500:1_500])
    (before,) = onepass.learner(model, 20).score_counts(model.state_).rows()[0].sum(axis=(1, 2))
    model.partial_fit(X[1_500:1_600], y[1_500:1_600])
    (after,) = onepass.learner(model, 20).score_counts(model.state_).rows()[0].sum(axis=(1, 2))
    assert before == 1_000
    assert 750 < after < 1_100


def test_models_that_have_scored_no_row_say_so():
    model = AROWClassifier().partial_fit([[1.0, 0.0]], [1], classes=[0, 1], sample_weight=[0.0])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="needs scores of rows that the model has not learned from"):
        model.predict_proba([[1.0, 0.0]])
    model.calibrate([[1.0, 0.0]], [1])
    assert model.predict_proba([[1.0, 0.0]]).shape == (1, 2)


@pytest.mark.parametrize("name", ["arow", "scw", "bcw", "pegasos", "sharedrda", "lssvc", "uniformmkl", "sparsesdca"])
def test_files_keep_probabilities(name, tmp_path):
    X, y = problem(3)
    model = method_of(name).fit(X, y)
    save_model(model, tmp_path / "m")
    assert_array_equal(load_model(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_pipelines_read_those_of_their_learner():
    X, y, _ = noisy(400)
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())]).partial_fit(X, y, [0, 1])
    p = model.predict_proba(X)
    assert_allclose(model.predict_log_proba(X), np.log(p))
    model.calibrate(X[:50], np.zeros(50, dtype=int))
    assert (model.predict_proba(X)[:, 1] < p[:, 1]).mean() > 0.9


def test_tasks_share_one_reading():
    X, y, _ = noisy(600)
    tasks = np.arange(600) % 3
    model = MultiTaskRDAClassifier(random_state=0).fit(X, y, tasks)
    p = model.predict_proba(X, tasks)
    assert_array_equal(rankdata(p[:, 1]), rankdata(model.decision_function(X, tasks)))
    assert_allclose(model.predict_log_proba(X, tasks), np.log(p))
    assert log_loss(y, p) < 0.6
    model.calibrate(X, y, tasks)
    assert model.state_.arrays["score_clock"][model._learner_now().chosen(model.state_), 0] == 600


def test_centres_are_the_cores():
    assert len(centres()) == N


# --- frequencies ------------------------------------------------------------------------------------------------------


def rare_rows(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three classes, the last of which is rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    is_rare = rng.random(n) < 1 / (1 + np.exp(3.5 - 2 * X[:, 0] - X[:, 1]))
    return X, np.where(is_rare, 2, X[:, 2] + 0.5 * rng.normal(size=n) > 0)


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(random_state=0),
        AROWClassifier(r=1.0, max_iter=1, shuffle=False),
        AROWClassifier(multi_class="joint", r=1.0, max_iter=1, shuffle=False),
        PegasosClassifier(alpha=0.01, random_state=0),
        SBCWClassifier(cost=None, random_state=0),
        LSSVC(),
    ],
    ids=["tuned", "stream", "joint", "passes", "batches", "folds"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_move_decisions_but_not_frequencies(model, n_classes):
    X, y = rare_rows()
    y = np.maximum(y, 1) if n_classes == 2 else y
    n = 1000 if isinstance(model, LSSVC) else 2000
    weighted, frequent = (
        clone(model).set_params(class_weight="balanced", probability=p).fit(X[:n], y[:n])
        for p in ("calibrated", "frequencies")
    )
    assert_array_equal(weighted.predict(X), frequent.predict(X))
    shares = np.mean(y[2000:, None] == frequent.classes_, axis=0)
    assert abs(weighted.predict_proba(X[2000:]).mean(axis=0) - shares).max() > 0.08
    assert abs(frequent.predict_proba(X[2000:]).mean(axis=0) - shares).max() < 0.06


@pytest.mark.parametrize("r", [1.0, "auto"])
def test_frequencies_of_a_stream_are_the_same_for_any_chunking(r):
    X, y = rare_rows(300)
    y = np.maximum(y, 1)
    made = []
    for size in (1, 7, 300):
        model = AROWClassifier(r=r, class_weight={1: 0.5, 2: 8}, probability="frequencies")
        for begin in range(0, len(y), size):
            model.partial_fit(X[begin : begin + size], y[begin : begin + size], classes=[1, 2])
        made.append(model.predict_proba(X))
    assert_array_equal(made[0], made[1])
    assert_array_equal(made[0], made[2])


def test_frequencies_are_counted_of_single_rows_too():
    X, y = rare_rows(200)
    y = np.maximum(y, 1)
    options = {"class_weight": {1: 0.5, 2: 8}, "probability": "frequencies", "r": 1.0}
    by_row, at_once = AROWClassifier(**options), AROWClassifier(**options).partial_fit(X, y, classes=[1, 2])
    for x, label in zip(X, y, strict=True):
        by_row.learn_one(dict(enumerate(x)), label, **({} if hasattr(by_row, "state_") else {"classes": [1, 2]}))
        by_row.predict_proba_one(dict(enumerate(x)))
    assert_allclose(by_row.predict_proba(X), at_once.predict_proba(X), rtol=1e-9)


def test_without_class_weights_frequencies_are_calibrated_probabilities():
    X, y = rare_rows(500)
    made = [AROWClassifier(probability=p, random_state=0).fit(X, y) for p in ("calibrated", "frequencies")]
    assert_array_equal(*(model.predict_proba(X) for model in made))
