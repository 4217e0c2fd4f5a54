"""Paired t-tests between learners, for runs that may overlap."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._gate import special

_Key = TypeVar("_Key", bound=Hashable)
_ROUNDING = 8 * np.finfo(float).eps


def paired_t_test(a: NDArray[np.float64], b: NDArray[np.float64], test_ratio: float = 0.0) -> float:
    """Return the two-sided p-value of equal means, of scores that belong together run by run.

        t = mean(a - b) / sqrt((1 / n + test_ratio) var(a - b)),    n - 1 degrees of freedom

    With ``test_ratio`` = 0 the plain paired t-test; with the number of test rows over that of training rows the
    corrected one, for runs whose training rows overlap (Nadeau and Bengio, Machine Learning 52 (2003), Section 3).
    """
    differences = a - b
    differences[np.abs(differences) <= _ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0  # equal but for the last bits
    mean, n = float(differences.mean()), len(differences)
    if mean == 0:
        return 1.0
    variance = (1 / n + test_ratio) * float(differences.var(ddof=1))
    t = np.inf if variance == 0 else abs(mean) / np.sqrt(variance)
    return float(2 * special.stdtr(n - 1, -t))


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Correct p-values so that chance alone puts any of them below a level no more often than that level says.

    The smallest of m is taken m times, the next m - 1 times and so on, never less than the one before (Holm,
    Scandinavian Journal of Statistics 6 (1979)).
    """
    rising: list[Any] = sorted(p_values, key=lambda key: p_values[key])
    corrected, floor = {}, 0.0
    for place, key in enumerate(rising):
        floor = max(floor, min(1.0, (len(rising) - place) * p_values[key]))
        corrected[key] = floor
    return {key: corrected[key] for key in p_values}
