"""Problems of two classes, -1 and 1, for comparisons of linear learners: generated, and real ones where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._data import Problem, cached, dense_problem, text_problem
from ._selection_data import DATA, _a9a, _newsgroups

N_SCALED = 10  # the first columns of covtype are numbers, the others marks


class LinearTask(NamedTuple):
    key: str
    title: str
    problem: Problem

    @property
    def shape(self) -> str:
        return "{:,} x {:,}".format(*self.problem.X.shape)

    @property
    def dense(self) -> bool:
        return isinstance(self.problem.X, np.ndarray)


def linear_tasks(quick: bool) -> Iterator[LinearTask]:
    """One after the other, so that one set of rows is in memory."""
    n_test = 5_000 if quick else 20_000
    yield LinearTask("text", "text like rcv1, generated", text_problem(10_000 if quick else 100_000, 75, n_test))
    folder = os.environ.get(DATA)
    if quick or not folder:
        yield LinearTask("dense", "dense, generated", dense_problem(20_000 if quick else 500_000, n_test))
        return
    news = next(iter(_newsgroups(Path(folder))))
    yield LinearTask("news", f"{news.title}, tf-idf", _signed(news))
    yield LinearTask("a9a", "a9a", _signed(_a9a(Path(folder))))
    yield LinearTask("covtype", "covtype, class 2 or not, dense", covtype(Path(folder)))


def _signed(task: Any) -> Problem:
    """In random order: the files of some have one class after the other, which not all learners shuffle."""
    order = np.random.default_rng(0).permutation(len(task.y))
    return Problem(task.X[order], 2.0 * task.y[order] - 1, task.X_test, 2.0 * task.y_test - 1)


def covtype(folder: Path) -> Problem:
    """In random order, a fifth held out; columns of numbers have mean 0 and deviation 1 on the other rows."""

    def make() -> dict[str, np.ndarray[Any, Any]]:
        table = np.loadtxt(folder / "covtype/covtype.csv.gz", delimiter=",", skiprows=1)
        return {"X": table[:, :-1], "y": table[:, -1]}

    a = cached("covtype", make)
    order = np.random.default_rng(0).permutation(len(a["y"]))
    X, y = a["X"][order], np.where(a["y"][order] == 2, 1.0, -1.0)
    n = 4 * len(y) // 5
    numbers = X[:, :N_SCALED]
    numbers -= numbers[:n].mean(axis=0)
    numbers /= numbers[:n].std(axis=0)
    return Problem(X[:n], y[:n], X[n:], y[n:])
