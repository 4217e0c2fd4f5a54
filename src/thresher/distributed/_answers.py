"""What a model answers to rows, and of which kind that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._threads import one_blas_thread


def answer(model: Any, method: str, X: Any, like: NDArray[Any]) -> NDArray[Any]:
    """What the model says of some rows, in the type of `like`; of no rows, nothing."""
    if not X.shape[0]:
        return np.empty((0, *like.shape[1:]), dtype=like.dtype)
    with one_blas_thread():
        return np.asarray(getattr(model, method)(X), dtype=like.dtype)


def kind_of_answer(model: Any, method: str, X: Any) -> NDArray[Any]:
    """The answer to one row, as a model of all others; words may be longer elsewhere."""
    said: NDArray[Any] = np.asarray(getattr(model, method)(X))
    if said.dtype.kind == "U":
        said = said.astype(getattr(model, "classes_", said).dtype if method == "predict" else object)
    return said
