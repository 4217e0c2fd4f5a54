"""Evaluation of points within a budget, with the cache and the record that all searches share.

A search is a generator. It yields points, one row each, in the unit cube of the space, and is sent their energies (the
lower the better) in return. It knows nothing of parameters, budgets, processes or files.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import count, product
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Range, Rule, as_space, at_least, count_of_jobs, none, positive

Array = NDArray[np.float64]
Steps = Generator[Array, Array, None]
Params = dict[str, Any]

_MOST_STEPS_WITHOUT_NEWS = 100
_RECENT = 5  # evaluations by which the time of the next one is foreseen

LIMITS = {"n_evaluations": at_least(1), "max_seconds": positive | none}
OF_A_SEARCH = {
    "objective": Rule("a function of a dict of parameters", callable),
    **LIMITS,
    "n_jobs": count_of_jobs,
    "error_score": Rule('a number or "raise"', lambda v: v == "raise" or isinstance(v, (int, float))),
}


@dataclass(frozen=True)
class Budget:
    """Limits of a search over a function: evaluations, seconds and processes, and the score of a failure."""

    n_evaluations: int
    max_seconds: float | None
    n_jobs: int | None
    error_score: Any


@dataclass(frozen=True)
class Evaluation:
    """Score of one point, with the number of weights in use, the time it took and the error, if it failed."""

    score: float
    n_used: float | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True)
class SearchResult:
    """The best parameters of a search, and all its evaluations.

    Attributes
    ----------
    params : dict
        The parameters with the best score.
    score : float
        Their score; NaN if every evaluation failed.
    history : list of dict
        Every evaluation in order: ``evaluation`` (counted from 0), ``stage``, ``params``, ``score``, ``n_used``,
        ``seconds`` and ``error`` (None, or why it failed).
    stopped : {"evaluations", "seconds", "converged", "exhausted"}
        Why the search ended: the budget of evaluations or of seconds was used up, steps became too small to matter, or
        nothing in the space is left to try.
    """

    params: dict[str, Any]
    score: float
    history: list[dict[str, Any]]
    stopped: str

    @property
    def n_evaluations(self) -> int:
        """The number of points evaluated; repeats cost nothing and are not counted."""
        return len(self.history)


class Walk:
    """A search under way, and the points it waits for; it can be left and taken up again."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.points = next(steps)


class SearchStopped(Exception):
    """Ends a search; its text is the reason."""


