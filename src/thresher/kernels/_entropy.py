"""Landmarks that differ from one another: quadratic Renyi entropy, raised one swap at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._kernels._products import Array


def swaps(K: Array, n_chosen: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[np.intp], float]]:
    """Rows chosen out of a kernel matrix, at first the first ``n_chosen`` and then after every swap; each with the sum
    of their kernel values, which the entropy falls with:

        H(S) = -log(|S|^-2 sum_{ij in S} K_ij)

    Every other row is proposed once, in place of a random landmark i. With r_x = sum_{j in S} K_xj kept for all rows, a
    proposal c changes the sum by

        2 (r_c - K_ci) + K_cc - 2 r_i + K_ii

    and is accepted when that is below 0.   Jumutc (2016), fixed-size Nystroem approximation.
    """
    chosen = np.arange(n_chosen)
    row_sums = K[:, :n_chosen].sum(axis=1)
    total = float(row_sums[:n_chosen].sum())
    yield chosen.copy(), total
    candidates = range(n_chosen, len(K))
    for c, place in zip(candidates, rng.integers(n_chosen, size=len(candidates)), strict=True):
        i = chosen[place]
        change = 2 * (row_sums[c] - K[c, i]) + K[c, c] - 2 * row_sums[i] + K[i, i]
        if change < 0:
            row_sums += K[:, c] - K[:, i]
            total += float(change)
            chosen[place] = c
            yield chosen.copy(), total
