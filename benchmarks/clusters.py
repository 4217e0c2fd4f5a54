"""K-means with and without sparse centres, against scikit-learn's: rows of text by topic, and many dense rows."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from thresher.cluster import SparseKMeans

from ._data import dense_problem
from ._measure import Case, take_turns
from ._report import Table
from ._selection_data import DATA, newsgroup_rows

SEEDS = 10
ALPHAS = (0.0, 1e-3, 1.5e-3, 2e-3)
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = os.environ.get(DATA)
        tables = [_dense(quick), _growth(quick)]
        if folder and not quick:
            tables.insert(0, _topics(Path(folder)))
        return tables


# --- text -------------------------------------------------------------------------------------------------------------


def _topics(folder: Path) -> Table:
    X, y = newsgroup_rows(folder)
    table = Table(
        f"Topics of 20 newsgroups (tf-idf, {X.shape[0]:,} x {X.shape[1]:,}, CSR), 20 clusters, {SEEDS} seeds",
        ["method", "adjusted Rand index", "sd", "standard error", "CPU s", "/ KMeans", "steps",
         "centre values not 0, %", "KMeans / this"],
        notes=[f"Means over {SEEDS} seeds, which decide on the starts (greedy k-means++ in all); n_init=1."],
    )  # fmt: skip
    methods: dict[str, Callable[[int], Any]] = {
        "KMeans": lambda seed: KMeans(20, n_init=1, random_state=seed),
        "MiniBatchKMeans": lambda seed: MiniBatchKMeans(20, n_init=1, random_state=seed),
        "SparseKMeans": lambda seed: SparseKMeans(20, random_state=seed),
    }
    for alpha in ALPHAS:
        methods[f'SparseKMeans, "cosine", alpha={alpha:g}'] = lambda seed, alpha=alpha: SparseKMeans(
            20, metric="cosine", alpha=alpha, random_state=seed
        )
    found = {name: [] for name in methods}
    for seed in range(SEEDS):  # in turn, so that a slow moment hits all alike
        for name, make in methods.items():
            begin = time.process_time()
            model = make(seed).fit(X)
            seconds = time.process_time() - begin
            used = np.mean(model.cluster_centers_ != 0)
            found[name].append((adjusted_rand_score(y, model.labels_), seconds, model.n_iter_, used))
    peer = np.mean(found["KMeans"], axis=0)
    for name, runs in found.items():
        agreement, seconds, steps, used = np.mean(runs, axis=0)
        sd = np.std([each[0] for each in runs], ddof=1)
        table.rows.append([
            name, f"{agreement:.3f}", f"{sd:.3f}", f"{sd / np.sqrt(SEEDS):.3f}",
            f"{seconds:.2f}", f"{seconds / peer[1]:.2f}", f"{steps:.0f}", f"{100 * used:.2f}", f"{peer[3] / used:.1f}",
        ])  # fmt: skip
    return table


# --- dense rows -------------------------------------------------------------------------------------------------------


def _dense(quick: bool) -> Table:
    n_rows, n_steps = (20_000, 5) if quick else (1_000_000, 20)
    X = np.ascontiguousarray(dense_problem(n_rows, 10)[0])
    table = Table(
        f"{n_rows:,} x {X.shape[1]} dense rows, {n_steps} steps",
        ["clusters", "starts", "CPU s, KMeans", "SparseKMeans", "SparseKMeans / KMeans", "target", "objective, KMeans",
         "SparseKMeans", "a step / X @ W"],
        notes=["Best of 3 repetitions in turn, tol=0. Last column: a step of ours over one product with the centres."],
    )  # fmt: skip
    for k in (8, 20):
        for starts in (X[:k].copy(), "k-means++"):
            table.rows.append(_race(X, k, starts, n_steps))
    return table


def _race(X: Array, k: int, starts: Any, n_steps: int) -> list[str]:
    W = np.ascontiguousarray(X[:k].T)
    options = {"n_clusters": k, "init": starts, "n_init": 1, "max_iter": n_steps, "tol": 0, "random_state": 0}
    cases = {
        "theirs": Case(lambda model: model.fit(X), lambda: KMeans(**options, algorithm="lloyd")),
        "ours": Case(lambda model: model.fit(X), lambda: SparseKMeans(**options)),
        "product": Case(lambda _: X @ W),
    }
    timings = take_turns(cases, 3, keep_results=True)
    theirs, ours, product = (timings[name].best for name in ("theirs", "ours", "product"))
    step = "" if isinstance(starts, str) else f"{ours / n_steps / product:.1f}"
    return [
        str(k), "k-means++" if isinstance(starts, str) else "given", f"{theirs:.2f}", f"{ours:.2f}",
        f"{ours / theirs:.2f}", "1.2", f"{timings['theirs'].results[0].inertia_:.5g}",
        f"{timings['ours'].results[0].inertia_:.5g}", step,
    ]  # fmt: skip


# --- growth -----------------------------------------------------------------------------------------------------------


def _growth(quick: bool) -> Table:
    """A step reads every stored value once for each four centres."""
    n_rows, width, k, nnz = (2_000, 50, 8, 20) if quick else (100_000, 50, 8, 20)
    table = Table(
        "How a step grows",
        ["rows", "features", "values in a row", "clusters", "CPU ms a step", "against the first"],
        notes=["Best of 3 repetitions of 5 steps from given centres, alpha=0.01; dense, then CSR."],
    )
    sizes = [(n_rows, width, width, k), (2 * n_rows, width, width, k), (n_rows, 2 * width, 2 * width, k)]
    sizes += [(n_rows, width, width, 4 * k), (n_rows, 1000 * width, nnz, k), (2 * n_rows, 1000 * width, nnz, k)]
    sizes += [(n_rows, 1000 * width, 2 * nnz, k), (n_rows, 1000 * width, nnz, 4 * k)]
    rng, first = np.random.default_rng(0), 0.0
    for n, d, values, clusters in sizes:
        if values == d:
            X: Any = rng.normal(size=(n, d))
        else:
            columns = rng.integers(d, size=(n, values)).ravel()
            X = sparse.csr_array((rng.normal(size=n * values), columns, np.arange(0, n * values + 1, values)), (n, d))
            X.sum_duplicates()
        start = rng.normal(size=(clusters, d)) * (rng.random((clusters, d)) < (1.0 if values == d else 0.05))
        model = SparseKMeans(clusters, alpha=0.01, init=start, max_iter=6, tol=0)
        timing = take_turns({"fit": Case(lambda m, X=X: m.fit(X), lambda m=model: m)}, 3)["fit"].best / 6
        if (values == d and not first) or (values < d and len(table.rows) == 4):
            first = timing
        table.rows.append(
            [f"{n:,}", f"{d:,}", str(values), str(clusters), f"{1e3 * timing:.1f}", f"{timing / first:.1f}"]
        )
    return table
