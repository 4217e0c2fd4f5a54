"""One thread for BLAS, where more would wait for one another or change the last bits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

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


def in_threads(do: Callable[..., None], parts: Iterable[tuple[Any, ...]]) -> None:
    """Call a function with the arguments of every part, in as many threads as there are cores."""
    calls = list(parts)
    n_threads = min(len(calls), os.cpu_count() or 1)
    if n_threads < 2:
        for arguments in calls:
            do(*arguments)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(do, *arguments) for arguments in calls]:
            done.result()


@cache
def _controller() -> Any:
    """Looking for the libraries takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
