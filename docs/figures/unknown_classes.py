"""The figure and the table of unknown-classes.md: supervised novelty detection against a one-class machine.

From the root of the project: ``python docs/figures/unknown_classes.py``. All have met the same rows and have the same
width of the kernel.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from thresher.datasets import make_novelty
from thresher.kernels import FixedSizeNystroem
from thresher.metrics import detection_rate, rejection_rate
from thresher.novelty import LSSNDClassifier, PegasosSNDClassifier, SNDClassifier

mpl.use("Agg")
mpl.rcParams |= {"font.size": 9, "axes.titlesize": 9}

import matplotlib.pyplot as plt  # noqa: E402

NU = 0.05
WIDTHS = {"blobs": 4.0, "moons": 15.0, "rings": 5.0}
COLOURS = ("#3b6fb6", "#d9822b")
GREY = "#5a5a5a"


def draw(axes, model, X, y, title: str) -> None:
    ticks = np.linspace(-1.05, 1.05, 150)
    grid = np.array(np.meshgrid(ticks, ticks)).reshape(2, -1).T
    if isinstance(model, SNDClassifier):
        predicted, scores = model.predict(X), model.class_scores(grid)
        winner = scores.argmax(axis=1)
        for k, colour in enumerate(COLOURS):
            inside = np.where(winner == k, scores[:, k], np.minimum(scores[:, k], 0)).reshape(150, 150)
            axes.contourf(ticks, ticks, inside, levels=[0, np.inf], colors=[colour], alpha=0.25)
            axes.contour(ticks, ticks, inside, levels=[0], colors=[colour], linewidths=1)
    else:
        predicted = np.where(model.predict(X) == 1, 0, -1)
        inside = model.decision_function(grid).reshape(150, 150)
        axes.contourf(ticks, ticks, inside, levels=[0, np.inf], colors=["0.6"], alpha=0.35)
        axes.contour(ticks, ticks, inside, levels=[0], colors=[GREY], linewidths=1)
    for k, colour in enumerate(COLOURS):
        axes.plot(*X[y == k].T, ".", color=colour, markersize=3)
    axes.plot(*X[y == -1].T, "x", color="black", markersize=3.5, markeredgewidth=0.8)
    found, lost = detection_rate(y, predicted), rejection_rate(y, predicted)
    axes.set_title(f"{title}\noutliers found {found:.0%}, others rejected {lost:.0%}")
    axes.set(xticks=[], yticks=[], xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")


def models(width: float) -> dict[str, object]:
    mapped = FixedSizeNystroem(gamma=width, n_components=100, random_state=0)
    return {
        "SNDClassifier": SNDClassifier(NU, gamma=width),
        "LSSNDClassifier": LSSNDClassifier(nu=NU, gamma=width),
        "PegasosSNDClassifier": make_pipeline(mapped, PegasosSNDClassifier(1e-3, max_iter=20, random_state=0)),
        "One-Class SVM": OneClassSVM(nu=NU, gamma=width),
    }


def rates(kind: str, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Outliers found and others rejected, by models that have met outliers and by such that have not."""
    X, y = make_novelty(700, kind=kind, random_state=seed)
    learned, known = np.arange(700) < 400, y != -1
    found = {}
    for met, rows in (("unknown", learned & known), ("given", learned)):
        for name, model in models(WIDTHS[kind]).items():
            predicted = model.fit(X[rows], y[rows]).predict(X[400:])
            if name == "One-Class SVM":
                predicted = np.where(predicted == 1, 0, -1)
            found[name, met] = detection_rate(y[400:], predicted), rejection_rate(y[400:], predicted)
    return found


def interval(shares: np.ndarray) -> str:
    """The mean in %, and half of its 95 % interval, on one line."""
    half = stats.t.ppf(0.975, len(shares) - 1) * np.std(shares, ddof=1) / np.sqrt(len(shares))
    return f"{100 * np.mean(shares):.1f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{100 * half:.1f}"


def table(n_draws: int = 20) -> None:
    """Means over draws, in %, with 95 % intervals."""
    cells = {kind: [rates(kind, seed) for seed in range(n_draws)] for kind in WIDTHS}
    print("### rates\n\n| | " + " | ".join(cells) + " |\n| --- |" + " ---: |" * len(cells))
    for met, told in (("unknown", "no outliers to learn from"), ("given", "60 outliers among the rows")):
        print(f"| **{told}** |" + " |" * len(cells))
        for name in models(1.0):
            drawn = [np.array([draw[name, met] for draw in draws]).T for draws in cells.values()]
            shown = " | ".join(f"{interval(found)} / {interval(lost)}" for found, lost in drawn)
            print(f"| {name if ' ' in name else f'`{name}`'} | {shown} |")


def main() -> None:
    figure, panels = plt.subplots(2, 3, figsize=(9, 6.6), layout="constrained")
    for column, (kind, width) in zip(panels.T, WIDTHS.items(), strict=True):
        X, y = make_novelty(700, kind=kind, random_state=0)
        known = np.flatnonzero(y[:400] != -1)
        snd = SNDClassifier(NU, gamma=width).fit(X[known], y[known])
        one = OneClassSVM(nu=NU, gamma=width).fit(X[known])
        for axes, model, name in zip(column, (snd, one), ("SND", "One-Class SVM"), strict=True):
            draw(axes, model, X[400:], y[400:], f"{name}, {kind}")
    figure.savefig(Path(__file__).with_name("unknown_classes.png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
    table()
