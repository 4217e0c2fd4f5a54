"""Yang (2011), Figure 6.3: accuracy and kernels in use as v goes from the L2 norm (0) to the L1 norm (1).

The toys, kernels, C and the end of searches are those of table_6_4. The figure is a picture without numbers; the text
says that accuracy is best at v = 0.4 on toy 1 and at 0.6 on toy 2, and that the number of kernels falls as v grows.
Table 6.4 has the figures of v = 0, 0.5 and 1, which are printed in brackets.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel

from thresher.datasets import make_additive
from thresher.mkl import GMKLClassifier, LpMKLClassifier

from .._report import Options, cell, show, spent
from .table_6_4 import PUBLISHED

MINUTES = 2
C = 100.0
V = tuple(k / 10 for k in range(11))
IN_TABLE_6_4 = {0.0: 2, 0.5: 0, 1.0: 1}  # places in PUBLISHED
BEST = {1: 0.4, 2: 0.6}


def one_run(v: float, example: int, seed: int) -> tuple[float, float]:
    """Accuracy in % and kernels in use."""
    X, y = make_additive(300, example=example, random_state=seed)
    model = LpMKLClassifier(p=2.0, C=C, tol=1e-2) if v == 0 else GMKLClassifier(v=v, C=C, tol=1e-2)
    model.fit(X[:150], y[:150])
    return 100 * model.score(X[150:], y[150:]), float(np.sum(model.weights_ > 1e-5))


def said_of(example: int, accuracy: np.ndarray, used: np.ndarray) -> list[str]:
    """Where accuracy is best, whether v = 0.5 is better than the ends, and whether kernels become fewer."""
    best, published = int(accuracy.mean(axis=1).argmax()), V.index(BEST[example])
    leads = (
        f"{np.mean(accuracy[5] - accuracy[k]):+.1f} points from v = {V[k]:g} "
        f"(p = {ttest_rel(accuracy[5], accuracy[k]).pvalue:.2g})"
        for k in (10, 0)
    )
    falls = "falls" if np.all(np.diff(used.mean(axis=1)) <= 0) else "does not always fall"
    return [
        f"Toy {example}: best at v = {V[best]:g}, {accuracy[best].mean():.1f} %; published at {BEST[example]:g}, "
        f"which has {accuracy[published].mean():.1f} % here.",
        f"By a paired t-test, v = 0.5 is {' and '.join(leads)}. The number of kernels {falls} as v grows.",
    ]


def draw(found: dict[int, np.ndarray], path: Path) -> None:
    """Means over draws, and a band of their standard errors."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": path.stem, "svg.fonttype": "none", "font.family": "sans-serif"}
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for (example, runs), colour in zip(found.items(), ("#0072B2", "#D55E00"), strict=True):
        means, errors = runs.mean(axis=1), runs.std(axis=1) / np.sqrt(runs.shape[1])
        for k, axis in enumerate(axes):
            axis.plot(V, means[:, k], "o-", color=colour, label=f"toy {example}")
            axis.fill_between(V, means[:, k] - errors[:, k], means[:, k] + errors[:, k], color=colour, alpha=0.2)
    for axis, label in zip(axes, ("accuracy in %", "kernels in use"), strict=True):
        axis.set(xlabel="v", ylabel=label)
    axes[1].set_yscale("log")
    axes[1].set_yticks([25, 50, 100, 200], ["25", "50", "100", "200"])
    axes[1].minorticks_off()
    axes[0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="draws of each toy (20, as published)")
    given = parser.parse_args()
    found, notes = {}, []
    for example in PUBLISHED:
        found[example] = np.array([[one_run(v, example, seed) for seed in range(given.repeats)] for v in V])
        notes += said_of(example, *found[example].transpose(2, 0, 1))
        print(f"toy {example}: {spent()}", file=sys.stderr)
    rows = []
    for k, v in enumerate(V):
        row = [f"v = {v:g}"]
        for example, published in PUBLISHED.items():
            told = published[IN_TABLE_6_4[v]] if v in IN_TABLE_6_4 else (None,) * 4
            row += [cell(found[example][k, :, 0], told[0]), cell(found[example][k, :, 1], told[2])]
        rows.append(row)
    columns = ["", *(f"toy {example}, {what}" for example in PUBLISHED for what in ("accuracy in %", "kernels"))]
    show(
        "Ours +- standard deviation over draws (published in Table 6.4)",
        columns,
        rows,
        *notes,
        f"C = {C:g}, {given.repeats} draws of each toy. {spent()}",
    )
    if given.picture is not None:
        draw(found, given.picture)


if __name__ == "__main__":
    main()
