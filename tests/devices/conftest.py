"""Kinds of arrays: a test that asks for ``make`` runs with each that is installed, those on a GPU marked ``cuda``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[[Any], Any]


def _torch() -> Make:
    torch = pytest.importorskip("torch")
    pytest.importorskip("sklearn.externals.array_api_compat" if not _has_compat() else "array_api_compat")
    return torch.asarray


def _cuda() -> Make:
    make, torch = _torch(), pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return lambda values: make(values, device="cuda")


def _cupy() -> Make:
    cupy = pytest.importorskip("cupy")
    if not cupy.cuda.is_available():
        pytest.skip("no GPU")
    return cupy.asarray


def _has_compat() -> bool:
    try:
        import array_api_compat  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _strict(device: str) -> Make:
    strict = pytest.importorskip("array_api_strict")
    return lambda values: strict.asarray(values, device=strict.Device(device))


KINDS = {
    "strict": lambda: _strict("CPU_DEVICE"),
    "elsewhere": lambda: _strict("device1"),  # which refuses to meet arrays of another device, as a GPU does
    "torch": _torch,
    "cuda": _cuda,
    "cupy": _cupy,
}


@pytest.fixture(
    params=["strict", "elsewhere", "torch", *(pytest.param(one, marks=pytest.mark.cuda) for one in ("cuda", "cupy"))]
)
def make(request: pytest.FixtureRequest) -> Make:
    """What makes such an array of a NumPy array."""
    return KINDS[request.param]()
