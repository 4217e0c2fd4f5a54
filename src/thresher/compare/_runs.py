"""Seeded runs of estimators in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.utils.parallel import Parallel

from .._engine import one_blas_thread
from .._figures import progress_bar

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
