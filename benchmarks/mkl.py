"""Multiple kernel learning: machines solved to a gap, time beside a straightforward SimpleMKL, accuracy and cost beside
MKLpy, and memory.

MKLpy has no method with the same objective: it is compared by held-out accuracy, time and memory.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np

from thresher.datasets import make_additive
from thresher.mkl import GMKLClassifier, simple_mkl_kernels

from ._alone import alone
from ._front import FrontLine, cell, has, number
from ._growth import curves, slope
from ._measure import Case, installed, take_turns
from ._mkl_methods import METHODS, MKLPY, kernels_in_use, stacks
from ._mkl_sets import NamedRows, named_sets
from ._report import Table, skipped
from ._simple_mkl import simple_mkl

N_ROWS = 150
C = 100.0
GAPS = (1e-2, 1e-3)
TARGETS = {1e-2: "at most 20", 1e-3: "at most 40"}
FASTER = 5
COSTS = (10.0, 100.0, 1000.0, 10000.0)  # C, of kernels of trace 1
_MEMORY = "import sys; from benchmarks.mkl import remember; remember(*map(int, sys.argv[1:]))"


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    tables = [_counts(2 if quick else 3), _times(quick)]
    tables += [_accuracy(rows, quick) for rows in named_sets(quick)]
    return [*tables, *_growth(quick), _memory(quick)]


def front(tables: list[Table]) -> list[FrontLine]:
    """Beside EasyMKL: the search that drops kernels, and the one that keeps all of them, as EasyMKL does."""
    compared = [table for table in tables if table.columns[:2] == ["method", "accuracy"]]
    pairs = (
        ("MKLpy EasyMKL", "GMKLClassifier, v=0.5"),
        ("MKLpy EasyMKL", "LpMKLClassifier, p=2"),
        ("sum, then SVC", "UniformMKLClassifier"),
    )
    return [
        FrontLine(
            what=f"kernel learning, {table.title.split(':')[0]}",
            peer=peer,
            ours=ours,
            their_cost=number(table, peer, "CPU ms"),
            our_cost=number(table, ours, "CPU ms"),
            quality="held-out accuracy",
            their_quality=cell(table, peer, "accuracy"),
            our_quality=cell(table, ours, "accuracy"),
        )
        for table in compared[:1]
        for peer, ours in pairs
        if has(table, peer)
    ]


def toy(example: int, seed: int, n_rows: int = N_ROWS) -> tuple[Any, Any]:
    X, y = make_additive(2 * N_ROWS, example=example, random_state=seed)
    X = (X - X[:n_rows].mean(axis=0)) / X[:n_rows].std(axis=0)
    return X[:n_rows], y[:n_rows]


def _counts(n_runs: int) -> Table:
    table = Table(
        "Machines solved until the bounds are so close, 273 kernels, 150 rows, C = 100",
        ["toy", "v", "solver", "to 1e-2", "most", "target", "to 1e-3", "most ", "target "],
        notes=[
            f"Means over {n_runs} draws, and the most of any. Empty where 500 were not enough in "
            "some draw. Targets are for v = 0.5 with the default solver."
        ],
    )
    for example in (1, 2):
        problems = [toy(example, seed) for seed in range(n_runs)]
        for v, solver in [*((v, "auto") for v in (0.0, 0.5, 0.9, 1.0)), (0.5, "spg"), (0.5, "level"), (1.0, "spg")]:
            cells = []
            found = np.array([[_solved(X, y, v, solver, gap) for gap in GAPS] for X, y in problems])
            for k, gap in enumerate(GAPS):
                aim = TARGETS[gap] if (v, solver) == (0.5, "auto") else ""
                reached = np.isfinite(found[:, k]).all()
                cells += [
                    f"{found[:, k].mean():.1f}" if reached else "",
                    f"{found[:, k].max():.0f}" if reached else "",
                    aim,
                ]
            table.rows.append([str(example), f"{v:g}", solver, *cells])
    return table


def _solved(X: Any, y: Any, v: float, solver: str, gap: float) -> float:
    """How many machines were solved, if they were enough."""
    model = GMKLClassifier(v=v, solver=solver, tol=gap, probability="none").fit(X, y)
    return float(model.n_svm_) if model.gap_ <= gap else np.nan


def _times(quick: bool) -> Table:
    gap = GAPS[0]
    table = Table(
        "L1-MKL (v = 1) at equal gap: this library and SimpleMKL by reduced gradient on scikit-learn's SVC",
        ["toy", "gap", "CPU ms", "machines", "SimpleMKL, CPU ms", "its machines", "SimpleMKL / it", "target"],
        notes=[
            "Kernel matrices of 150 rows are given to both, 273 in a full run; SimpleMKL is plain NumPy: "
            "reduced gradient, steps by golden section, every machine by libsvm to its default tolerance "
            "times 0.1; its lower bound is the best of all machines."
        ],
    )
    for example in (1, 2):
        X, y = toy(example, 0)
        kernels = simple_mkl_kernels(X)[:20] if quick else simple_mkl_kernels(X)
        K = np.array([kernel(X) for kernel in kernels])
        K /= np.trace(K, axis1=1, axis2=2)[:, None, None]
        signs = np.where(y > 0, 1.0, -1.0)
        cases = {
            "ours": Case(lambda _, K=K, y=y: GMKLClassifier("precomputed", 1.0, C, tol=gap).fit(K, y)),
            "SimpleMKL": Case(lambda _, K=K, y=signs: simple_mkl(K, y, C, gap)),
        }
        timed = take_turns(cases, 1, keep_results=True)
        ours, theirs = timed["ours"], timed["SimpleMKL"]
        assert ours.results[0].gap_ <= gap >= theirs.results[0].gap
        cells = [f"{1e3 * ours.best:.0f}", str(ours.results[0].n_svm_)]
        cells += [f"{1e3 * theirs.best:.0f}", str(theirs.results[0].n_svm), f"{theirs.best / ours.best:.1f}"]
        table.rows.append([str(example), f"{gap:g}", *cells, f"at least {FASTER}"])
    return table


# --- beside MKLpy -----------------------------------------------------------------------------------------------------


def _able() -> dict[str, Any]:
    return {name: make for name, make in METHODS.items() if name not in MKLPY or installed("MKLpy")}


def _accuracy(rows: NamedRows, quick: bool) -> Table:
    n_splits = 1 if quick else 3
    table = Table(
        f"{rows.title}: accuracy on held-out rows, beside MKLpy",
        ["method", "accuracy", "sd", "CPU ms", "kernels in use"],
        notes=[
            f"Means over {n_splits} splits into halves, at most {N_ROWS} rows to learn from. Kernels are given as "
            f"matrices, the same for all; C is the best of {', '.join(f'{C:g}' for C in COSTS)}, by a third of the "
            "training rows. The time is that of the last fit, the best of 3. No method offers probabilities, ours by "
            'probability="none"; by default they fit three more machines for these.',
            *([] if installed("MKLpy") else skipped(["MKLpy"])),
        ],
    )
    methods = {name: make for name, make in _able().items() if "GRAM" not in name}  # slow, and four values of C
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in methods}
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(rows.y))
        half = min(len(order) // 2, N_ROWS)
        train, test = order[:half], order[half:]
        inner, outer = train[: 2 * half // 3], train[2 * half // 3 :]
        trial, final = stacks(rows.X, inner, outer), stacks(rows.X, train, test)
        for name, make in methods.items():
            scores = [_fit(make, C, trial, rows.y[inner], rows.y[outer])[0] for C in COSTS]
            found[name].append(_fit(make, COSTS[int(np.argmax(scores))], final, rows.y[train], rows.y[test]))
    for name, runs in found.items():
        accuracy, seconds, used = np.mean(runs, axis=0)
        sd = np.std([each[0] for each in runs])
        table.rows.append([name, f"{accuracy:.3f}", f"{sd:.3f}", f"{1e3 * seconds:.1f}", f"{used:.0f}"])
    return table


def _fit(make: Any, C: float, given: Any, y: Any, y_test: Any) -> tuple[float, float, float]:
    """Accuracy, CPU seconds of the fit, kernels in use."""
    K, K_test = given
    timed = take_turns({"fit": Case(lambda fit: fit(), lambda: make(C, K, y))}, 3, keep_results=True)["fit"]
    model = timed.results[0]
    return float(np.mean(model.predict(K_test) == y_test)), timed.best, float(kernels_in_use(model))


def _growth(quick: bool) -> list[Table]:
    kernels = (10, 20) if quick else (32, 64, 128, 256)
    rows = (40, 80) if quick else (100, 200, 400, 800)
    n_rows, n_kernels = (40, 10) if quick else (200, 40)
    tables = []
    for what, sizes, shapes in (
        ("kernels", kernels, [(n_rows, m) for m in kernels]),
        ("rows", rows, [(n, n_kernels) for n in rows]),
    ):
        fixed = f"{n_rows} rows" if what == "kernels" else f"{n_kernels} kernels"
        table = Table(
            f"How kernel learning grows with the {what}: {fixed}, C = 100, CPU ms, and MB at the largest size",
            ["method", *(f"{size} {what}" for size in sizes), "slope", "MB"],
            notes=["Kernels are given as matrices, best of 2; ours to a gap of 1e-3. MB: peak beyond the matrices, in "
                   "a process of its own."],
        )  # fmt: skip
        able = _able()
        times: dict[str, list[float]] = {name: [] for name in able}
        for shape in shapes:
            K, y = _toy_stack(*shape)
            cases = {name: Case(lambda f: f(), partial(make, C, K, y)) for name, make in able.items()}
            for name, timing in take_turns(cases, 1 if quick else 2).items():
                times[name].append(1e3 * timing.best)
        for name, ms in times.items():
            job = {"method": name, "n_rows": shapes[-1][0], "n_kernels": shapes[-1][1]}
            memory = "" if quick else f"{alone('benchmarks.mkl', 'fit_alone', **job).beyond_mb:.0f}"
            table.rows.append([name, *(f"{t:.1f}" for t in ms), f"{slope(sizes, ms):.2f}", memory])
        if not quick:
            drawn = {name if name in MKLPY else f"thresher {name}": (sizes, ms) for name, ms in times.items()}
            table.picture = curves(f"mkl-{what}", drawn, x=what, y="CPU ms")
        tables.append(table)
    return tables


def _toy_stack(n_rows: int, n_kernels: int) -> tuple[Any, Any]:
    X, y = make_additive(n_rows, random_state=0)
    order = np.random.default_rng(0).permutation(len(simple_mkl_kernels(X)))[:n_kernels]
    return stacks(X, np.arange(n_rows), np.arange(2), order)[0], np.where(y > 0, 1, -1)


def fit_alone(method: str, n_rows: int, n_kernels: int) -> Any:
    """For memory, after a small fit that loads what is needed."""
    METHODS[method](C, *_toy_stack(30, 5))()
    ready = METHODS[method](C, *_toy_stack(n_rows, n_kernels))

    def work() -> None:
        ready()

    return work


# --- memory -----------------------------------------------------------------------------------------------------------


def _memory(quick: bool) -> Table:
    n_rows, n_kernels = (400, 30) if quick else (2000, 100)
    table = Table(
        f"{n_rows} rows, {n_kernels} kernels, v = 0.5, C = 100, gap 1e-2",
        ["cache_size in MB", "CPU s", "machines", "peak MB", "target"],
        notes=["Peak of a process of its own, imports and data among it; the matrices would fill 3.2 GB."],
    )
    for cache_size in (20, 100) if quick else (500, 2000):
        command = [sys.executable, "-c", _MEMORY, str(n_rows), str(n_kernels), str(cache_size)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        table.rows.append([str(cache_size), *done.stdout.split(), "below 4000"])
    return table


def remember(n_rows: int, n_kernels: int, cache_size: int) -> None:
    """One fit in this process: CPU seconds, machines, peak of memory."""
    import time

    from ._measure import memory_mb

    X, y = make_additive(n_rows, random_state=0)
    begin = time.process_time()
    model = GMKLClassifier(simple_mkl_kernels(X)[:n_kernels], tol=1e-2, cache_size=cache_size).fit(X, y)
    print(f"{time.process_time() - begin:.1f} {model.n_svm_} {memory_mb('VmHWM'):.0f}")
