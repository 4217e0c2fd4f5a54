"""The sets of ``auto``: tables, texts, amounts, and rows few of which have a label."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from papers._data import load, text_of
from scipy.io import loadmat
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from ._newcomer_sets import DATA, _covtype, _farm_ads, _known, _school, is_there

MOST_ROWS, MOST_TEST_ROWS, TEST_SHARE = 4_000, 5_000, 0.3
Array = np.ndarray[Any, Any]


class Rows(NamedTuple):
    X: Any
    y: Array
    X_test: Any
    y_test: Array
    vectors: tuple[Any, Any] | None = None  # of texts, for peers that cannot read


def split(rows: tuple[Any, ...], seed: int, most: int | None = None) -> Rows:
    """Rows to learn from and others; texts come divided."""
    if isinstance(rows, Rows):
        return rows
    X, y = rows[0], np.asarray(rows[1])
    order = np.random.default_rng(seed).permutation(len(y))
    n_rows = min(most or MOST_ROWS, int((1 - TEST_SHARE) * len(y)))
    train, test = order[:n_rows], order[n_rows : n_rows + MOST_TEST_ROWS]
    return Rows(X[train], y[train], X[test], y[test])


def _wine(as_classes: bool) -> Callable[[], tuple[Any, ...]]:
    def rows() -> tuple[Any, ...]:
        if not is_there("winequality"):
            rng = np.random.default_rng(0)
            X = rng.normal(size=(1_500, 11))
            y = np.round(X[:, 0] ** 2 + X[:, 1] + rng.normal(size=1_500))
            return X, y.astype(int) if as_classes else y + 0.5
        folder = Path(os.environ[DATA], "winequality")
        lines = [line for file in sorted(folder.glob("*.csv*")) for line in text_of(file).splitlines()]
        held = np.array([line.split(",") for line in lines if line[:1].isdigit()], dtype=float)
        return held[:, :-1], held[:, -1].astype(int) if as_classes else held[:, -1]

    return rows


def _newsgroups() -> Rows:
    """Messages by date, without headers, as texts and as tf-idf vectors."""
    parts: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    if is_there("newsgroups20"):
        with tarfile.open(Path(os.environ[DATA], "newsgroups20", "20news-bydate.tar.gz")) as archive:
            for member in archive:
                if member.isfile() and (file := archive.extractfile(member)) is not None:
                    texts, groups = parts["train" if "-train" in member.name else "test"]
                    texts.append(file.read().decode("latin-1").partition("\n\n")[2])
                    groups.append(Path(member.name).parent.name)
    else:
        rng = np.random.default_rng(0)
        for part, n_rows in (("train", 600), ("test", 300)):
            for _ in range(n_rows):
                group = str(rng.integers(3))
                own = 100 * int(group)
                words = [f"word{int(n) % 300 + own * int(rng.random() < 0.3)}" for n in rng.zipf(1.3, 40)]
                parts[part][0].append(" ".join(words))
                parts[part][1].append(group)
    (texts, y), (test_texts, y_test) = parts["train"], parts["test"]
    vectors = TfidfVectorizer(ngram_range=(1, 1), sublinear_tf=True, token_pattern=r"\w\w+").fit(texts)
    frames = [pd.DataFrame({"text": [re.sub(r"\s+", " ", t) or "-" for t in part]}) for part in (texts, test_texts)]
    known = vectors.transform(texts), vectors.transform(test_texts)
    return Rows(frames[0], np.array(y, dtype=object), frames[1], np.array(y_test, dtype=object), known)


def _ads() -> Rows:
    X, y = _farm_ads()
    rows = split((X, y), 0)
    weights = TfidfTransformer(sublinear_tf=False).fit(rows.X)
    return rows._replace(vectors=(weights.transform(rows.X), weights.transform(rows.X_test)))


TABLES = ("magic", "spambase", "shuttle", "pendigits", "optdigits", "usps", "a9a", "ionosphere", "pima", "wdbc")
CLASSES: dict[str, Callable[[], tuple[Any, ...]]] = {
    **{name: (lambda name=name: _both(_known(name)())) for name in TABLES},
    "covtype": _covtype(False),
    "winequality": _wine(True),
}
AMOUNTS = {"winequality": _wine(False), "school": _school}
TEXTS = {"newsgroups20": _newsgroups, "farm_ads": _ads}
FEW_LABELS = {"BCI": 4, "g241c": 5, "optdigits": None, "usps": None}  # numbers of the book's sets


def _both(rows: tuple[Any, ...]) -> tuple[Any, Array]:
    """Training and test rows together: every split is drawn anew."""
    if len(rows) == 2:
        return rows[0], rows[1]
    X, y, X_test, y_test = rows
    from scipy import sparse

    stacked = sparse.vstack([X, X_test], format="csr") if sparse.issparse(X) else np.vstack([X, X_test])
    return stacked, np.concatenate([y, y_test])


def few_labels(name: str, n_labels: int, seed: int) -> tuple[Array, Array, Array]:
    """Rows, classes, and which of them have a label: the book's splits, or as many of each class."""
    number = FEW_LABELS[name]
    if number is not None and is_there("ssl_book"):
        folder = Path(os.environ[DATA], "ssl_book")
        held = loadmat(folder / f"SSL,set={number},data.mat")
        places = loadmat(folder / f"SSL,set={number},splits,labeled={n_labels}.mat")["idxLabs"]
        y = (held["y"].ravel() > 0).astype(int)
        known = np.zeros(len(y), dtype=bool)
        known[places[seed].ravel().astype(int) - 1] = True
        return np.asarray(held["X"], dtype=float), y, known
    rows = load("optdigits" if number is not None else name)
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(rows.y))[:1_500]
    X, y = np.asarray(rows.X)[some], np.unique(rows.y[some], return_inverse=True)[1]
    known = np.zeros(len(y), dtype=bool)
    classes = np.unique(y)
    for code in classes:
        known[rng.permutation(np.flatnonzero(y == code))[: max(1, n_labels // len(classes))]] = True
    return X, y, known
