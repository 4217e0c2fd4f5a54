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
ALPHAS = (1e-5, 1e-4, 1e-3)


def run(quick: bool) -> list[Table]:
    problem = text_problem(10_000 if quick else 100_000, 75, 5_000 if quick else 20_000)
    seen = len(np.unique(problem.X.indices))
    table = Table(
        f"Non-zero weights of {seen:,} features seen, {len(problem.y):,} text-like rows, one pass",
        ["model", "alpha", "non-zeros, fit", "accuracy", f"non-zeros, chunks of {CHUNK}", "accuracy "],
        notes=["fit visits the rows as they stand too (shuffle=False), so that only the chunks differ."],
    )
    for alpha in ALPHAS:
        common = {"alpha": alpha, "max_iter": 1, "tol": None, "shuffle": False, "random_state": 0}
        for make in (lambda **params: SGDClassifier(penalty="l1", **params), L1RDAClassifier):
            whole, chunked = make(**common).fit(problem.X, problem.y), _in_chunks(make(**common), problem)
            cells = [cell for model in (whole, chunked) for cell in _cells(model, problem)]
            table.rows.append([type(whole).__name__, f"{alpha:g}", *cells])
    return [table]


def _in_chunks(model: Any, problem: Problem) -> Any:
    for begin in range(0, len(problem.y), CHUNK):
        part = slice(begin, begin + CHUNK)
        model.partial_fit(problem.X[part], problem.y[part], classes=[-1.0, 1.0])
    return model


def _cells(model: Any, problem: Problem) -> list[str]:
    return [f"{np.count_nonzero(model.coef_):,}", f"{model.score(problem.X_test, problem.y_test):.4f}"]
