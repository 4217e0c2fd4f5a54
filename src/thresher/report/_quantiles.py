"""The quantiles of 95 % intervals. Importing SciPy's special functions takes longer than all else in a short report."""

from __future__ import annotations

from math import atan, cos, exp, lgamma, pi, sin, sqrt, tan

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # the normal quantile


def quantile_of_sorted(values: NDArray[np.float64], share: float) -> float:
    """Return a quantile of sorted values as ``np.quantile`` does, which imports ``numpy.ma``."""
    place = share * (len(values) - 1)
    below = int(place)
    low, high = float(values[below]), float(values[min(below + 1, len(values) - 1)])
    rest = place - below
    return low + (high - low) * rest if rest < 0.5 else high - (high - low) * (1 - rest)


def student_quantile(df: int) -> float:
    """Return what Student's t with ``df`` degrees of freedom exceeds with probability 0.025, to ten digits.

    The expansion around the normal quantile and, if it does not suffice, Newton's method for the angle whose tangent
    is the quantile over sqrt(df) (Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 to 26.7.5).
    """
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    t = Z + sum(term / df**power for power, term in enumerate(terms, 1))
    if df > 100:
        return t
    angle = atan(t / sqrt(df))
    density = 2 * exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(pi)
    for _ in range(6):
        angle -= (_within(angle, df) - 0.95) / (density * cos(angle) ** (df - 1))
    return sqrt(df) * tan(angle)


def _within(angle: float, df: int) -> float:
    """The probability that abs(t) is at most sqrt(df) tan(angle)."""
    odd, term, total = df % 2, 1.0, 0.0
    for k in range(2 + odd, df + 1 + odd, 2):
        total += term
        term *= cos(angle) ** 2 * (k - 1) / k
    return 2 / pi * (angle + sin(angle) * cos(angle) * total) if odd else sin(angle) * total
