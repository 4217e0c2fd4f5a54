"""Two bent classes in the plane of which few rows are labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import generator
from .._gate import at_least, boolean, checked, fraction, non_negative, seed
from ._halves import UNLABELLED, halves

_RULES = {"n_samples": at_least(2), "overlap": boolean, "noise": non_negative, "labelled": fraction}


@checked(**_RULES, turns=non_negative, return_truth=boolean, random_state=seed)
def make_spirals(
    n_samples: int = 400,
    *,
    overlap: bool = True,
    noise: float = 0.05,
    labelled: float = 0.2,
    turns: float = 1.5,
    return_truth: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    """Two spirals that lie apart at the beginning and merge in the end, a few rows of each labelled.

    A hard problem for methods that expect few rows between classes: where the arms merge there are many. After
    "spirals" in Figure 2.13 of Jumutc (2016), which gives no formula. The arms here are half a turn apart all the way,
    or, with ``overlap``, only up to half of the radius, from where the gap closes evenly.

    Parameters
    ----------
    n_samples : int, default=400
        Rows, half on each arm; an odd one is on the second.
    overlap : bool, default=True
        Whether the arms merge in the end.
    noise : float, default=0.05
        Standard deviation around an arm; the spirals have radius 1.
    labelled : float, default=0.2
        Share of the rows of each class that are labelled, at least one.
    turns : float, default=1.5
        How often an arm winds around the middle.
    return_truth : bool, default=False
        Whether to return the classes of all rows, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, 2) and (n_samples,)
        Rows in random order with labels 0 and 1, or -1 for unlabelled rows.
    truth : ndarray of shape (n_samples,)
        With ``return_truth``: the classes of all rows.

    Examples
    --------
    >>> from thresher.datasets import make_spirals
    >>> X, y = make_spirals(100, random_state=0)
    >>> X.shape, int((y >= 0).sum())
    ((100, 2), 20)
    """
    rng = generator(random_state)
    truth = rng.permutation(halves(n_samples))
    along = np.sqrt(rng.random(n_samples))  # even along the arm, whose length grows with the square of the radius
    gap = np.pi * np.minimum(1.0, 2 * (1 - along)) if overlap else np.pi
    angle = 2 * np.pi * turns * along + gap * (truth - 0.5)
    X = along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _finished(X, truth, noise, labelled, return_truth, rng)


@checked(**_RULES, return_truth=boolean, random_state=seed)
def make_half_moons(
    n_samples: int = 400,
    *,
    overlap: bool = True,
    noise: float = 0.1,
    labelled: float = 0.2,
    return_truth: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    """Two half moons, one of which opens downwards and one upwards, a few rows of each labelled.

    With ``overlap`` the last sixth of one lies on the first sixth of the other, else each reaches into the bay of the
    other without touching it. After "half-moons" in Figure 2.12 of Jumutc (2016), which gives no formula.

    Parameters
    ----------
    n_samples, overlap, labelled, return_truth, random_state
        As for :func:`make_spirals`; the arms are moons here.
    noise : float, default=0.1
        Standard deviation around a moon of radius 1.

    Returns
    -------
    X, y, truth : ndarray
        As for :func:`make_spirals`. Class 0 is open below, class 1 above.

    Examples
    --------
    >>> from thresher.datasets import make_half_moons
    >>> X, y, truth = make_half_moons(100, return_truth=True, random_state=0)
    >>> X.shape, int((y >= 0).sum()), bool((y[y >= 0] == truth[y >= 0]).all())
    ((100, 2), 20, True)
    """
    rng = generator(random_state)
    truth = rng.permutation(halves(n_samples))
    X = moons(truth, 1 + np.cos(np.pi / 6) if overlap else 1.0, rng)
    return _finished(X, truth, noise, labelled, return_truth, rng)


def moons(y: NDArray[np.int64], shift: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw points of two half moons of radius 1, the second upside down and shifted to the right."""
    angle = np.pi * rng.random(len(y))
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X[y == 1] = [shift, 0.5] - X[y == 1]
    return X


def _finished(X: Any, truth: Any, noise: float, labelled: float, return_truth: bool, rng: Any) -> tuple[Any, ...]:
    """Add noise, and hide the labels of all but a share of each class, at least one row."""
    X = X + noise * rng.standard_normal(X.shape)
    y = np.full(len(truth), UNLABELLED, dtype=np.int64)
    for label in (0, 1):
        rows = np.flatnonzero(truth == label)
        y[rng.choice(rows, max(1, round(labelled * len(rows))), replace=False)] = label
    return (X, y, truth) if return_truth else (X, y)
