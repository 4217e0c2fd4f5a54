"""Fit of the scores of kernel spectral clustering to one line per cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import checked, fraction, one_of
from ._finite import finite_numbers


@checked(balance_weight=fraction, through=one_of("origin", "mean"))
def balanced_line_fit(
    scores: Any, labels: Any, *, degrees: Any = None, balance_weight: float = 0.1, through: str = "origin"
) -> float:
    r"""The balanced line fit: whether clusters are what kernel spectral clustering hopes for, without true labels.

    Where clusters are far apart, the scores of the rows of one cluster are multiples of one vector, by the degrees of
    the rows: each cluster is a line through the origin. With :math:`\zeta_1 \ge \dots \ge \zeta_m \ge 0` the
    eigenvalues of :math:`Z_p^\top Z_p`, where :math:`Z_p` are the scores of cluster p, the measure is

    .. math:: (1 - \eta)\, \frac1k \sum_{p=1}^k \frac{m}{m - 1} \Big(\frac{\zeta_1}{\sum_j \zeta_j} - \frac1m\Big)
              + \eta\, \frac{\min_p n_p}{\max_p n_p} ,

    between 0 and 1, the larger the better. Measure it on rows that the model has not learned from, and take the number
    of clusters and the width of the kernel where it is largest: :meth:`KernelSpectralClustering.score
    <thresher.cluster.KernelSpectralClustering.score>` is this measure.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_clusters - 1)
        Score variables. They say how many clusters there should be; one without rows fits nothing.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    degrees : array-like of shape (n_samples,), optional
        Sums of the kernel of each row with the training rows. Two clusters need them, as a single score is always on a
        line: they are the second coordinate, scaled to the size of the scores.
    balance_weight : float, default=0.1
        What clusters of equal size are worth (:math:`\eta`, or one minus it), between 0 and 1. From 0.25 on clusters
        that really differ in size may be cut into halves.
    through : {"origin", "mean"}, default="origin"
        Lines through the origin, or through the mean of each cluster as in [1]_, which forgets where lines should meet.

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
