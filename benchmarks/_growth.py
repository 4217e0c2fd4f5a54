"""How cost grows: measured at several sizes, a slope in logarithms, a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

PICTURES = Path(__file__).with_name("pictures")


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The power of the size that the cost grows by: least squares in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def curves(
    name: str,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str = "CPU s",
    log: str = "xy",
) -> str:
    """Draw named curves of sizes and costs as ``pictures/NAME.svg``; returns the name to put into ``Table.picture``."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": name, "svg.fonttype": "none", "font.family": "sans-serif"}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for label, (sizes, costs) in curves.items():
        axes.plot(
            sizes, costs, marker="o", markersize=4, linewidth=2.4 if label.startswith("thresher") else 1.2, label=label
        )
    axes.set(xlabel=x, ylabel=y, xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
    axes.grid(alpha=0.3, which="both", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    return name
