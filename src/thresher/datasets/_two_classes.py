"""The toy problems of Jumutc (2016) and Yang (2011): two classes with flipped or missing labels, or with outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import generator
from .._gate import Rule, at_least, boolean, checked, fraction, non_negative, one_of, positive, seed, spatial

UNLABELLED = -1


def halves(n: int) -> NDArray[np.int64]:
    """Return classes 0 and 1 for half of the rows each; an odd row is of class 1."""
    return (np.arange(n) >= n // 2).astype(np.int64)


@checked(n_samples=at_least(1), flips=fraction, with_replacement=boolean, return_truth=boolean, random_state=seed)
def make_flipped_gaussians(
    n_samples: int = 10_000,
    *,
    flips: float = 0.05,
    with_replacement: bool = False,
    return_truth: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Generate two narrow, tall normal classes in the plane, with some wrong labels.

    The means are (0.5, -3) and (-0.5, 3), and the variances 0.2 and 3 for both classes: the problem of Figure 3.1 in
    Jumutc (2016), with wrong labels as in Table 3.2. With a share e of wrong labels, no rule is wrong on less than
    :math:`e + (1 - 2 e)\, \Phi(-\sqrt{17} / 2)` of the rows: 6.8 %, 16.4 % and 35.6 % for 5 %, 15 % and 35 %. Two
    published errors lie below that. They are possible if rows to flip were drawn with replacement: n draws of rows hit
    some of them twice, and the share of wrong labels is :math:`1 - \exp(-e)`: 4.9 %, 13.9 % and 29.5 %.

    Parameters
    ----------
    n_samples : int, default=10000
        Rows, half of each class; an odd one is of class 1.
    flips : float, default=0.05
        Share of the rows whose label is flipped.
    with_replacement : bool, default=False
        Whether a row may be drawn several times; its label is flipped once.
    return_truth : bool, default=False
        Whether to return the true labels, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, 2) and (n_samples,)
        Rows in random order with labels 1 (mean (0.5, -3)) and 0, or the wrong one of these.
    truth : ndarray of shape (n_samples,)
        With ``return_truth``: the right ones.

    Examples
    --------
    >>> from thresher.datasets import make_flipped_gaussians
    >>> X, y, truth = make_flipped_gaussians(1000, flips=0.15, return_truth=True, random_state=0)
    >>> X.shape, int((y != truth).sum())
    ((1000, 2), 150)
    """
    rng = generator(random_state)
    truth = rng.permutation(halves(n_samples))
    X = rng.standard_normal((n_samples, 2)) * np.sqrt([0.2, 3.0]) + np.where(truth[:, None] == 1, 1, -1) * [0.5, -3.0]
    wrong = rng.choice(n_samples, round(flips * n_samples), replace=with_replacement)
    y = truth.copy()
    y[wrong] = 1 - truth[wrong]
    return (X, y, truth) if return_truth else (X, y)


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
    """Generate two spirals that are separate at first and merge at the end, with a few labelled rows each.

    This is hard for methods that expect few rows between the classes, because there are many where the arms merge.
    After "spirals" in Figure 2.13 of Jumutc (2016), which gives no formula. The arms here are half a turn apart all the
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
    """Generate two half moons, one open below and one above, with a few labelled rows each.

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


_OUTLIER = -1
_CLEARANCE = Rule("a number above 0 and at most 0.4", lambda v: positive.holds(v) and v <= 0.4)


