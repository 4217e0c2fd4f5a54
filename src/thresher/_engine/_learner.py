"""A compiled update rule and what it does to a state: learn, read, settle, merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, all_finite, linear_scores
from .._dataclasses import dataclass
from .._gate import Array
from . import _state
from ._calibration import ScoreCounts, score_fields, score_sizes
from ._lesson import Lesson, PassResult, n_workers
from ._losses import LOSSES
from ._race import MOST_ROWS, Race
from ._state import Field, Memory, State
from ._target import Target
from ._threads import thread_pool
from ._tuning import Tuning, nearest, segments

if TYPE_CHECKING:
    from .._core import CoreLearner, Several  # CoreLearner is what all compiled learners offer, no class at run time

_FEWEST = 1 << 12  # rows that outputs learn in turn: with fewer, states change places in the cache
_SIDE_BY_SIDE = 4  # outputs; the lanes of more would not fit the cache together
_MOST_SCORES = 1 << 21  # of all outputs that are held at a time

# Kept by the loop itself, for every learner: (rows, updates, loss, weight) of each output, and mistakes of the model.
_COUNTS = (Field("tally", "tally", 0.0, "sum"), Field("n_mistakes", "model", 0.0, "sum"))
# And where models learn side by side: which of them is read, the mistakes of whichever was read when a row came, and
# how much more loss these paid than the one that is read now.
_READ = (
    Field("reads", "shared", 0.0, "derived"),
    Field("n_wrong", "shared", 0.0, "sum"),
    Field("loss_shift", "shared", 0.0, "derived"),
)


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
        rows, and the one that has done best so far is what is read. It is chosen anew after 1, 2, 3, 4, 6, 8,
        12, ... rows and stays in between, so that any chunking of the rows predicts the same.
    judge : {"loss", "mistakes"}, default="loss"
        What is counted against a model of the grid: its progressive loss, or its progressive mistakes.
    joint : str, optional
        The parameter that limits the features of all outputs together; without it, each output selects its own.
    tuning : Tuning, optional
        What it finds out by itself: which model of the grid is best, in units of the data, and the scale of columns.
    counts_scores : bool, default=False
        Whether scores are counted by class, of rows that were not learned from yet: what probabilities are read by.
    """

    core: type[CoreLearner]
    params: dict[str, Any]
    intercept: float = 1.0
    axes: Mapping[str, Axis] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ()
    judge: str = "loss"
    joint: str = ""
    tuning: Tuning | None = None
    counts_scores: bool = False

    @property
    def reads_far(self) -> bool:
        """Whether predictions use extreme values unchanged, although learning limits them."""
        return True

    @property
    def has_several(self) -> bool:
        """Whether several outputs can learn in one pass over the rows."""
        return hasattr(self.core, "several")

    @property
    def n_models(self) -> int:
        """Number of models that learn side by side."""
        return max(1, len(self.grid))

    @cached_property
    def steep(self) -> bool:
        """Whether its loss has slopes without a bound, so that weights may overflow."""
        loss = self.params.get("loss")
        return loss is not None and not LOSSES[loss].bounded

    @property
    def open_axes(self) -> tuple[str, ...]:
        """Axes that grow during learning, and may have any length."""
        return () if self.tuning is None else ("column",)

    def constant(self, state: State) -> float:
        """Value of the constant feature; beside columns of unit size, 1."""
        return 1.0 if self.intercept and self.scales(state) else self.intercept

    def scales(self, state: State) -> bool:
        """Whether rows are learned with scaled columns."""
        return self.tuning is not None and bool(state.arrays["is_scaled"][0, 0])

    def continues(self, other: Learner) -> bool:
        """Whether its parameters allow it to continue with a state that ``other`` made."""
        if self.tuning != other.tuning or (self.tuning is not None and self.grid != other.grid):
            return False
        return self.core is other.core and self.params.get("free_constant") == other.params.get("free_constant")

    def fields(self) -> list[Field]:
        """The arrays that make up its state."""
        measured = () if self.tuning is None else self.tuning.fields()
        scored = score_fields(self.score_axis) if self.counts_scores else ()
        own = (Field(*f) for f in self.core.fields(self.params))
        return [*own, *_COUNTS, *(_READ if self.grid else ()), *measured, *scored]

    def sizes(self, n_features: int) -> dict[str, int]:
        """The length of each axis that a field names."""
        models = {"model": len(self.grid)} if self.grid else {}
        if self.tuning is not None:
            models["column"] = 0
        if self.counts_scores:
            models |= score_sizes()
        return {"weight": n_features + 1, "tally": 4, **models} | {name: axis.size for name, axis in self.axes.items()}

    def room(self, n_features: int, target: Target) -> dict[str, int]:
        """The axes of a state that rows of this width, with these targets, make longer."""
        sizes = {"weight": n_features + 1}
        for name, axis in self.axes.items():  # once per batch: a comprehension would be one more call
            sizes[name] = axis.size
        return sizes

    def remember(self, state: State, rows: Rows) -> Memory:
        """Keep what these rows may change of the state, to restore it if they are rejected."""
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

    @property
    def score_axis(self) -> str:
        """The axis of outputs that have scores side by side in one state."""
        return ""

    def counting(self) -> Learner:
        """The same learner, counting scores by class."""
        return replace(self, counts_scores=True)

    def score_counts(self, state: State, model: int | None = None) -> ScoreCounts:
        """The scores of the model that is read, or of another, on rows that it had not learned from."""
        return ScoreCounts.of_state(state, self.outputs_of(state, self.chosen(state) if model is None else model))

    def outputs_of(self, state: State, model: int) -> range:
        """The outputs of one model of the grid."""
        n = state.n_outputs // self.n_models
        return range(model * n, (model + 1) * n)

    def progressive_losses(self, state: State) -> Array:
        """The mean loss of each model of the grid so far, of rows that were predicted before they were learned from."""
        tally = state.arrays["tally"]
        mean = tally[:, 2] / np.maximum(tally[:, 3], np.finfo(float).tiny)
        return mean.reshape(self.n_models, -1).mean(axis=1)

    def progressive_loss(self, state: State) -> float:
        """The mean loss of the rows so far, each predicted by the model that was read when it came."""
        if not self.grid:
            return float(self.progressive_losses(state)[0])
        weight = state.arrays["tally"][self.outputs_of(state, self.chosen(state)).start, 3]
        return self._paid(state) / max(float(weight), np.finfo(float).tiny)

    def loss_since(self, state: State, tally: Array) -> float:
        """The mean loss of the model that is read, over the rows that came since the state had that tally."""
        outputs = self.outputs_of(state, self.chosen(state))
        paid = (state.arrays["tally"] - tally)[outputs.start : outputs.stop].mean(axis=0)
        return float(paid[2] / max(paid[3], np.finfo(float).tiny))

    def _paid(self, state: State) -> float:
        """The sum of these losses."""
        outputs = self.outputs_of(state, self.chosen(state))
        paid = state.arrays["tally"][outputs.start : outputs.stop, 2].mean()
        return float(paid + state.arrays["loss_shift"][0, 0])

    def chosen(self, state: State) -> int:
        """The model of the grid that is read; if it was left out since it was chosen, the one next to it."""
        if not self.grid:
            return 0
        if self.tuning is None or not self.tuning.races:
            return int(state.arrays["reads"][0, 0])
        return nearest(self.tuning.running(self, state), state)

    def choose(self, state: State) -> None:
        """Read the model of the grid that has done best so far."""
        if self.grid:
            tally = state.arrays["tally"]
            np.minimum(tally, np.finfo(float).max, out=tally)  # the loss of a hopeless candidate may be infinite
            best, reads = self.best(state), state.arrays["reads"]
            if best != reads[0, 0]:
                paid = self._paid(state)
                reads[0, 0] = best
                state.arrays["loss_shift"][0, 0] += paid - self._paid(state)

    def best(self, state: State) -> int:
        """The model of the grid that has done best so far."""
        if self.tuning is not None and self.tuning.races:
            return self.tuning.best(self, state)
        against = state.arrays["n_mistakes"] if self.judge == "mistakes" else self.progressive_losses(state)
        return int(against.argmin())

    def n_mistakes(self, state: State) -> int:
        """Rows that were predicted wrongly, each by the model that was read when it came."""
        return int(state.arrays["n_wrong" if self.grid else "n_mistakes"][0, 0])

    def add_mistakes(self, state: State, n_wrong: int) -> None:
        """Count mistakes of the model that was read."""
        state.arrays["n_wrong" if self.grid else "n_mistakes"][0, 0] += n_wrong

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
            return Race(self, self.tuning, lesson, state).run()
        if state.n_outputs > 1 and lesson.output is None:
            return self._learn_outputs(lesson, state)
        output, counts = lesson.output or 0, self.counts_scores and lesson.is_new and lesson.output is None
        if counts and lesson.score_weight is not None:
            return self._learn_apart(lesson, state)
        result = self._learn_output(lesson, state, output, lesson.order, lesson.margins, count_scores=counts)
        if state.n_outputs == 1:  # as add_mistakes does, with one call less
            state.arrays["n_wrong" if self.grid else "n_mistakes"][0, 0] += result.n_mistakes
        return result

    def _learn_apart(self, lesson: Lesson, state: State) -> PassResult:
        """Learn first, then count the scores that other weights gave to the rows before."""
        n_steps = lesson.rows.n_rows if lesson.order is None else len(lesson.order)
        margins = np.empty(n_steps * self._n_scores(state)) if lesson.margins is None else lesson.margins
        result = self.learn(replace(lesson, margins=margins, is_new=False), state)
        if result.diverged < 0:
            self.count_scores(lesson, state, 0, np.ascontiguousarray(margins.reshape(n_steps, -1).T))
        return result

    def _n_scores(self, state: State) -> int:
        """The number of scores of a row in one pass."""
        return 1

    def count_scores(self, lesson: Lesson, state: State, model: int, scores: Array) -> None:
        """Count scores, of shape ``(n_outputs, n_steps)``, that a model gave to rows before it learned from them."""
        if self.counts_scores and lesson.is_new:
            y = np.ascontiguousarray(lesson.target.y, dtype=np.float64)
            self.score_counts(state, model).add(scores, y, lesson.counted_weight, lesson.order)

    def check(self, lesson: Lesson, state: State) -> None:
        """Refuse rows that do not fit the state."""
        if not isinstance(lesson.rows, Rows):
            raise TypeError(f"learn: rows must come from onepass.rows, got {type(lesson.rows).__name__}.")
        width = state.sizes["weight"] - 1
        if lesson.rows.n_features != width:
            raise ValueError(f"learn: the rows have {lesson.rows.n_features} features, the state {width}.")

    def _learn_output(
        self,
        lesson: Lesson,
        state: State,
        output: int,
        order: NDArray[np.int64] | None,
        margins: Array | None,
        as_read: Array | None = None,
        count_scores: bool = False,
    ) -> PassResult:
        view, target = state.views[output], lesson.target
        params = self._params_of(state, output) if self.grid or self.tuning else self.params
        positive = target.positive(output % target.n_outputs if self.grid else output)
        y = np.ascontiguousarray(target.y, dtype=np.float64)
        order = None if order is None else np.ascontiguousarray(order, dtype=np.int64)
        weight = None if lesson.weight is None else np.ascontiguousarray(lesson.weight, dtype=np.float64)
        constant = self.intercept if self.tuning is None else self.constant(state)
        far, at = (None, None) if lesson.other is None else lesson.other
        n_mistakes, begin = 0, 0
        while True:
            mistakes, diverged, paused = self.core.run_pass(
                *(lesson.rows, constant, y, positive, weight, order, view, params, margins, begin, far, at),
                None if at is None else as_read,
                count_scores,
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
            run = map if workers == 1 else stack.enter_context(thread_pool(workers)).map
            of_models = (self.outputs_of(state, model) for model in range(self.n_models))
            shares = [share for outputs in of_models for share in self._shares(outputs)]
            for begin, end, milestone in self._chunks(state, order, weight):
                chunk = order[begin:end]
                margins = np.empty((state.n_outputs, len(chunk)))

                def learn(some: range, chunk: NDArray[np.int64] = chunk, margins: Array = margins) -> int:
                    return max(self._learn_some(lesson, state, some, chunk, margins[some.start : some.stop]))

                for diverged in run(learn, shares):
                    if diverged >= 0:
                        return PassResult(n_mistakes, begin + diverged)
                for model, scores in enumerate(np.split(margins, self.n_models)):
                    self.count_scores(replace(lesson, order=chunk), state, model, scores)
                present = slice(None) if weight is None else np.flatnonzero(weight[chunk])
                if classes is not None:
                    by_model = np.split(margins[:, present], self.n_models)
                    wrong = [int(np.count_nonzero(winning_codes(one) != y[chunk[present]])) for one in by_model]
                    n_mistakes += self.count_mistakes(state, wrong)
                if milestone:
                    self.choose(state)
        return PassResult(n_mistakes, -1)

    def _shares(self, outputs: range, alone: bool = False) -> list[range]:
        """Outputs of a model in parts, each of which learns in one call: as many as the core learns side by side."""
        size = 1 if alone or not self.has_several else _SIDE_BY_SIDE
        return [outputs[at : at + size] for at in range(0, len(outputs), size)]

    def _learn_some(
        self,
        lesson: Lesson,
        state: State,
        outputs: Sequence[int],
        order: NDArray[np.int64],
        margins: Array,
        as_read: Array | None = None,
    ) -> list[int]:
        """Let some outputs learn; returns for each the step at which it diverged, or -1."""
        if len(outputs) == 1:
            read = None if as_read is None else as_read[0]
            return [self._learn_output(lesson, state, outputs[0], order, margins[0], read).diverged]
        with self.several(state, outputs, len(order)) as several:
            return self.run_several(several, replace(lesson, order=order), state, outputs, range(len(outputs)), margins)

    def several(self, state: State, outputs: Sequence[int], n_to_come: int) -> Several:
        """Outputs that learn from the same rows, in lanes where that pays for so many rows; the weights are in the
        state again once it is closed."""
        views, params = [state.views[k] for k in outputs], [self._params_of(state, k) for k in outputs]
        return self.core.several(views, params, state.sizes["weight"], n_to_come)

    def run_several(
        self,
        several: Several,
        lesson: Lesson,
        state: State,
        outputs: Sequence[int],
        which: Sequence[int],
        margins: Array,
    ) -> list[int]:
        """Let some outputs, which have these places in ``several``, learn; returns where each diverged, or -1."""
        target, weight, n = lesson.target, lesson.weight, lesson.target.n_outputs
        return several.run(
            lesson.rows,
            self.intercept if self.tuning is None else self.constant(state),
            np.ascontiguousarray(target.y, dtype=np.float64),
            np.array([target.positive(k % n) for k in outputs], dtype=np.float64),
            None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
            None if lesson.order is None else np.ascontiguousarray(lesson.order, dtype=np.int64),
            np.array(which, dtype=np.int64),
            margins,
        )

    def _chunks(self, state: State, order: NDArray[np.int64], weight: Array | None) -> Iterator[tuple[int, int, int]]:
        """Pieces of an order that all outputs learn in turn: begin, end, and the milestone if one is there, else 0."""
        size, pieces = max(_FEWEST, min(MOST_ROWS, _MOST_SCORES // state.n_outputs)), iter([(0, len(order), 0)])
        if self.grid:
            pieces = segments(state, order, None if weight is None else weight[order] > 0)
        elif self.params.get("batch_constant"):  # mini-batches that must be seen as a whole
            size += -size % int(self.params["batch_size"])
        for begin, end, milestone in pieces:
            for at in range(begin, end, size):
                yield at, min(at + size, end), milestone if at + size >= end else 0

    def count_mistakes(self, state: State, wrong: Sequence[int] | Array) -> int:
        """Count the mistakes of every model; returns those of the one that is read."""
        n_wrong = int(wrong[self.chosen(state)])
        if self.grid:
            state.arrays["n_mistakes"][:, 0] += wrong
        self.add_mistakes(state, n_wrong)
        return n_wrong

    def learn_model(self, lesson: Lesson, state: State, model: int) -> tuple[int, Array, Array]:
        """Let one model of a grid learn. Return where it diverged, or -1, and two arrays of scores, of shape
        (n_outputs, n_steps): those by which it learned and those of predictions."""
        outputs, order = self.outputs_of(state, model), lesson.order
        assert order is not None
        margins = np.empty((len(outputs), len(order)))
        as_read = margins if lesson.other is None else np.empty_like(margins)

        def learn(some: range) -> int:
            first, end = some.start - outputs.start, some.stop - outputs.start
            return max(self._learn_some(lesson, state, some, order, margins[first:end], as_read[first:end]))

        workers = n_workers(lesson.n_jobs, len(outputs))
        shares = self._shares(outputs, alone=lesson.other is not None)
        if workers == 1:
            return max(map(learn, shares)), margins, as_read
        with thread_pool(workers) as pool:
            return max(pool.map(learn, shares)), margins, as_read

    def look_at(self, lesson: Lesson, state: State) -> None:
        """Check all rows of a fit before the first of them is learned from."""
        lesson.is_measured = self.tuning is not None
        if self.tuning is not None:
            self.tuning.begin(state, lesson.rows)
            rows, size = np.arange(lesson.rows.n_rows), self.tuning.chunk(state, lesson.rows)
            there = rows if lesson.weight is None else np.flatnonzero(lesson.weight > 0)
            for at in range(0, len(there), size):
                self.tuning.measure(state, lesson.rows, lesson.target, there[at : at + size])
            self.tuning.freeze(self, state)

    def begin_at(self, state: State, weights: Array) -> bool:
        """Put weights, for rows as they come, into a state before its first row; False if it does not keep them so."""
        is_kept = any(field.name == "coef" and field.merge != "derived" for field in state.fields)
        coef = state.arrays["coef"] if is_kept else None
        learned = weights if self.tuning is None else self.tuning.in_learned_units(weights, state, self.constant(state))
        if coef is not None and coef.shape[1:] == learned.T.shape:  # outputs that are learned together
            coef[...] = learned.T
        elif coef is not None and coef.shape == (self.n_models * len(learned), learned.shape[1]):
            coef[...] = np.tile(learned, (self.n_models, 1))
        else:
            return False
        self.rebuild(state)
        return np.allclose(self.weights(state), weights, rtol=1e-9, atol=1e-12 * np.abs(weights).max(initial=0.0))

    def learns_at_once(self, lesson: Lesson) -> bool:
        """Whether most rows would be scored before anything was learned, because they are learned together."""
        return False

    def take_over(self, fresh: State, state: State) -> None:
        """Copy the units and the race result that another state has found to a state before its first row."""
        if self.tuning is not None:
            fresh.grow(fresh.sizes["weight"], column=state.sizes["column"])
            for name in (each.name for each in self.tuning.fields()):
                fresh.arrays[name][...] = state.arrays[name]
        self.read_as(fresh, state)

    def read_as(self, other: State, state: State) -> None:
        """Read the same model of a grid in two states."""
        if self.grid:
            other.arrays["reads"][...] = state.arrays["reads"]

    def decide(self, state: State) -> None:
        """If the models of a grid are candidates in a race, continue with the best one only."""
        if self.tuning is not None:
            self.tuning.decide(self, state)
            self.choose(state)

    def units(self, state: State) -> Array:
        """The factor of each feature from the weight that is learned to that of rows as they come."""
        units = np.ones(state.sizes["weight"] - 1)
        if self.scales(state):
            units[: state.sizes["column"]] = state.arrays["inverse"][0]
        return units

    def reads_weights(self, state: State) -> bool:
        """Whether scores are products with :meth:`weights`, which the state does not hold as they are."""
        if self.tuning is not None and self.scales(state):
            return True
        return bool(self.joint) and state.n_outputs > self.n_models

    def scores(self, rows: Rows, state: State) -> Array:
        """Scores of shape ``(n_rows, n_outputs)``; O(non-zeros), however many features there are."""
        outputs = self.outputs_of(state, self.chosen(state)) if self.grid else range(state.n_outputs)
        if (self.joint and len(outputs) > 1) or (self.tuning is not None and self.reads_weights(state)):
            weights = self.weights(state)
            out = np.empty((rows.n_rows, len(weights)))
            linear_scores(rows, self.constant(state), weights, out)
            return out
        out = np.empty((rows.n_rows, len(outputs)))
        for place, k in enumerate(outputs):
            params = self._params_of(state, k) if self.grid or self.tuning is not None else self.params
            if state.is_lazy and rows.values.size >= state.sizes["weight"]:
                # Bring each weight up to date once, not for every value.
                weights, column = np.empty((1, state.sizes["weight"])), np.empty((rows.n_rows, 1))
                self.core.weights(state.views[k], params, weights[0])
                linear_scores(rows, self.intercept, weights, column)
                out[:, place] = column[:, 0]
            else:
                self.core.scores(rows, self.intercept, state.views[k], params, out[:, place])
        return out if self.tuning is None else self.tuning.in_target_units(out, state)

    def spreads(self, rows: Rows, state: State) -> Array:
        """The variance of each score, of learners that keep variances of their weights."""
        outputs = self.outputs_of(state, self.chosen(state))
        out = np.empty((rows.n_rows, len(outputs)))
        if self.joint and len(outputs) > 1:
            rows = _with_columns(rows, self.selected(state))
        rows = self.as_learned(rows, state)
        for place, k in enumerate(outputs):
            self.core.spreads(rows, self.constant(state), state.views[k], self._params_to_read(state, k), out[:, place])
        return out

    def weights(self, state: State, model: int | None = None) -> Array:
        """All weights, shape ``(n_outputs, n_features + 1)``, that of the constant feature last."""
        return self._read(state, self.outputs_of(state, self.chosen(state) if model is None else model))[0]

    def can_survey(self, state: State) -> bool:
        """Whether weights are read as they are, one output after the other."""
        outputs = self.outputs_of(state, self.chosen(state))
        selects_together = self.joint and len(outputs) > 1 and self._params_of(state, outputs[0])[self.joint] > 0
        return self.tuning is None and not selects_together

    def survey(self, state: State) -> tuple[bool, bool]:
        """The result of :func:`surveyed` for :meth:`weights`, without copying them."""
        outputs, size = self.outputs_of(state, self.chosen(state)), state.sizes["weight"]
        found = [self.core.survey(state.views[k], self._params_to_read(state, k), size) for k in outputs]
        return all(is_finite for is_finite, _ in found), any(is_in_use for _, is_in_use in found)

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
        return self.in_users_units(weights, state), selected

    def in_users_units(self, weights: Array, state: State) -> Array:
        """Weights for rows as they come."""
        return weights if self.tuning is None else self.tuning.in_users_units(weights, state, self.constant(state))

    def as_learned(self, rows: Rows, state: State) -> Rows:
        """Convert rows to the units in which they are learned, for predictions: extreme values stay, as in scores."""
        if self.tuning is None or not self.scales(state):
            return rows
        return self.tuning.units(state)._replace(reach=np.inf).scaled(rows)

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

    def round(self, state: State) -> None:
        """Round what was learned for each weight to float32, in the form in which states merge."""
        self.settle_all([state])
        state.round()
        self.rebuild(state)

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
        if len(states) > 1:
            if self.tuning is not None:
                self.tuning.merge(self, merged, start, states)
            self._choose_merged(merged, start, states)
        return merged

    def _choose_merged(self, merged: State, start: State, states: Sequence[State]) -> None:
        """Read the best of the merged models; the losses of those that were read add up."""
        if self.grid:
            self.choose(merged)
            first, *each = (np.array(self._paid(s)) for s in (start, *states))
            merged.arrays["loss_shift"][0, 0] += float(_state.added(first, each)) - self._paid(merged)


def largest(values: Array, n: int) -> NDArray[np.bool_]:
    """Mark the ``n`` largest of some non-negative values, the first in case of ties; zeros are never marked."""
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


def surveyed(weights: Array) -> tuple[bool, bool]:
    """Whether all weights are finite, and whether any but those of the constant are not 0."""
    return all_finite(weights.ravel()), bool(weights[:, :-1].any())


def winning_codes(margins: Array) -> NDArray[np.intp]:
    """Codes of the classes that scores of shape (n_outputs, n_rows) predict."""
    return (margins[0] > 0).astype(np.intp) if len(margins) == 1 else margins.argmax(axis=0)
