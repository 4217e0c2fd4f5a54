from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher.datasets import make_sparse_stream


def test_rows_are_sparse_of_norm_one_and_as_many_as_asked():
    stream = make_sparse_stream(2_500, 3_000, n_relevant=20, batch_size=1_000, random_state=0)
    batches = list(stream.batches)
    assert [X.shape for X, _ in batches] == [(1_000, 3_000), (1_000, 3_000), (500, 3_000)]
    X = sparse.vstack([X for X, _ in batches]).tocsr()
    assert X.has_canonical_format
    assert 20 < X.nnz / 2_500 <= 40
    assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)


def test_the_rare_class_is_as_rare_as_asked_and_told_by_the_relevant_features():
    stream = make_sparse_stream(40_000, 2_000, n_relevant=20, positives=0.1, random_state=1)
    X, y = (
        f(parts) for f, parts in zip((sparse.vstack, np.concatenate), zip(*stream.batches, strict=True), strict=True)
    )
    assert_allclose(y.mean(), 0.1, atol=0.01)
    present = (X.tocsr() != 0).astype(float)
    lift = np.abs(np.log((present[y == 1].mean(axis=0) + 1e-4) / (present[y == 0].mean(axis=0) + 1e-4)))
    assert np.median(lift[stream.relevant]) > 1.5
    assert np.median(np.delete(lift, stream.relevant)) < 0.3


def test_the_same_seed_gives_the_same_stream():
    one, other = (make_sparse_stream(300, 500, n_relevant=5, random_state=7) for _ in range(2))
    assert_array_equal(one.relevant, other.relevant)
    for (X, y), (Z, z) in zip(one.batches, other.batches, strict=True):
        assert_array_equal(X.toarray(), Z.toarray())
        assert_array_equal(y, z)


@pytest.mark.parametrize("n_features", [200, 201, 250])
def test_a_stream_of_few_features_has_all_relevant_ones(n_features):
    stream = make_sparse_stream(100, n_features, random_state=0)
    assert len(np.unique(stream.relevant)) == 200
    assert sum(len(y) for _, y in stream.batches) == 100


def test_more_relevant_features_than_features_are_refused():
    with pytest.raises(
        ValueError, match=r"make_sparse_stream: n_features must be an integer of at least 200, got 50\."
    ):
        make_sparse_stream(100, 50)
