"""Few columns of many: the problem is solved on those that matter, and the answer is judged on all.

Where most weights end at 0, most of a proximal gradient step multiplies by columns that are not in use. So a round
solves the same problem on a working set of columns, the weights of all others 0; then the gradient of the whole problem
says which blocks of the penalty would leave 0, and those that are pulled hardest join the set. Sets only grow, and at
most double.

The gap is that of the whole problem. Where no block outside is pulled from 0, it is the gap on the set; so every round
takes steps, or enlarges the set, or ends the search.   Massias, Gramfort and Salmon, ICML 80 (2018).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._fista import CompositeProblem, Solution, minimise
from ._penalties import BlockPenalty
from ._proximal import Array
from ._solver_rows import TaskRows

Flags = NDArray[np.bool_]

_FIRST = 200  # columns that the first set has, about
_MOST = 0.5  # of all columns: with more in the set, leaving the others out gains little
_NEARER = 0.1  # of the gap on all columns may be left on the set


def minimise_sparse(problem: CompositeProblem, W: Array, tol: float, max_iter: int) -> Solution:
    """As :func:`minimise`, which every round calls on a part of the columns."""
    most = _MOST * len(W)
    if most <= _FIRST:
        return minimise(problem, W, tol, max_iter)
    W = W.copy()
    chosen: Flags = (W != 0).any(axis=1)
    scores = problem.scores(W)
    n_iter, lower, idle = 0, -np.inf, False
    while True:
        here = problem.certify(W, scores)
        lower = max(lower, here.lower)
        found = problem.solution(W, here, lower, n_iter, tol)
        left = max_iter - n_iter
        if found.converged or not left:
            return found
        before, chosen = chosen, enlarged(problem.penalty, here.gradient, chosen)
        stuck = idle and (chosen == before).all()  # the rest of the gap is rounding
        if stuck or not 0 < chosen.sum() <= most:
            whole = minimise(problem, W, tol, left)
            return whole._replace(n_iter=n_iter + whole.n_iter)
        near = _NEARER * max(found.gap / max(1.0, abs(found.objective)), tol)
        W, scores, n_steps = _on_set(problem, np.flatnonzero(chosen), W, near, left)
        n_iter, idle = n_iter + n_steps, n_steps == 0


def _on_set(
    problem: CompositeProblem, columns: NDArray[np.intp], W: Array, tol: float, max_iter: int
) -> tuple[Array, list[Array], int]:
    """Weights that are best where only those of ``columns`` may differ from 0, their scores, and the steps taken."""
    part = on_columns(problem, columns)
    found = minimise(part, W[columns], tol, max_iter)
    W = np.zeros_like(W)
    W[columns] = found.coef
    return W, part.scores(found.coef), found.n_iter


def enlarged(penalty: BlockPenalty, G: Array, chosen: Flags) -> Flags:
    """The set, and with it whole blocks that the gradient pulls from 0, the hardest first, until it has doubled."""
    n_tasks = G.shape[1]
    features = [b.places // n_tasks for b in penalty.blocks]
    chosen = chosen.copy()
    pulls = []
    for members, pull in zip(features, penalty.pulls(G), strict=True):
        inside = chosen[members].any(axis=1)
        chosen[members[inside]] = True  # a start may use a block in part
        pulls.append(np.where(inside, 0.0, pull))
    pull, sizes = np.concatenate(pulls), np.repeat([m.shape[1] for m in features], [len(m) for m in features])
    order = np.argsort(-pull, kind="stable")[: np.count_nonzero(pull > 1)]
    room = n_tasks * max(_FIRST, int(chosen.sum()))  # in weights
    order = order[: max(1, np.searchsorted(np.cumsum(sizes[order]), room, side="right"))]
    joins = np.zeros(len(pull), dtype=bool)
    joins[order] = True
    for members, some in zip(features, np.split(joins, np.cumsum([len(m) for m in features])[:-1]), strict=True):
        chosen[members[some]] = True
    return chosen


def on_columns(problem: CompositeProblem, columns: NDArray[np.intp]) -> CompositeProblem:
    """The problem of these columns alone, which are a union of blocks; tasks that share rows still do."""
    rows = {id(task.X): task.X for task in problem.tasks}
    parts = {name: X[:, columns] for name, X in rows.items()}
    tasks = [TaskRows(parts[id(task.X)], task.y, task.loss, task.fit_intercept) for task in problem.tasks]
    penalty = problem.penalty.on_rows(columns, problem.tasks[0].n_features, len(tasks))
    return CompositeProblem(tasks, problem.loss, penalty, problem.l2)
