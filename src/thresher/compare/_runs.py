"""What runs share: copies with seeds of their own, and which features a fitted model uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from ..inspection import last_step
from ..tuning import weights_of


def with_seed(estimator: Any, number: int) -> Any:
    """A copy in which every ``random_state``, at any depth, is that number."""
    copy = clone(estimator)
    names = [n for n in copy.get_params(deep=True) if n == "random_state" or n.endswith("__random_state")]
    return copy.set_params(**dict.fromkeys(names, number))


def chosen(model: Any) -> tuple[NDArray[np.intp], NDArray[np.float64] | None, int] | None:
    """The features in use, the signs of their weights, and how many features there are; None where nothing tells."""
    weights = weights_of(model)
    if weights is not None:
        weights = np.atleast_2d(weights.toarray() if sparse.issparse(weights) else weights)
        columns = np.flatnonzero((weights != 0).any(axis=0))
        return columns, np.sign(weights[0, columns]) if len(weights) == 1 else None, weights.shape[1]
    learner = last_step(model)
    if hasattr(learner, "get_support"):
        mask = np.asarray(learner.get_support())
    elif hasattr(learner, "support_") and not hasattr(learner, "support_vectors_"):
        mask = np.asarray(learner.support_)
    else:
        return None
    if mask.dtype == bool:
        return np.flatnonzero(mask), None, len(mask)
    return mask, None, int(learner.n_features_in_)
