"""thresher: sparse models, and the features that matter, from data too large or too wide for the usual tools.

:func:`thresher.auto` makes a tuned model of data, :func:`thresher.explain` says why it is what it is, and
:func:`thresher.export` writes it for use without Python. Families are modules: :mod:`thresher.online`,
:mod:`thresher.stochastic`, :mod:`thresher.dual_averaging`, :mod:`thresher.confidence`, :mod:`thresher.cluster`,
:mod:`thresher.kernels`, :mod:`thresher.mkl`, :mod:`thresher.novelty` and :mod:`thresher.semi_supervised`. Files are
read by :mod:`thresher.streams` and learned from by :mod:`thresher.training`, models are saved by
:mod:`thresher.persistence`, and :mod:`thresher.onepass` is the low-level interface.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Any

_ROOMS = (
    "cli",
    "cluster",
    "compare",
    "confidence",
    "datasets",
    "distributed",
    "dual_averaging",
    "exporting",
    "inspection",
    "kernels",
    "metrics",
    "mkl",
    "novelty",
    "onepass",
    "online",
    "paths",
    "persistence",
    "plotting",
    "preprocessing",
    "registry",
    "report",
    "semi_supervised",
    "solvers",
    "stochastic",
    "streams",
    "training",
    "tuning",
    "wizard",
)
_FUNCTIONS = {"auto": "_auto", "explain": "_auto", "export": "exporting"}

__all__ = ["__version__", *_FUNCTIONS, *_ROOMS]


def __getattr__(name: str) -> Any:  # a subpackage is imported on first use
    if name == "__version__":
        return _version()
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.cache
def _version() -> str:
    """The installed version, as the name of the folder of its metadata has it: ``importlib.metadata`` reads the whole
    metadata with the parser of e-mails, which takes longer than learning from a small file."""
    for path in filter(os.path.isdir, sys.path):
        for name in os.listdir(path):
            if name.startswith("thresher-") and name.endswith(".dist-info"):
                return name.removesuffix(".dist-info").partition("-")[2]
    from importlib.metadata import version

    return version("thresher")


def __dir__() -> list[str]:
    return sorted(__all__)
