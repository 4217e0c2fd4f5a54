"""Training one model from several threads: calls run one after the other."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # as signal, less the enums that it makes of what it returns
import functools
import weakref
from collections.abc import Callable
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")

_turns: dict[int, tuple[Any, Any]] = {}  # by model, beside which they are kept: models are copied, compared and pickled


def in_turn(learn: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """Let a method of a model wait until no other thread is in one of its methods that wait like this.

    Ctrl-C waits until the method is done, because half a batch cannot be taken back.
    """

    @functools.wraps(learn)
    def wait_and_learn(model: M, /, *args: P.args, **options: P.kwargs) -> R:
        with (_turns.get(id(model)) or _new_turn(model))[0]:
            came: list[Any] = []
            waits = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler  # not interrupted elsewhere
            if waits:
                try:
                    _signal.signal(_signal.SIGINT, lambda *signal: came.append(signal))
                except ValueError:  # in another thread than the main one
                    waits = False
            if not waits:
                return learn(model, *args, **options)
            try:
                return learn(model, *args, **options)
            finally:
                _signal.signal(_signal.SIGINT, _signal.default_int_handler)
                if came:
                    raise KeyboardInterrupt

    return wait_and_learn


def turn_of(model: Any) -> Any:
    """The lock of a model, for methods that wait and may be interrupted: they change the model in one step."""
    return (_turns.get(id(model)) or _new_turn(model))[0]


def _new_turn(model: Any) -> tuple[Any, Any]:
    """A lock that lives as long as its model. If two threads create one at once, the first is kept."""
    key = id(model)
    return _turns.setdefault(key, (RLock(), weakref.ref(model, lambda _: _turns.pop(key, None))))
