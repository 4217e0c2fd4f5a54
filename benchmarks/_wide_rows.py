"""Rows of very many features, made batch by batch: Zipf columns, one positive row in a hundred.

A column is drawn by its rank, log-uniformly beyond the first hundreds, and ranks are scattered over the columns. Rows
of the rare class have some of a few hundred telling columns more often than others. Values grow with the rank as
tf-idf does, and rows have norm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

N_DRAWS = 115  # columns drawn twice count once
ONE_IN = 100
_SHIFT = 300.0
_SCATTER = 1_000_003  # a prime, so that no two ranks share a column
_TELLING = np.arange(1_000, 31_000, 100)
_N_TOLD = 10


def wide_batch(n_rows: int, n_features: int, number: int) -> tuple[Any, Any]:
    """Batch ``number`` of the stream: CSR rows with int32 columns, and classes 0 and 1."""
    rng = np.random.default_rng([n_features, number])
    y = (rng.random(n_rows) < 1 / (ONE_IN + 1)).astype(np.int64)
    if number == 0:
        y[0] = 1
    spread = np.log((n_features + _SHIFT) / _SHIFT)
    rank = (_SHIFT * np.expm1(spread * rng.random((n_rows, N_DRAWS)))).astype(np.int64)
    rare = np.flatnonzero(y)
    rank[rare, :_N_TOLD] = rng.choice(_TELLING, (len(rare), _N_TOLD))
    column = np.sort(rank * _SCATTER % n_features, axis=1).astype(np.int32)
    first = np.ones(column.shape, dtype=bool)
    first[:, 1:] = column[:, 1:] != column[:, :-1]
    n_each = first.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(n_each)]).astype(np.int32)
    indices = column[first]
    data = 1 + np.log1p(_rank_of(indices, n_features) / _SHIFT)
    data /= np.repeat(np.sqrt(np.add.reduceat(data**2, starts[:-1])), n_each)
    return sparse.csr_array((data, indices, starts), shape=(n_rows, n_features)), y


def _rank_of(columns: Any, n_features: int) -> Any:
    return columns.astype(np.int64) * pow(_SCATTER, -1, n_features) % n_features
