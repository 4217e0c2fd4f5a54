"""What the scripts share: cells, tables, and where real data are."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

_DATA = "THRESHER_DATA"


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
    path = Path(os.environ.get(_DATA, ""), *names)
    if _DATA not in os.environ or not path.exists():
        print(f"This table needs {'/'.join(names)} in the folder that the environment variable {_DATA} names.")
        sys.exit(0)
    return path


def took(begin: float) -> str:
    return f"{time.perf_counter() - begin:.0f} s."
