"""Rows generated from known weights or functions: sparse, in groups, over tasks, additive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import Rule, at_least, boolean, check_value, checked, fraction, non_negative, none, seed


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
    r"""Generate two classes separated by the sum of the first features, to test how many a learner finds.

    Features are independent and normal, and :math:`y = 1` if :math:`\sum_{i \le k} x_i + \epsilon > 0`, else 0, with
    :math:`\epsilon \sim N(0, \text{noise}^2)` and :math:`k` = ``n_relevant``. With half of the features it is the
    problem of Figures 4.6 and 4.7 in Jumutc (2016); the thesis measures how well the features are found as
    :func:`thresher.metrics.support_f1` does. No rule is wrong on less than :math:`\arctan(\text{noise} / \sqrt k) /
    \pi` of the rows: 4.5 % with 50 features that matter.

    Parameters
    ----------
    n_samples : int, default=10000
    n_features : int, default=100
    n_relevant : int, optional
        Number of features that matter; by default half of them, rounded down.
    noise : float, default=1.0
        Standard deviation of the noise added to the sum.
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
    r"""Generate two classes separated by groups of features, some of which matter only in part or not at all.

    The features form consecutive groups. Those of a group are normal, with variance 1 and correlation
    :math:`c^{|i - j|}`; groups are independent. In group g, ``active[g]`` features, drawn at random, have weight 1 or
    -1, the others 0, and

    .. math:: y = 1 \text{ if } w^\top x + \epsilon > 0, \text{ else } 0, \qquad \epsilon \sim N(0, \text{noise}^2).

    The defaults are the generator of Table 3.1 in Yang (2011): 100 features, of which 31 in six of ten groups matter.
    Even with all weights known, the error is :math:`\arctan(\text{noise} / \sqrt{w^\top \Sigma w}) / \pi`,
    about 20 %. Every call draws its own weights, so take training and test rows from one call.

    Parameters
    ----------
    n_samples : int, default=1000
    group_size : int, default=10
        Features of a group.
    active : sequence of int, default=(10, 8, 6, 4, 2, 1, 0, 0, 0, 0)
        For each group, how many of its features matter.
    correlation : float, default=0.2
        Correlation of neighbours in a group.
    noise : float, default=4.0
        Standard deviation of the noise added to the score before its sign is taken.
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
    r"""Generate rounds of a multi-task stream, each with a row of every task that is present.

    All tasks use the same few features, with weights of their own: :math:`w_{qj} = a_j + \text{spread} \cdot e_{qj}`
    with :math:`a_j, e_{qj} \sim N(0, 1)` for features that matter, 0 for the others. Features are independent and
    normal. Task q is present in a round with probability ``presence[q]``: if rates differ, a learner that treats an
    absent task as a gradient of 0, as in Remark 9 of Yang (2011), penalises rare tasks too much.

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
        How much the weights of tasks differ. With 0, all tasks are the same.
    noise : float, default=1.0
        Standard deviation of the noise added to the targets, or to the scores whose signs are the classes.
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
    r"""Generate two classes separated by curved functions of the first features, with three features per function.

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
