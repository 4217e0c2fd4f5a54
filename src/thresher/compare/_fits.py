"""Fits of every learner in every run, with their scores."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed

from .._engine import one_blas_thread
from ._repeat_rows import Indices, Rows
from ._runs import run_all, with_seed
from ._selected import selected


class ScoredFit(NamedTuple):
    scores: dict[str, float]
    seconds: float
    n_used: int | None


def score_all(
    learners: dict[str, Any],
    rows: Rows,
    seeds: NDArray[np.int64],
    scorers: dict[str, Any],
    n_jobs: int | None,
    progress: bool,
) -> list[dict[str, ScoredFit]]:
    """Fit and score every learner in every run."""
    clock = time.process_time if effective_n_jobs(n_jobs) == 1 else time.thread_time
    tasks = (
        delayed(_fit)(f"compare: {name} failed in run {run}", learner, rows, part, int(number), scorers, clock)
        for run, (part, number) in enumerate(zip(rows.parts, seeds, strict=True))
        for name, learner in learners.items()
    )
    fits = run_all(tasks, len(rows.parts) * len(learners), n_jobs, progress, list)
    return [dict(zip(learners, fits[i : i + len(learners)], strict=True)) for i in range(0, len(fits), len(learners))]


def _fit(
    failed: str,
    learner: Any,
    rows: Rows,
    part: tuple[Indices, Indices | None],
    number: int,
    scorers: dict[str, Any],
    clock: Callable[[], float],
) -> ScoredFit:
    train, test = _at(rows.train, part[0]), _at(rows.test, part[1])
    try:
        with one_blas_thread():  # in a process of its own, if joblib was told to make some
            model = with_seed(learner, number)
            begin = clock()
            model.fit(train[0]) if train[1] is None else model.fit(*train)
            seconds = clock() - begin
            scores = {measure: scorer(model, *test) for measure, scorer in scorers.items()}
    except Exception as problem:
        raise ValueError(f"{failed}: {' '.join(str(problem).split())}") from problem
    for measure, score in scores.items():
        if not np.isfinite(score):
            raise ValueError(f"{failed}: its {measure} is {score}.")
    features = selected(model)
    return ScoredFit(scores, seconds, None if features is None else len(features.columns))


def _at(pair: tuple[Any, Any], part: Indices | None) -> tuple[Any, Any]:
    if part is None:
        return pair
    return _safe_indexing(pair[0], part), None if pair[1] is None else _safe_indexing(pair[1], part)
