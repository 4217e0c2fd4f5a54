"""Solutions for many strengths of one penalty, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import Rule, at_least, boolean, checked, float_array, fraction, non_negative, positive
from . import _solver_input
from ._block_problem import Solution
from ._problems import group_problem
from ._proximal import Array

_part = Rule("a number above 0 and at most 1", lambda v: positive.holds(v) and fraction.holds(v))


class PathSolutions(NamedTuple):
    """Solutions for decreasing strengths of a penalty.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Strengths of the penalty, the largest first.
    coefs : ndarray of shape (n_alphas, n_features)
        The weights for each of them.
    intercepts : ndarray of shape (n_alphas,)
        The intercepts; 0 without one.
    objectives : ndarray of shape (n_alphas,)
        The value of each problem.
    gaps : ndarray of shape (n_alphas,)
        Duality gaps: each objective is at most this much above its minimum.
    n_iter : ndarray of int, shape (n_alphas,)
        Passes over the weights.
    converged : ndarray of bool, shape (n_alphas,)
        Whether ``gap <= tol * max(1, abs(objective))``.
    """

    alphas: Array
    coefs: Array
    intercepts: Array
    objectives: Array
    gaps: Array
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]


@checked(
    n_alphas=at_least(1),
    smallest=_part,
    l1_weight=non_negative,
    l2_weight=non_negative,
    loss=_solver_input.known_loss,
    epsilon=positive,
    fit_intercept=boolean,
    tol=positive,
    max_iter=at_least(1),
)
def penalty_path(
    X: Any,
    y: Any,
    alphas: Any = None,
    *,
    n_alphas: int = 30,
    smallest: float = 0.01,
    groups: Any = None,
    l1_weight: float = 0.0,
    l2_weight: float = 0.0,
    loss: str = "squared",
    epsilon: float = 0.1,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> PathSolutions:
    """Solve :func:`lasso`, or with ``groups`` :func:`group_lasso`, for many strengths of the penalty.

    Rows are read once, and each solution starts from the one before.

    Parameters
    ----------
    X, y
        As for :func:`lasso`.
    alphas : array of floats, optional
        Strengths of the penalty. By default ``n_alphas`` of them, evenly spaced on a log scale from :func:`alpha_max`,
        where all weights are 0, to ``smallest`` times that.
    n_alphas : int, default=30
        The number of strengths if ``alphas`` is not given.
    smallest : float, default=0.01
        The smallest strength as a fraction of the largest, if ``alphas`` is not given.
    groups, l1_weight
        As for :func:`group_lasso`; without groups, every column is one of its own.
    l2_weight, loss, epsilon, fit_intercept, tol, max_iter
        As for :func:`lasso`, for each strength.

    Returns
    -------
    PathSolutions
        ``alphas``, the largest first, and for each of them ``coefs``, ``intercepts``, ``objectives``, ``gaps``,
        ``n_iter`` and ``converged``.

    See Also
    --------
    thresher.paths.penalty_path : The same for streams, from one pass.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import penalty_path
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> path = penalty_path(X, 3 * X[:, 1] - X[:, 4], n_alphas=4, smallest=0.1)
    >>> (path.coefs != 0).sum(axis=1)
    array([0, 1, 2, 2])
    """
    who = "penalty_path"
    model = (loss, epsilon, fit_intercept)
    problem = group_problem(who, X, y, groups, model, l1_weight=l1_weight, l2_weight=l2_weight)
    if alphas is None:
        largest = problem.alpha_max()
        if not largest > 0:
            raise ValueError(f"{who}: all weights are 0 for every alpha; give alphas to solve anyway.")
        strengths = largest * np.geomspace(1.0, smallest, n_alphas)
    else:
        strengths = np.sort(float_array(alphas, "alphas", who).ravel())[::-1]
        if not len(strengths) or not (np.isfinite(strengths) & (strengths > 0)).all():
            raise ValueError(f"{who}: alphas must hold at least one number, and only numbers above 0.")
    found: list[Solution] = []
    for alpha in strengths:
        found.append(problem.minimise(float(alpha), found[-1] if found else None, tol, max_iter))
    coefs, intercepts, *rest = map(np.array, zip(*found, strict=True))
    return PathSolutions(strengths, coefs[:, 0], intercepts[:, 0], *rest)
