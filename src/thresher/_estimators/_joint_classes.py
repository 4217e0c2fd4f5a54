"""Several classes that learn in one step, the true one against its rival, and the race with one against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Rows, linear_scores
from .._engine import Learner, State, Tuning
from .._gate import Array, one_of
from ._coupled import CoupledLearner
from ._declared import param
from ._linear import LinearClassifier
from ._self_tuned import SelfTuned
from ._shares import leads

if TYPE_CHECKING:
    from .._core import CoreLearner


FORMS = {"joint": ({"apart": False},), "auto": ({"apart": False}, {"apart": True})}
"""The value of multi_class -> the forms that learn."""


@dataclass(frozen=True)
class JointLearner(CoupledLearner):
    """A rule for two classes, and its forms for more, which race if there are several."""

    axis: str = "output"
    of_two: Learner = field(kw_only=True)

    def for_outputs(self, n_outputs: int) -> Learner:
        return self if n_outputs > 1 else self.of_two

    def counting(self) -> Learner:
        return replace(self, counts_scores=True, of_two=self.of_two.counting())

    def variances(self, state: State) -> Array:
        """The variances of all weights, shape ``(n_outputs, n_features + 1)``, in the units that are learned."""
        return np.ascontiguousarray(state.arrays["variance"][self.chosen(state)].T)

    def spreads(self, rows: Rows, state: State) -> Array:
        out = np.empty((rows.n_rows, state.sizes[self.axis]))
        linear_scores(_squared(self.as_learned(rows, state)), self.constant(state) ** 2, self.variances(state), out)
        return out


def _form(params: Mapping[str, Any]) -> str:
    """How several classes are learned, by parameters of the core."""
    return "one_vs_rest" if params.get("apart", True) else "joint"


def _squared(rows: Rows) -> Rows:
    squares = rows.values.astype(np.float64) ** 2
    if rows.columns is None:
        return Rows.dense(squares, False)
    return Rows.csr(squares, rows.columns, rows.starts, rows.n_features, False)


class JointClassifier(SelfTuned, LinearClassifier):
    """Base class of learners that have a joint form for more than two classes.

    Attributes
    ----------
    multi_class_ : str
        How the classes are learned by the model that is read: ``"joint"`` or ``"one_vs_rest"``.
    """

    multi_class: str = param(
        default="auto",
        rule=one_of("one_vs_rest", "joint", "auto"),
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each against all others, in ``n_jobs`` threads.
        ``"joint"``: together, in one step for each row, which moves the class of the row up and the best of the other
        classes down. ``"auto"``: both side by side, and the one with fewer mistakes on late rows goes on; with a number
        for the step size, each against all others, as published.""",
    )

    def _with_joint_form(self, of_two: Learner, core: type[CoreLearner]) -> Learner:
        """The learner, with a joint form for more than two classes if it was asked for."""
        published = self.multi_class == "auto" and self._raced is not None and not self._races
        if self.multi_class == "one_vs_rest" or published or of_two.params.get("n_selected"):
            return of_two
        forms = FORMS[self.multi_class]
        return JointLearner(core, {**of_two.params, **forms[0]}, grid=forms, judge="mistakes", of_two=of_two)

    def _tuned(self, learner: Learner) -> Learner:
        """Where the form is left open, too, each of its forms races with every step size."""
        if not isinstance(learner, JointLearner):
            return super()._tuned(learner)
        of_two = super()._tuned(replace(learner.of_two, intercept=learner.intercept))
        grid = tuple({**form, **step} for form in learner.grid for step in of_two.grid or ({},))
        tuning = of_two.tuning
        if len(grid) > 1:
            tuning = replace(tuning or Tuning(), races=True)
        return replace(learner, grid=grid if len(grid) > 1 else (), tuning=tuning, of_two=of_two)

    @property
    def multi_class_(self) -> str:
        """How the classes are learned by the model that is read: ``"joint"`` or ``"one_vs_rest"``."""
        learner = self._learner_now()
        return _form(learner._params_of(self.state_, learner.outputs_of(self.state_, learner.chosen(self.state_))[0]))

    def _candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._candidate(params), "multi_class": _form(params)}

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        if not isinstance(learner, JointLearner):
            return super()._state_shape(learner)
        return learner.n_models, learner.sizes(self.n_features_in_) | {learner.axis: len(self.classes_)}

    def _leads(self, scores: Array) -> Array:
        """Scores as one output sees them; of joint classes only differences mean something, those to the best other."""
        if not isinstance(self._learner_now(), JointLearner):
            return scores
        return leads(scores)
