"""Several classes that learn in one step, the true one against its rival."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._core import Rows, linear_scores
from .._engine import Learner, State
from .._gate import Array, one_of
from ._coupled import CoupledLearner
from ._declared import param
from ._linear import LinearClassifier

if TYPE_CHECKING:
    from .._core import CoreLearner


@dataclass(frozen=True)
class JointLearner(CoupledLearner):
    """A rule for two classes, and its joint form for more."""

    axis: str = "output"
    of_two: Learner = field(kw_only=True)

    @cached_property
    def _of_two(self) -> Learner:
        return replace(self.of_two, intercept=self.intercept)

    def for_outputs(self, n_outputs: int) -> Learner:
        return self if n_outputs > 1 else self._of_two

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
    """Base class of learners that have a joint form for more than two classes."""

    multi_class: str = param(
        default="one_vs_rest",
        rule=one_of("one_vs_rest", "joint"),
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each against all others, in ``n_jobs`` threads.
        ``"joint"``: together, in one step for each row, which moves the class of the row up and the best of the other
        classes down.""",
    )

    def _with_joint_form(self, of_two: Learner, core: type[CoreLearner]) -> Learner:
        """The learner, with a joint form for more than two classes if it was asked for."""
        if self.multi_class == "one_vs_rest":
            return of_two
        return JointLearner(core, of_two.params, of_two=of_two)

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
