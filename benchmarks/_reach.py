"""Solvers that stop by criteria of their own, compared at equal distance from the smallest objective.

The distance of an answer is ``objective / lower - 1``: its objective, computed by one function for all, over a lower
bound that a duality gap of ours proves. Each solver has the loosest of its tolerances that comes so close.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._measure import Case, take_turns

TOLERANCES = tuple(10.0**-k for k in range(1, 13))
Solve = Callable[[float], Any]  # a tolerance: weights


class Reached(NamedTuple):
    """How one solver came so close; without a tolerance where none of its own did."""

    tolerance: float | None
    seconds: float
    objective: float
    answer: Any


def reach(
    solvers: Mapping[str, Solve], objective: Callable[[Any], float], lower: float, distance: float, repeats: int = 3
) -> dict[str, Reached]:
    """The best CPU time of each, in turns; the first call of each compiles, and is not counted."""
    tolerances = {name: _loosest(solve, objective, lower, distance) for name, solve in solvers.items()}
    able = {name: tol for name, tol in tolerances.items() if tol is not None}
    cases = {name: Case(lambda _, name=name, tol=tol: solvers[name](tol)) for name, tol in able.items()}
    timings = take_turns(cases, repeats, keep_results=True)
    found = {}
    for name in solvers:
        if name in timings:
            answer = timings[name].results[0]
            found[name] = Reached(able[name], timings[name].best, objective(answer), answer)
        else:
            found[name] = Reached(None, float("nan"), float("nan"), None)
    return found


def _loosest(solve: Solve, objective: Callable[[Any], float], lower: float, distance: float) -> float | None:
    return next((tol for tol in TOLERANCES if objective(solve(tol)) <= lower * (1 + distance)), None)
