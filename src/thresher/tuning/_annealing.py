"""Coupled simulated annealing with variance control, in turn with a simplex."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import at_least, boolean, checked, seed
from ._searches import SIZE
from ._searches import simplex as simplex_steps
from ._trials import OF_A_SEARCH, Array, Budget, Params, SearchResult, Steps, Trials, Walk, maximise

N_STARTS = at_least(2)
MOVE = 0.2  # first scale of the moves, in widths of the box
STEPS_PER_LEVEL = 2  # after which moves become shorter, and a simplex has its turn
STEPS_OF_SIMPLEX = 15  # of a turn, at most: with 5 states it has three evaluations for their two
_CONTROL = 0.05
_TARGET = 0.99  # of the largest variance that acceptance probabilities can have


def anneal(starts: Array, rng: np.random.Generator, *, move: float = MOVE, steps: int = STEPS_PER_LEVEL) -> Steps:
    """Several states that walk on their own and are accepted together.

        y_i = x_i + (move / k) Cauchy          in each coordinate, given that it stays in the box
        A_i = exp((E_i - max E) / T) / sum_j exp((E_j - max E) / T)
        x_i <- y_i   if E(y_i) < E_i or A_i > u_i,   u_i uniform
        T <- (1 - a) T   if (1/m) sum A^2 - 1/m^2 < 0.99 (m - 1) / m^2,   else (1 + a) T

    k grows by one every ``steps`` steps. The worst state is the one that may leave for something worse still, so the
    states search on while the best of them stay where they are. T starts where the variance meets its target, which
    makes the walk the same for any scale of the energies.

    Xavier-de-Souza et al. (2010); Jumutc (2016).
    """
    x = starts
    m = len(x)
    energies = yield x
    temperature = 0.0
    for step in count():
        probes = cauchy_moves(x, move / (1 + step // steps), rng)
        found = yield probes
        temperature = temperature or temperature_at_target(energies)
        accepting = acceptance(energies, temperature)
        accepted = (found < energies) | (accepting > rng.random(m))
        x = np.where(accepted[:, None], probes, x)
        energies = np.where(accepted, found, energies)
        temperature *= 1 - _CONTROL if variance(accepting) < _TARGET * (m - 1) / m**2 else 1 + _CONTROL


def cauchy_moves(x: Array, scale: float, rng: np.random.Generator) -> Array:
    """Cauchy steps, drawn again while they leave the box; in law, by the inverse of the truncated distribution."""
    low, high = np.arctan(-x / scale), np.arctan((1 - x) / scale)
    return np.clip(x + scale * np.tan(low + (high - low) * rng.random(x.shape)), 0.0, 1.0)


def acceptance(energies: Array, temperature: float) -> Array:
    """Probabilities of leaving for something worse. States that failed have them all."""
    worst = energies.max()
    if math.isinf(worst) or temperature == 0:
        weights = (energies == worst).astype(np.float64)
    else:
        with np.errstate(over="ignore"):  # at a very low temperature, exponents overflow
            weights = np.exp((energies - worst) / temperature)
    return np.asarray(weights / weights.sum())


def variance(probabilities: Array) -> float:
    return float(np.mean(probabilities**2) - 1 / len(probabilities) ** 2)


def temperature_at_target(energies: Array) -> float:
    """The temperature at which the variance of the acceptance probabilities is its target; 0 when all are equal."""
    finite = energies[np.isfinite(energies)]
    spread = float(np.ptp(finite)) if len(finite) else 0.0
    target = _TARGET * (len(finite) - 1) / max(len(finite), 1) ** 2
    if spread == 0 or variance(acceptance(finite, 0.0)) < target:
        return spread  # all are equal, or several equally bad: no temperature reaches the target
    cold, hot = 1e-9 * spread, 1e3 * spread
    for _ in range(60):
        middle = math.sqrt(cold * hot)
        cold, hot = (cold, middle) if variance(acceptance(finite, middle)) < target else (middle, hot)
    return hot


def spread_points(n_points: int, n_dims: int, rng: np.random.Generator) -> Array:
    """A Latin hypercube: each coordinate takes one value in each of ``n_points`` equal parts."""
    parts = np.argsort(rng.random((n_points, n_dims)), axis=0)
    return (parts + rng.random((n_points, n_dims))) / max(n_points, 1)


def annealing_and_simplex(
    start: Mapping[str, Any] | None, n_starts: int, with_simplex: bool, rng: np.random.Generator
) -> Callable[[Trials], None]:
    """The search of :func:`coupled_annealing`."""

    def search(trials: Trials) -> None:
        given = [] if start is None else [trials.place(start)]
        spread = spread_points(n_starts - len(given), len(trials.space), rng)
        walk = Walk(anneal(np.vstack([*given, spread]), rng))
        local: Walk | None = None
        size, best = SIZE, None
        while True:
            trials.follow("annealing", walk, n_steps=STEPS_PER_LEVEL if with_simplex else None)
            if local is None or trials.best is not best:
                local = Walk(simplex_steps(trials.place_of_best(), size))
            if trials.follow("simplex", local, n_steps=STEPS_OF_SIMPLEX):
                local = None  # it has shrunk: around the same point, one of another size sees more
                size = SIZE * rng.uniform(0.5, 2.0) * rng.choice((-1, 1))
            best = trials.best

    return search


@checked(**OF_A_SEARCH, n_starts=N_STARTS, simplex=boolean, random_state=seed)
def coupled_annealing(
    objective: Callable[[Params], float],
    space: Mapping[str, Any],
    *,
    n_evaluations: int = 100,
    max_seconds: float | None = None,
    n_starts: int = 5,
    simplex: bool = True,
    start: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    error_score: Any = math.nan,
) -> SearchResult:
    r"""Maximise a function by coupled simulated annealing and, in turn, Nelder and Mead's simplex.

    Several states make long-tailed random steps in parallel; a coupled rule lets the worst of them accept worse points
    for a while [1]_, [2]_. After every two annealing steps, a simplex around the best point so far makes fifteen; it
    continues from its last position unless the states found something better. A search with a larger budget begins like
    one with a smaller budget. Parameters on a logarithmic scale are searched on that scale.

    Parameters
    ----------
    objective : callable
        Called with a dict of parameters; returns the score to maximise. It should be deterministic.
    space : dict of str to Log, Uniform, Whole, Choice or list
        The range of each parameter.
    n_evaluations : int, default=100
        Largest number of evaluations. Repeated points are not evaluated again and do not count.
    max_seconds : float, optional
        Time limit in seconds: no evaluation is started that would exceed it, judging by the time that others took.
    n_starts : int, default=5
        Number of states (:math:`m`), at least 2; their points are evaluated in parallel.
    simplex : bool, default=True
        Whether to alternate with a simplex. If False, annealing uses the whole budget.
    start : dict, optional
        The first state. The others are spread evenly.
    random_state : int, RandomState, Generator or None, default=0
        The same seed gives the same search, for any ``n_jobs``.
    n_jobs : int, optional
        Number of processes for the points of a step.
    error_score : float or "raise", default=nan
        The score if the objective raises an exception. A score that is not finite counts as the worst.

    Returns
    -------
    SearchResult

    References
    ----------
    .. [1] S. Xavier-de-Souza, J. A. K. Suykens, J. Vandewalle and D. Bollé, "Coupled simulated annealing", IEEE
       Transactions on Systems, Man, and Cybernetics B 40, 2010.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> from math import log10
    >>> from thresher.tuning import Log, coupled_annealing
    >>> found = coupled_annealing(lambda p: -(log10(p["alpha"]) + 3) ** 2, {"alpha": Log(1e-6, 1)}, n_evaluations=40)
    >>> round(found.params["alpha"], 4), found.n_evaluations
    (0.001, 40)
    """
    search = annealing_and_simplex(start, n_starts, simplex, generator(random_state))
    budget = Budget(n_evaluations, max_seconds, n_jobs, error_score)
    return maximise("coupled_annealing", objective, space, search, start, budget)
