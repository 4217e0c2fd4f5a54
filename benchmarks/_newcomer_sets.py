"""The sets of ``newcomer``: real ones where THRESHER_DATA names their folder, generated rows in their place otherwise.

Rows are as they come: no column is scaled. A set with official test rows keeps them; others are split 70 to 30. Small
sets are split, and all but the largest put in order, more than once, so that a figure is not that of one draw.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from papers._data import load, text_of
from scipy import sparse
from sklearn.datasets import load_diabetes

from ._data import dense_problem, text_problem
from ._selection_data import DATA

Array = np.ndarray[Any, Any]
TEST_SHARE = 0.3
SAMPLE = 20_000  # rows of covtype
MANY_TEST_ROWS = 15_000
SMALL_SET = 1_000  # less rows: one split of them tells little
LEARNED = 10_000  # rows of all splits together of a set that has at most SMALL_SET of them


class Split(NamedTuple):
    """Training rows in a mixed order, and test rows; classes are 0, 1, ..."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


class Set(NamedTuple):
    """A set by name. ``rows`` makes rows, labels and, where there is an official split, test rows and labels."""

    name: str
    rows: Callable[[], tuple[Any, ...]]
    quick: bool = False
    dense: bool = True
    small: bool = False  # less than 1,000 rows


def classification(quick: bool) -> list[Set]:
    return [each for each in CLASSIFICATION if each.quick or not quick]


def regression(quick: bool) -> list[Set]:
    return [each for each in REGRESSION if each.quick or not quick]


def splits(rows: tuple[Any, ...], quick: bool) -> Iterator[Split]:
    """As many as make 10,000 rows of a set of at most 1,000, two up to 12,000, one of more; one of each in a quick run.

    The difference of two learners on one split of 200 rows has a standard deviation of 6 points, so that ten of them
    would not tell a point from chance.
    """
    n = rows[0].shape[0]
    for seed in range(1 if quick or n > 12_000 else round(LEARNED / n) if n <= SMALL_SET else 2):
        rng = np.random.default_rng([seed, n])
        order = rng.permutation(n)
        if len(rows) == 4:
            X, y, X_test, y_test = rows
            some = rng.permutation(len(y_test))[:MANY_TEST_ROWS]
            train = order
        else:
            X, y = X_test, y_test = rows
            cut = int(TEST_SHARE * n)
            some, train = order[:cut], order[cut:]
        codes = np.unique(np.concatenate([y[train], y_test[some]]), return_inverse=True)[1]
        yield Split(X[train], codes[: len(train)], X_test[some], codes[len(train) :])


def folds(X: Any, y: Array) -> Iterator[Split]:
    """Three, of rows in a mixed order."""
    order = np.random.default_rng(len(y)).permutation(len(y))
    for k in range(3):
        test = np.arange(len(y)) % 3 == k
        train, held = order[~test], order[test]
        yield Split(X[train], y[train], X[held], y[held])


# --- classes ----------------------------------------------------------------------------------------------------------


def is_there(folder: str) -> bool:
    return Path(os.environ.get(DATA, "/nowhere"), folder).exists()


def _known(name: str) -> Callable[[], tuple[Any, ...]]:
    def rows() -> tuple[Any, ...]:
        held = load(name)
        return (held.X, held.y) if held.y_test is None else (held.X, held.y, held.X_test, held.y_test)

    return rows


def _rcv1() -> tuple[Any, ...]:
    """True RCV1 vectors in Vowpal Wabbit's format."""
    if not is_there("rcv1_vw_subset"):
        return tuple(text_problem(1_000, 75, 500))
    folder = Path(os.environ[DATA], "rcv1_vw_subset")
    parts: list[Any] = []
    for file in ("rcv1_small.dat", "rcv1_small_test.data.gz"):
        lines = [line.split() for line in text_of(folder / file).splitlines() if line]
        pairs = [[item.split(":") for item in line[1:] if ":" in item] for line in lines]
        ends = np.cumsum([0, *map(len, pairs)])
        columns, values = np.array([pair for row in pairs for pair in row], dtype=float).T
        shape = (len(lines), 47_237)
        parts.append(sparse.csr_array((values, columns.astype(np.int32), ends.astype(np.int32)), shape=shape))
        parts.append(np.array([float(line[0]) for line in lines]))
    return tuple(parts)


def _farm_ads() -> tuple[Any, ...]:
    if not is_there("farm_ads"):
        return text_problem(4_000, 75, 10)[:2]
    folder = Path(os.environ[DATA], "farm_ads")
    X = sparse.csr_array(sparse.load_npz(folder / "X_raw.npz")).astype(float)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.sort_indices()
    return X, np.load(folder / "y_raw.npy")


def _newsgroups() -> tuple[Any, ...]:
    """The first four groups: all twenty take as long as all other sets together."""
    held = load("newsgroups20")
    train, test = held.y <= 4, held.y_test <= 4
    return held.X[train], held.y[train], held.X_test[test], held.y_test[test]


