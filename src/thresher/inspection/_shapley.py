"""Shapley values: parts of columns in any score, averaged over rows whose values a row's own replace."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import Array, sparse

Places = NDArray[np.intp]

_MOST_BACKGROUND = 64
_MOST_SCORED = 8192  # mixed rows, if orders are not very long
_FEWEST_ORDERS = 8  # each with its reverse
_MOST_VALUES = 2**22  # of mixed rows that are scored at a time
_ROUNDING = 1e-13


class _Plan(NamedTuple):
    """Mixed rows, and the steps between them. A mixed row has the values of a background row, and in the groups of its
    mask those of the row that is explained. A step switches one group."""

    background: Places  # (n_mixed,)
    masks: NDArray[np.bool_]  # (n_mixed, n_groups)
    before: Places  # (n_steps,), places of mixed rows
    after: Places
    group: Places
    weight: Array  # that of a step in the part of its group


def draw_background(kept: Any) -> Any:
    """The rows among those that a model keeps whose values are replaced: at most 64, always the same ones."""
    n = kept.shape[0]
    if n <= _MOST_BACKGROUND:
        return kept
    return kept[np.sort(np.random.default_rng(0).choice(n, _MOST_BACKGROUND, replace=False))]


def shapley_values(
    score: Callable[[Any], Array], rows: Any, background: Any, groups: Places, n_groups: int, seed: int = 0
) -> tuple[Array, Array, int]:
    r"""Split scores into parts of groups of features, which add up to the score less the baseline.

    Walk from a background row b to the row z and switch one group at a time, in a random order. The part of a group is
    the mean change of the score over orders and background rows,

        phi_g = mean_b sum_{S without g}  |S|! (G - |S| - 1)! / G!  (f(z_{S+g}, b_rest) - f(z_S, b_rest)),

    and the baseline is the mean of f(b). If all S times all b are at most 8,192 mixed rows, this is the sum itself.
    Otherwise each b takes orders drawn at random, and the reverse of each.   Castro, Gomez and Tejada (2009).

    Parameters
    ----------
    score : callable
        From rows to scores of shape (n_rows, n_outputs).
    rows, background : ndarray or csr_array of shape (n, n_features)
    groups : ndarray of shape (n_features,)
        The group of each feature, from 0 to ``n_groups - 1``.
    n_groups : int
    seed : int, default=0
        Of the orders.

    Returns
    -------
    parts : ndarray of shape (n_rows, n_outputs, n_groups)
    baseline : ndarray of shape (n_outputs,)
    n_background : int
        How many of the background rows were used.
    """
    n_background = background.shape[0]
    if 2**n_groups * n_background <= _MOST_SCORED:
        plan = _all_subsets(n_groups, n_background)
    else:
        plan = _drawn_orders(n_groups, n_background, np.random.default_rng(seed))
    counts = np.bincount(plan.background[~plan.masks.any(axis=1)], minlength=n_background)
    used = np.flatnonzero(counts)
    baseline = counts[used] @ score(background[used]) / counts.sum()
    parts = np.array([_of_row(score, rows[i : i + 1], background, groups, plan) for i in range(rows.shape[0])])
    return parts.reshape(rows.shape[0], len(baseline), n_groups), baseline, len(used)


def _all_subsets(n_groups: int, n_background: int) -> _Plan:
    subsets = np.arange(2**n_groups)
    masks = (subsets[:, None] >> np.arange(n_groups) & 1).astype(bool)
    before, group = np.nonzero(~masks)
    sizes = masks.sum(axis=1)[before]
    weight = 1 / (n_groups * n_background * np.array([comb(n_groups - 1, size) for size in range(n_groups)])[sizes])
    first = np.repeat(np.arange(n_background) * len(subsets), len(before))
    before, group, weight = (np.tile(each, n_background) for each in (before, group, weight))
    background = np.repeat(np.arange(n_background), len(subsets))
    return _Plan(
        background, np.tile(masks, (n_background, 1)), first + before, first + before + (1 << group), group, weight
    )


def _drawn_orders(n_groups: int, n_background: int, rng: np.random.Generator) -> _Plan:
    n_pairs = max(_FEWEST_ORDERS, _MOST_SCORED // (2 * n_groups))
    n_pairs -= n_pairs % n_background if n_pairs > n_background else 0  # each as often
    background = np.concatenate([rng.permutation(n_background) for _ in range(-(-n_pairs // n_background))])[:n_pairs]
    orders = rng.permuted(np.tile(np.arange(n_groups), (n_pairs, 1)), axis=1)
    orders = np.concatenate([orders, orders[:, ::-1]])
    masks = np.argsort(orders, axis=1)[:, None, :] < np.arange(n_groups + 1)[:, None]
    before = (np.arange(len(orders))[:, None] * (n_groups + 1) + np.arange(n_groups)).ravel()
    weight = np.full(before.shape, 1 / len(orders))
    background = np.repeat(np.tile(background, 2), n_groups + 1)
    return _Plan(background, masks.reshape(-1, n_groups), before, before + 1, orders.ravel(), weight)


def _of_row(score: Callable[[Any], Array], row: Any, background: Any, groups: Places, plan: _Plan) -> Array:
    """The parts of one row, of shape (n_outputs, n_groups)."""
    n_groups = plan.masks.shape[1]
    differs = np.zeros((background.shape[0], n_groups), dtype=bool)
    if sparse.issparse(row):
        apart = sparse.coo_array(background - row[np.zeros(background.shape[0], dtype=np.intp)])
        differs[apart.row[apart.data != 0], groups[apart.col[apart.data != 0]]] = True
    else:
        places, features = np.nonzero(background != row)
        differs[places, groups[features]] = True
    masks = plan.masks & differs[plan.background]  # equal values need no step
    codes = np.column_stack([plan.background.astype(np.uint8), np.packbits(masks, axis=1)])
    _, first, place = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    scores = _scores(score, row, background, plan.background[first], masks[first], groups)[np.ravel(place)]
    change = scores[plan.after] - scores[plan.before]
    rounding = _ROUNDING * np.abs(scores).max(initial=0.0)
    change[np.abs(change) <= rounding] = 0.0  # a score depends on its place among others
    return np.array([np.bincount(plan.group, plan.weight * each, n_groups) for each in change.T])


def _scores(
    score: Callable[[Any], Array], row: Any, background: Any, b: Places, masks: NDArray[np.bool_], groups: Places
) -> Array:
    width = row.shape[1]
    if sparse.issparse(row):
        width = max(row.nnz + int(np.diff(background.indptr).max()), width // 16)  # a model may take them as dense ones
    size = max(1, _MOST_VALUES // max(width, 1))
    cuts = [slice(start, start + size) for start in range(0, len(b), size)]
    return np.concatenate([score(_mixed(row, background[b[cut]], masks[cut], groups)) for cut in cuts])


def _mixed(row: Any, others: Any, masks: NDArray[np.bool_], groups: Places) -> Any:
    """Rows with the values of `row` in the groups of their masks, and of `others` elsewhere."""
    if not sparse.issparse(row):
        return np.where(masks[:, groups], row, others)
    own = row[np.zeros(len(masks), dtype=np.intp)]
    for part, is_in in ((own, masks), (others, ~masks)):
        places = np.repeat(np.arange(len(masks)), np.diff(part.indptr))
        part.data = part.data * is_in[places, groups[part.indices]]
    return sparse.csr_array(own + others)
