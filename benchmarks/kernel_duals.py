"""Kernel machines in the dual, without any learning around them: box_qp against libsvm (scikit-learn's SVC) on kernel
matrices at hand, at the duality gap that libsvm reached; linear_qp against box_qp on the Gram matrix; what unlabelled
rows add to a machine; LSSVC against one dense system.

libsvm's gap is measured on its answer: primal minus dual value, with its own constant term.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from thresher.datasets import make_tri_class
from thresher.kernels import LSSVC, RBF
from thresher.semi_supervised import TriClassSVC, UniversumSVC
from thresher.solvers import box_qp, linear_qp

from ._front import FrontLine
from ._growth import curves, slope
from ._measure import Case, take_turns
from ._report import Table

REPEATS = 3
SETTINGS = ((1.0, 0.05), (100.0, 0.05), (10.0, 1.0))  # C, gamma
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*_against_libsvm(quick), _low_rank(quick), _on_rows(quick), _unlabelled(quick), _least_squares(quick)]


def front(tables: list[Table]) -> list[FrontLine]:
    row = [row for row in tables[0].rows if row[1] == "100" and row[3] == "0.001"][-1]
    n_rows, C, gamma, _, their_gap, our_gap, _, _, theirs, ours, *_ = row
    return [
        FrontLine(
            what=f"support vector machine, {n_rows} rows, C = {C}, gamma = {gamma}",
            peer="libsvm (scikit-learn SVC)",
            ours="solvers.box_qp",
            their_cost=float(theirs),
            our_cost=float(ours),
            quality="relative duality gap",
            their_quality=their_gap,
            our_quality=our_gap,
        )
    ]


# --- against libsvm ---------------------------------------------------------------------------------------------------


def _against_libsvm(quick: bool) -> list[Table]:
    table = Table(
        "A support vector machine on an RBF kernel matrix, at the gap that libsvm reaches",
        ["rows", "C", "gamma", "tol of libsvm", "relative gap, libsvm", "ours", "pairs, libsvm", "ours",
         "CPU ms, libsvm", "ours", "ours / libsvm", "target", "matrices K @ x"],
        notes=[f"Best of {REPEATS} repetitions in turn. The last column is our time over that of one product K @ x."],
    )  # fmt: skip
    sizes = (100, 200) if quick else (500, 1_000, 2_000, 4_000)
    times: dict[str, list[float]] = {}
    for n_rows in sizes:
        X, y = _noisy(n_rows, 10)
        for C, gamma in SETTINGS:
            K = RBF(gamma)(X)
            for tol in (1e-3,) if n_rows < sizes[-1] else (1e-3, 1e-5):
                cells, ms = _race(K, y, C, tol)
                table.rows.append([f"{n_rows:,}", f"{C:g}", f"{gamma:g}", f"{tol:g}", *cells])
                if tol == 1e-3:
                    for who in ("libsvm", "thresher"):
                        times.setdefault(f"{who}, C={C:g}, gamma={gamma:g}", []).append(ms[who])
    growth = Table(
        "How a machine grows with its rows: slopes of the CPU time above, libsvm's tolerance 1e-3",
        ["C", "gamma", "slope, libsvm", "slope, ours"],
        notes=[f"Time as a power of the rows, {sizes[0]:,} to {sizes[-1]:,}; the matrix alone has power 2."],
    )
    for C, gamma in SETTINGS:
        cells = [f"{slope(sizes, times[f'{who}, C={C:g}, gamma={gamma:g}']):.2f}" for who in ("libsvm", "thresher")]
        growth.rows.append([f"{C:g}", f"{gamma:g}", *cells])
    if not quick:
        growth.picture = curves("kernel_duals", {name: (sizes, ms) for name, ms in times.items()}, x="rows", y="CPU ms")
    return [table, growth]


def _race(K: Array, y: Array, C: float, tol: float) -> tuple[list[str], dict[str, float]]:
    theirs = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000).fit(K, y)
    x, gap = _answer(theirs, K, y, C)
    low, high = np.minimum(0, C * y), np.maximum(0, C * y)
    ours = box_qp(K, y, low, high, tol=gap)
    cases = {
        "libsvm": Case(lambda model: model.fit(K, y), lambda: SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)),
        "thresher": Case(lambda _: box_qp(K, y, low, high, tol=gap)),
        "product": Case(lambda _: K @ x),
    }
    timings = take_turns(cases, REPEATS)
    ms = {name: 1e3 * timing.best for name, timing in timings.items()}
    cells = [
        f"{gap:.1e}", f"{ours.gap / abs(ours.objective):.1e}",
        f"{int(theirs.n_iter_[0]):,}", f"{ours.n_iter:,}", f"{ms['libsvm']:.1f}", f"{ms['thresher']:.1f}",
        f"{ms['thresher'] / ms['libsvm']:.2f}", "1.5", f"{ms['thresher'] / max(ms['product'], 1e-3):.0f}",
    ]  # fmt: skip
    return cells, ms


def _answer(model: Any, K: Array, y: Array, C: float) -> tuple[Array, float]:
    """libsvm's coefficients, and their relative duality gap."""
    x = np.zeros(len(y))
    x[model.support_] = model.dual_coef_[0]
    scores = K @ x
    half = 0.5 * x @ scores
    primal = half + C * np.maximum(0, 1 - y * (scores + float(model.intercept_[0]))).sum()
    dual = np.abs(x).sum() - half
    return x, float((primal - dual) / primal)


