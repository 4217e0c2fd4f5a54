"""Dataclasses that are made quickly: only ``__init__`` is compiled for each class; the other methods are shared.

The standard library compiles up to six methods for a class. For the classes of a command, that takes longer than to
learn from a small file.
"""

from __future__ import annotations

import dataclasses
import reprlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, repr=True, eq=True, kw_only=False):
        """Make a dataclass, as :func:`dataclasses.dataclass` does."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, repr=repr, eq=eq, kw_only=kw_only)
        methods = {"__repr__": _repr} if repr else {}
        if eq:
            methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        own = vars(cls)
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and own[name] is None):  # Python sets it beside an __eq__
                setattr(cls, name, method)
        dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only)
        if "__init__" not in own:
            cls.__init__ = _constructor(cls)
        return cls


def _constructor(cls: Any) -> Any:
    """The ``__init__`` of a class with fields."""
    of_init = [each for each in dataclasses.fields(cls) if each.init]
    known: dict[str, Any] = {"_set": object.__setattr__, "_default": _DEFAULT}
    positional: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for each in of_init:
        value = name = each.name
        if each.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = each.default_factory
            value = f"_make_{name}() if {name} is _default else {name}"
            name = f"{name}=_default"
        elif each.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = each.default
            name = f"{name}=_default_{name}"
        (by_name if each.kw_only else positional).append(name)
        body.append(f"_set(self, {each.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)  # of names that are identifiers
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {each.name: each.type for each in of_init} | {"return": None}
    return made


class _Default:
    """What stands for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_DEFAULT = _Default()


def _eq(self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = [each.name for each in dataclasses.fields(self) if each.compare]
    return tuple(getattr(self, name) for name in compared) == tuple(getattr(other, name) for name in compared)


def _hash(self: Any) -> int:
    fields = dataclasses.fields(self)
    return hash(
        tuple(getattr(self, each.name) for each in fields if (each.compare if each.hash is None else each.hash))
    )


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    if _is_fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if _is_fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(obj: Any, name: str) -> bool:
    """Whether a name is that of a field; subclasses that are no dataclasses may have other attributes."""
    return "__dataclass_fields__" in vars(type(obj)) or name in {each.name for each in dataclasses.fields(obj)}
