"""Batch solvers, as functions whose results come with a bound on their error.

The learners of :mod:`thresher.dual_averaging` read each row once. These solvers read all rows at once and stop when a
duality gap shows that the objective is within ``tol`` of its minimum. Use them for data that fit in memory, and as a
reference for learners of streams.

:func:`lasso`, :func:`group_lasso` and :func:`multi_task` return a :class:`Solution`; :func:`penalty_path` returns those
for many strengths of a penalty as :class:`PathSolutions`, and :func:`alpha_max` and :func:`multi_task_alpha_max` say
where paths begin. The proximal maps are :func:`soft_threshold`, :func:`shrink`, :func:`prox_linf` and :func:`prox_lp`;
:func:`group_square` and :func:`group_square_conjugate` are the penalty that chooses among groups in
:mod:`thresher.confidence`.

:func:`box_qp` solves the dual of a support vector machine and of its relatives, pair by pair, and :func:`linear_qp` the
same on rows, for the inner product; both return a :class:`BoxSolution`.

Examples
--------
>>> import numpy as np
>>> from thresher.solvers import alpha_max, lasso
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(300, 50))
>>> y = np.where(X[:, 3] - X[:, 7] > 0.2, 1, -1)
>>> top = alpha_max(X, y, loss="logistic")
>>> lasso(X, y, 1.01 * top, loss="logistic").coef.any()
np.False_
>>> solution = lasso(X, y, 0.5 * top, loss="logistic")
>>> np.flatnonzero(solution.coef)
array([3, 7])
>>> solution.converged, solution.gap < 1e-8
(True, True)
"""

from ._block_problem import Solution
from ._box_qp import Boxes as Boxes
from ._box_qp import BoxSolution, box_qp
from ._group_square import group_square, group_square_conjugate
from ._linear_qp import linear_qp
from ._problems import alpha_max, group_lasso, lasso, multi_task, multi_task_alpha_max
from ._proximal import prox_linf, prox_lp, shrink, soft_threshold
from ._solution_path import PathSolutions, penalty_path

__all__ = [
    "BoxSolution",
    "PathSolutions",
    "Solution",
    "alpha_max",
    "box_qp",
    "group_lasso",
    "group_square",
    "group_square_conjugate",
    "lasso",
    "linear_qp",
    "multi_task",
    "multi_task_alpha_max",
    "penalty_path",
    "prox_linf",
    "prox_lp",
    "shrink",
    "soft_threshold",
]
