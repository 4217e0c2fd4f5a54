"""Silhouettes of a sample of rows, for data too large to measure them all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _engine, _gate
from .._engine import one_blas_thread, slices
from .._gate import at_least, checked, none, one_of, seed

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_BLOCK = 1 << 21  # distances held at a time
_LEAST = 2  # rows of a cluster without which its spread is unknown


class Silhouette(NamedTuple):
    """Silhouettes of a sample, as :func:`sampled_silhouette` returns them.

    Attributes
    ----------
    mean : float
        Estimate of the mean silhouette of all rows.
    standard_error : float
        Of that estimate, by the choice of rows; 0 when all were measured.
    rows : ndarray
        Places of the rows that were measured, ascending.
    values : ndarray
        Their silhouettes.
    """

    mean: float
    standard_error: float
    rows: Places
    values: Array


@checked(n_samples=at_least(1), n_others=none | at_least(1), metric=one_of("euclidean", "cosine"), random_state=seed)
def sampled_silhouette(
    X: Any,
    labels: Any,
    *,
    n_samples: int = 1000,
    n_others: int | None = None,
    metric: str = "euclidean",
    random_state: Any = 0,
) -> Silhouette:
    r"""The silhouette of some rows of each cluster, and what it says of all.

    The silhouette of a row is :math:`(b - a) / \max(a, b)` with the mean distance *a* from the rows of its own cluster
    and *b* from those of the nearest other [1]_: 1 far inside, 0 on a border, below 0 in a wrong cluster. All of them
    cost a distance for every pair of rows; a sample of 1,000 is as good in practice, and says how good.

    Rows are drawn from each cluster, in proportion to the root of its size, so that small clusters count; the mean
    weighs them by the sizes. When everything is sampled, this is scikit-learn's
    :func:`~sklearn.metrics.silhouette_samples`.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least 2 different ones, and fewer than rows.
    n_samples : int, default=1000
        Rows to measure; at least two of each cluster are.
    n_others : int, optional
        Rows to measure their distances from, drawn from the clusters likewise; by default all. Then the cost no longer
        grows with the data; the mean of a cluster is less exact, and because *b* is the least of several, silhouettes
        come out a little lower.
    metric : {"euclidean", "cosine"}
    random_state : int, RandomState or Generator, optional
        Source of the sample. The same seed gives the same bits.

    Returns
    -------
    Silhouette
        ``mean``, ``standard_error``, ``rows`` and ``values``.

    Notes
    -----
    :math:`O(\text{n\_samples} \cdot \text{n\_others})` distances, 16 MB of them at a time. Sparse rows stay sparse.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis",
       Journal of Computational and Applied Mathematics 20, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.metrics import sampled_silhouette
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [90_000, 10_000])
    >>> X = rng.normal(size=(100_000, 2)) + 6 * labels[:, None]
    >>> found = sampled_silhouette(X, labels, n_others=2000)
    >>> round(found.mean, 2), found.standard_error < 0.01
    (0.8, True)
    """
    who = "sampled_silhouette"
    rows = _gate.as_matrix(X, who)
    _, codes = np.unique(_gate.as_column(labels, who), return_inverse=True)
    _gate.check_length(codes, rows.shape[0], "labels", who)
    sizes = np.bincount(codes)
    if not 1 < len(sizes) < len(codes):
        raise ValueError(
            f"{who}: labels must name at least 2 clusters and fewer than there are rows ({len(codes)}), "
            f"got {len(sizes)}."
        )
    rng = _engine.generator(random_state)
    measured = _draw(codes, sizes, n_samples, rng)
    others = np.arange(len(codes)) if n_others is None else _draw(codes, sizes, n_others, rng)
    others = others[np.argsort(codes[others], kind="stable")]  # clusters side by side, to be summed
    with one_blas_thread():
        values = _silhouettes(rows, codes, sizes, measured, others, metric)
    return Silhouette(*_estimate(values, codes[measured], sizes), measured, values)


def _draw(codes: Places, sizes: Places, n_rows: int, rng: np.random.Generator) -> Places:
    """About so many rows, of each cluster in proportion to the root of its size; ascending."""
    if n_rows >= len(codes):
        return np.arange(len(codes))
    by_cluster = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    wanted = zip(by_cluster, _quotas(sizes, n_rows), strict=True)
    return np.sort(np.concatenate([rng.choice(rows, n, replace=False) for rows, n in wanted]))


def _quotas(sizes: Places, n_rows: int) -> Places:
    """Rows to draw of each cluster, in proportion to the root of its size; all rows of clusters that are too small."""
    roots = np.sqrt(sizes)
    full = np.zeros(len(sizes), dtype=bool)
    while True:
        left = n_rows - sizes[full].sum()
        quotas = np.where(full, sizes, left * roots / max(roots[~full].sum(), 1.0))
        over = (quotas > sizes) & ~full
        if not over.any():
            return np.minimum(np.maximum(np.floor(quotas).astype(np.intp), _LEAST), sizes)
        full |= over


def _silhouettes(rows: Any, codes: Places, sizes: Places, measured: Places, others: Places, metric: str) -> Array:
    from sklearn.metrics.pairwise import cosine_distances, euclidean_distances

    distances = euclidean_distances if metric == "euclidean" else cosine_distances
    there = rows[others].astype(np.float64)
    middle = None if sparse.issparse(rows) or metric == "cosine" else there.mean(axis=0)
    there = there if middle is None else there - middle  # far from the origin, squares would drown differences
    starts = np.searchsorted(codes[others], np.arange(len(sizes)))
    counts = np.diff(np.append(starts, len(others)))
    values = np.zeros(len(measured))
    for part in slices(len(measured), max(1, _BLOCK // len(others))):
        places = measured[part]
        here = rows[places].astype(np.float64)
        away = distances(here if middle is None else here - middle, there)
        away[places[:, None] == others] = 0.0  # from itself
        sums, own = np.add.reduceat(away, starts, axis=1), codes[places]
        values[part] = _silhouette(sums, counts, own, np.isin(places, others), sizes)
    return values


def _silhouette(sums: Array, counts: Places, own: Places, is_there: NDArray[np.bool_], sizes: Places) -> Array:
    """From the sums of distances to each cluster; a row is no neighbour of its own."""
    row = np.arange(len(own))
    neighbours = counts[own] - is_there
    inside = sums[row, own] / np.maximum(neighbours, 1)
    means = sums / counts
    means[row, own] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    values: Array = np.where(larger > 0, (outside - inside) / np.where(larger > 0, larger, 1.0), 0.0)
    return np.where(sizes[own] == 1, 0.0, values)  # alone in its cluster


def _estimate(values: Array, own: Places, sizes: Places) -> tuple[float, float]:
    """The mean over all rows and its standard error, from samples of the clusters."""
    n_drawn = np.bincount(own, minlength=len(sizes))
    shares = sizes / sizes.sum()
    means = np.bincount(own, values, len(sizes)) / n_drawn
    squares = np.bincount(own, (values - means[own]) ** 2, len(sizes)) / np.maximum(n_drawn - 1, 1)
    unseen = 1.0 - n_drawn / sizes
    variance = np.sum(shares**2 * squares / n_drawn * unseen)
    return float(shares @ means), float(np.sqrt(variance))
