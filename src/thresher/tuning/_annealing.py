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
        with np.errstate(over="ignore"):  # far too cold is cold
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
        return spread  # all are equal, or several are equally bad and no temperature reaches the target
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

    Several states walk at once, by steps with a long tail, and decide together which of them may get worse for a while:
    the worst one [1]_, [2]_. After two steps of theirs, a simplex around the best point found makes fifteen, and so in
    turn; the simplex goes on where it was unless the states found something better. A larger budget only adds to what a
    smaller one does. Ranges on a logarithmic scale are walked on that scale.

    Parameters
    ----------
    objective : callable
        Called with a dict of parameters, returns the score, which is maximised. It should return the same for the same
        parameters.
    space : dict of str to Log, Uniform, Whole, Choice or list
        Where to look.
    n_evaluations : int, default=100
        Budget. Points that come again are not evaluated again and not counted.
    max_seconds : float, optional
        No point is begun that would not be done after so many seconds, by the time that others took.
    n_starts : int, default=5
        States (:math:`m`), at least 2; the points of a step that can be evaluated side by side.
    simplex : bool, default=True
        Whether the simplex has its turns. Annealing has the whole budget otherwise.
    start : dict, optional
        A first state. The others are spread evenly.
    random_state : int, RandomState, Generator or None, default=0
        The same seed gives the same search, for any ``n_jobs``.
    n_jobs : int, optional
        Processes for the points of a step.
    error_score : float or "raise", default=nan
        The score where the objective raises an exception. A score that is not finite counts as the worst.

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
