"""Does an l1 model stay sparse in chunks? Non-zero weights after ``fit`` and after ``partial_fit`` of 100 rows a time.

SGDClassifier's cumulative l1 penalty keeps its books only within one call, so in chunks hardly a weight is cut to
zero. Dual averaging keeps them in the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from thresher.dual_averaging import L1RDAClassifier

from ._data import Problem, text_problem
from ._report import Table

CHUNK = 100
N_ORDERS = 5
ALPHAS = (1e-5, 1e-4, 1e-3)


def run(quick: bool) -> list[Table]:
    problem = text_problem(10_000 if quick else 100_000, 75, 5_000 if quick else 20_000)
    seen = len(np.unique(problem.X.indices))
    table = Table(
        f"Non-zero weights of {seen:,} features seen, {len(problem.y):,} text-like rows, one pass",
        ["model", "alpha", "non-zeros, fit", "accuracy", f"non-zeros, chunks of {CHUNK}", "accuracy "],
        notes=[
            f"Means and standard deviations over {N_ORDERS} orders of the rows.",
            "fit visits the rows as they stand too (shuffle=False), so that only the chunks differ.",
        ],
    )
    orders = [_shuffled(problem, seed) for seed in range(N_ORDERS)]
    for alpha in ALPHAS:
        common = {"alpha": alpha, "max_iter": 1, "tol": None, "shuffle": False, "random_state": 0}
        for make in (lambda **params: SGDClassifier(penalty="l1", **params), L1RDAClassifier):
            whole = [make(**common).fit(rows.X, rows.y) for rows in orders]
            chunked = [_in_chunks(make(**common), rows) for rows in orders]
            cells = [cell for models in (whole, chunked) for cell in _cells(models, problem)]
            table.rows.append([type(whole[0]).__name__, f"{alpha:g}", *cells])
    return [table]


def _shuffled(problem: Problem, seed: int) -> Problem:
    order = np.random.default_rng(seed).permutation(len(problem.y))
    return problem._replace(X=problem.X[order], y=problem.y[order])


def _in_chunks(model: Any, problem: Problem) -> Any:
    for begin in range(0, len(problem.y), CHUNK):
        part = slice(begin, begin + CHUNK)
        model.partial_fit(problem.X[part], problem.y[part], classes=[-1.0, 1.0])
    return model


def _cells(models: list[Any], problem: Problem) -> list[str]:
    weights = [np.count_nonzero(model.coef_) for model in models]
    scores = [model.score(problem.X_test, problem.y_test) for model in models]
    return [
        f"{np.mean(found):{form}} ± {np.std(found, ddof=1):{form}}"
        for found, form in ((weights, ",.0f"), (scores, ".4f"))
    ]
