"""Two classes in the plane, overlapping or among outliers: the toy problems of supervised novelty detection."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._engine import generator
from .._gate import Rule, at_least, checked, fraction, one_of, positive, seed
from ._curves import moons
from ._halves import halves

_OUTLIER = -1
_CLEARANCE = Rule("a number above 0 and at most 0.4", lambda v: positive.holds(v) and v <= 0.4)


@checked(n_samples=at_least(1), random_state=seed)
def make_overlapping_squares(n_samples: int = 200, *, random_state: Any = None) -> tuple[Any, Any]:
    """Two classes, uniform on squares that share a quarter of their area.

    The squares are [0, 1] and [-0.5, 0.5] along both axes. In the shared quarter both classes are as likely, so no
    rule errs on less than 12.5 % of the rows: Toy Data (1) of Jumutc (2016), with published errors of 13 to 15 %.

    Parameters
    ----------
    n_samples : int, default=200
        Rows, half of each class; an odd one is of class 1.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, 2) and (n_samples,)
        Rows in random order with labels 1 (the square [0, 1]) and 0.

    Examples
    --------
    >>> from thresher.datasets import make_overlapping_squares
    >>> X, y = make_overlapping_squares(random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 2), 100)
    """
    rng = generator(random_state)
    y = rng.permutation(halves(n_samples))
    X = rng.random((n_samples, 2)) - 0.5 * (y[:, None] == 0)
    return X, y


def _blobs(y: Any, rng: np.random.Generator) -> Any:
    return 0.12 * rng.standard_normal((len(y), 2)) + np.where(y[:, None] == 1, 0.35, -0.35)


def _moons(y: Any, rng: np.random.Generator) -> Any:
    return 0.5 * (moons(y, 1.0, rng) - [0.5, 0.25]) + 0.04 * rng.standard_normal((len(y), 2))


def _rings(y: Any, rng: np.random.Generator) -> Any:
    angle = 2 * np.pi * rng.random(len(y))
    radius = np.where(y == 1, rng.uniform(0.55, 0.65, len(y)), 0.2 * np.sqrt(rng.random(len(y))))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


_SHAPES = {"blobs": _blobs, "moons": _moons, "rings": _rings}


@checked(n_samples=at_least(2), kind=one_of(*_SHAPES), outliers=fraction, clearance=_CLEARANCE, random_state=seed)
def make_novelty(
    n_samples: int = 150,
    *,
    kind: str = "blobs",
    outliers: float = 0.15,
    clearance: float = 0.15,
    random_state: Any = None,
) -> tuple[Any, Any]:
    """Two classes in the square [-1, 1] and outliers scattered around them.

    For methods that tell classes apart and know when a row belongs to none. Outliers are uniform where no row of a
    class is nearer than ``clearance``, so that they can be found. After Toy Data (2) to (4) of Jumutc (2016), which
    shows three pairs of classes and describes none; the shapes here are our own, from easy to hard.

    Parameters
    ----------
    n_samples : int, default=150
        Rows in all; those of the classes are shared evenly.
    kind : {"blobs", "moons", "rings"}, default="blobs"
        Two round clouds, two half moons that reach into each other, or a ring around a disc.
    outliers : float, default=0.15
        Share of the rows that belong to neither class.
    clearance : float, default=0.15
        Least distance of an outlier from rows of the classes, at most 0.4.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, 2) and (n_samples,)
        Rows in random order with labels 0 and 1, and -1 for outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.datasets import make_novelty
    >>> X, y = make_novelty(200, kind="moons", random_state=0)
    >>> np.bincount(y + 1).tolist(), float(np.abs(X).max()) <= 1
    ([30, 85, 85], True)
    """
    rng = generator(random_state)
    n_outliers = round(outliers * n_samples)
    y = halves(n_samples - n_outliers)
    X = np.clip(_SHAPES[kind](y, rng), -1.0, 1.0)
    X = np.concatenate([X, _apart(X, n_outliers, clearance, rng)])
    y = np.concatenate([y, np.full(n_outliers, _OUTLIER, dtype=np.int64)])
    order = rng.permutation(n_samples)
    return X[order], y[order]


def _apart(X: Any, n: int, clearance: float, rng: np.random.Generator) -> Any:
    """Points of the square that keep away from all rows."""
    found, tree = np.empty((0, 2)), cKDTree(X)
    while len(found) < n:  # the corners of the square are always free
        drawn = rng.uniform(-1.0, 1.0, (n, 2))
        found = np.concatenate([found, drawn[tree.query(drawn)[0] > clearance]])
    return found[:n]
