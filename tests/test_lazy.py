"""Packages whose modules are imported on first use."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import thresher

ROOT = Path(thresher.__file__).parent
LAZY = sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if "on_first_use(__name__" in path.read_text())


def names_of(package):
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return [alias.asname or alias.name for node in block.body for alias in node.names]


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_there_and_listed(package):
    module = importlib.import_module(f"thresher.{package}")
    names = names_of(package)
    assert names
    assert set(names) <= set(dir(module))
    assert set(getattr(module, "__all__", ())) <= {*names, *vars(module)}
    for name in names:
        assert getattr(module, name) is vars(module)[name]
    with pytest.raises(AttributeError, match=f"module 'thresher.{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("package", LAZY)
def test_importing_a_package_imports_none_of_its_modules(package):
    own = {"report": {"_subject", "_summary", "_measures", "_quantiles"}}.get(package, set())
    script = (
        f"import sys, thresher.{package}; "
        f"print(*(m[{len(package) + 10}:] for m in sys.modules if m.startswith('thresher.{package}.')))"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert set(found) <= own


def test_the_version_is_that_of_the_metadata():
    assert thresher.__version__ == importlib.metadata.version("thresher")
