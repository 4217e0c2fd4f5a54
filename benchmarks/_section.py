"""One section, alone in its process: ``python -m benchmarks._section NAME``, with options of ``benchmarks``."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from importlib import import_module

from . import _growth
from ._data import FOLDER
from ._measure import installed


def main() -> None:
    name, *options = sys.argv[1:]
    if "--pictures" not in options:  # those of the repository are written with the tables that they belong to
        _growth.PICTURES = FOLDER / "pictures"
    section = import_module(f"benchmarks.{name}")
    with nullcontext() if "--unpinned" in options else _one_thread():
        run = getattr(section, "every", section.run) if "--all" in options else section.run
        tables = run("--quick" in options)
    lines = section.front(tables) if hasattr(section, "front") else []
    print(json.dumps({"tables": [asdict(table) for table in tables], "front": [asdict(line) for line in lines]}))


def _one_thread() -> object:
    """Beside the environment variables, which libraries read only when they are loaded."""
    if not installed("threadpoolctl"):
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


if __name__ == "__main__":
    main()
