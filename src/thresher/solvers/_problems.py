"""Lasso, group lasso and multi-task learning as functions of rows and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import at_least, boolean, checked, non_negative, one_of, positive
from . import _solver_input
from ._fista import CompositeProblem, Solution
from ._penalties import BlockPenalty, grouped, rows_of, singles
from ._proximal import Array
from ._solver_rows import LOSSES, TaskRows
from ._working_set import minimise_sparse

PENALTIES = ("l1", "l21", "l1_l21", "lp1")

_MODEL = {"loss": _solver_input.known_loss, "fit_intercept": boolean}
_SOLVER = {"alpha": positive, "tol": positive, "max_iter": at_least(1), **_MODEL}
_GROUPS = {"l1_weight": non_negative, "norm": _solver_input.two_or_inf}
_SHARED = {"penalty": one_of(*PENALTIES), "p": _solver_input.above_one, "l1_weight": non_negative}


@checked(l2_weight=non_negative, **_SOLVER)
def lasso(
    X: Any,
    y: Any,
    alpha: float,
    *,
    loss: str = "squared",
    l2_weight: float = 0.0,
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""The lasso, and the elastic net: few features, chosen one by one.

    .. math:: \min_{w, b}\ \frac1n \sum_i \ell(x_i^\top w + b, y_i) + \alpha \|w\|_1 + \frac{\kappa}{2} \|w\|^2

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows. They are not scaled; with an intercept, columns are centred on the fly.
    y : array of shape (n_samples,)
        Numbers for ``loss="squared"``, -1 and 1 for the others.
    alpha : float
        Strength of the penalty (:math:`\lambda` in [1]_, on the scale of the mean loss). From :func:`alpha_max` on, all
        weights are 0.
    loss : {"squared_hinge", "logistic", "squared"}, default="squared"
        :math:`\ell`; the squared loss is half the square.
    l2_weight : float, default=0.0
        Strength of the l2 penalty (:math:`\kappa`).
    fit_intercept : bool, default=True
        Whether to fit :math:`b`, which is not penalised.
    start : array of shape (n_features,), optional
        Weights to start from, for instance the solution at a larger ``alpha``. The intercept is found for them.
    tol : float, default=1e-8
        Stop when the duality gap is at most ``tol * max(1, objective)``.
    max_iter : int, default=10000
        Proximal gradient steps at most. Each costs two products with ``X``, or where there are hundreds of columns with
        those that may matter: all others are looked at now and then.

    Returns
    -------
    Solution
        ``coef``, ``intercept``, ``objective``, ``gap``, ``n_iter`` and ``converged``.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import lasso
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> lasso(X, [3.0, 1.5, -1.0, 0.5], alpha=0.5).coef
    array([1., 0.])
    """
    task = _solver_input.task("lasso", X, y, loss, fit_intercept)
    W = _solver_input.weights("lasso", start, (task.n_features,))[:, None]
    problem = CompositeProblem([task], LOSSES[loss], singles(task.n_features).times(float(alpha)), float(l2_weight))
    return _one_output(minimise_sparse(problem, W, tol, max_iter))


