"""One pass of a learner that tunes itself: its candidates learn from the same rows, from milestone to milestone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._gate import Array
from ._lesson import Lesson, PassResult
from ._state import State
from ._target import Target
from ._tuning import Tuning, nearest, segments

if TYPE_CHECKING:
    from .._core import Several
    from ._learner import Learner

MOST_ROWS = 1 << 15  # that outputs or candidates learn in turn


class Race:
    """The candidates of a learner in one pass. One that overflows is left out; :class:`Tuning` decides which go on."""

    def __init__(self, learner: Learner, tuning: Tuning, lesson: Lesson, state: State) -> None:
        self._learner = learner
        self._tuning = tuning
        self._lesson = lesson
        self._state = state
        self._order = np.arange(lesson.rows.n_rows) if lesson.order is None else np.asarray(lesson.order, np.int64)
        self._present = None if lesson.weight is None else lesson.weight[self._order] > 0
        self._several: Several | None = None
        self._places: dict[int, int] = {}  # of the candidates that learn there

    def run(self) -> PassResult:
        """Let all candidates that go on learn, milestone by milestone."""
        tuning, state, order, present = self._tuning, self._state, self._order, self._present
        tuning.begin(state, self._lesson.rows, order if present is None else order[present])
        is_scaled = state.arrays["is_scaled"][0, 0]
        size = tuning.chunk(state, self._lesson.rows)
        room = np.empty((min(size, len(order)), self._lesson.rows.n_features)) if is_scaled else None
        try:
            return self._pass(size, room)
        finally:
            self._close()

    def _pass(self, size: int, room: Array | None) -> PassResult:
        learner, tuning, lesson, state = self._learner, self._tuning, self._lesson, self._state
        order, present, n_mistakes = self._order, self._present, 0
        first = tuning.first_milestone(learner, state) if lesson.is_measured else 0
        for begin, end, milestone in segments(state, order, present, first):
            if tuning.scales_target and not lesson.is_measured:
                part = order[begin:end]
                tuning.meet(learner, state, lesson.target.y[part if present is None else part[present[begin:end]]])
            alone = room is None and len(tuning.running(learner, state)) * state.n_outputs == learner.n_models
            step = max(size, MOST_ROWS) if alone else size
            for at in range(begin, end, step):
                part = order[at : min(at + step, end)]
                mistakes, diverged = self._learn(part, room)
                n_mistakes += mistakes
                if diverged >= 0:
                    return PassResult(n_mistakes, at + diverged)
                if not lesson.is_measured:
                    there = part if present is None else part[present[at : at + len(part)]]
                    tuning.measure(state, lesson.rows, lesson.target, tuning.sample(state, there))
            if milestone:
                self._reach(milestone)
        return PassResult(n_mistakes, -1)

    def _reach(self, milestone: int) -> None:
        """Set units and drop candidates at a power of two, and choose the best."""
        learner, tuning, state = self._learner, self._tuning, self._state
        if not self._lesson.is_measured or tuning.n_first:
            self._close()  # because parameters or states may change
        if milestone.bit_count() == 1:
            if not self._lesson.is_measured:
                unit = state.arrays["unit"][0, 0]
                tuning.freeze(learner, state)
                derives = tuning.derives and state.arrays["unit"][0, 0] != unit
                if derives or "row_sum" in state.arrays:
                    learner.rebuild(state)
            tuning.turn(learner, state, milestone)
        learner.choose(state)

    def _learn(self, part: NDArray[np.int64], room: Array | None) -> PassResult:
        """Let all candidates that go on learn from some rows."""
        learner, tuning, lesson, state = self._learner, self._tuning, self._lesson, self._state
        target, weight, counted, order = lesson.target, lesson.weight, lesson.score_weight, part
        rows, is_far = lesson.rows, np.zeros(len(part), dtype=np.uint8)
        if room is not None:
            rows, order = tuning.units(state).scaled(rows, part, room, is_far), np.arange(len(part))
            target, weight = target.take(part), None if weight is None else weight[part]
            counted = None if counted is None else counted[part]
        if tuning.scales_target:
            target = target._replace(y=tuning.targets(state, target.y))
        here = replace(lesson, rows=rows, target=target, weight=weight, order=order, score_weight=counted)
        missed_by = _Mistakes(target, order, None if weight is None else weight[order] > 0, room is not None)

        running, missed, until = tuning.running(learner, state), {}, len(order)
        reader = nearest(running, state) if tuning.races else learner.chosen(state)
        other = tuning.as_read(state, lesson.rows, part, is_far) if learner.reads_far and is_far.any() else None
        together = self._learn_together(here, running.tolist()) if other is None else {}
        if not together:
            self._close()
        for model in running.tolist():
            here.other = other if model == reader else None
            diverged, margins, as_read = together.get(model) or learner.learn_model(here, state, model)
            missed[model] = missed_by(as_read)
            if diverged >= 0:
                self._close()
                if lesson.memory is not None:
                    lesson.memory.widen()
                if not tuning.fail(learner, state, model):
                    return PassResult(0, diverged)
                until = diverged + 1 if model == reader else until
                continue
            learner.count_scores(here, state, model, as_read)
            in_race = missed[model] if as_read is margins else missed_by(margins)
            tuning.count(state, model, in_race, None if weight is None else weight[order])
            if learner.grid:
                state.arrays["n_mistakes"][model, 0] += np.count_nonzero(in_race)
        n_wrong = int(np.count_nonzero(missed[reader][:until]))
        if until < len(order):  # the rest by the one that took over
            n_wrong += int(np.count_nonzero(missed[learner.chosen(state)][until:]))
        learner.add_mistakes(state, n_wrong)
        return PassResult(n_wrong * (target.classes is not None), -1)

    def _learn_together(self, lesson: Lesson, models: list[int]) -> dict[int, tuple[int, Array, Array]]:
        """Let candidates of one output learn side by side, where the core learns several at once: for each, what
        :meth:`Learner.learn_model` returns."""
        learner, state = self._learner, self._state
        of_one = state.n_outputs == learner.n_models and lesson.target.classes is not None
        if len(models) == 1 or not of_one or lesson.rows.columns is None or not learner.has_several:
            return {}
        assert lesson.order is not None
        if self._several is None:
            self._several = learner.several(state, models, len(self._order))
            self._places = {model: place for place, model in enumerate(models)}
        margins = np.empty((len(models), len(lesson.order)))
        which = [self._places[model] for model in models]
        diverged = learner.run_several(self._several, lesson, state, models, which, margins)
        return {model: (diverged[k], (own := margins[k : k + 1]), own) for k, model in enumerate(models)}

    def _close(self) -> None:
        """Put the weights of candidates that learn side by side back into the state."""
        if self._several is not None:
            self._several.close()
            self._several = None


class _Mistakes:
    """Tells which rows some scores misclassify."""

    def __init__(
        self, target: Target, order: NDArray[np.int64], present: NDArray[np.bool_] | None, is_taken: bool
    ) -> None:
        self._y = target.y if is_taken else target.y[order]
        self._present = present
        self._is_code = target.classes is not None
        self._is_positive = self._y > 0  # else numbers, of which -1 and +1 are classes

    def __call__(self, margins: Array) -> NDArray[np.bool_]:
        if self._is_code and len(margins) > 1:
            missed: NDArray[np.bool_] = margins.argmax(axis=0) != self._y
        else:
            missed = (margins[0] > 0) != self._is_positive
        return missed if self._present is None else missed & self._present
