"""Rows for kernel learning: the toys, and sonar, ionosphere and wdbc where THRESHER_DATA names their folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thresher.datasets import make_additive

from ._selection_data import DATA

Array = np.ndarray[Any, Any]
REAL = {  # file, column of the class, the positive class, columns to leave out
    "sonar": ("sonar.all-data", -1, "M", ()),
    "ionosphere": ("ionosphere.data", -1, "g", (1,)),  # the second column is constant
    "wdbc": ("wdbc.data", 1, "M", (0,)),
}


class NamedRows(NamedTuple):
    title: str
    X: Array
    y: Array


def named_sets(quick: bool) -> Iterator[NamedRows]:
    for example in (1, 2):
        X, y = make_additive(120 if quick else 300, example=example, random_state=0)
        yield NamedRows(f"Toy {example} of make_additive", X, np.where(y > 0, 1, -1))
    folder = os.environ.get(DATA)
    for name, (file, label, positive, left_out) in REAL.items():
        if quick or not folder or not (path := Path(folder, name, file)).exists():
            continue
        cells = np.array([line.split(",") for line in path.read_text().split()])
        kept = np.delete(np.arange(cells.shape[1]), [label % cells.shape[1], *left_out])
        yield NamedRows(name, cells[:, kept].astype(float), np.where(cells[:, label] == positive, 1, -1))
