"""The squared sum of the lengths of groups, with a ridge, and its conjugate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._gate import Array

Labels = NDArray[np.intp]


def group_square(w: Array, groups: Labels, sigma: float = 1.0) -> float:
    r"""Compute :math:`\Omega(w) = \frac{\sigma}{2}\|w\|^2 + \frac12\big(\sum_k \|w_k\|\big)^2`.

    Parameters
    ----------
    w : ndarray of shape (n,)
    groups : ndarray of int, shape (n,)
        The group of each entry, counted from 0.
    sigma : float, default=1.0
        Above 0.
    """
    return float(0.5 * sigma * (w @ w) + 0.5 * _lengths(w, groups).sum() ** 2)


def group_square_conjugate(
    z: Array, groups: Labels, sigma: float = 1.0, centre: Array | None = None
) -> tuple[float, Array]:
    r"""Compute value and gradient of the conjugate of :math:`\Omega(w - w_0)` at ``z``, by sorting the groups.

    With :math:`a_k = \|z_k\|`, the groups whose lengths exceed
    :math:`S = \sum_{j \le \rho} a_{(j)} / (\sigma + \rho)` are in use, :math:`\rho` of them, and

    .. math:: \nabla\Omega^*(z)_k = \frac{(a_k - S)_+}{\sigma} \frac{z_k}{a_k}, \qquad
              \Omega^*(z) = \tfrac12 z^\top \nabla\Omega^*(z).

    The gradient is the :math:`w` that maximises :math:`w^\top z - \Omega(w)`; it is Lipschitz with constant
    :math:`1/\sigma`, and jumps from group to group as :math:`\sigma` goes to 0. O(n + K log K).

    Parameters
    ----------
    z : ndarray of shape (n,)
    groups : ndarray of int, shape (n,)
        The group of each entry, counted from 0.
    sigma : float, default=1.0
        Above 0.
    centre : ndarray of shape (n,), optional
        :math:`w_0`; zeros when not given.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import group_square_conjugate
    >>> value, w = group_square_conjugate(np.array([3.0, 4.0, 1.0]), np.array([0, 0, 1]))
    >>> value, w.tolist()
    (6.25, [1.5, 2.0, 0.0])
    """
    lengths = _lengths(z, groups)
    cut = group_cut(lengths, sigma)
    kept = np.where(lengths > cut, (lengths - cut) / (sigma * np.where(lengths > 0, lengths, 1.0)), 0.0)
    w: Array = kept[groups] * z
    value = 0.5 * float(z @ w)
    return (value, w) if centre is None else (value + float(z @ centre), centre + w)


def group_cut(lengths: Array, sigma: float) -> float:
    """S: the length that every group loses; groups that are not longer than that are not in use."""
    falling = -np.sort(-lengths)
    sums, ranks = np.cumsum(falling), np.arange(1, len(lengths) + 1)
    n_used = np.cumprod(falling * (sigma + ranks) > sums).sum()
    return float(sums[n_used - 1] / (sigma + n_used)) if n_used else 0.0


def _lengths(w: Array, groups: Labels) -> Array:
    return np.sqrt(np.bincount(groups, w * w))
