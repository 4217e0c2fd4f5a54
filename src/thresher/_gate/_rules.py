"""Rules for constructor arguments. Errors name the estimator, the parameter, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

HUGE = 1e100  # as in core/scan.hpp: beyond it, a product of three numbers could leave the range of doubles


class Rule(NamedTuple):
    """A condition on a value: in words for errors, as a test, and as the type that docstrings show."""

    says: str
    holds: Callable[[Any], bool]
    options: tuple[str, ...] = ()  # the words that hold, if they can be listed
    type: str = "object"

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.says} or {other.says}",
            lambda v: self.holds(v) or other.holds(v),
            self.options + other.options,
            f"{self.type} or {other.type}",
        )


def _number(v: Any) -> bool:
    if not isinstance(v, Real) or isinstance(v, (bool, np.bool_)):
        return False
    try:
        return math.isfinite(v)
    except OverflowError:  # an integer beyond all floats
        return False


def _integer(v: Any) -> bool:
    return isinstance(v, Integral) and not isinstance(v, bool) and abs(int(v)) < 2**62


positive = Rule("a number above 0", lambda v: _number(v) and v > 0, type="float")
non_negative = Rule("a number of at least 0", lambda v: _number(v) and v >= 0, type="float")
divisor = Rule("a number of at least 1e-100", lambda v: _number(v) and float(v) >= 1 / HUGE, type="float")
fraction = Rule("a number between 0 and 1", lambda v: _number(v) and 0 <= v <= 1, type="float")
above_half = Rule("a number above 0.5 and below 1", lambda v: _number(v) and 0.5 < v < 1, type="float")
at_least_one = Rule("a number of at least 1", lambda v: _number(v) and v >= 1, type="float")
above_one = Rule("a number above 1", lambda v: _number(v) and v > 1, type="float")
boolean = Rule("True or False", lambda v: isinstance(v, (bool, np.bool_)), type="bool")
auto = Rule('"auto"', lambda v: isinstance(v, str) and v == "auto", ("auto",), '"auto"')
none = Rule("None", lambda v: v is None, type="None")
number = Rule("a number", _number, type="float")
label = Rule("a number or text", lambda v: _number(v) or isinstance(v, str), type="int or str")
seed = Rule(
    "None, an integer of at least 0 or a NumPy random state",
    lambda v: v is None or (v >= 0 if _integer(v) else isinstance(v, (np.random.RandomState, np.random.Generator))),
    type="int, RandomState or Generator",
)
count_of_jobs = Rule("None or an integer other than 0", lambda v: v is None or (_integer(v) and v != 0), type="int")
class_weights = Rule(
    'None, "balanced" or a dict of class to weight',
    lambda v: v is None or isinstance(v, Mapping) or (isinstance(v, str) and v == "balanced"),
    type='dict or "balanced"',
)
one_per_feature = Rule(
    "one number above 0 per feature",
    lambda v: isinstance(v, (np.ndarray, list, tuple)) and np.ndim(v) == 1,
    type="array-like of shape (n_features,)",
)


def at_least(n: int) -> Rule:
    return Rule(f"an integer of at least {n}", lambda v: _integer(v) and v >= n, type="int")


def one_of(*options: str) -> Rule:
    listed = ", ".join(f'"{option}"' for option in options)
    return Rule(
        f"one of {', '.join(map(repr, options))}",
        lambda v: isinstance(v, str) and v in options,
        options,
        f"{{{listed}}}",
    )


def check_params(estimator: Any, rules: Mapping[str, Rule]) -> None:
    for name, rule in rules.items():
        check_param(type(estimator).__name__, name, getattr(estimator, name), rule)


def check_param(who: str, name: str, value: Any, rule: Rule) -> None:
    """Refuse a value that breaks a rule, or that is too large or too small to compute with."""
    if _is_extreme(value):
        raise ValueError(f"{who}: {name} must be at most 1e100 in size, got {shown(value)}.")
    if _number(value) and 0 < abs(float(value)) < 1 / HUGE:
        raise ValueError(f"{who}: {name} must be at least 1e-100 in size, got {shown(value)}.")
    check_value(who, name, value, rule)


def check_value(who: str, name: str, value: Any, rule: Rule) -> None:
    if not rule.holds(value):
        raise ValueError(f"{who}: {name} must be {rule.says}, got {shown(value)}.")


def _is_extreme(value: Any) -> bool:
    """Whether a product of this number with others of usual size could overflow or underflow."""
    if not isinstance(value, Real):
        return False
    size: Any = abs(value) if isinstance(value, Integral) else abs(float(value))
    return bool(HUGE < size < math.inf)


def shown(value: Any, most: int = 80) -> str:
    """A value as a message shows it, shortened to a limited number of characters."""
    if isinstance(value, Integral) and _is_extreme(value):
        return "an integer of more than 100 digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."
