"""Several classes that learn in one step, the true one against its rival, and the race with one against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._core import Rows, linear_scores
from .._dataclasses import dataclass
from .._engine import Learner, State, Tuning
from .._gate import Array, one_of
from ._coupled import CoupledLearner
from ._declared import param
from ._linear import LinearClassifier
from ._self_tuned import SelfTuned
from ._shares import leads

if TYPE_CHECKING:
    from .._core import CoreLearner

_RACE = 1 << 14  # rows, at least, of a race for each form: several classes share them

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
    """Return the form in which several classes are learned, as parameters of the core."""
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
        How the model that predicts learns the classes: ``"joint"`` or ``"one_vs_rest"``.
    """

    multi_class: str = param(
        default="auto",
        rule=one_of("one_vs_rest", "joint", "auto"),
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each class against all others, in ``n_jobs``
        threads. ``"joint"``: all classes together, with one step for each row that raises the score of its class and
        lowers that of the best other class. ``"auto"``: both side by side, keeping the one with fewer mistakes on late
        rows; if the step size is a number, one-vs-rest, as published.""",
    )

    _forms: ClassVar[Mapping[str, tuple[Mapping[str, bool], ...]]] = FORMS
    _first_step: ClassVar[int] = 0  # of the candidates for two classes, the first that joint ones try

    def _with_joint_form(self, of_two: Learner, core: type[CoreLearner]) -> Learner:
        """The learner, with a joint form for more than two classes if requested."""
        published = self.multi_class == "auto" and self._raced is not None and not self._races
        if self.multi_class == "one_vs_rest" or published or of_two.params.get("n_selected"):
            return of_two
        forms = self._forms[self.multi_class]
        return JointLearner(core, {**of_two.params, **forms[0]}, grid=forms, judge="mistakes", of_two=of_two)

    def _tuned(self, learner: Learner) -> Learner:
        """If the form is open as well, compare each form with every step size."""
        if not isinstance(learner, JointLearner):
            return super()._tuned(learner)
        of_two = super()._tuned(replace(learner.of_two, intercept=learner.intercept))
        steps = of_two.grid[self._first_step :] or ({},)
        grid = tuple({**form, **step} for form in learner.grid for step in steps)
        tuning = of_two.tuning
        if len(grid) > 1:
            tuning = tuning or Tuning()
            race_rows = len(learner.grid) * max(tuning.race_rows, _RACE)
            tuning = replace(tuning, races=True, race_rows=race_rows)
        return replace(learner, grid=grid if len(grid) > 1 else (), tuning=tuning, of_two=of_two)

    @property
    def multi_class_(self) -> str:
        """The way in which the model that predicts learns the classes: ``"joint"`` or ``"one_vs_rest"``."""
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


class JointByRivals(JointClassifier):
    """Base class of learners whose joint form learns a row as one of two classes, its own and the best of the others:
    the rule is the same, and its clock counts rows. So there is no race between forms."""

    multi_class: str = param(
        default="auto",
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each class against all others, in ``n_jobs``
        threads. ``"joint"``: all classes together, with one step for each row that raises the score of its class and
        lowers that of the best other class. ``"auto"`` is ``"joint"`` if the step size is ``"auto"``, too, and the
        learner has a joint form; if the step size is a number, it is ``"one_vs_rest"``, as published.""",
    )

    _forms = {"joint": FORMS["joint"], "auto": FORMS["joint"]}

    def _by_rivals(self, of_two: Learner, core: type[CoreLearner], without: Mapping[str, bool]) -> Learner:
        """The learner, with a joint form for more than two classes; ``without`` names settings that leave it none, and
        says whether they are given."""
        why_not = next((words for words, is_given in without.items() if is_given), "")
        if not why_not:
            return self._with_joint_form(of_two, core)
        if self.multi_class == "joint":
            name = type(self).__name__
            raise ValueError(f'{name}: multi_class must be "one_vs_rest" or "auto" with {why_not}, got "joint".')
        return of_two

    def _by_race(self) -> dict[str, Any]:
        form = {"multi_class": "joint"} if self.multi_class == "auto" and self.multi_class_ == "joint" else {}
        return {**super()._by_race(), **form}

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Files without a form hold models of one class against the rest."""
        return super()._from_file(params if "multi_class" in params else {**params, "multi_class": "one_vs_rest"})
