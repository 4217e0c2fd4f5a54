"""Visiting orders. The core has no random generator: all random choices of a pass are made here and passed as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]

_BLOCK = 64  # rows that stay together, which is what memory is fast at
_PIECE = 1024  # blocks that are handed over at once


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def are_mixed(codes: NDArray[np.float64]) -> bool:
    """Whether labels change from row to row at least half as often as in a random order."""
    n_changes = np.count_nonzero(codes[1:] != codes[:-1])
    n_codes = float(codes.max()) + 1.0
    if 2 * n_changes > (len(codes) - 1) * (1.0 - 1.0 / n_codes):  # enough for equal shares, which change most often
        return True
    shares = np.bincount(codes.astype(np.int64)) / len(codes)
    expected = (len(codes) - 1) * (1.0 - np.sum(shares**2))
    return bool(2 * n_changes >= expected)


def blocked_shuffle(n_rows: int, rng: np.random.Generator) -> Iterator[Order]:
    """A random order that keeps memory busy instead of waiting for it: blocks of 64 consecutive rows, in random order.

    A pass takes much less time than in the order of a permutation (``python -m benchmarks --only passes``), and is as
    accurate where the rows are mixed already. The order comes in pieces that fit the cache; a piece is overwritten by
    the next one.
    """
    starts = rng.permutation(n_rows // _BLOCK)[:, None] * _BLOCK
    buffer = np.empty((min(_PIECE, len(starts)), _BLOCK), dtype=np.int64)
    for begin in range(0, len(starts), _PIECE):
        taken = starts[begin : begin + _PIECE]
        yield np.add(taken, np.arange(_BLOCK), out=buffer[: len(taken)]).reshape(-1)
    if n_rows % _BLOCK:
        yield n_rows // _BLOCK * _BLOCK + rng.permutation(n_rows % _BLOCK)


def passes(
    n_rows: int, n_visits: int, shuffle: bool, mixed: bool, random_state: Any
) -> Iterator[Iterator[Order | None]]:
    """For each pass its order, piece by piece (None: all rows as they stand), until ``n_visits`` rows were visited.

    Small data and rows that come sorted by label (not ``mixed``) are shuffled one by one, the rest in blocks.
    """
    rng = generator(random_state)
    while n_visits > 0:
        yield _one_pass(n_rows, min(n_visits, n_rows), shuffle, mixed, rng)
        n_visits -= n_rows


def _one_pass(n_rows: int, left: int, shuffle: bool, mixed: bool, rng: np.random.Generator) -> Iterator[Order | None]:
    if not shuffle:
        yield None if left == n_rows else np.arange(left)
    elif not mixed or n_rows <= _BLOCK * _BLOCK:
        yield rng.permutation(n_rows)[:left]
    else:
        for piece in blocked_shuffle(n_rows, rng):
            if left > 0:
                yield piece[:left]
            left -= len(piece)


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Neighbouring rows, ``size`` at a time."""
    for begin in range(0, n_rows, size):
        yield slice(begin, min(begin + size, n_rows))
