"""The figure of additive-models.md: the curves of an additive model beside the truth that its rows were made by.

From the root of the project: ``python docs/figures/additive_models.py``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from thresher.inspection import column_curves
from thresher.online import AROWClassifier
from thresher.preprocessing import prepared
from thresher.streams import Table, Text

mpl.use("Agg")
mpl.rcParams |= {"font.size": 9, "axes.titlesize": 9, "svg.hashsalt": "thresher", "svg.fonttype": "path"}

import matplotlib.pyplot as plt  # noqa: E402

BLUE, GREY = "#3b6fb6", "#5a5a5a"
TRUTH = {
    "age": lambda values: 1 - ((values - 48) / 14) ** 2,
    "hours": lambda values: 0.05 * (values - 40),
    "job": lambda values: np.array([float(value == "nurse") for value in values]),
}


def people(n: int) -> tuple[Table, np.ndarray]:
    rng = np.random.default_rng(0)
    age, hours, job = rng.integers(18, 80, n), rng.normal(40, 10, n), rng.choice(["clerk", "cook", "nurse"], n)
    buys = TRUTH["age"](age) + TRUTH["hours"](hours) + TRUTH["job"](job) > 0.2
    return Table(["age", "hours", "job"], np.column_stack([age, hours]), {"job": Text.from_list(job.tolist())}), buys


def main() -> None:
    rows, buys = people(2000)
    model = prepared(AROWClassifier(random_state=0), rows, splines=True).fit(rows, buys)
    curves = {curve.name: curve for curve in column_curves(model, rows)}
    # the truth is known up to the unit of the score: one factor for all columns, and a constant for each
    parts = np.concatenate([curve.parts[0] - curve.parts[0].mean() for curve in curves.values()])
    truths = {name: TRUTH[name](curve.values) for name, curve in curves.items()}
    truth = np.concatenate([values - values.mean() for values in truths.values()])
    factor = float(parts @ truth / (truth @ truth))
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
    for place, (name, curve) in zip(axes, curves.items(), strict=True):
        known = factor * (truths[name] - truths[name].mean()) + curve.parts[0].mean()
        if isinstance(curve.values, list):
            place.bar(curve.values, curve.parts[0], color=BLUE, width=0.5)
            place.plot(curve.values, known, "_", color=GREY, markersize=30)
        else:
            place.plot(curve.values, known, "--", color=GREY, linewidth=1, label="truth")
            place.plot(curve.values, curve.parts[0], color=BLUE, label="model")
            place.plot(curve.quantiles, np.full(11, place.get_ylim()[0]), "|", color=GREY)
        place.axhline(0, color=GREY, linewidth=0.5)
        place.set_title(name)
        place.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("part of the score")
    next(place for place in axes if place.get_legend_handles_labels()[0]).legend(frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
