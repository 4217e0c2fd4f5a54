"""Bins that adapt to the scores they count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PER_OCTAVE = 16
OCTAVES = 15  # below the largest size of a score; what is smaller shares PER_OCTAVE bins of one width
PER_SIGN = PER_OCTAVE * (OCTAVES + 1)
ZERO = PER_SIGN  # the place of the bin of exactly 0; bins are in rising order of scores
N_BINS = 2 * PER_SIGN + 1
_ALL_MERGED = OCTAVES + PER_OCTAVE.bit_length()  # octaves up, after which each side is one bin


def top_of(scores: Array) -> int:
    """The power of two above all sizes of scores."""
    return int(np.frexp(np.max(np.abs(scores)))[1])


def bins_of(scores: Array, top: int) -> NDArray[np.intp]:
    """The bin of every score, of bins whose outermost ends are -2^top and 2^top.

    Each octave has the same number of bins of equal width, so that bins are 3 to 6 % of a score wide; the bins around 0
    are as wide as those of the lowest octave.
    """
    sizes = np.abs(scores)
    fraction, power = np.frexp(sizes)  # size = fraction 2^power, 1/2 <= fraction < 1
    octave = power - (top - OCTAVES)
    around_0 = np.ldexp(sizes, OCTAVES - top) * PER_OCTAVE
    step = np.where(octave > 0, (2 * PER_OCTAVE) * fraction, around_0).astype(np.intp)  # products by 2^i are exact
    place = np.where(octave > 0, (octave - 1) * PER_OCTAVE, 0) + step
    return np.where(scores == 0, ZERO, np.where(scores > 0, ZERO + 1 + place, ZERO - 1 - place))


def raise_top(counts: Array, octaves: int) -> None:
    """Make counts of shape (n, N_BINS) those of bins whose ends are so many octaves further out, in place.

    Every new bin is made of whole old ones, so the counts are what they would be had all scores been binned like this.
    """
    for _ in range(min(octaves, _ALL_MERGED)):
        for side in (counts[:, ZERO + 1 :], counts[:, ZERO - 1 :: -1]):  # from 0 outwards
            merged = side[:, : 2 * PER_OCTAVE].reshape(len(side), PER_OCTAVE, 2).sum(axis=2)
            side[:, PER_OCTAVE:-PER_OCTAVE] = side[:, 2 * PER_OCTAVE :].copy()
            side[:, :PER_OCTAVE] = merged
            side[:, -PER_OCTAVE:] = 0


def precision_of(positives: Array, negatives: Array, least: float) -> tuple[Array, Array, Array]:
    r"""Of each bin with positive rows, what it adds to the average precision: at least, probably, and at most.

    Let A positive and B rows of either kind stand above a bin, that holds p positive and n negative rows. The
    precision at a positive row is at most (A + p) / (B + p), reached if all of them tie above the negative ones. It is
    lowest if they come one by one below: (A + i) / (B + n + i) for the i-th, which is concave in i, so their sum is at
    least the integral from h to p + h with h half a row. Probably, rows are in random order; the sum over the places of
    the bin is again taken as an integral. Rows that score exactly 0 are a tie, and known.

    Parameters
    ----------
    positives, negatives : ndarray of shape (N_BINS,)
        Rows of either kind, in rising order of scores.
    least : float
        The smallest weight of a positive row, 1 for rows without weights.
    """
    down = slice(None, None, -1)
    used = np.flatnonzero(positives[down])
    p, n = positives[down][used], negatives[down][used]
    A, B = (np.cumsum(sums[down])[used] for sums in (positives, positives + negatives))
    A, B, rows, worse = A - p, B - p - n, p + n, B - p
    lowest = p - (worse - A) * np.log1p(p / (worse + least / 2))
    highest = p * (A + p) / (B + p)
    others = rows - least
    slope = np.divide(p - least, others, out=np.zeros_like(others), where=others > 0)  # of positives along the bin
    first = A + least - slope * (least + B)
    middle = p * (slope + first / rows * np.log1p(rows / (B + least / 2)))
    tie = used == N_BINS - 1 - ZERO
    for bound in (lowest, highest, middle):
        bound[tie] = (p * (A + p) / (B + rows))[tie]
    return lowest, np.clip(middle, lowest, highest), highest
