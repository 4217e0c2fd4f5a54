"""How cost grows with rows, non-zeros of a row and columns: the power of the size that CPU time grows by, and pictures.

One pass of ``fit`` over random CSR rows for stream learners, a whole fit for LIBLINEAR; one row at a time with
``partial_fit`` and River's ``learn_one``. A slope of 1 is a cost in proportion, 0 a cost that the size leaves alone.
The slope over columns is above 0 for all that keep a dense array of weights, which somebody must fill with zeros.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier

from thresher.dual_averaging import FTRLClassifier, L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier

from ._growth import curves, slope
from ._measure import Case, installed, take_turns
from ._report import Table, skipped

REPEATS = 3
CLASSES = np.array([-1.0, 1.0])
N_ROWS, NNZ, N_COLUMNS = 20_000, 50, 50_000
Rows = tuple[Any, Any]


def run(quick: bool) -> list[Table]:
    warnings.simplefilter("ignore")  # few rows leave no weight
    rows = (500, 1_000, 2_000, 4_000) if quick else (5_000, 20_000, 80_000, 320_000)
    lengths = (5, 10, 20, 40) if quick else (10, 40, 160, 640)
    columns = (10_000, 30_000, 100_000, 300_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
    n, few = (1_000, 50) if quick else (N_ROWS, 500)
    return [
        _fits(
            "rows", rows, lambda size: _random(size, NNZ, N_COLUMNS), f"rows of {NNZ} non-zeros, {N_COLUMNS:,} columns"
        ),
        _fits(
            "non-zeros of a row",
            lengths,
            lambda size: _random(n, size, N_COLUMNS),
            f"{n:,} rows, {N_COLUMNS:,} columns",
        ),
        _fits(
            "columns", columns, lambda size: _random(n, NNZ, size), f"{n:,} rows of {NNZ} non-zeros", with_batch=False
        ),
        _one_row(columns, few),
    ]


def _random(n_rows: int, nnz: int, n_columns: int) -> Rows:
    """Each non-zero of a row in a stretch of columns of its own, so that they are distinct; a sparse truth decides."""
    rng = np.random.default_rng(0)
    width = n_columns // nnz
    columns = rng.integers(0, width, (n_rows, nnz), dtype=np.int32) + width * np.arange(nnz, dtype=np.int32)
    values = rng.random(n_rows * nnz) / np.sqrt(nnz)
    X = sparse.csr_array(
        (values, columns.ravel(), nnz * np.arange(n_rows + 1, dtype=np.int32)), shape=(n_rows, n_columns)
    )
    truth = rng.standard_normal(n_columns) * (rng.random(n_columns) < 0.1)
    return X, np.where(X @ truth + 0.1 * rng.standard_normal(n_rows) > 0, 1.0, -1.0)


def _models(with_batch: bool) -> dict[str, Any]:
    models = {
        "thresher PA": PAClassifier(max_iter=1),
        "thresher l1-RDA": L1RDAClassifier(max_iter=1),
        "thresher FTRL": FTRLClassifier(max_iter=1),
        "thresher AROW": AROWClassifier(max_iter=1),
        "SGDClassifier": SGDClassifier(max_iter=1, tol=None),
    }
    if with_batch:
        models["LogisticRegression, liblinear"] = LogisticRegression(solver="liblinear")
    return models


def _fits(
    what: str, sizes: tuple[int, ...], make: Callable[[int], Rows], where: str, *, with_batch: bool = True
) -> Table:
    names = _models(with_batch)
    costs: dict[str, list[float]] = {name: [] for name in names}
    for size in sizes:
        X, y = make(size)
        cases = {
            name: Case(
                lambda fresh, X=X, y=y: fresh.fit(X, y), lambda model=model: clone(model).set_params(random_state=0)
            )
            for name, model in names.items()
        }
        for name, timing in take_turns(cases, REPEATS).items():
            costs[name].append(timing.best)
    note = f"CPU ms of a fit: one pass, LIBLINEAR as many as it takes. Best of {REPEATS} repetitions in turn."
    return _table(f"As {what} grow: {where}", what, sizes, costs, 1e3, "ms", note)


def _one_row(sizes: tuple[int, ...], n_rows: int) -> Table:
    """partial_fit of one row at a time, as the model gets wider."""
    names: dict[str, Any] = dict(_models(False))
    missing = []
    if installed("river"):
        from river import linear_model

        names["river PAClassifier"] = linear_model.PAClassifier
    else:
        missing.append("river")
    costs: dict[str, list[float]] = {name: [] for name in names}
    for size in sizes:
        X, y = _random(n_rows, NNZ, size)
        rows = [(X[k : k + 1], y[k : k + 1]) for k in range(n_rows)]
        items = [(dict(zip(x.indices.tolist(), x.data.tolist(), strict=True)), bool(t[0] > 0)) for x, t in rows]
        n_peer = max(3, min(n_rows, 10_000_000 // size))  # scikit-learn copies all weights in every call
        counts = {name: n_peer if name == "SGDClassifier" else n_rows - 1 for name in names}
        cases = {
            name: Case(_feed(items if name.startswith("river") else rows, counts[name]), _begun(model, rows[0]))
            for name, model in names.items()
        }
        for name, timing in take_turns(cases, REPEATS).items():
            costs[name].append(timing.best / counts[name])
    note = (
        f"CPU µs of one row of {NNZ} non-zeros. Best of {REPEATS} repetitions in turn; the first row is learned before."
    )
    return _table("One row at a time, as columns grow", "columns", sizes, costs, 1e6, "µs", note, skipped(missing))


def _begun(model: Any, first: Rows) -> Callable[[], Any]:
    """A new model that has its weights, each page of them in memory."""

    def setup() -> Any:
        if isinstance(model, type):
            return model()
        fresh = clone(model).partial_fit(*first, classes=CLASSES)
        for array in fresh.state_.arrays.values() if hasattr(fresh, "state_") else ():
            array += 0.0
        return fresh

    return setup


def _feed(rows: list[Any], count: int) -> Callable[[Any], None]:
    def feed(model: Any) -> None:
        learn = model.learn_one if hasattr(model, "learn_one") else model.partial_fit
        for x, y in rows[1 : count + 1]:
            learn(x, y)

    return feed


def _table(
    title: str,
    what: str,
    sizes: tuple[int, ...],
    costs: dict[str, list[float]],
    unit: float,
    unit_name: str,
    *notes: Any,
) -> Table:
    said = [line for note in notes for line in ([note] if isinstance(note, str) else note)]
    table = Table(title, ["learner", *(f"{unit_name}, {size:,}" for size in sizes), "slope"], notes=said)
    for name, each in costs.items():
        table.rows.append([name, *(_shown(unit * cost) for cost in each), f"{slope(sizes, each):.2f}"])
    drawn = {name: (sizes, [unit * cost for cost in each]) for name, each in costs.items()}
    key = "one_row" if title.startswith("One") else what.split()[0].replace("-", "_")
    table.picture = curves(f"growth_{key}", drawn, x=what, y=f"CPU {unit_name}")
    return table


def _shown(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"
