"""Equal weights on the first features: the recovery problem of Jumutc's thesis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import generator
from .._gate import at_least, boolean, checked, non_negative, none, seed


@checked(n_samples=at_least(1), n_features=at_least(1), n_relevant=at_least(0) | none, noise=non_negative)
@checked(return_coef=boolean, random_state=seed)
def make_recovery(
    n_samples: int = 10_000,
    n_features: int = 100,
    *,
    n_relevant: int | None = None,
    noise: float = 1.0,
    return_coef: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Two classes separated by the sum of the first features; how many of them does a learner find?

    Features are independent and normal, and :math:`y = 1` if :math:`\sum_{i \le k} x_i + \epsilon > 0`, else 0, with
    :math:`\epsilon \sim N(0, \text{noise}^2)` and :math:`k` = ``n_relevant``. With half of the features it is the
    problem of Figures 4.6 and 4.7 in Jumutc (2016); how well the features are found is measured there as
    :func:`thresher.metrics.support_f1` does. No rule errs on less than :math:`\arctan(\text{noise} / \sqrt k) / \pi`
    of the rows: 4.5 % with 50 features that matter.

    Parameters
    ----------
    n_samples : int, default=10000
    n_features : int, default=100
    n_relevant : int, optional
        How many matter; half of the features, rounded down, by default.
    noise : float, default=1.0
        Standard deviation of what is added to the sum.
    return_coef : bool, default=False
        Whether to return the weights, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X, y : ndarray of shapes (n_samples, n_features) and (n_samples,)
        Rows with labels 0 and 1.
    coef : ndarray of shape (n_features,)
        With ``return_coef``: the weights, 1 or 0.

    Examples
    --------
    >>> from thresher.datasets import make_recovery
    >>> X, y, coef = make_recovery(500, 20, return_coef=True, random_state=0)
    >>> X.shape, int(coef.sum())
    ((500, 20), 10)
    """
    n_relevant = n_features // 2 if n_relevant is None else n_relevant
    if n_relevant > n_features:
        raise ValueError(f"make_recovery: n_relevant must be at most n_features = {n_features}, got {n_relevant}.")
    rng = generator(random_state)
    coef = np.zeros(n_features)
    coef[:n_relevant] = 1.0
    X = rng.standard_normal((n_samples, n_features))
    y = (X @ coef + noise * rng.standard_normal(n_samples) > 0).astype(np.int64)
    return (X, y, coef) if return_coef else (X, y)
