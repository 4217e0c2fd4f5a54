"""Landmarks: a random sample of rows that come one after another, and swaps that make it more diverse.

The sample are the rows whose keys, drawn from a seed and the number of the row, are smallest. Which rows these are does
not depend on how the rows were cut into batches. Swaps raise the quadratic Renyi entropy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import beside, is_foreign_array, namespace, sparse
from ._kernel import Kernel
from ._kernel_blocks import parts
from ._products import Array

Keys = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def keys(seed: int, indices: NDArray[np.int64]) -> Keys:
    """A random number for every row, all of them different: the generator splitmix64, begun at the seed, at step i."""
    z = np.uint64(seed) + (indices.astype(np.uint64) + np.uint64(1)) * _STEP  # modulo 2^64, as unsigned numbers are
    z = (z ^ (z >> np.uint64(30))) * _FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * _FACTORS[1]
    return z ^ (z >> np.uint64(31))


def first(seed: int, indices: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """The places of the ``size`` smallest keys, smallest first."""
    drawn = keys(seed, indices)
    if size < len(drawn):
        places = np.flatnonzero(drawn <= np.partition(drawn, size - 1)[size - 1])
    else:
        places = np.arange(len(drawn))
    return places[np.argsort(drawn[places])]


def stacked(rows: Any, more: Any) -> Any:
    """Rows below rows, in the layout of the first."""
    if is_foreign_array(rows):
        return namespace(rows).concat([rows, beside(more, rows)])
    if not sparse.issparse(rows):
        return np.vstack([rows, more.toarray() if sparse.issparse(more) else more])
    both = sparse.vstack([rows, sparse.csr_array(more)], format="csr")
    return sparse.csr_array(both)


def is_sample(seed: int, indices: NDArray[Any], size: int, n_rows: int) -> bool:
    """Whether ``indices`` may be a sample of that size of so many rows, as :func:`first` orders it."""
    if len(indices) != size or not are_places(indices, n_rows):
        return False
    return np.array_equal(first(seed, indices, size), np.arange(size))


def are_places(indices: NDArray[Any], n_rows: int) -> bool:
    """Whether there is at least one index, and each is of another row."""
    return (
        len(indices) > 0 and indices.min() >= 0 and indices.max() < n_rows and len(np.unique(indices)) == len(indices)
    )


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
