"""What a model answers to rows, and of which kind that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import one_blas_thread


def answer(model: Any, method: str, X: Any, like: NDArray[Any]) -> NDArray[Any]:
    """What the model says of some rows; of no rows, nothing that looks like `like`."""
    if not X.shape[0]:
        return np.empty((0, *like.shape[1:]), dtype=like.dtype)
    with one_blas_thread():
        return np.asarray(getattr(model, method)(X))


def kind_of_answer(model: Any, method: str, X: Any) -> NDArray[Any]:
    """The answer to one row, which shows shape and type of all others."""
    said: NDArray[Any] = np.asarray(getattr(model, method)(X))
    return said
