"""Problems in the plane and their Bayes errors; curved scores; labels that are wrong or hidden."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from thresher.datasets import (
    make_additive,
    make_flipped_gaussians,
    make_half_moons,
    make_novelty,
    make_overlapping_squares,
    make_spirals,
    make_tri_class,
)


@pytest.mark.parametrize("flips, bayes", [(0.05, 0.0677), (0.15, 0.1638), (0.35, 0.3559)])
def test_flipped_gaussians_have_the_exact_bayes_errors(flips, bayes):
    X, y, truth = make_flipped_gaussians(400_000, flips=flips, return_truth=True, random_state=0)
    best = X @ np.array([0.5 / 0.2, -3 / 3]) > 0  # the means' difference in the metric of the variances
    assert np.count_nonzero(y != truth) == round(flips * 400_000)
    assert_allclose(np.mean(best != y), bayes, atol=0.002)
    for label, mean in ((1, [0.5, -3]), (0, [-0.5, 3])):
        assert_allclose(X[truth == label].mean(axis=0), mean, atol=0.015)
        assert_allclose(np.cov(X[truth == label].T), np.diag([0.2, 3.0]), atol=0.03)


@pytest.mark.parametrize(
    "flips, share, bayes", [(0.05, 0.0488, 0.0666), (0.15, 0.1393, 0.1535), (0.35, 0.2953, 0.3034)]
)
def test_flips_with_replacement_hit_fewer_rows(flips, share, bayes):
    X, y, truth = make_flipped_gaussians(400_000, flips=flips, with_replacement=True, return_truth=True, random_state=1)
    assert_allclose(np.mean(y != truth), share, atol=0.0015)
    assert_allclose(np.mean((X @ np.array([2.5, -1]) > 0) != y), bayes, atol=0.003)


@pytest.mark.parametrize("n_features, risk", [(50, 0.0507), (2, 0.0668), (200, 0.0223)])
def test_the_two_classes_of_the_tri_class_problem_have_their_bayes_risk(n_features, risk):
    X, y = make_tri_class(100_000, 0, n_features, random_state=0)
    variance = np.full(n_features, 10.0)
    variance[:2] = 0.08
    assert_allclose(norm.cdf(-np.sqrt(np.sum(0.09 / variance))), risk, atol=1e-4)
    assert_allclose(np.mean((X @ (1 / variance) > 0) != y), risk, atol=0.003)


@pytest.mark.parametrize("kind, mean, narrow", [("centred", 0.0, 0.1), ("shifted", 0.15, 0.08)])
def test_rows_of_neither_class_lie_between_them(kind, mean, narrow):
    X, y, truth = make_tri_class(20, 200_000, 4, relevant=0.25, kind=kind, return_truth=True, random_state=0)
    assert np.bincount(y + 1).tolist() == [200_000, 10, 10]
    assert np.bincount(truth).tolist() == [25_010, 25_010, 150_000]
    assert_array_equal(y[y >= 0], truth[y >= 0])
    for label, middle, variance in ((0, -0.3, 0.08), (1, 0.3, 0.08), (2, mean, narrow)):
        rows = X[truth == label]
        assert_allclose(rows.mean(axis=0), middle, atol=0.07)
        assert_allclose(rows[:, :2].mean(axis=0), middle, atol=0.006)
        assert_allclose(rows.var(axis=0), [variance, variance, 10, 10], rtol=0.03)


@pytest.mark.parametrize("example, functions", [(1, 1), (2, 4)])
def test_labels_of_additive_problems_follow_the_sum_of_functions(example, functions):
    X, y, groups = make_additive(400_000, example=example, return_groups=True, random_state=0)
    assert_array_equal(groups, [j // 3 if j < 3 * functions else -1 for j in range(20)])
    f = [
        -2 * np.sin(2 * X[:, :3]) + 1 - np.cos(2),
        X[:, 3:6] ** 2 - 1 / 3,
        X[:, 6:9] - 0.5,
        np.exp(-X[:, 9:12]) + np.exp(-1) - 1,
    ]
    for part in f:
        assert_allclose(part.mean(axis=0), 0, atol=0.004)
    score = sum(part.sum(axis=1) for part in f[:functions])
    for low in np.arange(-1.5, 1.5, 0.5):
        here = (score >= low) & (score < low + 0.5)
        assert_allclose(y[here].mean(), norm.cdf(score[here]).mean(), atol=0.012)
    X, y = make_additive(500, noise=0.0, random_state=0)
    assert_array_equal(y, (1 - np.cos(2) - 2 * np.sin(2 * X[:, :3])).sum(axis=1) > 0)


def test_overlapping_squares_share_a_quarter():
    X, y = make_overlapping_squares(100_001, random_state=0)
    assert y.sum() == 50_001
    for label, low in ((1, 0.0), (0, -0.5)):
        rows = X[y == label]
        assert_allclose(rows.min(axis=0), low, atol=1e-3)
        assert_allclose(rows.max(axis=0), low + 1, atol=1e-3)
        assert_allclose(rows.mean(axis=0), low + 0.5, atol=0.005)
    shared = (X > 0).all(axis=1) & (X < 0.5).all(axis=1)
    best = np.where(shared, 0, (X.max(axis=1) > 0.5) | shared)  # anything will do in the shared quarter
    assert_allclose(np.mean(best != y), 0.125, atol=0.004)


@pytest.mark.parametrize("kind", ["blobs", "moons", "rings"])
def test_outliers_keep_away_from_classes_that_can_be_told_apart(kind):
    X, y = make_novelty(1000, kind=kind, clearance=0.2, random_state=0)
    assert np.bincount(y + 1).tolist() == [150, 425, 425]
    assert np.abs(X).max() <= 1
    inside = X[y >= 0]
    assert NearestNeighbors(n_neighbors=1).fit(inside).kneighbors(X[y < 0])[0].min() > 0.2
    assert np.ptp(X[y < 0], axis=0).min() > 1.5  # scattered all over
    half = KNeighborsClassifier(1).fit(inside[::2], y[y >= 0][::2])
    assert half.score(inside[1::2], y[y >= 0][1::2]) == 1
    X, y = make_novelty(10, kind=kind, outliers=1.0, random_state=0)
    assert (y == -1).all()


@pytest.mark.parametrize("make", [make_spirals, make_half_moons])
def test_a_share_of_each_class_is_labelled(make):
    _, y, truth = make(501, labelled=0.1, return_truth=True, random_state=0)
    assert np.bincount(y + 1).tolist() == [451, 25, 25]
    assert np.bincount(truth).tolist() == [250, 251]
    assert_array_equal(y[y >= 0], truth[y >= 0])
    assert len(set(np.diff(np.flatnonzero(y >= 0)))) > 5  # anywhere
    assert np.bincount(make(9, labelled=0.0, random_state=0)[1] + 1).tolist() == [7, 1, 1]


def _mistakes(X, truth):
    model = KNeighborsClassifier(1).fit(X[::2], truth[::2])
    return model.predict(X[1::2]) != truth[1::2], X[1::2]


def test_spirals_merge_in_the_end_if_they_are_to():
    X, _, truth = make_spirals(4000, return_truth=True, random_state=0)
    wrong, X = _mistakes(X, truth)
    radius = np.hypot(*X.T)
    assert wrong[(radius > 0.25) & (radius < 0.65)].mean() < 0.01
    assert wrong[radius > 0.95].mean() > 0.35
    X, _, truth = make_spirals(4000, overlap=False, noise=0.0, return_truth=True, random_state=0)
    wrong, X = _mistakes(X, truth)
    assert wrong[np.hypot(*X.T) > 0.1].mean() == 0
    assert_allclose(np.hypot(*X.T).max(), 1, atol=1e-3)


def test_half_moons_overlap_at_a_tail_if_they_are_to():
    X, _, truth = make_half_moons(4000, return_truth=True, random_state=0)
    wrong, X = _mistakes(X, truth)
    tail = np.hypot(*(X - [0.933, 0.25]).T) < 0.2  # the middle of what they share
    assert wrong[tail].mean() > 0.35
    assert wrong[np.hypot(*(X - [0.933, 0.25]).T) > 0.7].mean() < 0.01
    X, _, truth = make_half_moons(4000, overlap=False, noise=0.0, return_truth=True, random_state=0)
    assert not _mistakes(X, truth)[0].any()
    assert_allclose(np.hypot(*X[truth == 0].T), 1)
    assert_allclose(np.hypot(*(X[truth == 1] - [1, 0.5]).T), 1)
    assert X[truth == 0, 1].min() >= 0
    assert X[truth == 1, 1].max() <= 0.5


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: make_additive(example=3), "make_additive: example must be 1 or 2, got 3."),
        (lambda: make_additive(n_features=11, example=2), "n_features must be an integer of at least 12, got 11."),
        (lambda: make_flipped_gaussians(flips=1.5), "flips must be a number between 0 and 1, got 1.5."),
        (lambda: make_tri_class(kind="other"), "kind must be one of 'centred', 'shifted', got 'other'."),
        (lambda: make_tri_class(n_features=1), "make_tri_class: n_features must be an integer of at least 2, got 1."),
        (
            lambda: make_novelty(clearance=0.5),
            "make_novelty: clearance must be a number above 0 and at most 0.4, got 0.5.",
        ),
        (lambda: make_spirals(1), "make_spirals: n_samples must be an integer of at least 2, got 1."),
        (lambda: make_half_moons(overlap=1), "make_half_moons: overlap must be True or False, got 1."),
        (lambda: make_overlapping_squares(random_state="a"), "random_state must be None, an integer of at least 0"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
