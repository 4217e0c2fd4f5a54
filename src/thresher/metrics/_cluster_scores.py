"""Scores of clusterings: silhouettes of a sample, the fit of scores to lines, the distance of two partitions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _engine, _gate
from .._engine import one_blas_thread, slices
from .._gate import at_least, checked, fraction, none, one_of, seed, sparse
from ._finite import finite_numbers

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
        Standard error of that estimate due to the choice of rows; 0 if all were measured.
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
    r"""Estimate the mean silhouette of all rows from a sample of each cluster.

    The silhouette of a row is :math:`(b - a) / \max(a, b)` with the mean distance *a* from the rows of its own cluster
    and *b* from those of the nearest other [1]_: 1 far inside, 0 on a border, below 0 in a wrong cluster. Silhouettes
    of all rows need the distance of every pair of rows; a sample of 1,000 is accurate enough in practice, and comes
    with a standard error.

    Rows are drawn from each cluster in proportion to the square root of its size, so that small clusters are
    represented; the mean weights clusters by their sizes. If all rows are sampled, this is scikit-learn's
    :func:`~sklearn.metrics.silhouette_samples`.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least 2 different ones, and fewer than rows.
    n_samples : int, default=1000
        Rows to measure; at least two of each cluster are.
    n_others : int, optional
        Number of rows to which distances are measured, drawn from the clusters in the same way; by default all. With a
        number, the cost no longer grows with the data, but cluster means are less exact, and because *b* is a minimum
        of several means, silhouettes are slightly too low.
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
    there = there if middle is None else there - middle  # else squares lose digits
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


@checked(balance_weight=fraction, through=one_of("origin", "mean"))
def balanced_line_fit(
    scores: Any, labels: Any, *, degrees: Any = None, balance_weight: float = 0.1, through: str = "origin"
) -> float:
    r"""Compute the balanced line fit of clusters found by kernel spectral clustering; it needs no true labels.

    If clusters are well separated, the scores of the rows of a cluster are multiples of one vector, in proportion to
    the degrees of the rows: each cluster is a line through the origin. With :math:`\zeta_1 \ge \dots \ge \zeta_m \ge 0`
    the eigenvalues of :math:`Z_p^\top Z_p`, where :math:`Z_p` are the scores of cluster p, the measure is

    .. math:: (1 - \eta)\, \frac1k \sum_{p=1}^k \frac{m}{m - 1} \Big(\frac{\zeta_1}{\sum_j \zeta_j} - \frac1m\Big)
              + \eta\, \frac{\min_p n_p}{\max_p n_p} ,

    between 0 and 1; larger is better. Measure it on rows that the model has not learned from, and choose the number of
    clusters and the width of the kernel that maximise it: :meth:`KernelSpectralClustering.score
    <thresher.cluster.KernelSpectralClustering.score>` is this measure.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_clusters - 1)
        Score variables. Their number determines the number of clusters; a cluster without rows has a fit of 0.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    degrees : array-like of shape (n_samples,), optional
        Sums of the kernel of each row with the training rows. Required for two clusters, because a single score is
        always on a line; degrees are then the second coordinate, scaled to the size of the scores.
    balance_weight : float, default=0.1
        Weight of equal cluster sizes (:math:`\eta`), between 0 and 1. From 0.25 on, it may favour cutting a large
        cluster into halves.
    through : {"origin", "mean"}, default="origin"
        Lines through the origin, or through the mean of each cluster as in [1]_, which ignores where lines should meet.

    References
    ----------
    .. [1] C. Alzate and J. Suykens, "Multiway spectral clustering with out-of-sample extensions through weighted kernel
       PCA", IEEE Transactions on Pattern Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> from thresher.metrics import balanced_line_fit
    >>> scores = [[1.0, 1.0], [2.0, 2.0], [-1.0, 1.0], [-3.0, 3.0], [0.0, -1.0], [0.0, -2.0]]
    >>> balanced_line_fit(scores, [0, 0, 1, 1, 2, 2])
    1.0
    >>> round(balanced_line_fit(scores, [0, 1, 1, 1, 2, 2]), 3)
    0.762
    """
    who = "balanced_line_fit"
    Z = finite_numbers(who, "scores", scores, 2)
    if not Z.size:
        raise ValueError(f"{who}: scores must hold at least one number, got shape {Z.shape}.")
    codes = np.asarray(labels)
    if codes.shape != (len(Z),):
        raise ValueError(f"{who}: labels must be one per row, {len(Z)}, got shape {codes.shape}.")
    n_clusters = Z.shape[1] + 1
    codes = np.unique(codes, return_inverse=True)[1]
    if codes.max() >= n_clusters:
        raise ValueError(f"{who}: labels must be of at most {n_clusters} clusters, got {codes.max() + 1}.")
    if n_clusters == 2:
        Z = _with_degrees(who, Z, degrees)
    fit = sum(_fit(Z[codes == p], through) for p in range(n_clusters)) / n_clusters
    sizes = np.bincount(codes, minlength=n_clusters)
    return float((1 - balance_weight) * fit + balance_weight * sizes.min() / sizes.max())


