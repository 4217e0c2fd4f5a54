"""A page for every public name, made of the `__all__` of every public module: a new estimator appears by itself."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ELSEWHERE = ("cli",)  # has a page of its own: command-line.md


class Room(NamedTuple):
    """A public module and the names it offers."""

    name: str  # "thresher.online"
    classes: list[str]
    functions: list[str]
    values: list[str]

    @property
    def page(self) -> str:
        return f"api/{self.name.removeprefix('thresher.')}"


def rooms() -> list[Room]:
    package = importlib.import_module("thresher")
    names = [name for name in package.__all__ if inspect.ismodule(getattr(package, name)) and name not in ELSEWHERE]
    return [_room(package), *(_room(getattr(package, name)) for name in names)]


def page_of(room: Room, name: str) -> str:
    """Where a public name is described, without suffix."""
    return room.page if name in room.values else f"{room.page}/{name}"


def pages() -> Iterator[tuple[str, str]]:
    """Every page of the reference but its index: where, without suffix, and its text."""
    for room in rooms():
        yield room.page, _of_room(room)
        for name in room.classes:
            yield page_of(room, name), _of_class(room, name)
        for name in room.functions:
            yield page_of(room, name), _of_function(room, name)


def write_pages(docs: Path) -> None:
    """Write them below `docs`; a page that is as before keeps its time, and pages of names that are gone go, too."""
    wanted = {(docs / page).with_suffix(".rst"): text for page, text in pages()}
    for old in (docs / "api").rglob("*.rst"):
        if old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# --- one page ---------------------------------------------------------------------------------------------------------


def _room(module: ModuleType) -> Room:
    objects = {name: getattr(module, name) for name in module.__all__}
    classes = [name for name, it in objects.items() if inspect.isclass(it)]
    functions = [name for name, it in objects.items() if inspect.isroutine(it)]
    values = [name for name, it in objects.items() if name not in (*classes, *functions) and not inspect.ismodule(it)]
    return Room(module.__name__, classes, functions, values)


def _of_room(room: Room) -> str:
    parts = [_title(room.name), f".. automodule:: {room.name}\n", f".. currentmodule:: {room.name}\n"]
    for heading, names in (("Classes", room.classes), ("Functions", room.functions)):
        if names:
            parts += [_title(heading, "-"), _table(names), _children(room, names)]
    if room.values:
        parts += [
            _title("Values", "-"),
            *(f".. autodata:: {room.name}.{name}\n   :no-value:\n" for name in room.values),
        ]
    return "\n".join(parts)


def _of_function(room: Room, name: str) -> str:
    return "\n".join([_title(name), f".. currentmodule:: {room.name}\n", f".. autofunction:: {room.name}.{name}\n"])


def _of_class(room: Room, name: str) -> str:
    cls = getattr(importlib.import_module(room.name), name)
    ours, others = _methods(cls)
    parts = [_title(name), f".. currentmodule:: {room.name}\n", f".. autoclass:: {room.name}.{name}\n"]
    if properties := _properties(cls):
        parts += [_title("Properties", "-"), _table([f"{name}.{it}" for it in properties])]
    if ours or others:
        parts += [_title("Methods", "-")]
    if ours:
        parts += [_table([f"{name}.{it}" for it in ours])]
    if others:
        parts += [f"As in scikit-learn: {', '.join(f'``{it}``' for it in others)}.\n"]
    parts += [f".. automethod:: {room.name}.{name}.{it}\n" for it in ours]
    return "\n".join(parts)


def _methods(cls: type[Any]) -> tuple[list[str], list[str]]:
    """Public methods that are described here, and those that scikit-learn or Python describe."""
    found = {
        name: method
        for name, method in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_") and inspect.getdoc(method) and name not in dir(_builtin(cls)) and hasattr(cls, name)
    }
    ours = [name for name, method in found.items() if _is_ours(method)]
    return sorted(ours, key=_usual_order), sorted(found.keys() - set(ours))


def _is_ours(method: Any) -> bool:
    """Whether a method is more than scikit-learn's contract, which its own pages describe."""
    module = getattr(method, "__module__", None) or ""
    return module.startswith("thresher") and module != "thresher._estimators._contract"


def _builtin(cls: type[Any]) -> type[Any]:
    """The built-in type, if any, whose methods everybody knows: tuple, dict, Exception."""
    return next((base for base in cls.__mro__[:-1] if base.__module__ == "builtins"), object)


def _usual_order(name: str) -> tuple[int, str]:
    usual = ("fit", "partial_fit", "fit_predict", "fit_transform", "predict", "decision_function", "transform", "score")
    return (usual.index(name) if name in usual else len(usual)), name


def _properties(cls: type[Any]) -> list[str]:
    """Those with words of their own that the docstring of the class does not list."""
    said = inspect.getdoc(cls) or ""
    found = inspect.getmembers(cls, lambda it: isinstance(it, property) and bool(inspect.getdoc(it)))
    ours = [name for name, it in found if (it.fget.__module__ or "").startswith("thresher")]
    return [name for name in ours if not name.startswith("_") and f"\n{name} :" not in said]


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def _table(names: list[str]) -> str:
    return ".. autosummary::\n   :nosignatures:\n\n" + "".join(f"   ~{name}\n" for name in names)


def _children(room: Room, names: list[str]) -> str:
    below = room.page.removeprefix("api/")
    return ".. toctree::\n   :hidden:\n\n" + "".join(f"   {below}/{name}\n" for name in names)
