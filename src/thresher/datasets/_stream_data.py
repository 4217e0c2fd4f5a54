"""A wide, sparse stream like text, with a rare class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class SparseStream:
    """Batches of rows and the truth behind them; see :func:`make_sparse_stream`."""

    batches: Iterator[tuple[Any, NDArray[np.int64]]]
    """Pairs of a CSR array and labels 0 and 1, generated as they are asked for."""
    relevant: NDArray[np.intp]
    """The features that matter, in order."""


def make_sparse_stream(
    n_samples: int = 200_000,
    n_features: int = 100_000,
    *,
    n_relevant: int = 200,
    n_nonzero: int = 40,
    positives: float = 0.05,
    noise: float = 0.01,
    batch_size: int = 10_000,
    random_state: int | None = None,
) -> SparseStream:
    """Rows like short texts, of which a few words tell a rare class from the rest.

    Words occur with Zipf frequencies. A rare class, a fraction ``positives`` of the rows, is marked by words of medium
    frequency: half of the relevant ones occur eight times as often in it, the other half an eighth as often. Values are
    one plus a logarithm of counts, weighted by rarity, and rows have norm 1, as a tf-idf transform makes them. A
    fraction ``noise`` of the labels of either class is flipped in proportion to ``positives``, so the rate of the class
    stays.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the whole.
    n_relevant : int, default=200
        Features that matter.
    n_nonzero : int, default=40
        Words drawn for a row; repeats make fewer non-zeros.
    positives : float, default=0.05
        Fraction of the rare class.
    noise : float, default=0.01
        Fraction of the rare rows that carry the wrong label, and as many of the others.
    batch_size : int, default=10000
        Rows generated at a time.
    random_state : int, optional
        Seed. The rows depend on it and on ``batch_size``.

    Examples
    --------
    >>> from thresher.datasets import make_sparse_stream
    >>> stream = make_sparse_stream(100, 1000, n_relevant=20, batch_size=50, random_state=0)
    >>> [X.shape for X, y in stream.batches], len(stream.relevant)
    ([(50, 1000), (50, 1000)], 20)
    """
    rng = np.random.default_rng(random_state)
    frequency = 1.0 / (np.arange(n_features) + 10.0)
    frequency /= frequency.sum()
    names = rng.permutation(n_features)  # which column a word of some frequency stands in
    middle = np.arange(n_features // 1000, max(n_features // 30, n_features // 1000 + n_relevant))
    ranks = rng.choice(middle, n_relevant, replace=False)
    lift = np.ones(n_features)
    lift[ranks[::2]] = 8.0
    lift[ranks[1::2]] = 0.125
    rare = frequency * lift
    rare /= rare.sum()
    idf = np.log(1.0 / frequency)
    draws = (np.cumsum(frequency), np.cumsum(rare))

    def batches() -> Iterator[tuple[Any, NDArray[np.int64]]]:
        for begin in range(0, n_samples, batch_size):
            n = min(batch_size, n_samples - begin)
            kind = rng.random(n) < positives
            u = rng.random((n, n_nonzero))
            words = np.where(kind[:, None], np.searchsorted(draws[1], u), np.searchsorted(draws[0], u))
            words = np.minimum(words, n_features - 1)
            rows = np.repeat(np.arange(n), n_nonzero)
            counts = sparse.csr_array((np.ones(words.size), (rows, words.ravel())), shape=(n, n_features))
            counts.sum_duplicates()
            values = (1.0 + np.log(counts.data)) * idf[counts.indices]
            X = sparse.csr_array((values, names[counts.indices], counts.indptr), shape=(n, n_features))
            X.sort_indices()
            norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
            X.data /= np.repeat(norms, np.diff(X.indptr))
            chance = np.where(kind, noise, noise * positives / (1.0 - positives))
            yield X, (kind ^ (rng.random(n) < chance)).astype(np.int64)

    return SparseStream(batches(), np.sort(names[ranks]))
