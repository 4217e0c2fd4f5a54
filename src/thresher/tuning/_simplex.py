"""Nelder and Mead's simplex, inside a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._gate import Rule, checked
from ._trials import OF_A_SEARCH, Array, Budget, Params, SearchResult, Steps, Trials, Walk, maximise

SIZE = 0.25  # of the first simplex, in widths of the box
TOL = 0.005  # below this size of the simplex it has nothing more to say

PART_OF_A_RANGE = Rule(
    "a number above 0 and up to 1", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and 0 < v <= 1
)


def simplex(start: Array, size: float = SIZE, tol: float = TOL) -> Steps:
    """Reflect the worst of d + 1 points at the centre of the others; stretch, shorten or shrink by what comes of it.

    Points are kept in the box by moving each coordinate to the nearest end. Ends when no coordinate of the points
    differs by more than ``tol``. Nelder and Mead (1965), with their coefficients 1, 2, 1/2 and 1/2.
    """
    points = first_simplex(start, size)
    energies = yield points
    while np.ptp(points, axis=0).max() > tol:
        order = np.argsort(energies, kind="stable")
        points, energies = points[order], energies[order]
        centre, worst = points[:-1].mean(axis=0), points[-1]
        reflected = _inside(2 * centre - worst)
        (energy,) = yield reflected[None]
        if energy < energies[0]:
            stretched = _inside(3 * centre - 2 * worst)
            (better,) = yield stretched[None]
            points[-1], energies[-1] = (stretched, better) if better < energy else (reflected, energy)
        elif energy < energies[-2]:
            points[-1], energies[-1] = reflected, energy
        else:
            end = reflected if energy < energies[-1] else worst
            shortened = (centre + end) / 2
            (better,) = yield shortened[None]
            if better < min(energy, energies[-1]):
                points[-1], energies[-1] = shortened, better
            else:
                points[1:] = (points[0] + points[1:]) / 2
                energies[1:] = yield points[1:]


def first_simplex(start: Array, size: float) -> Array:
    """The start and, for each coordinate, a point ``size`` further along it, or back from it near the end."""
    points = np.tile(start, (len(start) + 1, 1))
    for i, u in enumerate(start):
        points[i + 1, i] = u + size if 0 <= u + size <= 1 else u - size
    return _inside(points)


def _inside(points: Array) -> Array:
    return np.clip(points, 0.0, 1.0)


@checked(**OF_A_SEARCH, size=PART_OF_A_RANGE, tol=PART_OF_A_RANGE)
def nelder_mead(
    objective: Callable[[Params], float],
    space: Mapping[str, Any],
    *,
    start: Mapping[str, Any] | None = None,
    size: float = SIZE,
    tol: float = TOL,
    n_evaluations: int = 100,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    error_score: Any = math.nan,
) -> SearchResult:
    """Maximise a function by Nelder and Mead's simplex: few evaluations, near a good start.

    Parameters
    ----------
    objective, space, n_evaluations, max_seconds, error_score
        As for :func:`coupled_annealing`.
    start : dict, optional
        First point; the middle of the space unless given.
    size : float, default=0.25
        Size of the first simplex, as a part of each range.
    tol : float, default=0.005
        Stop when the simplex is smaller than this part of each range.
    n_jobs : int, optional
        Processes; only the first simplex and shrinking steps have more than one point to share.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> from thresher.tuning import Uniform, nelder_mead
    >>> space = {"a": Uniform(0, 1), "b": Uniform(0, 3)}
    >>> found = nelder_mead(lambda p: -(p["a"] - 0.3) ** 2 - (p["b"] - 2) ** 2, space)
    >>> round(found.params["a"], 2), round(found.params["b"], 1), found.stopped
    (0.3, 2.0, 'converged')
    """
    budget = Budget(n_evaluations, max_seconds, n_jobs, error_score)

    def search(trials: Trials) -> None:
        trials.follow("simplex", Walk(simplex(trials.place(start), size, tol)))

    return maximise("nelder_mead", objective, space, search, start, budget)
