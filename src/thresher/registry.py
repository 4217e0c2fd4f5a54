"""Every estimator by a short name, derived from what each family exports: ``"arow"`` is ``AROWClassifier``."""

from __future__ import annotations

import importlib
from typing import Any

FAMILIES = ("online", "stochastic", "dual_averaging")

__all__ = ["FAMILIES", "estimators", "short_name"]


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


def short_name(name: str) -> str:
    """The short name of a class name."""
    return name.removesuffix("Classifier").replace("Regressor", "-regressor").lower()
