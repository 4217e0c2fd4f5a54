"""Two classes among rows of neither: the toy problems of the 3C-SVM."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import generator
from .._gate import at_least, boolean, checked, fraction, one_of, seed
from ._halves import UNLABELLED, halves

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
    r"""Two normal classes of which some rows are labelled, and unlabelled rows, part of which belong to neither.

    The classes have means 0.3 and -0.3 in every feature, and variance 0.08 in the first two, 10 in the others. Rows
    that belong to neither lie between them: ``"centred"`` ones around 0, with variance 0.1 in the first two features,
    ``"shifted"`` ones around 0.15 in every feature, with the variances of the classes. These are the two kinds of
    Section 5.5.1 in Yang (2011), whose classes are -1, 1 and 0. No rule for the two classes errs on less than
    :math:`\Phi(-\sqrt{2 \cdot 0.09 / 0.08 + (d - 2) \cdot 0.09 / 10})` of their rows, 5.1 % with 50 features.

    Parameters
    ----------
    n_labelled : int, default=200
        Labelled rows, half of each class; an odd one is of class 1. The thesis has 20, 50, 200 and 500.
    n_unlabelled : int, default=500
        Unlabelled rows. Without them, what is left serves as a test set.
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
