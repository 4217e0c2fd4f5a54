"""Docstrings of estimators, completed from what classes declare.

A class says what it is, when to choose it and its equations, and may have Notes, References and Examples. "Parameters"
are made of its declarations, Attributes are those of the class and its bases, and References those of the nearest base
that has some. Examples begin with those of a base in another module, in which this class takes the place of the one
that they import, and a regressor takes values in place of classes (`` > 0``). ``fit`` and ``partial_fit`` describe
the parameters that no base class describes.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

_SECTIONS = ("Parameters", "Attributes", "Returns", "See Also", "Notes", "References", "Examples")
_HEADING = re.compile(rf"(?m)^(?P<title>{'|'.join(_SECTIONS)})\n-+\n")
_USUAL = {
    "X": "X : array-like, sparse matrix or data frame of shape (n_samples, n_features)",
    "y": "y : array-like of shape (n_samples,)",
    "sample_weight": """sample_weight : array-like of shape (n_samples,), optional
    Nonnegative weights. Rows of weight 0 are ignored.""",
}

_clean = functools.cache(inspect.cleandoc)  # classes inherit most of their parameters


def complete(cls: Any) -> None:
    """Complete the docstrings of a class and of the methods by which it learns."""
    for name in ("fit", "partial_fit"):
        if inspect.isfunction(vars(cls).get(name)):
            _complete_fit(cls, name)
    written = vars(cls).get("__doc__")
    if written and not cls.__name__.startswith("_"):
        cls.__doc__ = _Completed(cls, written)


class _Completed:
    """The docstring of a public class. It is completed on first use, since most runs never read it."""

    def __init__(self, cls: Any, written: str) -> None:
        self._cls, self.written = cls, written

    def __get__(self, model: Any, cls: Any = None) -> str:
        self._cls.__doc__ = text = _completed(self._cls) or self.written
        return text


def _complete_fit(cls: Any, name: str) -> None:
    """Insert parameters that other classes describe into the docstring of a method, in the order of its signature."""
    method, bases = vars(cls)[name], (vars(base).get(name) for base in cls.__mro__[1:])
    takes = inspect.signature(method).parameters
    if "y" not in takes or takes["y"].default is None:  # learns without targets
        return
    inherited = next((base.__doc__ for base in bases if getattr(base, "__doc__", None)), "")
    head, own = _sections(method.__doc__ or inherited)
    known = _USUAL | _entries(_sections(inherited)[1]) | _entries(own)
    own["Parameters"] = "\n".join(known[key] for key in takes if key in known)
    method.__doc__ = _joined(head, {"Returns": "self", **own})


def _entries(sections: dict[str, str]) -> dict[str, str]:
    """The parameters that a docstring describes, and what it says of them."""
    entries = re.finditer(r"(?m)^(\w+) : .*(\n    .*)*", sections.get("Parameters", ""))
    return {entry[1]: entry[0] for entry in entries}


def _completed(cls: Any) -> str:
    """Return the docstring of a class with parameters, attributes, references and examples; "" if it has no text."""
    head, own = _parse(cls)
    if not head:
        return ""
    sections = {
        "Parameters": "\n".join(_entry(name, p) for name, p in cls._params.items()),
        **own,
        "Attributes": _once("\n".join(filter(None, (_parse(base)[1].get("Attributes") for base in cls.__mro__)))),
        "References": next(filter(None, (_parse(base)[1].get("References") for base in cls.__mro__)), ""),
        "Examples": "\n".join(filter(None, [_shared_example(cls), own.get("Examples")])),
    }
    return _joined(head, sections)


def _joined(head: str, sections: dict[str, str]) -> str:
    parts = [f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in _SECTIONS if sections.get(title)]
    return "\n\n".join([head, *parts]) + "\n"


def _shared_example(cls: Any) -> str:
    """The example of a base class of another module, with this class in place of the one that it imports."""
    owner = next((base for base in cls.__mro__[1:] if "Examples" in _parse(base)[1]), cls)
    if owner.__module__ == cls.__module__ or not cls.__module__.startswith("thresher."):
        return ""  # a class of a user has the examples that the user writes
    example = _parse(owner)[1]["Examples"]
    if cls._estimator_type == "regressor":
        example = example.replace(" > 0", "")
    imported = re.findall(r"from thresher\S* import (\w+)", example)[0]
    return re.sub(rf"\b{imported}\b", cls.__name__, example)


@functools.cache
def _parse(cls: type) -> tuple[str, dict[str, str]]:
    """The text of a class before the first section, and its own sections: read once, before they are completed."""
    doc = vars(cls).get("__doc__")
    return _sections((doc.written if isinstance(doc, _Completed) else doc) or "")


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    parts = _HEADING.split(_clean(doc))
    return parts[0].strip(), {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def _entry(name: str, p: Any) -> str:
    """One parameter as numpydoc writes it."""
    kind = p.rule.type.removesuffix(" or None")
    usual = "optional" if p.default is None else f"default={_shown(p.default)}"
    lines = _clean(p.doc).split("\n")
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
