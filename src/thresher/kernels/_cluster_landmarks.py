"""Landmarks in the middle of clusters: k-means among rows, dense or CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._kernels import as_floats, squared_distances

_MOST_ROUNDS = 20


def middle_rows(rows: Any, n_clusters: int) -> NDArray[np.intp]:
    """For each of ``n_clusters``, begun at the first rows, the row nearest to its mean (Lloyd's algorithm). A cluster
    that lost its rows is stood for by the first row that stands for none."""
    rows = as_floats(rows)
    labels = np.full(rows.shape[0], -1)
    centres = rows[:n_clusters]
    for _ in range(_MOST_ROUNDS):
        distances = squared_distances(rows, centres)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = _means(rows, labels, centres)
    inside = np.where(labels[:, None] == np.arange(n_clusters), squared_distances(rows, centres), np.inf)
    found = np.where(np.isfinite(inside).any(axis=0), inside.argmin(axis=0), -1)
    spare = np.setdiff1d(np.arange(rows.shape[0]), found)
    found[found < 0] = spare[: np.count_nonzero(found < 0)]
    return found


def _means(rows: Any, labels: NDArray[np.intp], before: Any) -> Any:
    """The mean of each cluster; one without rows stays where it was."""
    n_clusters = before.shape[0]
    counts = np.bincount(labels, minlength=n_clusters)
    weights = 1.0 / np.maximum(counts, 1)
    member = sparse.csr_array((weights[labels], (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    stay = sparse.diags_array((counts == 0).astype(np.float64))
    means = member @ rows + stay @ before
    return sparse.csr_array(means) if sparse.issparse(means) else means
