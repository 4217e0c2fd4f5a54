"""Estimators that choose their own step size, and scale dense rows as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import LOSSES, Learner, Tuning
from .._gate import Array, auto, boolean
from ._declared import param
from ._online_linear import OnlineLinear

AUTO_STEP = """``"auto"`` trains several values side by side, in units of the data, and predicts with the one that has
        done best on rows before learning from them; dense rows are then scaled (see ``scale``). Regressors also scale
        the targets by their deviation, and damp their steps so that none overshoots."""


class Step(NamedTuple):
    """A parameter that limits how far a row moves the weights, with the values worth trying."""

    name: str
    """The parameter."""
    core: str
    """The core's name of it."""
    power: float
    """It counts in this power of the squared length of a row."""
    candidates: tuple[float, ...]
    """What ``"auto"`` tries, in these units."""
    race_rows: int = 1 << 15
    """The number of rows after which one of them is left."""
    derives: bool = False
    """Whether the core keeps weights that follow from it."""
    given: Callable[[float], float] = float
    """From the core's form of the parameter to the user's."""

    def value(self, params: Mapping[str, Any]) -> float:
        """The parameter, of a learner with these parameters of the core."""
        return float(self.given(params[self.core]))


class StepInUse(property):
    """Attribute of fitted estimators: the step size of the model that predicts."""

    def __init__(self) -> None:
        super().__init__(_step_in_use, doc="The step size of the model that predicts.")


def _step_in_use(estimator: Any) -> float:
    return float(estimator._step_in_use())


class SelfTuned(OnlineLinear):
    """Base class of learners with a step size that may be ``"auto"``.

    Attributes
    ----------
    race_ : dict of str to ndarray
        The candidates that learn side by side, as arrays with one entry each. ``value`` is the step size. Other
        parameters in which candidates differ have their own names: ``multi_class``, and ``alpha`` or
        ``n_features_to_select`` if they are ``"auto"``, too. ``part`` is 2 for candidates that compare such a second
        parameter, at the step size that led before, and 1 for all others. ``n_mistakes`` or the mean ``loss`` measures
        predictions made before learning from each of ``n_rows`` rows; later passes of :meth:`fit`, over rows seen
        before, do not count. ``best`` is the same for the candidate that led over these rows, NaN if unknown.
        ``running`` candidates still learn, and the ``chosen`` one predicts: the one with the fewest mistakes, or the
        smallest loss, on late rows. With two classes, candidates within a standard error of the fewest mistakes are
        compared by the area under the ROC curve as well, unless ``probability="none"``. The choice is updated after 1,
        2, 3, 4, 6, 8, 12, ... rows of a stream. :meth:`fit` updates it less often, and at its end.
    """

    scale: Any = param(
        default="auto",
        rule=boolean | auto,
        doc="""Standardize the columns of dense rows, with the means and deviations known when a row arrives; sparse
        rows stay as they are. Penalties and steps then refer to scaled columns, and ``coef_`` to those of ``X``.
        ``"auto"`` scales only if the step size is ``"auto"``, too, and no
        :class:`~thresher.preprocessing.RunningScaler` precedes the learner in a pipeline; with a number for the step
        size, this is the published learner.""",
    )

    _raced: ClassVar[Step | None] = None

    @property
    def _fixed_step(self) -> float:
        """The step size, or that of a first candidate where it is automatic."""
        assert self._raced is not None
        return self._raced.candidates[0] if self._races else float(getattr(self, self._raced.name))

    @property
    def _races(self) -> bool:
        return self._raced is not None and isinstance(getattr(self, self._raced.name), str)

    @property
    def _is_scaled(self) -> bool:
        return self._races if isinstance(self.scale, str) else bool(self.scale)

    @property
    def _is_tuned(self) -> bool:
        """Whether anything is measured from the rows: the step size, or the scale of columns."""
        return self._races or self._is_scaled

    def _with_intercept(self, learner: Learner) -> Learner:
        return self._tuned(super()._with_intercept(learner))

    def _tuned(self, learner: Learner) -> Learner:
        """The learner, with its automatic settings."""
        if learner.tuning is not None or not self._is_tuned:
            return learner
        is_classifier = "class_weight" in self._params
        if not self._races or self._raced is None:
            return replace(learner, tuning=Tuning(scales=self._is_scaled, scales_target=not is_classifier))
        name, power = self._raced.core, self._raced.power
        steps = tuple({name: value} for value in self._raced.candidates)
        others = tuple({**other, name: None} for other in learner.grid[1:])
        tuning = Tuning(
            races=True,
            n_first=len(steps) if others else 0,
            name=name,
            power=power,
            scales=self._is_scaled,
            scales_target=not is_classifier,
            race_rows=self._raced.race_rows,
            derives=self._raced.derives,
        )
        params = learner.params if is_classifier else {**learner.params, **_damping(learner)}
        judge = "mistakes" if is_classifier else "loss"
        return replace(learner, params=params, grid=(*steps, *others), judge=judge, tuning=tuning)

    def _step_in_use(self) -> float:
        """The step size of the model that is read; in scaled units if rows are scaled."""
        learner = self._learner_now()
        assert self._raced is not None
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return self._raced.value(learner._params_of(self.state_, outputs[0]))

    @property
    def race_(self) -> dict[str, Array]:
        """The candidates that learn side by side, with their progressive mistakes or losses."""
        learner = self._learner_now()
        tuning = learner.tuning
        if tuning is None or self._raced is None or not tuning.races:
            raise AttributeError(f"{type(self).__name__} has race_ only if a step size is automatic.")
        models, state = np.arange(learner.n_models), self.state_
        running, chosen = np.isin(models, tuning.running(learner, state)), learner.chosen(state)
        params = [learner._params_of(state, learner.outputs_of(state, model)[0]) for model in range(learner.n_models)]
        named = [self._candidate(each) for each in params]
        others = {name: np.array([each[name] for each in named]) for name in named[0]}
        n_rows, against = tuning.standings(learner, state)
        ahead = state.arrays["ahead"][:, 0]
        return {
            "value": np.array([self._raced.value(each) for each in params]),
            **{name: values for name, values in others.items() if (values != values[0]).any()},
            "part": tuning.parts(learner, state),
            "n_mistakes" if learner.judge == "mistakes" else "loss": against,
            "best": np.where(running, against[chosen], np.where(ahead < 0, np.nan, ahead)),
            "n_rows": n_rows,
            "running": running,
            "chosen": models == chosen,
        }

    def _candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters besides the step size in which candidates may differ, under the names of this
        estimator."""
        return {}

    def _settled(self) -> dict[str, Any]:
        """Values in place of ``"auto"`` that learn as the model that is read does, without a race."""
        assert self._raced is not None
        race, is_scaled = self.race_, bool(self.state_.arrays["is_scaled"][0, 0])
        at = int(race["chosen"].argmax())
        step = {self._raced.name: float(race["value"][at])}
        named = {name: race[name][at].item() for name in self._candidate(self._learner_now().params) if name in race}
        return {**step, **named, **self._by_race(), **({"scale": True} if is_scaled else {})}

    def _by_race(self) -> dict[str, Any]:
        """Values of parameters that are ``"auto"`` and follow from the race alone."""
        return {}


def _damping(learner: Learner) -> dict[str, float]:
    """Return the parameters of the core that keep steps of a smooth loss from overshooting."""
    curvature = LOSSES[learner.params["loss"]].curvature
    return {"damping": curvature} if np.isfinite(curvature) else {}
