"""One pass of all outputs of a model: alone, or several against the rest, chunk by chunk and in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._gate import Array
from ._learner import Learner
from ._state import Memory, State
from ._target import Target

_CHUNK = 4096  # rows that all outputs learn before the next ones are read, while they are still in cache


class Batch(NamedTuple):
    """Rows with what is said about them, and the order in which to visit them (None: as they stand)."""

    rows: Rows
    target: Target
    weight: Array | None
    order: NDArray[np.int64] | None = None


def learn_all(estimator: Any, learner: Learner, state: State, batch: Batch, memory: Memory | None = None) -> None:
    """One pass of every output; weights that outgrow floating point are refused with advice."""
    if state.n_outputs > 1:
        _learn_together(estimator, learner, state, batch, memory)
        return
    result = learner.learn(
        batch.rows,
        batch.target.y,
        state,
        order=batch.order,
        sample_weight=batch.weight,
        positive=batch.target.positive(0),
        memory=memory,
    )
    refuse_divergence(estimator, result.diverged, batch.order)


def _learn_together(estimator: Any, learner: Learner, state: State, batch: Batch, memory: Memory | None) -> None:
    """Chunk by chunk, so that progressive mistakes are those of the largest score; all models of a grid in turn."""
    y, weight, target = batch.target.y, batch.weight, batch.target
    order = np.arange(batch.rows.n_rows) if batch.order is None else batch.order
    with ExitStack() as stack:
        workers = n_workers(getattr(estimator, "n_jobs", None), state.n_outputs)
        run = map if workers == 1 else stack.enter_context(ThreadPoolExecutor(workers)).map
        for begin in range(0, len(order), _CHUNK):
            chunk = order[begin : begin + _CHUNK]
            margins = np.empty((state.n_outputs, len(chunk)))

            def learn_one(k: int, chunk: NDArray[np.int64] = chunk, margins: Array = margins) -> int:
                return learner.learn(
                    batch.rows,
                    y,
                    state,
                    order=chunk,
                    sample_weight=weight,
                    positive=target.positive(k % target.n_outputs),
                    output=k,
                    margins=margins[k],
                    memory=memory,
                ).diverged

            for diverged in run(learn_one, range(state.n_outputs)):
                refuse_divergence(estimator, diverged, chunk)
            present = slice(None) if weight is None else np.flatnonzero(weight[chunk])
            if target.classes is not None:
                for outputs in (learner.outputs_of(state, model) for model in range(learner.n_models)):
                    wrong = _predicted(margins[outputs.start : outputs.stop, present]) != y[chunk[present]]
                    state.views[outputs[0]]["n_mistakes"][0] += np.count_nonzero(wrong)


def _predicted(margins: Array) -> NDArray[np.intp]:
    """Codes of the classes that scores of shape (n_outputs, n_rows) speak for."""
    winner: NDArray[np.intp] = (margins[0] > 0).astype(np.intp) if len(margins) == 1 else margins.argmax(axis=0)
    return winner


def refuse_divergence(estimator: Any, step: int, order: NDArray[np.int64] | None) -> None:
    """Refuse a pass that stopped at ``step``; -1 is a pass that did not."""
    if step >= 0:
        row = step if order is None else int(order[step])
        shorter = f" or take smaller steps ({estimator._shorter_steps})"
        raise FloatingPointError(
            f"{type(estimator).__name__}: the weights outgrew floating point at row {row}; "
            f"scale the features to about 1{shorter}."
        )


def n_workers(n_jobs: int | None, n_outputs: int) -> int:
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), n_outputs)
