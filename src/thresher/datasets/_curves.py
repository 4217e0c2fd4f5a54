"""Two bent classes in the plane of which few rows are labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import generator
from .._gate import at_least, boolean, check_arguments, fraction, non_negative, seed

_UNLABELLED = -1


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
    "spirals" in Figure 2.13 of [1]_, which shows them and gives no formula; the arms here are half a turn apart all the
    way, or, with ``overlap``, only up to half of the radius, from where the gap closes evenly.

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
    X : ndarray of shape (n_samples, 2)
        In random order.
    y : ndarray of shape (n_samples,)
        Labels 0 and 1, and -1 for unlabelled rows.
    truth : ndarray of shape (n_samples,)
        With ``return_truth``: the classes of all rows.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 2.2.

    Examples
    --------
    >>> from thresher.datasets import make_spirals
    >>> X, y = make_spirals(100, random_state=0)
    >>> X.shape, int((y >= 0).sum())
    ((100, 2), 20)
    """
    who = "make_spirals"
    check_arguments(who, turns=(turns, non_negative))
    _check(who, n_samples, overlap, noise, labelled, return_truth, random_state)
    rng = generator(random_state)
    truth = _classes(n_samples, rng)
    along = np.sqrt(rng.random(n_samples))  # even along the arm, whose length grows with the square of the radius
    gap = np.pi * np.minimum(1.0, 2 * (1 - along)) if overlap else np.pi
    angle = 2 * np.pi * turns * along + gap * (truth - 0.5)
    X = along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _finished(X, truth, noise, labelled, return_truth, rng)


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
    other without touching it. After "half-moons" in Figure 2.12 of [1]_, which shows them and gives no formula.

    Parameters
    ----------
    n_samples : int, default=400
        Rows, half of each class; an odd one is of class 1.
    overlap : bool, default=True
        Whether the moons overlap at their tails.
    noise : float, default=0.1
        Standard deviation around a moon of radius 1.
    labelled : float, default=0.2
        Share of the rows of each class that are labelled, at least one.
    return_truth : bool, default=False
        Whether to return the classes of all rows, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        In random order.
    y : ndarray of shape (n_samples,)
        Labels 0 (open below) and 1 (open above), and -1 for unlabelled rows.
    truth : ndarray of shape (n_samples,)
        With ``return_truth``: the classes of all rows.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 2.2.

    Examples
    --------
    >>> from thresher.datasets import make_half_moons
    >>> X, y, truth = make_half_moons(100, return_truth=True, random_state=0)
    >>> X.shape, int((y >= 0).sum()), bool((y[y >= 0] == truth[y >= 0]).all())
    ((100, 2), 20, True)
    """
    _check("make_half_moons", n_samples, overlap, noise, labelled, return_truth, random_state)
    rng = generator(random_state)
    truth = _classes(n_samples, rng)
    angle = np.pi * rng.random(n_samples)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X[truth == 1] = ([1 + np.cos(np.pi / 6), 0.5] if overlap else [1.0, 0.5]) - X[truth == 1]
    return _finished(X, truth, noise, labelled, return_truth, rng)


def hide_labels(y: NDArray[np.int64], labelled: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Keep a share of the labels of each class, at least one, and replace the others by -1."""
    seen = np.full(len(y), _UNLABELLED, dtype=np.int64)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        seen[rng.choice(rows, max(1, round(labelled * len(rows))), replace=False)] = label
    return seen


def _check(
    who: str, n_samples: int, overlap: bool, noise: float, labelled: float, return_truth: bool, random_state: Any
) -> None:
    check_arguments(
        who,
        n_samples=(n_samples, at_least(2)),
        overlap=(overlap, boolean),
        noise=(noise, non_negative),
        labelled=(labelled, fraction),
        return_truth=(return_truth, boolean),
        random_state=(random_state, seed),
    )


def _classes(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation((np.arange(n) >= n // 2).astype(np.int64))


def _finished(X: Any, truth: Any, noise: float, labelled: float, return_truth: bool, rng: Any) -> tuple[Any, ...]:
    X = X + noise * rng.standard_normal(X.shape)
    y = hide_labels(truth, labelled, rng)
    return (X, y, truth) if return_truth else (X, y)
