"""Landmarks that differ from one another: quadratic Renyi entropy, raised one swap at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernel import Kernel
from ._kernel_blocks import parts
from ._products import Array

Places = NDArray[np.int64]


def swaps(kernel: Kernel, rows: Any, n_chosen: int, places: Places) -> Iterator[tuple[NDArray[np.intp], float]]:
    """Rows chosen out of ``rows``, at first the first ``n_chosen`` and then after every swap; each with the sum of
    their kernel values, which the entropy falls with:

        H(S) = -log(|S|^-2 sum_{ij in S} K_ij)

    Every other row c is proposed once, in place of the landmark i at the place given for it. With
    r_x = sum_{j in S} K_xj kept for the landmarks and for a block of candidates, a proposal changes the sum by

        2 (r_c - K_ci) + K_cc - 2 r_i + K_ii

    and is accepted when that is below 0. A candidate costs |S| kernel values, a swap one for every candidate of its
    block.   Jumutc (2016), fixed-size Nystroem approximation.
    """
    chosen = np.arange(n_chosen)
    K = kernel(rows[:n_chosen])
    total = float(K.sum())
    yield chosen.copy(), total
    for part in parts(len(places), n_chosen):
        block = rows[n_chosen + part.start : n_chosen + part.stop]
        proposals = _Proposals(kernel, block, rows[chosen], K)
        for c, place in enumerate(places[part].tolist()):
            change = proposals.change(c, place)
            if change < 0:
                proposals.accept(c, place)
                total += change
                chosen[place] = n_chosen + part.start + c
                yield chosen.copy(), total


class _Proposals:
    """A block of candidates and the landmarks, with all their kernel values but those among candidates."""

    def __init__(self, kernel: Kernel, block: Any, landmarks: Any, K: Array) -> None:
        self._kernel, self._block, self._K = kernel, block, K
        self._candidates = kernel(block, landmarks)  # K_cj
        self._own = kernel.diagonal(block)  # K_cc
        self._sums, self._landmark_sums = self._candidates.sum(axis=1), K.sum(axis=1)  # r_c, r_i

    def change(self, c: int, place: int) -> float:
        """The change of the sum of all kernel values when c takes a place."""
        gained = 2 * (self._sums[c] - self._candidates[c, place]) + self._own[c]
        return float(gained - 2 * self._landmark_sums[place] + self._K[place, place])

    def accept(self, c: int, place: int) -> None:
        row = self._candidates[c].copy()
        row[place] = self._own[c]
        self._landmark_sums += row - self._K[place]
        self._landmark_sums[place] = row.sum()
        self._K[place] = self._K[:, place] = row
        with_c = self._kernel._against(self._block[c : c + 1])(self._block)[:, 0]
        self._sums += with_c - self._candidates[:, place]
        self._candidates[:, place] = with_c
