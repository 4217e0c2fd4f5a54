"""The l1 penalty at three strengths, on text and on dense rows: ours, skglm, celer, LIBLINEAR and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from thresher.solvers import alpha_max, lasso

from ._linear_data import linear_tasks
from ._measure import installed
from ._penalties import PARTS, PenalisedCase, penalties_table
from ._reach import Solve
from ._report import Table, skipped

PEERS = ("skglm", "celer", "sklearn")
PENALISED = ("logistic", "squared")  # losses


class L1Case(NamedTuple):
    """Rows column after column, -1 and 1, a loss and a penalty; no constant."""

    X: Any
    y: Any
    loss: str
    alpha: float

    def objective(self, w: Any) -> float:
        scores = self.X @ w
        losses = np.logaddexp(0, -self.y * scores) if self.loss == "logistic" else 0.5 * (self.y - scores) ** 2
        return float(losses.mean() + self.alpha * np.abs(w).sum())

    @property
    def C(self) -> float:
        return 1 / (len(self.y) * self.alpha)


def l1_penalties(quick: bool) -> list[Table]:
    notes = ["Columns lie as each solver wants them.", *skipped(name for name in PEERS if not installed(name))]
    return [penalties_table(f"l1, {loss} loss, three penalties", _cases(loss, quick), notes) for loss in PENALISED]


def _cases(loss: str, quick: bool) -> Iterator[PenalisedCase]:
    for name, X, y in _sets(quick):
        top = alpha_max(X, y, loss=loss, fit_intercept=False)
        for part in PARTS[:1] if quick else PARTS:
            case = L1Case(X, y, loss, top / part)
            best = by_thresher(case, 1e-9)
            yield PenalisedCase(f"{name}, / {part}", _solvers(case), case.objective, best.objective - best.gap)


def _sets(quick: bool) -> Iterator[tuple[str, Any, Any]]:
    for task in linear_tasks(quick):
        if task.key not in ("text", "news"):
            break
        yield f"{task.title}, {task.shape}", sparse.csc_matrix(task.problem.X), task.problem.y
    n_rows, n_features = (100, 200) if quick else (2_000, 5_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1:] = 0.6 * X[:, 1:] + 0.4 * X[:, :-1]
    scores = X[:, ::100] @ rng.normal(size=n_features // 100)
    y = np.sign(scores + 0.5 * scores.std() * rng.normal(size=n_rows))
    yield f"dense, generated, {n_rows:,} x {n_features:,}", np.asfortranarray(X), y


def by_thresher(case: L1Case, tol: float) -> Any:
    return lasso(case.X, case.y, case.alpha, loss=case.loss, fit_intercept=False, tol=tol)


def _solvers(case: L1Case) -> dict[str, Solve]:
    found: dict[str, Solve] = {"thresher lasso": lambda tol: by_thresher(case, tol).coef}
    logistic = case.loss == "logistic"
    if installed("skglm"):
        import skglm

        found["skglm"] = partial(_fit, skglm.SparseLogisticRegression if logistic else skglm.Lasso, case)
    if installed("celer"):
        found["celer"] = partial(_celer, case)
    if logistic:
        rows = case.X.tocsr() if sparse.issparse(case.X) else np.ascontiguousarray(case.X)
        found["LIBLINEAR"] = partial(_liblinear, case._replace(X=rows))
    else:
        from sklearn.linear_model import Lasso

        found["scikit-learn"] = partial(_fit, partial(Lasso, max_iter=100_000), case)
    return found


def _fit(make: Any, case: L1Case, tol: float) -> Any:
    return make(alpha=case.alpha, fit_intercept=False, tol=tol).fit(case.X, case.y).coef_.ravel()


def _celer(case: L1Case, tol: float) -> Any:
    import celer

    if case.loss == "logistic":
        return celer.LogisticRegression(C=case.C, tol=tol).fit(case.X, case.y).coef_.ravel()
    return _fit(celer.Lasso, case, tol)


def _liblinear(case: L1Case, tol: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    options = {"solver": "liblinear", "fit_intercept": False, "max_iter": 1_000, "random_state": 0}
    return LogisticRegression(C=case.C, l1_ratio=1.0, tol=tol, **options).fit(case.X, case.y).coef_.ravel()
