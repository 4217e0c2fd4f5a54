"""Rules for the arguments of functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ._rules import Rule, check_value

_Function = TypeVar("_Function", bound=Callable[..., Any])


def checked(**rules: Rule) -> Callable[[_Function], _Function]:
    """Decorate a function that refuses the first argument to break its rule.

    The error begins with the name of the function, after that of its class if it has one.
    """

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # whose own words name it
            bound.apply_defaults()
            for name, rule in rules.items():
                check_value(function.__qualname__, name, bound.arguments[name], rule)
            return function(*args, **kwargs)

        return cast(_Function, call)

    return decorate
