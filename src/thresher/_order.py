"""Visiting orders. The core has no random generator: what is random about a pass is decided here, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]

_RUN = 4  # rows that are visited in a row, which is what memory is fast at
_BLOCK = 64  # rows that stay neighbours in memory
_WINDOW = 64  # blocks that are read side by side
_PIECE = 16  # windows that are handed over at once


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def blocked_shuffle(n_rows: int, rng: np.random.Generator) -> Order:
    """A random order that keeps memory busy instead of waiting for it.

    Blocks of 64 consecutive rows are put in random order; then 64 such blocks from all over the data are read side by
    side, four rows of each in turn. Up to 4,096 rows this is a plain permutation. It costs about half of what a
    permutation does in time, and nothing measurable in accuracy unless the rows come sorted by label.
    """
    return np.concatenate([piece.copy() for piece in _shuffled(n_rows, rng)])


def _shuffled(n_rows: int, rng: np.random.Generator) -> Iterator[Order]:
    """The same order in pieces that fit the cache. A piece is overwritten by the next one."""
    n_windows = n_rows // (_BLOCK * _WINDOW) if n_rows > _BLOCK * _WINDOW else 0
    starts = rng.permutation(n_rows // _BLOCK) * _BLOCK
    windows = starts[: n_windows * _WINDOW].reshape(n_windows, 1, _WINDOW, 1)
    steps = np.arange(_BLOCK).reshape(1, _BLOCK // _RUN, 1, _RUN)
    buffer = np.empty((min(_PIECE, n_windows), _BLOCK // _RUN, _WINDOW, _RUN), dtype=np.int64)
    for begin in range(0, n_windows, _PIECE):
        taken = windows[begin : begin + _PIECE]
        yield np.add(taken, steps, out=buffer[: len(taken)]).reshape(-1)
    rest = (starts[n_windows * _WINDOW :, None] + np.arange(_BLOCK)).reshape(-1)
    last = rng.permutation(np.concatenate([rest, np.arange(n_rows // _BLOCK * _BLOCK, n_rows)]))
    if len(last):
        yield last


def passes(
    n_rows: int, max_iter: int, n_rows_budget: int | None, shuffle: bool, random_state: Any
) -> Iterator[Iterator[Order | None]]:
    """For each pass its order, piece by piece (None: all rows as they stand), until passes or budget are used up."""
    rng = generator(random_state)
    left = max_iter * n_rows if n_rows_budget is None else n_rows_budget
    while left > 0:
        yield _one_pass(n_rows, min(left, n_rows), shuffle, rng)
        left -= n_rows


def _one_pass(n_rows: int, left: int, shuffle: bool, rng: np.random.Generator) -> Iterator[Order | None]:
    if not shuffle:
        yield None if left == n_rows else np.arange(left)
        return
    for piece in _shuffled(n_rows, rng):
        if left > 0:
            yield piece[:left]
        left -= len(piece)
