"""The figure and the tables of kernel-clustering.md: curved clusters, and how many clusters the line fit finds.

From the root of the project: ``python docs/figures/kernel_clustering.py``.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.stats import t as t_quantile
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from thresher.cluster import KernelSpectralClustering

mpl.use("Agg")
mpl.rcParams |= {"font.size": 9, "axes.titlesize": 9}

import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ("#3b6fb6", "#d9822b", "#4c9a5b", "#8a5aa8")
GREY = "#5a5a5a"
COUNTS = range(2, 9)


def draw(axes, X, k: int, gamma: float, title: str) -> None:
    """Rows that were learned, and the clusters of the whole plane."""
    model = KernelSpectralClustering(k, gamma=gamma).fit(X)
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200)
    grid = np.array(np.meshgrid(across, up)).reshape(2, -1).T
    regions = model.predict(grid).reshape(200, 200)
    levels = np.arange(k + 1) - 0.5
    axes.contourf(across, up, regions, levels=levels, colors=COLOURS[:k], alpha=0.2)
    for c in range(k):
        axes.plot(*X[model.labels_ == c].T, ".", color=COLOURS[c], markersize=3)
    axes.set(title=title, xticks=[], yticks=[])


def blobs(k: int, seed: int, draw: int, n_features: int = 2, spread: float = 0.7):
    centres = np.random.default_rng(seed).uniform(-8, 8, (k, n_features))
    return make_blobs(60 * k, centers=centres, cluster_std=spread, random_state=10 * seed + draw)


def fits(X, new, gamma: float, **how) -> list[float]:
    return [KernelSpectralClustering(k, gamma=gamma).fit(X).line_fit(new, **how) for k in COUNTS]


def curves(axes) -> None:
    for k, colour in ((2, COLOURS[0]), (3, COLOURS[1]), (5, COLOURS[3])):
        X, new = (blobs(k, 4, part, n_features=10, spread=2.0)[0] for part in (0, 1))
        axes.plot(COUNTS, fits(X, new, 0.01), "o-", color=colour, markersize=4, label=f"{k} blobs")
        axes.axvline(k, color=colour, linewidth=0.8, linestyle=":")
    axes.set(title="line fit of rows held out", xlabel="n_clusters", xticks=list(COUNTS), ylim=(0, 1.03))
    axes.legend(frameon=False)


PROBLEMS = {
    "2 blobs": (lambda seed, part: blobs(2, seed, part), 2),
    "3 blobs": (lambda seed, part: blobs(3, seed, part), 3),
    "4 blobs": (lambda seed, part: blobs(4, seed, part), 4),
    "6 blobs": (lambda seed, part: blobs(6, seed, part), 6),
    "5 blobs, 10 features": (lambda seed, part: blobs(5, seed, part, 10, 2.5), 5),
    "moons": (lambda seed, part: make_moons(300, noise=0.06, random_state=10 * seed + part), 2),
    "rings, 150 and 250 rows": (
        lambda seed, part: make_circles((150, 250), noise=0.04, factor=0.4, random_state=10 * seed + part),
        2,
    ),
    "rings, 60 and 340 rows": (
        lambda seed, part: make_circles((60, 340), noise=0.04, factor=0.4, random_state=10 * seed + part),
        2,
    ),
}
CRITERIA = {
    "through the origin, balance 0.1 (default)": {},
    "through the origin, balance 0.5": {"balance_weight": 0.5},
    "through the mean, balance 0.1": {"through": "mean"},
    "through the mean, balance 0.5": {"through": "mean", "balance_weight": 0.5},
}


def half_widths(draws) -> np.ndarray:
    """Of 95 % intervals of the means over draws, by Student's t."""
    n = len(draws)
    return t_quantile.ppf(0.975, n - 1) * np.std(draws, axis=0, ddof=1) / np.sqrt(n)


