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
N_DRAWS = 3
Draws = list[tuple[Any, np.ndarray]]


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


def paired(values: Any, others: Any, digits: str) -> str:
    """The mean over draws, and the standard deviation of the differences from other values of the same draws."""
    return f"{np.mean(values):{digits}} ± {np.std(np.subtract(values, others), ddof=1):{digits}}"


def compare(name: str, model: Any, draws: Draws, n_shards: int = 8) -> None:
    """Changes added up, and as rounds merge them: error in per cent, or R2 of values."""
    found: dict[str, list[list[float]]] = {"added up": [], "as in rounds": []}
    for X, y in draws:
        found["added up"].append(added(model, X, y, n_shards))
        merged = run(model, "passes", X, y, n_shards)
        found["as in rounds"].append([each.score(X[N_TRAIN:], y[N_TRAIN:]) for each in merged])
    is_error = draws[0][1].dtype == bool
    told = {how: 100 * (1 - np.array(scores)) if is_error else np.array(scores) for how, scores in found.items()}
    digits = ".1f" if is_error else ".3g"
    for how, values in told.items():
        cells = [
            paired(*pair, digits) if how == "added up" else f"{np.mean(pair[0]):{digits}}"
            for pair in zip(values.T, told["as in rounds"].T, strict=True)
        ]
        print(f"| {name} | {how} | " + " | ".join(cells) + " |", flush=True)


def table(name: str, model: Any, mode: str, draws: Draws) -> None:
    """A row for each number of shards."""
    alone: list[list[Any]] = []
    for n_shards in SHARDS:
        fitted = [run(model, mode, X, y, n_shards) for X, y in draws]
        alone = alone or fitted
        cells = []
        for n, _ in enumerate(ROUNDS):
            one, many = [each[n] for each in alone], [each[n] for each in fitted]
            errors, known = errors_of(many, draws), errors_of(one, draws)
            away = [np.linalg.norm(b.coef_ - a.coef_) / np.linalg.norm(a.coef_) for a, b in zip(one, many, strict=True)]
            cells.append(
                f"{paired(errors, known, '.1f')} ({np.mean(away):.1g})" if n_shards > 1 else f"{np.mean(errors):.1f}"
            )
        print(f"| {name if n_shards == 1 else ''} | {n_shards} | " + " | ".join(cells) + " |", flush=True)


def errors_of(models: list[Any], draws: Draws) -> list[float]:
    """In per cent, each model's on the rows held out of its own draw."""
    return [100 * (1 - model.score(X[N_TRAIN:], y[N_TRAIN:])) for model, (X, y) in zip(models, draws, strict=True)]


def head(first: str, second: str) -> None:
    print(f"| {first} | {second} | " + " | ".join(f"R = {n}" for n in ROUNDS) + " |")
    print("| --- | --- |" + " --- |" * len(ROUNDS))


def amounts(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """50 features, of which 10 count."""
    X = rng.normal(size=(N_TRAIN + N_TEST, 50))
    return X, X[:, :10] @ rng.normal(size=10) + rng.normal(size=len(X))


def main() -> None:
    drawn = {make: [make(np.random.default_rng(seed)) for seed in range(N_DRAWS)] for make in (dense, wide, amounts)}
    for title, make, eta0, alpha in (("Dense", dense, 1.0, 1e-3), ("Wide and sparse", wide, 100.0, 1e-5)):
        print(f"\n### {title}, {drawn[make][0][0].shape[1]:,} features\n")
        head("learner", "S")
        for name, model, mode in learners(eta0, alpha):
            table(name, model, mode, drawn[make])
    print("\n### Eight shards\n")
    head("learner", "changes")
    compare("AROW, wide: error", AROWClassifier(r=10.0), drawn[wide])
    compare("l1-RDA, wide: error", L1RDAClassifier(alpha=1e-5, eta0=100.0, loss="logistic"), drawn[wide])
    compare("l1-RDA, values: R2", L1RDARegressor(alpha=1e-3, eta0=0.1), drawn[amounts])


if __name__ == "__main__":
    main()
