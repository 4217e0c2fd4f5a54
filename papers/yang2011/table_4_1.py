"""Yang (2011), Table 4.1: exam scores of 139 schools, a task each, by features that all tasks share or not.

Columns are divided by their largest size (as they are, every published setting overflows), 11 rows of each school are
learned from, 120 times over. Explained variance is shown as a share of the variance of all test rows, and of their
variance within schools: the words of the thesis allow both. The data are MALSAR's ``school/school.mat``.
"""

from __future__ import annotations

import numpy as np

from thresher.dual_averaging import MultiTaskRDARegressor
from thresher.metrics import explained_variance_over_tasks

from .._data import load
from .._report import Options, cell, show, spent

MINUTES = 1
N_TRAIN, N_EPOCHS = 11, 120
METHODS = {  # parameters, published explained variance in % and non-zeros; gamma = 1 / eta0
    "DA-aMTFS": ({"penalty": "l21", "alpha": 20.0, "eta0": 1.0}, 20.8, 605.8),
    "DA-MTFTS": ({"penalty": "l1_l21", "alpha": 20.0, "eta0": 1.0, "l1_weight": 0.01}, 20.8, 483.7),
    "DA-iMTFS, gamma = 50": ({"penalty": "l1", "alpha": 1.0, "eta0": 1 / 50}, 13.5, 1037.1),
    "DA-iMTFS, gamma = 10": ({"penalty": "l1", "alpha": 1.0, "eta0": 1 / 10}, None, None),
}


def split(tasks: np.ndarray, seed: int) -> np.ndarray:
    """A mask of the rows to learn from, as many of every task."""
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(tasks == task))[:N_TRAIN] for task in np.unique(tasks)]
    return np.isin(np.arange(len(tasks)), np.concatenate(chosen))


def one_run(X: np.ndarray, y: np.ndarray, tasks: np.ndarray, seed: int, **params: object) -> tuple[float, ...]:
    """Explained variance in % of all test rows and within tasks, non-zero weights, features in use."""
    train = split(tasks, seed)
    model = MultiTaskRDARegressor(fit_intercept=False, max_iter=N_EPOCHS, random_state=seed, **params)
    model.fit(X[train], y[train], tasks=tasks[train])
    test = (y[~train], model.predict(X[~train], tasks[~train]), tasks[~train])
    explained = [100 * explained_variance_over_tasks(*test, baseline=baseline) for baseline in ("all", "task")]
    return (*explained, np.count_nonzero(model.coef_), len(model.support_))


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="splits, of which the thesis has 20")
    repeats = parser.parse_args().repeats
    rows = []
    school = load("school")
    X, y, tasks = school.X / np.abs(school.X).max(axis=0), school.y, school.tasks
    for name, (params, explained, n_used) in METHODS.items():
        runs = np.array([one_run(X, y, tasks, seed, **params) for seed in range(repeats)]).T
        rows.append([name, cell(runs[2], n_used), cell(runs[0], explained), cell(runs[1]), cell(runs[3])])
    show(
        f"{school.title}: ours +- standard deviation over splits (published)",
        ["", "non-zeros", "explained variance in %", "within schools", "features in use"],
        rows,
        f"{repeats} splits, {X.shape[1]} columns, {len(np.unique(tasks))} schools. {spent()}",
        school.note,
    )


if __name__ == "__main__":
    main()
