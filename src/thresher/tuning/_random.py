"""Random search, the baseline of the other searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import checked, seed
from ._trials import OF_A_SEARCH, Budget, Params, SearchResult, Steps, Trials, Walk, maximise

_AT_ONCE = 8


def draw(n_dims: int, rng: np.random.Generator) -> Steps:
    """Points from the uniform distribution on the box, for ever."""
    while True:
        yield rng.random((_AT_ONCE, n_dims))


def randomly(start: Mapping[str, Any] | None, rng: np.random.Generator) -> Callable[[Trials], None]:
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
    return maximise("random_search", objective, space, randomly(start, generator(random_state)), start, budget)
