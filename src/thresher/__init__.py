"""thresher: sparse models, and the features that matter, from data too large or too wide for the usual tools.

Families are modules: :mod:`thresher.online`, :mod:`thresher.stochastic`, :mod:`thresher.dual_averaging`. Files are read
by :mod:`thresher.streams`, models are saved by :mod:`thresher.persistence`, and :mod:`thresher.onepass` is the
low-level interface.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__version__ = "0.1.0"

_ROOMS = ("datasets", "dual_averaging", "onepass", "online", "persistence", "registry", "stochastic", "streams")

__all__ = ["__version__", *_ROOMS]


def __getattr__(name: str) -> ModuleType:  # a room is opened when someone enters it
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
