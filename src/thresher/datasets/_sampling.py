"""Rows in a chosen ratio of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length, indexable

from .._engine import generator
from .._gate import Rule, checked, positive, seed

_RATIO = Rule("a number of at least 1", lambda v: positive.holds(v) and v >= 1)


@checked(k=_RATIO, random_state=seed)
def sample_one_to_k(X: Any, y: Any, k: float = 10, *, rare: Any = None, random_state: Any = None) -> tuple[Any, Any]:
    """Draw rows with k rows of one class for each row of the other.

    All rows of the rare class are kept and k times as many of the other. If there are not that many, all rows of the
    other class are kept and as many rare ones as fit, so a frequent class can be made rare, as in [1]_.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or list of length n_samples
    y : array-like of shape (n_samples,)
        Labels of two classes.
    k : float, default=10
        Rows of the other class for each rare one; their total is rounded.
    rare : label, optional
        The class to make rare; by default the less frequent one, or the second if both are equally frequent.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y
        The rows drawn, in their original order.

    References
    ----------
    .. [1] Y. Liu et al., "Adaptive sparse confidence-weighted learning for online feature selection", AAAI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.datasets import sample_one_to_k
    >>> X, y = np.arange(100).reshape(50, 2), np.repeat([0, 1], [45, 5])
    >>> np.bincount(sample_one_to_k(X, y, k=4, random_state=0)[1]).tolist()
    [20, 5]
    >>> np.bincount(sample_one_to_k(X, y, k=4, rare=0, random_state=0)[1]).tolist()
    [1, 5]
    """
    who = "sample_one_to_k"
    check_consistent_length(X, y)
    X, _ = indexable(X, None)  # a sparse matrix of any format is made one of rows
    labels = np.asarray(y)
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) != 2:
        raise ValueError(f"{who}: y must hold two classes, got {len(classes)}.")
    if rare is not None and rare not in classes:
        raise ValueError(f"{who}: rare must be one of {classes.tolist()}, got {rare!r}.")
    place = int(counts[1] <= counts[0]) if rare is None else int(np.flatnonzero(classes == rare)[0])
    n_rare, n_other = int(counts[place]), int(counts[1 - place])
    if k * n_rare <= n_other:
        n_other = round(k * n_rare)
    elif (n_rare := round(n_other / k)) == 0:
        raise ValueError(f"{who}: k must be at most the {n_other} rows of class {classes[1 - place]!r}, got {k!r}.")
    rng = generator(random_state)
    drawn = [
        rng.choice(np.flatnonzero(labels == classes[c]), n, replace=False)
        for c, n in ((place, n_rare), (1 - place, n_other))
    ]
    rows = np.sort(np.concatenate(drawn))
    return _safe_indexing(X, rows), _safe_indexing(y, rows)
