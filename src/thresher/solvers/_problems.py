"""Lasso, group lasso and multi-task learning as functions of rows and targets."""

from __future__ import annotations

from typing import Any

from .._gate import at_least, boolean, checked, non_negative, one_of, positive
from . import _solver_input
from ._block_problem import BlockProblem, Solution, WeightBlocks, column_groups, single_weights, task_rows

PENALTIES = ("l1", "l21", "l1_l21", "lp1")

_MODEL = {"loss": _solver_input.known_loss, "epsilon": positive, "fit_intercept": boolean}
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
    epsilon: float = 0.1,
    l2_weight: float = 0.0,
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""Solve the lasso or the elastic net.

    .. math:: \min_{w, b}\ \frac1n \sum_i \ell(x_i^\top w + b, y_i) + \alpha \|w\|_1 + \frac{\kappa}{2} \|w\|^2

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Rows. They are not scaled; with an intercept, columns are centred on the fly. CSC matrices and arrays in Fortran
        order are used as they are; other forms are copied.
    y : array of shape (n_samples,)
        Numbers for ``loss="squared"`` and ``"huber"``, -1 and 1 for the others.
    alpha : float
        Strength of the penalty (:math:`\lambda` in [1]_, on the scale of the mean loss). From :func:`alpha_max` on, all
        weights are 0.
    loss : {"squared_hinge", "logistic", "squared", "huber"}, default="squared"
        :math:`\ell`; the squared loss is half the square.
    epsilon : float, default=0.1
        With ``loss="huber"``, errors above this size cost linearly instead of quadratically.
    l2_weight : float, default=0.0
        Strength of the l2 penalty (:math:`\kappa`).
    fit_intercept : bool, default=True
        Whether to fit :math:`b`, which is not penalised.
    start : array of shape (n_features,), optional
        Weights to start from, for instance the solution at a larger ``alpha``. The intercept is found for them.
    tol : float, default=1e-8
        Stop when the duality gap is at most ``tol * max(1, objective)``.
    max_iter : int, default=10000
        Largest number of passes over the weights. A pass visits the weights that may be nonzero; the others are checked
        from time to time.

    Returns
    -------
    Solution
        ``coef``, ``intercept``, ``objective``, ``gap``, ``n_iter`` and ``converged``.

    Notes
    -----
    Each round takes the nonzero weights and those with the largest gradients, and improves them by proximal Newton
    steps [2]_: coordinate descent on a quadratic model of the losses, with Anderson acceleration [3]_, then a line
    search. For the squared loss, passes are combined as in the method of conjugate gradients. The duality gap is the
    stopping criterion, and excludes columns whose weight is 0 in the solution [4]_.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011.
    .. [2] G.-X. Yuan, C.-H. Ho and C.-J. Lin, "An improved GLMNET for l1-regularized logistic regression", JMLR 13,
       2012.
    .. [3] Q. Bertrand and M. Massias, "Anderson acceleration of coordinate descent", AISTATS, 2021.
    .. [4] E. Ndiaye, O. Fercoq, A. Gramfort and J. Salmon, "Gap safe screening rules for sparsity enforcing penalties",
       JMLR 18, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import lasso
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> lasso(X, [3.0, 1.5, -1.0, 0.5], alpha=0.5).coef
    array([1., 0.])
    """
    problem = group_problem("lasso", X, y, None, (loss, epsilon, fit_intercept), l2_weight=l2_weight)
    begin = _solver_input.start_at("lasso", start, problem.shape[1:])
    return problem.minimise(float(alpha), begin, tol, max_iter).of_one_output()


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
    epsilon: float = 0.1,
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""Solve the group lasso or, with ``l1_weight``, the sparse group lasso.

    .. math:: \min_{w, b}\ \frac1n \sum_i \ell(x_i^\top w + b, y_i)
              + \alpha \sum_g \big( \sqrt{d_g}\, \|w_g\| + r \|w_g\|_1 \big)

    Overlapping groups have the latent form: every group has weights of its own, the model is their sum, and the
    features selected are a union of groups.

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
    loss, epsilon, fit_intercept, start, tol, max_iter
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
    model = (loss, epsilon, fit_intercept)
    problem = group_problem("group_lasso", X, y, groups, model, l1_weight=l1_weight, norm=norm)
    begin = _solver_input.start_at("group_lasso", start, problem.shape[1:])
    return problem.minimise(float(alpha), begin, tol, max_iter).of_one_output()


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
    epsilon: float = 0.1,
    fit_intercept: bool = True,
    start: Any = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Solution:
    r"""Solve several tasks that share features, with a penalty on the weights of each feature over all tasks.

    .. math:: \min_{W, b}\ \sum_q \frac{1}{n_q} \sum_i \ell(x_{qi}^\top w_q + b_q, y_{qi}) + \alpha\, \Omega(W)

    ============ ========================================= ==================================================
    penalty      :math:`\Omega`, :math:`W_j` of feature j
    ============ ========================================= ==================================================
    ``"l1"``     :math:`\sum_j \|W_j\|_1`                  every task separately (iMTFS)
    ``"l21"``    :math:`\sum_j \|W_j\|_2`                  a feature is used in all tasks or none (aMTFS)
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
        The exponent of ``"lp1"``; ``inf`` is allowed.
    l1_weight : float, default=0.0
        :math:`r` of ``"l1_l21"`` and ``"lp1"``.
    loss, epsilon, fit_intercept, start, tol, max_iter
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
    problem = _task_problem("multi_task", Xs, ys, penalty, p, l1_weight, (loss, epsilon, fit_intercept))
    return problem.minimise(float(alpha), _solver_input.start_at("multi_task", start, problem.shape), tol, max_iter)


