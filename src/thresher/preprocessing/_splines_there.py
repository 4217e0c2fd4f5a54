"""Features of splines where the rows lie, in arrays of another library than NumPy: the formulas of core/splines.hpp,
and products of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import as_float64, beside, check_room, namespace, row_blocks

Array = NDArray[np.float64]


def features_there(rows: Any, basis: Any) -> Any:
    """The features of a :class:`SplineBasis`, in the precision of the rows, which hold no infinite value."""
    xp = namespace(rows)
    check_room((rows.shape[0], len(basis.owners)), rows)
    blocks = [xp.astype(_block(as_float64(rows[part, :]), basis), rows.dtype) for part in _blocks(rows, basis)]
    return xp.concat(blocks, axis=0)


def _blocks(rows: Any, basis: Any) -> Any:
    return row_blocks((rows.shape[0], 4 * len(basis.owners)), rows)  # some arrays as large are made on the way


def _block(X: Any, basis: Any) -> Any:
    xp, columns = namespace(X), []
    for j in range(X.shape[1]):
        x = X[:, j]
        columns.append(x[:, None])
        if basis.curved[j]:
            columns.append(splines_of(x, basis.knots_of(j)) + 0.0 * x[:, None])  # of a missing value, all are
    products = list(_products(X, basis))
    made = xp.concat([*columns, *(one[:, None] for one in products)], axis=1)
    centred = made - beside(basis.means, X)
    missing = xp.isnan(centred) & beside(basis.is_made, X)[None, :]  # is at the mean
    return xp.where(missing, xp.zeros_like(centred), centred)


def splines_of(x: Any, knots: Array) -> Any:
    """B_0(x), ..., B_m(x), with their tangents beyond the outer knots; a column for each."""
    xp, m = namespace(x), len(knots)
    t, inside, i = _between(x, knots)
    low, high, before, after = (xp.take(t, xp.clip(i + shift, 0, m - 1), axis=0) for shift in (0, 1, -1, 2))
    h = high - low
    left = (high - inside) / h * ((high - inside) / (high - before))
    right = (inside - low) / h * ((inside - low) / (after - low))
    under = xp.where(x < float(knots[0]), 2 * (x - float(knots[0])) / float(knots[1] - knots[0]), xp.zeros_like(x))
    over = xp.where(x > float(knots[-1]), 2 * (x - float(knots[-1])) / float(knots[-1] - knots[-2]), xp.zeros_like(x))
    place = i[:, None] == beside(np.arange(m + 1), x)[None, :]
    zero = xp.zeros_like(left)[:, None]
    found = xp.where(place, left[:, None], zero)
    for shift, values in ((1, 1 - left - right), (2, right)):
        place = (i + shift)[:, None] == beside(np.arange(m + 1), x)[None, :]
        found = found + xp.where(place, values[:, None], zero)
    ends = np.zeros((2, m + 1))
    ends[0, 0], ends[0, 1], ends[1, m], ends[1, m - 1] = -1.0, 1.0, 1.0, -1.0
    return found + under[:, None] * beside(ends[:1], x) + over[:, None] * beside(ends[1:], x)


def _between(x: Any, knots: Array) -> tuple[Any, Any, Any]:
    """The knots where the values lie, the values moved to the outer knots, and the place of the knot before each."""
    xp, t = namespace(x), beside(knots, x)
    inside = xp.clip(x, float(knots[0]), float(knots[-1]))
    return t, inside, xp.sum(xp.astype(inside[:, None] >= t[None, 1:-1], xp.int64), axis=1)


def _products(X: Any, basis: Any) -> Any:
    """Products of Legendre polynomials of the ranks of two columns."""
    polynomials = {j: _polynomials(X[:, j], basis, j) for j in np.unique(basis.pairs).tolist()}
    for a, b in basis.pairs.tolist():
        yield from (p * q for p in polynomials[a] for q in polynomials[b])


def _polynomials(x: Any, basis: Any, j: int) -> list[Any]:
    if not basis.degrees[j]:
        return []
    rank = _rank(x, basis.knots_of(j))
    return [rank, (3 * rank**2 - 1) / 2][: basis.degrees[j]]


def _rank(x: Any, knots: Array) -> Any:
    """The position of values among the knots, from -1 to 1."""
    xp, m = namespace(x), len(knots)
    t, inside, i = _between(x, knots)
    low, high = (xp.take(t, i + shift, axis=0) for shift in (0, 1))
    return 2 * (xp.astype(i, xp.float64) + (inside - low) / (high - low)) / (m - 1) - 1
