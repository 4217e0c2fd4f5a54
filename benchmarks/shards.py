"""Rounds over shards: what they cost in accuracy, and what two workers give over one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from thresher import distributed
from thresher.confidence import BCWClassifier, PoolCWClassifier, SBCWClassifier
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier
from thresher.streams import write_svmlight

from ._data import cached, cached_file, text_problem, text_rows
from ._report import Table
from ._selection_data import DATA, newsgroup_parts

N_SHARDS, N_ROUNDS, SEEDS = 8, 5, 3
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    tables = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = os.environ.get(DATA)
        if folder and not quick:
            tables = [_accuracy(*make(Path(folder)), SEEDS) for make in (_covtype, _newsgroups, _few_features)]
        elif quick:
            p = text_problem(2_000, n_test=1_000)
            tables = [
                _accuracy("generated text", p.X, p.y, p.X_test, p.y_test, {"AROW": (AROWClassifier(), "auto")}, 1)
            ]
        return [*tables, _throughput(quick), _overhead(quick)]


# --- accuracy ---------------------------------------------------------------------------------------------------------

Methods = dict[str, tuple[Any, str]]


def _covtype(folder: Path) -> tuple[str, Any, Array, Any, Array, Methods]:
    def make() -> dict[str, Array]:
        table = np.loadtxt(folder / "covtype/covtype.csv.gz", delimiter=",", skiprows=1)
        return {"X": table[:, :-1], "y": table[:, -1]}

    a = cached("covtype", make)
    order = np.random.default_rng(0).permutation(len(a["y"]))
    X, y = a["X"][order], (a["y"][order] == 2).astype(np.int64)
    n = 4 * len(y) // 5
    X = (X - X[:n].mean(axis=0)) / np.maximum(X[:n].std(axis=0), 1e-12)
    methods: Methods = {
        "AROWClassifier": (AROWClassifier(), "passes"),
        "BCWClassifier, passes": (BCWClassifier(), "passes"),
        "BCWClassifier, sums": (BCWClassifier(), "sums"),
        "L1RDAClassifier(alpha=1e-3), passes": (L1RDAClassifier(1e-3), "passes"),
        "L1RDAClassifier(alpha=1e-3), sums": (L1RDAClassifier(1e-3), "sums"),
        "PegasosClassifier": (PegasosClassifier(1e-4), "passes"),
        "PAClassifier(C=0.01)": (PAClassifier(0.01), "passes"),
    }
    return f"covtype, class 2 or not ({n:,} x {X.shape[1]})", X[:n], y[:n], X[n:], y[n:], methods


def _newsgroups(folder: Path) -> tuple[str, Any, Array, Any, Array, Methods]:
    a, X, X_test = newsgroup_parts(folder)
    methods: Methods = {
        "AROWClassifier": (AROWClassifier(), "passes"),
        "L1RDAClassifier(alpha=1e-5, eta0=100), passes": (L1RDAClassifier(1e-5, eta0=100.0), "passes"),
        "L1RDAClassifier(alpha=1e-5, eta0=100), sums": (L1RDAClassifier(1e-5, eta0=100.0), "sums"),
        "PegasosClassifier": (PegasosClassifier(1e-4), "passes"),
        "PAClassifier": (PAClassifier(), "passes"),
    }
    return f"20 newsgroups, tf-idf ({X.shape[0]:,} x {X.shape[1]:,})", X, a["train_y"], X_test, a["test_y"], methods


def _few_features(folder: Path) -> tuple[str, Any, Array, Any, Array, Methods]:
    title, X, y, X_test, y_test, _ = _newsgroups(folder)
    inside = np.flatnonzero(np.char.startswith(newsgroup_parts(folder)[0]["names"], "sci."))
    methods: Methods = {
        f"{name}, {mode}": (model, mode)
        for name, model in (
            ("SBCWClassifier(50, C=10)", SBCWClassifier(50, C=10.0)),
            ("PoolCWClassifier(50, cost=0.5)", PoolCWClassifier(50, cost=0.5)),
            ("AROWClassifier(n_features_to_select=50)", AROWClassifier(n_features_to_select=50)),
        )
        for mode in (("passes", "sums") if hasattr(model, "_round") else ("passes",))
    }
    y, y_test = (np.isin(labels, inside).astype(np.int64) for labels in (y, y_test))
    return title.replace("newsgroups,", "newsgroups, sci.* or not,"), X, y, X_test, y_test, methods


def _accuracy(title: str, X: Any, y: Array, X_test: Any, y_test: Array, methods: Methods, seeds: int) -> Table:
    table = Table(
        f"Error in % on {len(y_test):,} other rows: {title}, {N_SHARDS} shards",
        ["method", "one shard alone", f"{N_SHARDS} shards, one round", f"{N_SHARDS} shards, {N_ROUNDS} rounds",
         "one machine, one pass", f"one machine, {N_ROUNDS} passes"],
        notes=[f"Mean and standard deviation over {seeds} orders of the rows; one shard alone: one pass, mean of two "
               "of them. One machine is one shard with all rows. Sums of L1RDA are one step a round, so one machine's "
               "passes, of a step for each row, stand beside them only for comparison."],
    )  # fmt: skip
    for name, (model, mode) in methods.items():
        errors = []
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            parts = [np.sort(part) for part in np.array_split(order, N_SHARDS)]
            shards = [(X[part], y[part]) for part in map(np.random.default_rng(seed).permutation, parts)]
            whole = [(X[order], y[order])]
            errors.append(list(_errors(model, mode, shards, whole, X_test, y_test)))
        mean, sd = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) if seeds > 1 else np.zeros(5)
        table.rows.append([name, *(f"{m:.2f} ± {s:.2f}" for m, s in zip(mean, sd, strict=True))])
    return table


def _errors(model: Any, mode: str, shards: Any, whole: Any, X_test: Any, y_test: Array) -> Iterator[float]:
    classes = np.unique(y_test)

    def error(rows: Any, n_rounds: int, how: str = "passes") -> float:
        found = distributed.fit(model, rows, n_rounds=n_rounds, mode=how, classes=classes)
        return 100 * float(np.mean(found.predict(X_test) != y_test))

    yield float(np.mean([error([shard], 1) for shard in shards[:2]]))
    yield error(shards, 1, mode)
    yield error(shards, N_ROUNDS, mode)
    yield error(whole, 1)
    yield error(whole, N_ROUNDS)


# --- speed ------------------------------------------------------------------------------------------------------------


def _files(n_rows: int) -> list[Path]:
    def write(k: int) -> Any:
        return lambda path: write_svmlight(path, *text_rows(n_rows, 75, seed=100 + k))

    return [cached_file(f"shard-{n_rows}-{k}.svm", write(k)) for k in range(N_SHARDS)]


def _stacked(parts: list[Any]) -> tuple[Any, Array]:
    return sparse.csr_array(sparse.vstack([X for X, _ in parts])), np.concatenate([y for _, y in parts])


def _throughput(quick: bool) -> Table:
    """One worker and two, in turn, the same files and arrays."""
    from distributed import Client, LocalCluster

    n_rows = 1_000 if quick else 100_000
    files = _files(n_rows)
    parts = [text_rows(n_rows, 75, seed=100 + k) for k in range(N_SHARDS)]
    arrays = [_stacked([parts[(k + i) % N_SHARDS] for i in range(3)]) for k in range(N_SHARDS)]
    n_bytes = sum(file.stat().st_size for file in files)
    in_memory = sum(X.data.nbytes + X.indices.nbytes for X, _ in arrays)
    table = Table(
        f"Two Dask workers over one: AROWClassifier, {N_SHARDS} shards of text",
        ["shards", "rows", "MB", "s a round, one worker", "two workers", "one / two", "target",
         "rows a second, two workers"],
        notes=["Wall time of a round, best of 3 in turn; workers are processes of one thread. Arrays lie in the "
               "workers' memory, files are read and parsed in every round."],
    )  # fmt: skip
    model = AROWClassifier()
    seconds: dict[tuple[str, int], float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clusters = {n: LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) for n in (1, 2)}
        clients = {n: Client(cluster, set_as_default=False) for n, cluster in clusters.items()}
        try:
            for kind, shards in (("files", files), ("arrays", arrays)):
                for _ in range(1 if quick else 3):
                    for n, client in clients.items():
                        found = distributed.fit(model, shards, engine=client, n_rounds=3, classes=[-1.0, 1.0])
                        rounds = [each["seconds"] for each in found.record_["distributed"]["rounds"][1:]]
                        seconds[kind, n] = min(seconds.get((kind, n), np.inf), *rounds)
        finally:
            for client in clients.values():
                client.close()
            for cluster in clusters.values():
                cluster.close()
    for kind, size, rows in (("files", n_bytes, N_SHARDS * n_rows), ("arrays", in_memory, 3 * N_SHARDS * n_rows)):
        one, two = seconds[kind, 1], seconds[kind, 2]
        table.rows.append([
            kind, f"{rows:,}", f"{size / 1e6:,.0f}", f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}", "1.6",
            f"{rows / two:,.0f}",
        ])  # fmt: skip
    return table


def _overhead(quick: bool) -> Table:
    """Rounds over shards of one row each: all that is not learning."""
    table = Table(
        f"Overhead of a round: {N_SHARDS} shards of one row, AROWClassifier",
        ["engine", "weights", "model, MB", "ms a round", "least to most"],
        notes=[
            "Median and range of the nine rounds after the first. Two workers of one thread each; Spark is local[2,4]."
        ],
    )
    for name, engine in _engines(quick):
        for n_features in (100, 100_000) if quick else (100, 100_000, 1_000_000):
            X = np.zeros((1, n_features))
            X[0, 0] = 1.0
            shards = [(X, np.array([k % 2])) for k in range(N_SHARDS)]
            found = distributed.fit(
                AROWClassifier(), shards, engine=engine, n_rounds=4 if quick else 10, classes=[0, 1]
            )
            spent = [each["seconds"] for each in found.record_["distributed"]["rounds"][1:]]
            size = sum(a.nbytes for a in found.state_.arrays.values()) / 1e6
            low, middle, high = (f"{1e3 * value:.0f}" for value in np.quantile(spent, (0, 0.5, 1)))
            table.rows.append([name, f"{n_features:,}", f"{size:.1f}", middle, f"{low} to {high}"])
    return table


def _engines(quick: bool) -> Iterator[tuple[str, Any]]:
    from distributed import Client, LocalCluster

    yield "serial", "serial"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield "Dask", client
    if not quick:
        yield "Spark", "local[2,4]"
