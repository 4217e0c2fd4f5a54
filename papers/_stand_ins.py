"""Generated rows in place of real sets: seeded, of like shape and kind, and quick to make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_blobs, make_classification

from thresher.datasets import make_multi_task

Array = np.ndarray[Any, Any]
SEED = 0


def table(n_rows: int, n_features: int, classes: Sequence[str], n_test: int = 0) -> tuple[Array, ...]:
    """Normal heaps, half of the features of use, 2 % of the labels wrong; then as many test rows as asked for.

    Two fifths of the rows are of the first of many classes, as in ecoli and zoo; two classes are of equal size.
    """
    n_others = len(classes) - 1
    useful = max(2, n_features // 2, int(np.ceil(np.log2(2 * len(classes)))))
    X, k = make_classification(
        n_rows + n_test,
        n_features,
        n_informative=min(useful, n_features),
        n_redundant=0,
        n_classes=len(classes),
        n_clusters_per_class=1,
        weights=[0.4] + [0.6 / n_others] * n_others if n_others > 1 else None,
        flip_y=0.02,
        random_state=SEED,
    )
    names = np.array([int(name) for name in classes] if all(name.isdigit() for name in classes) else classes)
    y = names[k]
    return (X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]) if n_test else (X, y)


def blobs(n_rows: int, n_centres: int) -> tuple[Array, Array]:
    X, k = make_blobs(n_rows, 2, centers=n_centres, cluster_std=0.4, random_state=SEED)
    return X, 1 + k


def tasks(n_tasks: int, n_rows_each: int, n_features: int) -> dict[str, Array]:
    """Tasks that share a third of the features; the last column is constant."""
    X, y, which, *_ = make_multi_task(
        n_rows_each, n_features - 1, n_tasks, n_relevant=n_features // 3, noise=3.0, random_state=SEED
    )
    return {"X": np.column_stack([X, np.ones(len(y))]), "y": y, "tasks": which}


def few_labels(n_rows: int, n_features: int) -> dict[str, Any]:
    """Two overlapping normal classes, -1 and 1, and 12 draws of 10 and of 100 places, both classes in each."""
    rng = np.random.default_rng(SEED)
    y = np.where(np.arange(n_rows) % 2 == 0, -1, 1)
    X = rng.standard_normal((n_rows, n_features)) + 1.2 * y[:, None] * np.eye(n_features)[0]
    splits = {
        n: np.array(
            [np.concatenate([rng.choice(np.flatnonzero(y == c), n // 2, False) for c in (-1, 1)]) for _ in range(12)]
        )
        for n in (10, 100)
    }
    return {"X": X, "y": y, "splits": splits}


def splice(n_rows: int, n_letters: int) -> tuple[Array, ...]:
    """Letters 0 to 3, of which those in the middle, one by one and in neighbouring pairs, tell the rare class 1."""
    rng = np.random.default_rng(SEED)
    near = slice(n_letters // 2 - 6, n_letters // 2 + 6)
    alone, pairs = 0.9 * rng.standard_normal((12, 4)), 0.7 * rng.standard_normal((11, 4, 4))
    parts = []
    for _ in range(2):
        X = rng.integers(0, 4, (n_rows, n_letters))
        X[:, n_letters // 2 - 1], X[:, n_letters // 2] = 0, 2  # the A and the G that all have
        m = X[:, near]
        score = alone[np.arange(12), m].sum(axis=1) + pairs[np.arange(11), m[:, :-1], m[:, 1:]].sum(axis=1)
        noisy = score + rng.logistic(size=n_rows)
        parts += [X, np.where(noisy > np.quantile(noisy, 0.96), 1, -1)]
    return tuple(parts)


def text(n_features: int, n_classes: int, n_rows: int = 3000, n_test: int = 1500) -> tuple[Any, ...]:
    """Sparse rows of norm 1, words of which follow a Zipf law that each class tilts; classes 1, 2, ..., or -1 and 1."""
    rng = np.random.default_rng(SEED)
    usual = rng.permutation((np.arange(n_features) + 20.0) ** -1.05)
    tilts = np.exp(rng.standard_normal((n_classes, n_features)) * (rng.random(n_features) < 0.1))
    n, length = n_rows + n_test, min(60, n_features // 4)
    k = rng.integers(0, n_classes, n)
    columns = np.empty((n, length), dtype=np.int32)  # scikit-learn takes no other
    for c in range(n_classes):
        chance = np.cumsum(usual * tilts[c])
        columns[k == c] = np.searchsorted(chance / chance[-1], rng.random((np.sum(k == c), length)))
    X = sparse.csr_array(
        (np.ones(n * length), columns.ravel(), np.arange(0, n * length + 1, length, dtype=np.int32)), (n, n_features)
    )
    X.sum_duplicates()
    X = sparse.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # as scikit-learn wants them
    y = 2 * k - 1 if n_classes == 2 else 1 + k
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
