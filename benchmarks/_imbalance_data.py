"""The tasks of ``imbalance``: rows of norm 1, one rare class against the rest.

Newsgroups by date: the groups are numbered in alphabetical order from 1 on, and group 1 (alt.atheism, 480 of 6,390
training messages) against groups 2 to 11 is the problem called 1:10. The words and their weights are those of the
training messages. Real data where THRESHER_DATA names its folder, generated text otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from thresher.streams import read_svmlight

from ._data import Arrays, cached, text_rows
from ._selection_data import A9A_FEATURES, DATA, newsgroup_texts

Array = np.ndarray[Any, Any]
TEN = range(2, 12)
SIX = range(1, 7)  # each of these groups is the rare one for once, against the other ten of the first eleven
_FARM_RATIO = 10
_FARM_TEST = 0.4


class Task(NamedTuple):
    """Classes are 0 and 1, the rare one."""

    title: str
    X: Any
    y: Array
    X_test: Any
    y_test: Array

    @property
    def shown(self) -> str:
        rows, columns = self.X.shape
        rare = int(self.y.sum())
        return f"{self.title}; {rows:,} rows, {rare:,} of them positive, {columns:,} columns"


def real_data() -> Path | None:
    return Path(os.environ[DATA]) if os.environ.get(DATA) else None


# --- newsgroups -------------------------------------------------------------------------------------------------------


def newsgroups(folder: Path, rare: int, others: Sequence[int]) -> Task:
    """One group against some others."""
    a = cached("newsgroups-counts", lambda: _counts(folder / "newsgroups20/20news-bydate.tar.gz"))
    parts: dict[str, tuple[Any, Array]] = {}
    for part in ("train", "test"):
        X = sparse.csr_array((a[f"{part}_data"], a[f"{part}_indices"], a[f"{part}_indptr"]), shape=a[f"{part}_shape"])
        some = np.isin(a[f"{part}_y"], [rare, *others])
        parts[part] = X[some], (a[f"{part}_y"][some] == rare).astype(np.int64)
    X, y = parts["train"]
    words = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    weights = TfidfTransformer(sublinear_tf=True).fit(X[:, words])
    X, X_test = (_sorted(weights.transform(part[0][:, words])) for part in parts.values())
    return Task(f"newsgroups, {rare} against {_said(others)}", X, y, X_test, parts["test"][1])


def _said(groups: Sequence[int]) -> str:
    return f"{groups[0]}-{groups[-1]}" if len(groups) == groups[-1] - groups[0] + 1 else "the other ten of 1-11"


def _counts(archive: Path) -> Arrays:
    texts, labels = newsgroup_texts(archive)
    words = CountVectorizer().fit(texts["train"])
    names = np.unique(labels["train"])
    arrays: Arrays = {}
    for part in texts:
        X = _sorted(words.transform(texts[part]))
        arrays |= {f"{part}_{key}": getattr(X, key) for key in ("data", "indices", "indptr")}
        arrays |= {f"{part}_shape": np.array(X.shape), f"{part}_y": 1 + np.searchsorted(names, labels[part])}
    return arrays


def thinned(task: Task, ratio: int) -> Task:
    """So many training rows for one of the rare class, which are the first of it; test rows stay."""
    positive, negative = np.flatnonzero(task.y), np.flatnonzero(task.y == 0)
    kept = np.sort(np.concatenate([positive[: len(negative) // ratio], negative]))
    return task._replace(title=f"{task.title}, thinned to 1:{ratio}", X=task.X[kept], y=task.y[kept])


# --- others -----------------------------------------------------------------------------------------------------------


def reuters(folder: Path) -> Task:
    parts = [
        read_svmlight(folder / f"tick_reuters/reuters.{part}.bz2", n_features=8315, zero_based=False)
        for part in ("trn", "tst")
    ]
    return _task("tick_reuters, money-fx or not", *parts[0], *parts[1])


def a9a(folder: Path) -> Task:
    parts = [
        read_svmlight(folder / f"a9a/adult.{part}.bz2", n_features=A9A_FEATURES, zero_based=True)
        for part in ("trn", "tst")
    ]
    return _task("a9a", *parts[0], *parts[1])


def farm_ads(folder: Path, seed: int) -> Task:
    """It is balanced and has no rows held out: a seed thins the positive rows and splits the rest."""
    X, y = sparse.csr_array(sparse.load_npz(folder / "farm_ads/X_raw.npz")), np.load(folder / "farm_ads/y_raw.npy")
    rng = np.random.default_rng(seed)
    negative, positive = (rng.permutation(np.flatnonzero(y == label)) for label in (0, 1))
    kept = negative, positive[: len(negative) // _FARM_RATIO]
    test = np.concatenate([part[: int(_FARM_TEST * len(part))] for part in kept])
    train = np.concatenate([part[int(_FARM_TEST * len(part)) :] for part in kept])
    return _task("farm_ads, thinned to 1:10", X[train], y[train], X[test], y[test])


def generated(n_rows: int, n_test: int, ratio: int = 10) -> Task:
    """Text like rcv1 with the positive rows thinned."""
    parts = []
    for n, seed in ((n_rows, 1), (n_test, 99)):
        X, y = text_rows(2 * n, 75, seed)
        negative, positive = np.flatnonzero(y < 0), np.flatnonzero(y > 0)
        kept = np.sort(np.concatenate([negative, positive[: len(negative) // ratio]]))
        parts += [X[kept], y[kept]]
    return _task(f"text like rcv1, generated, 1:{ratio}", *parts)


def _task(title: str, X: Any, y: Array, X_test: Any, y_test: Array) -> Task:
    rows = [_sorted(normalize(part)) for part in (X, X_test)]
    return Task(title, rows[0], (y > 0).astype(np.int64), rows[1], (y_test > 0).astype(np.int64))


def _sorted(X: Any) -> Any:
    X = sparse.csr_array(X)
    X.sort_indices()
    return X
