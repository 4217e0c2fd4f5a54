"""The picture of README.md: that of examples/plot_sparse_text_stream.py, kept as SVG, and the figures beside it.

From the root of the project: ``python docs/figures/front_page.py``.
"""

from __future__ import annotations

import runpy
import statistics
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams |= {"svg.fonttype": "path", "svg.hashsalt": "thresher", "figure.facecolor": "white"}

import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).parents[2]

if __name__ == "__main__":
    plt.show = lambda: plt.savefig(Path(__file__).with_name("front_page.svg"), metadata={"Date": None})
    found = runpy.run_path(str(ROOT / "examples" / "plot_sparse_text_stream.py"))
    print("\n### weights needed\n")
    print(
        f"| learner | weights, median of {found['N_STREAMS']} streams | fewest | most |\n| --- | ---: | ---: | ---: |"
    )
    for name in found["looks"]:
        needed = [found["n_needed"](points, name) for points in found["streams"]]
        learner, _, note = name.partition(",")
        row = (f"`{learner}`{',' * bool(note)}{note}", statistics.median(needed), min(needed), max(needed))
        print("| {} | {:,} | {:,} | {:,} |".format(*row))
