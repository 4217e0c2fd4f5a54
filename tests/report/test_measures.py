"""Measures and their intervals against scikit-learn, SciPy, brute force and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics

from thresher.report import _measures
from thresher.report._measures import Ranked
from thresher.report._quantiles import Z, quantile_of_sorted, student_quantile


def random_table(seed: int, n_classes: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    true = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    predicted = np.where(rng.random(n) < 0.7, true, rng.integers(0, n_classes, n))
    return true, predicted, _measures.confusion(true, predicted, n_classes)


def random_ranking(seed: int, n: int = 150, ties: bool = False) -> tuple[np.ndarray, np.ndarray, Ranked]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    scores = rng.normal(size=n) + 1.2 * positive
    scores = np.round(scores, 0 if ties else 9)
    return positive, scores, Ranked.of(positive, scores)


def test_quantiles_are_those_of_scipy():
    degrees = [*range(1, 300), 1_000, 10**6, 10**9]
    assert_allclose([student_quantile(df) for df in degrees], stats.t.ppf(0.975, degrees), rtol=1e-10)
    assert stats.norm.ppf(0.975) == Z


# --- proportions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part, whole", [(0, 10), (3, 10), (10, 10), (1, 1), (121, 1000), (999_999, 1_000_000)])
def test_proportion_is_wilsons(part, whole):
    expected = stats.binomtest(part, whole).proportion_ci(method="wilson")
    found = _measures.proportion(part, whole)
    assert found.value == part / whole
    assert_allclose(found[1:], [expected.low, expected.high], atol=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_share_of_nothing_is_unknown():
    assert np.isnan(_measures.proportion(0, 0).value)
    assert _measures.proportion(0, 0)[1:] == (0.0, 1.0)


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_proportion_covers_the_truth_95_times_in_100(n):
    truths = np.linspace(0.02, 0.98, 49)
    ends = np.array([_measures.proportion(k, n)[1:] for k in range(n + 1)])
    covered = (ends[:, 0] <= truths[:, None]) & (truths[:, None] <= ends[:, 1])
    chances = stats.binom.pmf(np.arange(n + 1), n, truths[:, None])
    assert 0.945 < (covered * chances).sum(axis=1).mean() < 0.965


# --- classes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_class_measures_are_scikit_learns(n_classes):
    true, predicted, table = random_table(n_classes, n_classes)
    assert_allclose(table, metrics.confusion_matrix(true, predicted))
    assert _measures.error(table).value == pytest.approx(1 - metrics.accuracy_score(true, predicted))
    assert _measures.baseline_error(table) == pytest.approx(1 - np.bincount(true).max() / len(true))
    assert _measures.balanced_accuracy(table).value == pytest.approx(metrics.balanced_accuracy_score(true, predicted))
    assert _measures.macro_f1(table).value == pytest.approx(metrics.f1_score(true, predicted, average="macro"))
    expected = np.array(metrics.precision_recall_fscore_support(true, predicted)).T
    found = [(m.precision.value, m.recall.value, m.f1.value, m.n_rows) for m in _measures.by_class(table)]
    assert_allclose(found, expected)


def test_a_class_that_never_occurs_does_not_count():
    table = np.array([[5, 1, 0], [2, 4, 0], [0, 0, 0]])
    assert _measures.balanced_accuracy(table).value == pytest.approx((5 / 6 + 4 / 6) / 2)
    assert _measures.macro_f1(table).value == pytest.approx(_measures.macro_f1(table[:2, :2]).value)
    assert np.isnan(_measures.by_class(table)[2].recall.value)


@pytest.mark.parametrize("measure", [_measures.error, _measures.balanced_accuracy, _measures.macro_f1])
def test_a_table_without_mistakes_is_no_certainty(measure):
    found = measure(np.diag([10, 10]))
    assert found.high - found.low > 0.05
    assert found.low <= found.value <= found.high


def test_intervals_of_f1_and_balanced_accuracy_cover_the_truth():
    rng = np.random.default_rng(0)
    chances = np.array([[0.30, 0.05, 0.02], [0.04, 0.25, 0.03], [0.01, 0.02, 0.28]])
    f1 = 2 * np.diag(chances) / (chances.sum(axis=0) + chances.sum(axis=1))
    truths = (f1[1], (np.diag(chances) / chances.sum(axis=1)).mean(), f1.mean())
    covered = np.zeros(3)
    for _ in range(300):
        table = rng.multinomial(150, chances.ravel()).reshape(3, 3)
        found = (_measures.by_class(table)[1].f1, _measures.balanced_accuracy(table), _measures.macro_f1(table))
        covered += [e.low <= t <= e.high for e, t in zip(found, truths, strict=True)]
    assert (covered > 0.91 * 300).all()
    assert (covered < 0.99 * 300).all()


# --- scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_areas_are_scikit_learns(seed, ties):
    positive, scores, ranked = random_ranking(seed, ties=ties)
    assert _measures.auroc(ranked)[0] == pytest.approx(metrics.roc_auc_score(positive, scores))
    assert _measures.average_precision(ranked)[0] == pytest.approx(metrics.average_precision_score(positive, scores))
    false, true = ranked.roc()
    assert metrics.auc(false, true) == pytest.approx(metrics.roc_auc_score(positive, scores))
    precision, recall = ranked.precision_recall()
    expected = metrics.precision_recall_curve(positive, scores)
    assert_allclose(precision[::-1], expected[0][:-1])
    assert_allclose(recall[::-1], expected[1][:-1])


@pytest.mark.parametrize("ties", [False, True])
def test_the_variance_of_auroc_is_delongs(ties):
    positive, scores, ranked = random_ranking(0, ties=ties)
    a, b = scores[positive][:, None], scores[~positive]
    wins = (a > b) + 0.5 * (a == b)
    expected = wins.mean(axis=1).var(ddof=1) / len(a) + wins.mean(axis=0).var(ddof=1) / len(b)
    _, added = _measures.auroc(ranked)
    of_rows = np.where(positive, added[:, 1], added[:, 0])
    assert of_rows @ of_rows == pytest.approx(expected)


@pytest.mark.parametrize("ties", [False, True])
def test_what_a_row_adds_to_average_precision_is_the_derivative_by_its_weight(ties):
    positive, scores, ranked = random_ranking(1, n=40, ties=ties)
    _, added = _measures.average_precision(ranked)
    step = 1e-5
    for i in range(len(scores)):
        sides = []
        for sign in (-1, 1):
            weight = np.ones(len(scores))
            weight[i] += sign * step
            sides.append(metrics.average_precision_score(positive, scores, sample_weight=weight))
        assert added[i, int(positive[i])] == pytest.approx((sides[1] - sides[0]) / (2 * step), abs=1e-8)


def test_several_classes_are_averaged_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    chances = rng.dirichlet([1, 1, 1], 200) + np.eye(3)[y]
    chances /= chances.sum(axis=1, keepdims=True)
    outputs = [(y == k, Ranked.of(y == k, chances[:, k])) for k in range(3)]
    expected = metrics.roc_auc_score(y, chances, multi_class="ovr")
    assert _measures.auroc_estimate(outputs).value == pytest.approx(expected)
    each = [metrics.average_precision_score(y == k, chances[:, k]) for k in range(3)]
    assert _measures.average_precision_estimate(outputs).value == pytest.approx(np.mean(each))


def test_the_variance_over_classes_counts_what_they_share():
    rng = np.random.default_rng(0)
    positive, scores, ranked = random_ranking(0)
    once = _measures.auroc_estimate([(positive, ranked)])
    twice = _measures.auroc_estimate([(positive, ranked), (positive, ranked)])
    assert_allclose(twice, once)
    other = Ranked.of(rng.permutation(positive), scores)
    assert _measures.auroc_estimate([(positive, ranked), (positive, other)]).value != once.value


@pytest.mark.parametrize("chance, n, lift", [(0.1, 300, 1.5), (0.5, 60, 1.0), (0.05, 1000, 2.0)])
def test_intervals_of_areas_cover_the_truth(chance, n, lift):
    rng = np.random.default_rng(0)
    many = rng.random(1_000_000) < chance
    truths = (
        stats.norm.cdf(lift / np.sqrt(2)),
        metrics.average_precision_score(many, rng.normal(size=len(many)) + lift * many),
    )
    covered = np.zeros(2)
    for _ in range(400):
        positive = rng.random(n) < chance
        outputs = [(positive, Ranked.of(positive, rng.normal(size=n) + lift * positive))]
        found = (_measures.auroc_estimate(outputs), _measures.average_precision_estimate(outputs))
        covered += [e.low <= t <= e.high for e, t in zip(found, truths, strict=True)]
    assert (covered > 0.9 * 400).all()
    assert (covered < 0.985 * 400).all()


@pytest.mark.parametrize("estimate", [_measures.auroc_estimate, _measures.average_precision_estimate])
def test_a_perfect_ranking_is_no_certainty(estimate):
    positive = np.arange(40) < 10
    found = estimate([(positive, Ranked.of(positive, -np.arange(40.0)))])
    assert found.value == found.high == 1
    assert found.low == pytest.approx(stats.binomtest(10, 10).proportion_ci(method="wilson").low)


# --- values ----------------------------------------------------------------------------------------------------------


def random_values(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    predicted = 2 * rng.normal(size=n)
    return predicted + rng.normal(size=n), predicted


@pytest.mark.parametrize("n", [40, 5000])
def test_value_measures_are_scikit_learns(n):
    y, predicted = random_values(0, n)
    assert _measures.rmse(y, predicted).value == pytest.approx(metrics.root_mean_squared_error(y, predicted))
    assert _measures.mae(y, predicted).value == pytest.approx(metrics.mean_absolute_error(y, predicted))
    assert _measures.r2(y, predicted).value == pytest.approx(metrics.r2_score(y, predicted))


def test_the_bootstrap_is_scipys():
    y, predicted = random_values(1, 200)
    found = _measures.r2(y, predicted)
    expected = stats.bootstrap((y, predicted), metrics.r2_score, paired=True, vectorized=False, n_resamples=1000, rng=0)
    assert_allclose(found[1:], expected.confidence_interval, atol=0.01)


def test_blocks_of_rows_vary_as_the_rows_do():
    y, predicted = random_values(2, 20_000)
    squares = (y - predicted) ** 2
    found = _measures.mean(squares)
    half = 1.96 * squares.std() / np.sqrt(len(squares))
    assert_allclose([found.low, found.high], [squares.mean() - half, squares.mean() + half], atol=0.2 * half)


def test_intervals_of_value_measures_cover_the_truth():
    truths = (1.0, np.sqrt(2 / np.pi), 0.8)
    covered = np.zeros(3)
    for seed in range(200):
        pair = random_values(seed, 80)
        found = (_measures.rmse(*pair), _measures.mae(*pair), _measures.r2(*pair))
        covered += [e.low <= t <= e.high for e, t in zip(found, truths, strict=True)]
    assert (covered > 0.88 * 200).all()
    assert (covered < 0.99 * 200).all()


def test_seeds_decide():
    pair = random_values(0, 50)
    assert _measures.rmse(*pair) == _measures.rmse(*pair)
    assert _measures.rmse(*pair) != _measures.rmse(*pair, seed=1)


def test_a_constant_explains_nothing_and_is_told_apart():
    y, predicted = np.full(20, 3.0), np.full(20, 2.0)
    assert np.isnan(_measures.r2(y, predicted).value)
    assert _measures.rmse(y, predicted) == (1.0, 1.0, 1.0)
    assert _measures.rmse(y[:1], predicted[:1]).value == 1.0


def test_a_quantile_of_sorted_values_is_that_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 40, 2000):
        values = np.sort(rng.normal(size=n))
        for share in (0.0, 0.025, 0.5, 0.975, 1.0, *rng.uniform(size=50)):
            assert quantile_of_sorted(values, share) == np.quantile(values, share)
