"""Kernels as plain data, which a file can hold, and back: a closed list of classes, each checking what it is given."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ._kernel import Kernel, Scaled, WeightedSum
from ._neighbors import Neighbors
from ._objects import RBF, Cosine, Linear, Polynomial

_CLASSES: dict[str, type[Kernel]] = {
    cls.__name__: cls for cls in (Linear, Cosine, RBF, Polynomial, Scaled, WeightedSum, Neighbors)
}
_DEEPEST = 16  # kernels inside kernels


def to_plain(kernel: Kernel) -> dict[str, Any]:
    """Names, numbers and lists of them."""
    name = type(kernel).__name__
    if _CLASSES.get(name) is not type(kernel):
        raise ValueError(f"{name} is not a kernel of thresher")
    return {"class": name, **{field.name: _plain(getattr(kernel, field.name)) for field in fields(kernel)}}


def from_plain(plain: Any, depth: int = 0) -> Kernel:
    """The kernel that such data describes; anything else is refused."""
    name = plain.get("class")
    cls = _CLASSES.get(name) if isinstance(name, str) else None
    if cls is None or depth > _DEEPEST:
        raise ValueError(f"{name!r} is not a kernel of thresher")
    given = {name: _lively(value, depth) for name, value in plain.items() if name != "class"}
    if set(given) != {field.name for field in fields(cls)}:
        raise ValueError(f"the parameters are not those of {cls.__name__}")
    return cls(**given)


def _plain(value: Any) -> Any:
    if isinstance(value, Kernel):
        return to_plain(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def _lively(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return from_plain(value, depth + 1)
    if isinstance(value, list):
        return tuple(_lively(one, depth) for one in value)
    return value
