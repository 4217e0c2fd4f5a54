"""Sums of functions of single features: the toy problems of generalised multiple kernel learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import generator
from .._gate import Rule, at_least, boolean, check_value, checked, non_negative, seed

_FUNCTIONS: tuple[Any, ...] = (  # each of mean 0 over [0, 1]
    lambda a: 1 - np.cos(2) - 2 * np.sin(2 * a),
    lambda a: a**2 - 1 / 3,
    lambda a: a - 1 / 2,
    lambda a: np.exp(-a) + np.exp(-1) - 1,
)
_IN_A_GROUP = 3
_EXAMPLE = Rule("1 or 2", lambda v: v in (1, 2))


@checked(example=_EXAMPLE, n_samples=at_least(1), noise=non_negative, return_groups=boolean, random_state=seed)
def make_additive(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    example: int = 1,
    noise: float = 1.0,
    return_groups: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Two classes separated by curved functions of the first features, three features to a function.

    Features are uniform on [0, 1], and :math:`y = 1` if :math:`\sum_j f_j(x_j) + \epsilon > 0`, else 0, with
    :math:`\epsilon \sim N(0, \text{noise}^2)`. In example 1, the first three features count by
    :math:`f_1(a) = 1 - \cos 2 - 2 \sin 2a`; in example 2, the next three by :math:`f_2(a) = a^2 - 1/3`, three more by
    :math:`f_3(a) = a - 1/2` and three by :math:`f_4(a) = e^{-a} + e^{-1} - 1`, too. All others are noise.
    Toy 1 and Toy 2 of Tables 6.2 and 6.4 in Yang (2011), with 150 rows to learn from and 150 to test.

    Parameters
    ----------
    n_samples : int, default=300
    n_features : int, default=20
        At least 3, or 12 for example 2.
    example : {1, 2}, default=1
    noise : float, default=1.0
        Standard deviation of the noise added to the sum.
    return_groups : bool, default=False
        Whether to return the groups, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, n_features) and (n_samples,)
        Rows with labels 0 and 1.
    groups : ndarray of shape (n_features,)
        With ``return_groups``: the function of each feature, counted from 0, and -1 for features that are noise.

    Examples
    --------
    >>> from thresher.datasets import make_additive
    >>> X, y, groups = make_additive(example=2, n_features=14, return_groups=True, random_state=0)
    >>> X.shape, groups.tolist()
    ((300, 14), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, -1, -1])
    """
    functions = _FUNCTIONS[: 1 if example == 1 else 4]
    check_value("make_additive", "n_features", n_features, at_least(_IN_A_GROUP * len(functions)))
    rng = generator(random_state)
    X = rng.random((n_samples, n_features))
    groups = np.full(n_features, -1)
    score = noise * rng.standard_normal(n_samples)
    for g, f in enumerate(functions):
        columns = slice(_IN_A_GROUP * g, _IN_A_GROUP * (g + 1))
        groups[columns] = g
        score += f(X[:, columns]).sum(axis=1)
    y = (score > 0).astype(np.int64)
    return (X, y, groups) if return_groups else (X, y)
