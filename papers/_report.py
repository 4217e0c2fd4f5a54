"""What the scripts share: options, cells and tables."""

from __future__ import annotations

import argparse
import os
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
    for note in filter(None, notes):
        print(note)


def spent() -> str:
    """Seconds of this process, which do not depend on what else the machine does."""
    return f"{time.process_time():.0f} s of CPU time."
