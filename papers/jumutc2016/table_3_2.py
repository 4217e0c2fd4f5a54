"""Jumutc (2016), Table 3.2: does the pinball loss learn better than the hinge loss from wrong labels?

The toy of Figure 3.1: two normal classes in the plane, 10,000 rows, half of them to test, 5, 15 and 35 % of all labels
turned around. The least error that any rule can have is known and printed. Two published errors lie below it; they
are possible if rows to turn around were drawn with replacement, some of them twice, so both ways are shown. Pegasos
learns straight lines, which are best here (the thesis has a map of the Gaussian kernel before it), by 200 steps of 500
rows, a tenth of the training half; alpha is tuned by five folds. The second table has an alpha that is too small for so
few steps, to see which loss bears it.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm
from sklearn.model_selection import GridSearchCV, KFold

from thresher.datasets import make_flipped_gaussians
from thresher.stochastic import PegasosClassifier

from .._report import Options, cell, show, spent

MINUTES = 1
N_ROWS, N_STEPS, N_BATCH = 10_000, 200, 500
FLIPS = (0.05, 0.15, 0.35)
LOSSES = {"hinge": 0.0, "pinball, tau = 0.1": 0.1, "tau = 0.5": 0.5, "tau = 1": 1.0}
PUBLISHED = {  # errors in %, in the order of LOSSES
    0.05: (8.262, 6.908, 6.926, 7.446),
    0.15: (18.753, 15.843, 16.141, 16.538),
    0.35: (36.094, 31.829, 32.335, 31.571),
}
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
SMALL_ALPHA = 1e-3


def least_error(flips: float, with_replacement: bool) -> float:
    """In %: that of the best rule, whose lines are half of sqrt(17) deviations from the centres."""
    wrong = 1 - np.exp(-flips) if with_replacement else flips
    return 100 * float(wrong + (1 - 2 * wrong) * norm.cdf(-np.sqrt(17) / 2))


def error(tau: float, flips: float, with_replacement: bool, seed: int, tuned: bool) -> float:
    """In %, on the half that was not learned from."""
    X, y = make_flipped_gaussians(N_ROWS, flips=flips, with_replacement=with_replacement, random_state=seed)
    half = N_ROWS // 2
    model = PegasosClassifier(
        SMALL_ALPHA,
        loss="pinball",
        tau=tau,
        n_steps=N_STEPS,
        batch_size=N_BATCH,
        intercept_scaling=1.0,
        random_state=seed,
    )
    if tuned:
        model = GridSearchCV(model, {"alpha": ALPHAS}, cv=KFold(5, shuffle=True, random_state=seed))
    return 100 * (1 - model.fit(X[:half], y[:half]).score(X[half:], y[half:]))


def table(n_runs: int, tuned: bool) -> list[list[str]]:
    """A row for each share of wrong labels and way to draw them."""
    rows = []
    for with_replacement in (False, True):
        for flips in FLIPS:
            cells = []
            for (_, tau), theirs in zip(LOSSES.items(), PUBLISHED[flips], strict=True):
                ours = [error(tau, flips, with_replacement, seed, tuned) for seed in range(n_runs)]
                cells.append(cell(ours, theirs if tuned else None))
            drawn = "with replacement" if with_replacement else "exactly"
            rows.append([f"{100 * flips:.0f} % turned, {drawn}", f"{least_error(flips, with_replacement):.1f}", *cells])
    return rows


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="draws; the thesis has 50")
    n_runs = parser.parse_args().repeats
    columns = ["", "least", *LOSSES]
    title = "Error in %: ours +- standard deviation over draws"
    show(f"{title} (published)", columns, table(n_runs, tuned=True))
    show(
        f"{title}, alpha = {SMALL_ALPHA:g}",
        columns,
        table(n_runs, tuned=False),
        f"{n_runs} draws of {N_ROWS} rows, {N_STEPS} steps of {N_BATCH} rows. {spent()}",
    )


if __name__ == "__main__":
    main()
