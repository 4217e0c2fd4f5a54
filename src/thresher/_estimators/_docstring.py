"""Docstrings of estimators, completed from what classes declare.

A class says what it is, when to choose it and its equations, and may have Notes, References and Examples. "Parameters"
are made of its declarations, "Attributes" of the texts ``_attributes`` of the class and its bases, and References are
those of the nearest base that has some. Examples begin with the text ``_example`` of a base, in which ``{name}`` stands
for the name of the class and ``{above}`` makes classes of values.
"""

from __future__ import annotations

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
    """Put parameters, attributes and references into the docstring of a public class."""
    if not vars(cls).get("__doc__") or cls.__name__.startswith("_"):
        return
    head, sections = _parse(cls)
    parameters = "\n".join(_entry(name, p) for name, p in cls._params.items())
    if parameters:
        sections.setdefault("Parameters", parameters)
    own = sections.pop("Attributes", "")
    attributes = [own, *(inspect.cleandoc(text) for base in cls.__mro__ if (text := vars(base).get("_attributes", "")))]
    if any(attributes):
        sections["Attributes"] = _once("\n".join(filter(None, attributes)))
    sections["Examples"] = "\n".join(filter(None, [_example(cls), sections.get("Examples")]))
    if "References" not in sections:
        inherited = (_parse(base)[1].get("References") for base in cls.__mro__[1:] if base.__doc__)
        sections["References"] = next(filter(None, inherited), "")
    parts = [f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in _SECTIONS if sections.get(title)]
    cls.__doc__ = "\n\n".join([head, *parts]) + "\n"


def _example(cls: Any) -> str:
    """The example that a base class of another module has for all its subclasses, with the name of this one."""
    owner = next((base for base in cls.__mro__ if "_example" in vars(base)), cls)
    if owner.__module__ == cls.__module__:
        return ""
    above = " > 0" if cls._estimator_type == "classifier" else ""
    return inspect.cleandoc(owner._example).format(name=cls.__name__, above=above)


def _parse(cls: type) -> tuple[str, dict[str, str]]:
    """What stands before the first section, and the sections."""
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
