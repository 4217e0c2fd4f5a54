"""One lesson: rows to learn from in one pass, with their targets, weights and order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._dataclasses import dataclass
from .._gate import Array
from ._state import Memory
from ._target import Target


class OtherForm(NamedTuple):
    """Rows that are read in another form than they are learned from."""

    values: Array
    """These rows, flat."""
    at: NDArray[np.int64]
    """Which of them is read at each step, -1 where it is the one that is learned from."""


@dataclass
class Lesson:
    """Rows to learn from, in one pass over all outputs of a model.

    Parameters
    ----------
    rows : Rows
        From :func:`thresher.onepass.rows`.
    target : Target
        Their targets: -1 and +1 or any numbers, or class codes with the classes.
    weight : ndarray of float64, shape (n_rows,), optional
        Weights of at least 0. A row of weight 0 is absent.
    order : ndarray of int64, optional
        Rows to visit, in this order; repeats are allowed. All rows as they stand when not given.
    output : int, optional
        The only output to train; all of them when not given.
    margins : ndarray of float64, optional
        Receives the score of every step before its update.
    memory : Memory, optional
        From ``state.remember``: told before anything but the columns of ``rows`` changes.
    n_jobs : int, optional
        Threads over outputs.
    is_measured : bool, default=False
        Whether the state knows the scale of these rows already, for learners that tune themselves.
    other : OtherForm, optional
        Rows that are read in another form than they are learned from.
    is_new : bool, default=True
        Whether nothing was learned from these rows before, so that their scores say how scores are to be read.
    score_weight : ndarray of float64, shape (n_rows,), optional
        The weights by which scores are counted, if they are not those by which rows are learned from.
    """

    rows: Rows
    target: Target
    weight: Array | None = None
    order: NDArray[np.int64] | None = None
    output: int | None = None
    margins: Array | None = None
    memory: Memory | None = None
    n_jobs: int | None = None
    is_measured: bool = False
    other: OtherForm | None = None
    is_new: bool = True
    score_weight: Array | None = None

    @property
    def counted_weight(self) -> Array | None:
        """The weights by which scores are counted."""
        return self.weight if self.score_weight is None else self.score_weight


class PassResult(NamedTuple):
    """The result of one pass, which predicts each row before it learns from it.

    Sums over all passes are in the state: ``tally`` holds rows, updates, weighted loss and weight of each output,
    ``n_mistakes`` the mistakes of each model.
    """

    n_mistakes: int
    """Rows that were predicted wrongly, by the model that was read when they came. Means nothing for regression."""
    diverged: int
    """The step whose score was not finite, where the pass stopped; -1 when all went well."""


def n_workers(n_jobs: int | None, n_outputs: int) -> int:
    """The number of threads for this number of outputs."""
    if n_jobs is None or n_outputs == 1:
        return 1
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), n_outputs)
