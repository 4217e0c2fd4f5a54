"""Rows of each run, fits of every learner to them with their scores, in threads and from seeds of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from .._engine import one_blas_thread
from .._figures import progress_bar
from ..tuning import CRITERIA
from ._score_table import COSTS
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


_Result = TypeVar("_Result")


def with_seed(estimator: Any, number: int) -> Any:
    """Return a copy in which every ``random_state``, at any depth, is that number."""
    copy = clone(estimator)
    names = [n for n in copy.get_params(deep=True) if n == "random_state" or n.endswith("__random_state")]
    return copy.set_params(**dict.fromkeys(names, number))


def run_all(
    tasks: Iterable[Any], total: int, n_jobs: int | None, progress: bool, gather: Callable[[Iterator[Any]], _Result]
) -> _Result:
    """Run delayed tasks, and gather their results in order as they come."""
    with one_blas_thread(), progress_bar(progress, "runs", total) as update:  # around all threads: each would reset it
        return gather(_counted(Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks), update))


def _counted(runs: Iterable[Any], update: Callable[[int], None]) -> Iterator[Any]:
    for n_done, run in enumerate(runs, start=1):
        update(n_done)
        yield run


LOWER = ("error", "balanced_error", "mse")  # criteria that are minus a loss, shown as the loss


class Measure(NamedTuple):
    name: str | None  # of a criterion or scorer; None for the estimator's own score, and for a function
    scorer: Any

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        if self.scorer is None:
            return float(model.score(X) if y is None else model.score(X, y))
        score = float(self.scorer(model, X, y))
        return 0.0 - score if self.name in LOWER else score


def scorers_of(scoring: Any) -> dict[str, Measure]:
    """Return measures by name."""
    if scoring is None:
        return {"score": Measure(None, None)}
    if isinstance(scoring, (list, tuple, set)):
        scoring = {name: name for name in scoring}
    elif not isinstance(scoring, Mapping):
        scoring = {scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"): scoring}
    taken = [name for name in scoring if name in COSTS]
    if taken or not scoring:
        raise ValueError(f"compare: scoring must name measures other than {' and '.join(COSTS)}, got {scoring!r}.")
    return {str(name): _measure(given) for name, given in scoring.items()}


def _measure(given: Any) -> Measure:
    if isinstance(given, str) and given in CRITERIA:
        return Measure(given, CRITERIA[given])
    if isinstance(given, str) and given in get_scorer_names():
        return Measure(given, get_scorer(given))
    if not callable(given):
        raise ValueError(
            f"compare: scoring must be a name of scikit-learn's scorers, one of {', '.join(map(repr, CRITERIA))}, or a "
            f"scorer, got {given!r}."
        )
    return Measure(None, given)


Data = tuple[Any, Any]  # X and y
Indices = NDArray[np.intp]


class Rows(NamedTuple):
    """Rows to learn from and to test on, and for each run the indices of both."""

    train: Data
    test: Data
    parts: Sequence[tuple[Indices, Indices | None]]  # None: all rows to test on
    test_ratio: float | None
    about: str


def random_splits(n_splits: int, test_size: float, has_classes: bool, rng: np.random.Generator) -> Any:
    """Return a splitter of rows at random, with the same share of each class if there are any."""
    kind = StratifiedShuffleSplit if has_classes else ShuffleSplit
    return kind(n_splits, test_size=test_size, random_state=int(rng.integers(2**31)))


def in_splits(data: Data, groups: Any, splitter: Any) -> Rows:
    """Split the rows in every run anew."""
    parts = _split(splitter, data, groups)
    n_train, n_test = (np.mean([len(part[k]) for part in parts]) for k in (0, 1))
    about = f"{len(parts)} splits, {n_train:,.0f} rows to learn from and {n_test:,.0f} to test on"
    return Rows(data, data, parts, float(np.mean([len(test) / len(train) for train, test in parts])), about)


def in_orders(data: Data, test: Data, split: Callable[[int], Any], repeats: int, rng: np.random.Generator) -> Rows:
    """Shuffle the same training rows in every run, and test on the same rows: those given, or those of one split."""
    train, tested = np.arange(_num_samples(data[0])), None
    if test[0] is None and test[1] is None:
        ((train, tested),) = _split(split(1), data, None)
        test = data
    elif test[0] is None or (data[1] is None) != (test[1] is None):
        raise ValueError("compare: X_test and y_test must be given together, as X and y are.")
    check_consistent_length(*test)
    test = tuple(indexable(*test))
    orders = np.random.default_rng(rng.integers(2**63))  # one draw, so that more orders change no other seed
    parts = [(orders.permutation(train), tested) for _ in range(repeats)]
    n_test = _num_samples(test[0]) if tested is None else len(tested)
    about = f"{repeats} orders of {len(train):,} rows to learn from, {n_test:,} to test on"
    return Rows(data, test, parts, None, about)


def _split(splitter: Any, data: Data, groups: Any) -> list[tuple[Indices, Indices]]:
    rows = np.zeros(_num_samples(data[0]))
    try:
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(rows, data[1], groups)]
    except ValueError as problem:
        raise ValueError(f"compare: the rows cannot be split: {problem}") from None
