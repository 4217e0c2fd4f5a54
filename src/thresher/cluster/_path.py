"""Paths of sparse centres: K-means at several penalties, each begun where the one before ended."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._estimators import clone
from .._gate import at_least, check_value, non_negative, sparse
from .._kernels import Array
from ._sparse_kmeans import SparseKMeans

_SMALLEST = 1e-3  # of a grid, as part of the penalty that leaves nothing


class CentrePath(NamedTuple):
    """Clusters at several penalties, smallest first.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Penalties.
    centres : list of csr_array of shape (n_clusters, n_features)
        The centres at each.
    labels : ndarray of shape (n_alphas, n_samples)
        The cluster of each row.
    n_features_used : ndarray of shape (n_alphas,)
        Features that any centre uses.
    n_nonzero : ndarray of shape (n_alphas,)
        Values of all centres that are not 0.
    inertia : ndarray of shape (n_alphas,)
        The objective, penalty included.
    distortion : ndarray of shape (n_alphas,)
        The objective without the penalty: how far rows are from the centres of their clusters.
    """

    alphas: Array
    centres: list[Any]
    labels: NDArray[np.int32]
    n_features_used: NDArray[np.intp]
    n_nonzero: NDArray[np.intp]
    inertia: Array
    distortion: Array


def centre_path(X: Any, model: SparseKMeans | None = None, alphas: int | Sequence[float] = 10) -> CentrePath:
    """Fit sparse K-means at several penalties, to help choose one.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    model : SparseKMeans, optional
        Parameters for all fits; its ``alpha`` is ignored.
    alphas : int or list of float, default=10
        Penalties, or their number, evenly spaced on a log scale up to the largest value in the centres of plain
        K-means, where almost all values become 0.

    Returns
    -------
    CentrePath

    Notes
    -----
    The first penalty starts as the model specifies, and each later one at the previous centres, which takes few steps.
    Clusters may become empty towards the end of the path.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.cluster import SparseKMeans, centre_path
    >>> rng = np.random.default_rng(0)
    >>> X = 0.5 * rng.normal(size=(300, 50))
    >>> X[:150, 7] += 3
    >>> path = centre_path(X, SparseKMeans(2, random_state=0), alphas=[0.0, 0.05, 0.2])
    >>> path.n_features_used
    array([50, 19,  1])
    """
    model = SparseKMeans() if model is None else model
    if not isinstance(model, SparseKMeans):
        raise ValueError(f"centre_path: model must be a SparseKMeans, got {type(model).__name__}.")
    steps = _grid(X, model, alphas)
    found: list[SparseKMeans] = []
    start: Any = model.init
    for alpha in steps:
        one = clone(model).set_params(alpha=float(alpha), init=start, n_init=1 if found else model.n_init)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "SparseKMeans: only")
            found.append(one.fit(X))
        start = one.cluster_centers_
    factor = 1.0 if model.metric == "cosine" else 2.0
    paid = [factor * one.alpha * (one.cluster_weights_ @ np.abs(one.cluster_centers_).sum(axis=1)) for one in found]
    inertia = np.array([one.inertia_ for one in found])
    return CentrePath(
        steps,
        [sparse.csr_array(one.cluster_centers_) for one in found],
        np.stack([one.labels_ for one in found]),
        np.array([len(one.support_) for one in found]),
        np.array([np.count_nonzero(one.cluster_centers_) for one in found]),
        inertia,
        inertia - np.array(paid),
    )


def _grid(X: Any, model: SparseKMeans, alphas: Any) -> Array:
    if not np.ndim(alphas):
        check_value("centre_path", "alphas", alphas, at_least(1))
        plain = clone(model).set_params(alpha=0.0).fit(X)
        means = plain._sums / np.where(plain.cluster_weights_ > 0, plain.cluster_weights_, 1.0)[:, None]
        largest = float(np.abs(means).max()) or 1.0
        return np.geomspace(_SMALLEST * largest, largest, int(alphas)) if alphas > 1 else np.array([largest])
    if not len(alphas):
        raise ValueError("centre_path: alphas must hold a penalty, got none.")
    for alpha in alphas:
        check_value("centre_path", "alphas", alpha, non_negative)
    return np.sort(np.asarray(alphas, dtype=np.float64))
