"""The table of losses, read from the core: names, parameters and properties, for learners that take a loss."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import loss_slope, losses
from .._dataclasses import dataclass
from .._gate import Array, Rule, fraction, non_negative, one_of

_PARAMETERS = {"tau": fraction, "epsilon": non_negative}


@dataclass(frozen=True)
class LossInfo:
    """Properties that a loss declares in ``core/loss.hpp``."""

    name: str
    about: str
    """One line for people outside the field."""
    alias: str
    """scikit-learn's name, where it is another one; else empty."""
    for_classes: bool
    for_values: bool
    bounded: bool
    """Whether slopes have a bound; without one, weights may overflow."""
    curvature: float
    """The most that slopes rise per unit of the score; infinite where the loss has a kink."""
    degree: int
    """Scores, targets and epsilon times c cost c**degree times as much; 0 if the loss is for classes only."""
    mean_is_best: bool
    """Whether the best constant prediction is the mean of the targets."""
    parameter: str
    """The parameter that it reads, ``"tau"`` or ``"epsilon"``; else empty."""
    parameter_about: str
    """The end of a sentence that begins: With this loss, ..."""
    has_conjugate: bool


LOSSES = {record["name"]: LossInfo(**record) for record in losses()}
FOR_CLASSES = tuple(loss.name for loss in LOSSES.values() if loss.for_classes)
FOR_VALUES = tuple(loss.name for loss in LOSSES.values() if loss.for_values)
_ALIASES = {loss.alias: loss.name for loss in LOSSES.values() if loss.alias}


def loss_rules(names: tuple[str, ...]) -> dict[str, Rule]:
    """Rules for ``loss`` and for the parameters that these losses read."""
    named = one_of(*names)
    loss = Rule(named.says, lambda v: isinstance(v, str) and loss_name(v) in names, named.options, named.type)
    read = {LOSSES[name].parameter for name in names}
    return {"loss": loss} | {name: rule for name, rule in _PARAMETERS.items() if name in read}


def describe_aliases(names: Iterable[str]) -> str:
    """A sentence on other accepted names of these losses, for docstrings."""
    aliases = [f'``"{LOSSES[name].alias}"``' for name in names if LOSSES[name].alias]
    return f"Loss of a row. {' and '.join(aliases)} {'is' if len(aliases) == 1 else 'are'} accepted as well."


def describe_parameter(parameter: str, names: Iterable[str]) -> str:
    """Sentences on what a parameter does for each of these losses that reads it, for docstrings."""
    readers = [LOSSES[name] for name in names if LOSSES[name].parameter == parameter]
    sentences = [f'With ``loss="{loss.name}"``, {loss.parameter_about}.' for loss in readers]
    return textwrap.fill(" ".join(sentences), 112, break_on_hyphens=False)


def loss_name(name: str) -> str:
    """The core's name of a loss that may be given by its alias."""
    return _ALIASES.get(name, name)


def loss_params(estimator: Any) -> dict[str, Any]:
    """The loss of an estimator and its parameters, for the core."""
    return {
        "loss": loss_name(estimator.loss),
        "tau": float(estimator.tau),
        "epsilon": float(getattr(estimator, "epsilon", 0.0)),
    }


def best_constant(loss: str, y: Array, tau: float, epsilon: float) -> float:
    """The constant prediction that costs least. Slopes rise with the score, so bisection finds it."""
    if LOSSES[loss].mean_is_best:
        return float(y.mean())
    low, high = float(y.min()), float(y.max())
    for _ in range(60):
        middle = 0.5 * low + 0.5 * high
        if loss_slope(loss, np.full(len(y), middle), y, tau, epsilon).sum() > 0:
            high = middle
        else:
            low = middle
    return low
