"""The penalty of all problems: in every block of weights a norm, and within it an l1 norm.

    Omega(W) = sum_g  weight_g |W_g|_p + l1_g |W_g|_1

The lasso has blocks of one weight, the group lasso its groups, multi-task learning a feature's weights in all tasks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._proximal import Array, norms, prox_linf, prox_lp, shrink, soft_threshold


class WeightBlocks(NamedTuple):
    """Blocks of one size: the places of their weights, a row for each block, and the weights of their norms."""

    places: NDArray[np.intp]
    weight: float
    l1: float


class BlockPenalty(NamedTuple):
    """The penalty of a problem: a norm of every block, and an l1 norm."""

    blocks: list[WeightBlocks]
    norm: float  # p, above 1

    def times(self, alpha: float) -> BlockPenalty:
        return BlockPenalty([WeightBlocks(b.places, alpha * b.weight, alpha * b.l1) for b in self.blocks], self.norm)

    def on_rows(self, rows: NDArray[np.intp], n_rows: int, n_tasks: int) -> BlockPenalty:
        """Of a matrix that has only some rows of the whole one's ``n_rows``: blocks are in it, or are not."""
        where = np.full(n_rows, -1)
        where[rows] = np.arange(len(rows))
        blocks = []
        for b in self.blocks:
            row = where[b.places // n_tasks]
            inside = row[:, 0] >= 0
            if inside.any():
                blocks.append(WeightBlocks((row * n_tasks + b.places % n_tasks)[inside], b.weight, b.l1))
        return BlockPenalty(blocks, self.norm)

    def value(self, W: Array) -> float:
        flat = W.ravel()
        return float(
            sum(
                b.weight * norms(flat[b.places], self.norm).sum() + b.l1 * np.abs(flat[b.places]).sum()
                for b in self.blocks
            )
        )

    def prox(self, W: Array, step: float) -> Array:
        """argmin_V |V - W|^2 / 2 + step Omega(V): the l1 norm first, then the norm of what it left."""
        flat, out = W.ravel(), np.empty(W.size)
        for b in self.blocks:
            out[b.places] = _prox(soft_threshold(flat[b.places], step * b.l1), step * b.weight, self.norm)
        return out.reshape(W.shape)

    def pulls(self, G: Array) -> list[Array]:
        """For the blocks of each size, how hard G pulls them away from 0: above 1, a block at 0 would move."""
        q, flat = _dual_exponent(self.norm), G.ravel()
        return [norms(soft_threshold(flat[b.places], b.l1), q) / b.weight for b in self.blocks]

    def polar(self, G: Array) -> float:
        """The dual norm: the smallest s for which G is a subgradient of s Omega at 0."""
        flat = G.ravel()
        return float(max(_polar(flat[b.places], b.weight, b.l1, self.norm) for b in self.blocks))


def _prox(rows: Array, a: float, norm: float) -> Array:
    if rows.shape[1] == 1:  # all norms are one
        return soft_threshold(rows, a)
    return shrink(rows, a) if norm == 2 else prox_linf(rows, a) if norm == np.inf else prox_lp(rows, a, norm)


def _dual_exponent(norm: float) -> float:
    return 1.0 if norm == np.inf else norm / (norm - 1)


def _polar(rows: Array, weight: float, l1: float, norm: float) -> float:
    """max over rows of the s with  |soft(row, s l1)|_q = s weight,  1/norm + 1/q = 1.

    The left side is convex and falls in s, so Newton's steps from below rise to the root and never pass it. A common s
    for all rows, raised by the row that needs most, gives the largest root.
    """
    q = _dual_exponent(norm)
    s = 0.0
    for _ in range(1000):
        c = np.maximum(np.abs(rows) - s * l1, 0.0)
        sizes = norms(c, q)
        above = sizes > s * weight
        if not above.any():
            break
        c, sizes = c[above], sizes[above]
        fall = l1 * ((c / sizes[:, None]) ** (q - 1) * (c > 0)).sum(axis=1) if l1 else 0.0
        higher = s + float(((sizes - s * weight) / (weight + fall)).max())
        if higher <= s * (1 + 1e-15):
            break
        s, rows = higher, rows[above]
    return s


def singles(n_weights: int, weight: float = 1.0) -> BlockPenalty:
    """The l1 norm."""
    return BlockPenalty([WeightBlocks(np.arange(n_weights)[:, None], weight, 0.0)], 2.0)


def rows_of(n_features: int, n_tasks: int, norm: float, l1_weight: float) -> BlockPenalty:
    """A norm of every row of a matrix, and an l1 norm."""
    places = np.arange(n_features * n_tasks).reshape(n_features, n_tasks)
    return BlockPenalty([WeightBlocks(places, 1.0, l1_weight)], norm)


def grouped(groups: list[Any], norm: float, l1_weight: float) -> BlockPenalty:
    """Groups that do not overlap, of weight sqrt(size)."""
    sizes = np.array([len(group) for group in groups])
    blocks = []
    for size in np.unique(sizes):
        places = np.array([groups[g] for g in np.flatnonzero(sizes == size)], dtype=np.intp)
        blocks.append(WeightBlocks(places, float(np.sqrt(size)), l1_weight))
    return BlockPenalty(blocks, norm)
