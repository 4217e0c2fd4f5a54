"""Every estimator by a short name, derived from what each family exports: ``"arow"`` is ``AROWClassifier``."""

from __future__ import annotations

import importlib
from typing import Any

FAMILIES = ("online", "stochastic", "dual_averaging")

__all__ = ["FAMILIES", "estimators", "find", "short_name"]


def estimators() -> dict[str, type[Any]]:
    """Short name -> class. A classifier has the bare name, a regressor the suffix ``-regressor``.

    Examples
    --------
    >>> from thresher import registry
    >>> sorted(registry.estimators())
    ['arow', 'l1rda', 'l1rda-regressor', 'pa', 'pegasos', 'pegasos-regressor']
    """
    found: dict[str, type[Any]] = {}
    for family in FAMILIES:
        module = importlib.import_module(f"thresher.{family}")
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type):
                found[short_name(name)] = thing
    return found


def find(name: str) -> type[Any]:
    """The class of a short name or a class name."""
    known = estimators()
    if name in known:
        return known[name]
    for cls in known.values():
        if cls.__name__ == name:
            return cls
    raise ValueError(f"unknown method {name!r}; known are {', '.join(sorted(known))}.")


def short_name(name: str) -> str:
    """The short name of a class name."""
    return name.removesuffix("Classifier").replace("Regressor", "-regressor").lower()
