"""Kernel machines in the dual, without any learning around them: box_qp against libsvm (scikit-learn's SVC) on kernel
matrices at hand, at the duality gap that libsvm reached; linear_qp against box_qp on the Gram matrix.

libsvm's gap is measured on its answer: primal minus dual value, with its own constant term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from thresher.kernels import RBF
from thresher.solvers import box_qp, linear_qp

from ._measure import Case, take_turns
from ._report import Table

REPEATS = 7
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    return [_against_libsvm(quick), _on_rows(quick)]


def _against_libsvm(quick: bool) -> Table:
    table = Table(
        "A support vector machine on an RBF kernel matrix, at the gap that libsvm reaches",
        ["rows", "C", "gamma", "tol of libsvm", "relative gap, libsvm", "ours", "pairs, libsvm", "ours",
         "CPU ms, libsvm", "ours", "ours / libsvm", "target", "matrices K @ x"],
        notes=[f"Best of {REPEATS} repetitions in turn. The last column is our time over that of one product K @ x."],
    )  # fmt: skip
    settings = [(1.0, 0.05), (100.0, 0.05), (10.0, 1.0)]
    for n_rows in (300,) if quick else (1_000, 2_000, 4_000):
        X, y = _noisy(n_rows, 10)
        for C, gamma in settings:
            K = RBF(gamma)(X)
            for tol in (1e-3, 1e-5):
                table.rows.append(_race(K, y, C, gamma, tol))
    return table


def _race(K: Array, y: Array, C: float, gamma: float, tol: float) -> list[str]:
    theirs = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000).fit(K, y)
    x = np.zeros(len(y))
    x[theirs.support_] = theirs.dual_coef_[0]
    gap = _relative_gap(K, y, x, float(theirs.intercept_[0]), C)
    low, high = np.minimum(0, C * y), np.maximum(0, C * y)
    ours = box_qp(K, y, low, high, tol=gap)
    cases = {
        "theirs": Case(lambda model: model.fit(K, y), lambda: SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)),
        "ours": Case(lambda _: box_qp(K, y, low, high, tol=gap)),
        "product": Case(lambda _: K @ x),
    }
    timings = take_turns(cases, REPEATS)
    ms = {name: 1e3 * timing.best for name, timing in timings.items()}
    return [
        f"{len(y):,}", f"{C:g}", f"{gamma:g}", f"{tol:g}", f"{gap:.1e}", f"{ours.gap / abs(ours.objective):.1e}",
        f"{int(theirs.n_iter_[0]):,}", f"{ours.n_iter:,}", f"{ms['theirs']:.1f}", f"{ms['ours']:.1f}",
        f"{ms['ours'] / ms['theirs']:.2f}", "1.5", f"{ms['ours'] / max(ms['product'], 1e-3):.0f}",
    ]  # fmt: skip


def _relative_gap(K: Array, y: Array, x: Array, b: float, C: float) -> float:
    scores = K @ x
    half = 0.5 * x @ scores
    primal = half + C * np.maximum(0, 1 - y * (scores + b)).sum()
    dual = np.abs(x).sum() - half
    return float((primal - dual) / primal)


def _on_rows(quick: bool) -> Table:
    table = Table(
        "The inner product as kernel: on rows, and on the Gram matrix",
        ["rows x features", "passes", "CPU ms on rows", "CPU ms on the matrix (made once)", "relative gap"],
        notes=["C = 1, relative gap 1e-3; three repetitions."],
    )
    for n_rows, n_features in [(300, 10)] if quick else [(2_000, 50), (4_000, 50), (50_000, 50)]:
        X, y = _noisy(n_rows, n_features)
        low, high = np.minimum(0, y), np.maximum(0, y)
        found = linear_qp(X, y, low, high, tol=1e-3)
        cases = {"rows": Case(lambda _, X=X, y=y, a=low, b=high: linear_qp(X, y, a, b, tol=1e-3))}
        if n_rows <= 4_000:
            K = X @ X.T
            cases["matrix"] = Case(lambda _, K=K, y=y, a=low, b=high: box_qp(K, y, a, b, tol=1e-3))
        timings = take_turns(cases, 3)
        matrix = f"{1e3 * timings['matrix'].best:,.0f}" if "matrix" in timings else "would take 20 GB"
        table.rows.append([
            f"{n_rows:,} x {n_features}", str(found.n_iter), f"{1e3 * timings['rows'].best:,.0f}", matrix,
            f"{found.gap / abs(found.objective):.1e}",
        ])  # fmt: skip
    return table


def _noisy(n_rows: int, n_features: int) -> tuple[Array, Array]:
    """A boundary that bends, with labels near it that are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
