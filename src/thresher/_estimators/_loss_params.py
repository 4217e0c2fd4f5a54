"""The loss of a learner, as parameters: for classes, or for values."""

from __future__ import annotations

from .._engine import FOR_CLASSES, FOR_VALUES, loss_rules
from .._gate import Uniform
from ._declared import Declared, param

_CLASSES, _VALUES = loss_rules(FOR_CLASSES), loss_rules(FOR_VALUES)


class ClassLoss(Declared):
    """Mixin of classifiers with a choice of losses."""

    loss: str = param(
        default="hinge", rule=_CLASSES["loss"], doc='``"log_loss"`` and ``"squared_error"`` are accepted as well.'
    )
    tau: float = param(
        default=0.5,
        rule=_CLASSES["tau"],
        doc="How much the pinball loss charges for margins above 1 (0 is the hinge loss).",
        search=Uniform(0.0, 1.0, when={"loss": "pinball"}),
    )


class ValueLoss(Declared):
    """Mixin of regressors with a choice of losses."""

    loss: str = param(default="squared", rule=_VALUES["loss"], doc='``"squared_error"`` is accepted as well.')
    tau: float = param(default=0.5, rule=_VALUES["tau"], doc='The quantile to estimate, with ``loss="quantile"``.')
    epsilon: float = param(
        default=0.1,
        rule=_VALUES["epsilon"],
        doc='Errors up to this size cost nothing, with ``loss="epsilon_insensitive"``.',
    )
