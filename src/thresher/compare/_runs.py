"""Seeded runs of estimators in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.utils.parallel import Parallel

from .._engine import one_blas_thread
from .._figures import terminal

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
    with one_blas_thread(), _bar(progress, total) as tick:  # around all threads: each would set the number back
        return gather(_ticking(Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks), tick))


@contextmanager
def _bar(shown: bool, total: int) -> Iterator[Callable[[], None]]:
    """Yield a function to call after every run. Show nothing if standard error is not a terminal."""
    console = terminal(shown)
    if console is None:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("runs", total=total)
        yield lambda: bar.advance(task)


def _ticking(runs: Iterable[Any], tick: Callable[[], None]) -> Iterator[Any]:
    for run in runs:
        tick()
        yield run
