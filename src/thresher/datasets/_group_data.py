"""Sparse weights within sparse groups: Table 3.1 of Yang's thesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import Rule, at_least, boolean, checked, non_negative, seed

_ACTIVE = Rule(
    "one integer of at least 0 per group",
    lambda v: isinstance(v, (Sequence, np.ndarray)) and len(v) > 0 and all(at_least(0).holds(n) for n in v),
)
_CORRELATION = Rule("a number above -1 and below 1", lambda v: isinstance(v, (int, float)) and -1 < v < 1)


@checked(n_samples=at_least(1), group_size=at_least(1), active=_ACTIVE, correlation=_CORRELATION)
@checked(noise=non_negative, return_coef=boolean, random_state=seed)
def make_sparse_groups(
    n_samples: int = 1000,
    *,
    group_size: int = 10,
    active: Sequence[int] = (10, 8, 6, 4, 2, 1, 0, 0, 0, 0),
    correlation: float = 0.2,
    noise: float = 4.0,
    return_coef: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Two classes separated by groups of features, some of which matter in part and some not at all.

    The features stand in consecutive groups. Those of a group are normal, with variance 1 and correlation
    :math:`c^{|i - j|}`; groups are independent. In group g, ``active[g]`` features, drawn at random, have weight 1 or
    -1, the others 0, and

    .. math:: y = 1 \text{ if } w^\top x + \epsilon > 0, \text{ else } 0, \qquad \epsilon \sim N(0, \text{noise}^2).

    The defaults are the generator of Table 3.1 in Yang (2011): 100 features, of which 31 in six of ten groups matter.
    Signs that are known to the last leave an error of :math:`\arctan(\text{noise} / \sqrt{w^\top \Sigma w}) / \pi`,
    about 20 %. Every call draws weights of its own: take training and test rows from one call.

    Parameters
    ----------
    n_samples : int, default=1000
    group_size : int, default=10
        Features of a group.
    active : sequence of int, default=(10, 8, 6, 4, 2, 1, 0, 0, 0, 0)
        For each group, how many of its features matter.
    correlation : float, default=0.2
        Of neighbours in a group.
    noise : float, default=4.0
        Standard deviation of what is added to the score before its sign is taken.
    return_coef : bool, default=False
        Whether to return the weights and the groups, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, n_features) and (n_samples,)
        Rows with labels 0 and 1, the thesis' -1 and 1.
    coef, groups : ndarray of shape (n_features,)
        With ``return_coef``: the weights, and the group of each feature, counted from 0.

    Examples
    --------
    >>> from thresher.datasets import make_sparse_groups
    >>> X, y, coef, groups = make_sparse_groups(200, return_coef=True, random_state=0)
    >>> X.shape, [int((coef[groups == g] != 0).sum()) for g in range(10)]
    ((200, 100), [10, 8, 6, 4, 2, 1, 0, 0, 0, 0])
    """
    if max(active) > group_size:
        raise ValueError(f"make_sparse_groups: active must be at most group_size = {group_size}, got {max(active)}.")
    rng = generator(random_state)
    coef = np.zeros((len(active), group_size))
    for weights, n in zip(coef, active, strict=True):
        weights[rng.choice(group_size, n, replace=False)] = rng.choice([-1.0, 1.0], n)
    place = np.arange(group_size)
    root = np.linalg.cholesky(np.power(float(correlation), np.abs(place[:, None] - place)))
    X = (rng.standard_normal((n_samples, len(active), group_size)) @ root.T).reshape(n_samples, -1)
    y = (X @ coef.ravel() + noise * rng.standard_normal(n_samples) > 0).astype(np.int64)
    return (X, y, coef.ravel(), np.repeat(np.arange(len(active)), group_size)) if return_coef else (X, y)
