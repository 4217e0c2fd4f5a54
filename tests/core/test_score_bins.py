"""Counting scores in bins, beside the same in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher import _core

N = 372
# Of sizes: twelve to an octave from 2^-4 to 2^6, three to one from 2^-20 and up to 2^12.
EDGES = 2.0 ** np.concatenate([np.arange(-60, -12) / 3, np.arange(-48, 72) / 12, np.arange(18, 37) / 3])


def bin_of(score):
    at = np.clip(np.searchsorted(EDGES, abs(score), side="right") - 1, 0, N // 2 - 1)
    return N // 2 + at if score > 0 else N // 2 - 1 - at


def counted(scores, y, weight, ages=True):
    """The t-th row that is there counts t^2 times its weight; with several outputs, scores are leads. Of one output,
    late rows are added up for each class: they count t^16 times their weight."""
    n_outputs = len(scores)
    bins, clock, drift = np.zeros((n_outputs, 2, N)), np.zeros(4), np.zeros((2, 4))
    for t, code in enumerate(y):
        if weight[t] == 0:
            continue
        clock[0] += 1
        counts = weight[t] * (clock[0] ** 2 if ages else 1.0)
        clock[1:3] += counts, counts**2
        if n_outputs == 1:
            late, score = weight[t] * clock[0] ** 16 * ages, scores[0, t]
            drift[int(code > 0)] += late, late * score, late * score**2, counts * score
        for k in range(n_outputs):
            lead = scores[k, t] - max((scores[j, t] for j in range(n_outputs) if j != k), default=0.0)
            bins[k, int(code > 0 if n_outputs == 1 else code == k), bin_of(lead)] += counts
    return bins.reshape(n_outputs, -1), clock, drift.ravel()


def empty(n_outputs):
    return np.zeros(2 * N * n_outputs), np.zeros(4), np.zeros(8)


@pytest.mark.parametrize("ages", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_scores_are_counted_as_in_numpy(n_outputs, ages):
    rng = np.random.default_rng(n_outputs)
    scores = rng.normal(size=(n_outputs, 400)) * 10 ** rng.uniform(-8, 6, size=(1, 400))
    scores[:, :3] = 0.0
    y = rng.integers(0, max(n_outputs, 2), 400).astype(float)
    weight = rng.exponential(size=400)
    weight[::9] = 0
    found = empty(n_outputs)
    _core.count_scores(scores, y, weight, None, *found, ages)
    for one, other in zip(found, counted(scores, y, weight, ages), strict=True):
        assert_allclose(one, other.ravel(), rtol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_chunks_and_orders_leave_no_trace(n_outputs):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(n_outputs, 200)), rng.integers(0, max(n_outputs, 2), 200).astype(float)
    order = rng.permutation(200)
    whole, parts = empty(n_outputs), empty(n_outputs)
    _core.count_scores(np.ascontiguousarray(scores[:, order]), y, None, order, *whole)
    for some in np.split(np.arange(200), [1, 50, 51, 170]):
        _core.count_scores(np.asfortranarray(scores[:, order[some]]), y, None, order[some], *parts)
    for one, other in zip(parts, whole, strict=True):
        assert_array_equal(one, other)


def test_the_middle_of_a_bin_lies_in_it():
    centres = _core.score_bin_centres()
    assert len(centres) == N
    assert_array_equal([bin_of(centre) for centre in centres], np.arange(N))
    assert_array_equal(centres, -centres[::-1])


@pytest.mark.parametrize(
    ("sizes", "weight", "order", "message"),
    [
        ((2 * N - 1, 4, 8), None, None, "bins for every output"),
        ((2 * N, 3, 8), None, None, "four numbers"),
        ((2 * N, 4, 7), None, None, "eight numbers"),
        ((2 * N, 4, 8), np.ones(4), None, "weights and rows differ"),
        ((2 * N, 4, 8), None, np.array([0, 1]), "scores and steps differ"),
        ((2 * N, 4, 8), None, np.array([0, 1, 3]), "names a row that is not there"),
        ((2 * N, 4, 8), None, np.array([0, 1, -1]), "names a row that is not there"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(sizes, weight, order, message):
    with pytest.raises(ValueError, match=message):
        _core.count_scores(np.zeros((1, 3)), np.zeros(3), weight, order, *map(np.zeros, sizes))


def test_any_score_has_a_bin_and_no_sum_overflows():
    bins, clock, drift = empty(1)
    scores = np.array([[np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0]])
    _core.count_scores(scores, np.ones(7), None, None, bins, clock, drift, False)
    assert bins.sum() == 7
    clock[0] = 1e12
    _core.count_scores(scores, np.ones(7), None, None, bins, clock, drift)
    assert np.isfinite(drift).all()