def choices(n_draws: int = 6) -> None:
    """How often the true number is chosen, with the width, and the mean adjusted Rand index of new rows then."""
    print("### numbers of clusters\n\n| | " + " | ".join(CRITERIA) + " |")
    print("| --- |" + " --- |" * len(CRITERIA))
    for name, (make, k) in PROBLEMS.items():
        chosen: dict[str, list[tuple[bool, float]]] = {how: [] for how in CRITERIA}
        for seed in range(n_draws):
            X, new, (other, truth) = make(seed, 0)[0], make(seed, 1)[0], make(seed, 2)
            widths = np.logspace(-1, 2, 10) / (X.shape[1] * X.var())
            models = [KernelSpectralClustering(n, gamma=g).fit(X) for g in widths for n in COUNTS]
            for how, options in CRITERIA.items():
                best = max(models, key=lambda model, options=options: model.line_fit(new, **options))
                chosen[how].append((best.n_clusters == k, adjusted_rand_score(truth, best.predict(other))))
        means = [(np.mean(found, axis=0).round(2) + 0.0, half_widths(found)[1]) for found in chosen.values()]
        cells = (f"{right:.2f} / {rand:.2f} ± {width:.2f}" for (right, rand), width in means)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def decoded(n_draws: int = 10) -> None:
    """Mean adjusted Rand index by both kinds of decoding, and by K-means on eigenvectors, for two widths."""
    names = [f"{how}, {width}" for width in (2, 10) for how in ("hamming", "margin", "scikit-learn")]
    print("\n### decoding\n\n| | " + " | ".join(names) + " |\n| --- |" + " ---: |" * len(names))
    for k in (3, 5, 8):
        found = []
        for seed in range(n_draws):
            X, y = blobs(k, seed, 0)
            each = [
                model.set_params(gamma=width / X.var()).fit(X).labels_
                for width in (2, 10)
                for model in (
                    KernelSpectralClustering(k, decoding="hamming"),
                    KernelSpectralClustering(k, decoding="margin"),
                    SpectralClustering(k, random_state=0),
                )
            ]
            found.append([adjusted_rand_score(y, labels) for labels in each])
        means, widths = np.mean(found, axis=0), half_widths(found)
        cells = (f"{mean:.3f} ± {width:.3f}" for mean, width in zip(means, widths, strict=True))
        print(f"| {k} blobs | " + " | ".join(cells) + " |")


def seconds() -> None:
    """CPU time of a fit, over the one of all eigenvectors at once for 2000 rows."""

    def spent(n: int, **how) -> float:
        X, _ = make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)
        begin = time.process_time()
        KernelSpectralClustering(4, gamma=0.05, **how).fit(X)
        return time.process_time() - begin

    print("\n### seconds\n")
    spent(500)  # for what is done once
    unit = spent(2000, eigen_solver="dense")
    for name, sizes, how in (
        ('eigen_solver="dense"', (2000, 4000), {"eigen_solver": "dense"}),
        ('eigen_solver="lanczos"', (2000, 4000, 8000), {"eigen_solver": "lanczos"}),
        ("the same, cache_size=20", (4000, 8000), {"eigen_solver": "lanczos", "cache_size": 20}),
        ('n_components="sqrt"', (8000, 100_000), {"n_components": "sqrt", "random_state": 0}),
    ):
        print(f"{name:26}", *(f"{n} rows: {spent(n, **how) / unit:.2f}" for n in sizes), sep="   ", flush=True)


def main() -> None:
    figure, panels = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    rings, _ = make_circles((120, 280), factor=0.4, noise=0.05, random_state=0)
    moons, _ = make_moons((150, 250), noise=0.06, random_state=0)
    draw(panels[0], rings, 2, 20.0, "rings of 120 and 280 rows")
    draw(panels[1], moons, 2, 20.0, "moons of 150 and 250 rows")
    curves(panels[2])
    figure.savefig(Path(__file__).with_name("kernel_clustering.png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main()
    choices()
    decoded()
    seconds()
