"""Estimators that choose their own step size, and scale dense rows as they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import LOSSES, Learner, Tuning
from .._gate import Array, auto, boolean
from ._declared import param
from ._online_linear import OnlineLinear

AUTO_STEP = """``"auto"`` learns with several values side by side, in units of the data, and reads the one that has done
        best on rows that it had not seen; dense rows are then scaled, see ``scale``. Regressors count targets in units
        of their deviation then, and damp their steps, so that none overshoots."""


class Step(NamedTuple):
    """A parameter that says how far a row may move the weights, and what is worth a try in its place."""

    name: str
    """The parameter."""
    core: str
    """The core's name of it."""
    power: float
    """It counts in this power of the squared length of a row."""
    candidates: tuple[float, ...]
    """What ``"auto"`` tries, in these units."""
    race_rows: int = 1 << 16
    """The number of rows after which one of them is left."""
    derives: bool = False
    """Whether the core keeps weights that follow from it."""

    def value(self, params: Mapping[str, Any]) -> float:
        """The parameter, of a learner with these parameters of the core."""
        value = float(params[self.core])
        return 1 / value if self.core == f"inverse_{self.name}" else value


class StepInUse(property):
    """The step size of the model that is read: an attribute of fitted estimators."""

    def __init__(self) -> None:
        super().__init__(_step_in_use, doc="The step size of the model that is read.")


def _step_in_use(estimator: Any) -> float:
    return float(estimator._step_in_use())


class SelfTuned(OnlineLinear):
    """Base class of learners with a step size that may be ``"auto"``.

    Attributes
    ----------
    race_ : dict of str to ndarray
        The candidates of an automatic step size: ``value``, ``n_mistakes`` or mean ``loss`` before learning from
        ``n_rows`` rows, and whether each is still ``running``. After :meth:`fit` with several passes, the best one has
        seen more rows than the others.
    """

    scale: Any = param(
        default="auto",
        rule=boolean | auto,
        doc="""Learn from dense rows with their columns centred and divided by their deviation, as far as they are known
        when a row comes; from sparse rows as they are. Penalties and steps then count in scaled units, ``coef_`` in
        those of ``X``. ``"auto"`` scales where the step size is ``"auto"``, too: a number for it gives the published
        learner.""",
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
        """Whether anything is found out from the rows: the step size, or the scale of columns."""
        return self._races or self._is_scaled

    @property
    def _looks_first(self) -> bool:  # type: ignore[override]
        return self._is_tuned

    def _with_intercept(self, learner: Learner) -> Learner:
        return self._tuned(super()._with_intercept(learner))

    def _tuned(self, learner: Learner) -> Learner:
        """The learner, with what it finds out by itself."""
        if learner.tuning is not None or not self._is_tuned:
            return learner
        is_classifier = "class_weight" in self._params
        if not self._races or self._raced is None:
            return replace(learner, tuning=Tuning(scales=self._is_scaled, scales_target=not is_classifier))
        name, power = self._raced.core, self._raced.power
        steps = tuple({name: value} for value in self._raced.candidates)
        others = tuple({name: None, **other} for other in learner.grid[1:])
        tuning = Tuning(True, len(steps) if others else 0, name, power, self._is_scaled, not is_classifier)
        tuning = replace(tuning, race_rows=self._raced.race_rows, derives=self._raced.derives)
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
        """The candidates of an automatic step size, and how they did on rows that they had not seen."""
        learner = self._learner_now()
        if self._raced is None or not self._races or learner.tuning is None:
            raise AttributeError(f"{type(self).__name__} has race_ only where a step size is automatic.")
        models = range(learner.n_models)
        first = [learner.outputs_of(self.state_, model)[0] for model in models]
        running = learner.tuning.running(learner, self.state_)
        judged = {
            "mistakes": lambda: {"n_mistakes": self.state_.arrays["n_mistakes"][:, 0].copy()},
            "loss": lambda: {"loss": learner.progressive_losses(self.state_)},
        }[learner.judge]()
        return {
            "value": np.array([self._raced.value(learner._params_of(self.state_, k)) for k in first]),
            **judged,
            "n_rows": self.state_.arrays["tally"][first, 0],
            "running": np.isin(np.arange(learner.n_models), running),
        }


def _damping(learner: Learner) -> dict[str, float]:
    """What keeps steps of a smooth loss from overshooting, for the core."""
    curvature = LOSSES[learner.params["loss"]].curvature
    return {"damping": curvature} if np.isfinite(curvature) else {}
