"""The tables of merging.md: what merging costs in accuracy, by shards and rounds; what adding up would cost.

From the root of the project: ``python docs/figures/merging.py``.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from thresher import distributed
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.online import AROWClassifier, OFSClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier
from thresher.training import merge_models

N_TRAIN, N_TEST = 40_000, 10_000
SHARDS, ROUNDS = (1, 2, 8, 32), (1, 2, 5, 10)


def dense(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """200 features, of which 20 count."""
    X, w = rng.normal(size=(N_TRAIN + N_TEST, 200)), np.zeros(200)
    w[rng.choice(200, 20, replace=False)] = 1.5 * rng.choice([-1, 1], 20)
    return X, labels(X @ w, rng)


def wide(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """20,000 features, 40 in a row of length 1, rare ones as rare as words are; 500 count."""
    n, d, m = N_TRAIN + N_TEST, 20_000, 40
    columns = np.minimum(d * rng.random((n, m)) ** 3, d - 1).astype(np.int64)
    X = sparse.csr_array((np.full(n * m, m**-0.5), columns.ravel(), np.arange(0, n * m + 1, m)), shape=(n, d))
    X.sum_duplicates()
    w = np.zeros(d)
    w[np.minimum(d * rng.random(500) ** 3, d - 1).astype(int)] = 15 * rng.normal(size=500)
    return X, labels(X @ w, rng)


def labels(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(len(scores)) < 1 / (1 + np.exp(-scores))


def learners(eta0: float, alpha: float) -> list[tuple[str, Any, str]]:
    """One of each kind of merge."""
    l1 = {"alpha": alpha, "eta0": eta0, "loss": "logistic"}
    return [
        ("AROW", AROWClassifier(r=10.0), "passes"),
        ("l1-RDA, passes", L1RDAClassifier(**l1), "passes"),
        ("l1-RDA, sums", L1RDAClassifier(**l1), "sums"),
        ("PA-I", PAClassifier(C=0.01), "passes"),
        ("Pegasos", PegasosClassifier(alpha=1e-4), "passes"),
        ("Pegasos, `average=True`", PegasosClassifier(alpha=1e-4, average=True), "passes"),
        ("OFS, 40 features", OFSClassifier(n_features_to_select=40, eta0=0.2), "passes"),
    ]


def run(model: Any, mode: str, X: Any, y: np.ndarray, n_shards: int) -> list[Any]:
    """The model after each number of rounds."""
    shards = [(X[k:N_TRAIN:n_shards], y[k:N_TRAIN:n_shards]) for k in range(n_shards)]
    return [distributed.fit(model, shards, mode=mode, n_rounds=n) for n in ROUNDS]


def added(model: Any, X: Any, y: np.ndarray, n_shards: int) -> list[float]:
    """Scores if the changes of all rounds were added up."""
    parts = [slice(k, N_TRAIN, n_shards) for k in range(n_shards)]
    known = {"classes": [False, True]} if y.dtype == bool else {}
    start = clone(model).partial_fit(X[:1], y[:1], sample_weight=[0.0], **known)
    scores = []
    for _ in range(max(ROUNDS)):
        start = merge_models([deepcopy(start).partial_fit(X[part], y[part]) for part in parts], start)
        scores.append(start.score(X[N_TRAIN:], y[N_TRAIN:]))
    return [scores[n - 1] for n in ROUNDS]


def compare(name: str, model: Any, X: Any, y: np.ndarray, n_shards: int = 8) -> None:
    """Changes added up, and as rounds merge them: error in per cent, or R2 of values."""
    told = (lambda score: f"{100 * (1 - score):.1f}") if y.dtype == bool else (lambda score: f"{score:.3g}")
    rounds = [m.score(X[N_TRAIN:], y[N_TRAIN:]) for m in run(model, "passes", X, y, n_shards)]
    for how, scores in (("added up", added(model, X, y, n_shards)), ("as in rounds", rounds)):
        print(f"| {name} | {how} | " + " | ".join(map(told, scores)) + " |")


def table(name: str, model: Any, mode: str, X: Any, y: np.ndarray) -> None:
    """A row for each number of shards."""
    alone: list[Any] = []
    for n_shards in SHARDS:
        fitted = run(model, mode, X, y, n_shards)
        alone = alone or fitted
        cells = []
        for one, many in zip(alone, fitted, strict=True):
            error = 100 * (1 - many.score(X[N_TRAIN:], y[N_TRAIN:]))
            away = np.linalg.norm(many.coef_ - one.coef_) / np.linalg.norm(one.coef_)
            cells.append(f"{error:.1f} ({away:.1g})" if n_shards > 1 else f"{error:.1f}")
        print(f"| {name if n_shards == 1 else ''} | {n_shards} | " + " | ".join(cells) + " |", flush=True)


def head(first: str, second: str) -> None:
    print(f"| {first} | {second} | " + " | ".join(f"R = {n}" for n in ROUNDS) + " |")
    print("| --- | --- |" + " --- |" * len(ROUNDS))


def main() -> None:
    for title, made, eta0, alpha in (("Dense", dense, 1.0, 1e-3), ("Wide and sparse", wide, 100.0, 1e-5)):
        X, y = made(np.random.default_rng(0))
        print(f"\n### {title}, {X.shape[1]:,} features\n")
        head("learner", "S")
        for name, model, mode in learners(eta0, alpha):
            table(name, model, mode, X, y)
    print("\n### Eight shards\n")
    head("learner", "changes")
    X, y = wide(np.random.default_rng(0))
    compare("AROW, wide: error", AROWClassifier(r=10.0), X, y)
    compare("l1-RDA, wide: error", L1RDAClassifier(alpha=1e-5, eta0=100.0, loss="logistic"), X, y)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_TRAIN + N_TEST, 50))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=len(X))
    compare("l1-RDA, values: R2", L1RDARegressor(alpha=1e-3, eta0=0.1), X, y)


if __name__ == "__main__":
    main()
