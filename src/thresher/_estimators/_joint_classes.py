"""Several classes that learn in one step, the true one against its rival, and the race with one against the rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import Rows, linear_scores
from .._engine import Learner, Lesson, PassResult, State
from .._gate import Array, one_of
from ._coupled import CoupledLearner
from ._declared import param
from ._linear import LinearClassifier

if TYPE_CHECKING:
    from .._core import CoreLearner


FORMS = {"joint": ({"apart": False},), "auto": ({"apart": False}, {"apart": True})}
"""The value of multi_class -> the forms that learn."""


class _Model(NamedTuple):
    """The part of a state that is one of several models."""

    views: list[dict[str, Array]]
    sizes: dict[str, int]


@dataclass(frozen=True)
class JointLearner(CoupledLearner):
    """A rule for two classes, and its forms for more; of several forms, the one with the lowest late error is read."""

    axis: str = "output"
    of_two: Learner = field(kw_only=True)

    @cached_property
    def _of_two(self) -> Learner:
        return replace(self.of_two, intercept=self.intercept)

    def for_outputs(self, n_outputs: int) -> Learner:
        return self if n_outputs > 1 else self._of_two

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        return State(self.fields(), self.n_models, self.sizes(n_features) | {self.axis: n_outputs})

    def chosen(self, state: State) -> int:
        return int(state.arrays["late_error"][:, 0].argmin()) if self.grid else 0

    def _params_of(self, state: State, output: int = 0) -> dict[str, Any]:
        return super()._params_of(state) | (dict(self.grid[output]) if self.grid else {})

    def _alone(self, state: State, model: int) -> tuple[CoupledLearner, Any]:
        """One of the models: its learner and its part of the state."""
        params = {**self.params, **self.grid[model]}
        learner = CoupledLearner(self.core, params, self.intercept, axis=self.axis)
        return learner, _Model([state.views[model]], state.sizes)

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        if not self.grid:
            return super().learn(lesson, state)
        results = []
        for learner, part in (self._alone(state, k) for k in range(self.n_models)):
            results.append(learner.learn(lesson, part))
            if results[-1].diverged >= 0:
                return results[-1]
        return results[self.chosen(state)]

    def scores(self, rows: Rows, state: State, *args: Any, **options: Any) -> Array:
        if not self.grid:
            return super().scores(rows, state, *args, **options)
        learner, part = self._alone(state, self.chosen(state))
        return learner.scores(rows, part, *args, **options)

    def weights(self, state: State, model: int | None = None) -> Array:
        if not self.grid:
            return super().weights(state, model)
        learner, part = self._alone(state, self.chosen(state) if model is None else model)
        return learner.weights(part)

    def variances(self, state: State) -> Array:
        """The variances of all weights, shape ``(n_outputs, n_features + 1)``."""
        return np.ascontiguousarray(state.arrays["variance"][self.outputs_of(state, self.chosen(state))[0]].T)

    def spreads(self, rows: Rows, state: State) -> Array:
        out = np.empty((rows.n_rows, state.sizes[self.axis]))
        linear_scores(_squared(rows), self.intercept**2, self.variances(state), out)
        return out


def _squared(rows: Rows) -> Rows:
    squares = rows.values.astype(np.float64) ** 2
    if rows.columns is None:
        return Rows.dense(squares, False)
    return Rows.csr(squares, rows.columns, rows.starts, rows.n_features, False)


class JointClassifier(LinearClassifier):
    """Base class of learners that have a joint form for more than two classes.

    Attributes
    ----------
    multi_class_ : str
        How the classes are learned by the model that is read: ``"joint"`` or ``"one_vs_rest"``.
    """

    multi_class: str = param(
        default="one_vs_rest",
        rule=one_of("one_vs_rest", "joint", "auto"),
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each against all others, in ``n_jobs`` threads.
        ``"joint"``: together, in one step for each row, which moves the class of the row up and the best of the other
        classes down. ``"auto"``: both side by side, for twice the memory; the one with fewer mistakes on late rows is
        read.""",
    )

    def _with_joint_form(self, of_two: Learner, core: type[CoreLearner]) -> Learner:
        """The learner, with a joint form for more than two classes if it was asked for."""
        if getattr(self, "_is_tuned", False) and self.multi_class == "joint":
            raise ValueError(
                f'{type(self).__name__}: multi_class must be "one_vs_rest" or "auto" with an automatic step size, '
                'got "joint".'
            )
        if self.multi_class == "one_vs_rest" or getattr(self, "_is_tuned", False) or of_two.params.get("n_selected"):
            return of_two
        forms = FORMS[self.multi_class]
        params = {**of_two.params, **forms[0], "races": len(forms) > 1}
        return JointLearner(core, params, grid=forms if len(forms) > 1 else (), of_two=of_two)

    @property
    def multi_class_(self) -> str:
        """How the classes are learned by the model that is read: ``"joint"`` or ``"one_vs_rest"``."""
        learner = self._learner_now()
        if (
            not isinstance(learner, JointLearner)
            or learner._params_of(self.state_, learner.chosen(self.state_))["apart"]
        ):
            return "one_vs_rest"
        return "joint"

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        if not isinstance(learner, JointLearner):
            return super()._state_shape(learner)
        return learner.n_models, learner.sizes(self.n_features_in_) | {learner.axis: len(self.classes_)}

    def _leads(self, scores: Array) -> Array:
        """Scores as one output sees them; of joint classes only differences mean something, those to the best other."""
        if not isinstance(self._learner_now(), JointLearner):
            return scores
        two = np.sort(scores, axis=1)[:, -2:]
        return scores - np.where(scores == two[:, 1:], two[:, :1], two[:, 1:])
