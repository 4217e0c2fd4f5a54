"""Names of the losses, for learners that take one."""

from __future__ import annotations

from typing import Any

from .._gate import Rule, fraction, non_negative, one_of

_SYNONYMS = {"log_loss": "logistic", "squared_error": "squared"}  # scikit-learn's spelling

FOR_CLASSES = ("hinge", "squared_hinge", "pinball", "logistic", "modified_huber", "squared")
FOR_VALUES = ("squared", "epsilon_insensitive", "quantile")


def loss_rules(names: tuple[str, ...]) -> dict[str, Rule]:
    named = one_of(*names)
    synonym = Rule("", lambda v: isinstance(v, str) and _SYNONYMS.get(v) in names)
    loss = Rule(named.says, lambda v: named.holds(v) or synonym.holds(v), named.options, named.type)
    return {"loss": loss, "tau": fraction} | ({"epsilon": non_negative} if "epsilon_insensitive" in names else {})


def loss_name(name: str) -> str:
    """A loss in the core's words."""
    return _SYNONYMS.get(name, name)


def loss_params(estimator: Any) -> dict[str, Any]:
    """Which loss, in the core's words."""
    return {
        "loss": loss_name(estimator.loss),
        "tau": float(estimator.tau),
        "epsilon": float(getattr(estimator, "epsilon", 0.0)),
    }
