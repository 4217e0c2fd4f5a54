"""Jumutc (2016), Table 4.6: clusters beside the classes of Magic and Shuttle; and the 15 clusters of S1.

K-means is ``SparseKMeans(alpha=0)``, from random rows and by k-means++. The l1 penalty and the push of other clusters'
rows (``C_others`` of the planes) are taken from the thesis' grid of 0.01, 0.1, 1, 10 and 100; it reports the mean over
the grid and the best cell of it, by the very labels that clusters are compared with. Columns are standardised; centres
move until nothing changes, planes 20 times. The thesis' table of data sets says 2 clusters for Shuttle; its figures are
those of 7.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.preprocessing import StandardScaler

from thresher.cluster import ProximalPlaneClustering, SparseKMeans
from thresher.metrics import variation_of_information

from .._data import Rows, load
from .._report import Options, cell, show, spent

MINUTES = 2
GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
MEASURES = ("VI", "Rand", "ARI")
PUBLISHED = {  # VI, Rand index and adjusted Rand index: averages, then the best
    "magic": {
        "K-means, random rows": ((1.322, 0.505, 0.006), (1.322, 0.505, 0.007)),
        "K-means": ((1.322, 0.505, 0.006), (1.322, 0.505, 0.007)),
        "l1": ((1.302, 0.511, 0.017), (1.077, 0.588, 0.154)),
        "planes": ((1.234, 0.512, 0.009), (0.728, 0.545, 0.075)),
    },
    "shuttle": {
        "K-means, random rows": ((1.477, 0.538, 0.206), (1.183, 0.648, 0.359)),
        "K-means": ((1.477, 0.538, 0.206), (1.183, 0.648, 0.359)),
        "l1": ((1.325, 0.581, 0.212), (0.668, 0.709, 0.440)),
        "planes": ((1.491, 0.558, 0.125), (0.800, 0.684, 0.401)),
    },
}
N_CLUSTERS = {"magic": 2, "shuttle": 7}


def models(method: str, n_clusters: int, seed: int) -> list[Any]:
    """One model for each value of the grid."""
    common: dict[str, Any] = {"n_clusters": n_clusters, "n_init": 1, "random_state": seed}
    if method == "planes":
        return [ProximalPlaneClustering(C_others=value, max_iter=20, **common) for value in GRID]
    if method == "K-means, random rows":
        return [SparseKMeans(init="random", max_iter=300, tol=0, **common)]
    return [SparseKMeans(alpha=value, max_iter=300, tol=0, **common) for value in (GRID if method == "l1" else (0.0,))]


def measured(X: np.ndarray, y: np.ndarray, model: Any) -> tuple[float, float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clusters without rows, a push that cannot be borne: what a grid is like
        found = model.fit(X).labels_
    return variation_of_information(y, found), rand_score(y, found), adjusted_rand_score(y, found)


def shown(name: str, rows: Rows, n_seeds: int) -> None:
    X, y = rows.all()
    X = StandardScaler().fit_transform(X)
    averages, bests = [], []
    for method, (published, published_best) in PUBLISHED[name].items():
        runs = [[measured(X, y, m) for m in models(method, N_CLUSTERS[name], seed)] for seed in range(n_seeds)]
        ours = np.array(runs)  # seeds, values of the grid, measures
        means, every = ours.mean(axis=1), ours.reshape(-1, 3)
        best = (every[:, 0].min(), every[:, 1].max(), every[:, 2].max())
        averages.append([method, *(cell(means[:, k], published[k], 4) for k in range(3))])
        bests.append(
            [method, *(f"{value:.3f} ({theirs:.3f})" for value, theirs in zip(best, published_best, strict=True))]
        )
    classes = np.unique(y, return_counts=True)[1]
    entropy = -np.sum(classes / len(y) * np.log(classes / len(y)))
    show(
        f"{rows.title}, {N_CLUSTERS[name]} clusters: mean over the grid, ours +- deviation over seeds (published)",
        ["", *MEASURES],
        averages,
    )
    show(
        f"{rows.title}: best cell of all runs (published)",
        ["", *MEASURES],
        bests,
        f"One cluster of all rows: VI {entropy:.3f}, ARI 0.",
        rows.note,
    )


def s1(rows: Rows, n_seeds: int) -> None:
    X, y = StandardScaler().fit_transform(rows.X), rows.y
    true = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    cells = []
    for n_init in (1, 10):
        found = [SparseKMeans(15, n_init=n_init, random_state=seed).fit(X) for seed in range(n_seeds)]
        nearest = [np.linalg.norm(true[:, None] - m.cluster_centers_, axis=2).argmin(axis=1) for m in found]
        matched = [len(np.unique(places)) for places in nearest]
        agreed = [adjusted_rand_score(y, m.labels_) for m in found]
        cells.append([f"n_init={n_init}", cell(agreed, None, 4), f"{np.mean(matched):.1f} of {len(true)}"])
    show(
        f"{rows.title}, K-means with 15 clusters",
        ["", "ARI", "true centres with a centre of their own"],
        cells,
        rows.note,
    )


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="runs; the thesis has 20")
    asked = parser.parse_args()
    for name in PUBLISHED:
        shown(name, load(name), asked.seeds)
    s1(load("s1"), asked.seeds)
    print(f"{asked.seeds} seeds. {spent()}")


if __name__ == "__main__":
    main()
