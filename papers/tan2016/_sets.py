"""Sets of many features for Figure 1, classes 0 and 1."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import _stand_ins
from .._data import Rows, load
from .._report import DATA

_COMPUTERS = range(2, 7)  # the groups comp.*, in alphabetical order from 1 on
_RCV1_FEATURES = 47_236
_RCV1_FILES = ("rcv1_small.dat", "rcv1_small_test.data.gz")


def newsgroups() -> Rows:
    """Messages about computers, or not: a fourth of 20 newsgroups."""
    held = load("newsgroups20")
    y, y_test = (np.isin(part, _COMPUTERS).astype(int) for part in (held.y, held.y_test))
    return Rows(held.X, y, held.X_test, y_test, name="20 newsgroups, comp.* or not", real=held.real)


def rcv1() -> Rows:
    """The 1,000 and 500 documents of RCV1 that come with Vowpal Wabbit's tests."""
    folder = Path(os.environ.get(DATA, ""), "rcv1_vw_subset")
    real = DATA in os.environ and all((folder / file).exists() for file in _RCV1_FILES)
    if real:
        parts = [part for file in _RCV1_FILES for part in _documents(folder / file)]
    else:
        X, y, X_test, y_test = _stand_ins.text(_RCV1_FEATURES, 2, 1000, 500)
        parts = [X, (y > 0).astype(int), X_test, (y_test > 0).astype(int)]
    return Rows(*parts, name="1,000 documents of rcv1", real=real)


def _documents(path: Path) -> tuple[Any, Any]:
    """Rows ``label |name feature:value ...``"""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = [line.partition("|") for line in file]
    pairs = [[item.partition(":") for item in words.split() if ":" in item] for _, _, words in lines]
    columns = [int(feature) for row in pairs for feature, _, _ in row]
    values = [float(value) for row in pairs for _, _, value in row]
    ends = np.cumsum([0, *(len(row) for row in pairs)])
    indices, indptr = (np.array(part, dtype=np.int32) for part in (columns, ends))  # as scikit-learn wants them
    X = sparse.csr_array((values, indices, indptr), shape=(len(lines), _RCV1_FEATURES))
    X.sum_duplicates()
    return X, np.array([int(float(label.split()[0]) > 0) for label, _, _ in lines])
