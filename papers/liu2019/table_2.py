"""Liu et al. (2019), Table 2: ASCW with the hinge loss on news20, with batches of 256, 64 and 1 rows.

Each batch chooses 50 features. Those that an earlier batch chose and this one does not can be dropped, so that the
model has 50 features at most, or kept, so that it has ever more; the paper does not say. Both are shown. The messages
are those of the archive by date, tf-idf of all words; the paper has another split of the same groups. Batches of one
row (``--batches 1``) take many times as long as all else, as in the paper, and are not among the defaults.
"""

from __future__ import annotations

from typing import Any

from thresher.compare import Comparison, compare
from thresher.confidence import ASCWClassifier

from .._report import Options, show, spent
from ._news import MEASURES, RATIOS, cell, news

MINUTES = 1
PUBLISHED = {
    "1:5": {256: (0.5614, 0.8474, 0.6011), 64: (0.5640, 0.8536, 0.6163), 1: (0.9125, 0.9922, 0.9769)},
    "1:10": {256: (0.4239, 0.8114, 0.4306), 64: (0.4275, 0.8096, 0.4309), 1: (0.8549, 0.9872, 0.9479)},
    "1:19": {256: (0.3349, 0.8223, 0.3126), 64: (0.3031, 0.7952, 0.2867), 1: (0.8080, 0.9796, 0.9068)},
}


def learner(batch_size: int, keep: bool) -> Any:
    printed = {"cost": None, "fit_intercept": False, "refit": False}
    return ASCWClassifier(50, loss="hinge", batch_size=batch_size, keep=keep, shuffle=False, **printed)


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--orders", type=int, default=2, help="orders of the rows (default: 2)")
    parser.add_argument("--ratios", nargs="+", default=["1:5"], choices=list(RATIOS), help="default: 1:5")
    parser.add_argument("--batches", nargs="+", type=int, default=[256, 64], choices=[256, 64, 1])
    given = parser.parse_args()
    rows = []
    for ratio in given.ratios:
        held = news(ratio)
        learners = {(n, keep): learner(n, keep) for n in given.batches for keep in (False, True)}
        runs = compare(
            {str(key): model for key, model in learners.items()},
            held.X,
            held.y,
            scoring=MEASURES,
            vary="orders",
            X_test=held.X_test,
            y_test=held.y_test,
            repeats=given.orders,
            random_state=0,
        )
        rows += [_row(ratio, n, keep, runs) for n, keep in learners]
    measured = [each for name in MEASURES for each in (name, "published")]
    columns = ("ratio", "batch", "others are", *measured, "features", "seconds")
    show(f"{held.title}: {runs.about} (at {ratio})", columns, rows, held.note, spent())


def _row(ratio: str, n: int, keep: bool, runs: Comparison) -> list[str]:
    name = str((n, keep))
    cells = []
    for measure, told in zip(MEASURES, PUBLISHED[ratio][n], strict=True):
        cells += [cell(runs, measure, name), f"{told:.3f}"]
    sizes = [f"{runs.mean('features')[name]:,.0f}", f"{runs.mean('seconds')[name]:.2f}"]
    return [ratio, str(n), "kept" if keep else "dropped", *cells, *sizes]


if __name__ == "__main__":
    main()
