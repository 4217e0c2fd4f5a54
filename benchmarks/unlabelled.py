"""Rows without labels, as many as there are: kernel methods by landmarks, and by all rows where these are few."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from thresher.cluster import KernelSpectralClustering
from thresher.semi_supervised import BiSemiKSC, LapSVC, SemiKSC

from ._measure import memory_mb
from ._report import Table

N_LABELS, N_FEATURES = 100, 20


def run(quick: bool) -> list[Table]:
    few, many = ((200, 400), (1_000, 2_000)) if quick else ((1_500, 3_000), (25_000, 50_000, 100_000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_table("All rows", few, None), _table('Landmarks, n_components="sqrt"', many, "sqrt")]


def _table(title: str, sizes: tuple[int, ...], n_components: Any) -> Table:
    table = Table(
        f"{title}: {N_FEATURES} columns, 4 clusters, {N_LABELS} labels",
        ["rows", "method", "CPU s", "right on unlabelled rows, %", "peak MB so far"],
        notes=["One fit each. Clusters count as the class of most of their rows."],
    )
    methods = {
        "KernelSpectralClustering": KernelSpectralClustering(4),
        "SemiKSC": SemiKSC(),
        "BiSemiKSC": BiSemiKSC(),
        "LapSVC, dual": LapSVC(),
        "LapSVC, primal": LapSVC(solver="primal"),
    }
    for n_rows in sizes:
        X, truth = make_blobs(n_rows, N_FEATURES, centers=4, cluster_std=3.0, center_box=(-4, 4), random_state=0)
        y = np.where(np.arange(n_rows) < N_LABELS, truth, -1)
        for name, model in methods.items():
            model.set_params(n_components=n_components, random_state=0)
            begin = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - begin
            found = model.transduction_ if hasattr(model, "transduction_") else _named(model.labels_, truth)
            right = np.mean(found[N_LABELS:] == truth[N_LABELS:])
            table.rows.append(
                [f"{n_rows:,}", name, f"{seconds:.2f}", f"{100 * right:.1f}", f"{memory_mb('VmHWM'):,.0f}"]
            )
    return table


def _named(clusters: Any, truth: Any) -> Any:
    names = np.array([np.bincount(truth[clusters == c]).argmax() for c in range(clusters.max() + 1)])
    return names[clusters]