@dataclass
class Trials:
    """Evaluates points until a budget is used up. A point that comes again is remembered, not evaluated."""

    space: Mapping[str, Range]
    scorer: Callable[[str, list[Params]], Sequence[Evaluation]]
    n_evaluations: int
    max_seconds: float | None = None
    watch: Callable[[Trials], bool] | None = None  # called after evaluations; whether to stop
    n_at_once: int = 1  # points that processes evaluate side by side
    one_by_one: bool = False  # whether to watch every evaluation, not those of a step together

    def __post_init__(self) -> None:
        self.history: list[dict[str, Any]] = []
        self.best: dict[str, Any] | None = None
        self._least = math.inf  # the energy of the best
        self._deadline = math.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        self._energies: dict[tuple[float, ...], float] = {}
        self._n_idle = 0
        sizes = [r.n_values for r in self.space.values()]
        self._n_points = math.prod(n for n in sizes if n) if all(sizes) else math.inf

    def know(self, params: Mapping[str, Any], score: float) -> None:
        """Remember the score of a point of the space that was evaluated elsewhere; it does not count as found here."""
        known = self.params_at(self.place(params))
        self._energies[self._key(known)] = -score

    def _key(self, params: Params) -> tuple[float, ...]:
        return tuple(r.place(params[name]) for name, r in self.space.items())

    def params_at(self, point: Array) -> Params:
        return {name: r.at(float(u)) for (name, r), u in zip(self.space.items(), point, strict=True)}

    def place(self, params: Mapping[str, Any] | None) -> Array:
        """The point of these parameters; the middle of each range whose value is missing or outside of it."""
        known = params or {}
        return np.array([r.place(known[n]) if n in known and known[n] in r else 0.5 for n, r in self.space.items()])

    def place_of_best(self) -> Array:
        return self.place(None if self.best is None else self.best["params"])

    def follow(self, stage: str, walk: Walk, n_steps: int | None = None) -> bool:
        """Take that many steps, or all there are; returns whether there are no more."""
        for _ in count() if n_steps is None else range(n_steps):
            energies = self.evaluate(stage, walk.points)
            try:
                walk.points = walk.steps.send(energies)
            except StopIteration:
                return True
        return False

    def evaluate(self, stage: str, points: Array) -> Array:
        """Energies of some points; raises :class:`SearchStopped` when nothing more may or can be evaluated."""
        params = [self.params_at(point) for point in points]
        keys = [self._key(p) for p in params]
        fresh = {k: p for k, p in zip(keys, params, strict=True) if k not in self._energies}
        room = self.n_evaluations - len(self.history)
        if fresh:
            if self.history and self._is_late():
                raise SearchStopped("seconds")
            self._record_all(stage, dict(list(fresh.items())[:room]))
        self._n_idle = 0 if fresh else self._n_idle + 1
        if len(self.history) >= self._n_points or self._n_idle > _MOST_STEPS_WITHOUT_NEWS:
            raise SearchStopped("exhausted")
        if len(self.history) >= self.n_evaluations:
            raise SearchStopped("evaluations")
        return np.array([self._energies[key] for key in keys])

    def _is_late(self) -> bool:
        """Whether the deadline is over, or would be if the next evaluation took as long as the longest of late."""
        recent = (entry["seconds"] for entry in self.history[-_RECENT:])
        return time.monotonic() + max(recent, default=0.0) / self.n_at_once > self._deadline

    def _record_all(self, stage: str, fresh: dict[tuple[float, ...], Params]) -> None:
        """Evaluate points; with a limit of time as many at once as there are processes, and no more than fit."""
        points = list(fresh.items())
        n_at_once = len(points) if math.isinf(self._deadline) and not self.one_by_one else self.n_at_once
        for i in range(0, len(points), n_at_once):
            if i and self._is_late():
                raise SearchStopped("seconds")
            self._record(stage, dict(points[i : i + n_at_once]))
            if self.watch is not None and self.watch(self):
                raise SearchStopped("watch")

    def _record(self, stage: str, fresh: dict[tuple[float, ...], Params]) -> None:
        found = self.scorer(stage, list(fresh.values()))
        for (key, params), each in zip(fresh.items(), found, strict=True):
            self._energies[key] = -each.score if math.isfinite(each.score) else math.inf
            self.history.append({"evaluation": len(self.history), "stage": stage, "params": params, **vars(each)})
            if self.best is None or self._energies[key] < self._least:
                self.best, self._least = self.history[-1], self._energies[key]

    def run(self, search: Callable[[Trials], Any]) -> str:
        """Search; returns the reason for its end."""
        try:
            search(self)
        except SearchStopped as stop:
            return self._try_the_rest() if str(stop) == "exhausted" else str(stop)
        return "converged"

    def _try_the_rest(self) -> str:
        """Evaluate what is left of a space that has no more points than the budget has evaluations."""
        if len(self.history) < self._n_points <= self.n_evaluations:
            everything = np.array(list(product(*(r.places() for r in self.space.values()))))
            try:
                self.evaluate(self.history[-1]["stage"], everything)
            except SearchStopped as stop:
                return str(stop)
        return "exhausted"

    def result(self, stopped: str) -> SearchResult:
        best = self.best or {"params": {}, "score": math.nan}
        return SearchResult(dict(best["params"]), best["score"], self.history, stopped)


def maximise(
    who: str,
    objective: Callable[[Params], float],
    space: Mapping[str, Any],
    search: Callable[[Trials], Any],
    start: Mapping[str, Any] | None,
    budget: Budget,
) -> SearchResult:
    """Run a search on a function, the points of a step side by side."""
    ranges = as_space(space, who)
    for name, given in ranges.items():
        if start is not None and (name not in start or start[name] not in given):
            raise ValueError(f"{who}: start must have {name!r} in {given!r}, got {start!r}.")
    with joblib.Parallel(n_jobs=budget.n_jobs) as parallel:

        def evaluate(stage: str, batch: list[Params]) -> Sequence[Evaluation]:
            return list(parallel(joblib.delayed(_call)(objective, p, budget.error_score) for p in batch))

        limits = (budget.n_evaluations, budget.max_seconds)
        trials = Trials(ranges, evaluate, *limits, n_at_once=joblib.effective_n_jobs(budget.n_jobs))
        return trials.result(trials.run(search))


def _call(objective: Callable[[Params], float], params: Params, error_score: Any) -> Evaluation:
    begin = time.perf_counter()
    try:
        score, error = float(objective(dict(params))), None
    except Exception as failure:
        if error_score == "raise":
            raise
        score, error = float(error_score), f"{type(failure).__name__}: {failure}"
    return Evaluation(score, None, time.perf_counter() - begin, error)
