"""Random search: what the others must beat."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._engine import generator
from .._gate import check_arguments, seed
from ._trials import Params, SearchResult, Steps, Trials, Walk, try_out

_AT_ONCE = 8


def draw(n_dims: int, rng: np.random.Generator) -> Steps:
    """Points from the uniform distribution on the box, for ever."""
    while True:
        yield rng.random((_AT_ONCE, n_dims))


def randomly(start: Mapping[str, Any] | None, rng: np.random.Generator) -> Callable[[Trials], None]:
    """The search that :func:`random_search` makes."""

    def search(trials: Trials) -> None:
        if start is not None:
            trials.evaluate("random", trials.place(start)[None])
        trials.follow("random", Walk(draw(len(trials.space), rng)))

    return search


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
    objective : callable
        Called with a dict of parameters, returns the score, which is maximised.
    space : dict of str to Log, Uniform, Whole, Choice or list
        Where to look.
    n_evaluations : int, default=100
        Budget. Points that come again are not evaluated again and not counted.
    max_seconds : float, optional
        No new step is begun after so many seconds.
    start : dict, optional
        A point to try before the random ones.
    random_state : int, RandomState, Generator or None, default=0
        The same seed gives the same search, for any ``n_jobs``.
    n_jobs : int, optional
        Processes.
    error_score : float or "raise", default=nan
        The score where the objective raises an exception. A score that is not finite counts as the worst.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> from thresher.tuning import random_search
    >>> random_search(lambda p: -abs(p["k"] - 3), {"k": [1, 2, 3, 4]}).params
    {'k': 3}
    """
    check_arguments("random_search", random_state=(random_state, seed))
    return try_out(
        "random_search",
        objective,
        space,
        randomly(start, generator(random_state)),
        start=start,
        n_evaluations=n_evaluations,
        max_seconds=max_seconds,
        n_jobs=n_jobs,
        error_score=error_score,
    )