@checked(n_samples=at_least(1), random_state=seed)
def make_overlapping_squares(n_samples: int = 200, *, random_state: Any = None) -> tuple[Any, Any]:
    """Generate two classes, uniform on squares that share a quarter of their area.

    The squares are [0, 1] and [-0.5, 0.5] along both axes. In the shared quarter both classes are equally likely, so no
    rule is wrong on less than 12.5 % of the rows: Toy Data (1) of Jumutc (2016), with published errors of 13 to 15 %.

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
    """Generate two classes in the square [-1, 1] and outliers scattered around them.

    Use it to test methods that separate classes and reject rows that belong to none. Outliers are uniform where no row
    of a class is nearer than ``clearance``, so that they can be found. After Toy Data (2) to (4) of Jumutc (2016),
    which shows three pairs of classes and describes none; the shapes here are our own, from easy to hard.

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
    found, tree = np.empty((0, 2)), spatial.cKDTree(X)
    while len(found) < n:  # the corners of the square are always free
        drawn = rng.uniform(-1.0, 1.0, (n, 2))
        found = np.concatenate([found, drawn[tree.query(drawn)[0] > clearance]])
    return found[:n]


_IRRELEVANT = 2
_MEAN = 0.3


@checked(n_labelled=at_least(0), n_unlabelled=at_least(0), n_features=at_least(2), relevant=fraction)
@checked(kind=one_of("centred", "shifted"), return_truth=boolean, random_state=seed)
def make_tri_class(
    n_labelled: int = 200,
    n_unlabelled: int = 500,
    n_features: int = 50,
    *,
    relevant: float = 0.5,
    kind: str = "centred",
    return_truth: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Generate two partly labelled normal classes, and unlabelled rows, some of which belong to neither.

    The classes have means 0.3 and -0.3 in every feature, and variance 0.08 in the first two, 10 in the others. Rows
    that belong to neither lie between them: ``"centred"`` ones around 0, with variance 0.1 in the first two features,
    ``"shifted"`` ones around 0.15 in every feature, with the variances of the classes. These are the two kinds of
    Section 5.5.1 in Yang (2011), whose classes are -1, 1 and 0. No rule for the two classes is wrong on less than
    :math:`\Phi(-\sqrt{2 \cdot 0.09 / 0.08 + (d - 2) \cdot 0.09 / 10})` of their rows, 5.1 % with 50 features.

    Parameters
    ----------
    n_labelled : int, default=200
        Labelled rows, half of each class; an odd one is of class 1. The thesis has 20, 50, 200 and 500.
    n_unlabelled : int, default=500
        Unlabelled rows. With 0, the rows can serve as a test set.
    n_features : int, default=50
        At least 2.
    relevant : float, default=0.5
        Share of the unlabelled rows that belong to the two classes (tau). The rest belongs to neither.
    kind : {"centred", "shifted"}, default="centred"
        Where rows that belong to neither lie: the first or the second kind of the thesis.
    return_truth : bool, default=False
        Whether to return the classes of all rows, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_labelled + n_unlabelled, n_features) and (n_labelled + n_unlabelled,)
        Rows in random order with labels 0 (mean -0.3) and 1 (mean 0.3), and -1 for unlabelled rows.
    truth : ndarray of shape (n_labelled + n_unlabelled,)
        With ``return_truth``: classes 0 and 1, and 2 for rows that belong to neither.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.datasets import make_tri_class
    >>> X, y, truth = make_tri_class(20, 100, relevant=0.1, return_truth=True, random_state=0)
    >>> X.shape, np.bincount(y + 1).tolist(), np.bincount(truth).tolist()
    ((120, 50), [100, 10, 10], [15, 15, 90])
    """
    rng = generator(random_state)
    n_relevant = round(relevant * n_unlabelled)
    neither = np.full(n_unlabelled - n_relevant, _IRRELEVANT)
    truth = np.concatenate([halves(n_labelled), halves(n_relevant), neither])
    y = np.where(np.arange(len(truth)) < n_labelled, truth, UNLABELLED)
    narrow = np.array([0.08, 0.08, 0.1 if kind == "centred" else 0.08])[truth]
    mean = np.array([-_MEAN, _MEAN, 0.0 if kind == "centred" else _MEAN / 2])[truth]
    X = np.sqrt(10.0) * rng.standard_normal((len(truth), n_features))
    X[:, :2] *= np.sqrt(narrow / 10.0)[:, None]
    X += mean[:, None]
    order = rng.permutation(len(truth))
    return (X[order], y[order], truth[order]) if return_truth else (X[order], y[order])
