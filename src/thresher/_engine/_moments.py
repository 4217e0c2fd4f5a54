"""Moments of columns, of one set of rows or of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._core import Rows, measure_rows
from .._gate import Array
from ._shard_rounds import Sums


def joint_moments(a: Sequence[Array], b: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Count, mean and squared deviations of two sets of values, column by column.

    Means differ by d:   mean = mean_a + d n_b / n,   m2 = m2_a + m2_b + d^2 n_a n_b / n.   Chan, Golub, LeVeque (1979).
    Nothing large is subtracted, so that columns such as 1e8 ± 1 keep their deviation.
    """
    (n_a, mean_a, m2_a), (n_b, mean_b, m2_b) = a, b
    n = n_a + n_b
    share = n_b / np.maximum(n, 1.0)
    d = mean_b - mean_a
    return n, mean_a + d * share, m2_a + m2_b + d * d * (n_a * share)


def moments_of(rows: Rows) -> Sums:
    """The number of rows, and of each column mean, squared deviations and values other than 0."""
    mean, m2, count = (np.zeros(rows.n_features) for _ in range(3))
    measure_rows(rows, np.arange(rows.n_rows), 0, mean, m2, count)
    return {"n": np.array([float(rows.n_rows)]), "mean": mean, "m2": m2, "count": count}


def joined(a: Sums, b: Sums) -> Sums:
    """The moments of all rows of two sets."""
    n, mean, m2 = joint_moments([a[name] for name in ("n", "mean", "m2")], [b[name] for name in ("n", "mean", "m2")])
    return {"n": n, "mean": mean, "m2": m2, "count": a["count"] + b["count"]}
