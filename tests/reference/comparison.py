"""Tests of two learners over runs, one number at a time."""

from __future__ import annotations

import math

from scipy import integrate, special


def t_test(a: list[float], b: list[float], n_train: float | None = None, n_test: float | None = None) -> float:
    """Two-sided p-value. With rows per run, the corrected resampled t-test of Nadeau and Bengio (2003)."""
    n = len(a)
    differences = [x - y for x, y in zip(a, b, strict=True)]
    mean = math.fsum(differences) / n
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    factor = 1 / n if n_train is None else 1 / n + n_test / n_train
    t = mean / math.sqrt(factor * variance)
    return 2 * _tail(abs(t), n - 1)


def _tail(t: float, freedom: int) -> float:
    """Student's density from t on, integrated."""
    scale = special.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * special.gamma(freedom / 2))
    area, _ = integrate.quad(
        lambda u: scale * (1 + u * u / freedom) ** (-(freedom + 1) / 2), 0, t, epsabs=1e-13, epsrel=1e-13
    )
    return 0.5 - area


def holm(p_values: list[float]) -> list[float]:
    """The least level at which each is refused by the step-down procedure, found by trying all levels that matter."""
    m = len(p_values)
    levels = sorted({0.0, 1.0, *(min(1.0, k * p) for k in range(1, m + 1) for p in p_values)})
    found = [1.0] * m
    for level in reversed(levels):
        for i in _refused(p_values, level):
            found[i] = level
    return found


def _refused(p_values: list[float], level: float) -> list[int]:
    rising = sorted(range(len(p_values)), key=lambda i: p_values[i])
    refused = []
    for place, i in enumerate(rising):
        if p_values[i] > level / (len(rising) - place) * (1 + 1e-12):
            break
        refused.append(i)
    return refused
