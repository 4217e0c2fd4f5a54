"""The balanced line fit: against its definition, at its ends, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference import spectral as reference
from thresher.metrics import balanced_line_fit

LINES = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])


def clouds(noise=0.0, sizes=(30, 20, 10), seed=0):
    """Scores on three lines that meet in the origin, by degrees between 1 and 2."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), sizes)
    degrees = rng.uniform(1, 2, len(labels))
    return LINES[labels] * degrees[:, None] + noise * rng.normal(size=(len(labels), 2)), labels, degrees


@pytest.mark.parametrize("through", ["origin", "mean"])
@pytest.mark.parametrize("balance_weight", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n_scores", [1, 2, 4])
def test_it_is_its_definition(n_scores, balance_weight, through):
    rng = np.random.default_rng(n_scores)
    scores, degrees = rng.normal(size=(50, n_scores)) * 1e3, rng.uniform(1, 5, 50)
    labels = rng.integers(n_scores + 1, size=50)
    found = balanced_line_fit(scores, labels, degrees=degrees, balance_weight=balance_weight, through=through)
    assert_allclose(found, reference.line_fit(scores, labels, degrees, balance_weight, through), rtol=1e-12)


def test_lines_through_the_origin_fit_and_others_less():
    scores, labels, _ = clouds()
    assert_allclose(balanced_line_fit(scores, labels, balance_weight=0.0), 1.0, rtol=1e-12)
    assert_allclose(balanced_line_fit(scores, labels, balance_weight=1.0), 10 / 30, rtol=1e-12)
    fits = [balanced_line_fit(*clouds(noise)[:2], balance_weight=0.0) for noise in (0.0, 0.1, 0.3, 1.0)]
    assert fits == sorted(fits, reverse=True)
    swapped = np.roll(labels, 5)
    assert balanced_line_fit(scores, swapped) < 0.8
    moved = scores + np.array([0.0, 3.0])  # still lines, which do not meet in the origin
    assert_allclose(balanced_line_fit(moved, labels, balance_weight=0.0, through="mean"), 1.0, rtol=1e-12)
    assert balanced_line_fit(moved, labels, balance_weight=0.0) < 0.99


def test_points_in_all_directions_fit_nothing():
    around = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    scores = np.tile(np.column_stack([np.cos(around), np.sin(around)]), (3, 1))
    assert_allclose(balanced_line_fit(scores, np.repeat([0, 1, 2], 30), balance_weight=0.0), 0.0, atol=1e-12)
    assert_allclose(balanced_line_fit(scores, np.repeat([0, 1, 2], 30)), 0.1, atol=1e-12)


def test_two_clusters_are_lines_beside_their_degrees():
    rng = np.random.default_rng(0)
    degrees, labels = rng.uniform(10, 20, 60), np.arange(60) % 2
    scores = (np.where(labels, 1.0, -1.0) * degrees / 300)[:, None]
    assert_allclose(balanced_line_fit(scores, labels, degrees=degrees), 1.0, rtol=1e-12)
    flat = rng.choice([-1.0, 1.0], size=(60, 1)) * rng.uniform(0.01, 1, (60, 1))
    assert balanced_line_fit(flat, (flat[:, 0] > 0).astype(int), degrees=degrees) < 0.95


@pytest.mark.parametrize("factor", [1e-200, 1e-150, 1e-3, 1e3, 1e150, 1e200])
def test_the_unit_of_scores_and_of_degrees_is_of_no_account(factor):
    scores, labels, degrees = clouds(0.2)
    expected = balanced_line_fit(scores, labels)
    assert_allclose(balanced_line_fit(factor * scores, labels), expected, rtol=1e-12)
    one, two = scores[:, :1], (scores[:, 0] > 0).astype(int)
    expected = balanced_line_fit(one, two, degrees=degrees)
    assert_allclose(balanced_line_fit(one, two, degrees=factor * degrees), expected, rtol=1e-12)
    assert_allclose(balanced_line_fit(factor * one, two, degrees=degrees), expected, rtol=1e-12)


def test_a_cluster_without_rows_or_without_scores_fits_nothing():
    scores, labels, _ = clouds()
    assert_allclose(balanced_line_fit(scores[:50], labels[:50]), 0.9 * 2 / 3, rtol=1e-12)
    scores[labels == 2] = 0
    assert_allclose(balanced_line_fit(scores, labels, balance_weight=0.0), 2 / 3, rtol=1e-12)
    assert balanced_line_fit(np.zeros((3, 1)), [0, 1, 1], degrees=[0.0, 0.0, 0.0]) == 0.1 / 2


def test_labels_may_be_text():
    scores, labels, _ = clouds(0.2)
    named = np.array(["far", "near", "off"])[labels]
    assert balanced_line_fit(scores, named) == balanced_line_fit(scores, labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"balance_weight": 2.0}, r"balance_weight must be a number between 0 and 1, got 2\.0\."),
        ({"through": "nothing"}, r"through must be one of 'origin', 'mean', got 'nothing'\."),
        ({"scores": [1.0, 2.0]}, r"scores must be numbers in 2 dimensions, got float64 of shape \(2,\)\."),
        ({"scores": np.empty((3, 0))}, r"scores must hold at least one number, got shape \(3, 0\)\."),
        ({"scores": [["a", "b"]] * 3}, r"scores must be numbers in 2 dimensions"),
        ({"scores": [[np.nan, 1.0]] * 3}, r"scores must hold finite numbers, got nan\."),
        ({"labels": [0, 1]}, r"labels must be one per row, 3, got shape \(2,\)\."),
        ({"scores": np.ones((4, 2)), "labels": [0, 1, 2, 3]}, r"labels must be of at most 3 clusters, got 4\."),
        ({"scores": np.ones((3, 1))}, r"degrees must be given for two clusters"),
        ({"scores": np.ones((3, 1)), "degrees": [1.0]}, r"degrees must be one per row, 3, got 1\."),
        ({"scores": np.ones((3, 1)), "degrees": [[1.0]] * 3}, r"degrees must be numbers in 1 dimension, got"),
    ],
)
def test_what_is_refused(arguments, message):
    given = {"scores": np.ones((3, 2)), "labels": [0, 1, 1]} | arguments
    with pytest.raises(ValueError, match="^balanced_line_fit: " + message):
        balanced_line_fit(**given)
