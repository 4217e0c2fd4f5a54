"""Outputs that are learned together: tasks or classes whose weights for one feature share a penalty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._engine import Learner, Lesson, PassResult, Race, State, Target
from .._gate import Array
from ..onepass import Rows
from ._linear import LinearScores, WeighsClasses
from ._online_linear import OnlineLinear


@dataclass(frozen=True)
class CoupledLearner(Learner):
    """A compiled learner of coupled outputs: one state, in which the outputs are an axis beside the weights.

    How many there are is read from the state, so that tasks may join under way.
    """

    axis: str = "task"
    n_more_codes: int = 0
    """Codes that rows may have beside those of the outputs."""

    @property
    def score_axis(self) -> str:
        return "" if self.axis == "task" else self.axis  # the scores of all tasks are read alike

    @property
    def reads_far(self) -> bool:
        return self.axis != "task"  # tasks are read by scores of rows as they are learned from

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        return State(self.fields(), self.n_models, self.sizes(n_features) | {self.axis: n_outputs})

    def continues(self, other: Learner) -> bool:
        return super().continues(other) and self.params.get("penalty") == other.params.get("penalty")

    def _params_of(self, state: State, output: int = 0) -> dict[str, Any]:
        return super()._params_of(state, output) | {f"n_{self.axis}s": state.sizes[self.axis]}

    def room(self, n_features: int, target: Target) -> dict[str, int]:
        return super().room(n_features, target) | {self.axis: target.n_outputs}

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        """One pass over all outputs together; margins, if any, are of shape ``(n_steps * n_outputs,)``."""
        self.check(lesson, state)
        if self.tuning is not None:
            return Race(self, self.tuning, lesson, state).run()
        counts = self.counts_scores and lesson.is_new
        if counts and lesson.score_weight is not None:
            return self._learn_apart(lesson, state)
        result = self._learn_together(lesson, state, 0, count_scores=counts)
        self.add_mistakes(state, result.n_mistakes)
        return result

    def _n_scores(self, state: State) -> int:
        """The number of scores of a row: that of its task, or one for each class."""
        return 1 if self.axis == "task" else state.sizes[self.axis]

    def learn_model(self, lesson: Lesson, state: State, model: int) -> tuple[int, Array, Array]:
        assert lesson.order is not None
        margins = np.empty((len(lesson.order), self._n_scores(state)))
        as_read = margins if lesson.other is None else np.empty_like(margins)
        lesson = replace(lesson, margins=margins.reshape(-1))
        return self._learn_together(lesson, state, model, as_read.reshape(-1)).diverged, margins.T, as_read.T

    def _learn_together(
        self, lesson: Lesson, state: State, model: int, as_read: Array | None = None, count_scores: bool = False
    ) -> PassResult:
        """One pass of one model."""
        view, core, target, params = (
            state.views[model],
            self.core,
            lesson.target.coupled(),
            self._params_of(state, model),
        )
        weight = None if lesson.weight is None else np.ascontiguousarray(lesson.weight, dtype=np.float64)
        values, at = (None, None) if lesson.other is None else lesson.other
        n_mistakes, begin = 0, 0
        while True:
            mistakes, diverged, paused = core.run_pass(  # type: ignore[call-arg]
                rows=lesson.rows,
                bias=self.constant(state),
                y=np.ascontiguousarray(target.y, dtype=np.float64),
                n_codes=target.n_codes + self.n_more_codes,
                codes=target.codes,
                rounds=target.rounds,
                weight=weight,
                order=lesson.order,
                state=view,
                params=params,
                margins=lesson.margins,
                begin=begin,
                other_rows=values,
                other_at=at,
                other_scores=None if at is None else as_read,
                count_scores=count_scores,
            )
            n_mistakes += mistakes
            if paused < 0:
                return PassResult(n_mistakes, diverged)
            if lesson.memory is not None:
                lesson.memory.widen()
            core.settle(view, params, state.sizes["weight"])
            begin = paused

    def scores(
        self, rows: Rows, state: State, codes: NDArray[np.int64] | None = None, width: int | None = None
    ) -> Array:
        """Scores of shape ``(n_rows, width)``: one for the task of each row, or one for each class."""
        out = np.empty((rows.n_rows, state.sizes[self.axis] if width is None else width))
        tuning, model = self.tuning, self.chosen(state)
        if tuning is None or not self.reads_weights(state):
            self._look(rows, state, model, codes, out)
        else:
            size = tuning.chunk(state, rows)
            for at in range(0, rows.n_rows, size):
                part = np.arange(at, min(at + size, rows.n_rows))
                those = None if codes is None else codes[part]
                self._look(tuning.scaled(state, rows, part), state, model, those, out[at : at + size])
        return out if tuning is None else tuning.in_target_units(out, state)

    def _look(self, rows: Rows, state: State, model: int, codes: NDArray[np.int64] | None, out: Array) -> None:
        """The scores of rows in the units in which they are learned."""
        self.core.scores(  # type: ignore[call-arg]
            rows=rows,
            bias=self.constant(state),
            n_codes=state.sizes[self.axis],
            codes=codes,
            state=state.views[model],
            params=self._params_of(state, model),
            out=out.reshape(-1),
        )

    def weights(self, state: State, model: int | None = None) -> Array:
        """All weights, shape ``(n_outputs, n_features + 1)``, that of the constant feature last."""
        n_weights, model = state.sizes["weight"], self.chosen(state) if model is None else model
        out = np.empty((n_weights, state.sizes[self.axis]))
        self.core.weights(  # type: ignore[call-arg]
            state=state.views[model], params=self._params_of(state, model), n_weights=n_weights, out=out.reshape(-1)
        )
        return self.in_users_units(np.ascontiguousarray(out.T), state)

    def can_survey(self, state: State) -> bool:
        return False


class Coupled(OnlineLinear):
    """Base class of estimators whose outputs are one axis of one state."""

    _shorter_steps = "a smaller eta0"

    def _learner(self, n_features: int) -> CoupledLearner:
        raise NotImplementedError

    def _n_coupled(self) -> int:
        """The outputs of a fitted model."""
        raise NotImplementedError

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        assert isinstance(learner, CoupledLearner)
        return learner.n_models, learner.sizes(self.n_features_in_) | {learner.axis: self._n_coupled()}


class SharedClassifier(Coupled, WeighsClasses, LinearScores):
    """Classes that are learned together."""

    def _n_coupled(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)
