"""The cost of one pass of each learner, in units of the fastest ``X @ w`` of the run.

The pass is ``Learner.learn(lesson, state)``: predict every row, then learn from it. Rows are checked and the state
is made before the clock starts. Sequential order, blocked shuffle (what ``fit`` does) and a fully random order;
float64 and float32; and the cost of a non-zero when there are twice as many rows or twice as many non-zeros in a
row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher import onepass
from thresher._engine._order import blocked_shuffle

from ._data import N_WORDS, Problem, text_problem
from ._learners import learners
from ._measure import REPEATS, Case, Timing, take_turns
from ._report import Table

TARGETS = {"Pegasos": 1.6, "l1-RDA": 1.8, "AROW, drop": 3.0, "AROW, precision": 3.0}
PRODUCTS = ("scipy X @ w", "Learner.scores")


def run(quick: bool) -> list[Table]:
    n_rows, n_test = (10_000, 5_000) if quick else (100_000, 20_000)
    base = text_problem(n_rows, 75, n_test)
    tables = [_orders(base, dtype) for dtype in (np.float64, np.float32)]
    return [*tables, _growth(base, n_rows, n_test)]


def _orders(problem: Problem, dtype: type) -> Table:
    """Each learner in three orders."""
    n_rows = len(problem.y)
    rng = np.random.default_rng(0)
    blocked = np.concatenate([piece.copy() for piece in blocked_shuffle(n_rows, rng)])
    orders = {"sequential": None, "blocked shuffle": blocked, "random": rng.permutation(n_rows)}
    X = problem.X.astype(dtype)
    rows = onepass.rows(X)
    cases = _products(X, rows)
    for name in learners():
        cases |= {f"{name}, {order}": _pass(name, rows, problem.y, order=steps) for order, steps in orders.items()}
    timings = take_turns(cases, keep_results=True)

    fastest = min(PRODUCTS, key=lambda name: timings[name].best)
    unit = timings[fastest].best
    table = Table(
        f"One pass over {n_rows:,} x {N_WORDS:,} CSR rows, {X.nnz / n_rows:.0f} non-zeros each, {np.dtype(dtype).name}",
        ["learner", *orders, "target", "ms, sequential", "held-out accuracy"],
        notes=[
            f"Unit: {fastest}, the fastest product of the run. Best of {REPEATS} repetitions in turn; "
            "the accuracy is that of the sequential pass."
        ],
    )
    for name in PRODUCTS:
        table.rows.append([name, _ratio(timings[name], unit), "", "", "", f"{1e3 * timings[name].best:.1f}", ""])
    test = onepass.rows(problem.X_test)
    for name, estimator in learners().items():
        state = timings[f"{name}, sequential"].results[-1]
        scores = onepass.learner(estimator, N_WORDS).scores(test, state)
        accuracy = np.mean((scores[:, 0] > 0) == (problem.y_test > 0))
        ratios = [_ratio(timings[f"{name}, {order}"], unit) for order in orders]
        target = f"{TARGETS[name]:.1f}" if name in TARGETS else ""
        milliseconds = 1e3 * timings[f"{name}, sequential"].best
        table.rows.append([name, *ratios, target, f"{milliseconds:.1f}", f"{accuracy:.4f}"])
    return table


def _growth(base: Problem, n_rows: int, n_test: int) -> Table:
    """Nanoseconds per non-zero at n, 2n, and twice the non-zeros per row."""
    sizes = {f"n = {n_rows:,}": base}
    sizes[f"n = {2 * n_rows:,}"] = text_problem(2 * n_rows, 75, n_test)
    sizes["150 non-zeros"] = text_problem(n_rows, 150, n_test)
    cases = {}
    for size, problem in sizes.items():
        rows = onepass.rows(problem.X)
        cases |= {f"{name}, {size}": _pass(name, rows, problem.y) for name in learners()}
    timings = take_turns(cases)
    table = Table(
        "Nanoseconds per non-zero, sequential float64",
        ["learner", *sizes],
        notes=["A constant cost per non-zero is a cost that grows linearly with rows and with their length."],
    )
    for name in learners():
        costs = [1e9 * timings[f"{name}, {size}"].best / problem.X.nnz for size, problem in sizes.items()]
        table.rows.append([name, *(f"{cost:.2f}" for cost in costs)])
    return table


def _products(X: Any, rows: onepass.Rows) -> dict[str, Case]:
    """The two ways to X @ w, with the same dense w."""
    w = np.random.default_rng(0).standard_normal(N_WORDS).astype(X.dtype)
    learner = onepass.learner(learners()["PA"], N_WORDS)
    state = learner.new_state(N_WORDS)
    state.arrays["coef"][0, :-1] = w
    runs = (lambda _: X @ w, lambda _: learner.scores(rows, state))
    return {name: Case(run) for name, run in zip(PRODUCTS, runs, strict=True)}


def _pass(name: str, rows: onepass.Rows, y: Any, order: Any = None) -> Case:
    """One pass from a fresh state, whose memory was touched before the clock starts."""
    estimator = learners()[name]
    learner = onepass.learner(estimator, rows.n_features)
    first = learner.new_state(rows.n_features)

    def learn(state: onepass.State) -> onepass.State:
        learner.learn(onepass.Lesson(rows, onepass.Target(y), order=order), state)
        return state

    return Case(learn, setup=first.copy)


def _ratio(timing: Timing, unit: float) -> str:
    return f"{timing.best / unit:.2f}"
