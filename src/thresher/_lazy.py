"""Packages whose modules are imported on first use, because to import them all takes longer than to learn from a small
file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def on_first_use(package: str, source: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package, whose source imports its names under ``if TYPE_CHECKING``."""
    text = Path(source).read_text(encoding="utf-8")
    block = text.partition("\nif TYPE_CHECKING:\n")[2].partition("\nelse:\n")[0]  # to parse all takes longer
    imports = [each for each in ast.walk(ast.parse(f"if True:\n{block}")) if isinstance(each, ast.ImportFrom)]
    places = {alias.asname or alias.name: (each, alias.name) for each in imports for alias in each.names}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place, original = places[name]
        module = import_module("." * place.level + (place.module or ""), package)
        value = getattr(module, original)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *places})