def _splice() -> tuple[Any, ...]:
    """Letters as columns of zeros and ones; 3 % are positive."""
    held = load("splice")
    some = np.random.default_rng(0).permutation(len(held.y))[:5_000]
    X = held.X[some]
    n, d = X.shape
    columns = (4 * np.arange(d, dtype=np.int32) + X).ravel().astype(np.int32)
    ends = np.arange(0, n * d + 1, d, dtype=np.int32)
    return sparse.csr_array((np.ones(n * d), columns, ends), shape=(n, 4 * d)), held.y[some]


def _covtype(two_classes: bool) -> Callable[[], tuple[Any, ...]]:
    def rows() -> tuple[Any, ...]:
        X, y = _covtype_sample()
        return X, y == 2 if two_classes else y

    return rows


def _covtype_sample() -> tuple[Any, Array]:
    held = load("covtype")
    some = np.random.default_rng(0).permutation(len(held.y))[:SAMPLE]
    return held.X[some], held.y[some]


CLASSIFICATION = [
    Set("rcv1", _rcv1, quick=True, dense=False),
    Set("reuters", _known("reuters"), dense=False),
    Set("farm_ads", _farm_ads, dense=False),
    Set("newsgroups", _newsgroups, dense=False),
    Set("a9a", _known("a9a"), dense=False),
    Set("splice", _splice, dense=False),
    Set("spambase", _known("spambase"), quick=True),
    Set("magic", _known("magic")),
    Set("pima", _known("pima"), quick=True, small=True),
    Set("wdbc", _known("wdbc"), quick=True, small=True),
    Set("breast", _known("breast"), small=True),
    Set("heart", _known("heart"), small=True),
    Set("ionosphere", _known("ionosphere"), small=True),
    Set("sonar", _known("sonar"), small=True),
    Set("covtype, 2 classes", _covtype(True)),
    Set("covtype, 7 classes", _covtype(False)),
    Set("optdigits", _known("optdigits"), quick=True),
    Set("pendigits", _known("pendigits")),
    Set("usps", _known("usps")),
    Set("shuttle", _known("shuttle")),
    Set("generated, dense", lambda: tuple(dense_problem(10_000, 5_000))),
    Set("generated, text", lambda: tuple(text_problem(10_000, 75, 5_000)), dense=False),
]


# --- amounts ----------------------------------------------------------------------------------------------------------


def _wine(file: str) -> Callable[[], tuple[Any, ...]]:
    def rows() -> tuple[Any, ...]:
        if not is_there("winequality"):
            return _linear(1_500, 11, noise=1.0)
        lines = text_of(Path(os.environ[DATA], "winequality", file)).splitlines()
        held = np.array([line.split(",") for line in lines if line[:1].isdigit()], dtype=float)
        return held[:, :-1], held[:, -1]

    return rows


def _column(name: str, column: int, n_rows: int) -> Callable[[], tuple[Any, ...]]:
    """A column of a table from all others."""

    def rows() -> tuple[Any, ...]:
        X = _covtype_sample()[0] if name == "covtype" else load(name).X
        X = X[np.random.default_rng(0).permutation(len(X))[:n_rows]]
        return np.delete(X, column, axis=1), X[:, column]

    return rows


def _linear(n_rows: int, n_features: int, *, noise: float, scaled: bool = False) -> tuple[Array, Array]:
    """Normal columns and weights; ``scaled``: columns times .001 to 1,000, targets times 1,000 plus 50,000."""
    rng = np.random.default_rng(n_rows + n_features)
    X = rng.standard_normal((n_rows, n_features))
    y = X @ rng.standard_normal(n_features) + noise * rng.standard_normal(n_rows)
    if not scaled:
        return X, y
    return X * np.logspace(-3, 3, n_features)[rng.permutation(n_features)], 1_000 * y + 50_000


def _school() -> tuple[Any, ...]:
    held = load("school")
    return held.X, held.y


REGRESSION = [
    Set("diabetes", lambda: load_diabetes(return_X_y=True), quick=True),
    Set("wine, red", _wine("winequality-red.csv"), quick=True),
    Set("wine, white", _wine("winequality-white.csv.gz")),
    Set("school", _school),
    Set("covtype, elevation", _column("covtype", 0, 6_000)),
    Set("magic, distance", _column("magic", 9, 6_000)),
    Set("pendigits, last", _column("pendigits", 15, 6_000)),
    Set("300 x 10", lambda: _linear(300, 10, noise=0.1), quick=True),
    Set("2,000 x 50", lambda: _linear(2_000, 50, noise=0.1)),
    Set("500 x 200", lambda: _linear(500, 200, noise=0.3), quick=True),
    Set("2,000 x 30, scaled", lambda: _linear(2_000, 30, noise=0.75, scaled=True), quick=True),
]
