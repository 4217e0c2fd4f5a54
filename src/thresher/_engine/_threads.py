"""One thread for BLAS, where more would wait for one another or change the last bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The limit is one for the whole process: the first to come sets it, the last to leave lifts it."""
    global _inside, _limits
    with _lock:
        _inside += 1
        if _inside == 1:
            _limits = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()