def _fit(Z: NDArray[np.float64], through: str) -> float:
    """Measure how close points are to a line, from 0 (no direction, or all of them equally) to 1."""
    Z = Z - Z.mean(axis=0) if through == "mean" and len(Z) else Z
    if not Z.any():
        return 0.0
    Z = Z / np.abs(Z).max()  # squares of no size leave the range of numbers
    zeta = np.maximum(np.linalg.eigvalsh(Z.T @ Z), 0.0)
    m = len(zeta)
    return float(m / (m - 1) * (zeta[-1] / zeta.sum() - 1 / m))


def _with_degrees(who: str, Z: NDArray[np.float64], degrees: Any) -> NDArray[np.float64]:
    """Scores of two clusters beside degrees of their size: as large as they are, degrees would outweigh them."""
    if degrees is None:
        raise ValueError(f"{who}: degrees must be given for two clusters, as one score is always on a line.")
    d = finite_numbers(who, "degrees", degrees, 1)
    if len(d) != len(Z):
        raise ValueError(f"{who}: degrees must be one per row, {len(Z)}, got {len(d)}.")
    Z, d = (values / (np.abs(values).max() or 1.0) for values in (Z, d))
    length = np.linalg.norm(d)
    return np.column_stack([Z, d * (np.linalg.norm(Z) / length if length > 0 else 0.0)])


def variation_of_information(labels_true: Any, labels_pred: Any) -> float:
    r"""Compute the variation of information, a distance between two partitions of the same rows, in nats.

    .. math::

        H(U \mid V) + H(V \mid U) = \sum_{ij} p_{ij} \left(\log \frac{p_i}{p_{ij}} + \log \frac{q_j}{p_{ij}}\right)

    It is the information about each partition that the other does not provide [1]_. It is a metric: 0 for equal
    partitions under any labels, symmetric, and it satisfies the triangle inequality. It is at most :math:`\log n`, so
    you can compare values for partitions of one set of rows, but not between data sets. Note that few clusters score
    well if class sizes are uneven: a single cluster of all rows has the entropy of the classes. scikit-learn's
    :func:`~sklearn.metrics.adjusted_rand_score` is 0 there.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The part that each row belongs to, as labels of any kind.

    Returns
    -------
    float
        0 for equal partitions.

    References
    ----------
    .. [1] M. Meila, "Comparing clusterings: an information based distance", Journal of Multivariate Analysis 98, 2007.

    Examples
    --------
    >>> from thresher.metrics import variation_of_information
    >>> variation_of_information(["a", "a", "b", "b"], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 0, 0, 0]), 4)  # log 2: one bit is lost
    0.6931
    """
    who = "variation_of_information"
    first, second = _codes(labels_true, "labels_true", who), _codes(labels_pred, "labels_pred", who)
    if len(first) != len(second):
        raise ValueError(
            f"{who}: labels_true and labels_pred must be labels of the same rows, got {len(first)} and {len(second)}."
        )
    if not len(first):
        raise ValueError(f"{who}: labels_true must have at least one label, got none.")
    cells = sparse.coo_array((np.ones(len(first)), (first, second))).tocsr().tocoo()  # cells that hold rows, no others
    i, j = cells.coords
    here, shared = np.log(np.bincount(first)), np.log(cells.data)
    there = np.log(np.bincount(second))
    terms = cells.data * ((here[i] - shared) + (there[j] - shared))
    return math.fsum(terms) / len(first)  # an exact sum, so that no order of the labels counts


def _codes(labels: Any, name: str, who: str) -> NDArray[np.intp]:
    """Labels of any kind as 0, 1, ..."""
    values = np.asarray(labels) if isinstance(labels, np.ndarray) else _listed(labels)
    if values.ndim != 1:
        raise ValueError(f"{who}: {name} must be one label per row, got an array of shape {values.shape}.")
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].ravel()
    places: dict[Any, int] = {}
    try:
        return np.array([places.setdefault(value, len(places)) for value in values.tolist()], dtype=np.intp)
    except TypeError:
        raise ValueError(f"{who}: {name} must be numbers or text, got lists.") from None


def _listed(labels: Any) -> NDArray[Any]:
    """Convert labels to an array in which 1 and "1" stay different."""
    try:
        values = np.asarray(labels)
    except ValueError:  # rows of different lengths
        return np.array([*labels, None], dtype=object)[:-1]
    if values.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        return np.array(labels, dtype=object)
    return values
