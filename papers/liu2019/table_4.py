"""Liu et al. (2019), Table 4, news20: how far the cost that ASCW chooses is from the best one.

ASCW trains a model for each cost of the positive class, 0.55, 0.60, ..., 0.95, and predicts with the one whose
progressive measure is largest so far. The best cost is the one with the largest measure over all rows; the estimate is
the mean of the costs chosen after the last 20 batches. The table has the mean of their distance over several orders of
the rows, for each measure. At 1:5 our training rows fill only 13 batches, and the mean is over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.confidence import ASCWClassifier

from .._data import Rows
from .._report import Options, cell, show, spent
from ._news import BATCHES, MEASURES, N_FEATURES, RATIOS, news

MINUTES = 1
N_LAST = 20  # batches
LOSSES = {"ASCW1": "hinge", "ASCW2": "squared_hinge"}
PUBLISHED = {  # F, AUROC, AUPRC
    ("1:5", "ASCW1"): (0.0073, 0.0058, 0.0140),
    ("1:5", "ASCW2"): (0.0198, 0.0020, 0.0103),
    ("1:10", "ASCW1"): (0.0006, 0.0017, 0.0119),
    ("1:10", "ASCW2"): (0.0033, 0.0069, 0.0233),
    ("1:19", "ASCW1"): (0.0069, 0.0024, 0.0089),
    ("1:19", "ASCW2"): (0.0107, 0.0019, 0.0148),
}


def cost_error(costs: NDArray[np.float64], measures: NDArray[np.float64], history: NDArray[np.float64]) -> float:
    """The distance of the best cost from the mean of those chosen after the last batches."""
    return float(abs(costs[np.argmax(measures)] - history[-N_LAST:].mean()))


def errors(rows: Rows, loss: str, measure: str, orders: int) -> list[float]:
    found = []
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(rows.y))
        model = ASCWClassifier(N_FEATURES, loss=loss, measure=measure, **BATCHES).fit(rows.X[order], rows.y[order])
        found.append(cost_error(model.costs_, model.measures_, model.cost_history_))
    return found


def row(ratio: str, name: str, found: Sequence[list[float]]) -> list[str]:
    return [ratio, name, *(cell(ours, told, 4) for ours, told in zip(found, PUBLISHED[ratio, name], strict=True))]


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--orders", type=int, default=2, help="orders of the rows (default: 2; the paper has 20)")
    parser.add_argument("--ratios", nargs="+", default=["1:10"], choices=list(RATIOS), help="default: 1:10")
    given = parser.parse_args()
    table = []
    for ratio in given.ratios:
        held = news(ratio)
        for name, loss in LOSSES.items():
            table.append(row(ratio, name, [errors(held, loss, measure, given.orders) for measure in MEASURES.values()]))
    title = f"{held.title}: distance of the chosen cost from the best, {given.orders} orders (published)"
    show(title, ["ratio", "", *MEASURES], table, held.note, spent())


if __name__ == "__main__":
    main()
