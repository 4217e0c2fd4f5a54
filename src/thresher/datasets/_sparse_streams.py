"""Wide, sparse streams: texts with a rare class, and days whose features appear over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import at_least, boolean, check_value, checked, fraction, non_negative, none, sparse


@dataclass(frozen=True)
class SparseStream:
    """Batches of rows and the truth behind them; see :func:`make_sparse_stream`."""

    batches: Iterator[tuple[Any, NDArray[np.int64]]]
    """Pairs of a CSR array and labels 0 and 1, generated on demand."""
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
    """Generate rows like short texts, in which a few words separate a rare class from the rest.

    Words occur with Zipf frequencies. A rare class, a fraction ``positives`` of the rows, is marked by words of medium
    frequency: half of the relevant ones occur eight times as often in it, the other half an eighth as often. Values are
    one plus a logarithm of counts, weighted by rarity, and rows have norm 1, as a tf-idf transform makes them. A
    fraction ``noise`` of the labels of either class is flipped in proportion to ``positives``, so the rate of the class
    stays.

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows in total, and of columns.
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
    check_value("make_sparse_stream", "n_features", n_features, at_least(n_relevant))
    rng = np.random.default_rng(random_state)
    frequency = 1.0 / (np.arange(n_features) + 10.0)
    frequency /= frequency.sum()
    names = rng.permutation(n_features)  # which column a word of some frequency stands in
    first = min(n_features // 1000, n_features - n_relevant)
    middle = np.arange(first, max(n_features // 30, first + n_relevant))
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


_SEED = none | at_least(0)


@checked(n_days=at_least(1), n_samples=at_least(1), n_features=at_least(1), new_features=at_least(0))
@checked(n_nonzero=at_least(1), fresh=fraction, relevant=fraction, drift=fraction, positives=fraction)
@checked(noise=non_negative, return_coef=boolean, random_state=_SEED)
def make_days(
    n_days: int = 10,
    n_samples: int = 1000,
    n_features: int = 2000,
    *,
    new_features: int = 200,
    n_nonzero: int = 30,
    fresh: float = 0.2,
    relevant: float = 0.1,
    drift: float = 0.1,
    positives: float = 0.33,
    noise: float = 0.1,
    return_coef: bool = False,
    random_state: int | None = None,
) -> Iterator[tuple[Any, ...]]:
    r"""Generate days of a stream whose features appear over time, one pair (X, y) after the other.

    On day t rows have ``n_features + t * new_features`` columns: batches grow wider, and learners accept them with
    ``partial_fit(..., grow=True)``. A row is ``n_nonzero`` draws of features, a share ``fresh`` of them from the day's
    new ones, the others with Zipf frequencies from all that are older, the oldest the most frequent; its values are
    equal and its norm is 1. A share ``relevant`` of the features of each day matters. Their weights drift,

    .. math:: w_{t+1} = \sqrt{1 - \text{drift}^2}\, w_t + \text{drift} \cdot e_t, \qquad e_t \sim N(0, I),

    which keeps their size. The rows of a day with the highest scores, noise included, are of class 1.
    It has the shape of the URL data of [1]_: days, millions of columns of which most are new and rare, and a third of
    the rows bad. It resembles that data in nothing else.

    Parameters
    ----------
    n_days : int, default=10
    n_samples : int, default=1000
        Rows of a day.
    n_features : int, default=2000
        Columns of the first day.
    new_features : int, default=200
        Columns that each later day adds.
    n_nonzero : int, default=30
        Features drawn for a row; repeats count once.
    fresh : float, default=0.2
        Share of these that are new today; from the second day on, if there are new ones.
    relevant : float, default=0.1
        Share of the features that matter.
    drift : float, default=0.1
        How much weights change from day to day, from 0 (not at all) to 1 (all new).
    positives : float, default=0.33
        Share of class 1 in each day.
    noise : float, default=0.1
        Standard deviation of the noise added to scores, in units of their own standard deviation.
    return_coef : bool, default=False
        Whether to yield the weights of each day, too, one per column.
    random_state : int, optional
        Seed. A day depends on it and on the days before, not on how many follow.

    Yields
    ------
    X : csr_array of shape (n_samples, n_features + t * new_features)
    y : ndarray of shape (n_samples,)
        Labels 0 and 1.
    coef : ndarray
        With ``return_coef``: the weights of that day.

    References
    ----------
    .. [1] J. Ma, L. K. Saul, S. Savage, G. M. Voelker, "Identifying suspicious URLs: an application of large-scale
       online learning", ICML 2009.

    Examples
    --------
    >>> from thresher.datasets import make_days
    >>> from thresher.online import AROWClassifier
    >>> model = AROWClassifier()
    >>> for X, y in make_days(3, 100, 500, new_features=50, random_state=0):
    ...     model = model.partial_fit(X, y, classes=[0, 1], grow=True)
    >>> model.n_features_in_
    600
    """
    coef = np.zeros(0)
    rng = np.random.default_rng(random_state)
    for day in range(n_days):
        kept = coef != 0
        coef[kept] = np.sqrt(1 - drift**2) * coef[kept] + drift * rng.standard_normal(np.count_nonzero(kept))
        n_old = len(coef)
        fresh_weights = np.zeros(new_features if day else n_features)
        chosen = rng.choice(len(fresh_weights), round(relevant * len(fresh_weights)), replace=False)
        fresh_weights[chosen] = rng.standard_normal(len(chosen))
        coef = np.concatenate([coef, fresh_weights])
        X = _rows(n_samples, n_nonzero, n_old, len(coef), fresh, rng)
        score = X @ coef
        score += noise * score.std() * rng.standard_normal(n_samples)
        y = np.zeros(n_samples, dtype=np.int64)
        y[np.argsort(-score, kind="stable")[: round(positives * n_samples)]] = 1
        yield (X, y, coef.copy()) if return_coef else (X, y)


def _rows(n: int, n_nonzero: int, n_old: int, n_all: int, fresh: float, rng: np.random.Generator) -> Any:
    """Draws of features, some from the columns after ``n_old``, the others from those before; all from all at first."""
    if n_old == 0:
        n_old = n_all
    frequency = np.cumsum(1.0 / (np.arange(n_old) + 10.0))
    drawn = np.searchsorted(frequency / frequency[-1], rng.random((n, n_nonzero)))
    new = rng.random((n, n_nonzero)) < (fresh if n_all > n_old else 0.0)
    drawn[new] = rng.integers(n_old, n_all, np.count_nonzero(new)) if new.any() else 0
    rows = np.repeat(np.arange(n), n_nonzero)
    X = sparse.csr_array((np.ones(drawn.size), (rows, drawn.ravel())), shape=(n, n_all))
    X.sum_duplicates()
    lengths = np.diff(X.indptr)
    X.data = np.repeat(1.0 / np.sqrt(lengths), lengths)
    return X
