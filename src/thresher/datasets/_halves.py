"""Labels of generated rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNLABELLED = -1


def halves(n: int) -> NDArray[np.int64]:
    """Return classes 0 and 1 for half of the rows each; an odd row is of class 1."""
    return (np.arange(n) >= n // 2).astype(np.int64)
