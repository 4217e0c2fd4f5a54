"""Searches by the simplex of Nelder and Mead, along every coordinate, and at random; all inside a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import Rule, checked, seed
from ._trials import OF_A_SEARCH, Array, Budget, Params, SearchResult, Steps, Trials, Walk, maximise

SIZE = 0.25  # of the first simplex, in widths of the box
STEP = 0.25  # the first distance of a directed search
TOL = 0.005  # below this size of the simplex, or step, there is nothing more to find
_AT_ONCE = 8  # random points

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


def by_simplex(start: Mapping[str, Any] | None, size: float = SIZE, tol: float = TOL) -> Callable[[Trials], Any]:
    """The search of :func:`nelder_mead`."""
    return lambda trials: trials.follow("simplex", Walk(simplex(trials.place(start), size, tol)))


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
    """Maximise a function by the simplex method of Nelder and Mead, which needs few evaluations near a good start.

    Parameters
    ----------
    objective, space, n_evaluations, max_seconds, error_score
        As for :func:`coupled_annealing`.
    start : dict, optional
        First point; by default the middle of the space.
    size : float, default=0.25
        Size of the first simplex, as a fraction of each range.
    tol : float, default=0.005
        Stop when the simplex is smaller than this fraction of each range.
    n_jobs : int, optional
        Number of processes. Only the first simplex and shrinking steps have several points to evaluate.

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

    return maximise("nelder_mead", objective, space, by_simplex(start, size, tol), start, budget)


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
    """Maximise a function by directed search: both directions along each coordinate, with decreasing steps.

    The search is deterministic. It works well if there is a single maximum, and stays at the first one it finds if
    there are several; :func:`coupled_annealing` explores more of them.

    Parameters
    ----------
    objective, space, n_evaluations, max_seconds, error_score
        As for :func:`coupled_annealing`.
    start : dict, optional
        First point; by default the middle of the space.
    step : float, default=0.25
        First step, as a fraction of each range. It is halved whenever nothing better is found.
    tol : float, default=0.005
        Stop when the step is below this fraction of each range.
    n_jobs : int, optional
        Number of processes for the points of a step, two per parameter.

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


def draw(n_dims: int, rng: np.random.Generator) -> Steps:
    """Points from the uniform distribution on the box, for ever."""
    while True:
        yield rng.random((_AT_ONCE, n_dims))


def at_random(start: Mapping[str, Any] | None, rng: np.random.Generator) -> Callable[[Trials], None]:
    """The search of :func:`random_search`."""

    def search(trials: Trials) -> None:
        if start is not None:
            trials.evaluate("random", trials.place(start)[None])
        trials.follow("random", Walk(draw(len(trials.space), rng)))

    return search


@checked(**OF_A_SEARCH, random_state=seed)
def random_search(
    objective: Callable[[Params], float],
    space: Mapping[str, Any],
    *,
    n_evaluations: int = 100,
    max_seconds: float | None = None,
    start: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    error_score: Any = math.nan,
) -> SearchResult:
    """Maximise a function by trying random points, evenly spread over each range's scale.

    Parameters
    ----------
    objective, space, n_evaluations, max_seconds, random_state, n_jobs, error_score
        As for :func:`coupled_annealing`.
    start : dict, optional
        A point to try before the random ones.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> from thresher.tuning import random_search
    >>> random_search(lambda p: -abs(p["k"] - 3), {"k": [1, 2, 3, 4]}).params
    {'k': 3}
    """
    budget = Budget(n_evaluations, max_seconds, n_jobs, error_score)
    return maximise("random_search", objective, space, at_random(start, generator(random_state)), start, budget)