@checked(**_GROUPS, **_SOLVER)
def group_lasso(
    X: Any,
    y: Any,
    groups: Any,
    alpha: float,
    *,
    l1_weight: float = 0.0,
    norm: float = 2,
    loss: str = "squared",
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""The group lasso, and with ``l1_weight`` the sparse group lasso: features that come and go together.

    .. math:: \min_{w, b}\ \frac1n \sum_i \ell(x_i^\top w + b, y_i)
              + \alpha \sum_g \big( \sqrt{d_g}\, \|w_g\| + r \|w_g\|_1 \big)

    Groups that overlap are taken in the latent form: every group has weights of its own, the model is their sum, and
    the features chosen are a union of groups.

    Parameters
    ----------
    X, y
        As for :func:`lasso`.
    groups : list of arrays of column indices
        A column in no group is a group of its own.
    alpha : float
        Strength of the penalty (:math:`\lambda` in [1]_).
    l1_weight : float, default=0.0
        Weight of the l1 norm within groups (:math:`r_g` in [1]_), for all groups.
    norm : {2, inf}, default=2
        The norm of a group.
    loss, fit_intercept, start, tol, max_iter
        As for :func:`lasso`.

    Returns
    -------
    Solution
        See :func:`lasso`.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import group_lasso
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> solution = group_lasso(X, X[:, 2] + X[:, 3], [[0, 1], [2, 3], [4, 5]], alpha=0.3)
    >>> np.flatnonzero(solution.coef)
    array([2, 3])
    """
    task = _solver_input.task("group_lasso", X, y, loss, fit_intercept)
    w = _solver_input.weights("group_lasso", start, (task.n_features,))
    penalty, columns = _groups("group_lasso", groups, task.n_features, norm, l1_weight)
    W = w
    if columns is not None:
        task = TaskRows(task.X[:, columns], task.y, task.loss, fit_intercept)
        W = (w / np.bincount(columns, minlength=len(w)))[columns]
    problem = CompositeProblem([task], LOSSES[loss], penalty.times(float(alpha)), 0.0)
    found = _one_output(minimise_sparse(problem, W[:, None], tol, max_iter))
    if columns is None:
        return found
    summed: Array = np.bincount(columns, weights=found.coef, minlength=len(w)).astype(np.float64)
    return found._replace(coef=summed)


@checked(**_SOLVER, **_SHARED)
def multi_task(
    Xs: Any,
    ys: Any,
    alpha: float,
    *,
    penalty: str = "l21",
    p: float = 2.0,
    l1_weight: float = 0.0,
    loss: str = "squared",
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""Several tasks that share features: one row of weights per task, and a penalty on what a feature has in all.

    .. math:: \min_{W, b}\ \sum_q \frac{1}{n_q} \sum_i \ell(x_{qi}^\top w_q + b_q, y_{qi}) + \alpha\, \Omega(W)

    ============ ========================================= ==================================================
    penalty      :math:`\Omega`, :math:`W_j` of feature j
    ============ ========================================= ==================================================
    ``"l1"``     :math:`\sum_j \|W_j\|_1`                  every task for itself (iMTFS)
    ``"l21"``    :math:`\sum_j \|W_j\|_2`                  a feature counts in all tasks or in none (aMTFS)
    ``"l1_l21"`` :math:`\sum_j \|W_j\|_2 + r \|W_j\|_1`    the same, and sparse within (MTFTS)
    ``"lp1"``    :math:`\sum_j \|W_j\|_p + r \|W_j\|_1`    any :math:`1 < p \le \infty`
    ============ ========================================= ==================================================

    Parameters
    ----------
    Xs, ys : lists of arrays
        Rows and targets of every task, as for :func:`lasso`; all have the same features, not the same rows.
    alpha : float
        Strength of the penalty (:math:`\lambda` in [1]_). Not multiplied by the root of the number of tasks.
    penalty : {"l1", "l21", "l1_l21", "lp1"}, default="l21"
        See the table.
    p : float, default=2.0
        Of ``"lp1"``; ``inf`` is allowed.
    l1_weight : float, default=0.0
        :math:`r` of ``"l1_l21"`` and ``"lp1"``.
    loss, fit_intercept, start, tol, max_iter
        As for :func:`lasso`; ``start`` has shape (n_tasks, n_features).

    Returns
    -------
    Solution
        With ``coef`` of shape (n_tasks, n_features) and ``intercept`` of shape (n_tasks,).

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import multi_task
    >>> rng = np.random.default_rng(0)
    >>> Xs = [rng.normal(size=(100, 5)) for _ in range(3)]
    >>> ys = [X[:, 1] * k for k, X in enumerate(Xs, start=1)]
    >>> multi_task(Xs, ys, alpha=1.0).coef.any(axis=0)
    array([False,  True, False, False, False])
    """
    tasks = _solver_input.tasks("multi_task", Xs, ys, loss, fit_intercept)
    shape = (len(tasks), tasks[0].n_features)
    omega = _shared("multi_task", shape, penalty, p, l1_weight)
    W = _solver_input.weights("multi_task", start, shape).T
    found = minimise_sparse(CompositeProblem(tasks, LOSSES[loss], omega.times(float(alpha)), 0.0), W, tol, max_iter)
    return found._replace(coef=np.ascontiguousarray(found.coef.T))


@checked(**_GROUPS, **_MODEL)
def alpha_max(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    l1_weight: float = 0.0,
    norm: float = 2,
    loss: str = "squared",
    fit_intercept: bool = True,
) -> float:
    """The smallest ``alpha`` at which :func:`lasso`, or with ``groups`` :func:`group_lasso`, sets all weights to 0.

    Examples
    --------
    >>> from thresher.solvers import alpha_max
    >>> alpha_max([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [3.0, 1.5, -1.0, 0.5])
    1.0
    """
    who = "alpha_max"
    task = _solver_input.task(who, X, y, loss, fit_intercept)
    penalty, columns = _groups(who, [] if groups is None else groups, task.n_features, norm, l1_weight)
    gradient = CompositeProblem([task], LOSSES[loss], penalty, 0.0).null_gradient()
    return penalty.polar(gradient if columns is None else gradient[columns])


@checked(**_MODEL, **_SHARED)
def multi_task_alpha_max(
    Xs: Any,
    ys: Any,
    *,
    penalty: str = "l21",
    p: float = 2.0,
    l1_weight: float = 0.0,
    loss: str = "squared",
    fit_intercept: bool = True,
) -> float:
    """The smallest ``alpha`` at which :func:`multi_task` sets all weights to 0.

    Examples
    --------
    >>> from thresher.solvers import multi_task_alpha_max
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> multi_task_alpha_max([X, X], [[6.0, 0.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0]])
    2.5
    """
    who = "multi_task_alpha_max"
    tasks = _solver_input.tasks(who, Xs, ys, loss, fit_intercept)
    omega = _shared(who, (len(tasks), tasks[0].n_features), penalty, p, l1_weight)
    return omega.polar(CompositeProblem(tasks, LOSSES[loss], omega, 0.0).null_gradient())


def _groups(
    who: str, groups: Any, n_features: int, norm: float, l1_weight: float
) -> tuple[BlockPenalty, NDArray[np.intp] | None]:
    """The penalty, and where groups overlap the columns that it is a penalty of, some more than once."""
    found = _solver_input.index_groups(who, groups, n_features)
    columns = np.concatenate(found)
    if len(columns) == n_features:
        return grouped(found, float(norm), float(l1_weight)), None
    copies = np.split(np.arange(len(columns)), np.cumsum([len(group) for group in found])[:-1])
    return grouped(copies, float(norm), float(l1_weight)), columns


def _shared(who: str, shape: tuple[int, int], penalty: Any, p: Any, l1_weight: Any) -> BlockPenalty:
    """The penalty of weights that are laid out with a row per feature."""
    if l1_weight and penalty in ("l1", "l21"):
        raise ValueError(f"{who}: l1_weight must be 0 with penalty={penalty!r}, got {l1_weight}.")
    n_tasks, n_features = shape
    if penalty == "l1":
        return singles(n_features * n_tasks)
    return rows_of(n_features, n_tasks, float(p) if penalty == "lp1" else 2.0, float(l1_weight))


def _one_output(found: Solution) -> Solution:
    return found._replace(coef=found.coef[:, 0], intercept=float(found.intercept[0]))
