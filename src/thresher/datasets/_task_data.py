"""Several tasks that share the features that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import Rule, at_least, boolean, checked, fraction, non_negative, seed

_RATE = Rule("a number above 0 and at most 1", lambda v: fraction.holds(v) and v > 0)
_PRESENCE = Rule(
    f"{_RATE.says}, or one per task",
    lambda v: _RATE.holds(v) or (isinstance(v, (Sequence, np.ndarray)) and all(_RATE.holds(p) for p in v)),
)


@checked(n_rounds=at_least(1), n_features=at_least(1), n_tasks=at_least(1), n_relevant=at_least(0), presence=_PRESENCE)
@checked(spread=non_negative, noise=non_negative, classes=boolean, return_coef=boolean, random_state=seed)
def make_multi_task(
    n_rounds: int = 500,
    n_features: int = 50,
    n_tasks: int = 6,
    *,
    n_relevant: int = 5,
    presence: float | Sequence[float] = 1.0,
    spread: float = 0.5,
    noise: float = 1.0,
    classes: bool = False,
    return_coef: bool = False,
    random_state: Any = None,
) -> tuple[Any, ...]:
    r"""Rounds of a multi-task stream: in each, a row of every task that is present.

    All tasks use the same few features, with weights of their own: :math:`w_{qj} = a_j + \text{spread} \cdot e_{qj}`
    with :math:`a_j, e_{qj} \sim N(0, 1)` for features that matter, 0 for the others. Features are independent and
    normal. Task q is present in a round with probability ``presence[q]``: with rates that differ, a learner that takes
    an absent task for a gradient of 0, as Remark 9 of Yang (2011) does, penalises rare tasks too much.

    Parameters
    ----------
    n_rounds : int, default=500
    n_features : int, default=50
    n_tasks : int, default=6
    n_relevant : int, default=5
        Features that matter, the same for all tasks.
    presence : float or sequence of float, default=1.0
        The rate at which a task is present, above 0; one for all or one per task.
    spread : float, default=0.5
        How far the weights of tasks lie apart. With 0 there is one task under many names.
    noise : float, default=1.0
        Standard deviation of what is added to the targets, or to the scores whose sign makes classes.
    classes : bool, default=False
        Whether targets are labels 0 and 1 instead of numbers.
    return_coef : bool, default=False
        Whether to return the weights, too.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        In the order of rounds, and of tasks in a round. With ``presence=1.0`` there are ``n_rounds * n_tasks`` rows.
    y : ndarray of shape (n_samples,)
    tasks, rounds : ndarray of shape (n_samples,)
        The task and the round of each row, counted from 0. A round in which no task is present has no row.
    coef : ndarray of shape (n_tasks, n_features)
        With ``return_coef``: the weights.

    Examples
    --------
    >>> from thresher.datasets import make_multi_task
    >>> X, y, tasks, rounds, coef = make_multi_task(100, 20, 3, return_coef=True, random_state=0)
    >>> X.shape, tasks[:6].tolist(), rounds[:6].tolist(), (coef != 0).sum(axis=1).tolist()
    ((300, 20), [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], [5, 5, 5])
    """
    who = "make_multi_task"
    if n_relevant > n_features:
        raise ValueError(f"{who}: n_relevant must be at most n_features = {n_features}, got {n_relevant}.")
    if np.ndim(presence) and np.size(presence) != n_tasks:
        raise ValueError(f"{who}: presence must hold {n_tasks} rates, one per task, got {np.size(presence)}.")
    rng = generator(random_state)
    coef = np.zeros((n_tasks, n_features))
    relevant = np.sort(rng.choice(n_features, n_relevant, replace=False))
    coef[:, relevant] = rng.standard_normal(n_relevant) + spread * rng.standard_normal((n_tasks, n_relevant))
    rounds, tasks = np.nonzero(rng.random((n_rounds, n_tasks)) < np.asarray(presence, dtype=float))
    X = rng.standard_normal((len(tasks), n_features))
    y = np.einsum("ij,ij->i", X, coef[tasks]) + noise * rng.standard_normal(len(tasks))
    y = (y > 0).astype(np.int64) if classes else y
    return (X, y, tasks, rounds, coef) if return_coef else (X, y, tasks, rounds)
