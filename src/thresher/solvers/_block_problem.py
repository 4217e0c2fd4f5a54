"""Linear models with penalties on blocks of weights, solved block by block in the core until a duality gap is small.

    min over W, c   sum_q mean_i loss(x_qi' W_q + c_q, y_qi) + (l2 / 2) |W|^2
                    + alpha sum_b ( weight_b |W_b|_p + l1 |W_b|_1 )

The lasso has blocks of one weight, the group lasso its groups, multi-task learning a feature's weights in all tasks.
Where groups overlap, a column has a weight in each of them, and the model has their sum.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from ._proximal import Array


class Solution(NamedTuple):
    """Solution of a problem, with a bound on its error.

    Attributes
    ----------
    coef : ndarray of shape (n_features,), or (n_tasks, n_features)
        The weights.
    intercept : float, or ndarray of shape (n_tasks,)
        The intercept, optimal for these weights; 0 without one.
    objective : float
        The value of the problem at this point.
    gap : float
        A duality gap: the objective is at most this much above its minimum.
    n_iter : int
        Passes over the weights.
    converged : bool
        Whether ``gap <= tol * max(1, abs(objective))``.
    """

    coef: Array
    intercept: Any
    objective: float
    gap: float
    n_iter: int
    converged: bool

    def of_one_output(self) -> Solution:
        return self._replace(coef=self.coef[0], intercept=float(self.intercept[0]))


class TaskData(NamedTuple):
    """Columns of the rows of a task, which are rows of the transposed matrix, and targets."""

    columns: _core.Rows
    y: Array


class WeightBlocks(NamedTuple):
    """Blocks of weights, one after the other: where they begin, the task and the column of each weight, what the norms
    of blocks count, the exponent of these norms, and what the l1 norm within counts."""

    starts: NDArray[np.int64]
    task: NDArray[np.int32]
    column: NDArray[np.int64]
    weight: Array
    norm: float
    l1: float


@dataclass(frozen=True)
class BlockProblem:
    """Mean losses of tasks, plus a penalty."""

    tasks: list[TaskData]
    loss: str
    epsilon: float
    fit_intercept: bool
    blocks: WeightBlocks
    l2: float = 0.0

    @cached_property
    def solver(self) -> _core.BlockSolver:
        columns, y = zip(*self.tasks, strict=True)
        share = [np.full(len(targets), 1 / len(targets)) for targets in y]
        b = self.blocks
        model = (self.loss, self.epsilon, self.fit_intercept)
        return _core.BlockSolver(list(columns), list(y), share, *model, b.starts, b.task, b.column)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the weights: a row for each task."""
        return len(self.tasks), self.tasks[0].columns.n_rows

    def alpha_max(self) -> float:
        """The smallest strength of the penalty at which all weights are 0."""
        return self.solver.largest(self.blocks.weight, self.blocks.norm, self.blocks.l1)

    def minimise(self, alpha: float, start: Solution | None, tol: float, max_iter: int) -> Solution:
        """From another solution on, or from 0."""
        b, (n_tasks, n_features) = self.blocks, self.shape
        place = b.task.astype(np.int64) * n_features + b.column
        w, c = np.zeros(len(place)), np.zeros(n_tasks)
        if start is not None:
            copies = np.bincount(place, minlength=n_tasks * n_features)  # of a column, where groups overlap
            w, c = start.coef.ravel()[place] / copies[place], np.array(start.intercept, dtype=np.float64)
        penalty = (alpha * b.weight, b.norm, alpha * b.l1, self.l2)
        objective, gap, n_iter = self.solver.solve(*penalty, w, c, tol, max_iter)
        coef: Array = (
            np.bincount(place, weights=w, minlength=n_tasks * n_features).reshape(self.shape).astype(np.float64)
        )
        return Solution(coef, c, objective, gap, n_iter, gap <= tol * max(1.0, abs(objective)))


def single_weights(n_features: int, n_tasks: int = 1) -> WeightBlocks:
    """The l1 norm."""
    return task_rows(n_features, n_tasks, 2.0, 0.0)._replace(
        starts=np.arange(n_features * n_tasks + 1), weight=np.ones(n_features * n_tasks)
    )


def task_rows(n_features: int, n_tasks: int, norm: float, l1_weight: float) -> WeightBlocks:
    """A norm of every feature's weights in all tasks, and an l1 norm."""
    return WeightBlocks(
        np.arange(0, n_features * n_tasks + 1, n_tasks),
        np.tile(np.arange(n_tasks, dtype=np.int32), n_features),
        np.repeat(np.arange(n_features), n_tasks),
        np.ones(n_features),
        norm,
        l1_weight,
    )


def column_groups(groups: list[NDArray[np.intp]], norm: float, l1_weight: float) -> WeightBlocks:
    """A norm of every group, of weight sqrt(size), and an l1 norm."""
    sizes = np.array([len(group) for group in groups])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    column = np.concatenate(groups).astype(np.int64)
    return WeightBlocks(starts, np.zeros(len(column), np.int32), column, np.sqrt(sizes), norm, l1_weight)
