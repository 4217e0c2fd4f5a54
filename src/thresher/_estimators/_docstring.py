"""Docstrings of estimators, completed from what classes declare.

A class says what it is, when to choose it and its equations, and may have Notes, References and Examples. "Parameters"
are made of its declarations, Attributes are those of the class and its bases, and References those of the nearest base
that has some. Examples begin with those of a base in another module, in which this class takes the place of the one
that they import, and a regressor takes values in place of classes (`` > 0``).
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

_SECTIONS = ("Parameters", "Attributes", "See Also", "Notes", "References", "Examples")
_HEADING = re.compile(rf"(?m)^(?P<title>{'|'.join(_SECTIONS)})\n-+\n")


def complete(cls: Any) -> None:
    """Complete the docstrings of a class and of its methods."""
    for name, method in vars(cls).items():
        if inspect.isfunction(method) and not name.startswith("_") and not method.__doc__:
            method.__doc__ = _inherited(cls, name, method)
    _complete_class(cls)


def _inherited(cls: Any, name: str, method: Any) -> str | None:
    """The docstring of a method of a base class, less the parameters that this method does not take."""
    text = next((doc for base in cls.__mro__[1:] if (doc := getattr(vars(base).get(name), "__doc__", None))), None)
    absent = set(re.findall(r"(?m)^(\w+) : ", inspect.cleandoc(text or ""))) - set(inspect.signature(method).parameters)
    entries = "|".join(sorted(absent))
    return re.sub(rf"(?m)^({entries}) : .*\n(    .*\n)*", "", inspect.cleandoc(text)) if text and absent else text


def _complete_class(cls: Any) -> None:
    """Put parameters, attributes, references and examples into the docstring of a public class."""
    head, own = _parse(cls)
    if not head or cls.__name__.startswith("_"):
        return
    sections = {
        "Parameters": "\n".join(_entry(name, p) for name, p in cls._params.items()),
        **own,
        "Attributes": _once("\n".join(filter(None, (_parse(base)[1].get("Attributes") for base in cls.__mro__)))),
        "References": next(filter(None, (_parse(base)[1].get("References") for base in cls.__mro__)), ""),
        "Examples": "\n".join(filter(None, [_shared_example(cls), own.get("Examples")])),
    }
    parts = [f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in _SECTIONS if sections.get(title)]
    cls.__doc__ = "\n\n".join([head, *parts]) + "\n"


def _shared_example(cls: Any) -> str:
    """The example of a base class of another module, with this class in place of the one that it imports."""
    owner = next((base for base in cls.__mro__[1:] if "Examples" in _parse(base)[1]), cls)
    if owner.__module__ == cls.__module__:
        return ""
    example = _parse(owner)[1]["Examples"]
    if cls._estimator_type == "regressor":
        example = example.replace(" > 0", "")
    imported = re.findall(r"from thresher\S* import (\w+)", example)[0]
    return re.sub(rf"\b{imported}\b", cls.__name__, example)


@functools.cache
def _parse(cls: type) -> tuple[str, dict[str, str]]:
    """The text of a class before the first section, and its own sections: read once, before they are completed."""
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    parts = _HEADING.split(text)
    return parts[0].strip(), {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def _entry(name: str, p: Any) -> str:
    """One parameter as numpydoc writes it."""
    kind = p.rule.type.removesuffix(" or None")
    usual = "optional" if p.default is None else f"default={_shown(p.default)}"
    lines = inspect.cleandoc(p.doc).split("\n")
    return "\n".join([f"{name} : {kind}, {usual}", *(f"    {line}" if line else "" for line in lines)])


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _once(text: str) -> str:
    """Entries of attributes, each name the first time it comes."""
    seen: set[str] = set()
    kept, keep = [], True
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            name = line.partition(" : ")[0]
            keep = name not in seen
            seen.add(name)
        if keep:
            kept.append(line)
    return "\n".join(kept)
