"""One thread for BLAS, where more would wait for one another or change the last bits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()
