"""Learning from rows on other machines, by queries whose results add up.

A round is a generator on the driver. It yields queries, each of which is evaluated on all rows, on any machine, and
is sent the total of the results; at the end it changes the estimator. It does not depend on shards, engines or files.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass

Sums = dict[str, NDArray[np.float64]]
"""Numbers that add up over rows: the same names and shapes from every batch."""


class Question(Protocol):
    """A query about rows. It is sent to where they are, so it must be picklable and small.

    One whose answers are joined in another way than by sums has a method ``add(total, more)``, see :func:`join`.
    """

    def answer(self, X: Any, y: NDArray[Any] | None, weight: NDArray[np.float64] | None) -> Sums:
        """Answer for one batch. Sparse rows may be narrower than the model; a row of weight 0 is absent."""


Round = Generator[Question, Sums, bool]
"""Yields questions, is sent totals, returns whether further rounds would change nothing."""


@dataclass(frozen=True)
class ShardFacts:
    """Facts about all rows, collected from their shards.

    Attributes
    ----------
    n_rows, n_features : int
    classes : ndarray or None
        The distinct targets in order, of a classifier.
    sample : (X, y) or None
        Some rows from everywhere, as the learner takes them.
    """

    n_rows: int
    n_features: int
    classes: NDArray[Any] | None = None
    sample: tuple[Any, NDArray[Any] | None] | None = None


def add(total: Sums | None, more: Sums) -> Sums:
    """The sum of two answers; None is that of no rows."""
    return more if total is None else {name: np.asarray(total[name] + more[name]) for name in more}


def join(question: Question, total: Sums | None, more: Sums) -> Sums:
    """Combine two answers: by default they are added. Earlier rows come first."""
    return getattr(question, "add", add)(total, more)


def outgrown(estimator: Any) -> FloatingPointError:
    """Return the error of a round that ends with weights that are not finite."""
    return FloatingPointError(
        f"{type(estimator).__name__}: the weights overflowed in a round; scale the features to about 1 "
        f"or take smaller steps ({estimator._shorter_steps})."
    )
