from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher.datasets import sample_one_to_k


@pytest.fixture
def rows():
    y = np.random.default_rng(0).permutation(np.repeat(["ham", "spam"], [900, 100]))
    return np.arange(2000.0).reshape(1000, 2), y


def test_all_rare_rows_and_k_times_as_many_others_in_their_order(rows):
    X, y = rows
    Z, z = sample_one_to_k(X, y, 5, random_state=0)
    assert (z == "spam").sum() == 100
    assert (z == "ham").sum() == 500
    taken = (Z[:, 0] / 2).astype(int)
    assert (np.diff(taken) > 0).all()
    assert_array_equal(y[taken], z)
    assert_array_equal(X[taken], Z)
    times = np.zeros(1000)
    for seed in range(200):
        times[(sample_one_to_k(X, y, 5, random_state=seed)[0][:, 0] / 2).astype(int)] += 1
    assert (times[y == "spam"] == 200).all()
    assert_allclose(times[y == "ham"].mean(), 200 * 5 / 9)
    assert_allclose(times[y == "ham"].std(), np.sqrt(200 * 5 / 9 * 4 / 9), rtol=0.15)


def test_a_frequent_class_is_made_rare_when_asked(rows):
    X, y = rows
    _, z = sample_one_to_k(X, y, 20, rare="ham", random_state=0)
    assert [(z == "ham").sum(), (z == "spam").sum()] == [5, 100]
    _, z = sample_one_to_k(X, y, 20, random_state=0)  # 2,000 others there are not
    assert [(z == "ham").sum(), (z == "spam").sum()] == [900, 45]
    _, z = sample_one_to_k(X, y, 2.5, random_state=0)
    assert [(z == "ham").sum(), (z == "spam").sum()] == [250, 100]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array, pd.DataFrame, list])
def test_any_kind_of_rows_is_taken(rows, kind):
    X, y = rows
    expected = sample_one_to_k(X, y, 2, random_state=0)[0]
    given = kind(X.tolist()) if kind is list else kind(X)
    Z, z = sample_one_to_k(given, y, 2, random_state=0)
    assert_array_equal(Z.toarray() if sparse.issparse(Z) else np.asarray(Z), expected)
    assert len(z) == 300


@pytest.mark.parametrize(
    "change, words",
    [
        ({"k": 0.5}, "sample_one_to_k: k must be a number of at least 1, got 0.5."),
        ({"y": np.arange(1000)}, "sample_one_to_k: y must hold two classes, got 1000."),
        ({"rare": "eggs"}, "sample_one_to_k: rare must be one of ['ham', 'spam'], got 'eggs'."),
        ({"k": 5000}, "sample_one_to_k: k must be at most"),
    ],
)
def test_what_cannot_be_sampled_is_refused(rows, change, words):
    X, y = rows
    with pytest.raises(ValueError) as refused:
        sample_one_to_k(**{"X": X, "y": y} | change)
    assert words in str(refused.value)
