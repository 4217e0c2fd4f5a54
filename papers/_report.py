"""What the scripts share: options, cells, tables, and where real data are."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

DATA = "THRESHER_DATA"


class Options(argparse.ArgumentParser):
    """Options of a script: its own, and those that all have. Call it with ``__spec__.name`` and ``__doc__``."""

    def __init__(self, module: str, doc: str) -> None:
        super().__init__(prog=f"python -m {module}", description=doc.splitlines()[0])
        self.add_argument("--data", metavar="FOLDER", help=f"real data; without it, the folder that {DATA} names")
        self.add_argument("--picture", type=Path, metavar="FILE", help="draw it there, where there is a picture")

    def parse_args(self, *args: Any, **kwargs: Any) -> Any:
        given = super().parse_args(*args, **kwargs)
        if given.data is not None:
            os.environ[DATA] = given.data
        return given


def cell(ours: Sequence[float], published: float | None = None, digits: int = 1) -> str:
    """``mean +- standard deviation (published)``"""
    shown = f"{np.mean(ours):.{digits}f} +- {np.std(ours):.{digits}f}"
    return shown if published is None else f"{shown} ({published:.{digits}f})"


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> None:
    widths = [max(len(row[k]) for row in (columns, *rows)) for k in range(len(columns))]
    print(f"\n{title}\n")
    for row in (columns, *rows):
        first, *others = (text.rjust(width) for text, width in zip(row, widths, strict=True))
        print("  ".join([row[0].ljust(len(first)), *others]).rstrip())
    print()
    for note in notes:
        print(note)


def real_data(*names: str) -> Path:
    """The path of a file under the folder of real data; ends the script, not as a failure, where it is not there."""
    path = Path(os.environ.get(DATA, ""), *names)
    if DATA not in os.environ or not path.exists():
        print(f"This table needs {'/'.join(names)} in the folder that --data or the environment variable {DATA} names.")
        sys.exit(0)
    return path


def took(begin: float) -> str:
    return f"{time.perf_counter() - begin:.0f} s."
