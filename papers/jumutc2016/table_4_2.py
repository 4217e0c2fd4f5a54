"""Jumutc (2016), Tables 4.2 and 4.3: errors and non-zero weights of dual averaging, Pegasos and its dropout form.

As in the thesis: hinge loss, 1000 steps of one row each, a random tenth of the rows to test, parameters by the
criterion (4.17) on the others, (1 - kappa) error + kappa non-zeros / d with kappa = 0.05 for dual averaging, and the
error alone for the two of Pegasos. Ours: 40 parameters at random, on a logarithmic scale, and three folds for coupled
annealing and ten; columns are standardised; 10 splits by default for 50. Of several classes, one is told from the rest:
the 1 of digits and class 1 of shuttle. The thesis has five sets more.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    L1RDAClassifier,
    ReweightedL1RDAClassifier,
    ReweightedL2RDAClassifier,
)
from thresher.stochastic import DropoutPegasosClassifier, PegasosClassifier
from thresher.tuning import CoupledAnnealingSearchCV, Log, sparsity_scorer

from .._data import Rows, load
from .._report import Options, cell, show, spent

MINUTES = 3
KAPPA, N_STEPS, N_FOLDS, MOST_TUNED = 0.05, 1000, 3, 6000
BUDGET: dict[str, Any] = {"n_steps": N_STEPS, "intercept_scaling": 1.0}
STEP, PENALTY = Log(1e-3, 1e1), Log(1e-5, 1.0)
METHODS: dict[str, tuple[Any, dict[str, Log]]] = {
    "l1-RDA_re": (
        ReweightedL1RDAClassifier(**BUDGET),
        {"alpha": Log(1e-6, 1e-1), "eta0": STEP, "smoothing": Log(1e-2, 1e1)},
    ),
    "l2-RDA_re": (
        ReweightedL2RDAClassifier(**BUDGET),
        {"alpha": Log(1e-4, 1.0), "smoothing": Log(1e-2, 1e2), "threshold": Log(1e-3, 1.0)},
    ),
    "l1-RDA_ada": (AdaptiveL1RDAClassifier(**BUDGET), {"alpha": Log(1e-4, 1e-1), "eta0": STEP}),
    "l1-RDA": (L1RDAClassifier(**BUDGET), {"alpha": Log(1e-4, 1e-1), "eta0": STEP}),
    "Pegasos": (PegasosClassifier(**BUDGET), {"alpha": PENALTY}),
    "Pegasos_drop": (DropoutPegasosClassifier(**BUDGET), {"alpha": PENALTY}),
}
SPARSE = ("l1-RDA_re", "l2-RDA_re", "l1-RDA_ada", "l1-RDA")
PUBLISHED = {  # errors and their deviations, then non-zeros, in %, in the order of METHODS
    "spambase": (
        (11.0, 11.5, 10.8, 12.6, 10.0, 9.4),
        (3.0, 2.0, 1.7, 1.3, 1.7, 1.6),
        (98.2, 56.9, 57.7, 58.3, 100, 100),
    ),
    "shuttle": ((5.3, 6.9, 5.8, 5.6, 5.3, 4.7), (2.4, 2.7, 2.1, 2.0, 1.7, 1.4), (99.8, 50.0, 52.8, 51.3, 100, 100)),
    "magic": ((22.7, 22.2, 22.4, 22.6, 22.2, 25.3), (2.4, 1.3, 1.7, 2.0, 1.1, 2.8), (93.2, 30.8, 32.8, 37.2, 100, 100)),
    "optdigits": ((3.9, 4.8, 4.0, 4.4, 3.4, 5.3), (1.7, 2.1, 1.9, 1.9, 1.2, 6.4), (94.0, 33.4, 36.6, 32.5, 96.8, 94.8)),
    "pendigits": ((6.3, 7.9, 6.9, 9.2, 6.3, 6.1), (2.1, 2.5, 2.3, 1.3, 1.9, 2.2), (98.6, 26.1, 48.3, 40.5, 100, 100)),
}
FIRST = {"spambase": 1, "shuttle": 1, "magic": "g", "optdigits": 1, "pendigits": 1}


def one_run(X: np.ndarray, y: np.ndarray, method: str, seed: int, n_evaluations: int) -> tuple[float, float]:
    """Error on the test rows and non-zero weights, in %."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=seed, stratify=y)
    scale = StandardScaler().fit(X)
    X, X_test = scale.transform(X), scale.transform(X_test)
    model, space = METHODS[method]
    search = CoupledAnnealingSearchCV(
        clone(model).set_params(random_state=seed),
        space,
        search="random",
        n_evaluations=n_evaluations,
        scoring=sparsity_scorer("error", kappa=KAPPA if method in SPARSE else 0.0),
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed),
        random_state=seed,
        refit=False,
    ).fit(X[:MOST_TUNED], y[:MOST_TUNED])  # rows are in random order, and 1000 steps see no more
    best = clone(model).set_params(random_state=seed, **search.best_params_).fit(X, y)
    return 100 * (1 - best.score(X_test, y_test)), 100 * float(np.mean(best.coef_ != 0))


def runs(rows: Rows, n_runs: int, n_evaluations: int) -> np.ndarray:
    """Method, run, error and non-zeros."""
    X, labels = rows.all()
    y = (labels == FIRST[rows.name]).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some of the parameters tried leave no feature
        return np.array([[one_run(X, y, method, seed, n_evaluations) for seed in range(n_runs)] for method in METHODS])


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="splits; the thesis has 50")
    parser.add_argument("--evaluations", type=int, default=40, metavar="N", help="parameters tried in every search")
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED), choices=list(PUBLISHED), metavar="NAME")
    given = parser.parse_args()
    errors, used, notes, outside = [], [], [], []
    for name in given.sets:
        rows, (theirs, deviations, non_zeros) = load(name), PUBLISHED[name]
        found = runs(rows, given.repeats, given.evaluations)
        errors.append([rows.title, *map(cell, found[:, :, 0], theirs)])
        used.append([rows.title, *map(cell, found[:, :, 1], non_zeros)])
        gaps = zip(METHODS, found[:, :, 0].mean(axis=1) - theirs, deviations, strict=True)
        outside += [f"{method}, {name} ({gap:+.1f})" for method, gap, deviation in gaps if abs(gap) > deviation]
        notes.append(rows.note)
        print(f"{name}: {spent()}", file=sys.stderr)
    columns = ["", *METHODS]
    show("Error in %: ours +- standard deviation over splits (published)", columns, errors)
    show(
        "Non-zero weights in %: ours +- standard deviation over splits (published)",
        columns,
        used,
        f"Errors further from the published ones than their standard deviation: {', '.join(outside) or 'none'}.",
        f"{given.repeats} splits, {given.evaluations} parameters tried in every search. {spent()}",
        *notes,
    )


if __name__ == "__main__":
    main()
