"""Directed search: look along every coordinate, go where it is better, look closer when it is nowhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._gate import checked
from ._simplex import PART_OF_A_RANGE, TOL
from ._trials import OF_A_SEARCH, Array, Budget, Params, SearchResult, Steps, Trials, Walk, maximise

STEP = 0.25  # first distance, in widths of the box


def poll(start: Array, step: float = STEP, tol: float = TOL) -> Steps:
    """Evaluate ``x +- step e_i`` for all i; move to the best if it is better than x, halve the step otherwise.

    Ends when the step is below ``tol``.
    """
    x = start
    (energy,) = yield x[None]
    directions = np.vstack([np.eye(len(x)), -np.eye(len(x))])
    while step >= tol:
        points = np.clip(x + step * directions, 0.0, 1.0)
        energies = yield points
        best = int(energies.argmin())
        if energies[best] < energy:
            x, energy = points[best], energies[best]
        else:
            step /= 2


def directed(start: Mapping[str, Any] | None, step: float = STEP, tol: float = TOL) -> Callable[[Trials], Any]:
    """The search of :func:`directed_search`."""
    return lambda trials: trials.follow("directed", Walk(poll(trials.place(start), step, tol)))


@checked(**OF_A_SEARCH, step=PART_OF_A_RANGE, tol=PART_OF_A_RANGE)
def directed_search(
    objective: Callable[[Params], float],
    space: Mapping[str, Any],
    *,
    start: Mapping[str, Any] | None = None,
    step: float = STEP,
    tol: float = TOL,
    n_evaluations: int = 100,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    error_score: Any = math.nan,
) -> SearchResult:
    """Maximise a function by looking both ways along every coordinate, closer and closer.

    Nothing is random. It is hard to beat where there is one hill, and stays on the first one where there are several:
    :func:`coupled_annealing` looks at more of them.

    Parameters
    ----------
    objective, space, n_evaluations, max_seconds, error_score
        As for :func:`coupled_annealing`.
    start : dict, optional
        First point; the middle of the space unless given.
    step : float, default=0.25
        First distance, as a part of each range. Halved whenever nothing better is found.
    tol : float, default=0.005
        Stop when the step is below this part of each range.
    n_jobs : int, optional
        Processes for the points of a step, two per parameter.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> from thresher.tuning import Whole, directed_search
    >>> found = directed_search(lambda p: -abs(p["depth"] - 7), {"depth": Whole(1, 50)})
    >>> found.params, found.stopped
    ({'depth': 7}, 'converged')
    """
    budget = Budget(n_evaluations, max_seconds, n_jobs, error_score)
    return maximise("directed_search", objective, space, directed(start, step, tol), start, budget)
