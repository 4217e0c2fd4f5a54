"""Threads: how many a loop may use, and one for BLAS where more would wait for one another or change the last bits."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from .._core import set_n_threads
from .._gate import after_import

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_MOST = 256  # threads, whatever the environment says
_lock = Lock()
_inside = 0
_limits: list[Any] = []
_with_scipy = False  # whether the last of them is one for SciPy, too
_n_threads = 1


def _threads_by_default() -> int:
    """The number in ``OMP_NUM_THREADS``, as for other libraries, or else that of the cores open to this process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return min(int(wanted), _MOST)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads() -> int:
    """Return how many threads a loop over rows may use."""
    return _n_threads


def allow_threads(n: int) -> None:
    """Set how many threads loops over rows may use, in Python and in the core. Answers do not depend on it."""
    global _n_threads
    _n_threads = n
    set_n_threads(n)


allow_threads(_threads_by_default())


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The limit applies to the whole process: the first caller sets it, and the last one removes it."""
    global _inside
    with _lock:
        _inside += 1
        _limit()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            while _inside == 0 and _limits:
                _limits.pop().restore_original_limits()


def _limit() -> None:
    """Limit the libraries that are loaded. SciPy loads a BLAS of its own on first use, perhaps inside."""
    global _with_scipy
    is_loaded = "scipy.linalg" in sys.modules
    if not _limits or is_loaded != _with_scipy:
        _limits.append(_controller(is_loaded).limit(limits=1, user_api="blas"))
        _with_scipy = is_loaded


def _limit_newcomers() -> None:
    with _lock:
        if _inside:
            _limit()


after_import.append(_limit_newcomers)


def thread_pool(n_workers: int) -> ThreadPoolExecutor:
    """A pool of threads, whose module is imported on first use."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(n_workers)


def in_threads(do: Callable[..., None], parts: Iterable[tuple[Any, ...]]) -> None:
    """Call a function with the arguments of every part, in as many threads as a loop may use."""
    calls = list(parts)
    n_workers = min(len(calls), n_threads())
    if n_workers < 2:
        for arguments in calls:
            do(*arguments)
        return
    with thread_pool(n_workers) as pool:
        for done in [pool.submit(do, *arguments) for arguments in calls]:
            done.result()


@cache
def _controller(with_scipy: bool) -> Any:
    """Finding the libraries takes milliseconds, so it is done once before SciPy is loaded, and once after."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
