"""K-means with and without sparse centres, against scikit-learn's and faiss': rows of text by topic, many dense rows,
how a step grows; kernel spectral clustering against scikit-learn's spectral clustering.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from thresher.cluster import KernelSpectralClustering, SparseKMeans

from ._alone import alone
from ._data import dense_problem
from ._front import FrontLine
from ._growth import curves, slope
from ._measure import Case, installed, take_turns
from ._report import Table, skipped
from ._selection_data import DATA, newsgroup_rows

SEEDS = 3
ALPHAS = (0.0, 1e-3, 2e-3)
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = os.environ.get(DATA)
        tables = [_dense(quick), *_growth(quick), _spectral(quick)]
        if folder and not quick:
            tables.insert(0, _topics(Path(folder)))
        return tables


def front(tables: list[Table]) -> list[FrontLine]:
    table = next(table for table in tables if table.columns[0] == "clusters, method")
    lines = []
    for peer, dtype in (("KMeans", "float64"), ("KMeans", "float32"), ("faiss Kmeans", "float32")):
        found = {row[0]: row for row in table.rows if row[1] == dtype}
        theirs, ours = found.get(f"20, {peer}"), found["20, SparseKMeans"]
        if theirs:
            lines.append(
                FrontLine(
                    what=f"K-means, 20 clusters, {table.title.split(' dense')[0]} {dtype}",
                    peer=peer if peer != "KMeans" else "scikit-learn KMeans",
                    ours="SparseKMeans",
                    their_cost=float(theirs[2]),
                    our_cost=float(ours[2]),
                    quality="objective over KMeans'",
                    their_quality=theirs[5],
                    our_quality=ours[5],
                )
            )
    return lines


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
    n_rows, n_steps = (20_000, 5) if quick else (500_000, 20)
    table = Table(
        f"{n_rows:,} x 28 dense rows, {n_steps} steps from the same starts",
        ["clusters, method", "values", "CPU s", "/ KMeans", "target", "objective over KMeans'", "MB"],
        notes=[
            "Best of 2 repetitions in turn; Lloyd's steps, tol=0, the first rows as starts. Times and objectives are "
            "compared with those of KMeans on values of the same precision. faiss computes in float32 "
            "and is told to take all rows; MiniBatchKMeans has its defaults and makes steps of its own. MB: peak "
            "beyond the rows, in a process of its own.",
            *([] if installed("faiss") else skipped(["faiss-cpu"])),
        ],
    )
    rows = {dtype: _dense_rows(n_rows, dtype) for dtype in ("float64", "float32")}
    for k in (8, 20):
        methods = {key: make for key, make in METHODS.items() if key[0] != "faiss Kmeans" or installed("faiss")}
        cases = {
            f"{name}|{dtype}": Case(lambda fit: fit(), partial(make, rows[dtype], k, n_steps))
            for (name, dtype), make in methods.items()
        }
        timings = take_turns(cases, 2, keep_results=True)
        for case, timing in timings.items():
            name, dtype = case.split("|")
            base = timings[f"KMeans|{dtype}"]
            objective = _inertia(rows["float64"], timing.results[0]) / _inertia(rows["float64"], base.results[0])
            target = "0.83" if name == "SparseKMeans" else ""
            memory = ""
            if k == 20 and not quick:
                job = {"name": name, "dtype": dtype, "n_rows": n_rows, "k": k, "n_steps": n_steps}
                memory = f"{alone('benchmarks.clusters', 'fit_alone', **job).beyond_mb:.0f}"
            ratio = f"{timing.best / base.best:.2f}"
            table.rows.append([f"{k}, {name}", dtype, f"{timing.best:.3f}", ratio, target, f"{objective:.5f}", memory])
    return table


def _dense_rows(n_rows: int, dtype: str) -> Array:
    return np.ascontiguousarray(dense_problem(n_rows, 10)[0], dtype=dtype)


def _inertia(X: Array, centres: Array) -> float:
    """The sum of squared distances from the nearest centre, in float64 for all."""
    W = np.asarray(centres, dtype=np.float64)
    nearest = ((W * W).sum(axis=1) - 2 * X @ W.T).min(axis=1)
    return float(nearest.sum() + np.einsum("ij,ij->", X, X))


def _sklearn(X: Any, k: int, n_steps: int) -> Callable[[], Array]:
    model = KMeans(k, init=_starts(X, k), n_init=1, max_iter=n_steps, tol=0, algorithm="lloyd")
    return lambda: model.fit(X).cluster_centers_


def _mini_batch(X: Any, k: int, n_steps: int) -> Callable[[], Array]:
    model = MiniBatchKMeans(k, init=_starts(X, k), n_init=1)
    return lambda: model.fit(X).cluster_centers_


def _thresher(X: Any, k: int, n_steps: int) -> Callable[[], Array]:
    model = SparseKMeans(k, init=_starts(X, k), max_iter=n_steps, tol=0)
    return lambda: model.fit(X).cluster_centers_


def _faiss(X: Any, k: int, n_steps: int) -> Callable[[], Array]:
    import faiss

    faiss.omp_set_num_threads(1)
    n_rows, n_features = X.shape
    model = faiss.Kmeans(
        n_features, k, niter=n_steps, nredo=1, max_points_per_centroid=n_rows, min_points_per_centroid=1
    )

    def fit() -> Array:
        model.train(X, init_centroids=_starts(X, k))
        return model.centroids

    return fit


def _starts(X: Any, k: int) -> Array:
    first = X[:k]
    return np.ascontiguousarray(first.toarray() if sparse.issparse(first) else first)


METHODS: dict[tuple[str, str], Callable[[Any, int, int], Callable[[], Array]]] = {
    ("KMeans", "float64"): _sklearn,
    ("SparseKMeans", "float64"): _thresher,
    ("MiniBatchKMeans", "float64"): _mini_batch,
    ("KMeans", "float32"): _sklearn,
    ("SparseKMeans", "float32"): _thresher,
    ("faiss Kmeans", "float32"): _faiss,
}


def fit_alone(name: str, dtype: str, n_rows: int, k: int, n_steps: int) -> Callable[[], None]:
    """For memory, after a small fit that loads what is needed."""
    make = METHODS[name, dtype]
    make(np.random.default_rng(0).normal(size=(500, 28)).astype(dtype), 4, 2)()
    fit = make(_dense_rows(n_rows, dtype), k, n_steps)

    def work() -> None:
        fit()

    return work


# --- growth -----------------------------------------------------------------------------------------------------------


def _growth(quick: bool) -> list[Table]:
    """A step of ours reads every row once; its work is rows times columns, or stored values, times centres."""
    n_steps = 5
    factors = (1, 2) if quick else (1, 2, 4, 8)
    dense = {"rows": 2_000 if quick else 100_000, "features": 16, "clusters": 8}
    thin = {"rows": 1_000 if quick else 50_000, "values in a row": 10, "clusters": 8}
    tables = []
    for layout, base in (("dense", dense), ("CSR", thin)):
        makers = {"KMeans": _sklearn, "thresher SparseKMeans": _thresher}
        if layout == "dense" and installed("faiss"):
            makers["faiss Kmeans, float32"] = _faiss
        if layout == "dense":
            makers |= {"KMeans, float32": _sklearn, "thresher SparseKMeans, float32": _thresher}
        table = Table(
            f"How {n_steps} steps grow: {layout} rows, CPU ms",
            ["what grows, method", *(f"x {factor}" for factor in factors), "slope"],
            notes=[
                f"At x 1: {', '.join(f'{size:,} {what}' for what, size in base.items())}"
                + ("." if layout == "dense" else ", 5,000 features.")
                + " Best of 2 in turn, given starts."
            ],
        )
        drawn = {}
        for what in base:
            times: dict[str, list[float]] = {name: [] for name in makers}
            for factor in factors:
                X, k = _growing(layout, base | {what: factor * base[what]})
                halved = X.astype(np.float32) if layout == "dense" else None
                cases = {
                    name: Case(lambda f: f(), partial(make, halved if "float32" in name else X, k, n_steps))
                    for name, make in makers.items()
                }
                for name, timing in take_turns(cases, 2).items():
                    times[name].append(1e3 * timing.best)
            sizes = [factor * base[what] for factor in factors]
            for name, ms in times.items():
                table.rows.append([f"{what}, {name}", *(f"{t:.0f}" for t in ms), f"{slope(sizes, ms):.2f}"])
                drawn[f"{name}, {what}"] = factors, ms
        if not quick:
            table.picture = curves(
                f"clusters-{layout.lower()}", drawn, x="times as many", y=f"CPU ms of {n_steps} steps"
            )
        tables.append(table)
    return tables


def _growing(layout: str, size: dict[str, int]) -> tuple[Any, int]:
    rng, n = np.random.default_rng(0), size["rows"]
    if layout == "dense":
        return rng.normal(size=(n, size["features"])), size["clusters"]
    d, values = 5_000, size["values in a row"]
    columns = rng.integers(d, size=n * values, dtype=np.int32)
    starts = np.arange(0, n * values + 1, values, dtype=np.int32)
    X = sparse.csr_array((np.abs(rng.normal(size=n * values)), columns, starts), (n, d))
    X.sum_duplicates()
    return X, size["clusters"]


# --- spectral clustering ----------------------------------------------------------------------------------------------


def _spectral(quick: bool) -> Table:
    sizes = (200, 400) if quick else (500, 1_000, 2_000, 4_000)
    table = Table(
        "Spectral clustering of two rings, the same RBF kernel",
        ["method", *(f"CPU ms, {n:,} rows" for n in sizes), "slope", "adjusted Rand index", "new rows", "MB"],
        notes=[
            "gamma=20; scikit-learn's with its defaults. The index at the largest size, on the rows learned from and "
            "on 1,000 new ones, which SpectralClustering has no answer for. Best of 2. MB: peak of a fit at the "
            "largest size in a process of its own, beyond the rows."
        ],
    )
    for name in SPECTRAL:
        ms, agreement, new = [], 0.0, ""
        for n_rows in sizes:
            X, ring = _rings(n_rows)
            timed = take_turns({name: Case(lambda m, X=X: m.fit(X), SPECTRAL[name])}, 2, keep_results=True)[name]
            ms.append(1e3 * timed.best)
            agreement = adjusted_rand_score(ring, timed.results[0].labels_)
            if hasattr(timed.results[0], "predict"):
                fresh, of = _rings(1_000, seed=1)
                new = f"{adjusted_rand_score(of, timed.results[0].predict(fresh)):.3f}"
        job = {"name": name, "n_rows": sizes[-1]}
        memory = "" if quick else f"{alone('benchmarks.clusters', 'spectral_alone', **job).beyond_mb:.0f}"
        table.rows.append([name, *(f"{t:.0f}" for t in ms), f"{slope(sizes, ms):.2f}", f"{agreement:.3f}", new, memory])
    return table


SPECTRAL: dict[str, Callable[[], Any]] = {
    "SpectralClustering": lambda: SpectralClustering(2, gamma=20.0, random_state=0),
    "KernelSpectralClustering": lambda: KernelSpectralClustering(2, gamma=20.0),
    "KernelSpectralClustering, n_components=100": lambda: KernelSpectralClustering(
        2, gamma=20.0, n_components=100, random_state=0
    ),
}


def _rings(n_rows: int, seed: int = 0) -> tuple[Array, Array]:
    return make_circles(n_rows, factor=0.4, noise=0.04, random_state=seed)


def spectral_alone(name: str, n_rows: int) -> Callable[[], None]:
    SPECTRAL[name]().fit(_rings(300)[0])
    X = _rings(n_rows)[0]

    def work() -> None:
        SPECTRAL[name]().fit(X)

    return work
