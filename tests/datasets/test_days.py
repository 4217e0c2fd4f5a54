from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher.datasets import make_days


def test_batches_grow_by_the_features_of_each_day():
    days = list(make_days(4, 300, 500, new_features=50, positives=0.2, random_state=0))
    assert [X.shape for X, _ in days] == [(300, 500), (300, 550), (300, 600), (300, 650)]
    for X, y in days:
        assert X.format == "csr"
        assert X.has_canonical_format
        assert_allclose(X.multiply(X).sum(axis=1), 1)
        assert y.sum() == 60
    fresh = [(X[:, X.shape[1] - 50 :] != 0).sum() / 300 for X, _ in days[1:]]
    assert_allclose(fresh, 50 * (1 - (1 - 0.2 / 50) ** 30), rtol=0.1)  # of 30 draws a fifth, repeats once
    later = (days[2][0][:, 500:550] != 0).sum() / 300
    assert 0 < later < 0.5 * fresh[0]  # what was new yesterday is rare today


def test_old_features_are_the_frequent_ones():
    ((X, _),) = make_days(1, 20_000, 1000, random_state=0)
    counts = np.asarray((X != 0).sum(axis=0), dtype=float)
    share = 1 / (np.arange(1000) + 10.0)
    assert_allclose(counts[:20] / 20_000, 1 - (1 - share / share.sum())[:20] ** 30, rtol=0.04)


def test_weights_drift_and_keep_their_size():
    weights = [w for *_, w in make_days(6, 20, 20_000, drift=0.6, return_coef=True, random_state=0)]
    first = np.flatnonzero(weights[0])
    assert len(first) == 2000
    for day, w in enumerate(weights):
        assert np.count_nonzero(w) == 2000 + 20 * day
        assert_array_equal(np.flatnonzero(w[:20_000]), first)
        assert_allclose(w[first].std(), 1, atol=0.06)
        assert_allclose(np.corrcoef(w[first], weights[0][first])[0, 1], 0.8**day, atol=0.07)
    still = [w for *_, w in make_days(3, 20, 100, drift=0.0, return_coef=True, random_state=0)]
    assert_array_equal(still[2][:100], still[0])


def test_the_class_is_told_by_the_weights_of_the_day():
    for X, y, coef in make_days(3, 1000, noise=0.0, return_coef=True, random_state=0):
        score = X @ coef
        assert score[y == 1].min() >= score[y == 0].max()
    X, y, coef = next(iter(make_days(1, 20_000, noise=1.0, positives=0.5, return_coef=True, random_state=0)))
    wrong = np.mean((X @ coef > np.median(X @ coef)) != y)
    assert 0.22 < wrong < 0.28  # as much noise as score: an angle of 45 degrees, a quarter of the rows


def test_a_day_does_not_depend_on_how_many_follow():
    short, long = make_days(2, 50, random_state=5), make_days(4, 50, random_state=5)
    for (X, y), (Z, z) in zip(short, long, strict=False):
        assert_array_equal(X.toarray(), Z.toarray())
        assert_array_equal(y, z)
    other = next(iter(make_days(2, 50, random_state=6)))[0]
    assert (other != next(iter(make_days(2, 50, random_state=5)))[0]).nnz > 0


def test_wrong_arguments_are_refused_before_the_first_day():
    with pytest.raises(ValueError, match=r"make_days: drift must be a number between 0 and 1, got 2\."):
        make_days(drift=2)
    assert next(iter(make_days(2, 5, 7, new_features=0, random_state=0)))[0].shape == (5, 7)
