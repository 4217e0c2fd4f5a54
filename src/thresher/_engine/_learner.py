"""A compiled update rule and what it does to a state: learn, read, settle, merge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, linear_scores
from .._gate import Array
from . import _state
from ._lesson import Lesson, n_workers
from ._losses import LOSSES
from ._state import Field, Memory, State
from ._target import Target
from ._tuning import Tuning

if TYPE_CHECKING:
    from .._core import CoreLearner  # what all compiled learners offer; there is no such class at run time

_CHUNK = 4096  # rows that all outputs learn before the next ones are read, while they are still in cache

# Kept by the loop itself, for every learner: (rows, updates, loss, weight) of each output, and mistakes of the model.
_COUNTS = (Field("tally", "tally", 0.0, "sum"), Field("n_mistakes", "model", 0.0, "sum"))


class PassResult(NamedTuple):
    """The result of one pass, which predicts each row before it learns from it.

    Sums over all passes are in the state: ``tally`` holds rows, updates, weighted loss and weight of each output,
    ``n_mistakes`` the mistakes of a model of one output.
    """

    n_mistakes: int
    """Rows whose score had the wrong sign; 0 is not positive. Means nothing for regression."""
    diverged: int
    """The step whose score was not finite, where the pass stopped; -1 when all went well."""


class Axis(NamedTuple):
    """An axis of the state beside the weights: its length, and its entries that rows with some columns may change."""

    size: int
    touched: Callable[[NDArray[Any]], NDArray[np.int64]] | None = None


@dataclass(frozen=True)
class Learner:
    """A compiled update rule with its parameters. Holds nothing that was learned: that is the :class:`State`.

    Parameters
    ----------
    core : type
        One of the compiled learners.
    params : dict
        All its parameters, by the core's names.
    intercept : float, default=1.0
        Value of the constant feature; 0 for none. From :func:`learner` it is the estimator's.
    axes : dict, optional
        The axes of its state beside those of every learner.
    grid : tuple of dict, optional
        Several models instead of one: the parameters in which each differs from ``params``. They learn from the same
        rows, and the one that has done best so far is what is read.
    judge : {"loss", "mistakes"}, default="loss"
        What is counted against a model of the grid: its progressive loss, or its progressive mistakes.
    joint : str, optional
        The parameter that limits the features of all outputs together; without it, each output selects its own.
    tuning : Tuning, optional
        What it finds out by itself: which model of the grid is best, in units of the data, and the scale of columns.
    """

    core: type[CoreLearner]
    params: dict[str, Any]
    intercept: float = 1.0
    axes: Mapping[str, Axis] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ()
    judge: str = "loss"
    joint: str = ""
    tuning: Tuning | None = None

    @property
    def n_models(self) -> int:
        """Number of models that learn side by side."""
        return max(1, len(self.grid))

    @cached_property
    def steep(self) -> bool:
        """Whether its loss has slopes without a bound, so that weights may outgrow floating point."""
        loss = self.params.get("loss")
        return loss is not None and not LOSSES[loss].bounded

    @property
    def open_axes(self) -> tuple[str, ...]:
        """Axes that grow with what is learned, and may have any length."""
        return () if self.tuning is None else ("column",)

    def constant(self, state: State) -> float:
        """Value of the constant feature; beside columns of unit size, 1."""
        is_scaled = self.tuning is not None and state.arrays["is_scaled"][0, 0]
        return 1.0 if is_scaled and self.intercept else self.intercept

    def continues(self, other: Learner) -> bool:
        """Whether it can go on with a state that ``other`` made, as far as parameters tell."""
        if self.tuning != other.tuning or (self.tuning is not None and self.grid != other.grid):
            return False
        return self.core is other.core and self.params.get("free_constant") == other.params.get("free_constant")

    def fields(self) -> list[Field]:
        """The arrays that make up its state."""
        measured = () if self.tuning is None else self.tuning.fields()
        return [*(Field(*f) for f in self.core.fields(self.params)), *_COUNTS, *measured]

    def sizes(self, n_features: int) -> dict[str, int]:
        """The length of each axis that a field names."""
        models = {"model": len(self.grid)} if self.grid else {}
        if self.tuning is not None:
            models["column"] = 0
        return {"weight": n_features + 1, "tally": 4, **models} | {name: axis.size for name, axis in self.axes.items()}

    def room(self, n_features: int, target: Target) -> dict[str, int]:
        """The axes of a state that rows of this width, with these targets, make longer."""
        sizes = {"weight": n_features + 1}
        for name, axis in self.axes.items():  # once per batch: a comprehension would be one more call
            sizes[name] = axis.size
        return sizes

    def remember(self, state: State, rows: Rows) -> Memory:
        """Keep what these rows may change of the state, to put it back if they are refused."""
        if rows.columns is None:
            return state.remember({})
        named = {name: axis.touched(rows.columns) for name, axis in self.axes.items() if axis.touched is not None}
        return state.remember({"weight": rows.columns, **named})

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        """The state before the first row: named arrays of shape ``(n_outputs, ...)``, one model after the other."""
        return State(self.fields(), n_outputs * self.n_models, self.sizes(n_features))

    def for_outputs(self, n_outputs: int) -> Learner:
        """The form of the learner for that many outputs."""
        return self

    def outputs_of(self, state: State, model: int) -> range:
        """The outputs of one model of the grid."""
        n = state.n_outputs // self.n_models
        return range(model * n, (model + 1) * n)

    def progressive_losses(self, state: State) -> Array:
        """The mean loss of each model of the grid so far, of rows that were predicted before they were learned from."""
        tally = state.arrays["tally"]
        mean = tally[:, 2] / np.maximum(tally[:, 3], np.finfo(float).tiny)
        return mean.reshape(self.n_models, -1).mean(axis=1)

    def chosen(self, state: State) -> int:
        """The model of the grid that is read."""
        if not self.grid:
            return 0
        if self.tuning is not None and self.tuning.races:
            return self.tuning.chosen(self, state)
        against = state.arrays["n_mistakes"] if self.judge == "mistakes" else self.progressive_losses(state)
        return int(against.argmin())

    def _params_of(self, state: State, output: int) -> dict[str, Any]:
        params = self.params
        if self.grid:
            params = {**params, **self.grid[output * self.n_models // state.n_outputs]}
        return params if self.tuning is None else self.tuning.params(params, state, self.grid)

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        """One pass: predict each row, then learn from it; ``state`` changes in place."""
        if type(lesson.rows) is not Rows or lesson.rows.n_features + 1 != state.sizes["weight"]:
            self.check(lesson, state)
        if self.tuning is not None:
            return self._learn_tuned(self.tuning, lesson, state)
        if state.n_outputs > 1 and lesson.output is None:
            return self._learn_outputs(lesson, state)
        output = lesson.output or 0
        result = self._learn_output(lesson, state, output, lesson.order, lesson.margins)
        if state.n_outputs == 1:
            state.views[0]["n_mistakes"][0] += result.n_mistakes
        return result

    def check(self, lesson: Lesson, state: State) -> None:
        """Refuse rows that do not fit the state."""
        if not isinstance(lesson.rows, Rows):
            raise TypeError(f"learn: rows must come from onepass.rows, got {type(lesson.rows).__name__}.")
        width = state.sizes["weight"] - 1
        if lesson.rows.n_features != width:
            raise ValueError(f"learn: the rows have {lesson.rows.n_features} features, the state {width}.")

    def _learn_output(
        self, lesson: Lesson, state: State, output: int, order: NDArray[np.int64] | None, margins: Array | None
    ) -> PassResult:
        view, target = state.views[output], lesson.target
        params = self._params_of(state, output) if self.grid or self.tuning else self.params
        positive = target.positive(output % target.n_outputs if self.grid else output)
        y = np.ascontiguousarray(target.y, dtype=np.float64)
        order = None if order is None else np.ascontiguousarray(order, dtype=np.int64)
        weight = None if lesson.weight is None else np.ascontiguousarray(lesson.weight, dtype=np.float64)
        constant = self.intercept if self.tuning is None else self.constant(state)
        n_mistakes, begin = 0, 0
        while True:
            mistakes, diverged, paused = self.core.run_pass(
                lesson.rows, constant, y, positive, weight, order, view, params, margins, begin
            )
            n_mistakes += mistakes
            if paused < 0:
                return PassResult(n_mistakes, diverged)
            if lesson.memory is not None:
                lesson.memory.widen()
            self.core.settle(view, params, state.sizes["weight"])
            begin = paused

    def _learn_outputs(self, lesson: Lesson, state: State) -> PassResult:
        """Chunk by chunk, so that progressive mistakes are those of the largest score; all models of a grid in turn."""
        rows, y, weight, classes = lesson.rows, lesson.target.y, lesson.weight, lesson.target.classes
        order = np.arange(rows.n_rows) if lesson.order is None else lesson.order
        n_mistakes = 0
        with ExitStack() as stack:
            workers = n_workers(lesson.n_jobs, state.n_outputs)
            run = map if workers == 1 else stack.enter_context(ThreadPoolExecutor(workers)).map
            for begin in range(0, len(order), _CHUNK):
                chunk = order[begin : begin + _CHUNK]
                margins = np.empty((state.n_outputs, len(chunk)))

                def learn_one(k: int, chunk: NDArray[np.int64] = chunk, margins: Array = margins) -> int:
                    return self._learn_output(lesson, state, k, chunk, margins[k]).diverged

                for diverged in run(learn_one, range(state.n_outputs)):
                    if diverged >= 0:
                        return PassResult(n_mistakes, begin + diverged)
                present = slice(None) if weight is None else np.flatnonzero(weight[chunk])
                if classes is None:
                    continue
                for outputs in (self.outputs_of(state, model) for model in range(self.n_models)):
                    winners = winning_codes(margins[outputs.start : outputs.stop, present])
                    wrong = int(np.count_nonzero(winners != y[chunk[present]]))
                    state.views[outputs[0]]["n_mistakes"][0] += wrong
                    n_mistakes += wrong
        return PassResult(n_mistakes, -1)

    def _learn_tuned(self, tuning: Tuning, lesson: Lesson, state: State) -> PassResult:
        """Milestone by milestone, all candidates in turn; one that outgrows floating point is left out."""
        order = np.arange(lesson.rows.n_rows) if lesson.order is None else np.asarray(lesson.order, dtype=np.int64)
        present = None if lesson.weight is None else lesson.weight[order] > 0
        tuning.begin(state, lesson.rows, order if present is None else order[present])
        n_mistakes, size = 0, tuning.chunk(state, lesson.rows)
        for begin, end, milestone in tuning.segments(state, order, present):
            for at in range(begin, end, size):
                part = order[at : min(at + size, end)]
                mistakes, diverged = self._learn_part(tuning, lesson, state, part)
                n_mistakes += mistakes
                if diverged >= 0:
                    return PassResult(n_mistakes, at + diverged)
                if not lesson.is_measured:
                    there = part if present is None else part[present[at : at + len(part)]]
                    tuning.measure(state, lesson.rows, lesson.target, there)
            if milestone:
                if not lesson.is_measured:
                    unit = state.arrays["unit"][0, 0]
                    tuning.freeze(self, state)
                    if tuning.derives and state.arrays["unit"][0, 0] != unit:
                        self.rebuild(state)
                tuning.turn(self, state, milestone)
        return PassResult(n_mistakes, -1)

    def _learn_part(self, tuning: Tuning, lesson: Lesson, state: State, part: NDArray[np.int64]) -> PassResult:
        """Let all candidates that are still running learn from some rows."""
        target, weight, order = lesson.target, lesson.weight, part
        rows, is_scaled = lesson.rows, state.arrays["is_scaled"][0, 0]
        if is_scaled:
            rows, target, order = tuning.scaled(state, rows, part), target.take(part), np.arange(len(part))
            weight = None if weight is None else weight[part]
        if tuning.scales_target:
            target = target._replace(y=tuning.targets(state, target.y))
        here = Lesson(rows, target, weight, order, memory=lesson.memory, n_jobs=lesson.n_jobs)
        present = slice(None) if weight is None else np.flatnonzero(weight[order])
        n_mistakes = 0
        for model in tuning.running(self, state):
            diverged, margins = self._learn_model(here, state, int(model))
            if diverged >= 0:
                if lesson.memory is not None:
                    lesson.memory.widen()
                if not tuning.fail(self, state, int(model)):
                    return PassResult(n_mistakes, diverged)
                continue
            y = target.y[order[present]]
            is_code = target.classes is not None  # else numbers, of which -1 and +1 are classes
            wrong = winning_codes(margins[:, present]) != y if is_code else (margins[0, present] > 0) != (y > 0)
            tuning.count(state, int(model), wrong, None if weight is None else weight[order[present]])
            first = self.outputs_of(state, int(model))[0]
            state.views[first]["n_mistakes"][0] += np.count_nonzero(wrong)
            n_mistakes += int(np.count_nonzero(wrong)) * is_code
        return PassResult(n_mistakes, -1)

    def _learn_model(self, lesson: Lesson, state: State, model: int) -> tuple[int, Array]:
        """Let one model of a grid learn: where it diverged, or -1, and scores of shape (n_outputs, n_steps)."""
        outputs, order = self.outputs_of(state, model), lesson.order
        assert order is not None
        margins = np.empty((len(outputs), len(order)))

        def learn_one(k: int) -> int:
            return self._learn_output(lesson, state, outputs[k], order, margins[k]).diverged

        workers = n_workers(lesson.n_jobs, len(outputs))
        if workers == 1:
            return max(map(learn_one, range(len(outputs)))), margins
        with ThreadPoolExecutor(workers) as pool:
            return max(pool.map(learn_one, range(len(outputs)))), margins

    def look_at(self, lesson: Lesson, state: State) -> None:
        """Look at all rows of a fit before the first of them is learned from."""
        lesson.is_measured = self.tuning is not None
        if self.tuning is not None:
            self.tuning.begin(state, lesson.rows)
            rows, size = np.arange(lesson.rows.n_rows), self.tuning.chunk(state, lesson.rows)
            there = rows if lesson.weight is None else np.flatnonzero(lesson.weight > 0)
            for at in range(0, len(there), size):
                self.tuning.measure(state, lesson.rows, lesson.target, there[at : at + size])
            self.tuning.freeze(self, state)

    def decide(self, state: State) -> None:
        """Let the best model of a grid alone go on, if they are candidates in a race."""
        if self.tuning is not None:
            self.tuning.decide(self, state)

    def units(self, state: State) -> Array:
        """The factor of each feature from the weight that is learned to that of rows as they come."""
        units = np.ones(state.sizes["weight"] - 1)
        if self.tuning is not None and state.arrays["is_scaled"][0, 0]:
            units[: state.sizes["column"]] = state.arrays["inverse"][0]
        return units

    def reads_weights(self, state: State) -> bool:
        """Whether scores are products with :meth:`weights`, which the state does not hold as they are."""
        if self.tuning is not None and state.arrays["is_scaled"][0, 0]:
            return True
        return bool(self.joint) and state.n_outputs > self.n_models

    def scores(self, rows: Rows, state: State) -> Array:
        """Scores of shape ``(n_rows, n_outputs)``; O(non-zeros), however many features there are."""
        outputs = self.outputs_of(state, self.chosen(state)) if self.grid else range(state.n_outputs)
        out = np.empty((rows.n_rows, len(outputs)))
        if (self.joint and len(outputs) > 1) or (self.tuning is not None and self.reads_weights(state)):
            linear_scores(rows, self.constant(state), self.weights(state), out)
            return out
        for place, k in enumerate(outputs):
            params = self._params_of(state, k) if self.grid or self.tuning is not None else self.params
            self.core.scores(rows, self.intercept, state.views[k], params, out[:, place])
        return out if self.tuning is None else self.tuning.in_target_units(out, state)

    def spreads(self, rows: Rows, state: State) -> Array:
        """The variance of each score, of learners that keep variances of their weights."""
        outputs = self.outputs_of(state, self.chosen(state))
        out = np.empty((rows.n_rows, len(outputs)))
        if self.joint and len(outputs) > 1:
            rows = _with_columns(rows, self.selected(state))
        if self.tuning is not None and state.arrays["is_scaled"][0, 0]:
            rows = self.tuning.scaled(state, rows)
        for place, k in enumerate(outputs):
            self.core.spreads(rows, self.constant(state), state.views[k], self._params_to_read(state, k), out[:, place])
        return out

    def weights(self, state: State, model: int | None = None) -> Array:
        """All weights, shape ``(n_outputs, n_features + 1)``, that of the constant feature last."""
        return self._read(state, self.outputs_of(state, self.chosen(state) if model is None else model))[0]

    def selected(self, state: State) -> NDArray[np.bool_]:
        """The features that all outputs of the model may use together."""
        return self._read(state, self.outputs_of(state, self.chosen(state)))[1]

    def _read(self, state: State, outputs: range) -> tuple[Array, NDArray[np.bool_]]:
        """The weights of some outputs, and the features that they may use together."""
        weights = np.empty((len(outputs), state.sizes["weight"]))
        for place, k in enumerate(outputs):
            self.core.weights(state.views[k], self._params_to_read(state, k), weights[place])
        selected = np.ones(weights.shape[1] - 1, dtype=bool)
        if self.joint and len(outputs) > 1:
            most = int(self._params_of(state, outputs[0])[self.joint])
            if 0 < most < np.count_nonzero(weights[:, :-1].any(axis=0)):
                selected = largest(self._evidence(state, outputs, weights), most)
                weights[:, :-1][:, ~selected] = 0.0
        if self.tuning is not None:
            weights = self.tuning.in_users_units(weights, state, self.constant(state))
        return weights, selected

    def _params_to_read(self, state: State, output: int) -> dict[str, Any]:
        """The parameters with which weights of an output are read."""
        return self._params_of(state, output)

    def _evidence(self, state: State, outputs: range, weights: Array) -> Array:
        """The evidence for each feature over all outputs: here, the size of its largest weight."""
        return np.abs(weights[:, :-1]).max(axis=0)

    def finish(self, state: State) -> None:
        """Close an unfinished mini-batch with the rows it has."""
        for k, view in enumerate(state.views):
            self.core.finish(view, self._params_of(state, k), state.sizes["weight"])

    def settle(self, state: State) -> None:
        """Bring lazy state to the form in which it merges."""
        for k, view in enumerate(state.views):
            self.core.settle(view, self._params_of(state, k), state.sizes["weight"])

    def settle_all(self, states: Sequence[State]) -> None:
        """Bring states that are to be merged, the start first, to a common form."""
        for state in states:
            self.settle(state)

    def rebuild(self, state: State) -> None:
        """Recompute what is derived from the rest of the state."""
        for k, view in enumerate(state.views):
            self.core.rebuild(view, self._params_of(state, k), state.sizes["weight"])

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float], again: bool = False) -> State:
        """One state from those that shards reached from a common ``start``.

        Sums (gradients, counts) add up their changes, precisions of second-order learners add up and weigh the means,
        and all other weights average their changes. What the shards share at the start counts once; their order leaves
        no trace. Shards learned from iterates of their own, so the result is not that of one pass over all rows.

        Parameters
        ----------
        start : State
            What every shard began with: a copy of it, ``start.copy()``.
        states : sequence of State
            Where they arrived.
        weights : sequence of float
            The share of each shard in averages, for example its number of rows.
        again : bool, default=False
            Whether the start has learned from these rows before: then changes are averaged, where they would be added.
        """

        merged = _state.merge(start, states, weights, again=again, settle=self.settle_all, rebuild=self.rebuild)
        if self.tuning is not None and len(states) > 1:
            self.tuning.merge(self, merged, start, states)
        return merged


def largest(values: Array, n: int) -> NDArray[np.bool_]:
    """Mark the ``n`` largest of values that are at least 0, of equal ones the first; values of 0 are never marked."""
    positive: NDArray[np.bool_] = values > 0
    if np.count_nonzero(positive) <= n:
        return positive
    last = np.partition(values, -n)[-n]
    marked: NDArray[np.bool_] = values > last
    marked[np.flatnonzero(values == last)[: n - np.count_nonzero(marked)]] = True
    return marked


def _with_columns(rows: Rows, selected: NDArray[np.bool_]) -> Rows:
    """The same rows, with zeros in all other columns."""
    if rows.columns is None:
        return Rows.dense(rows.values * selected.astype(rows.values.dtype), False)
    kept = selected[rows.columns].astype(rows.values.dtype)
    return Rows.csr(rows.values * kept, rows.columns, rows.starts, rows.n_features, False)


def winning_codes(margins: Array) -> NDArray[np.intp]:
    """Codes of the classes that scores of shape (n_outputs, n_rows) speak for."""
    return (margins[0] > 0).astype(np.intp) if len(margins) == 1 else margins.argmax(axis=0)
