"""Arrays of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import as_csr, sparse


def finite_numbers(who: str, name: str, values: Any, *dimensions: int) -> NDArray[np.float64]:
    """Convert an argument to an array of some number of dimensions, or refuse it."""
    if sparse.issparse(values):
        values = (as_csr(values, who) if values.ndim == 2 else values).toarray()
    array = np.asarray(values)
    if array.ndim not in dimensions or array.dtype.kind not in "biuf":
        allowed = f"{' or '.join(map(str, dimensions))} dimension{'' if dimensions == (1,) else 's'}"
        raise ValueError(f"{who}: {name} must be numbers in {allowed}, got {array.dtype} of shape {array.shape}.")
    numbers: NDArray[np.float64] = array.astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{who}: {name} must hold finite numbers, got {numbers[~np.isfinite(numbers)][0]}.")
    return numbers
