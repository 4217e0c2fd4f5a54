"""What do two threads give over one? Wall-clock time, because CPU time would not tell; the answers must be the same.

Loops over rows use as many threads as ``OMP_NUM_THREADS`` says, or as there are cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from thresher._engine import allow_threads
from thresher.cluster import SparseKMeans
from thresher.kernels import RBF
from thresher.online import AROWClassifier, PAClassifier
from thresher.semi_supervised._graph import Drawn

from ._data import dense_problem, text_problem
from ._report import Table

N_THREADS, REPEATS, TARGET = 2, 9, 1.6
IN_A_ROW = (
    4  # works after the number of threads was set: on a virtual machine, a core that slept takes milliseconds to wake
)
N_CLASSES = 20


def run(quick: bool) -> list[Table]:
    table = Table(
        f"Wall-clock milliseconds in one thread and in {N_THREADS}",
        ["what", "one thread", f"{N_THREADS} threads", "ratio", "wanted", "same bits"],
        notes=[
            f"Best of {REPEATS} in turn, {IN_A_ROW} works in a row each. Nothing else may run on the machine meanwhile."
        ],
    )
    for what, work in _works(quick).items():
        seconds, answers = _timed(work, 1 if quick else REPEATS)
        same = all(np.array_equal(one, other) for one, other in zip(*answers, strict=True))
        ratio = seconds[0] / seconds[1]
        cells = [f"{1e3 * second:.1f}" for second in seconds]
        table.rows.append([what, *cells, f"{ratio:.2f}", f"{TARGET:g}", "yes" if same else "NO"])
    return [table]


def _works(quick: bool) -> dict[str, Callable[[], tuple[Any, ...]]]:
    text, dense = text_problem(5_000 if quick else 100_000, 75, 100), dense_problem(5_000 if quick else 500_000, 100)
    some = dense.X[: 500 if quick else 10_000]
    classes = np.random.default_rng(0).integers(N_CLASSES, size=len(text.y))
    two, two_dense = AROWClassifier().fit(text.X, text.y), AROWClassifier().fit(dense.X, dense.y)
    many = PAClassifier(max_iter=1).fit(text.X, classes)
    means = SparseKMeans(n_clusters=20, max_iter=2, n_init=1, random_state=0).fit(dense.X)
    graph = Drawn("knn", 10, "binary", None, "euclidean")
    return {
        "prediction, CSR": lambda: (two.decision_function(text.X),),
        "prediction, dense": lambda: (two_dense.decision_function(dense.X),),
        f"prediction, CSR, {N_CLASSES} classes": lambda: (many.decision_function(text.X),),
        "assignment to 20 centres": lambda: (means.predict(dense.X),),
        "10 neighbours": lambda: (graph.between(some, is_kernel=False).indices,),
        "kernel matrix": lambda: (RBF(gamma=0.1)(some, some),),
    }


def _timed(work: Callable[[], tuple[Any, ...]], repeats: int) -> tuple[list[float], list[tuple[Any, ...]]]:
    best, answers = [np.inf, np.inf], [(), ()]
    for _ in range(repeats):
        for place, n in enumerate((1, N_THREADS)):
            allow_threads(n)
            with threadpool_limits(n):
                for _ in range(IN_A_ROW):
                    begin = time.perf_counter()
                    answers[place] = work()
                    best[place] = min(best[place], time.perf_counter() - begin)
    return best, answers