# --- the inner product ------------------------------------------------------------------------------------------------


def _low_rank(quick: bool) -> Table:
    n_rows, n_features = (200, 5) if quick else (2_000, 10)
    table = Table(
        f"Where pairs are slow: a kernel matrix of rank {n_features} (inner products, {n_rows:,} rows) and a large C",
        ["C", "relative gap", "pairs, libsvm", "pairs, box_qp", "CPU ms, libsvm", "box_qp",
         "linear_qp, on rows", "box_qp / libsvm", "linear_qp / libsvm"],
        notes=["The gap is libsvm's at its default tolerance; ours stop at the same. Best of 2."],
    )  # fmt: skip
    X, y = _noisy(n_rows, n_features)
    K = X @ X.T
    for C in (1.0, 100.0) if quick else (1.0, 10.0, 100.0):
        model = SVC(C=C, kernel="precomputed", cache_size=1000).fit(K, y)
        _, gap = _answer(model, K, y, C)
        low, high = np.minimum(0, C * y), np.maximum(0, C * y)
        cases = {
            "libsvm": Case(lambda m: m.fit(K, y), lambda C=C: SVC(C=C, kernel="precomputed", cache_size=1000)),
            "matrix": Case(lambda _, a=low, b=high, gap=gap: box_qp(K, y, a, b, tol=gap)),
            "rows": Case(lambda _, a=low, b=high, gap=gap: linear_qp(X, y, a, b, tol=gap)),
        }
        timings = take_turns(cases, 2, keep_results=True)
        ms = {name: 1e3 * timing.best for name, timing in timings.items()}
        pairs = [f"{int(model.n_iter_[0]):,}", f"{timings['matrix'].results[0].n_iter:,}"]
        ratios = [f"{ms[name] / ms['libsvm']:.2f}" for name in ("matrix", "rows")]
        table.rows.append([f"{C:g}", f"{gap:.1e}", *pairs, *(f"{t:,.0f}" for t in ms.values()), *ratios])
    return table


def _on_rows(quick: bool) -> Table:
    table = Table(
        "The inner product as kernel: on rows, and on the Gram matrix",
        ["rows x features", "passes", "CPU ms on rows", "CPU ms on the matrix (made once)", "relative gap"],
        notes=["C = 1, relative gap 1e-3; three repetitions."],
    )
    sizes = [(150, 10), (300, 10)] if quick else [(2_000, 50), (4_000, 50), (16_000, 50), (50_000, 50)]
    seconds = []
    for n_rows, n_features in sizes:
        X, y = _noisy(n_rows, n_features)
        low, high = np.minimum(0, y), np.maximum(0, y)
        found = linear_qp(X, y, low, high, tol=1e-3)
        cases = {"rows": Case(lambda _, X=X, y=y, a=low, b=high: linear_qp(X, y, a, b, tol=1e-3))}
        if n_rows <= 4_000:
            K = X @ X.T
            cases["matrix"] = Case(lambda _, K=K, y=y, a=low, b=high: box_qp(K, y, a, b, tol=1e-3))
        timings = take_turns(cases, 3)
        seconds.append(timings["rows"].best)
        matrix = f"{1e3 * timings['matrix'].best:,.0f}" if "matrix" in timings else f"{8e-9 * n_rows**2:.0f} GB"
        table.rows.append([
            f"{n_rows:,} x {n_features}", str(found.n_iter), f"{1e3 * timings['rows'].best:,.0f}", matrix,
            f"{found.gap / abs(found.objective):.1e}",
        ])  # fmt: skip
    table.notes.append(f"Slope on rows: {slope([n for n, _ in sizes], seconds):.2f}.")
    return table


# --- relatives --------------------------------------------------------------------------------------------------------


