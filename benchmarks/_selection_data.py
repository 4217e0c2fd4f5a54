"""The tasks of ``selection``: newsgroups by date and a9a where THRESHER_DATA names their folder, and generated text."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from thresher.streams import read_svmlight

from ._data import Arrays, cached, dense_problem, text_problem

DATA = "THRESHER_DATA"
SIZES = (100, 500, 2_000, 10_000)
FEW = (10, 30, 60, 100)  # where there are 123 features
A9A_FEATURES = 123
BINARY = ("comp.", "sci.med", "alt.atheism")
Array = np.ndarray[Any, Any]


class Task(NamedTuple):
    """Classes are 0, 1, ...; ``scale`` names the grid of step sizes that suits the rows."""

    key: str
    title: str
    X: Any
    y: Array
    X_test: Any
    y_test: Array
    sizes: tuple[int, ...]
    scale: str

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


def tasks(quick: bool) -> Iterator[Task]:
    """One after the other, so that one set of rows is in memory."""
    folder = os.environ.get(DATA)
    if folder and not quick:
        yield from _newsgroups(Path(folder))
        yield _a9a(Path(folder))
    else:
        X, y, X_test, y_test = dense_problem(20_000, 5_000)
        title = "28 dense columns, generated"
        yield Task("dense", title, sparse.csr_array(X), _binary(y), X_test, _binary(y_test), (5, 15), "bits")
    n_rows, n_test = (10_000, 5_000) if quick else (100_000, 20_000)
    X, y, X_test, y_test = text_problem(n_rows, 75, n_test)
    sizes = SIZES[:2] if quick else SIZES
    yield Task(f"text{n_rows}", "text like rcv1, generated", X, _binary(y), X_test, _binary(y_test), sizes, "text")


def _binary(y: Array) -> Array:
    return (y > 0).astype(np.int64)


def _a9a(folder: Path) -> Task:
    train, test = (
        read_svmlight(folder / f"a9a/adult.{part}.bz2", n_features=A9A_FEATURES, zero_based=True)
        for part in ("trn", "tst")
    )
    return Task("a9a", "a9a", train[0], _binary(train[1]), test[0], _binary(test[1]), FEW, "bits")


def newsgroup_rows(folder: Path) -> tuple[Any, Array]:
    """All documents and their groups."""
    a, X, X_test = newsgroup_parts(folder)
    return sparse.csr_array(sparse.vstack([X, X_test])), np.concatenate([a["train_y"], a["test_y"]])


def newsgroup_parts(folder: Path) -> tuple[Arrays, Any, Any]:
    """Labels (``train_y``, ``test_y``) and names of the groups, training rows, test rows."""
    a = cached("newsgroups-tfidf", lambda: _tfidf(folder / "newsgroups20/20news-bydate.tar.gz"))
    X, X_test = (
        sparse.csr_array((a[f"{p}_data"], a[f"{p}_indices"], a[f"{p}_indptr"]), shape=a[f"{p}_shape"])
        for p in ("train", "test")
    )
    return a, X, X_test


def _newsgroups(folder: Path) -> Iterator[Task]:
    """Some groups against the rest, and all 20 classes."""
    a, X, X_test = newsgroup_parts(folder)
    names, y, y_test = a["names"], a["train_y"], a["test_y"]
    for prefix in BINARY:
        inside = np.flatnonzero(np.char.startswith(names, prefix))
        name = prefix + "*" if prefix.endswith(".") else prefix
        labels = (np.isin(part, inside).astype(np.int64) for part in (y, y_test))
        yield Task(
            f"news-{prefix.strip('.')}",
            f"newsgroups, {name} or not",
            X,
            next(labels),
            X_test,
            next(labels),
            SIZES,
            "text",
        )
    yield Task("news-20", "newsgroups, 20 classes", X, y, X_test, y_test, SIZES, "text")


def _tfidf(archive: Path) -> Arrays:
    """Messages with their headers, tf-idf of words (scikit-learn's, sublinear), fitted on those of training."""
    texts, labels = newsgroup_texts(archive)
    words = TfidfVectorizer(sublinear_tf=True).fit(texts["train"])
    names = np.unique(labels["train"])
    arrays: Arrays = {"names": names}
    for part in texts:
        X = words.transform(texts[part]).tocsr()
        X.sort_indices()  # scikit-learn leaves them as they come, and to sort them takes longer than to learn from them
        arrays |= {f"{part}_{key}": getattr(X, key) for key in ("data", "indices", "indptr")}
        arrays |= {f"{part}_shape": np.array(X.shape), f"{part}_y": np.searchsorted(names, labels[part])}
    return arrays


def newsgroup_texts(archive: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Messages and the names of their groups, of the parts train and test."""
    texts: dict[str, list[str]] = {"train": [], "test": []}
    labels: dict[str, list[str]] = {"train": [], "test": []}
    with tarfile.open(archive) as tar:
        for member in tar:
            *_, part, group, name = ("", "", *member.name.split("/"))
            if not member.isfile() or name.startswith("."):
                continue
            file = tar.extractfile(member)
            assert file is not None
            part = part.rpartition("-")[2]
            texts[part].append(file.read().decode("latin-1"))
            labels[part].append(group)
    return texts, labels
