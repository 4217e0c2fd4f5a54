"""The rooms of the source tree: nobody reaches into another room, and a name stands for one thing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "thresher"


def modules() -> dict[str, Path]:
    """Dotted names below ``thresher`` and their files."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of this library that a module imports, by their names below ``thresher``."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
        base = [part for part in base if part]
        for alias in node.names:
            full = ".".join([*base, alias.name])
            yield full if full in known else ".".join(base)


def test_no_room_imports_a_private_module_of_another():
    known = modules()
    wrong = [
        f"{name} -> {target}"
        for name, path in known.items()
        for target in imports(name, path, known)
        if "." in target and target.split(".")[-1].startswith("_") and target.split(".")[0] != name.split(".")[0]
    ]
    assert not wrong


def test_no_file_name_stands_for_two_things():
    names = Counter(path.name for path in modules().values() if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]


def test_no_class_name_stands_for_two_things():
    trees = (ast.parse(path.read_text()) for path in modules().values())
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not [name for name, count in names.items() if count > 1]


def test_scipy_is_imported_when_it_is_used():
    """Through one door, or inside a function: it takes longer to import than most commands take."""
    at_once = [
        name
        for name, path in modules().items()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "scipy"
    ]
    assert not at_once


def test_dataclasses_are_those_that_are_made_quickly():
    """A class of the standard library's takes four times as long to make, in every command that imports it."""
    found = [
        name
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses" and node.level == 0
        if any(alias.name == "dataclass" for alias in node.names)
    ]
    assert found == ["_dataclasses"]