def _unlabelled(quick: bool) -> Table:
    """What rows without labels cost, beside machines that have no use for them."""
    sizes = (50, 100) if quick else (250, 500, 1_000, 2_000)
    table = Table(
        "Rows without labels: machines that learn from them, beside SVC as if all were labelled",
        ["labelled + unlabelled", "CPU ms, SVC on all rows", "UniversumSVC", "TriClassSVC", "its convex problems",
         "UniversumSVC / SVC", "TriClassSVC / SVC"],
        notes=["SVC is given the true classes of all rows, those of neither class among the second; the same RBF "
               "kernel, all else as by default; best of 2. In ours an unlabelled row has two dual variables."],
    )  # fmt: skip
    times: dict[str, list[float]] = {"SVC on all rows": [], "thresher UniversumSVC": [], "thresher TriClassSVC": []}
    for n_unlabelled in sizes:
        X, y, truth = make_tri_class(200, n_unlabelled, return_truth=True, random_state=0)
        full = np.minimum(truth, 1)
        cases = {
            "SVC on all rows": Case(lambda m, X=X, full=full: m.fit(X, full), lambda: SVC(gamma=0.002)),
            "thresher UniversumSVC": Case(lambda m, X=X, y=y: m.fit(X, y), lambda: UniversumSVC(gamma=0.002)),
            "thresher TriClassSVC": Case(lambda m, X=X, y=y: m.fit(X, y), lambda: TriClassSVC(gamma=0.002)),
        }
        timings = take_turns(cases, 2, keep_results=True)
        ms = {name: 1e3 * timing.best for name, timing in timings.items()}
        for name, value in ms.items():
            times[name].append(value)
        problems = timings["thresher TriClassSVC"].results[0].n_iter_
        base, *others = ms.values()
        table.rows.append([
            f"{len(y) - n_unlabelled} + {n_unlabelled:,}", *(f"{t:,.1f}" for t in ms.values()), str(problems),
            *(f"{t / base:.1f}" for t in others),
        ])  # fmt: skip
    table.notes.append("Slopes: " + ", ".join(f"{name} {slope(sizes, t):.2f}" for name, t in times.items()) + ".")
    return table


def _least_squares(quick: bool) -> Table:
    sizes = (100, 200) if quick else (250, 500, 1_000, 2_000)
    table = Table(
        "LSSVC, KernelRidge, and the same system by scipy.linalg.solve",
        ["rows", "CPU ms, one dense system", "KernelRidge", "LSSVC", "LSSVC / dense", "coefficients apart"],
        notes=["The dense system has the constant term as a row and a column more; KernelRidge has none. LSSVC finds "
               "its error with each row left out as well. No method offers probabilities, LSSVC by "
               'probability="none"; by default it fits three more machines for these. Kernel matrices are made in the '
               "time; best of 2."],
    )  # fmt: skip
    times: dict[str, list[float]] = {"dense": [], "KernelRidge": [], "LSSVC": []}
    for n_rows in sizes:
        X, y = _noisy(n_rows, 10)
        cases = {
            "dense": Case(lambda _, X=X, y=y: _bordered(X, y, 0.05)),
            "KernelRidge": Case(lambda m, X=X, y=y: m.fit(X, y), lambda: KernelRidge(kernel="rbf", gamma=0.05)),
            "LSSVC": Case(lambda m, X=X, y=y: m.fit(X, y), lambda: LSSVC(gamma=0.05, probability="none")),
        }
        timings = take_turns(cases, 2, keep_results=True)
        ms = [1e3 * timings[name].best for name in times]
        for name, value in zip(times, ms, strict=True):
            times[name].append(value)
        apart = np.abs(timings["LSSVC"].results[0].dual_coef_[0] - timings["dense"].results[0]).max()
        table.rows.append([f"{n_rows:,}", *(f"{t:,.1f}" for t in ms), f"{ms[2] / ms[0]:.2f}", f"{apart:.0e}"])
    table.notes.append("Slopes: " + ", ".join(f"{name} {slope(sizes, t):.2f}" for name, t in times.items()) + ".")
    return table


def _bordered(X: Array, y: Array, gamma: float) -> Array:
    """The coefficients of a least-squares machine with C = 1, by one indefinite system."""
    n_rows = len(y)
    A = np.empty((n_rows + 1, n_rows + 1))
    A[:n_rows, :n_rows] = RBF(gamma)(X)
    A[np.arange(n_rows), np.arange(n_rows)] += 1.0
    A[n_rows], A[:, n_rows], A[n_rows, n_rows] = 1.0, 1.0, 0.0
    return np.asarray(linalg.solve(A, np.append(y, 0.0), assume_a="sym")[:n_rows])


def _noisy(n_rows: int, n_features: int) -> tuple[Array, Array]:
    """A boundary that bends, with labels near it that are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
