"""The loss of a learner, as parameters: for classes, or for values."""

from __future__ import annotations

from .._engine import FOR_CLASSES, FOR_VALUES, describe_aliases, describe_parameter, loss_rules
from .._gate import Uniform
from ._declared import Declared, param

_CLASSES, _VALUES = loss_rules(FOR_CLASSES), loss_rules(FOR_VALUES)


class ClassLoss(Declared):
    """Mixin of classifiers with a choice of losses."""

    loss: str = param(default="hinge", rule=_CLASSES["loss"], doc=describe_aliases(FOR_CLASSES))
    tau: float = param(
        default=0.5,
        rule=_CLASSES["tau"],
        doc=describe_parameter("tau", FOR_CLASSES),
        search=Uniform(0.0, 1.0, when={"loss": "pinball"}),
    )


class ValueLoss(Declared):
    """Mixin of regressors with a choice of losses."""

    loss: str = param(default="squared", rule=_VALUES["loss"], doc=describe_aliases(FOR_VALUES))
    tau: float = param(default=0.5, rule=_VALUES["tau"], doc=describe_parameter("tau", FOR_VALUES))
    epsilon: float = param(default=0.1, rule=_VALUES["epsilon"], doc=describe_parameter("epsilon", FOR_VALUES))
