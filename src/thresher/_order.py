"""Visiting orders. The core has no random generator: what is random about a pass is decided here and passed in as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]

_BLOCK = 32  # rows that stay neighbours in memory
_WINDOW = 64  # blocks that are mixed with each other


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def blocked_shuffle(n_rows: int, rng: np.random.Generator) -> Order:
    """A random order that keeps memory busy instead of waiting for it.

    Blocks of 32 consecutive rows are put in random order; then the rows of every 64 such blocks (2,048 rows from all over the
    data) are shuffled together. Up to 2,048 rows this is a plain permutation.
    """
    size = _BLOCK * _WINDOW
    if n_rows <= size:
        return rng.permutation(n_rows)
    n_blocks = n_rows // _BLOCK
    starts = rng.permutation(n_blocks) * _BLOCK
    order = (starts[:, None] + np.arange(_BLOCK)).reshape(-1)
    order = np.concatenate([order, np.arange(n_blocks * _BLOCK, n_rows)])
    whole = n_rows // size * size
    order[:whole] = rng.permuted(order[:whole].reshape(-1, size), axis=1).reshape(-1)
    order[whole:] = rng.permutation(order[whole:])
    return order


def passes(
    n_rows: int, max_iter: int, n_rows_budget: int | None, shuffle: bool, random_state: Any
) -> Iterator[Order | None]:
    """The order of each pass (None: as the rows stand), until ``max_iter`` passes or the budget of rows is used up."""
    rng = generator(random_state)
    left = max_iter * n_rows if n_rows_budget is None else n_rows_budget
    while left > 0:
        order = blocked_shuffle(n_rows, rng) if shuffle else None
        if left < n_rows:
            order = np.arange(left) if order is None else order[:left]
        yield order
        left -= n_rows
