"""Distance between two partitions of the same rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def variation_of_information(labels_true: Any, labels_pred: Any) -> float:
    r"""Distance between two partitions of the same rows, in nats.

    .. math::

        H(U \mid V) + H(V \mid U) = \sum_{ij} p_{ij} \left(\log \frac{p_i}{p_{ij}} + \log \frac{q_j}{p_{ij}}\right)

    The information that one partition leaves unknown of the other, in both directions [1]_. It is a metric: 0 for equal
    partitions whatever their labels are called, symmetric, and never longer by way of a third. It is at most
    :math:`\log n`, so that values compare between partitions of one set of rows, not between data sets. Mind that few
    clusters score well where classes are uneven: one cluster of all rows has the entropy of the classes, and no more.
    scikit-learn's :func:`~sklearn.metrics.adjusted_rand_score` is 0 there.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The part each row belongs to, by any names.

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
        raise ValueError(f"{who}: {name} must be numbers or words, got lists among them.") from None


def _listed(labels: Any) -> NDArray[Any]:
    """As an array that leaves 1 and "1" what they are."""
    try:
        values = np.asarray(labels)
    except ValueError:  # rows of different lengths
        return np.array([*labels, None], dtype=object)[:-1]
    if values.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        return np.array(labels, dtype=object)
    return values
