"""Support for skops: the types in files of models of this library.

=========================  ===================================================
:func:`trusted_types`      names for ``skops.io.load(..., trusted=...)``
=========================  ===================================================
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import _kernels, registry
from .._engine import Field, State

__all__ = ["trusted_types"]


def trusted_types() -> list[str]:
    """Return the names of all types that occur in skops files of fitted models.

    skops checks only types. The arrays of such a file reach compiled code unchecked, so load only files that you made
    yourself. ``.thresher`` files (:func:`thresher.persistence.load_model`) are checked completely, and may come from
    untrusted sources.

    Returns
    -------
    list of str
        Estimators, transformers, pipelines, kernels and the state of learners.

    Examples
    --------
    >>> from thresher.compat.skops import trusted_types
    >>> "thresher.online._arow.AROWClassifier" in trusted_types()
    True
    """
    rooms = [importlib.import_module(f"thresher.{room}") for room in (*registry.FAMILIES, *registry.HELPERS)]
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    types = [thing for thing in public if isinstance(thing, type)] + [Field, State, *_kernel_types(_kernels.Kernel)]
    names = {f"{each.__module__}.{each.__qualname__}" for each in types}
    return sorted(name for name in names if name.startswith("thresher."))  # not kernels of users


def _kernel_types(kind: Any) -> list[Any]:
    return [kind, *(found for each in kind.__subclasses__() for found in _kernel_types(each))]