@checked(**_GROUPS, **_MODEL)
def alpha_max(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    l1_weight: float = 0.0,
    norm: float = 2,
    loss: str = "squared",
    epsilon: float = 0.1,
    fit_intercept: bool = True,
) -> float:
    """Compute the smallest ``alpha`` at which :func:`lasso`, or with ``groups`` :func:`group_lasso`, gives all zeros.

    Examples
    --------
    >>> from thresher.solvers import alpha_max
    >>> alpha_max([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [3.0, 1.5, -1.0, 0.5])
    1.0
    """
    model = (loss, epsilon, fit_intercept)
    return group_problem("alpha_max", X, y, groups, model, l1_weight=l1_weight, norm=norm).alpha_max()


@checked(**_MODEL, **_SHARED)
def multi_task_alpha_max(
    Xs: Any,
    ys: Any,
    *,
    penalty: str = "l21",
    p: float = 2.0,
    l1_weight: float = 0.0,
    loss: str = "squared",
    epsilon: float = 0.1,
    fit_intercept: bool = True,
) -> float:
    """Compute the smallest ``alpha`` at which :func:`multi_task` sets all weights to 0.

    Examples
    --------
    >>> from thresher.solvers import multi_task_alpha_max
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> multi_task_alpha_max([X, X], [[6.0, 0.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0]])
    2.5
    """
    model = (loss, epsilon, fit_intercept)
    return _task_problem("multi_task_alpha_max", Xs, ys, penalty, p, l1_weight, model).alpha_max()


def group_problem(
    who: str,
    X: Any,
    y: Any,
    groups: Any,
    model: tuple[str, float, bool],
    *,
    l1_weight: float = 0.0,
    l2_weight: float = 0.0,
    norm: float = 2.0,
) -> BlockProblem:
    """The problem of columns, or of groups of them."""
    loss, epsilon, fit_intercept = model
    task = _solver_input.task(who, _solver_input.as_columns(X, who), y, loss, fit_intercept)
    n_features = task.columns.n_rows
    if groups is None:
        blocks = single_weights(n_features)._replace(l1=float(l1_weight))
    else:
        members = _solver_input.index_groups(who, groups, n_features)
        blocks = column_groups(members, float(norm), float(l1_weight))
    return BlockProblem([task], loss, float(epsilon), fit_intercept, blocks, float(l2_weight))


def _task_problem(
    who: str, Xs: Any, ys: Any, penalty: str, p: float, l1_weight: float, model: tuple[str, float, bool]
) -> BlockProblem:
    loss, epsilon, fit_intercept = model
    tasks = _solver_input.tasks(who, Xs, ys, loss, fit_intercept)
    blocks = _shared(who, tasks[0].columns.n_rows, len(tasks), penalty, p, l1_weight)
    return BlockProblem(tasks, loss, float(epsilon), fit_intercept, blocks)


def _shared(who: str, n_features: int, n_tasks: int, penalty: str, p: float, l1_weight: float) -> WeightBlocks:
    if l1_weight and penalty in ("l1", "l21"):
        raise ValueError(f"{who}: l1_weight must be 0 with penalty={penalty!r}, got {l1_weight}.")
    if penalty == "l1":
        return single_weights(n_features, n_tasks)
    return task_rows(n_features, n_tasks, float(p) if penalty == "lp1" else 2.0, float(l1_weight))
