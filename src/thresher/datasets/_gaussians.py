"""Two normal classes with labels turned around: the toy problem of the pinball loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import generator
from .._gate import at_least, boolean, checked, fraction, seed
from ._halves import halves


@checked(n_samples=at_least(1), flips=fraction, with_replacement=boolean, return_truth=boolean, random_state=seed)
def make_flipped_gaussians(
    n_samples: int = 10_000,
    *,
    flips: float = 0.05,
    with_replacement: bool = False,
    return_truth: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Two normal classes in the plane, narrow and tall, some of whose labels are wrong.

    The means are (0.5, -3) and (-0.5, 3), and the variances 0.2 and 3 for both classes: the problem of Figure 3.1 in
    Jumutc (2016), with wrong labels as in Table 3.2. With a share e of wrong labels, no rule errs on less than
    :math:`e + (1 - 2 e)\, \Phi(-\sqrt{17} / 2)` of the rows: 6.8 %, 16.4 % and 35.6 % for 5 %, 15 % and 35 %. Two
    published errors lie below that. They are possible if rows to flip were drawn with replacement: n draws of rows hit
    some of them twice, and the share of wrong labels is :math:`1 - \exp(-e)`: 4.9 %, 13.9 % and 29.5 %.

    Parameters
    ----------
    n_samples : int, default=10000
        Rows, half of each class; an odd one is of class 1.
    flips : float, default=0.05
        Rows whose label is turned around, as a share of all.
    with_replacement : bool, default=False
        Whether a row may be drawn several times; it is turned around once.
    return_truth : bool, default=False
        Whether to return the labels as they were before, too.
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
