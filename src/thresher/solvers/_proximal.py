"""Proximal maps of norms, prox(v) = argmin_w |w - v|^2 / 2 + a |w|, of one vector or of every row of a matrix.

``v`` has shape ``(..., n)`` and the vectors lie along the last axis; ``a`` is a number of at least 0, or one for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import above_one, checked, float_array

Array = NDArray[np.float64]
_TINY = 1e-300


def soft_threshold(v: Any, a: Any) -> Array:
    """Compute the proximal map of ``a |w|_1``: every entry moves by ``a`` towards 0. ``a`` broadcasts against ``v``.

    Examples
    --------
    >>> from thresher.solvers import soft_threshold
    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2.,  0., -1.])
    """
    v, a = _checked("soft_threshold", v, a)
    return np.asarray(v - np.clip(v, -a, a))


def shrink(v: Any, a: Any) -> Array:
    """Compute the proximal map of ``a |w|_2``: the vector gets shorter by ``a`` and keeps its direction.

    Examples
    --------
    >>> from thresher.solvers import shrink
    >>> shrink([[3.0, 4.0], [0.3, 0.4]], 1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """
    v, a, size = _scaled(*_checked("shrink", v, a, each=True))
    length = np.sqrt((v**2).sum(axis=-1, keepdims=True))
    kept = np.maximum(1 - np.divide(a, length, out=np.ones_like(length), where=length > a), 0)
    return np.asarray(size * (kept * v))


def prox_linf(v: Any, a: Any) -> Array:
    """Compute the proximal map of ``a |w|_inf``: the largest entries are clipped to one size, by ``a`` in total.

    It is ``v`` minus its projection on the l1 ball of radius ``a``; the sorted sizes give the size after clipping,
    ``max_k (v_(1) + ... + v_(k) - a) / k``.

    Examples
    --------
    >>> from thresher.solvers import prox_linf
    >>> prox_linf([3.0, -2.0, 0.5], 2.0)
    array([ 1.5, -1.5,  0.5])
    """
    v, a = _checked("prox_linf", v, a, each=True)
    a = a[..., None]
    sizes = -np.sort(-np.abs(v), axis=-1)
    heights = (np.cumsum(sizes, axis=-1) - a) / np.arange(1, v.shape[-1] + 1)
    height = heights.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.clip(v, -height, height))


@checked(p=above_one)
def prox_lp(v: Any, a: Any, p: float) -> Array:
    """Compute the proximal map of ``a |w|_p``, for ``1 < p < inf``.

    It is 0 where ``|v|_q <= a`` (``1/p + 1/q = 1``). Elsewhere ``w = s x`` with ``s = |w|_p``, and x in [0, 1] solves::

        s x_i + a x_i^(p-1) = |v_i|,   |x|_p = 1:

    one root in s, between ``max |v_i| - a`` and ``|v|_p``, and in each step one root for every entry.

    Examples
    --------
    >>> from thresher.solvers import prox_lp
    >>> prox_lp([3.0, 4.0], 1.0, 2.0).round(3)
    array([2.4, 3.2])
    """
    v, a, size = _scaled(*_checked("prox_lp", v, a, each=True))
    if not v.size:
        return v
    flat = np.abs(v).reshape(-1, v.shape[-1])
    cut = np.broadcast_to(a, (*v.shape[:-1], 1)).reshape(-1)
    out = np.where(cut[:, None] == 0, flat, 0.0)
    inside = (cut > 0) & (norms(flat, p / (p - 1)) > cut)
    out[inside] = _lp_roots(flat[inside], cut[inside], p)
    return np.asarray(size * np.sign(v) * out.reshape(v.shape))


def _checked(who: str, v: Any, a: Any, *, each: bool = False) -> tuple[Array, Array]:
    """Finite numbers, and what they lose; ``each`` if that is one number for each vector, not for each entry."""
    v, a = float_array(v, "v", who), float_array(a, "a", who)
    if not np.isfinite(v).all() or (each and v.ndim < 1):
        raise ValueError(f"{who}: v must hold finite numbers{', in one vector or more' if each else ''}.")
    if not (a >= 0).all():
        raise ValueError(f"{who}: a must hold numbers of at least 0.")
    wanted = v.shape[:-1] if each else v.shape
    try:
        fits = np.broadcast_shapes(a.shape, wanted) == wanted or not each
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{who}: a must fit the shape {wanted} of v, got {a.shape}.")
    return v, a


def _scaled(v: Array, a: Array) -> tuple[Array, Array, Array]:
    """``v`` and ``a`` divided by the largest entry of each vector, so that powers stay finite, and that entry."""
    size = np.abs(v).max(axis=-1, keepdims=True, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    with np.errstate(over="ignore"):  # beyond all floats: more than any vector has
        return v / size, a[..., None] / size, size


def norms(rows: Array, p: float) -> Array:
    """The lp norm of each vector; neither large nor small entries leave the range of floating point."""
    if p in (1, 2, np.inf):
        return np.asarray(np.linalg.norm(rows, p, axis=-1))
    scaled, _, size = _scaled(rows, np.zeros(()))
    return size[..., 0] * (np.abs(scaled) ** p).sum(axis=-1) ** (1 / p)


def _lp_roots(v: Array, a: Array, p: float, n_steps: int = 200) -> Array:
    """Newton's steps in s, and halves where they leave the bracket or take too long. Entries of v are at most 1."""
    if not len(v):
        return v
    near = 4 * np.finfo(np.float64).eps
    low, high = np.maximum(v.max(axis=-1) - a, 0.0), norms(v, p)
    s = 0.5 * (low + high)
    x = _entries(v, s, a, p)
    done = np.zeros(len(v), dtype=bool)
    for step in range(n_steps):
        excess = (x**p).sum(axis=-1) - 1
        low, high = np.where(excess > 0, s, low), np.where(excess > 0, high, s)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            fall = np.where(x > 0, p * x**p / (s[:, None] + (p - 1) * a[:, None] * x ** (p - 2)), 0.0).sum(axis=-1)
            newton = s + excess / fall
        done |= (np.minimum(np.abs(newton - s), high - low) <= near) | (np.abs(excess) <= near * p)  # all but rounding
        if done.all():
            break
        halve = ~((low < newton) & (newton < high)) | (step % 20 > 15)
        s = np.where(done, s, np.where(halve, 0.5 * (low + high), newton))
        x = _entries(v, s, a, p)
    return np.asarray(s[:, None] * x)


def _entries(v: Array, s: Array, a: Array, p: float, n_steps: int = 100) -> Array:
    """The x in [0, 1] with ``s x + a x^(p-1) = v``.

    For p below 2 the unknown is ``z = x^(p-1)``: either way a line plus a power of at least 1, which is convex, so
    Newton's steps from the right of the root fall to it, and where one of the terms alone is v is near enough.
    """
    line, bend, e = (s, a, p - 1) if p >= 2 else (a, s, 1 / (p - 1))
    line, bend = np.maximum(line, _TINY)[:, None], np.maximum(bend, _TINY)[:, None]
    z = np.minimum(np.minimum(v / line, (v / bend) ** (1 / e)), 1.0)
    for _ in range(n_steps):
        lower = z - (line * z + bend * z**e - v) / (line + bend * e * z ** (e - 1))
        before, z = z, np.clip(lower, 0.0, z)
        if (before - z <= 4e-16 * before).all():
            break
    return z if p >= 2 else z**e
