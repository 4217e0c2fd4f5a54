"""The oldest versions that pyproject.toml promises to work with, one ``name==version`` a line: constraints for pip.

``make test-oldest`` installs these. What only tests need (pytest, cvxpy, ...) is no promise to anyone and stays new.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROMISED = ("lab", "dask", "spark")  # extras that users install

_LINE = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9.]+)$")


def constraints(pyproject: str) -> list[str]:
    """Each lower bound of the dependencies and of the users' extras as an exact version.

    >>> extras = 'optional-dependencies = {lab = ["c>=3"], dask = [], spark = ["c>=3"]}'
    >>> constraints('project = {dependencies = ["a[b]>=1.2"], ' + extras + "}")
    ['a==1.2', 'c==3']
    """
    project = tomllib.loads(pyproject)["project"]
    lines = [*project["dependencies"]]
    for extra in PROMISED:
        lines += project["optional-dependencies"][extra]
    found: dict[str, str] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"pyproject.toml: a dependency must be written name>=version, got {line!r}.")
        name, version = match.groups()
        if found.setdefault(name, version) != version:
            raise ValueError(f"pyproject.toml: {name} has two lower bounds, {found[name]} and {version}.")
    return [f"{name}=={version}" for name, version in found.items()]


if __name__ == "__main__":
    print(*constraints((ROOT / "pyproject.toml").read_text()), sep="\n")
